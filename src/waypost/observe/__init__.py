"""Instrumentation: what observers make of a call. They tell; they never decide."""

from __future__ import annotations

from typing import Literal

from ..core._clean import Limits
from ..core._observation import Observer

__all__ = ["default_observers"]


def default_observers(
    *, span: Literal["auto", "current", "own", "off"] = "auto", limits: Limits | None = None
) -> tuple[Observer, ...]:
    """
    Return the usual observers: OpenTelemetry for spans and metrics, structlog for events.

    Args:
        span: On the host side, ``"auto"`` joins the tool's own span or opens one, ``"current"``
            adds to whatever span is current, ``"own"`` always opens one, ``"off"`` touches none.

        limits: Bounds of what is exported.

    .. versionadded:: 0.1.0
    """
    from .otel import OpenTelemetryObserver  # noqa: PLC0415 -- one optional library, loaded when used
    from .structlog import StructlogObserver  # noqa: PLC0415 -- the same

    return (OpenTelemetryObserver(span=span, limits=limits), StructlogObserver(limits=limits))
