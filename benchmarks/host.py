"""The whole path of a failed call, against the same telemetry written by hand."""

from __future__ import annotations

import json
import logging
import random
import time
from collections import OrderedDict
from hashlib import blake2b
from itertools import count
from typing import NamedTuple

import structlog
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, Status, StatusCode

from waypost import Enricher
from waypost.observe import default_observers
from waypost.observe.otel import OpenTelemetryObserver
from waypost.observe.structlog import StructlogObserver

from ._measure import Ratio
from .failure import TYPICAL

ARGUMENTS = {"query": "lamp", "limit": 20}
_sessions = (f"session-{number}" for number in count())
"""A session each, so that the failure is the first of its chain and of its tool."""

_unconfigured = Enricher(default_observers())


def _without_telemetry() -> object:
    with _unconfigured.call("search", server="orders") as call:
        return call.enrich(TYPICAL)


class _Nowhere(SpanProcessor):
    """Takes finished spans and drops them: what an exporter costs is not asked here."""

    def on_end(self, span: ReadableSpan) -> None:
        pass


class _Lines:
    """Takes log lines and drops them."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


_traces = TracerProvider()
_traces.add_span_processor(_Nowhere())
_meters = MeterProvider([InMemoryMetricReader()])
_tracer = _traces.get_tracer("floor")
_meter = _meters.get_meter("floor")
_errors = _meter.create_counter("errors")
_duration = _meter.create_histogram("duration")

_full = Enricher(
    (
        OpenTelemetryObserver(tracer_provider=_traces, meter_provider=_meters),
        StructlogObserver(),
    )
)


def _configure_structlog() -> None:
    """JSON lines, as a host would have them."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=_Lines()),  # type: ignore[arg-type]
        cache_logger_on_first_use=True,
    )


def _with_telemetry() -> object:
    with _full.call(
        "search", server="orders", arguments=ARGUMENTS, session=next(_sessions)
    ) as call:
        return call.enrich(TYPICAL)


class _Failed(NamedTuple):
    """What the next attempt has to know of the one before: number, advice and where to link."""

    chain_id: str
    attempt: int
    ended_at: float
    step: str
    delay: float
    trace_id: str
    span_id: str


_chains: OrderedDict[bytes, _Failed] = OrderedDict()
_rows: OrderedDict[tuple[str, str, str], int] = OrderedDict()


def _call_key(session: str) -> bytes:
    text = json.dumps((session, "orders", "search", ARGUMENTS), sort_keys=True)
    return blake2b(text.encode(), digest_size=16, key=_KEY).digest()


def _attempt(key: bytes) -> tuple[str, int]:
    """Which attempt of which chain it is; the advice that was followed is left out."""
    before = _chains.get(key)
    if before is None:
        return f"{random.getrandbits(64):016x}", 1
    return before.chain_id, before.attempt + 1


def _remember(key: bytes, session: str, failed: _Failed) -> bool:
    """Keep a failure, in a store of 4,096; return whether a budget is spent."""
    _chains[key] = failed
    if len(_chains) > 4_096:
        _chains.popitem(last=False)
    tool = (session, "orders", "search")
    row = _rows.pop(tool, 0) + 1
    _rows[tool] = row
    if len(_rows) > 4_096:
        _rows.popitem(last=False)
    return failed.attempt >= 3 or row >= 10


_KEY = b"k" * 32


def _by_hand() -> object:
    """What waypost writes for the same failure, with the answer known beforehand."""
    session = next(_sessions)
    key = _call_key(session)
    chain_id, attempt = _attempt(key)
    base = {"waypost.side": "host", "gen_ai.tool.name": "search", "waypost.server": "orders"}
    facts: dict[str, str | bool | int] = {
        "waypost.error.class": "rate_limited",
        "waypost.retryable": True,
        "waypost.next_step": "wait",
        "waypost.actor": "model",
        "waypost.may_repeat": True,
        "waypost.retryable.source": "waypost",
        "waypost.next_action.source": "waypost",
        "waypost.rule": "rate.limited",
        "waypost.side": "host",
        "waypost.error.code": "RATE_LIMITED",
        "waypost.next_action": "Wait 20 s, then make the same call.",
        "waypost.server": "orders",
        "waypost.retry_after_ms": 20_000,
        "waypost.chain.id": chain_id,
        "waypost.attempt": attempt,
        "waypost.correlation": "window",
    }
    started = time.perf_counter()
    with _tracer.start_as_current_span(
        "execute_tool search",
        kind=SpanKind.INTERNAL,
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"},
    ) as span:
        ids = span.get_span_context()
        trace_id, span_id = (
            trace.format_trace_id(ids.trace_id),
            trace.format_span_id(ids.span_id),
        )
        failed = _Failed(chain_id, attempt, time.perf_counter(), "wait", 20.0, trace_id, span_id)
        facts["waypost.may_repeat"] = not _remember(key, session, failed)
        result = {
            **TYPICAL,
            "retryable": True,
            "next_action": "Wait 20 s, then make the same call.",
            "trace_id": trace_id,
        }
        span.set_attributes({**facts, "error.type": "rate_limited"})
        span.set_status(Status(StatusCode.ERROR, "rate_limited"))
        _duration.record(
            time.perf_counter() - started, {**base, "waypost.error.class": "rate_limited"}
        )
        _errors.add(
            1,
            {
                **base,
                "waypost.error.class": "rate_limited",
                "waypost.next_step": "wait",
                "waypost.retryable": True,
            },
        )
    _log.warning(
        "waypost.error",
        **facts,
        **{
            "gen_ai.tool.name": "search",
            "error.type": "rate_limited",
            "trace_id": trace_id,
            "span_id": span_id,
        },
    )
    return result


_log: structlog.typing.FilteringBoundLogger = structlog.get_logger("floor")


RATIOS = (
    Ratio(
        question="nothing configured / json.dumps(payload)",
        bound=10,
        subject=_without_telemetry,
        floor=lambda: json.dumps(TYPICAL),
    ),
    Ratio(
        question="full path, SDK on, JSON log / the same by hand",
        bound=1.6,
        prepare=_configure_structlog,
        subject=_with_telemetry,
        floor=_by_hand,
    ),
)
