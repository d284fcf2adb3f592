"""Keeps a broken exporter from filling the host's logs."""

from __future__ import annotations

import logging
import time
from typing import Final

from ..core._clean import clean_text

INTERVAL_SECONDS: Final = 60.0
_MAX_CHARS: Final = 500


class Gate(logging.Filter):
    """
    Lets one warning or error a minute through for all export loggers together, and one at the end.

    Without it a refused connection prints a line per batch and retry, and the SDK's
    ``logger.exception`` a page of traceback, through ``logging.lastResort``, in a host that never
    configured logging. What passes is one clean line that says where to and how many were held
    back. Nothing below ``WARNING`` is touched.
    """

    def __init__(self, destinations: str) -> None:
        """Take *destinations* as they may be shown, for instance ``http://localhost:4318``."""
        super().__init__()
        self._destinations = destinations
        self._next = 0.0
        self._held_back = 0
        self._closing = False
        self.closed = False

    def begin_closing(self) -> None:
        """Let one more error through, whenever the last one was."""
        if not self._closing:
            self._closing = True
            self._next = 0.0

    def close(self) -> None:
        """
        Let nothing through any more.

        Also for the interpreter's sake: a daemon thread that still prints while it finalizes can
        abort the process over the lock of stderr.
        """
        self.closed = True

    def filter(self, record: logging.LogRecord) -> bool:
        """Decide, and make the record one clean line."""
        if record.levelno < logging.WARNING:
            return True
        now = time.monotonic()
        if self.closed or now < self._next or (self._closing and record.levelno < logging.ERROR):
            self._held_back += 1
            return False
        self._next = float("inf") if self._closing else now + INTERVAL_SECONDS
        record.msg = self._line(record)
        record.args = None
        record.exc_info = record.exc_text = record.stack_info = None
        return True

    def _line(self, record: logging.LogRecord) -> str:
        text = clean_text(record.getMessage(), _MAX_CHARS)
        if record.exc_info and record.exc_info[0] is not None:
            text += f" ({record.exc_info[0].__name__})"
        if self._destinations not in text:
            text += f" (to {self._destinations})"
        if self._held_back:
            text += f" (+{self._held_back} held back)"
            self._held_back = 0
        return text


class _HideHeader(logging.Filter):
    """The SDK quotes a header that it cannot parse, value and all."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.args:
            record.args = ("(not shown)",)
        return True


_hide_header = _HideHeader()


def install(gate: Gate) -> None:
    """
    Put *gate* on the loggers of the export path, and nothing on any other.

    A filter of a parent logger is not asked about its children's records, so each one gets it.
    """
    for name in list(logging.Logger.manager.loggerDict):
        if _on_export_path(name):
            logging.getLogger(name).addFilter(gate)


def hide_headers() -> None:
    """Keep header values out of the SDK's complaints. Twice equals once."""
    logging.getLogger("opentelemetry.util.re").addFilter(_hide_header)


def _on_export_path(name: str) -> bool:
    if name.startswith("opentelemetry.exporter.") or name == "opentelemetry.attributes":
        return True  # the latter says of each long stack trace that it was cut
    return name.startswith("opentelemetry.sdk.") and ("export" in name or "shared" in name)
