"""Spans and metrics through the OpenTelemetry API; joins a tool's span, or opens one."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import Literal

from opentelemetry import context, metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanContext, SpanKind, Status, StatusCode

from ..core._actions import CLASS_DEFAULTS
from ..core._clean import Limits
from ..core._model import ErrorClass, OptionError
from ..core._observation import CallStart, Observation
from ._bounds import AttributeSets, EventCounts
from ._names import (
    CALL_DURATION,
    DURATION_BOUNDARIES,
    ERROR_EVENT,
    ERROR_TYPE,
    ERRORS,
    EXECUTE_TOOL,
    FAULT_AT,
    INTERNAL_ERRORS,
    OPERATION_NAME,
    OTHER,
    SERVER,
    SIDE,
    TOOL_NAME,
    facts_of,
)

__all__ = ["OpenTelemetryObserver"]

SpanUse = Literal["auto", "current", "own", "off"]

_NO_ERROR_STATUS = frozenset((ErrorClass.NEEDS_INPUT, ErrorClass.CANCELLED))
_CLIENT_FAULTS = frozenset(("-32700", "-32600", "-32601", "-32602", "-32002"))
"""JSON-RPC codes that leave a server span UNSET: the client asked for something that cannot be."""


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
        self._span = span
        self._limits = limits or Limits()
        self._global_tracer = tracer_provider is None
        self._global_meter = meter_provider is None
        self._tracer = trace.get_tracer("waypost", tracer_provider=tracer_provider)
        meter = metrics.get_meter("waypost", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            CALL_DURATION.name,
            unit=CALL_DURATION.unit,
            description=CALL_DURATION.description,
            explicit_bucket_boundaries_advisory=DURATION_BOUNDARIES,
        )
        self._errors = meter.create_counter(
            ERRORS.name, unit=ERRORS.unit, description=ERRORS.description
        )
        self._internal_errors = meter.create_counter(
            INTERNAL_ERRORS.name, unit=INTERNAL_ERRORS.unit, description=INTERNAL_ERRORS.description
        )
        self._duration_sets = AttributeSets(
            CALL_DURATION.keys, self._limits.duration_attribute_sets
        )
        self._error_sets = AttributeSets(ERRORS.keys, self._limits.attribute_sets)
        self._zeroed: set[tuple[str, str | None, str | None]] = set()
        self._events = EventCounts(self._limits.span_events)

    def begin(self, start: CallStart) -> _SpanScope | None:
        """Find the span of the call, or open one, and make it current."""
        _unwind(_current.get())
        current = trace.get_current_span()
        if current is INVALID_SPAN:
            if self._global_tracer and _api_only(trace.get_tracer_provider()):
                return None
            tool_span = False
        else:
            tool_span = _belongs(current, start)
        if self._span == "off":
            return _SpanScope(self, current, writes=False)
        if start.one_shot or start.side == "server" or self._span == "current":
            shared = not tool_span and (start.one_shot or start.side == "host")
            return _SpanScope(self, current, shared=shared)
        if tool_span and self._span == "auto":
            return _SpanScope(self, current)
        tool_name = start.tool_name or OTHER
        opened = self._tracer.start_span(
            f"{EXECUTE_TOOL} {tool_name}",
            kind=_INTERNAL,
            attributes={OPERATION_NAME: EXECUTE_TOOL, TOOL_NAME: tool_name},
        )
        if not opened.is_recording():
            ids = opened.get_span_context()
            if ids.span_id in (0, current.get_span_context().span_id):
                return _SpanScope(self, current)  # no SDK, so nothing was opened
        return _SpanScope(self, opened, own=True)

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
        if observation.duration_seconds is not None:
            self._duration.record(
                observation.duration_seconds, self._duration_sets.of(*named, error_class)
            )

    def idle(self) -> bool:
        """Whether there is no SDK that would count."""
        return self._global_meter and _api_only(metrics.get_meter_provider())

    def fault(self, where: str) -> None:
        """Count a fault of waypost's own, or of an observer."""
        self._internal_errors.add(1, {FAULT_AT: where})

    def _start_at_zero(self, named: tuple[str, str | None, str | None]) -> None:
        """Create a tool's error counters at 0: ``increase()`` does not see a first value."""
        if len(self._zeroed) >= self._limits.zeroed_tools:
            return
        self._zeroed.add(named)
        for error_class, defaults in CLASS_DEFAULTS.items():
            zero = self._error_sets.of(
                *named, error_class.value, defaults.step.value, defaults.retryable
            )
            self._errors.add(0, zero)


_INTERNAL = SpanKind.INTERNAL  # a look-up in an enumeration costs 100 ns
_STATUSES = {cls: Status(StatusCode.ERROR, cls.value) for cls in ErrorClass}

_current: ContextVar[_SpanScope | None] = ContextVar("waypost_span_scope", default=None)


class _SpanScope:
    """
    The span of one call: its own, the tool's, or one that it shares with other calls.

    Args:
        own: We opened it, so we name, mark and end it.

        shared: It is not the call's own, so failures become events on it.

        writes: Whether the span is touched at all.
    """

    __slots__ = (
        "_context_token",
        "_current_token",
        "_ended",
        "_observer",
        "_own",
        "_shared",
        "_span",
        "_writes",
        "sampled",
        "span_id",
        "trace_id",
    )

    def __init__(
        self,
        observer: OpenTelemetryObserver,
        span: Span,
        *,
        own: bool = False,
        shared: bool = False,
        writes: bool = True,
    ) -> None:
        self._observer = observer
        self._span = span
        self._own = own
        self._shared = shared
        self._writes = writes and span.is_recording()
        ids: SpanContext = span.get_span_context()
        valid = ids.is_valid
        self.trace_id = f"{ids.trace_id:032x}" if valid else None
        self.span_id = f"{ids.span_id:016x}" if valid else None
        self.sampled = ids.trace_flags.sampled
        self._context_token: Token[Context]
        self._current_token: Token[_SpanScope | None]
        self._ended = False
        if own:
            self._current_token = _current.set(self)
            self._context_token = context.attach(trace.set_span_in_context(span))

    def end(self, observation: Observation) -> None:
        try:
            self._detach()
            if self._writes:
                self._write(observation)
        finally:
            if self._own:
                self._span.end()

    def _detach(self) -> None:
        """
        Make the span before ours current again, if ours is current in this context.

        Blocks may end out of order, and in other contexts than they began in. A scope that ends
        under another one is left for that one to take away. In a foreign context, where
        OpenTelemetry would log "Failed to detach context", nothing is touched.
        """
        self._ended = True
        if self._own and _current.get() is self:
            _unwind(self)

    def _write(self, observation: Observation) -> None:
        facts = facts_of(observation, self._observer._limits)
        if self._shared:
            ids = self._span.get_span_context()
            if facts and self._observer._events.admits(ids.span_id):
                self._span.add_event(ERROR_EVENT, facts)
            self._span.set_attributes(facts)
            return
        if not facts:
            facts[SIDE] = observation.side
            if observation.server is not None:
                facts[SERVER] = observation.server
        if self._own and observation.error_type is not None and not self._has_error_type():
            facts[ERROR_TYPE] = observation.error_type
        self._span.set_attributes(facts)
        self._mark(observation)

    def _has_error_type(self) -> bool:
        """Whether the host set ``error.type`` on our span; we begin with two attributes."""
        present = getattr(self._span, "attributes", None)
        return present is not None and len(present) > 2 and ERROR_TYPE in present

    def _mark(self, observation: Observation) -> None:
        """Set the status ERROR where native code left it unset; never with a word of the tool's."""
        guidance = observation.guidance
        if guidance is None or guidance.error_class in _NO_ERROR_STATUS:
            return
        if not self._own:
            status = getattr(self._span, "status", None)
            if status is not None and status.status_code is not StatusCode.UNSET:
                return
            if observation.side == "server" and observation.error_type in _CLIENT_FAULTS:
                return
        self._span.set_status(_STATUSES[guidance.error_class])


def _unwind(scope: _SpanScope | None) -> None:
    """Take scopes that have ended off the context, if it is the one that they were put on."""
    while scope is not None and scope._ended:
        try:
            _current.reset(scope._current_token)
        except ValueError:
            return
        context.detach(scope._context_token)
        scope = _current.get()


def _api_only(provider: object) -> bool:
    """Whether *provider* is the API's own: nothing is recorded until somebody sets an SDK."""
    return type(provider).__module__.startswith(("opentelemetry.trace", "opentelemetry.metrics"))


def _attributes_of(span: Span) -> Mapping[str, object]:
    """What an SDK span holds; nothing of spans of another kind."""
    return getattr(span, "attributes", None) or {}


_TOOL_NAME_KEYS = (TOOL_NAME, "tool.name", "traceloop.entity.name")


def _belongs(span: Span, start: CallStart) -> bool:
    """
    Whether *span* is the tool's own, by the conventions in use, and not that of a tool around it.

    A server's span is never the host's, also where a gateway's tool calls its namesake upstream.
    """
    attributes = _attributes_of(span)
    if not attributes or not span.is_recording():
        return False
    if start.side == "host" and getattr(span, "kind", None) is SpanKind.SERVER:
        return False
    if not (
        attributes.get(OPERATION_NAME) == EXECUTE_TOOL
        or attributes.get("openinference.span.kind") == "TOOL"
        or attributes.get("traceloop.span.kind") == "tool"
    ):
        return False
    named = next((attributes[key] for key in _TOOL_NAME_KEYS if key in attributes), None)
    return start.tool_name is None or named is None or named == start.tool_name
