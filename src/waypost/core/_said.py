"""What a failed tool says itself: on repeating, on what to do, on how long to wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ._clean import MESSAGE_CHARS
from ._delays import DELAY_KEYS, seconds_of
from ._recognize import ADVICE_ALIASES, RETRYABLE_ALIASES, RETRYABLE_INVERSE, text_of

if TYPE_CHECKING:
    from datetime import datetime

ABSENT: Final = object()
"""Stands for what the tool did not say; ``None`` is something that it did say."""

SAYING_KEYS: Final = frozenset(
    (
        "retryable",
        "next_action",
        RETRYABLE_INVERSE,
        *RETRYABLE_ALIASES,
        *ADVICE_ALIASES,
        *DELAY_KEYS,
    )
)
_RETRYABLE_ALIASES = frozenset((RETRYABLE_INVERSE, *RETRYABLE_ALIASES))


class Said(NamedTuple):
    """
    What the tool itself says.

    Attributes:
        retryable: The value under ``retryable``, whatever its type, else a boolean from another
            name; ``ABSENT`` if there is neither.

        action: Its own next action, if that is a text.

        advises: Whether it says what to do, under this or another name.

        delay: Seconds, or ``None``.
    """

    retryable: object = ABSENT
    action: str | None = None
    advises: bool = False
    delay: float | None = None


NOTHING_SAID: Final = Said()


def said_of(details: tuple[Mapping[str, object], ...], now: Callable[[], datetime] | None) -> Said:
    """
    Read what the tool says in *details*; of two mappings the outer one counts.

    The fields of the contract count before those of another name, wherever they stand.
    """
    found: dict[str, object] = {}
    for mapping in details:
        if not mapping.keys().isdisjoint(SAYING_KEYS):
            for key in mapping if len(mapping) < len(SAYING_KEYS) else SAYING_KEYS & mapping.keys():
                if key in SAYING_KEYS:
                    found.setdefault(key, mapping[key])
    return _read(found, now) if found else NOTHING_SAID


def _read(found: dict[str, object], now: Callable[[], datetime] | None) -> Said:
    retryable, delay, action = found.get("retryable", ABSENT), None, None
    advises = "next_action" in found
    if advises:
        action = text_of(found["next_action"])
    for key in sorted(found) if len(found) > 1 else found:
        value = found[key]
        if key in DELAY_KEYS:
            delay = seconds_of(key, value, now) if delay is None else delay
        elif key in _RETRYABLE_ALIASES:
            if retryable is ABSENT and type(value) is bool:
                retryable = value != (key == RETRYABLE_INVERSE)
        elif key in _ADVICE_KEYS:
            advises = advises or bool((text_of(value) or "")[:MESSAGE_CHARS].strip())
    return Said(retryable, action, advises, delay)


_ADVICE_KEYS = frozenset(ADVICE_ALIASES)
