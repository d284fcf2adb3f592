"""Follow the calls of an enricher through their retries, within the scope they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core._guide import Guided, stopped
from ..core._model import Failure, OptionError
from ..core._observation import Attempt, CallStart, Correlation, RetryOf, Scope
from ..retries._chains import LIFETIME_SECONDS, Failed
from ..retries._tracker import Tracked, Tracker
from ._faults import Faults

WINDOW_SECONDS = 120.0
"""So long after a call of it a client session goes on, where nothing better is known."""

_run: ContextVar[str | None] = ContextVar("waypost_run", default=None)


@contextmanager
def run(name: str) -> Iterator[None]:
    """Name the run that the calls of a block belong to."""
    if not isinstance(name, str) or not name:
        raise OptionError(
            f"Enricher.run({name!r}): pass a text that names the run, such as the id of the"
            " conversation."
        )
    token = _run.set(name)
    try:
        yield
    finally:
        # Left in another context than it was entered in, as generators are, it names nothing there.
        try:  # noqa: SIM105 -- as in `Call`
            _run.reset(token)
        except ValueError:
            pass


class Retries:
    """The retries of one enricher's calls; a fault of the store leaves a call unfollowed."""

    def __init__(self, tracker: Tracker, faults: Faults) -> None:
        self._tracker = tracker
        self._faults = faults

    def begin(
        self, within: Within, start: CallStart, arguments: object, now: float
    ) -> Tracked | None:
        """Number a call that begins."""
        correlation, name = within
        try:
            return self._tracker.begin(
                f"{correlation}:{name}",
                start.server,
                start.tool_name or "",
                arguments,
                now=now,
                lifetime_seconds=WINDOW_SECONDS if correlation == "window" else LIFETIME_SECONDS,
            )
        except Exception as fault:  # noqa: BLE001 -- a store that the host gave
            self._faults.take("retries", fault)
            return None

    def succeed(self, call: Tracked) -> None:
        """End a call that worked."""
        try:
            self._tracker.succeed(call)
        except Exception as fault:  # noqa: BLE001 -- as above
            self._faults.take("retries", fault)

    def fail(
        self, call: Tracked, failure: Failure, guided: Guided, seconds: float | None, ids: Ids
    ) -> Guided:
        """
        End a call that failed, and return its guidance, or that which says to stop.

        Args:
            seconds: How long it ran, or ``None`` if the clock failed.
        """
        trace_id, span_id, sampled = ids
        try:
            facts = self._tracker.fail(
                call,
                failure,
                guided,
                now=call.began_at + (seconds or 0.0),
                trace_id=trace_id,
                span_id=span_id,
                sampled=sampled,
            )
        except Exception as fault:  # noqa: BLE001 -- as above
            self._faults.take("retries", fault)
            return guided
        return guided if facts.stop is None else stopped(guided, facts.stop)

    def leave(self, call: Tracked) -> None:
        """End a call of which nothing is known, such as one that was cancelled."""
        try:
            self._tracker.leave(call)
        except Exception as fault:  # noqa: BLE001 -- as above
            self._faults.take("retries", fault)


Ids = tuple[str | None, str | None, bool]
"""Trace id, span id, and whether the trace is recorded."""


Within = tuple[Correlation, str]


def within_of(start: CallStart, scopes: tuple[Scope, ...], session: str | None) -> Within | None:
    """What retries of a call stay within: the first of these that exists."""
    if (named := _run.get()) is not None:
        return "run", named
    for scope in scopes:
        within: Within | None = getattr(scope, "within", None)
        if within is not None:
            return within
    return ("window", session or "") if start.side == "host" else None


def attempt_of(call: Tracked, correlation: Correlation) -> Attempt | None:
    """What observers are told at the end of a call; ``None`` where that is not known."""
    facts, started = call.facts, call.started
    if facts is None:
        return None
    before = started.retry_of
    return Attempt(
        facts.chain_id,
        started.attempt,
        correlation,
        None if before is None else _retry_of(before),
        facts.advice,
        facts.outcome,
        facts.exhausted,
        facts.storm,
    )


def _retry_of(failed: Failed) -> RetryOf:
    return RetryOf(
        failed.error_class,
        failed.step,
        failed.retryable,
        failed.trace_id,
        failed.span_id,
        failed.sampled,
    )
