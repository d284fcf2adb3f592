"""The series that the library emits, as Prometheus names them, read from a live export."""

from __future__ import annotations

from functools import cache

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import Histogram, InMemoryMetricReader

from waypost import Enricher, Observation
from waypost.observe.otel import OpenTelemetryObserver

__all__ = ["emitted_series"]

_LOCKED = {"status": "error", "error_code": "locked", "message": "m"}


def _faulty(_: Observation) -> None:
    raise RuntimeError("an observer of the host")


def _use_every_instrument(reader: InMemoryMetricReader) -> None:
    """Make a call that works, one that fails beyond its budget, and a fault."""
    observer = OpenTelemetryObserver(meter_provider=MeterProvider([reader]))
    enricher = Enricher([observer, _faulty])
    with enricher.run("one"):
        for result in ({"ok": True}, *(dict(_LOCKED) for _ in range(4))):
            with enricher.call("find", arguments={}, server="orders") as call:
                call.enrich(result)


@cache
def emitted_series() -> dict[str, frozenset[str]]:
    """Return the labels of each series that Prometheus makes of the export."""
    reader = InMemoryMetricReader()
    _use_every_instrument(reader)
    data = reader.get_metrics_data()
    assert data is not None
    series: dict[str, frozenset[str]] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        points = metric.data.data_points
        keys = {key.replace(".", "_") for point in points for key in point.attributes or ()}
        name = metric.name.replace(".", "_")
        if isinstance(metric.data, Histogram):
            for suffix in ("bucket", "count", "sum"):
                series[f"{name}_seconds_{suffix}"] = frozenset(keys)
        else:
            series[f"{name}_total"] = frozenset(keys)
    return series
