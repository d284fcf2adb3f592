"""A real OTLP/HTTP receiver on loopback, for tests that look at what arrives on the wire."""

from __future__ import annotations

import gzip
import ssl
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

Attributes = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a span."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a span; ids in hexadecimal."""

    trace_id: str
    span_id: str
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A finished span; ids in hexadecimal, ``parent_span_id`` empty for a root."""

    name: str
    trace_id: str
    span_id: str
    parent_span_id: str
    kind: str
    status_code: str
    status_description: str
    attributes: Attributes
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    resource: Attributes
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log record; ids in hexadecimal, ``event_name`` empty for a plain one."""

    event_name: str
    body: object
    attributes: Attributes
    trace_id: str
    span_id: str
    sampled: bool
    severity_text: str
    severity_number: int
    resource: Attributes
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One attribute set of a metric. *value* is the sum of a histogram, *count* its count."""

    value: float
    attributes: Attributes
    count: int = 1
    bounds: tuple[float, ...] = ()
    buckets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric as it was exported once; ``kind`` is ``sum``, ``gauge``, ``histogram``, ..."""

    name: str
    unit: str
    kind: str
    points: tuple[Point, ...]
    resource: Attributes
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, for tests of headers and compression."""

    path: str
    headers: Mapping[str, str]
    size: int = field(compare=False)


class Receiver:
    """
    Listens on a free port of 127.0.0.1 and keeps what it is sent, in order of arrival.

    Use it as a context manager. Reading the lists while requests come in is safe. It also takes
    what is sent through it as a proxy.

    Args:
        certificate: A PEM file with key and certificate, to speak https.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self._scheme = "http" if certificate is None else "https"
        self.requests: list[Request] = []
        self.spans: list[Span] = []
        self.logs: list[Log] = []
        self.exports: list[Metric] = []
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def endpoint(self) -> str:
        """The base URL, for ``OTEL_EXPORTER_OTLP_ENDPOINT``."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    @property
    def metrics(self) -> dict[str, Metric]:
        """Every metric by name, as it was exported last: with cumulative sums, its total."""
        return {metric.name: metric for metric in list(self.exports)}

    def points(self, name: str) -> tuple[Point, ...]:
        """Return the points of one metric; none if it never arrived."""
        metric = self.metrics.get(name)
        return metric.points if metric else ()

    def wait_for(
        self, predicate: Callable[[Receiver], object], timeout_seconds: float = 10.0
    ) -> bool:
        """Wait until *predicate* holds; it is asked again after every request."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: predicate(self), timeout_seconds))

    def accept(self, path: str, headers: Mapping[str, str], body: bytes) -> int:
        """Take one request in; returns the HTTP status."""
        read = {
            "/v1/traces": _read_spans,
            "/v1/metrics": _read_metrics,
            "/v1/logs": _read_logs,
        }.get(urlsplit(path).path)
        if read is None:
            return 404
        with self._changed:
            self.requests.append(Request(path=path, headers=dict(headers), size=len(body)))
            read(self, _inflated(body, headers.get("content-encoding", "")))
            self._changed.notify_all()
        return 200

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client may keep its connection open longer than a test lasts


def _handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(receiver.accept(self.path, headers, body))
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- as declared
            pass

    return Handler


def _inflated(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(body)
    return zlib.decompress(body) if encoding == "deflate" else body


def _read_spans(receiver: Receiver, body: bytes) -> None:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _resource(group.resource)
        for scoped in group.scope_spans:
            receiver.spans += [_span(span, resource, scoped.scope.name) for span in scoped.spans]


def _span(span: trace_pb2.Span, resource: Attributes, scope: str) -> Span:
    return Span(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        kind=trace_pb2.Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        status_code=trace_pb2.Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
        status_description=span.status.message,
        attributes=_attributes(span.attributes),
        events=tuple(
            Event(name=event.name, attributes=_attributes(event.attributes))
            for event in span.events
        ),
        links=tuple(
            Link(
                trace_id=link.trace_id.hex(),
                span_id=link.span_id.hex(),
                attributes=_attributes(link.attributes),
            )
            for link in span.links
        ),
        resource=resource,
        scope=scope,
    )


def _read_logs(receiver: Receiver, body: bytes) -> None:
    for group in ExportLogsServiceRequest.FromString(body).resource_logs:
        resource = _resource(group.resource)
        for scoped in group.scope_logs:
            receiver.logs += [_log(log, resource, scoped.scope.name) for log in scoped.log_records]


def _log(record: logs_pb2.LogRecord, resource: Attributes, scope: str) -> Log:
    return Log(
        event_name=record.event_name,
        body=_value(record.body),
        attributes=_attributes(record.attributes),
        trace_id=record.trace_id.hex(),
        span_id=record.span_id.hex(),
        sampled=bool(record.flags & 1),
        severity_text=record.severity_text,
        severity_number=record.severity_number,
        resource=resource,
        scope=scope,
    )


def _read_metrics(receiver: Receiver, body: bytes) -> None:
    for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        resource = _resource(group.resource)
        for scoped in group.scope_metrics:
            receiver.exports += [
                _metric(metric, resource, scoped.scope.name) for metric in scoped.metrics
            ]


def _metric(metric: metrics_pb2.Metric, resource: Attributes, scope: str) -> Metric:
    kind = metric.WhichOneof("data") or ""
    return Metric(
        name=metric.name,
        unit=metric.unit,
        kind=kind,
        points=tuple(_points(metric, kind)),
        resource=resource,
        scope=scope,
    )


def _points(metric: metrics_pb2.Metric, kind: str) -> Iterable[Point]:
    if kind == "histogram":
        for point in metric.histogram.data_points:
            yield Point(
                value=point.sum,
                attributes=_attributes(point.attributes),
                count=point.count,
                bounds=tuple(point.explicit_bounds),
                buckets=tuple(point.bucket_counts),
            )
        return
    for number in metric.sum.data_points if kind == "sum" else metric.gauge.data_points:
        whole = number.WhichOneof("value") == "as_int"
        yield Point(
            value=number.as_int if whole else number.as_double,
            attributes=_attributes(number.attributes),
        )


def _resource(resource: Resource) -> Attributes:
    return _attributes(resource.attributes)


def _attributes(pairs: Iterable[KeyValue]) -> Attributes:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    plain: object = getattr(value, kind)
    return plain
