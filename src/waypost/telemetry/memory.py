"""Telemetry kept in memory instead of sent, for programs and tests that look at their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import format_span_id, format_trace_id

__all__ = ["MemoryTelemetry", "SeenLog", "SeenSpan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSpan:
    """A finished span: ids in hexadecimal digits, ``parent_span_id`` ``None`` for a root."""

    name: str
    trace_id: str
    span_id: str
    parent_span_id: str | None
    status: str
    attributes: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLog:
    """An emitted log record; ids are ``None`` outside of a trace."""

    event_name: str | None
    trace_id: str | None
    attributes: dict[str, object]


class MemoryTelemetry:
    """
    Keeps spans, log records and sums of counters.

    Give its three parts to `waypost.setup_telemetry`:
    ``span_processors=[memory.span_processor]``, and so on. Everything is kept, so use it in
    programs that end.

    .. versionadded:: 0.1.0
    """

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK's
        self.span_processor = SimpleSpanProcessor(self._spans)
        self.log_processor = SimpleLogRecordProcessor(self._logs)
        self.metric_reader = InMemoryMetricReader()

    def spans(self) -> list[SeenSpan]:
        """Return the finished spans, in the order in which they ended."""
        return [
            SeenSpan(
                name=span.name,
                trace_id=format_trace_id(span.context.trace_id),
                span_id=format_span_id(span.context.span_id),
                parent_span_id=format_span_id(span.parent.span_id) if span.parent else None,
                status=span.status.status_code.name,
                attributes=dict(span.attributes or {}),
            )
            for span in self._spans.get_finished_spans()
            if span.context is not None
        ]

    def logs(self) -> list[SeenLog]:
        """Return the log records, in the order in which they were emitted."""
        records = [finished.log_record for finished in self._logs.get_finished_logs()]
        return [
            SeenLog(
                event_name=record.event_name,
                trace_id=format_trace_id(record.trace_id) if record.trace_id else None,
                attributes=dict(record.attributes or {}),
            )
            for record in records
        ]

    def sums(self, name: str, by: str) -> dict[str, float]:
        """Return the counter *name*, summed by the attribute *by*; zeros are left out."""
        totals: dict[str, float] = {}
        for point in self._points(name):
            key = str((point.attributes or {}).get(by, ""))
            totals[key] = totals.get(key, 0) + point.value
        return {key: value for key, value in totals.items() if value}

    def _points(self, name: str) -> Iterable[NumberDataPoint]:
        data = self.metric_reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == name:
                        yield from (
                            point
                            for point in metric.data.data_points
                            if isinstance(point, NumberDataPoint)
                        )
