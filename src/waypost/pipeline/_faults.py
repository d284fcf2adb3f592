"""Where faults of waypost's own, and of observers, end: counted, logged, contained."""

from __future__ import annotations

import logging
import time
from contextvars import ContextVar

from ..core._observation import Observer

_log = logging.getLogger("waypost")
_log.addHandler(logging.NullHandler())

_QUIET_SECONDS = 60.0

telling: ContextVar[bool] = ContextVar("waypost_telling", default=False)
"""Set while observers, and the log, are told: what they call in turn is not told to them again."""


class Faults:
    """
    Takes the faults of one enricher.

    Args:
        observers: Told through their ``fault``, where they have one.

        strict: Raise instead; for tests.
    """

    def __init__(self, observers: tuple[Observer, ...], *, strict: bool) -> None:
        self._observers = observers
        self._strict = strict
        self._told_at = -_QUIET_SECONDS

    def take(self, where: str, fault: Exception) -> None:
        """Count and log *fault*: its class only, since its text may hold what the tool said."""
        if self._strict:
            raise fault
        token = telling.set(True)
        try:
            self._tell(where, fault)
        finally:
            telling.reset(token)

    def _tell(self, where: str, fault: Exception) -> None:
        for observer in self._observers:
            try:
                if (count := getattr(observer, "fault", None)) is not None:
                    count(where)
            except Exception:  # noqa: BLE001, S112 -- the observer that counts faults is faulty
                continue
        try:
            now = time.monotonic()
            if now - self._told_at >= _QUIET_SECONDS:
                self._told_at = now
                _log.error(
                    "waypost: %s raised %s; the result is unaffected.", where, type(fault).__name__
                )
        except Exception:  # noqa: BLE001, S110 -- a logging handler that raises
            pass
