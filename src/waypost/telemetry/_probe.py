"""Does the receiver of telemetry answer? Needs ``waypost[otlp]``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import requests
from opentelemetry.sdk.metrics.export import MetricsData

from . import _build, _gate, _Options
from ._endpoint import endpoint_of, shown
from ._error import TelemetryError
from ._export import (
    TIMEOUT_SECONDS,
    BoundedSession,
    LogExporter,
    MetricExporter,
    SpanExporter,
    hush_http_loggers,
)
from ._settings import named_endpoint, wanted_signals


class Answer(NamedTuple):
    """
    What came of an empty export of one signal.

    Attributes:
        endpoint: Scheme, host and port; "" if the settings name no endpoint that may be used.

        trouble: Why it was not accepted, or ``None`` if it was.

        named: Whether the environment says where the signal goes.
    """

    signal: str
    endpoint: str
    trouble: str | None
    named: bool


def setup_trouble() -> str | None:
    """Why `setup_telemetry` would refuse the environment, wherever telemetry goes; or ``None``."""
    options = _Options(
        service_name="waypost-doctor",
        service_version=None,
        endpoint=None,
        allow_insecure=False,
        otlp=False,
        span_processors=(),
        metric_readers=(),
        log_processors=(),
    )
    try:
        _build(options).shutdown()
    except TelemetryError as exc:
        return str(exc)
    return None


def probe(*, allow_insecure: bool = False) -> Iterator[Answer]:
    """
    Send an empty export of each signal that is turned on to where `setup_telemetry` would send it.

    Headers, certificates and compression are those of the environment. One try for each signal,
    and five seconds once the name of the host is resolved.

    Args:
        allow_insecure: Whether plain http may leave this machine, as for `setup_telemetry`.
    """
    _gate.hide_headers()
    hush_http_loggers()
    # What the exporter logs about the one try stands in the answer.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    for signal in wanted_signals():
        try:
            url = endpoint_of(signal, None, allow_insecure=allow_insecure)
        except TelemetryError as exc:
            yield Answer(signal, "", str(exc), named_endpoint(signal))
            continue
        trouble = _in_settings(signal) or _trouble(signal, url)
        yield Answer(signal, shown(url), trouble, named_endpoint(signal))


def _in_settings(signal: str) -> str | None:
    """What the SDK would pass over in silence, or tell with a cause that says nothing."""
    for name in ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"):
        variable, path = _setting(signal, name)
        if path and not Path(path).is_file():
            return f"{variable} names {path}, which is no file"
    variable, headers = _setting(signal, "HEADERS")
    if any(header.strip() and "=" not in header for header in headers.split(",")):
        return f"{variable} has an entry without '=', which is left out"
    return None


def _setting(signal: str, name: str) -> tuple[str, str]:
    """The variable that counts for *signal*, and its value."""
    own = f"OTEL_EXPORTER_OTLP_{signal.upper()}_{name}"
    variable = own if os.environ.get(own, "").strip() else f"OTEL_EXPORTER_OTLP_{name}"
    return variable, os.environ.get(variable, "").strip()


def _trouble(signal: str, url: str) -> str | None:
    session = _OneTry(url)
    options: dict[str, Any] = {"timeout": TIMEOUT_SECONDS, "session": session}
    if signal == "traces":
        SpanExporter(url, **options).export(())
    elif signal == "metrics":
        MetricExporter(url, **options).export(MetricsData(resource_metrics=()))
    else:
        LogExporter(url, **options).export(())
    return session.trouble


class _OneTry(BoundedSession):
    """Keeps what went wrong, and raises what the exporter does not try again."""

    trouble: str | None = "nothing was sent"

    def request(self, method: str, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        try:
            response = super().request(method, url, *args, **kwargs)
            if not response.ok:
                raise requests.HTTPError(f"it answered {response.status_code} {response.reason}")
        except requests.RequestException as exc:
            self.trouble = str(exc).removeprefix(f"{self._shown}: ")
            raise requests.RequestException(self.trouble) from None
        self.trouble = None
        return response
