"""What the environment says about telemetry, beside where it goes."""

from __future__ import annotations

import os
from typing import Final

from opentelemetry.environment_variables import (
    OTEL_LOGS_EXPORTER,
    OTEL_METRICS_EXPORTER,
    OTEL_TRACES_EXPORTER,
)
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    OTEL_SDK_DISABLED,
)

_EXPORTER_VARIABLES: Final = {
    "traces": OTEL_TRACES_EXPORTER,
    "metrics": OTEL_METRICS_EXPORTER,
    "logs": OTEL_LOGS_EXPORTER,
}


ENDPOINT_VARIABLES: Final = {
    "traces": OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    "metrics": OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    "logs": OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
}


def named_endpoint(signal: str) -> bool:
    """Whether the environment says where *signal* goes."""
    variables = (OTEL_EXPORTER_OTLP_ENDPOINT, ENDPOINT_VARIABLES[signal])
    return any(os.environ.get(variable, "").strip() for variable in variables)


def sdk_disabled() -> bool:
    """Whether the environment turns OpenTelemetry's SDK off."""
    return _set_to(OTEL_SDK_DISABLED, "true")


def wanted_signals() -> tuple[str, ...]:
    """Return the signals that the environment has not turned off, one by one or all of them."""
    if sdk_disabled():
        return ()
    return tuple(
        name for name, variable in _EXPORTER_VARIABLES.items() if not _set_to(variable, "none")
    )


def _set_to(variable: str, value: str) -> bool:
    return os.environ.get(variable, "").strip().lower() == value
