"""A real SDK for one test: spans and metrics kept in memory, nothing global."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    HistogramDataPoint,
    InMemoryMetricReader,
    Metric,
    NumberDataPoint,
)
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler

import waypost
from waypost import Enricher, Limits
from waypost.observe._spans import SpanUse
from waypost.observe.otel import OpenTelemetryObserver

Facts = dict[str, Any]


class Spans:
    """A tracer provider of its own, and what it exported."""

    def __init__(self, sampler: Sampler = ALWAYS_ON) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("host")

    @property
    def finished(self) -> dict[str, ReadableSpan]:
        """The finished spans by name."""
        return {span.name: span for span in self._exporter.get_finished_spans()}

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        """The finished spans in the order in which they ended."""
        return self._exporter.get_finished_spans()

    def observer(
        self, span: SpanUse = "auto", limits: Limits | None = None
    ) -> OpenTelemetryObserver:
        return OpenTelemetryObserver(span=span, limits=limits, tracer_provider=self.provider)

    def enricher(
        self, span: SpanUse = "auto", limits: Limits | None = None, **options: Any
    ) -> Enricher:
        return Enricher((self.observer(span, limits),), **options)


class Meters:
    """A meter provider of its own, and its metrics."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader], shutdown_on_exit=False)

    def observer(self, limits: Limits | None = None) -> OpenTelemetryObserver:
        return OpenTelemetryObserver(span="off", limits=limits, meter_provider=self.provider)

    def read(self) -> dict[str, Metric]:
        """Collect, and return the metrics by name."""
        data = self._reader.get_metrics_data()
        return {
            metric.name: metric
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def sums(self, name: str) -> dict[frozenset[tuple[str, Any]], float]:
        """Value of each attribute set of a counter."""
        metric = self.read().get(name)
        points = metric.data.data_points if metric else ()
        return {
            key_of(point.attributes): point.value
            for point in points
            if isinstance(point, NumberDataPoint)
        }

    def durations(self) -> dict[frozenset[tuple[str, Any]], tuple[int, float]]:
        """Count and sum of each attribute set of the call duration."""
        metric = self.read().get("waypost.call.duration")
        points = metric.data.data_points if metric else ()
        return {
            key_of(point.attributes): (point.count, point.sum)
            for point in points
            if isinstance(point, HistogramDataPoint)
        }


def key_of(attributes: Mapping[str, Any] | None) -> frozenset[tuple[str, Any]]:
    return frozenset((attributes or {}).items())


def facts(result: object, **more: object) -> Facts:
    """What a span says of *result*, a failure without a delay, by the names on the wire."""
    guidance = waypost.guidance_of(result)
    assert guidance is not None
    return {
        "waypost.error.class": guidance.error_class.value,
        "waypost.error.code": guidance.error_code,
        "waypost.retryable": guidance.retryable,
        "waypost.next_step": guidance.next_step.value,
        "waypost.next_action": guidance.next_action,
        "waypost.actor": guidance.actor.value,
        "waypost.may_repeat": guidance.may_repeat,
        "waypost.retryable.source": "waypost",
        "waypost.next_action.source": "waypost",
        "waypost.rule": guidance.rule,
        "waypost.side": "host",
        **more,
    }
