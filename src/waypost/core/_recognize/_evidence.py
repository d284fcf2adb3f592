"""What a mapping says of itself: its marks, its flags, its status, and whether it says why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from .._clean import MESSAGE_CHARS
from ._scalars import code_of, first_of, given, mapping_of, status_of, text_of
from ._words import (
    CALL_IDS,
    CODE_KEYS,
    COMMON_MARKERS,
    ERROR_TEXT_KEYS,
    FEW_KEYS,
    FLAG_KEYS,
    IDENTITY_ENDINGS,
    IDENTITY_KEYS,
    LEVEL_KEYS,
    MARKERS,
    PALETTE_KEYS,
    RECORD_KEYS,
    REPORT_KEYS,
    ROW_KEYS,
    STATUS_KEYS,
    TEXT_KEYS,
    TIME_KEYS,
    WEAK_CODE_KEYS,
    WITNESS_KEYS,
)

Payload = Mapping[str, object]


def marked(payload: Payload) -> bool:
    """Whether *payload* holds a key that a failure must have; the common success ends here."""
    if len(payload) <= FEW_KEYS:
        return not payload.keys().isdisjoint(MARKERS) or (
            len(payload) == 1 and type(next(iter(payload.values()))) is dict
        )
    return not payload.keys().isdisjoint(COMMON_MARKERS)


def word_of(value: object) -> str | None:
    text = value if type(value) is str else text_of(value)
    return text.strip().lower() if text is not None and len(text) <= 16 else None


def flag_of(payload: Payload) -> bool | None:
    if not payload.keys().isdisjoint(_FLAG_KEYS):
        for key in FLAG_KEYS:
            if (value := payload.get(key)) is False or value is True:
                return value
    return None


_FLAG_KEYS = frozenset(FLAG_KEYS)


def number_of(payload: Payload) -> int:
    """The HTTP status number in a status position, or 0."""
    if not payload.keys().isdisjoint(_STATUS_KEYS):
        for key in STATUS_KEYS:
            if (number := status_of(payload.get(key))) is not None:
                return number
    return 0


_STATUS_KEYS = frozenset(STATUS_KEYS)


def says_why(payload: Payload) -> bool:
    """Whether there is an error code or a text; without one, ``ok: false`` is a verdict."""
    return has_witness(payload) or has_text(payload, _FLAGGED_TEXT_KEYS)


def has_witness(payload: Payload) -> bool:
    """Whether there is an error code, or a text that speaks of an error: a second witness."""
    return (
        bool(text_of(payload.get("message")))
        or has_code(payload)
        or has_text(payload, _WITNESS_KEYS)
        or has_errors(payload)
        or code_of(payload.get("code")) is not None
    )


def has_code(payload: Payload) -> bool:
    keys = payload.keys()
    if not keys.isdisjoint(_CODE_KEYS):
        return any(code_of(payload[key]) is not None for key in keys & _CODE_KEYS)
    if keys.isdisjoint(_WEAK_CODE_KEYS) or not has_text(payload, _BESIDE_WEAK_CODES):
        return False
    return any(code_of(payload[key]) is not None for key in keys & _WEAK_CODE_KEYS)


_CODE_KEYS = frozenset(CODE_KEYS)
_WEAK_CODE_KEYS = frozenset(WEAK_CODE_KEYS)
_BESIDE_WEAK_CODES = frozenset(("message", "Message", "msg", "errmsg", *ERROR_TEXT_KEYS))


def has_text(payload: Payload, keys: frozenset[str]) -> bool:
    for key in payload.keys() & keys:
        value = payload[key]
        if type(value) is str:
            if value and not value[:_BLANK_CHARS].isspace():
                return True
        elif type(value) is list:
            if key in _LISTED_TEXTS and text_of(first_of(value)):
                return True
        elif value is not None and key in _ERROR_OBJECTS and (text_of(value) or mapping_of(value)):
            return True
    return False


_BLANK_CHARS = 64
"""A text that begins with so much white space is taken for blank."""

_ERROR_OBJECTS = frozenset(
    ("error", "detail", "details", "message", "exception", "fault", "reason", "cause")
)
_LISTED_TEXTS = frozenset(("message", "messages", "detail", "errorMessages"))
_WITNESS_KEYS = frozenset(WITNESS_KEYS)
_FLAGGED_TEXT_KEYS = frozenset(TEXT_KEYS) - {"body", "text", "summary", "info", "cause"}


def says_why_inside(payload: Payload, keys: Iterable[str]) -> bool:
    """The same one level down, as in ``{"success": false, "data": {"message": ...}}``."""
    for key in keys:
        value = payload.get(key)
        inner = mapping_of(value) or mapping_of(first_of(value))
        if inner and (has_text(inner, _INSIDE_KEYS) or code_of(inner.get("code")) is not None):
            return True
    return False


_INSIDE_KEYS = _WITNESS_KEYS | {"summary"}


def has_errors(payload: Payload) -> bool:
    """Whether ``errors`` holds errors of this call rather than counts, or findings of a report."""
    errors = payload["errors"] if "errors" in payload else payload.get("Errors")
    if not given(errors) or not payload.keys().isdisjoint(REPORT_KEYS):
        return False
    if (text := text_of(errors)) is not None:
        return " " in text[:MESSAGE_CHARS].strip()
    element = first_of(errors)
    if element is None:
        mapping = mapping_of(errors) or {}
        if type(mapping.get("count")) is int:
            return False
        some = islice(mapping.values(), FEW_KEYS)
        return any(type(value) not in _COUNTS and given(value) for value in some)
    row = mapping_of(element)
    return row.keys().isdisjoint(ROW_KEYS) if row else bool(text_of(element))


_COUNTS = frozenset((int, float, bool))


def identified(payload: Payload) -> bool:
    """Whether *payload* names a thing that is reported on: its failure is not the call's."""
    if not payload.keys().isdisjoint(IDENTITY_KEYS):
        return True
    return len(payload) <= FEW_KEYS and any(
        type(key) is str
        and key.endswith(IDENTITY_ENDINGS)
        and key not in CALL_IDS
        and type(payload[key]) not in _CONTAINERS
        for key in payload
    )


_CONTAINERS = frozenset((dict, list))
"""What no id is: ``{"account_id": ["This field is required."]}`` names an argument."""


def recorded(payload: Payload) -> bool:
    """Whether *payload* is a record, a line of a log, a palette: it has an error, and is none."""
    if not payload.keys().isdisjoint(RECORD_KEYS):
        return True
    if any(key in payload for key in LEVEL_KEYS) and any(key in payload for key in TIME_KEYS):
        return True
    return any(
        type(value := payload.get(key)) in _COLORS and value not in _FLAG_TEXTS
        for key in PALETTE_KEYS
    )


_COLORS = frozenset((str, dict))
_FLAG_TEXTS = ("true", "false", "0", "1")
