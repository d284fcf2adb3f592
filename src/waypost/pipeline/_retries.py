"""Follow the calls of an enricher through their retries, within the scope they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core._guide import Guided, stopped
from ..core._model import Failure, OptionError
from ..core._observation import Attempt, CallStart, Correlation, RetryOf, Scope
from ..retries._chains import LIFETIME_SECONDS, Facts, Failed
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
        self.tracker = tracker
        self.faults = faults

    def begin(
        self,
        start: CallStart,
        scopes: tuple[Scope, ...],
        session: str | None,
        arguments: object,
        *,
        now: float,
    ) -> Followed | None:
        """Number a call that begins; ``None`` if it has no tool's name or no scope."""
        if start.tool_name is None or start.one_shot:
            return None
        try:
            within = _within(start, scopes, session)
            if within is None:
                return None
            correlation, name = within
            tracked = self.tracker.begin(
                f"{correlation}:{name}",
                start.server,
                start.tool_name,
                arguments,
                now=now,
                lifetime_seconds=WINDOW_SECONDS if correlation == "window" else LIFETIME_SECONDS,
            )
        except Exception as fault:  # noqa: BLE001 -- a store that the host gave
            self.faults.take("retries", fault)
            return None
        return Followed(self, tracked, correlation, now)


class Followed:
    """
    A call that is followed; it ends once, and what comes later changes nothing.

    Attributes:
        attempt: What is known at its end; ``None`` before, and where that could not be told.
    """

    __slots__ = ("_began_at", "_correlation", "_open", "_retries", "_tracked", "attempt")

    def __init__(
        self, retries: Retries, tracked: Tracked, correlation: Correlation, began_at: float
    ) -> None:
        self._retries = retries
        self._tracked = tracked
        self._correlation: Correlation = correlation
        self._began_at = began_at
        self._open = True
        self.attempt: Attempt | None = None

    def succeed(self) -> None:
        """End a call that worked."""
        self._open = False
        try:
            self._told(self._retries.tracker.succeed(self._tracked))
        except Exception as fault:  # noqa: BLE001 -- as above
            self._retries.faults.take("retries", fault)

    def fail(self, failure: Failure, guided: Guided, seconds: float | None, ids: Ids) -> Guided:
        """
        End a call that failed, and return its guidance, or that which says to stop.

        Args:
            seconds: How long it ran, or ``None`` if the clock failed.
        """
        self._open = False
        try:
            trace_id, span_id, sampled = ids
            facts = self._retries.tracker.fail(
                self._tracked,
                failure,
                guided,
                now=self._began_at + (seconds or 0.0),
                trace_id=trace_id,
                span_id=span_id,
                sampled=sampled,
            )
            self._told(facts)
        except Exception as fault:  # noqa: BLE001 -- as above
            self._retries.faults.take("retries", fault)
            return guided
        return guided if facts.stop is None else stopped(guided, facts.stop)

    def leave(self) -> None:
        """End a call of which nothing is known, such as one that was cancelled."""
        if not self._open:
            return
        self._open = False
        try:
            self._retries.tracker.leave(self._tracked)
        except Exception as fault:  # noqa: BLE001 -- as above
            self._retries.faults.take("retries", fault)

    def _told(self, facts: Facts) -> None:
        started = self._tracked.started
        before = started.retry_of
        self.attempt = Attempt(
            started.chain_id,
            started.attempt,
            self._correlation,
            None if before is None else _retry_of(before),
            facts.advice,
            facts.outcome,
            facts.exhausted,
            facts.storm,
        )


Ids = tuple[str | None, str | None, bool]
"""Trace id, span id, and whether the trace is recorded."""


def _within(
    start: CallStart, scopes: tuple[Scope, ...], session: str | None
) -> tuple[Correlation, str] | None:
    """What retries of the call stay within: the first of these that exists."""
    if (named := _run.get()) is not None:
        return "run", named
    for scope in scopes:
        within: tuple[Correlation, str] | None = getattr(scope, "within", None)
        if within is not None:
            return within
    return ("window", session or "") if start.side == "host" else None


def _retry_of(failed: Failed) -> RetryOf:
    return RetryOf(
        failed.error_class,
        failed.step,
        failed.retryable,
        failed.trace_id,
        failed.span_id,
        failed.sampled,
    )
