"""The rows: error codes, labeled by what their owners say about repeating the call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "corpus"


class Row(NamedTuple):
    """
    One code.

    Attributes:
        owner: Whose code it is: a protocol, a product, a library.

        message: Empty if the owner gives none beside the code.

        retryable: What the owner says, unless the basis is ``derived``.

        category: What kind of failure it is, in the corpus's own words.

        basis: ``declared`` in code, ``documented``, by a ``standard``, or ``derived`` from our
            definition where the owner's flag differs from it.
    """

    owner: str
    code: str
    message: str
    retryable: bool
    category: str
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """
    A file of rows.

    Attributes:
        title: What its table is called on the page.

        about: Sentences on where its rows come from.

        kept_aside: Nobody looked at its rows while rules were written. The page then shows no
            single row of it, since a rule made for one would end that.
    """

    file: str
    title: str
    about: str
    kept_aside: bool = False


CORPORA = (
    Corpus(
        file="codes-dev.jsonl",
        title="Codes that were seen while the rules were written",
        about="Their figures say more about the work that was done than about your codes.",
    ),
    Corpus(
        file="codes-more.jsonl",
        title="Codes of further owners, collected later",
        about=(
            "First the rules were scored on them unseen, then their mistakes were looked at, so "
            "that these were seen, too. The owners' texts were read for the labels, and owners "
            "who say nothing about repeating are labeled by what they say went wrong."
        ),
    ),
    Corpus(
        file="codes-aside.jsonl",
        title="Codes at which nobody looked",
        about="Labeled in the same way as the further owners, by texts that anybody can open.",
        kept_aside=True,
    ),
)


@cache
def rows_of(corpus: Corpus) -> tuple[Row, ...]:
    """Return the rows of *corpus* in the order of the file."""
    lines = (FOLDER / corpus.file).read_text(encoding="utf-8").splitlines()
    return tuple(_row(json.loads(line)) for line in lines)


def _row(said: dict[str, object]) -> Row:
    return Row(
        owner=str(said["ecosystem"]),
        code=str(said["code"]),
        message=str(said["message"]),
        retryable=said["retryable"] is True,
        category=str(said["category"]),
        basis=str(said["basis"]),
    )
