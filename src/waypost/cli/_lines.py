"""
Lines of JSON in, the same lines with guidance out: what one process does with one block of them.

Loads nothing but the core, since every worker process loads it anew.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from ..core._classify import RuleBook
from ..core._clean import clean_code
from ..core._enrich import enrich
from ..core._guide import guide
from ..core._json_text import inserted
from ..core._model import ErrorClass, Origin
from ..core._recognize import recognize


class BadLine(NamedTuple):
    """A line that could not be read: its place in the block, from 0, why, and what it holds."""

    offset: int
    reason: str
    line: bytes


class Done(NamedTuple):
    """
    What became of a block of lines.

    Attributes:
        output: Every line that was read, in order, each with a line feed.

        lines: How many lines the block had, blank and bad ones included.

        successes: How many of them are no failures.

        classes: How many failures of each error class.

        unknown_codes: How often each code occurred that no rule knows; as codes may leave us.

        bad: The lines that could not be read.
    """

    output: bytes
    lines: int
    successes: int
    classes: Counter[str]
    unknown_codes: Counter[str]
    bad: list[BadLine]


def enrich_block(block: bytes, rules: RuleBook | None) -> Done:
    """Add guidance to the failures among the lines of *block*; never raises."""
    output: list[str] = []
    classes: Counter[str] = Counter()
    unknown_codes: Counter[str] = Counter()
    bad: list[BadLine] = []
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    successes = 0
    for offset, line in enumerate(lines):
        try:
            text = line.decode()
            if text.isspace() or not text:
                continue
            enriched, error_class, code = _enriched(text, rules)
        except (ValueError, RecursionError) as fault:
            bad.append(BadLine(offset, _reason(fault), line))
            continue
        output.append(enriched)
        if error_class is None:
            successes += 1
            continue
        classes[error_class] += 1
        if error_class == _UNKNOWN and code is not None:
            unknown_codes[clean_code(code)] += 1
    output.append("")
    return Done("\n".join(output).encode(), len(lines), successes, classes, unknown_codes, bad)


_UNKNOWN = ErrorClass.UNKNOWN.value
_MAPPING = Origin.MAPPING


def _enriched(text: str, rules: RuleBook | None) -> tuple[str, str | None, str | None]:
    """
    The line with guidance, and the class and code of its failure; ``None`` for a success.

    A payload keeps every byte. Anything else, such as an MCP result, is written anew.
    """
    value = _value_of(text)
    failure = recognize(value)
    if failure is None:
        return text, None, None
    guided = guide(failure, rules=rules)
    if failure.origin is _MAPPING:
        missing = tuple([item for item in guided.additions.items() if item[0] not in value])
        line = inserted(text, _members(missing), alone=False) if missing else text
    else:
        line = json.dumps(enrich(value, failure, guided), allow_nan=False)
        line += "\r" if text[-1] == "\r" else ""
    return line, guided.advice.error_class._value_, failure.code


@lru_cache(maxsize=1_024)
def _members(items: tuple[tuple[str, object], ...]) -> str:
    """The members as JSON without braces; few sentences are told apart, so they are kept."""
    return json.dumps(dict(items))[1:-1]


def _value_of(text: str) -> Any:
    """What the JSON *text* holds, read in one go unless there is white space around it."""
    if text[0] not in _WHITE:
        value, end = _decoder.raw_decode(text)
        if end == len(text) or not text[end:].strip(_WHITE):
            return value
    return _decoder.decode(text)


_WHITE = " \t\r"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def _reason(fault: Exception) -> str:
    """Why a line is bad; nothing of the line itself is in it."""
    if isinstance(fault, json.JSONDecodeError):
        return f"no JSON: {fault.msg} at column {fault.colno}"
    if isinstance(fault, UnicodeDecodeError):
        return f"no UTF-8 at byte {fault.start + 1}"
    if isinstance(fault, RecursionError):
        return "nested too deeply"
    told = str(fault)
    return "an integer of too many digits" if "integer string conversion" in told else told
