"""Where telemetry goes: the URL of each signal, resolved as the SDK does, and checked."""

from __future__ import annotations

import ipaddress
import os
from typing import Final

from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_ENDPOINT
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from ._error import TelemetryError
from ._settings import ENDPOINT_VARIABLES

DEFAULT_ENDPOINT: Final = "http://localhost:4318"


def endpoint_of(signal: str, base: str | None, *, allow_insecure: bool) -> str:
    """
    Resolve the URL of one signal as the SDK does, and refuse one that is not safe.

    Args:
        signal: ``"traces"``, ``"metrics"`` or ``"logs"``.

        base: A base URL that wins over the environment, or ``None``.

        allow_insecure: Whether plain http may leave this machine.

    Raises:
        TelemetryError: If the URL is no http(s) URL, or plain http to another machine.
    """
    variable = ENDPOINT_VARIABLES[signal]
    if base is None and (own := os.environ.get(variable, "").strip()):
        url, source = own, variable
    else:
        source = "endpoint" if base is not None else OTEL_EXPORTER_OTLP_ENDPOINT
        root = os.environ.get(OTEL_EXPORTER_OTLP_ENDPOINT, "") if base is None else base
        url = f"{(root.strip() or DEFAULT_ENDPOINT).removesuffix('/')}/v1/{signal}"
    _check(url, source, allow_insecure=allow_insecure)
    return url


def _check(url: str, source: str, *, allow_insecure: bool) -> None:
    parsed = parsed_url(url)
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise TelemetryError(
            f"{source} is no http:// or https:// URL. Give a base URL such as {DEFAULT_ENDPOINT}."
        )
    if parsed.scheme == "http" and not (allow_insecure or loopback(parsed.host)):
        raise TelemetryError(
            f"{source} is {shown(url)}: plain http to another machine, so whoever is on the way"
            " could read the telemetry and its credentials. Use https, send to a collector on"
            " this machine, or pass allow_insecure=True to setup_telemetry."
        )


def parsed_url(url: str) -> Url | None:
    """Read *url* with the parser that will also send to it, so that both see the same host."""
    try:
        return parse_url(url)
    except LocationParseError:
        return None


def loopback(host: str) -> bool:
    """Whether *host* stays on this machine, going by its name alone."""
    bare = host.strip("[]").partition("%")[0].lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def shown(url: str) -> str:
    """Scheme, host and port of *url*: the part that holds no secrets."""
    parsed = parsed_url(url)
    if parsed is None:
        return "the endpoint"
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{parsed.host}{port}"
