"""Does the receiver of telemetry answer? Needs ``waypost[otlp]``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import requests
from opentelemetry.sdk.metrics.export import MetricsData

from . import _gate
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
from ._settings import wanted_signals


class Answer(NamedTuple):
    """
    What came of an empty export of one signal.

    Attributes:
        endpoint: Scheme, host and port; "" if the settings name no endpoint that may be used.

        trouble: Why it was not accepted, or ``None`` if it was.
    """

    signal: str
    endpoint: str
    trouble: str | None


def probe(*, allow_insecure: bool = False) -> Iterator[Answer]:
    """
    Send an empty export of each signal that is turned on to where `setup_telemetry` would send it.

    Headers, certificates and compression are those of the environment. One try and five seconds
    for each signal.

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
            yield Answer(signal, "", str(exc))
            continue
        yield Answer(signal, shown(url), _trouble(signal, url))


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
