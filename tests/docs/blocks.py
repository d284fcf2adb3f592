"""The fenced blocks of a page, and what a block must be so that it can be proved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin

__all__ = ["LANGUAGES", "ROOT", "Block", "UnprovedError", "blocks_of", "file_of", "pages"]

ROOT = Path(__file__).parents[2]
LANGUAGES = ("console", "json", "python", "text", "toml")

_MARKDOWN = MarkdownIt("commonmark").use(colon_fence_plugin)
_AT_ROOT = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "dashboards/README.md")
_FILE_NAME = re.compile(r"# ([\w./-]+\.\w+)")
_CODE_DIRECTIVES = frozenset((
    "code", "code-block", "code-cell", "doctest", "include", "literalinclude", "parsed-literal",
    "prompt", "raw", "sourcecode", "testcode",
))  # fmt: skip


class UnprovedError(AssertionError):
    """A block that does not do what its page says, or that nobody can prove."""


class Block(NamedTuple):
    """
    A fenced block.

    Attributes:
        line: Where its text begins on the page, from 1.
    """

    page: Path
    language: str
    text: str
    line: int

    def unproved(self, why: str, line: int = 0) -> UnprovedError:
        """Return the complaint that names the place; *line* counts from the first of the block."""
        return UnprovedError(f"{self.page}:{self.line + line}: {why}")


def pages() -> list[Path]:
    """Return every page whose blocks are promises to a reader."""
    at_root = (ROOT / name for name in _AT_ROOT)
    return [*(page for page in at_root if page.exists()), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """
    Return the blocks of *page* in order, those inside of directives, too.

    Raises:
        UnprovedError: A block has no language or one that is not known, or hides in a directive.
    """
    return list(_blocks(page, page.read_text(encoding="utf-8"), line=1))


def _blocks(page: Path, text: str, line: int) -> Iterator[Block]:
    for token in _MARKDOWN.parse(text):
        if token.type in ("fence", "colon_fence", "code_block"):
            yield from _blocks_in(page, token, line + (token.map or [0])[0])


def _blocks_in(page: Path, token: Token, line: int) -> Iterator[Block]:
    language, *_ = [*token.info.split(), ""]
    block = Block(page, language, token.content, line + 1)
    if token.type == "code_block":
        raise block.unproved("an indented block is not proved; fence it, and name a language.", -1)
    if language.startswith("{"):
        _refuse_code(block, name=language.strip("{}"))
        if language != "{eval-rst}":
            yield from _blocks(page, token.content, line + 1)
    elif language in LANGUAGES:
        yield block
    else:
        raise block.unproved(
            f"nobody proves blocks of {language!r}; use one of {', '.join(LANGUAGES)}."
        )


def _refuse_code(block: Block, name: str) -> None:
    """Sphinx proves directives, but not the code in them."""
    if name in _CODE_DIRECTIVES:
        raise block.unproved(
            f"code in {{{name}}} is not proved; use a plain fence with a language."
        )
    if name == "eval-rst":
        for at, line in enumerate(block.text.splitlines()):
            if line.strip() and not line.startswith((".. auto", "   :")):
                raise block.unproved("eval-rst is for autodoc directives alone.", at)


def file_of(block: Block) -> str | None:
    """Return the name of the file that a block is, as its first line says in a comment."""
    named = _FILE_NAME.fullmatch(block.text.partition("\n")[0].strip())
    return named[1] if named and block.language in ("python", "toml") else None
