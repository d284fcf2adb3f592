"""OTLP/HTTP exporters whose replies, waiting and log lines are bounded. Needs ``waypost[otlp]``."""

from __future__ import annotations

import contextlib
import http.client
import io
import logging
import os
import socket
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import requests
import urllib3
from opentelemetry.exporter.otlp.proto.http._log_exporter import (  # the only path to it so far
    OTLPLogExporter,
)
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from requests.utils import get_auth_from_url
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from ._endpoint import loopback, parsed_url, shown

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

TIMEOUT_SECONDS: Final = 5.0
"""For one export, its retries included, and for each request by itself."""

DRAIN_SECONDS: Final = 0.5
"""How long to read on once the status is known, so that the connection can be kept."""

MAX_REPLY_BYTES: Final = 64 * 1024
"""Headers and body of one reply, as they come over the wire; what follows is not read."""


class _Counted:
    """Counts failed batches of a stock exporter, and may be shut down twice without a word."""

    failed = 0
    ended = False

    def export(self, *args: Any, **kwargs: Any) -> Any:
        """Send one batch."""
        delivered = False
        try:
            result = super().export(*args, **kwargs)  # type: ignore[misc]  # the exporter's
            delivered = result.name == "SUCCESS"
            return result
        finally:
            self.failed += not delivered

    def shutdown(self, *args: Any, **kwargs: Any) -> None:
        """End, and wake a retry that waits."""
        if not self.ended:
            self.ended = True
            super().shutdown(*args, **kwargs)  # type: ignore[misc]  # the exporter's


class SpanExporter(_Counted, OTLPSpanExporter):
    """Sends spans."""


class MetricExporter(_Counted, OTLPMetricExporter):
    """Sends metrics."""


class LogExporter(_Counted, OTLPLogExporter):
    """Sends log records."""


def span_exporter(endpoint: str) -> SpanExporter:
    """Make the exporter of spans, with a session of its own."""
    return SpanExporter(endpoint, timeout=TIMEOUT_SECONDS, session=BoundedSession(endpoint))


def metric_exporter(endpoint: str) -> MetricExporter:
    """Make the exporter of metrics, with a session of its own."""
    return MetricExporter(endpoint, timeout=TIMEOUT_SECONDS, session=BoundedSession(endpoint))


def log_exporter(endpoint: str) -> LogExporter:
    """Make the exporter of log records, with a session of its own."""
    return LogExporter(endpoint, timeout=TIMEOUT_SECONDS, session=BoundedSession(endpoint))


class _Budget(threading.local):
    """What the request on this thread may still use."""

    deadline = 0.0
    active = False

    def left_seconds(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the request has passed")
        return left


_budget = _Budget()


class BoundedSession(requests.Session):
    """
    A session for one exporter: one deadline, a capped reply, no redirect, no secret in an error.

    Also: no cookies, no ``.netrc`` (its entry would replace the header that the user named), no
    proxy on the way to this machine, and fresh connections after a fork, since parent and child
    must not write to one socket.
    """

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self._shown = shown(endpoint)
        self._pid = os.getpid()
        self._mount_fresh()
        parsed = parsed_url(endpoint)
        self.trust_env = parsed is None or not loopback(parsed.host or "")
        user, password = get_auth_from_url(endpoint)
        self.auth = HTTPBasicAuth(user, password) if user or password else _keep_headers
        self.headers["Accept-Encoding"] = "identity"

    def _mount_fresh(self) -> None:
        for prefix in ("http://", "https://"):
            self.mount(prefix, BoundedAdapter(pool_connections=1, pool_maxsize=1))

    def request(self, method: str, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """Send; every error is a ``RequestException`` that names host and cause, nothing else."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._mount_fresh()
        _budget.active = True
        try:
            return super().request(method, url, *args, **kwargs)
        except Exception as exc:  # noqa: BLE001 -- any of them may quote a header or the URL
            raise _kind(exc)(f"{self._shown}: {_cause(exc)}") from None
        finally:
            _budget.active = False

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 -- declared so
        """Never follow, and never look where to."""
        return


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _kind(exc: Exception) -> type[requests.RequestException]:
    """Keep what the SDK tells apart: it retries connection errors and timeouts, nothing else."""
    if isinstance(exc, requests.Timeout):
        return requests.Timeout
    if isinstance(exc, requests.ConnectionError):
        return requests.ConnectionError
    return requests.RequestException


def _cause(exc: BaseException) -> str:
    if isinstance(exc, requests.TooManyRedirects):
        return str(exc)
    for _ in range(10):
        if (inner := exc.__cause__ or exc.__context__) is None:
            break
        exc = inner
    text = exc.strerror if isinstance(exc, OSError) else None
    return text if isinstance(text, str) else type(exc).__name__


class BoundedAdapter(HTTPAdapter):
    """Gives every request one deadline, and hands out replies without their body."""

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any
    ) -> None:
        """Use connections that keep the deadline."""
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **proxy_kwargs: Any) -> Any:
        """Use connections that keep the deadline, through an HTTP proxy too."""
        manager = super().proxy_manager_for(proxy, **proxy_kwargs)
        if type(manager) is urllib3.ProxyManager:  # a SOCKS manager brings its own connections
            manager.pool_classes_by_scheme = _POOLS
        return manager

    def close(self) -> None:
        """
        Close the connections too.

        ``urllib3`` leaves that to finalizers, which have all run by the time our exit hook does.
        """
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 -- this mapping refuses to iterate
                with contextlib.suppress(KeyError):
                    manager.pools[key].close()
        super().close()

    def send(  # noqa: PLR0917 -- as requests declares it
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 -- it is always read here, within bounds
        timeout: Any = None,  # the types of these four are private to requests
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Send; the reply's body is read within bounds and thrown away, nobody needs it."""
        given = timeout if isinstance(timeout, int | float) else TIMEOUT_SECONDS
        seconds = min(max(given, 0.001), TIMEOUT_SECONDS)
        _budget.deadline = time.monotonic() + seconds
        total: Any = urllib3.Timeout(total=seconds)  # documented, but not in the annotation
        response = super().send(request, True, total, verify, cert, proxies)
        _budget.deadline = min(_budget.deadline, time.monotonic() + DRAIN_SECONDS)
        response.raw.drain_conn()
        response.raw.close()
        response.raw = io.BytesIO()
        response.reason = _phrase(response.status_code)
        if 300 <= response.status_code < 400:  # the SDK would take it for a success
            raise requests.TooManyRedirects(
                f"answered {response.status_code}; redirects are not followed"
            )
        return response


def _phrase(status: int) -> str:
    """The standard phrase: the server's own would go into a log line."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


class _Reader(io.RawIOBase):
    """The bytes of one reply, as long as deadline and cap allow."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._left = MAX_REPLY_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        view = memoryview(buffer)[: self._left]
        if not view:
            return 0
        self._sock.settimeout(_budget.left_seconds())
        count = self._raw.readinto(view)
        self._left -= count or 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """``urllib3`` applies its timeout to each read alone: one byte a second would never end."""

    def __init__(
        self,
        sock: socket.socket,
        debuglevel: int = 0,
        method: str | None = None,
        url: str | None = None,
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        plain = self.fp
        bounded: Any = io.BufferedReader(_Reader(sock))  # annotated as a reader of sockets only
        self.fp = bounded
        plain.close()


class _HTTPConnection(HTTPConnection):
    response_class = _Response

    def send(self, data: Any) -> None:  # the union of types has changed between releases
        if self.sock is not None:
            self.sock.settimeout(_budget.left_seconds())
        super().send(data)


class _HTTPSConnection(HTTPSConnection):
    response_class = _Response

    def send(self, data: Any) -> None:  # the same
        if self.sock is not None:
            self.sock.settimeout(_budget.left_seconds())
        super().send(data)


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls: Any = _HTTPConnection  # the protocol it is annotated with fits none of its own


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls: Any = _HTTPSConnection


_POOLS = {"http": _HTTPPool, "https": _HTTPSPool}


class _WhileExporting(logging.Filter):
    """``urllib3`` logs the URL with its query; drop what it says on behalf of an exporter."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 -- as logging declares it
        return not _budget.active


_quiet = _WhileExporting()


def hush_http_loggers() -> None:
    """Keep what ``urllib3`` logs during an export out of the host's logs. Twice equals once."""
    for name in ("connection", "connectionpool", "util.retry"):
        logging.getLogger(f"urllib3.{name}").addFilter(_quiet)
