"""Spans as a real SDK records them: joined, opened, marked; never overwritten."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from tests.observe.recording import Facts, Spans, facts
from tests.watching import BUSY_ADVICE, Clock, busy
from waypost import Enricher, Limits, WaypostError
from waypost.observe._spans import SpanUse
from waypost.observe.otel import OpenTelemetryObserver

LOCKED = {"status": "error", "error_code": "locked", "message": "m"}


OWN = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}


CONVENTIONS = [
    pytest.param(
        {"gen_ai.operation.name": "execute_tool"}, "gen_ai.tool.name", id="GenAI convention"
    ),
    pytest.param({"openinference.span.kind": "TOOL"}, "tool.name", id="OpenInference"),
    pytest.param({"traceloop.span.kind": "tool"}, "traceloop.entity.name", id="Traceloop"),
]


def call(enricher: Enricher, result: object = None, **options: Any) -> Any:
    """Run one call of the tool `search`; an exception is raised and caught."""
    try:
        with enricher.call("search", **options) as block:
            if isinstance(result, BaseException):
                raise result
            return block.enrich(result if result is not None else busy())
    except BaseException as exception:
        if exception is not result:
            raise
        return exception


def status(span: ReadableSpan) -> tuple[StatusCode, str | None]:
    return span.status.status_code, span.status.description


def test_host_side_opens_one_span_around_the_call() -> None:
    """DESIGN section 4, spans: `execute_tool {tool}`, INTERNAL, the parent of what runs inside."""
    spans = Spans()
    with (
        spans.tracer.start_as_current_span("agent") as agent,
        spans.enricher().call("search", server="shop") as block,
    ):
        with spans.tracer.start_as_current_span("tools/call search", kind=SpanKind.CLIENT):
            pass
        enriched = block.enrich(busy())
    assert trace.get_current_span() is trace.INVALID_SPAN
    finished = spans.finished
    assert set(finished) == {"agent", "tools/call search", "execute_tool search"}
    own, client = finished["execute_tool search"], finished["tools/call search"]
    assert own.context is not None
    assert own.parent == agent.get_span_context()
    assert client.parent == own.context
    assert own.kind is SpanKind.INTERNAL
    assert dict(own.attributes or {}) == {
        **facts(busy()),
        **OWN,
        "error.type": "rate_limited",
        "waypost.retry_after_ms": 20_000,
        "waypost.server": "shop",
    }
    assert status(own) == (StatusCode.ERROR, "rate_limited")
    assert (own.events, own.links) == ((), ())
    assert enriched["trace_id"] == block.trace_id == f"{own.context.trace_id:032x}"
    assert block.span_id == f"{own.context.span_id:016x}"
    assert dict(finished["agent"].attributes or {}) == {}
    assert status(finished["agent"]) == (StatusCode.UNSET, None)


@pytest.mark.parametrize(
    ("result", "more"),
    [({"rows": 1}, {}), (asyncio.CancelledError(), {})],
    ids=["success", "cancelled"],
)
def test_call_that_did_not_fail_has_no_error_on_its_span(result: object, more: Facts) -> None:
    """DESIGN section 4: a cancellation is no error and sets no status."""
    spans = Spans()
    call(spans.enricher(), result, server="shop")
    (span,) = spans.finished.values()
    assert dict(span.attributes or {}) == {
        **OWN,
        "waypost.side": "host",
        "waypost.server": "shop",
        **more,
    }
    assert status(span) == (StatusCode.UNSET, None)


@pytest.mark.parametrize(("kind", "name_key"), CONVENTIONS)
@pytest.mark.parametrize("named", [True, False])
def test_span_of_the_tool_itself_is_joined(kind: Facts, name_key: str, named: bool) -> None:
    """DESIGN section 4, spans: add to the tool's own span if one is current."""
    spans = Spans()
    native = {**kind, **({name_key: "search"} if named else {})}
    with spans.tracer.start_as_current_span("native", attributes=native):
        call(spans.enricher(), LOCKED)
    (span,) = spans.finished.values()
    assert dict(span.attributes or {}) == {**native, **facts(LOCKED)}
    assert status(span) == (StatusCode.ERROR, "conflict")
    assert span.events == ()


@pytest.mark.parametrize(("kind", "name_key"), CONVENTIONS)
def test_span_of_another_tool_around_it_is_left_alone(kind: Facts, name_key: str) -> None:
    """DESIGN section 4, spans: only the tool's *own* span is joined."""
    spans = Spans()
    native = {**kind, name_key: "other"}
    with spans.tracer.start_as_current_span("native", attributes=native):
        call(spans.enricher(), LOCKED)
    finished = spans.finished
    assert dict(finished["native"].attributes or {}) == native
    assert finished["execute_tool search"].parent == finished["native"].context


def test_span_of_a_server_is_never_the_hosts() -> None:
    """DESIGN section 4, spans: a gateway's tool that calls its namesake makes a call of its own."""
    spans = Spans()
    native = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    with (
        spans.tracer.start_as_current_span("server", kind=SpanKind.SERVER, attributes=native),
        spans.enricher(side="server").call("search") as block,
    ):
        call(spans.enricher(), busy())
        block.enrich(LOCKED)
    server, own = spans.finished["server"], spans.finished["execute_tool search"]
    assert own.parent == server.context
    assert dict(server.attributes or {}) == {
        **native,
        **facts(LOCKED, **{"waypost.side": "server"}),
    }
    assert (own.attributes or {})["waypost.error.class"] == "rate_limited"


@pytest.mark.parametrize("around", [True, False])
def test_server_side_never_opens_a_span(around: bool) -> None:
    """DESIGN section 4, spans: server side, add to the current span."""
    spans = Spans()
    uses: tuple[SpanUse, ...] = ("auto", "own", "current")
    for use in uses:
        enricher = spans.enricher(use, side="server")
        if not around:
            assert "trace_id" not in call(enricher, LOCKED)
            continue
        with spans.tracer.start_as_current_span(f"server {use}", kind=SpanKind.SERVER):
            call(enricher, LOCKED)
        span = spans.finished[f"server {use}"]
        assert dict(span.attributes or {}) == facts(LOCKED, **{"waypost.side": "server"})
        assert status(span) == (StatusCode.ERROR, "conflict")
        assert span.events == ()
    assert len(spans.all) == (3 if around else 0)


def test_use_of_spans_is_the_hosts_choice() -> None:
    """DESIGN section 4, spans: `span="auto"|"current"|"own"|"off"`."""
    seen: dict[str, tuple[set[str], Facts, list[str], StatusCode]] = {}
    uses: tuple[SpanUse, ...] = ("auto", "current", "own", "off")
    for use in uses:
        spans = Spans()
        with spans.tracer.start_as_current_span("agent") as agent:
            enriched = call(spans.enricher(use), LOCKED)
        assert enriched["trace_id"] == f"{agent.get_span_context().trace_id:032x}"
        span = spans.finished["agent"]
        events = [event.name for event in span.events]
        seen[use] = (set(spans.finished), dict(span.attributes or {}), events, status(span)[0])
    one, two = {"agent"}, {"agent", "execute_tool search"}
    assert seen == {
        "auto": (two, {}, [], StatusCode.UNSET),
        "current": (one, facts(LOCKED), ["waypost.error"], StatusCode.UNSET),
        "own": (two, {}, [], StatusCode.UNSET),
        "off": (one, {}, [], StatusCode.UNSET),
    }


def test_own_span_is_opened_inside_the_tools_native_span_when_asked() -> None:
    """DESIGN section 4, spans: `span="own"` always opens one on the host side."""
    spans = Spans()
    native = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    with spans.tracer.start_as_current_span("native", attributes=native):
        call(spans.enricher("own"), LOCKED)
    assert set(spans.finished) == {"native", "execute_tool search"}
    assert dict(spans.finished["native"].attributes or {}) == native


def test_unknown_use_of_spans_is_named_when_built() -> None:
    """STYLE rule 11: check when built; the message shows the value and the way out."""
    with pytest.raises(WaypostError, match=r"span='both'.*'auto'"):
        OpenTelemetryObserver(span="both")  # type: ignore[arg-type]


def test_one_shot_adds_an_event_per_failure_and_attributes_of_the_last() -> None:
    """DESIGN section 4, spans: at most 32 events on a span that is not the call's own."""
    spans = Spans()
    enricher = spans.enricher()
    with spans.tracer.start_as_current_span("agent"):
        enricher.enrich_result({"rows": 1})
        for _ in range(39):
            assert enricher.enrich_result(LOCKED).keys() > LOCKED.keys()
        assert enricher.enrich_result(busy()).keys() >= BUSY_ADVICE.keys()
    with spans.tracer.start_as_current_span("next"):
        enricher.enrich_result(LOCKED)
    (span, following) = (spans.finished["agent"], spans.finished["next"])
    assert [(event.name, dict(event.attributes or {})) for event in span.events] == [
        ("waypost.error", facts(LOCKED))
    ] * 32
    assert dict(span.attributes or {}) == {**facts(busy()), "waypost.retry_after_ms": 20_000}
    assert status(span) == (StatusCode.UNSET, None)
    assert len(following.events) == 1
    assert len(spans.all) == 2


def test_one_shot_inside_the_tools_own_span_is_that_calls() -> None:
    """DESIGN section 4, spans: events are for a span that is not this call's own."""
    spans = Spans()
    native = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    with spans.tracer.start_as_current_span("native", attributes=native):
        spans.enricher().enrich_result(LOCKED)
    (span,) = spans.finished.values()
    assert dict(span.attributes or {}) == {**native, **facts(LOCKED)}
    assert (span.events, status(span)) == ((), (StatusCode.ERROR, "conflict"))


def test_events_of_many_spans_are_counted_each() -> None:
    """RELIABILITY, promise 5: the count is kept for the latest spans only, so memory is bounded."""
    spans = Spans()
    enricher = spans.enricher(limits=Limits(span_events=1))
    for _ in range(1_100):
        with spans.tracer.start_as_current_span("agent"):
            enricher.enrich_result(LOCKED)
            enricher.enrich_result(LOCKED)
    assert {len(span.events) for span in spans.all} == {1}


def test_unsampled_trace_is_attached_and_marked() -> None:
    """DESIGN section 4: sampled or not; `_meta` says `sampled: false`."""
    spans = Spans(ALWAYS_OFF)
    with spans.tracer.start_as_current_span("agent") as agent:
        flagged = CallToolResult(content=[TextContent(text="locked")], is_error=True)
        enriched = call(spans.enricher(), flagged)
    trace_id = f"{agent.get_span_context().trace_id:032x}"
    assert enriched.meta["waypost/guidance"]["trace_id"] == trace_id
    assert enriched.meta["waypost/guidance"]["sampled"] is False
    assert spans.all == ()


def test_blocks_that_end_out_of_order_leave_no_ended_span_current() -> None:
    """STYLE rule 5: leave what you found."""
    spans = Spans()
    enricher = spans.enricher()
    with spans.tracer.start_as_current_span("agent") as agent:
        blocks = [enricher.call(name) for name in ("a", "b", "c")]
        for block in blocks:
            block.__enter__()
        for block in blocks:
            block.__exit__(None, None, None)
        assert trace.get_current_span() is agent
    assert set(spans.finished) == {"agent", "execute_tool a", "execute_tool b", "execute_tool c"}


def test_block_left_in_a_copy_of_its_context_does_not_tear_at_the_original(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """RELIABILITY A31: no "Failed to detach" line; the next block sets right what is left."""
    spans = Spans()
    enricher = spans.enricher()

    def host() -> None:
        block = enricher.call("search")
        block.__enter__()
        contextvars.copy_context().run(block.__exit__, None, None, None)
        with enricher.call("fetch") as call:
            call.enrich(busy())
        assert trace.get_current_span() is trace.INVALID_SPAN

    contextvars.copy_context().run(host)
    assert [span.name for span in spans.all] == ["execute_tool search", "execute_tool fetch"]
    assert caplog.records == []


@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_provider_that_was_shut_down_costs_nothing_but_the_spans(when: str) -> None:
    """RELIABILITY A25, smaller: 0 exceptions, the results as ever."""
    spans = Spans()
    enricher = spans.enricher(clock=Clock())
    for turn in range(100):
        if turn == {"before": 0, "during": 50, "after": 99}[when]:
            spans.provider.shutdown()
        assert call(enricher)["next_action"] == BUSY_ADVICE["next_action"]


def test_span_that_cannot_be_written_leaves_the_result_alone() -> None:
    """RELIABILITY A23: a span whose methods raise is ended and detached all the same."""
    ended: list[int] = []

    class Broken(trace.NonRecordingSpan):
        def is_recording(self) -> bool:
            return True

        def set_attributes(self, attributes: object) -> None:
            raise RuntimeError("broken")

        def end(self, end_time: int | None = None) -> None:
            ended.append(1)

    class Tracer(trace.NoOpTracer):
        def start_span(self, *_: Any, **__: Any) -> trace.Span:
            flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
            return Broken(trace.SpanContext(1, 2, is_remote=False, trace_flags=flags))

    class Provider(trace.NoOpTracerProvider):
        def get_tracer(self, *_: Any, **__: Any) -> trace.Tracer:
            return Tracer()

    enricher = Enricher((OpenTelemetryObserver(tracer_provider=Provider()),))
    assert call(enricher) == {**busy(), **BUSY_ADVICE, "trace_id": f"{1:032x}"}
    assert ended == [1]
    assert trace.get_current_span() is trace.INVALID_SPAN
