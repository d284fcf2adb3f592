"""Retries on the wire: spans, links, metrics and events, by a real SDK."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode
from structlog.testing import CapturingLoggerFactory

from tests.observe.recording import Facts, Meters, Spans, key_of
from tests.watching import Clock, busy
from waypost import Enricher, ErrorClass, MemoryAttemptStore
from waypost.observe._bounds import SPANS_REMEMBERED, Marks
from waypost.observe.structlog import StructlogObserver

ARGUMENTS = {"q": "lamp"}
OK = {"rows": [1]}
INVALID = {"ok": False, "error": "invalid_argument", "message": "q"}
RETRY = ("waypost.attempt", "waypost.retry.advice", "waypost.retry.outcome")
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
KEY = b"k" * 32


@pytest.fixture
def logged() -> Iterator[CapturingLoggerFactory]:
    """A configured structlog whose lines are kept."""
    logs = CapturingLoggerFactory()
    structlog.configure(
        processors=[structlog.stdlib.add_log_level],
        logger_factory=logs,
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )
    yield logs
    structlog.reset_defaults()


class Host:
    """Makes one call after the other, a second apart."""

    def __init__(self, spans: Spans, *observers: Any, **options: Any) -> None:
        self.clock = Clock()
        self.enricher = Enricher((spans.observer(), *observers), clock=self.clock, **options)

    def call(self, result: object, arguments: Any = None, **more: Any) -> None:
        with self.enricher.call("search", arguments=arguments or ARGUMENTS, **more) as call:
            call.enrich(result)
        self.clock.now += 0.5


def own(spans: Spans) -> list[ReadableSpan]:
    return [span for span in spans.all if span.name == "execute_tool search"]


def facts(span: ReadableSpan, *names: str) -> tuple[Any, ...]:
    attributes = span.attributes or {}
    return tuple(attributes.get(name) for name in names)


def ids(span: ReadableSpan) -> tuple[int, int]:
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def hexed(span: ReadableSpan) -> tuple[str, str]:
    trace_id, span_id = ids(span)
    return f"{trace_id:032x}", f"{span_id:016x}"


def links(span: ReadableSpan) -> list[tuple[tuple[int, int], Facts]]:
    return [
        ((link.context.trace_id, link.context.span_id), dict(link.attributes or {}))
        for link in span.links
    ]


def check_three_attempts(first: ReadableSpan, second: ReadableSpan, third: ReadableSpan) -> None:
    """DESIGN section 6: numbers, advice, outcome, one chain, and the way back twice over."""
    assert [facts(span, *RETRY) for span in (first, second, third)] == [
        (1, None, None),
        (2, "too_early", "failed"),
        (3, "too_early", "recovered"),
    ]
    (chain,) = {facts(span, "waypost.chain.id") for span in (first, second, third)}
    assert chain != (None,)
    back = ("waypost.retry.of.trace_id", "waypost.retry.of.span_id")
    assert [facts(span, *back) for span in (first, second, third)] == [
        (None, None),
        hexed(first),
        hexed(second),
    ]
    assert [links(span) for span in (first, second, third)] == [
        [],
        [(ids(first), {"waypost.link": "retry_of"})],
        [(ids(second), {"waypost.link": "retry_of"})],
    ]
    codes = [span.status.status_code for span in (first, second, third)]
    assert codes == [StatusCode.ERROR, StatusCode.ERROR, StatusCode.UNSET]


def test_three_attempts_in_one_trace() -> None:
    """Issue 5, "Done when": with an enclosing span, which is not marked ERROR."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("turn"):
        for result in (busy(), busy(), OK):
            host.call(result)
    check_three_attempts(*own(spans))
    assert {ids(span)[0] for span in own(spans)} == {ids(spans.finished["turn"])[0]}
    assert {facts(span, "waypost.correlation") for span in own(spans)} == {("trace",)}
    assert spans.finished["turn"].status.status_code is StatusCode.UNSET
    assert not spans.finished["turn"].attributes


def test_three_attempts_in_three_traces_of_one_run() -> None:
    """Issue 5, "Done when": the same in a host without an enclosing span."""
    spans = Spans()
    host = Host(spans)
    with host.enricher.run("conversation-7"):
        for result in (busy(), busy(), OK):
            host.call(result)
    check_three_attempts(*own(spans))
    assert len({ids(span)[0] for span in own(spans)}) == 3
    assert {facts(span, "waypost.correlation") for span in own(spans)} == {("run",)}
    exported = [dict(span.attributes or {}) for span in own(spans)]
    assert "conversation-7" not in repr(exported)


def test_retry_in_the_trace_of_the_next_turn_is_linked() -> None:
    """Issue 5, "Done when"."""
    spans = Spans()
    host = Host(spans)
    for result in (busy(), busy(), OK):
        with (
            host.enricher.run("conversation-7"),
            spans.tracer.start_as_current_span("turn"),
        ):
            host.call(result)
    check_three_attempts(*own(spans))


def test_corrected_call_is_linked_and_an_abandoned_one_is_not() -> None:
    """DESIGN section 5: other arguments are another chain."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("turn"):
        host.call(INVALID, {"q": 1})
        host.call(OK, {"q": 2})
        host.call(busy(), {"q": 3})
        host.call(OK, {"q": 4})
    invalid, corrected, failed, left = own(spans)
    assert facts(corrected, *RETRY) == (1, "followed", "corrected")
    assert links(corrected) == [(ids(invalid), {"waypost.link": "retry_of"})]
    assert facts(left, *RETRY) == (1, "unknown", "abandoned")
    assert facts(left, "waypost.retry.of.span_id") == (hexed(failed)[1],)
    assert links(left) == []
    chains = [facts(span, "waypost.chain.id") for span in own(spans)]
    assert chains[:2] == [chains[0]] * 2  # the correction is found with what it corrected
    assert chains[2:] == [chains[2]] * 2
    assert chains[0] != chains[2]


def test_first_call_that_works_is_told_nothing_of() -> None:
    """DESIGN section 6, and the cost: the common case has two attributes."""
    spans = Spans()
    Host(spans).call(OK, server="shop")
    (span,) = own(spans)
    assert dict(span.attributes or {}) == {
        **TOOL,
        "waypost.side": "host",
        "waypost.server": "shop",
    }


def test_attempts_in_the_span_of_the_tool_get_spans_of_their_own() -> None:
    """Issue 5, item 5: a framework's span around a chain that ends well is not marked ERROR."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("native", attributes=TOOL):
        for result in (busy(), busy(), OK):
            host.call(result)
    native = spans.finished["native"]
    check = [native, *own(spans)]
    assert [facts(span, *RETRY) for span in check] == [
        (1, None, None),
        (2, "too_early", "failed"),
        (3, "too_early", "recovered"),
    ]
    assert native.status.status_code is StatusCode.OK
    assert [span.parent and span.parent.span_id for span in own(spans)] == [ids(native)[1]] * 2


@pytest.mark.parametrize("last", [INVALID, None])
def test_span_of_the_tool_stays_marked_where_the_chain_does_not_end_well(last: object) -> None:
    """DESIGN section 4: ERROR where native code left it unset."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("native", attributes=TOOL):
        host.call(INVALID)
        if last:
            host.call(last)
    assert spans.finished["native"].status.status_code is StatusCode.ERROR


def test_other_chain_that_ends_well_takes_nothing_back() -> None:
    """Our promise: what failed for good in a span stays to be seen."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("native", attributes=TOOL):
        host.call(busy(), {"q": 1})
        host.call(busy(), {"q": 2})
        host.call(OK, {"q": 2})
    assert spans.finished["native"].status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("description", ["the framework's own", "rate_limited"])
def test_error_of_native_code_is_never_taken_back(description: str) -> None:
    """DESIGN section 4: what native code set is its own, also in a word of ours."""
    spans = Spans()
    host = Host(spans)
    with spans.tracer.start_as_current_span("native", attributes=TOOL) as native:
        native.set_status(StatusCode.ERROR, description)
        host.call(busy())
        host.call(OK)
    status = spans.finished["native"].status
    assert (status.status_code, status.description) == (StatusCode.ERROR, description)


def test_span_of_the_tool_that_every_attempt_is_on_is_cleared_too() -> None:
    """Issue 5, item 5: with `span="current"`."""
    spans = Spans()
    enricher = spans.enricher("current")
    with spans.tracer.start_as_current_span("native", attributes=TOOL):
        for result in (busy(), OK):
            with enricher.call("search", arguments=ARGUMENTS) as call:
                call.enrich(result)
    assert spans.finished["native"].status.status_code is StatusCode.OK


def test_marks_of_spans_are_bounded() -> None:
    """Our promise: spans that never end well are forgotten."""
    marks = Marks()
    for span_id in range(3 * SPANS_REMEMBERED):
        marks.put(span_id, "c")
    assert len(marks._chains) == SPANS_REMEMBERED
    assert not marks.take(0, "c")
    assert not marks.take(3 * SPANS_REMEMBERED - 1, None)
    assert marks.take(3 * SPANS_REMEMBERED - 1, "c")
    assert not marks.take(3 * SPANS_REMEMBERED - 1, "c")


def test_attempt_that_is_not_recorded_is_no_link() -> None:
    """DESIGN section 6: a link to the attempt before, if it was sampled."""
    spans, dark, store = Spans(), Spans(ALWAYS_OFF), MemoryAttemptStore()
    for seen, result in ((dark, busy()), (spans, OK)):
        host = Host(seen, attempts=store, attempts_key=KEY)
        with host.enricher.run("a"):
            host.call(result)
    (span,) = own(spans)
    assert facts(span, *RETRY) == (2, "too_early", "recovered")
    assert links(span) == []
    assert facts(span, "waypost.retry.of.trace_id") != (None,)


def test_attempts_on_a_shared_span_are_events() -> None:
    """DESIGN section 4: `span="current"`; what one call says does not stay beside the next."""
    spans = Spans()
    enricher = spans.enricher("current")
    with spans.tracer.start_as_current_span("turn"):
        for result, arguments in ((busy(), 1), (OK, 1), (busy(), 2), (OK, 3), (INVALID, 4)):
            with enricher.call("search", arguments={"q": arguments}) as call:
                call.enrich(result)
    (span,) = spans.all
    told = [
        (event.name, *(dict(event.attributes or {}).get(name) for name in RETRY))
        for event in span.events
    ]
    assert told == [
        ("waypost.error", 1, None, None),
        ("waypost.recovered", 2, "too_early", "recovered"),
        ("waypost.error", 1, None, None),
        ("waypost.error", 1, None, None),
    ]
    assert facts(span, "waypost.error.class", *RETRY) == ("invalid", None, None, None)
    assert links(span) == []  # a span that leads to itself leads nowhere
    assert span.status.status_code is StatusCode.UNSET


def test_attempt_on_a_server_is_on_the_span_that_is_there() -> None:
    """DESIGN section 4: server side, never a span of our own."""
    spans = Spans()
    enricher = spans.enricher(side="server")
    with spans.tracer.start_as_current_span("turn"):
        for number, result in enumerate((busy(), OK)):
            with (
                spans.tracer.start_as_current_span(f"tools/call {number}", kind=SpanKind.SERVER),
                enricher.call("search", arguments=ARGUMENTS) as call,
            ):
                call.enrich(result)
    first, second = spans.finished["tools/call 0"], spans.finished["tools/call 1"]
    assert facts(second, *RETRY) == (2, "too_early", "recovered")
    assert links(second) == [(ids(first), {"waypost.link": "retry_of"})]
    assert trace.get_current_span() is trace.INVALID_SPAN


# Metrics


BASE = {"waypost.side": "host", "gen_ai.tool.name": "search"}
LIMITED = {
    **BASE,
    "waypost.error.class": "rate_limited",
    "waypost.next_step": "wait",
    "waypost.retryable": True,
}


def counted(meters: Meters, name: str) -> dict[frozenset[tuple[str, Any]], float]:
    return {key: value for key, value in meters.sums(name).items() if value}


def test_retries_are_counted_by_the_failure_that_was_repeated() -> None:
    """DESIGN section 6: with outcome and advice; a chain that was left is no retry."""
    spans, meters = Spans(), Meters()
    host = Host(spans, meters.observer())
    for arguments, results in (
        ({"q": 1}, (busy(), busy(), OK)),
        ({"q": 2}, (INVALID,)),
        ({"q": 3}, (OK,)),
        ({"q": 4}, (INVALID,)),
        ([5], (INVALID,)),
    ):
        for result in results:
            host.call(result, arguments)
    invalid = {
        **BASE,
        "waypost.error.class": "invalid",
        "waypost.next_step": "fix_arguments",
        "waypost.retryable": False,
    }
    early = {"waypost.retry.advice": "too_early"}
    followed = {"waypost.retry.advice": "followed"}
    assert counted(meters, "waypost.retries") == {
        key_of({**LIMITED, **early, "waypost.retry.outcome": "failed"}): 1,
        key_of({**LIMITED, **early, "waypost.retry.outcome": "recovered"}): 1,
        key_of({**invalid, **followed, "waypost.retry.outcome": "corrected"}): 1,
    }
    assert counted(meters, "waypost.storms") == {}


def test_storm_is_counted_once() -> None:
    """DESIGN section 5: once a chain, by the class of the failure."""
    spans, meters = Spans(), Meters()
    host = Host(spans, meters.observer())
    for _ in range(5):
        host.call(busy())
    assert counted(meters, "waypost.storms") == {
        key_of({**BASE, "waypost.error.class": "rate_limited"}): 1
    }


def test_zeros_are_there_before_the_first_retry() -> None:
    """DASHBOARDS, trap 1: `increase()` does not see a first value; for the first ten tools."""
    meters = Meters()
    enricher = Enricher((meters.observer(),))
    for number in range(12):
        with enricher.call(f"tool-{number}", arguments=ARGUMENTS) as call:
            call.enrich(OK)
    retries, storms = meters.sums("waypost.retries"), meters.sums("waypost.storms")
    assert set(retries.values()) == set(storms.values()) == {0}
    tools = Counter(dict(key)["gen_ai.tool.name"] for key in retries)
    assert set(tools) == {f"tool-{number}" for number in range(10)}
    assert len({*tools.values()}) == 1
    assert Counter(dict(key)["gen_ai.tool.name"] for key in storms) == {
        f"tool-{number}": len(ErrorClass) for number in range(12)
    }
    zeroed = {
        (dict(key)["waypost.next_step"], dict(key)["waypost.retry.outcome"],
         dict(key)["waypost.retry.advice"])
        for key in retries
    }  # fmt: skip
    assert ("wait", "recovered", "too_early") in zeroed
    assert ("fix_arguments", "corrected", "followed") in zeroed
    assert ("report", "failed", "ignored") in zeroed


def test_a_retry_of_a_usual_failure_has_its_zero() -> None:
    """The zeros are those that retries count in."""
    for code in ("rate_limited", "not_found", "session_expired", "permission_denied", "x_77"):
        for last in ({"ok": False, "error": code}, OK):
            meters = Meters()
            enricher = Enricher((meters.observer(),))
            for result in ({"ok": False, "error": code}, last):
                with enricher.call("search", arguments=ARGUMENTS) as call:
                    call.enrich(result)
                if result is not last:
                    zeros = set(meters.sums("waypost.retries"))
            assert set(counted(meters, "waypost.retries")) <= zeros
            assert len(counted(meters, "waypost.retries")) == 1


# Events


def test_recovery_is_one_event(logged: CapturingLoggerFactory) -> None:
    """DESIGN section 6: `waypost.recovered`, information, with the ids of its span."""
    spans = Spans()
    host = Host(spans, StructlogObserver())
    for result in (busy(), busy(), OK):
        host.call(result, server="shop")
    calls = logged.logger.calls
    assert [(call.method_name, call.kwargs["event"]) for call in calls] == [
        ("warning", "waypost.error"),
        ("warning", "waypost.error"),
        ("info", "waypost.recovered"),
    ]
    _, second, third = own(spans)
    trace_id, span_id = hexed(third)
    before_trace, before_span = hexed(second)
    assert calls[-1].kwargs == {
        "event": "waypost.recovered",
        "level": "info",
        "waypost.side": "host",
        "waypost.server": "shop",
        "waypost.chain.id": facts(third, "waypost.chain.id")[0],
        "waypost.attempt": 3,
        "waypost.correlation": "window",
        "waypost.retry.of.trace_id": before_trace,
        "waypost.retry.of.span_id": before_span,
        "waypost.retry.advice": "too_early",
        "waypost.retry.outcome": "recovered",
        "gen_ai.tool.name": "search",
        "trace_id": trace_id,
        "span_id": span_id,
    }


def test_correction_is_told_and_a_chain_that_was_left_is_not(
    logged: CapturingLoggerFactory,
) -> None:
    """A failure that was made good is good news, whatever the arguments."""
    host = Host(Spans(), StructlogObserver())
    for result, arguments in (
        (INVALID, {"q": 1}),
        (OK, {"q": 2}),
        (busy(), {"q": 3}),
        (OK, {"q": 4}),
    ):
        host.call(result, arguments)
    assert [call.kwargs["event"] for call in logged.logger.calls] == [
        "waypost.error",
        "waypost.recovered",
        "waypost.error",
    ]


def test_storm_is_an_error_beside_the_failure(logged: CapturingLoggerFactory) -> None:
    """DESIGN section 4: `waypost.storm` (error), once a chain."""
    host = Host(Spans(), StructlogObserver())
    for _ in range(4):
        host.call(busy())
    calls = logged.logger.calls
    assert [(call.method_name, call.kwargs["event"]) for call in calls] == [
        ("warning", "waypost.error"),
        ("warning", "waypost.error"),
        ("warning", "waypost.error"),
        ("error", "waypost.storm"),
        ("warning", "waypost.error"),
    ]
    assert calls[3].kwargs["waypost.retry.budget"] == "exhausted"
    assert calls[3].kwargs["waypost.attempt"] == 3


def test_storm_of_questions_is_told_beside_information(logged: CapturingLoggerFactory) -> None:
    """DESIGN section 4: `needs_input` is information, also where it is asked too often."""
    host = Host(Spans(), StructlogObserver())
    for _ in range(3):
        host.call({"ok": False, "error": "needs", "input_request": {"argument": "size"}})
    assert [call.method_name for call in logged.logger.calls] == ["info", "info", "info", "error"]


def test_plain_logging_tells_the_same(caplog: pytest.LogCaptureFixture) -> None:
    """DESIGN section 4: where structlog is not configured."""
    host = Host(Spans(), StructlogObserver())
    with caplog.at_level(logging.INFO, "waypost"):
        for result in (busy(), busy(), busy(), OK):
            host.call(result)
    step = "rate_limited, retryable: true, next step:"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", f"waypost.error: search failed: {step} wait"),
        ("WARNING", f"waypost.error: search failed at attempt 2: {step} wait"),
        ("WARNING", f"waypost.error: search failed at attempt 3: {step} report"),
        ("ERROR", f"waypost.storm: search failed at attempt 3: {step} report"),
        ("INFO", "waypost.recovered: search worked after a failure at attempt 4"),
    ]
    assert vars(caplog.records[-1])["waypost.retry.outcome"] == "recovered"
