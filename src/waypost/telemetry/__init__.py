"""``setup_telemetry``: traces, metrics and logs over OTLP in one line, for hosts that want that."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Final, TypeVar

from opentelemetry import metrics, trace
from opentelemetry._logs import (  # logs are not stable in OpenTelemetry yet, hence the underscore
    get_logger_provider,
    set_logger_provider,
)
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from ..core._clean import clean_text
from . import _gate, _log
from ._error import TelemetryError
from ._lanes import Lane, Lanes
from ._settings import wanted_signals

if TYPE_CHECKING:
    from ._export import LogExporter, MetricExporter, SpanExporter

__all__ = ["Telemetry", "TelemetryError", "setup_telemetry"]

EXIT_SECONDS: Final = 1.5
"""What the end of the process may wait for, all three signals together."""

_MAX_ATTRIBUTE_CHARS: Final = 1_024

_log_to_host = logging.getLogger("waypost")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Telemetry:
    """
    What ``setup_telemetry`` has set up: the three providers, and how to flush and end them.

    Attributes:
        tracer_provider: The global one; add span processors to it as you like.

        meter_provider: The global one.

        logger_provider: The global one, which structlog events go to as well.

    .. versionadded:: 0.1.0
    """

    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    logger_provider: LoggerProvider
    _lanes: Lanes = field(repr=False)

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """
        Send what is queued, and wait for that. Never raises; blocks, so keep it off an event loop.

        Returns:
            Whether all of it was accepted within *timeout_seconds*. ``False`` if a batch could
            not be delivered, and after ``shutdown``.
        """
        return self._lanes.flush(timeout_seconds)

    def shutdown(self, timeout_seconds: float = EXIT_SECONDS) -> None:
        """
        Send what is queued and end the three providers. Never raises; a second call does nothing.

        Called when the process exits, so a host needs it only to end earlier. What has not been
        delivered after *timeout_seconds* is lost.
        """
        self._lanes.close(timeout_seconds)


def setup_telemetry(
    *,
    service_name: str,
    service_version: str | None = None,
    endpoint: str | None = None,
    allow_insecure: bool = False,
    otlp: bool = True,
    span_processors: Sequence[SpanProcessor] = (),
    metric_readers: Sequence[MetricReader] = (),
    log_processors: Sequence[LogRecordProcessor] = (),
) -> Telemetry:
    """
    Set up OpenTelemetry and structlog for a host that has set up neither.

    Makes SDK providers for traces, metrics and logs the global ones. Each has a batch processor
    with a bounded queue and an OTLP/HTTP exporter that takes 5 s at most and reads no more than
    64 KiB of a reply. Endpoints, headers, certificates, compression, samplers and queue sizes
    come from the standard ``OTEL_*`` variables (``OTEL_TRACES_EXPORTER=none`` and its like turn
    one signal off, ``OTEL_SDK_DISABLED=true`` all of them); only ``OTEL_EXPORTER_OTLP_TIMEOUT``
    is not read, since its unit differs between the specification and the SDK.

    structlog writes to stderr from then on, one line an event: JSON, or the console format on a
    terminal. Events carry ``trace_id`` and ``span_id`` and are exported as log records. If the
    host has configured structlog already, its renderer and output stay.

    The export loggers of the SDK are held to one line a minute. When the process exits, 1.5 s at
    most are spent on what is queued. Calling this again returns the same object.

    Args:
        service_name: ``service.name``; wins over ``OTEL_SERVICE_NAME``, as in the SDK.

        service_version: ``service.version``, to tell releases apart in a dashboard.

        endpoint: Base URL of the receiver, for programs that have an option for it. Wins over
            the variables; without either it is ``http://localhost:4318``.

        allow_insecure: Send over plain http to another machine, for instance inside a cluster.

        otlp: ``False`` exports nothing, for programs that look at their telemetry themselves.

        span_processors: Added after ours, for instance to keep spans in memory.

        metric_readers: The same for metrics.

        log_processors: The same for log records.

    Raises:
        TelemetryError: If the endpoint is not safe or no URL, if ``waypost[otlp]`` is not
            installed, or if somebody else has set global providers.

    .. versionadded:: 0.1.0
    """
    options = _Options(
        service_name=service_name,
        service_version=service_version,
        endpoint=endpoint,
        allow_insecure=allow_insecure,
        otlp=otlp,
        span_processors=tuple(span_processors),
        metric_readers=tuple(metric_readers),
        log_processors=tuple(log_processors),
    )
    with _state.lock:
        if _state.current is not None:
            return _again(_state.current, options)
        _refuse_foreign_providers()
        telemetry = _build(options)
        _make_global(telemetry)
        _log.configure_structlog(telemetry.logger_provider.get_logger("waypost", _version()))
        atexit.register(telemetry.shutdown)
        _state.current = (telemetry, options)
        return telemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The arguments of ``setup_telemetry``."""

    service_name: str
    service_version: str | None
    endpoint: str | None = field(repr=False)
    allow_insecure: bool
    otlp: bool
    span_processors: tuple[SpanProcessor, ...]
    metric_readers: tuple[MetricReader, ...]
    log_processors: tuple[LogRecordProcessor, ...]

    def differences(self, other: _Options) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) != getattr(other, name)]


class _State:
    """The one set-up of this process; OpenTelemetry's globals allow no second one."""

    def __init__(self) -> None:
        self.current: tuple[Telemetry, _Options] | None = None
        self.renew_lock()

    def renew_lock(self) -> None:
        self.lock = threading.RLock()


_state = _State()
if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
    os.register_at_fork(after_in_child=_state.renew_lock)


def _again(current: tuple[Telemetry, _Options], options: _Options) -> Telemetry:
    telemetry, first = current
    if names := first.differences(options):
        _log_to_host.warning(
            "setup_telemetry was called again with another %s; the first call holds.",
            ", ".join(names),
        )
    return telemetry


def _refuse_foreign_providers() -> None:
    for signal, provider in (
        ("traces", trace.get_tracer_provider()),
        ("metrics", metrics.get_meter_provider()),
        ("logs", get_logger_provider()),
    ):
        kind = type(provider)
        # The stand-ins that the API hands out while nothing is set live in the API itself.
        if not kind.__module__.startswith(_API_MODULES):
            raise _already_set(f"{kind.__module__}.{kind.__qualname__} handles {signal}")


_API_MODULES: Final = ("opentelemetry.trace", "opentelemetry.metrics", "opentelemetry._logs")


def _already_set(what: str) -> TelemetryError:
    return TelemetryError(
        f"Telemetry is already set up: {what}, and OpenTelemetry refuses a second provider."
        " Leave setup_telemetry out: waypost reports to the global providers, whoever set them."
        " Or call it before anything else does (opentelemetry-instrument sets them at start)."
    )


def _make_global(telemetry: Telemetry) -> None:
    trace.set_tracer_provider(telemetry.tracer_provider)
    metrics.set_meter_provider(telemetry.meter_provider)
    set_logger_provider(telemetry.logger_provider)
    if (
        trace.get_tracer_provider() is not telemetry.tracer_provider
        or metrics.get_meter_provider() is not telemetry.meter_provider
        or get_logger_provider() is not telemetry.logger_provider
    ):
        telemetry.shutdown()
        raise _already_set("another provider was set first")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exporters:
    spans: SpanExporter | None = None
    metrics: MetricExporter | None = None
    logs: LogExporter | None = None
    destinations: str = ""


def _build(options: _Options) -> Telemetry:
    exporters = _exporters_of(options)
    gate = _gate.Gate(exporters.destinations)
    try:
        return _providers_of(options, exporters, gate)
    except Exception as exc:
        # Out of the SDK: a queue size of 0 in the environment, a reader that is in use elsewhere.
        raise TelemetryError(
            f"OpenTelemetry refused the set-up: {str(exc).rstrip('.')}."
            " Check the OTEL_* variables, and that no reader or processor is in use elsewhere."
        ) from exc
    finally:
        if exporters.destinations:
            _gate.install(gate)


def _providers_of(options: _Options, exporters: _Exporters, gate: _gate.Gate) -> Telemetry:
    resource = _resource_of(options)
    limits = SpanLimits(max_attribute_length=_MAX_ATTRIBUTE_CHARS)
    spans = TracerProvider(resource=resource, shutdown_on_exit=False, span_limits=limits)
    for span_processor in (*_all(BatchSpanProcessor, exporters.spans), *options.span_processors):
        spans.add_span_processor(span_processor)
    readers = (*_all(PeriodicExportingMetricReader, exporters.metrics), *options.metric_readers)
    meters = MeterProvider(metric_readers=readers, resource=resource, shutdown_on_exit=False)
    logs = LoggerProvider(resource=resource, shutdown_on_exit=False)
    for log_processor in (*_all(BatchLogRecordProcessor, exporters.logs), *options.log_processors):
        logs.add_log_record_processor(log_processor)
    lanes = (
        Lane("traces", exporters.spans, flush=spans.force_flush, close=spans.shutdown),
        Lane("metrics", exporters.metrics, flush=meters.force_flush, close=meters.shutdown),
        Lane("logs", exporters.logs, flush=logs.force_flush, close=logs.shutdown),
    )
    return Telemetry(
        tracer_provider=spans,
        meter_provider=meters,
        logger_provider=logs,
        _lanes=Lanes(lanes, gate),
    )


_E = TypeVar("_E")
_P = TypeVar("_P")


def _all(make: Callable[[_E], _P], exporter: _E | None) -> tuple[_P, ...]:
    return () if exporter is None else (make(exporter),)


def _exporters_of(options: _Options) -> _Exporters:
    """Make the exporters that are wanted; endpoints are checked before anything starts."""
    signals = wanted_signals() if options.otlp else ()
    if not signals:
        return _Exporters()
    try:
        from . import _endpoint, _export  # noqa: PLC0415 -- need an extra, which not every host has
    except ImportError as exc:
        raise TelemetryError(
            "Sending telemetry needs the OTLP exporter, which is not installed:"
            ' pip install "waypost[otlp]". Or pass otlp=False to send nothing.'
        ) from exc
    _gate.hide_headers()
    _export.hush_http_loggers()
    urls = {
        name: _endpoint.endpoint_of(name, options.endpoint, allow_insecure=options.allow_insecure)
        for name in signals
    }
    return _Exporters(
        spans=_export.span_exporter(urls["traces"]) if "traces" in urls else None,
        metrics=_export.metric_exporter(urls["metrics"]) if "metrics" in urls else None,
        logs=_export.log_exporter(urls["logs"]) if "logs" in urls else None,
        destinations=", ".join(sorted({_endpoint.shown(url) for url in urls.values()})),
    )


def _resource_of(options: _Options) -> Resource:
    """
    Describe the process; the arguments win over the environment, as in the SDK.

    Cleaned throughout: a byte in the environment that is not UTF-8 would lose every batch.
    """
    attributes = {
        SERVICE_NAME: options.service_name,
        "telemetry.distro.name": "waypost",
        "telemetry.distro.version": _version(),
    }
    if options.service_version is not None:
        attributes[SERVICE_VERSION] = options.service_version
    resource = Resource.create(attributes)
    cleaned = {
        clean_text(key, _MAX_ATTRIBUTE_CHARS): clean_text(value, _MAX_ATTRIBUTE_CHARS)
        if isinstance(value, str)
        else value
        for key, value in resource.attributes.items()
    }
    return Resource(cleaned, resource.schema_url)


def _version() -> str:
    try:
        return metadata.version("waypost")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "0"
