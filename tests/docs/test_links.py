"""Links of the pages that are read on GitHub lead somewhere; Sphinx proves those inside of docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from tests.docs.blocks import ROOT, pages

_MARKDOWN = MarkdownIt("commonmark").use(anchors_plugin, max_level=6)
_IN_HTML = re.compile(r"""\b(?:href|src|srcset)=["']([^"']+)""")


def tokens_of(page: Path) -> Iterator[Token]:
    for token in _MARKDOWN.parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def links_of(page: Path) -> Iterator[str]:
    for token in tokens_of(page):
        if token.type in ("html_block", "html_inline"):
            yield from _IN_HTML.findall(token.content)
        yield from (str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)


def anchors_of(page: Path) -> set[str]:
    return {str(token.attrs["id"]) for token in tokens_of(page) if token.type == "heading_open"}


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether the file that a relative link names is there, and the heading in it."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = page.parent / unquote(parts.path) if parts.path else page
    if not target.exists() or not parts.fragment or target.suffix != ".md":
        return target.exists()
    return parts.fragment in anchors_of(target)


def broken_links_of(page: Path) -> list[str]:
    return [link for link in links_of(page) if not leads_somewhere(page, link)]


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.parent == ROOT], ids=lambda page: page.name
)
def test_relative_links_and_anchors_lead_somewhere(page: Path) -> None:
    """Our promise: a link of the README leads to the page and the section that it names."""
    assert broken_links_of(page) == []


def test_broken_link_is_found(tmp_path: Path) -> None:
    """Our promise: also in images and in HTML."""
    (tmp_path / "there.md").write_text("# There\n\n## `A.b` and C\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n[a](there.md#ab-and-c) [b](#page) [c](https://example.com/x) ![d](.)\n\n"
        "[e](gone.md) [f](there.md#gone) [g](#gone) ![h](gone.svg)\n\n"
        '<img src="gone.png">\n',
        encoding="utf-8",
    )
    assert broken_links_of(page) == ["gone.md", "there.md#gone", "#gone", "gone.svg", "gone.png"]
