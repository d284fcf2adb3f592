"""Tables, code spans and sentences in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["code", "codes", "section", "sentences", "slug", "table", "yes_no"]

_END_OF_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z`]|waypost )")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar in a cell is escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def section(level: int, title: str, *parts: str) -> str:
    """Return a heading with what stands below it; empty parts are left out."""
    return "\n\n".join(("#" * level + f" {title}", *filter(None, parts)))


def sentences(text: str) -> str:
    """Return paragraphs with one sentence a line, as all sources of the documentation have it."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
    return "\n\n".join("\n".join(_END_OF_SENTENCE.split(words)) for words in paragraphs)


def code(text: object) -> str:
    """Return *text* as code."""
    return f"`{text}`"


def codes(texts: Iterable[object]) -> str:
    """Return *texts* as code, with commas between them."""
    return ", ".join(map(code, texts))


def yes_no(value: bool) -> str:
    """Return a boolean as a word."""
    return "yes" if value else "no"


def slug(title: str) -> str:
    """Return the anchor of a heading whose title is a name in code."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
