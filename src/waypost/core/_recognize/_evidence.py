"""What a mapping says of itself: its marks, its flags, its status, and whether it says why."""

from __future__ import annotations

from collections.abc import Mapping

from ._scalars import code_of, first_of, mapping_of, status_of, text_of
from ._words import (
    CALL_IDS,
    CODE_KEYS,
    COMMON_MARKERS,
    FEW_KEYS,
    FLAG_KEYS,
    IDENTITY_KEYS,
    MARKERS,
    REPORT_KEYS,
    STATUS_KEYS,
    TEXT_KEYS,
)

Payload = Mapping[str, object]


def marked(payload: Payload) -> bool:
    """Whether *payload* holds a key that a failure must have; the common success ends here."""
    if len(payload) <= FEW_KEYS:
        return not payload.keys().isdisjoint(MARKERS)
    return not payload.keys().isdisjoint(COMMON_MARKERS)


def word_of(value: object) -> str | None:
    return value.strip().lower() if type(value) is str and len(value) <= 16 else None


def flag_of(payload: Payload) -> bool | None:
    if not payload.keys().isdisjoint(FLAG_KEYS):
        for key in FLAG_KEYS:
            if (value := payload.get(key)) is False or value is True:
                return value
    return None


def number_of(payload: Payload) -> int:
    """The HTTP status number in a status position, or 0."""
    if not payload.keys().isdisjoint(STATUS_KEYS):
        for key in STATUS_KEYS:
            if (number := status_of(payload.get(key))) is not None:
                return number
    return 0


def says_why(payload: Payload) -> bool:
    """
    Whether there is an error code or a text: without one, ``ok: false`` is a verdict, not a
    failure.
    """
    return (
        bool(text_of(payload.get("message")))
        or has_code(payload)
        or has_text(payload)
        or has_errors(payload)
        or code_of(payload.get("code")) is not None
    )


def has_code(payload: Payload) -> bool:
    if payload.keys().isdisjoint(_CODE_KEYS):
        return False
    return any(code_of(payload[key]) is not None for key in payload.keys() & _CODE_KEYS)


_CODE_KEYS = frozenset(CODE_KEYS)


def has_text(payload: Payload) -> bool:
    for key in payload.keys() & _TEXT_KEYS:
        value = payload[key]
        if type(value) is str:
            if value and not value.isspace():
                return True
        elif value is not None and key in _ERROR_OBJECTS and (text_of(value) or mapping_of(value)):
            return True
    return False


_ERROR_OBJECTS = frozenset(
    ("error", "detail", "details", "message", "exception", "fault", "reason", "cause")
)


_TEXT_KEYS = frozenset(TEXT_KEYS)


def says_why_inside(payload: Payload) -> bool:
    """The same one level down, as in ``{"success": false, "data": {"message": ...}}``."""
    if len(payload) > FEW_KEYS:
        return False
    for value in payload.values():
        inner = mapping_of(value) or mapping_of(first_of(value))
        if inner and (has_text(inner) or code_of(inner.get("code")) is not None):
            return True
    return False


def has_errors(payload: Payload) -> bool:
    """Whether ``errors`` holds errors of this call rather than the findings of a report."""
    errors = payload.get("errors") or payload.get("Errors")
    if not errors or not payload.keys().isdisjoint(REPORT_KEYS):
        return False
    if text_of(errors) is not None:
        return True
    if (first := first_of(errors)) is not None:
        return bool(text_of(first) or mapping_of(first))
    return bool(mapping_of(errors))


def identified(payload: Payload) -> bool:
    """Whether *payload* names a thing that is reported on: its failure is not the call's."""
    if not payload.keys().isdisjoint(IDENTITY_KEYS):
        return True
    return len(payload) <= FEW_KEYS and any(
        type(key) is str and key.endswith(("_id", "_sid")) and key not in CALL_IDS
        for key in payload
    )
