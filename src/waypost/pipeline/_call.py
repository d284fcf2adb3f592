"""One tool call: enriched, timed, and told to observers once."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from ..core._classify import RuleBook
from ..core._clean import MESSAGE_CHARS, clean_code, clean_text, redact
from ..core._enrich import Style, enrich, payload_of
from ..core._guide import Guided, guide
from ..core._model import Failure, Guidance, Origin, frozen
from ..core._observation import CallStart, Correlation, Ending, Observation, Observer, Scope
from ..core._recognize import error_type_of, recognize, unfinished
from ..core._safety import Effects
from ..retries._tracker import Tracked
from ._faults import Faults, Telling, told_already
from ._retries import Named, Retries, attempt_of

T = TypeVar("T")

_open_calls: ContextVar[list[Call] | None] = ContextVar("waypost_open_calls", default=None)
"""The call whose block is open, in a list that is emptied at its end: a task that was started in
the block keeps its context, and must not keep the result."""

_TIMED_OUT = Failure(
    {}, (), "timeout", (), "The call was cancelled at its time limit.", Origin.EXCEPTION
)
_CLOCK_SLACK_SECONDS = 0.01
_CLOCK_SLACK_SHARE = 0.01
"""By so much a limit may come early: the clock of what enforces it started before ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    What the calls of one enricher share.

    Attributes:
        begins: The ``begin`` of those observers that have one.

        idles: The ``idle`` of all observers, or ``None`` if one of them is never idle.
    """

    observers: tuple[Observer, ...]
    begins: tuple[Callable[[CallStart], Scope | None], ...]
    idles: tuple[Callable[[], bool], ...] | None
    faults: Faults
    retries: Retries
    rules: RuleBook | None
    change_results: bool
    capture_message: bool
    disabled: bool
    clock: Callable[[], float]


class Call:
    """
    One tool call: a context manager made by `Enricher.call`.

    Attributes:
        trace_id: 32 hexadecimal digits of the trace that the call belongs to; ``None`` before the
            block is entered, and without tracing.

        span_id: 16 hexadecimal digits of its span, or ``None``.

        sampled: Whether that trace is recorded.
    """

    trace_id: str | None = None
    span_id: str | None = None
    sampled: bool = True

    _active: bool = False
    _untold: bool = False
    _ending: Ending = "unseen"
    _result: object = None
    _failure: Failure | None = None
    _guided: Guided | None = None
    _guidance: Guidance | None = None
    _error_type: str | None = None
    _tracked: Tracked | None = None
    _correlation: Correlation = "window"
    _followed: bool = False
    _blind: bool = False
    _started: float | None = None
    _seconds: float | None = None
    _scopes: tuple[Scope, ...] = ()
    _token: Token[list[Call] | None]
    _held: list[Call]

    def __init__(
        self,
        settings: Settings,
        start: CallStart,
        effects: Effects,
        style: Style,
        *,
        timeout_seconds: float | None = None,
        arguments: object = None,
        named: Named = (None, None),
        enriches_nested: bool = False,
    ) -> None:
        self._settings = settings
        self._start = start
        self._effects = effects
        self._style = style
        self._timeout_seconds = timeout_seconds
        self._arguments = arguments
        self._named = named
        self._enriches_nested = enriches_nested

    @property
    def guidance(self) -> Guidance | None:
        """What to do, once `enrich` or an exception showed a failure; ``None`` for a success."""
        if self._guidance is None and self._guided is not None:
            self._guidance = self._guided.guidance(random.random())  # noqa: S311 -- spreads callers
        return self._guidance

    @property
    def payload(self) -> dict[str, Any] | None:
        """The failure, or the exception, as a new mapping with guidance; ``None`` for a success."""
        if self._failure is None or self._guided is None:
            return None
        additions = dict(self._guided.additions)
        if self.trace_id is not None:
            additions["trace_id"] = self.trace_id
        try:
            return payload_of(self._result, self._failure, self._guided, additions)
        except Exception as fault:  # noqa: BLE001 -- a model that cannot be dumped
            self._settings.faults.take("enrich", fault)
            return {**additions, **self._failure.payload}

    def __enter__(self) -> Self:
        settings = self._settings
        if settings.disabled:
            return self
        nested = _owned(self._start)
        if nested and not self._enriches_nested:
            return self
        if self._ending != "unseen" or self._seconds is not None:
            for name in _STATE & vars(self).keys():
                delattr(self, name)  # entered again: a new attempt
        self._active = True
        self._held = [self]
        self._token = _open_calls.set(self._held)
        self._untold = nested or told_already()
        try:
            self._open()
        except BaseException:
            # An interrupt passes, and the block is never entered: nothing of it may stay behind.
            self._active = False
            self._ending = "cancelled"
            self._leave()
            self._end_scopes(Observation(ending=self._ending, side=self._start.side))
            self._release()
            raise
        return self

    def _open(self) -> None:
        """Begin the scopes, the clock and the attempt, in this order: each needs the one before."""
        settings = self._settings
        if settings.begins and not self._untold:
            with Telling():
                for begin in settings.begins:
                    self._begin(begin)
        if self._scopes:
            self._adopt_trace()
        self._started = self._now()
        if self._arguments is not None and self._started is not None and not self._untold:
            scopes = None if self._blind else self._scopes
            begun = settings.retries.begin(
                self._start, scopes, self._named, self._arguments, self._started
            )
            if begun is not None:
                self._tracked, self._correlation = begun
                self._followed = True

    def _leave(self) -> None:
        """Take the attempt back, unless it has ended."""
        if self._followed and self._tracked is not None:
            self._followed = False
            self._settings.retries.leave(self._tracked)

    def _begin(self, begin: Callable[[CallStart], Scope | None]) -> None:
        try:
            scope = begin(self._start)
        except Exception as fault:  # noqa: BLE001 -- an observer must not break the call
            self._blind = True
            self._settings.faults.take("begin", fault)
            return
        if scope is not None:
            self._scopes = (*self._scopes, scope)

    def enrich(self, result: T) -> T:
        """
        Return *result* with guidance if it failed, else *result* itself; the attempt ends here.

        A result that cannot be read comes back as it is, and counts as a success. Only the first
        result of a block is looked at.
        """
        if not self._active or self._ending != "unseen":
            return result
        self._seconds = self._elapsed()
        self._ending = "success"
        self._result = result
        try:
            failure = recognize(result)
            if failure is None:
                if self._tracked is not None and not unfinished(result):
                    self._followed = False
                    self._settings.retries.succeed(self._tracked)
                return result
            guided = self._take(failure, "failure", error_type_of(result, failure))
            if not self._settings.change_results:
                return result
            enriched: T = enrich(  # type: ignore[assignment]  # a result keeps its kind
                result, failure, guided, self.trace_id, sampled=self.sampled, style=self._style
            )
        except Exception as fault:  # noqa: BLE001 -- hostile results never raise into the host
            self._settings.faults.take("enrich", fault)
            return result
        return enriched

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._active:
            return
        self._active = False
        try:
            if self._ending == "unseen":
                self._seconds = self._elapsed()
                if exception is not None:
                    self._close(exception)
            if self._followed:
                self._leave()
            self._report()
        finally:
            self._release()

    def _close(self, exception: BaseException) -> None:
        """Decide how a call ended whose result `enrich` has not seen."""
        try:
            failure = recognize(exception)
            if failure is not None:
                self._take(failure, "raised", error_type_of(exception, failure))
            elif self._past_timeout(exception):
                self._take(_TIMED_OUT, "raised", None)
            elif not isinstance(exception, Exception):
                self._ending = "cancelled"
            # An exception that is no failure is MCP's question to the user: the call goes on.
        except Exception as fault:  # noqa: BLE001 -- the tool's own exception goes on
            self._ending = "raised"
            self._settings.faults.take("enrich", fault)

    def _past_timeout(self, exception: BaseException) -> bool:
        limit = self._timeout_seconds
        if limit is None or self._seconds is None or isinstance(exception, Exception):
            return False
        return self._seconds >= limit - max(_CLOCK_SLACK_SECONDS, limit * _CLOCK_SLACK_SHARE)

    def _take(self, failure: Failure, ending: Ending, error_type: str | None) -> Guided:
        guided = guide(failure, self._effects, rules=self._settings.rules, now=_utc_now)
        if self._tracked is not None:
            self._followed = False
            ids = self.trace_id, self.span_id, self.sampled
            guided = self._settings.retries.fail(self._tracked, failure, guided, self._seconds, ids)
        self._failure, self._guided, self._ending = failure, guided, ending
        self._error_type = error_type or guided.advice.error_class._value_
        return guided

    def _report(self) -> None:
        if self._untold or (not self._scopes and self._unheard()):
            return
        observation = self._observation()
        # Told while the span is still current, so that metrics carry exemplars of its trace.
        with Telling():
            try:
                for observer in self._settings.observers:
                    try:
                        observer(observation)
                    except Exception as fault:  # noqa: BLE001 -- it must not change the result
                        self._settings.faults.take("observe", fault)
            finally:
                self._end_scopes(observation)

    def _unheard(self) -> bool:
        """Whether nobody would do anything with an observation."""
        idles = self._settings.idles
        if idles is None:
            return False
        try:
            for idle in idles:
                if not idle():
                    return False
        except Exception as fault:  # noqa: BLE001 -- an observer must not change the result
            self._settings.faults.take("observe", fault)
            return False
        return True

    def _end_scopes(self, observation: Observation) -> None:
        """End what was begun, the last first; an interrupt in one passes when all have ended."""
        while self._scopes:
            scope, self._scopes = self._scopes[-1], self._scopes[:-1]
            try:
                scope.end(observation)
            except Exception as fault:  # noqa: BLE001 -- an observer must not change the result
                self._settings.faults.take("observe", fault)
            except BaseException:
                self._end_scopes(observation)
                raise

    def _observation(self) -> Observation:
        failure, guided, start = self._failure, self._guided, self._start
        captured = self._settings.capture_message
        code = clean_code(guided.error_code) if guided else None
        return frozen(
            Observation,
            ending=self._ending,
            side=start.side,
            tool_name=start.tool_name,
            server=start.server,
            duration_seconds=None if start.one_shot else self._seconds,
            guidance=guided.guidance(random.random(), exported=code) if guided else None,  # noqa: S311 -- spreads callers
            error_code=code,
            error_type=self._error_type,
            next_action=(guided.action if captured else guided.template) if guided else None,
            message=_captured(failure.message) if failure and captured else None,
            spoofed=guided is not None and guided.spoofed,
            options_left_out=guided.options_left_out if guided else 0,
            trace_id=self.trace_id,
            span_id=self.span_id,
            attempt=attempt_of(self._tracked, self._correlation) if self._tracked else None,
        )

    def _adopt_trace(self) -> None:
        """Take the ids of the first scope that has a valid trace, sampled or not."""
        for scope in self._scopes:
            try:
                if scope.trace_id is not None:
                    self.trace_id, self.span_id = scope.trace_id, scope.span_id
                    self.sampled = scope.sampled
                    return
            except Exception as fault:  # noqa: BLE001 -- an observer's own scope
                self._settings.faults.take("begin", fault)

    def _release(self) -> None:
        self._held.clear()
        # Left in another context than it was entered in, as generators are, it owns nothing there.
        try:  # noqa: SIM105 -- suppress() costs half a microsecond
            _open_calls.reset(self._token)
        except ValueError:
            pass

    def _now(self) -> float | None:
        try:
            return float(self._settings.clock())
        except Exception as fault:  # noqa: BLE001 -- a clock that the host gave
            self._settings.faults.take("clock", fault)
            return None

    def _elapsed(self) -> float | None:
        """Seconds since the block was entered, never below zero; ``None`` if the clock failed."""
        if self._started is None or (now := self._now()) is None:
            return None
        return max(0.0, now - self._started)


_STATE = frozenset(Call.__annotations__) - {"_active", "_held", "_token"}
"""What a call learns while its block runs; everything else it was made with."""


def _captured(message: str) -> str:
    # Cleaned first: an invisible character inside a word would hide a secret from the redactor.
    return redact(clean_text(message, MESSAGE_CHARS))[:MESSAGE_CHARS]


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _owned(start: CallStart) -> bool:
    """Whether an outer layer of the same side has this very call open already."""
    outers = _open_calls.get()
    if not outers or start.one_shot:
        return False
    return any(
        outer._active
        and outer._start.side == start.side
        and outer._start.tool_name == start.tool_name
        and (outer._start.server == start.server or None in (outer._start.server, start.server))
        for outer in outers
    )
