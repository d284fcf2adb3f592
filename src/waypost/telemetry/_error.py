"""The one exception of this room, in a file of its own so that every file here can raise it."""

from __future__ import annotations

from ..core._model import WaypostError


class TelemetryError(WaypostError, ValueError):
    """
    Telemetry cannot be set up as asked.

    Raised by ``setup_telemetry`` only, never later. The message names the value and the way out;
    user names, passwords, paths, queries and headers of an endpoint are never in it.

    .. versionadded:: 0.1.0
    """
