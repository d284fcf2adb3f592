"""The span of a call: the tool's own is joined, or one is opened; guidance is written on it."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import Literal

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)

from ..core._clean import Limits
from ..core._model import ErrorClass, RetryOutcome
from ..core._observation import CallStart, Correlation, Observation
from ._bounds import EventCounts, Marks
from ._names import (
    ATTEMPT,
    CONVERSATION_ID,
    ERROR_EVENT,
    ERROR_TYPE,
    EXECUTE_TOOL,
    LINK,
    OPERATION_NAME,
    OTHER,
    RECOVERED_EVENT,
    RETRY_OF,
    SERVER,
    SIDE,
    TOOL_NAME,
    Value,
    facts_of,
    well_ended,
)

SpanUse = Literal["auto", "current", "own", "off"]
Within = tuple[Correlation, str]

_NO_ERROR_STATUS = frozenset((ErrorClass.NEEDS_INPUT, ErrorClass.CANCELLED))
_CLIENT_FAULTS = frozenset(("-32700", "-32600", "-32601", "-32602", "-32002"))
"""JSON-RPC codes that leave a server span UNSET: the client asked for something that cannot be."""

_INTERNAL = SpanKind.INTERNAL  # a look-up in an enumeration costs 100 ns
_ABANDONED = RetryOutcome.ABANDONED
_STATUSES = {cls: Status(StatusCode.ERROR, cls.value) for cls in ErrorClass}
_LINK_FACTS = {LINK: RETRY_OF}

_current: ContextVar[SpanScope | None] = ContextVar("waypost_span_scope", default=None)


class Spans:
    """
    Finds the span of each call, or opens it.

    Args:
        use: See `waypost.observe.default_observers`.

        global_tracer: Whether *tracer* is that of whatever provider is global.
    """

    def __init__(
        self, tracer: trace.Tracer, use: SpanUse, limits: Limits, *, global_tracer: bool
    ) -> None:
        self.limits = limits
        self.events = EventCounts(limits.span_events)
        self.marks = Marks()
        self._tracer = tracer
        self._use = use
        self._global_tracer = global_tracer

    def begin(self, start: CallStart) -> SpanScope | None:
        """Find the span of the call, or open one, and make it current."""
        outer = _unwind(_current.get())
        current = trace.get_current_span()
        if current is INVALID_SPAN:
            if self._global_tracer and api_only(trace.get_tracer_provider()):
                return None
            tool_span, within = False, None
        else:
            tool_span = _belongs(current, start)
            within = _within(current, outer)
        if self._use == "off":
            return SpanScope(self, current, within, writes=False)
        if start.one_shot or start.side == "server" or self._use == "current":
            shared = not tool_span and (start.one_shot or start.side == "host")
            return SpanScope(self, current, within, shared=shared)
        used = tool_span and ATTEMPT in _attributes_of(current)
        if tool_span and not used and self._use == "auto":
            return SpanScope(self, current, within)
        tool_name = start.tool_name or OTHER
        opened = self._tracer.start_span(
            f"{EXECUTE_TOOL} {tool_name}",
            kind=_INTERNAL,
            attributes={OPERATION_NAME: EXECUTE_TOOL, TOOL_NAME: tool_name},
        )
        if not opened.is_recording():
            ids = opened.get_span_context()
            if ids.span_id in (0, current.get_span_context().span_id):
                return SpanScope(self, current, within)  # no SDK, so nothing was opened
        return SpanScope(self, opened, within, own=True, used=current if used else None)


class SpanScope:
    """
    The span of one call: its own, the tool's, or one that it shares with other calls.

    Args:
        within: The conversation or the trace that was there before it.

        own: We opened it, so we name, mark and end it.

        shared: It is not the call's own, so failures become events on it.

        writes: Whether the span is touched at all.

        used: The tool's span around it, which holds an attempt before.
    """

    __slots__ = (
        "_context_token",
        "_current_token",
        "_ended",
        "_own",
        "_shared",
        "_span",
        "_spans",
        "_used",
        "_writes",
        "sampled",
        "span_id",
        "trace_id",
        "within",
    )

    def __init__(
        self,
        spans: Spans,
        span: Span,
        within: Within | None,
        *,
        own: bool = False,
        shared: bool = False,
        writes: bool = True,
        used: Span | None = None,
    ) -> None:
        self._spans = spans
        self._span = span
        self._own = own
        self._shared = shared
        self._writes = writes and span.is_recording()
        self._used = used
        ids: SpanContext = span.get_span_context()
        valid = ids.is_valid
        self.trace_id = f"{ids.trace_id:032x}" if valid else None
        self.span_id = f"{ids.span_id:016x}" if valid else None
        self.sampled = ids.trace_flags.sampled
        self.within = within
        self._context_token: Token[Context]
        self._current_token: Token[SpanScope | None]
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
        facts = facts_of(observation, self._spans.limits)
        self._link(observation)
        if self._shared:
            self._write_event(observation, facts)
            return
        if not facts:
            facts[SIDE] = observation.side
            if observation.server is not None:
                facts[SERVER] = observation.server
        if self._own and observation.error_type is not None and not self._has_error_type():
            facts[ERROR_TYPE] = observation.error_type
        self._span.set_attributes(facts)
        self._mark(observation)

    def _write_event(self, observation: Observation, facts: dict[str, Value]) -> None:
        """On a span of several calls each is an event; of the last failure there are attributes."""
        event = ERROR_EVENT if observation.guidance is not None else RECOVERED_EVENT
        if event == RECOVERED_EVENT and not well_ended(observation):
            return
        if self._spans.events.admits(self._span.get_span_context().span_id):
            self._span.add_event(event, facts)
        self._span.set_attributes(facts_of(observation, self._spans.limits, attempts=False))

    def _link(self, observation: Observation) -> None:
        """Lead to the span of the failure that the call repeats or corrects, if it is recorded."""
        attempt = observation.attempt
        if attempt is None or (before := attempt.retry_of) is None:
            return
        if attempt.outcome is _ABANDONED or not before.sampled:
            return
        if before.trace_id is None or before.span_id is None or before.span_id == self.span_id:
            return
        ids = SpanContext(
            int(before.trace_id, 16), int(before.span_id, 16), is_remote=False, trace_flags=_SAMPLED
        )
        self._span.add_link(ids, _LINK_FACTS)

    def _has_error_type(self) -> bool:
        """Whether the host set ``error.type`` on our span; we begin with two attributes."""
        present = getattr(self._span, "attributes", None)
        return present is not None and len(present) > 2 and ERROR_TYPE in present

    def _mark(self, observation: Observation) -> None:
        """Set the status ERROR where native code left it unset; never with a word of the tool's."""
        guidance = observation.guidance
        if guidance is None:
            if not (self._own and self._used is None) and well_ended(observation):
                self._clear(self._used or self._span, observation)
            return
        if guidance.error_class in _NO_ERROR_STATUS:
            return
        if not self._own:
            status = getattr(self._span, "status", None)
            if status is not None and status.status_code is not StatusCode.UNSET:
                return
            if observation.side == "server" and observation.error_type in _CLIENT_FAULTS:
                return
            if observation.attempt is not None:
                ids = self._span.get_span_context()
                self._spans.marks.put(ids.span_id, observation.attempt.chain_id)
        self._span.set_status(_STATUSES[guidance.error_class])

    def _clear(self, span: Span, observation: Observation) -> None:
        """Take back the ERROR that we put on the tool's span for a chain that ended well."""
        attempt = observation.attempt
        if attempt is not None and self._spans.marks.take(
            span.get_span_context().span_id, attempt.chain_id
        ):
            span.set_status(StatusCode.OK)


_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


def _unwind(scope: SpanScope | None) -> SpanScope | None:
    """
    Take scopes that have ended off the context, if it is the one that they were put on.

    Returns:
        The scope that is then current.
    """
    while scope is not None and scope._ended:
        try:
            _current.reset(scope._current_token)
        except ValueError:
            return scope
        context.detach(scope._context_token)
        scope = _current.get()
    return scope


def _within(current: Span, outer: SpanScope | None) -> Within | None:
    """
    The conversation of *current*, or its trace.

    A trace that began with a span of ours is none: in it, what was there before that counts.
    """
    conversation = _attributes_of(current).get(CONVERSATION_ID)
    if isinstance(conversation, str) and conversation:
        return "conversation", conversation
    ids = current.get_span_context()
    if not ids.is_valid:
        return None
    trace_id = f"{ids.trace_id:032x}"
    if outer is not None and outer.trace_id == trace_id:
        return outer.within
    return "trace", trace_id


def api_only(provider: object) -> bool:
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
