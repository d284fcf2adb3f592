"""Where faults of waypost's own, and of observers, end: counted, logged, contained."""

from __future__ import annotations

import logging
import time
from contextvars import ContextVar

from ..core._observation import Observer

_log = logging.getLogger("waypost")
_log.addHandler(logging.NullHandler())

_QUIET_SECONDS = 60.0

_mark: ContextVar[list[bool]] = ContextVar("waypost_telling")


class Telling:
    """
    A block in which observers, or the log, are told something.

    What they call in turn is not told to them again. The mark is taken off also in the contexts of
    tasks that they start meanwhile.
    """

    __slots__ = ("_marked", "_token")

    def __enter__(self) -> None:
        self._marked = [True]
        self._token = _mark.set(self._marked)

    def __exit__(self, *_: object) -> None:
        self._marked.clear()
        _mark.reset(self._token)


def told_already() -> bool:
    """Whether this runs inside of an observer, or of a handler of the log."""
    return bool(_mark.get(()))


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
        with Telling():
            self._tell(where, fault)

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
