"""Rules found by the words of a text, so that the cost does not grow with their number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from ._model import Rule
from ._tokens import words_of

GLOB_KEY = 3
"""Characters of a word with ``*`` that stand in the index; no such word has fewer."""

MAX_KNOWN = 2_048
"""Words that are kept; each is at most as long as a name."""

# A pattern is found by its rarest word; these are in every second message.
_COMMON = frozenset(("again", "invalid", "missing", "required", "failed", "error", "cannot"))
_SHORT = 16

_Needle = str | tuple[str, ...]


class _Entry(NamedTuple):
    """
    One pattern, under its key.

    Attributes:
        at: Position of the row.

        also: Another whole word of the pattern, looked for before the text is searched; or "".

        needle: What the text must hold, words if ``*`` stands inside, "" if the key is all.

        ends: Whether the text must end in it.
    """

    at: int
    also: str
    needle: _Needle
    ends: bool


class _Beside:
    """Patterns of which one stands in a text: whole words at once, then the sequences."""

    __slots__ = ("_sequences", "_words")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        single = [pattern for pattern in patterns if " " not in pattern and "*" not in pattern]
        self._words = frozenset(single)
        # A sequence is searched for only where its first whole word is.
        self._sequences = tuple(
            (next((word for word in each.split(" ") if "*" not in word), ""), _needle(each))
            for each in patterns
            if each not in self._words
        )

    def stands_in(self, words: Words) -> bool:
        distinct = words.distinct
        if not self._words.isdisjoint(distinct):
            return True
        for first, needle in self._sequences:
            if (not first or first in distinct) and _stands(words.text, needle):
                return True
        return False


class _Row(NamedTuple):
    """A row, what must stand beside its patterns, and what must not."""

    rule: Rule
    needed: _Beside | None
    barred: _Beside | None

    def allows(self, words: Words) -> bool:
        """Whether *words*, which hold a pattern of the row, are the row's."""
        _, needed, barred = self
        if needed is not None and not needed.stands_in(words):
            return False
        return barred is None or not barred.stands_in(words)


class Words:
    """
    Words in order, as a set, and as a text with one space before and after each.

    A sequence of whole words is a plain substring of that text, which is made when asked for.
    """

    __slots__ = ("_text", "distinct", "listed")

    def __init__(self, listed: list[str], text: str | None = None) -> None:
        self.listed = listed
        self.distinct = set(listed)
        self._text = text

    @classmethod
    def of_prose(cls, message: str) -> Words:
        """The words of a message."""
        return cls(words_of(message))

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = f" {' '.join(self.listed)} "
        return self._text


class Index:
    """
    The patterns of some rows, each under one of its words.

    Args:
        keeps: Whether words are kept with what is found for them: those of names, never those of
            messages, which may be secrets.
    """

    __slots__ = ("_exact", "_heads", "_keeps", "_known", "_rows", "_tails")

    def __init__(self, rows: Iterable[Rule], *, keeps: bool = False) -> None:
        self._keeps = keeps
        self._rows: list[_Row] = []
        self._exact: dict[str, list[_Entry]] = {}
        self._heads: dict[str, list[_Entry]] = {}
        self._tails: dict[str, list[_Entry]] = {}
        self._known: dict[str, list[_Entry]] = {}
        for at, row in enumerate(rows):
            needed = _Beside(row.only_with) if row.only_with else None
            barred = _Beside(row.not_with) if row.not_with else None
            self._rows.append(_Row(row, needed, barred))
            for pattern in row.any_of:
                self._add(at, pattern, False)
            for pattern in row.ends:
                self._add(at, pattern, True)

    def _add(self, at: int, pattern: str, ends: bool) -> None:
        words = pattern.split(" ")
        whole = sorted((word for word in words if "*" not in word), key=_rarity)
        also = whole[-2] if len(whole) > 1 else ""
        needle = "" if len(words) == len(whole) == 1 and not ends else _needle(pattern, ends=ends)
        entry = _Entry(at, also, needle, ends)
        if whole:
            self._exact.setdefault(whole[-1], []).append(entry)
        elif words[0][0] == "*":
            self._tails.setdefault(words[0][-GLOB_KEY:], []).append(entry)
        else:
            self._heads.setdefault(words[0][:GLOB_KEY], []).append(entry)

    def may_match(self, words: Collection[str]) -> bool:
        """Whether a text of these words is worth comparing."""
        if self._heads or self._tails:
            return True
        exact = self._exact
        for word in exact.keys() & words:
            for entry in exact[word]:
                if not entry.also or entry.also in words:
                    return True
        return False

    def first(self, words: Words) -> Rule | None:
        """The first row of the table that matches."""
        rows, distinct, text = self._rows, words.distinct, words.text
        best = len(rows)
        for entries in self._candidates(distinct):
            for entry in entries:
                at, also, needle, ends = entry
                if at >= best:
                    break  # entries are in the order of the rows
                if also and also not in distinct:
                    continue
                found = (
                    needle in text if type(needle) is str and not ends else _matches(text, entry)
                )
                if found and rows[at].allows(words):
                    best = at
        return rows[best].rule if best < len(rows) else None

    def all(self, words: Words) -> Iterator[Rule]:
        """All rows that match, in the order of the table."""
        candidates = chain.from_iterable(self._candidates(words.distinct))
        for at in sorted({entry.at for entry in candidates if _matches(words.text, entry)}):
            if self._rows[at].allows(words):
                yield self._rows[at].rule

    def _candidates(self, words: set[str]) -> list[list[_Entry]]:
        """The patterns whose key is among the words, by key; for long texts by sets of keys."""
        exact, heads, tails = self._exact, self._heads, self._tails
        if len(words) <= _SHORT:
            return [entries for word in words if (entries := self._of(word))]
        found = [exact[word] for word in exact.keys() & words]
        found += [heads[key] for key in heads.keys() & {word[:GLOB_KEY] for word in words}]
        if tails:
            found += [tails[key] for key in tails.keys() & {word[-GLOB_KEY:] for word in words}]
        return found

    def _of(self, word: str) -> list[_Entry]:
        """The patterns whose key is *word*; of names they are kept, which are made of few words."""
        known = self._known.get(word)
        if known is not None:
            return known
        exact = self._exact.get(word)
        head, tail = self._heads.get(word[:GLOB_KEY]), self._tails.get(word[-GLOB_KEY:])
        if head is None and tail is None:
            return exact or _NOTHING
        entries = [*(exact or ()), *(head or ()), *(tail or ())]
        entries.sort(key=itemgetter(0))
        if self._keeps and len(self._known) < MAX_KNOWN:
            self._known[word] = entries
        return entries


_NOTHING: list[_Entry] = []


def stands_in(pattern: str, text: str, *, ends: bool = False) -> bool:
    """Whether *text*, as `Words` has it, holds *pattern*, or *ends* in it."""
    return (_ends if ends else _stands)(text, _needle(pattern, ends=ends))


def _rarity(word: str) -> tuple[bool, int]:
    return word not in _COMMON, len(word)


def _needle(pattern: str, *, ends: bool = False) -> _Needle:
    """`` rate limit`` for ``rate limit*``: what a text must hold."""
    if ends and "*" in pattern:
        return tuple(pattern.split(" "))
    needle = f" {pattern} "
    if pattern[-1] == "*":
        needle = needle[:-2]
    if pattern[0] == "*":
        needle = needle[2:]
    return tuple(pattern.split(" ")) if "*" in needle else needle


def _matches(text: str, entry: _Entry) -> bool:
    return _ends(text, entry.needle) if entry.ends else _stands(text, entry.needle)


def _stands(text: str, needle: _Needle) -> bool:
    if isinstance(needle, str):
        return needle in text
    words = text.split()
    return any(all(map(_fits, words[at:], needle)) for at in range(len(words) - len(needle) + 1))


def _ends(text: str, needle: _Needle) -> bool:
    """Whether *text* ends in *needle*; the word that stands for an error suffix is passed over."""
    if text.endswith(" error "):
        text = text.removesuffix("error ")
    if isinstance(needle, str):
        return text.endswith(needle)
    words = text.split()[-len(needle) :]
    return len(words) == len(needle) and all(map(_fits, words, needle))


def _fits(word: str, pattern: str) -> bool:
    if pattern[0] == "*":
        return word.endswith(pattern[1:])
    if pattern[-1] == "*":
        return word.startswith(pattern[:-1])
    return word == pattern
