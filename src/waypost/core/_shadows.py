"""Rows and patterns of a book that never decide, because others match whenever they do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from . import _numbers
from ._classify import NO_SUCH_PATH, RuleBook
from ._index import Index, Words, stands_in
from ._model import Rule
from ._rules import SIGN_IN_PHRASES

Kind = Literal["never_decides", "shadowed", "barred", "redundant", "overruled"]


class Hidden(NamedTuple):
    """
    A pattern that decides nothing.

    Attributes:
        by: What matches whenever it does: rows, each with its pattern. More than one if one stands
            before it in names and another in messages, or beside one wanted word and another.
    """

    pattern: str
    by: tuple[tuple[Rule, str], ...]


class Finding(NamedTuple):
    """
    What is odd about a row.

    Attributes:
        kind: ``never_decides`` if no text leads to the row. ``shadowed`` if earlier rows stand
            before a pattern, ``barred`` if the row's own ``not_with`` stands in it, ``redundant``
            if another pattern of the row is enough. ``overruled`` for a row of the built-in table
            of which no pattern decides any more.

        hidden: The patterns that the finding is about.

        looked_up: Numbers and the like lead to the row, whatever its patterns are.
    """

    kind: Kind
    row: Rule
    hidden: tuple[Hidden, ...]
    looked_up: bool

    @property
    def others(self) -> tuple[Rule, ...]:
        """The rows that decide instead, each once."""
        return tuple(dict.fromkeys(row for hidden in self.hidden for row, _ in hidden.by))


def findings(book: RuleBook, mine: Collection[Rule] | None = None) -> Iterator[Finding]:
    """
    Yield what is odd about the rows of *book*, in order.

    One row is compared with one other: a pattern that several rows share among them is not found.

    Args:
        mine: The rows to look at, if the others are the built-in ones: of those is only said
            which ones *mine* overrule.
    """
    for row in book.rows:
        found = [_finding(book, row, at) for at in range(len(_patterns(row)))]
        hidden = tuple(each.hidden[0] for each in found if each and each.kind != "redundant")
        silent = len(hidden) == len(found)
        if mine is not None and row not in mine:
            if silent and any(other in mine for each in hidden for other, _ in each.by):
                yield Finding("overruled", row, hidden, _looked_up(row))
        elif silent and not _looked_up(row):
            yield Finding("never_decides", row, hidden, False)
        else:
            yield from filter(None, found)


_TABLES = (
    _numbers.HTTP_STATUS, _numbers.JSON_RPC, _numbers.GRPC, _numbers.SQLSTATES,
    _numbers.SQLSTATE_CLASSES, _numbers.ERRNO, _numbers.SHORT_NAMES, _numbers.MYSQL,
    _numbers.ORACLE,
)  # fmt: skip
_LOOKED_UP = {*SIGN_IN_PHRASES, NO_SUCH_PATH}.union(*(table.values() for table in _TABLES))


def _looked_up(row: Rule) -> bool:
    return row.id in _LOOKED_UP


def _patterns(row: Rule) -> list[tuple[str, bool]]:
    """The patterns of *row*, and whether they count only at the end."""
    return [*((each, False) for each in row.any_of), *((each, True) for each in row.ends)]


def _finding(book: RuleBook, row: Rule, at: int) -> Finding | None:
    """What is odd about the pattern of *row* that stands *at* that place."""
    pattern, ends = _patterns(row)[at]
    words = _example(pattern, ends=ends)
    examples, bar = _unbarred(row, _examples(row, pattern, ends=ends))
    if bar is not None:
        kind: Kind = "barred"
        by = [(row, bar)]
    elif shadows := _shadows(book, row, examples):
        kind, by = "shadowed", shadows
    elif enough := _enough(row, at, words):
        kind, by = "redundant", [(row, enough)]
    else:
        return None
    return Finding(kind, row, (Hidden(pattern, tuple(by)),), _looked_up(row))


def _unbarred(row: Rule, examples: list[Words]) -> tuple[list[Words], str | None]:
    """The examples that the row does not bar itself; what bars it, if it bars them all."""
    bars = [
        next((bar for bar in row.not_with if stands_in(bar, words.text)), None)
        for words in examples
    ]
    left = [words for words, bar in zip(examples, bars, strict=True) if bar is None]
    return left, None if left else bars[0]


def _example(pattern: str, *, ends: bool) -> Words:
    """
    The words that hold *pattern* and nothing that others could match by chance.

    Whatever stands in them stands in every text that holds the pattern.
    """
    words = pattern.replace("*", _ANYTHING).split(" ")
    if not ends:
        return Words([_ANYTHING, *words, _ANYTHING])
    # A last "error" is passed over, so that it must stand there twice.
    return Words([_ANYTHING, *words, *words[-1:]] if words[-1] == "error" else [_ANYTHING, *words])


def _examples(row: Rule, pattern: str, *, ends: bool) -> list[Words]:
    """The same, once with each of the words of which *row* wants one beside *pattern*."""
    if not row.only_with:
        return [_example(pattern, ends=ends)]
    beside = [_example(wanted, ends=False).listed for wanted in row.only_with]
    return [Words([*words, *_example(pattern, ends=ends).listed]) for words in beside]


_ANYTHING = "~"
"""Neither a letter nor a digit, so that no word of a pattern has it."""


def _shadows(book: RuleBook, row: Rule, examples: list[Words]) -> list[tuple[Rule, str]]:
    """The rows that decide all *examples* instead of *row*; none if it decides one anywhere."""
    found = [_shadow(index, row, words) for index in book._indexes_of(row) for words in examples]
    return list(dict.fromkeys(each for each in found if each)) if all(found) else []


def _shadow(index: Index, row: Rule, words: Words) -> tuple[Rule, str] | None:
    """The first row before *row* that matches whatever else stands beside *words*."""
    for other in takewhile(lambda other: other is not row, index.all(words)):
        if all(_barred_too(row, bar) for bar in other.not_with):
            text = words.text
            return other, next(p for p, ends in _patterns(other) if stands_in(p, text, ends=ends))
    return None


def _barred_too(row: Rule, bar: str) -> bool:
    """Whether *row* gives no answer either where *bar* stands."""
    text = _example(bar, ends=False).text
    return any(stands_in(own, text) for own in row.not_with)


def _enough(row: Rule, at: int, words: Words) -> str | None:
    """Another pattern of *row* that stands in *words*; of two equal ones the first is enough."""
    patterns = _patterns(row)
    for place, (pattern, ends) in enumerate(patterns):
        other = place < at or patterns[place] != patterns[at]
        if other and stands_in(pattern, words.text, ends=ends):
            return pattern
    return None
