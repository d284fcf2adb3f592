"""Follow the calls of an enricher through their retries, within the scope they belong to."""

from __future__ import annotations

import os
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
    """
    The retries of one enricher's calls; a fault, in a store or a scope, leaves a call unfollowed.
    """

    def __init__(self, tracker: Tracker, faults: Faults) -> None:
        self._tracker = tracker
        self._faults = faults
        self._session = os.urandom(8).hex()

    def begin(
        self,
        start: CallStart,
        scopes: tuple[Scope, ...] | None,
        named: Named,
        arguments: object,
        now: float,
    ) -> tuple[Tracked, Correlation] | None:
        """
        Number a call that begins; ``None`` if it belongs to nothing, or has no tool's name.

        Args:
            scopes: ``None`` if one of them could not be had: then only a run is sure.

            named: Run and session of this very call.
        """
        if start.tool_name is None or start.one_shot:
            return None
        try:
            run_name, session = named
            within = _within(start, scopes, run_name, session or self._session)
            if within is None:
                return None
            correlation, name = within
            tracked = self._tracker.begin(
                f"{correlation}:{name}",
                start.server,
                start.tool_name,
                arguments,
                now=now,
                lifetime_seconds=WINDOW_SECONDS if correlation == "window" else LIFETIME_SECONDS,
            )
        except Exception as fault:  # noqa: BLE001 -- a store, or an observer's own scope
            self._faults.take("retries", fault)
            return None
        return tracked, correlation

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

Named = tuple[str | None, str | None]
"""The run and the session that a call was opened with, or ``None`` where it was not."""


def _within(
    start: CallStart, scopes: tuple[Scope, ...] | None, run_name: str | None, session: str
) -> tuple[Correlation, str] | None:
    """What retries of a call stay within: the first of these that exists."""
    if (named := _run.get() or run_name) is not None:
        return "run", named
    if scopes is None:
        return None
    for scope in scopes:
        within: tuple[Correlation, str] | None = getattr(scope, "within", None)
        if within is not None:
            return within
    return ("window", session) if start.side == "host" else None


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
