"""What the environment says about telemetry, beside where it goes."""

from __future__ import annotations

import os
from typing import Final

from opentelemetry.environment_variables import (
    OTEL_LOGS_EXPORTER,
    OTEL_METRICS_EXPORTER,
    OTEL_TRACES_EXPORTER,
)
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED

_EXPORTER_VARIABLES: Final = {
    "traces": OTEL_TRACES_EXPORTER,
    "metrics": OTEL_METRICS_EXPORTER,
    "logs": OTEL_LOGS_EXPORTER,
}


def wanted_signals() -> tuple[str, ...]:
    """Return the signals that the environment has not turned off, one by one or all of them."""
    if _set_to(OTEL_SDK_DISABLED, "true"):
        return ()
    return tuple(
        name for name, variable in _EXPORTER_VARIABLES.items() if not _set_to(variable, "none")
    )


def _set_to(variable: str, value: str) -> bool:
    return os.environ.get(variable, "").strip().lower() == value
