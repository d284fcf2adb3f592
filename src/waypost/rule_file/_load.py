"""A file becomes a book, or one error with a line for each mistake in it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core._classify import RuleBook, default_rules
from ..core._model import OptionError, Rule, RuleError
from ..core._rules import UNKNOWN_RULE
from ._lines import Document, Lines
from ._tables import Problem, checked, short

MOST_BYTES = 1024 * 1024
MOST_RULES = 10_000
_MOST_CHARS = 600


class RuleFile(NamedTuple):
    """
    What a file of rules holds.

    Attributes:
        book: Its rows before and after the built-in ones.

        numbers: The rows of the file, each with its number in it, from 0.
    """

    book: RuleBook
    numbers: dict[Rule, int]
    lines: Lines


def load_rules(path: str | os.PathLike[str]) -> RuleBook:
    """
    Load rules of your own from a TOML file: a book in which they stand beside the built-in ones.

    Each ``[[rules]]`` table has the keys that `rule` has as arguments, and ``place``: ``"before"``
    (the default) overrules the built-in rows, ``"after"`` decides only what they leave open.

    Args:
        path: At most 1 MiB of UTF-8, and 10,000 rules.

    Raises:
        RuleError: The file cannot be read, or something in it does not hold. The text has one line
            for each mistake: the file, the line in it, the value, and what to write instead.

        OptionError: *path* is no path.

    .. versionadded:: 0.1.0
    """
    return read_rules(path).book


def read_rules(path: str | os.PathLike[str]) -> RuleFile:
    """Do what `load_rules` does, and keep where the rules stand in the file."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise OptionError(f"load_rules({short(path)}): pass the path of a TOML file.")
    text = _text(name)
    document = _document(name, text)
    lines, problems = Lines(text), list(_misplaced(document))
    rules = document.get("rules")
    tables = rules[:MOST_RULES] if isinstance(rules, list) else []
    found = [checked(number, table) for number, table in enumerate(tables)]
    problems += [problem for each in found for problem in each.problems]
    problems += _taken_ids(tables, lines)
    if problems:
        raise RuleError("\n".join(_told(name, problems, lines)))
    rows = [(each.row, each.place) for each in found if each.row]
    book = default_rules().before(row for row, place in rows if place == "before")
    book = book.after(row for row, place in rows if place == "after")
    return RuleFile(book, {row: number for number, (row, _) in enumerate(rows)}, lines)


def _text(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as exc:  # of a NUL in the path
        why = getattr(exc, "strerror", None) or exc
        raise RuleError(f"{name}: The file cannot be read: {why}. Name a TOML file.") from exc
    if len(data) > MOST_BYTES:
        raise RuleError(f"{name}: The file is longer than 1 MiB: keep fewer rules in it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        byte = exc.object[exc.start]
        raise RuleError(
            f"{name}:{line}: The byte 0x{byte:02x} is no UTF-8: save the file as UTF-8."
        ) from exc


def _document(name: str, text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        what, _, place = str(exc).rpartition(" (at ")
        digits = re.findall(r"\d+", place)
        lines = text.split("\n")
        line = int(digits[0]) if digits else len(lines)
        raise RuleError(
            _clipped(
                f"{name}:{line}: {short(lines[line - 1].strip())} is no TOML: {what}. "
                f"Put texts in quotes, close quotes and brackets, write each key once."
            )
        ) from exc
    except RecursionError:
        raise RuleError(f"{name}: Lists are nested too deeply: a rule has texts in them.") from None
    except ValueError as exc:  # an integer of more than 4,300 digits
        raise RuleError(f"{name}: A number has too many digits: no rule has numbers.") from exc


def _misplaced(document: Document) -> Iterator[Problem]:
    """What keeps the tables from being read."""
    for key in document:
        if key != "rules":
            text = f"{short(key)} is no key of a file of rules: write [[rules]] above each rule."
            yield Problem(text, key=key)
    rules = document.get("rules")
    if not document:
        yield Problem("The file holds no rules: write [[rules]] above each rule.")
    elif rules is not None and not isinstance(rules, list):
        text = f"'rules' is {short(rules)}: write [[rules]], in double brackets, above each rule."
        yield Problem(text, key="rules")
    elif rules is not None and len(rules) > MOST_RULES:
        yield Problem(
            f"The file has {len(rules):,} rules: keep at most {MOST_RULES:,}.", MOST_RULES
        )


def _taken_ids(tables: Sequence[object], lines: Lines) -> Iterator[Problem]:
    """The ids that are those of built-in rows, or of rules above."""
    built_in = {UNKNOWN_RULE.id, *(row.id for row in default_rules().rows)}
    first: dict[str, int] = {}
    for number, table in enumerate(tables):
        name = table.get("id") if isinstance(table, dict) else None
        if not isinstance(name, str):
            continue
        if name in built_in:
            text = f"The id {short(name)} is that of a built-in row: give the rule another one."
            yield Problem(text, number, "id")
        elif (other := first.setdefault(name, number)) != number:
            line = lines.of(other, "id")
            place = f"line {line}" if line else f"rule {other + 1}"
            text = f"The id {short(name)} is that of the rule in {place}, too: rename one of them."
            yield Problem(text, number, "id")


def _told(name: str, problems: Sequence[Problem], lines: Lines) -> Iterator[str]:
    """One line for each problem, in the order of the file."""
    placed = [(lines.of(each.rule, each.key), each) for each in problems]
    for line, problem in sorted(placed, key=lambda each: (each[0] or 0, each[1].rule or 0)):
        place = f"{name}:{line}" if line else name
        if not line and problem.rule is not None:
            place += f": rule {problem.rule + 1}"
        yield _clipped(f"{place}: {problem.text}")


def _clipped(line: str) -> str:
    """The line, which has the value at its beginning and the way out at its end."""
    return line if len(line) <= _MOST_CHARS else f"{line[:300]} ... {line[-250:]}"
