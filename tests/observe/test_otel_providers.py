"""The global providers of OpenTelemetry: absent, set late, replaced, switched off."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tests.programs import run

PRELUDE = """
from opentelemetry import metrics, trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span
from waypost import Enricher, failure
from waypost.observe.otel import OpenTelemetryObserver

LOCKED = failure("locked", "m")
enricher = Enricher((OpenTelemetryObserver(),), **OPTIONS)

def call(result=LOCKED, name="search"):
    with enricher.call(name) as block:
        current = trace.get_current_span().get_span_context()
        return {"result": block.enrich(result), "ids": (block.trace_id, block.span_id),
                "sampled": block.sampled, "current": (current.trace_id, current.span_id)}
"""

SDK = """
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans, points = InMemorySpanExporter(), InMemoryMetricReader()

def set_up():
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([points]))

def seen():
    data = points.get_metrics_data()
    return {
        "spans": [span.name for span in spans.get_finished_spans()],
        "metrics": sorted(metric.name for resource in (data.resource_metrics if data else ())
                          for scope in resource.scope_metrics for metric in scope.metrics
                          if metric.name.startswith("waypost.")),  # SDKs count spans, too
    }
"""


def answers(source: str, options: str = "{}", **env: str) -> Any:
    """Run the program, and return what it printed as a literal."""
    done = run(f"OPTIONS = {options}\n{PRELUDE}{source}", env=env)
    assert (done.exit_code, done.stderr) == (0, "")
    return ast.literal_eval(done.stdout)


ENRICHED = {
    "status": "error",
    "error_code": "locked",
    "message": "m",
    "retryable": True,
    "next_action": "Wait a few seconds for the other operation to end, then make the same call.",
}


@pytest.mark.parametrize("options", ["{}", "{'side': 'server'}"])
def test_without_an_sdk_nothing_is_opened_and_the_result_is_the_same(options: str) -> None:
    """DESIGN section 4, spans: no SDK, open nothing."""
    assert answers("print(call())", options) == {
        "result": ENRICHED,
        "ids": (None, None),
        "sampled": True,
        "current": (0, 0),
    }


@pytest.mark.parametrize("sampled", [True, False])
def test_without_an_sdk_the_trace_of_a_remote_parent_is_attached(sampled: bool) -> None:
    """DESIGN section 4: the trace id of the first valid scope, sampled or not."""
    source = f"""
parent = SpanContext(0xabc, 0xdef, is_remote=True, trace_flags=TraceFlags({int(sampled)}))
with use_span(NonRecordingSpan(parent)):
    print(call())
"""
    trace_id, span_id = f"{0xABC:032x}", f"{0xDEF:016x}"
    assert answers(source) == {
        "result": {**ENRICHED, "trace_id": trace_id},
        "ids": (trace_id, span_id),
        "sampled": sampled,
        "current": (0xABC, 0xDEF),
    }


def test_provider_set_after_construction_is_used() -> None:
    """The observer's promise: global providers, whenever they are set."""
    source = """
call(name="early")
set_up()
call(name="late")
print(seen())
"""
    assert answers(SDK + source) == {
        "spans": ["execute_tool late"],
        "metrics": [
            "waypost.call.duration",
            "waypost.errors",
            "waypost.retries",
            "waypost.storms",
        ],
    }


def test_sdk_that_is_switched_off_records_nothing_and_the_result_is_the_same() -> None:
    """RELIABILITY A8: `OTEL_SDK_DISABLED=true`."""
    source = "set_up()\nprint((call()['result'], seen()['spans']))"
    assert answers(SDK + source, OTEL_SDK_DISABLED="true") == (ENRICHED, [])


def test_default_observers_are_opentelemetry_and_structlog() -> None:
    """DESIGN section 4: observers default to OpenTelemetry + structlog."""
    source = """
import structlog
set_up()
captured = structlog.testing.LogCapture()
structlog.configure(processors=[captured])
enricher = Enricher()
enriched = call()
(event,) = captured.entries
print((seen()["spans"], event["event"], event["trace_id"] == enriched["result"]["trace_id"]))
"""
    assert answers(SDK + source) == (["execute_tool search"], "waypost.error", True)


@pytest.mark.parametrize(
    ("use", "names"), [("own", ["execute_tool search"]), ("off", []), ("current", [])]
)
def test_default_observers_take_the_use_of_spans(use: str, names: list[str]) -> None:
    """DESIGN section 4: `span="auto"|"current"|"own"|"off"`."""
    source = f"""
from waypost.observe import default_observers
set_up()
enricher = Enricher(default_observers(span={use!r}))
call()
print(seen()["spans"])
"""
    assert answers(SDK + source) == names


def test_threads_go_on_while_the_providers_are_shut_down() -> None:
    """RELIABILITY A25, smaller: before, during and after; 0 exceptions, 0 hangs."""
    source = """
import logging, threading
logging.disable(logging.CRITICAL)  # the SDK's own warnings about being used after its shutdown
set_up()
wrong, halfway = [], threading.Barrier(5)

def work():
    for turn in range(200):
        if turn == 100:
            halfway.wait(30)
        result = call()["result"]
        if result.get("retryable") is not True:
            wrong.append(result)

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
halfway.wait(30)
trace.get_tracer_provider().shutdown()
metrics.get_meter_provider().shutdown()
for thread in threads:
    thread.join(30)
print((wrong, sum(thread.is_alive() for thread in threads), call()["result"]["retryable"]))
"""
    assert answers(SDK + source) == ([], 0, True)
