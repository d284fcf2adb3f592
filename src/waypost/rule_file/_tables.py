"""Tables of a file become rows, and what does not hold in them is told, all of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from reprlib import Repr
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ..core._model import Rule, RuleError
from ..core._row import rule

Place = Literal["before", "after"]


class Table(BaseModel):
    """A ``[[rules]]`` table: the keys and their types; what the values mean `rule` knows."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: str
    error_class: str
    outcome: str
    why: str
    any_of: list[str] = []
    ends: list[str] = []
    only_with: list[str] = []
    not_with: list[str] = []
    retryable: bool = True
    step: str = ""
    action: str = ""
    in_message: bool = True
    vague: bool = False
    refined_by: list[str] = []
    place: Place = "before"


class Problem(NamedTuple):
    """What does not hold, in which rule, from 0, and under which key; ``None`` for the file."""

    text: str
    rule: int | None = None
    key: str | None = None


class Checked(NamedTuple):
    """A table: its row, if it is one, where it stands, and what is wrong with it."""

    row: Rule | None
    place: Place
    problems: list[Problem]


def checked(number: int, table: object) -> Checked:
    """Check one table."""
    if not isinstance(table, dict):
        text = f"A rule is {short(table)}: write its keys below a line [[rules]]."
        return Checked(None, "before", [Problem(text, number)])
    mistyped = list(_mistyped(table))
    values = {key: value for key, value in table.items() if key in Table.model_fields}
    place = values.pop("place", "before")
    first = ""
    if not mistyped:
        try:
            return Checked(rule(**values), place, [])
        except RuleError as exc:
            first = str(exc)  # there may be more
    wrong = [*mistyped, *_refused(values, {key for key, _ in mistyped}, number)] or [("id", first)]
    return Checked(None, "before", [Problem(text, number, key) for key, text in wrong])


# The types


def _mistyped(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that are missing, not known or of another type, each with what to write."""
    try:
        Table.model_validate(table)
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
        unknown = [str(each["loc"][0]) for each in errors if each["type"] == "extra_forbidden"]
        misspelled = {_nearest(key) for key in unknown}
        for error in errors:
            key, *inner = map(str, error["loc"])
            if error["type"] != "missing" or key not in misspelled:
                yield key, _worded(key, error["type"], error["input"], within=bool(inner))


def _nearest(key: str) -> str | None:
    """The key that is meant, as far as the spelling tells."""
    return next(iter(difflib.get_close_matches(key, Table.model_fields, 1)), None)


def _worded(key: str, kind: str, value: object, *, within: bool) -> str:
    if kind == "missing":
        return f"The rule has no {key!r}: add a line such as {_EXAMPLES[key]}."
    if kind == "extra_forbidden":
        near = _nearest(key)
        known = f"write {near}" if near else f"use one of {', '.join(Table.model_fields)}"
        return f"{short(key)} is no key of a rule: {known}."
    return f"{key!r} {'holds' if within else 'is'} {short(value)}: write {_WAYS[kind]}."


_EXAMPLES = {
    "id": 'id = "shop.closed"',
    "error_class": 'error_class = "unavailable"',
    "outcome": 'outcome = "unknown"',
    "why": 'why = "Shops close at night."',
}
_WAYS = {
    "bool_type": "true or false, without quotes",
    "list_type": 'a list of texts, such as ["rate limit"]',
    "literal_error": '"before" or "after"',
    "string_type": "a text, in quotes",
}


# The values


def _refused(
    values: Mapping[str, Any], mistyped: set[str], number: int
) -> Iterator[tuple[str, str]]:
    """What `rule` refuses: each value beside sound ones, then those that depend on each other."""
    known = {key: value for key, value in values.items() if key not in mistyped}
    known |= {key: _texts(values[key]) for key in _PATTERNS & mistyped & values.keys()}
    sound = _SOUND | {"id": known["id"] if known.get("id", "").strip() else str(number + 1)}
    wrong = mistyped | {key for each in mistyped if (key := _nearest(each))}
    for key, value in known.items():
        for part in [[each] for each in value] if key in _PATTERNS else [value]:
            refusal = None if key in ("retryable", "action") else _refusal(sound | {key: part})
            if refusal:
                wrong.add(key)
                yield key, refusal
    if not wrong & {"error_class", "step"}:
        kept = sound | {key: value for key, value in known.items() if key not in wrong}
        if not wrong & {"any_of", "ends"}:
            kept["any_of"] = known.get("any_of", ())
        yield from _refused_together(kept)


def _refused_together(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("any_of", "retryable", "action"):  # the order in which they are looked at
        refusal, without = _refusal(values), {**values, key: _SOUND[key]}
        if refusal and _refusal(without) != refusal:
            yield key, refusal
            values = without


_PATTERNS = {"any_of", "ends", "only_with", "not_with"}
_SOUND: dict[str, Any] = {
    "any_of": ("any words",),
    "error_class": "invalid",
    "outcome": "unknown",
    "why": "Sound.",
    "retryable": None,
    "action": None,
}


def _texts(value: object) -> Sequence[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _refusal(values: Mapping[str, Any]) -> str | None:
    """What `rule` says of *values*; ``None`` if it takes them."""
    try:
        rule(**values)
    except RuleError as exc:
        return str(exc)
    return None


# Values in messages


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def short(value: object) -> str:
    """The value in one short line."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of too many digits"
