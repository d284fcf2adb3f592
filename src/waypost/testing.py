"""Helpers for the tests of those who use waypost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from .core._guide import guide, stopped
from .core._model import OptionError
from .core._recognize import recognize, unfinished
from .retries._chains import Facts
from .retries._tracker import Tracker
from .retries.memory import MemoryAttemptStore

__all__ = ["ReplayedCall", "replay"]


class ReplayedCall(TypedDict):
    """
    What waypost says of one call of a recorded sequence.

    Attributes:
        is_error: Whether the payload is a failure; what follows it is ``None`` or ``False`` if not.

        retryable: The value that a model reads.

        error_class: One of the closed set.

        attempt: 1 for a first call; one more for each repeat after a failure.

        outcome: ``recovered``, ``failed``, ``corrected`` or ``abandoned`` for a call after a
            failure, else ``None``.

        advice: ``followed``, ``ignored``, ``too_early`` or ``unknown`` for such a call.

        may_repeat: For the host's own loop; ``False``, too, once waypost says to stop.

    .. versionadded:: 0.1.0
    """

    is_error: bool
    retryable: bool | None
    error_class: str | None
    attempt: int
    outcome: str | None
    advice: str | None
    may_repeat: bool


def replay(calls: Iterable[Mapping[str, Any]]) -> list[ReplayedCall]:
    """
    Judge a recorded sequence of calls as if it happened in one run.

    Args:
        calls: Each has ``tool``, ``arguments`` and ``payload``, what the tool returned; and
            ``after_s``, the seconds since the call before, if there were any.

    Raises:
        OptionError: If a call lacks one of them, or time would go back.

    .. versionadded:: 0.1.0
    """
    tracker = Tracker(MemoryAttemptStore(), os.urandom(32))
    now = 0.0
    told: list[ReplayedCall] = []
    for number, call in enumerate(calls, start=1):
        now += _seconds_before(call, number)
        tracked = tracker.begin("replay", None, str(call["tool"]), call["arguments"], now=now)
        failure = recognize(call["payload"])
        guided = None
        if unfinished(call["payload"]):
            tracker.leave(tracked)
            facts = Facts()
        elif failure is None:
            facts = tracker.succeed(tracked)
        else:
            guided = guide(failure)
            facts = tracker.fail(tracked, failure, guided, now=now)
            if facts.stop is not None:
                guided = stopped(guided, facts.stop)
        told.append(
            ReplayedCall(
                is_error=guided is not None,
                retryable=None if guided is None else guided.retryable,
                error_class=None if guided is None else guided.advice.error_class.value,
                attempt=tracked.started.attempt,
                outcome=facts.outcome and facts.outcome.value,
                advice=facts.advice and facts.advice.value,
                may_repeat=guided is not None and guided.may_repeat,
            )
        )
    return told


def _seconds_before(call: Mapping[str, Any], number: int) -> float:
    """Return ``after_s`` of a call that has all it needs."""
    for key in ("tool", "arguments", "payload"):
        if key not in call:
            raise OptionError(
                f"call {number} has no {key!r}; "
                "each call is a mapping with 'tool', 'arguments' and 'payload'."
            )
    seconds = call.get("after_s", 0)
    if type(seconds) not in (int, float) or not 0 <= seconds < float("inf"):
        raise OptionError(
            f"call {number} has after_s={seconds!r}: "
            "use the seconds since the call before, 0 or more."
        )
    return float(seconds)
