"""How long a tool asks to wait, from wherever it says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_SECONDS = 1.0
_MILLISECONDS = 0.001
_MINUTES = 60.0

_KEYS: dict[str, float] = {
    **dict.fromkeys(
        (
            "retry_after", "retryAfter", "retry_after_seconds", "retryAfterSeconds",
            "retryAfterInSeconds", "retry_after_secs", "retry_after_s", "retry-after",
            "Retry-After", "RetryAfter", "RetryAfterSeconds", "retry_in", "retryIn",
            "retry_in_seconds", "retryInSeconds", "retryDelay", "retry_delay",
            "retry_delay_seconds", "retryDelaySeconds", "wait_seconds", "waitSeconds",
            "backoff_seconds", "seconds_until_retry", "cooldown_seconds", "x-ratelimit-reset-after",
            "X-RateLimit-Reset-After",
        ),
        _SECONDS,
    ),
    **dict.fromkeys(
        (
            "retry_after_ms", "retryAfterMs", "retryAfterInMs", "retry_after_in_ms",
            "retry_after_millis", "retryAfterMillis", "retryAfterMilliseconds",
            "retry_after_milliseconds", "retry-after-ms", "x-ms-retry-after-ms", "retry_in_ms",
            "retryInMs", "retryDelayMs", "retry_delay_ms", "backoff_ms", "backoffMs", "wait_ms",
            "waitMs",
        ),
        _MILLISECONDS,
    ),
    **dict.fromkeys(("retry_after_minutes", "retryAfterMinutes", "retry_in_minutes"), _MINUTES),
}  # fmt: skip
DELAY_KEYS = frozenset(_KEYS)

_UNITS = {
    "": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0,
    "mo": 2_592_000.0, "y": 31_536_000.0,
}  # fmt: skip


def seconds_of(key: str, value: object, now: Callable[[], datetime] | None = None) -> float | None:
    """
    Return the delay in seconds that *value* under *key*, one of ``DELAY_KEYS``, names.

    Args:
        now: Tells the time for dates ("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"), which are
            ignored without it.
    """
    if type(value) is int or type(value) is float:
        # NaN fails the comparison; an integer of 10^6000 is compared, never converted.
        return min(value, _LONGEST) * _KEYS[key] if value >= 0 else None
    if type(value) is not str or not 0 < len(value) <= 64:
        return None
    if value.isdecimal() and len(value) <= 12:
        return float(value) * _KEYS[key]
    if value[-1] == "s" and value[:-1].isdecimal():  # protobuf's form of a duration
        return float(value[:-1])
    if match := _in_sentence().fullmatch(value.strip().lower()):
        return float(match[1]) * (_UNITS[_short(match[2])] if match[2] else _KEYS[key])
    return None if now is None else _until(value, now())


_LONGEST = 10**12
"""Stands for any number that is larger."""


def _until(value: str, now: datetime) -> float | None:
    """Seconds from *now* to a date in the HTTP or the ISO form; ``None`` for anything else."""
    from datetime import UTC, datetime  # noqa: PLC0415 -- dates are rare, and slow to load
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 -- the same

    parse = parsedate_to_datetime if "," in value else datetime.fromisoformat
    try:
        moment = parse(value.strip())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def delay_in(message: str) -> float | None:
    """Return the delay in seconds that a sentence names ("try again in 20s"), or ``None``."""
    text = message.lower()
    for stem, cues in _CUES.items():
        if stem not in text:
            continue
        for cue in cues:
            at = text.find(cue)
            while at >= 0:
                match = _in_sentence().match(text, at + len(cue))
                if match and (match[2] or _ends_at(text, match.end())):
                    amount, unit, seconds = match.groups()
                    delay = float(amount) * _UNITS[_short(unit)]
                    return delay + float(seconds) if seconds else delay
                at = text.find(cue, at + 1)
    return None


_CUES = {
    "again": ("again in ", "again after ", "again in about ", "again within "),
    "retry": ("retry in ", "retry after ", "retry-after: ", "retry-after "),
    "wait": ("wait ", "wait for ", "wait at least ", "wait another "),
    "reset": ("reset in ", "resets in "),
    "available": ("available in ",),
}
"""What stands before a delay, found by a stem: a sentence without one costs five look-ups."""


def _ends_at(text: str, at: int) -> bool:
    """Whether a number without a unit ends its clause: else it counts weeks, turns, or the time."""
    rest = text[at : at + 2]
    return not rest or rest[0] in ";)!]" or (rest[0] in ".," and not rest[1:].isdigit())


def _short(unit: str | None) -> str:
    if not unit:
        return ""
    return unit[:2] if unit.startswith(("ms", "mo")) else "ms" if unit[:3] == "mil" else unit[0]


_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"


@cache
def _in_sentence() -> re.Pattern[str]:
    """A delay as a sentence names it, "20 seconds" or "6m0s"."""
    return re.compile(
        _NUMBER + r"(?: ?(ms|milliseconds?|millis|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?"
        r"|d|days?|w|weeks?|months?|y|years?)(?:(\d{1,2}(?:\.\d{1,9})?)s)?\b)?"
    )
