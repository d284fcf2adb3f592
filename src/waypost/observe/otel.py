"""Spans and metrics through the OpenTelemetry API; joins a tool's span, or opens one."""

from __future__ import annotations

from itertools import product

from opentelemetry import metrics, trace

from ..core._actions import CLASS_DEFAULTS
from ..core._clean import Limits
from ..core._model import NextStep, OptionError, RetryAdvice, RetryOutcome
from ..core._observation import Attempt, CallStart, Observation
from ._bounds import AttributeSets
from ._names import (
    CALL_DURATION,
    DURATION_BOUNDARIES,
    ERRORS,
    FAULT_AT,
    INTERNAL_ERRORS,
    OTHER,
    RETRIES,
    STORMS,
    Metric,
)
from ._spans import Spans, SpanScope, SpanUse, api_only

__all__ = ["OpenTelemetryObserver"]

Named = tuple[str, str | None, str | None]
"""Side, tool and server."""


class OpenTelemetryObserver:
    """
    Writes guidance on spans and counts calls, errors and its own faults.

    Uses the global providers, whenever they are set; without an SDK nothing is opened and nothing
    counted.

    Args:
        span: See `waypost.observe.default_observers`.

        limits: Bounds of what is exported.

        tracer_provider: Instead of the global one.

        meter_provider: Instead of the global one.

    .. versionadded:: 0.1.0
    """

    def __init__(
        self,
        *,
        span: SpanUse = "auto",
        limits: Limits | None = None,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        if span not in ("auto", "current", "own", "off"):
            raise OptionError(
                f"OpenTelemetryObserver(span={span!r}): use 'auto', 'current', 'own' or 'off'."
            )
        limits = limits or Limits()
        self._spans = Spans(
            trace.get_tracer("waypost", tracer_provider=tracer_provider),
            span,
            limits,
            global_tracer=tracer_provider is None,
        )
        self._global_meter = meter_provider is None
        meter = metrics.get_meter("waypost", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            CALL_DURATION.name,
            unit=CALL_DURATION.unit,
            description=CALL_DURATION.description,
            explicit_bucket_boundaries_advisory=DURATION_BOUNDARIES,
        )
        self._errors, self._retries, self._storms, self._internal_errors = (
            _counter(meter, metric) for metric in (ERRORS, RETRIES, STORMS, INTERNAL_ERRORS)
        )
        self._duration_sets = AttributeSets(CALL_DURATION.keys, limits.duration_attribute_sets)
        self._error_sets, self._retry_sets, self._storm_sets = (
            AttributeSets(metric.keys, limits.attribute_sets)
            for metric in (ERRORS, RETRIES, STORMS)
        )
        self._zeroed: set[Named] = set()
        self._zeroed_tools = limits.zeroed_tools

    def begin(self, start: CallStart) -> SpanScope | None:
        """Find the span of the call, or open one, and make it current."""
        return self._spans.begin(start)

    def __call__(self, observation: Observation) -> None:
        """Count the call; nothing that the tool wrote becomes a metric attribute."""
        if self._global_meter and self.idle():
            return
        named = (observation.side, observation.tool_name or OTHER, observation.server)
        if named not in self._zeroed:
            self._start_at_zero(named)
        guidance = observation.guidance
        error_class: str | None = None
        if guidance is not None:
            error_class = guidance.error_class._value_
            step = guidance.next_step._value_
            self._errors.add(1, self._error_sets.of(*named, error_class, step, guidance.retryable))
        elif observation.ending != "success":
            error_class = observation.ending
        if observation.attempt is not None:
            self._count_retry(named, observation.attempt, error_class)
        if observation.duration_seconds is not None:
            self._duration.record(
                observation.duration_seconds, self._duration_sets.of(*named, error_class)
            )

    def idle(self) -> bool:
        """Whether there is no SDK that would count."""
        return self._global_meter and api_only(metrics.get_meter_provider())

    def fault(self, where: str) -> None:
        """Count a fault of waypost's own, or of an observer."""
        self._internal_errors.add(1, {FAULT_AT: where})

    def _count_retry(self, named: Named, attempt: Attempt, error_class: str | None) -> None:
        """Count it with the failure that came before; a chain that was left is no retry."""
        before, outcome, advice = attempt.retry_of, attempt.outcome, attempt.advice
        if before is not None and outcome is not None and outcome is not _ABANDONED:
            self._retries.add(
                1,
                self._retry_sets.of(
                    *named,
                    before.error_class._value_,
                    before.next_step._value_,
                    before.retryable,
                    outcome._value_,
                    advice._value_ if advice is not None else None,
                ),
            )
        if attempt.storm:
            self._storms.add(1, self._storm_sets.of(*named, error_class))

    def _start_at_zero(self, named: Named) -> None:
        """Create a tool's counters at 0: ``increase()`` does not see a first value."""
        if len(self._zeroed) >= self._zeroed_tools:
            return
        retries_too = len(self._zeroed) < self._zeroed_tools // RETRIES_ZEROED
        self._zeroed.add(named)
        for error_class, (retryable, step, _) in CLASS_DEFAULTS.items():
            failed = (*named, error_class.value, step.value, retryable)
            self._errors.add(0, self._error_sets.of(*failed))
            self._storms.add(0, self._storm_sets.of(*named, error_class.value))
            for outcome, advice in _RETRIES_AFTER[step] if retries_too else ():
                self._retries.add(0, self._retry_sets.of(*failed, outcome.value, advice.value))


def _counter(meter: metrics.Meter, metric: Metric) -> metrics.Counter:
    return meter.create_counter(metric.name, unit=metric.unit, description=metric.description)


RETRIES_ZEROED = 4
"""``waypost.retries`` has three times as many attribute sets a tool as the other counters."""

_ABANDONED = RetryOutcome.ABANDONED
_ENDS = (RetryOutcome.RECOVERED, RetryOutcome.FAILED)
_PROVED = (
    (RetryOutcome.RECOVERED, RetryAdvice.FOLLOWED),
    (RetryOutcome.FAILED, RetryAdvice.UNKNOWN),
)
_IGNORED = tuple(product(_ENDS, (RetryAdvice.IGNORED,)))
_CORRECTED = (RetryOutcome.CORRECTED, RetryAdvice.FOLLOWED)

_RETRIES_AFTER: dict[NextStep, tuple[tuple[RetryOutcome, RetryAdvice], ...]] = {
    NextStep.WAIT: tuple(product(_ENDS, (RetryAdvice.FOLLOWED, RetryAdvice.TOO_EARLY))),
    NextStep.RECONNECT: _PROVED,
    NextStep.PREPARE: _PROVED,
    NextStep.SIGN_IN: _PROVED,
    NextStep.ASK_USER: (*_PROVED, _CORRECTED),
    NextStep.CHECK_EFFECT: _PROVED,
    NextStep.FIX_ARGUMENTS: (*_IGNORED, _CORRECTED),
    NextStep.LIST_FIRST: (*_IGNORED, _CORRECTED),
    NextStep.REDUCE_SCOPE: (*_IGNORED, _CORRECTED),
    NextStep.USE_OTHER_TOOL: _IGNORED,
    NextStep.ASK_PERMISSION: _IGNORED,
    NextStep.REPORT: _IGNORED,
    NextStep.NONE: tuple(product(_ENDS, (RetryAdvice.UNKNOWN,))),
}
"""What can become of a retry, by the step that was advised."""
