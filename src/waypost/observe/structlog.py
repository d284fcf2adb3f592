"""One structlog event a failure; through plain logging where structlog is not configured."""

from __future__ import annotations

import structlog

from ..core._clean import Limits
from ..core._observation import Observation
from ._names import log_facts_of
from .stdlib import LoggingObserver, events_of

__all__ = ["StructlogObserver"]


class StructlogObserver:
    """
    Emits the event ``waypost.error`` for each failed call, with the ids of its trace.

    A call that makes a failure good is the event ``waypost.recovered``, and a budget of repeats
    that is spent is ``waypost.storm``, once.

    structlog's unconfigured default prints to standard output, which breaks MCP servers over stdio:
    until the host has configured it, events go to ``logging.getLogger("waypost")``.

    .. versionadded:: 0.1.0
    """

    def __init__(self, *, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._plain = LoggingObserver(limits=self._limits)
        self._logger: structlog.typing.FilteringBoundLogger = structlog.get_logger("waypost")

    def idle(self) -> bool:
        """Whether neither structlog nor logging has been set up by anybody."""
        return not structlog.is_configured() and self._plain.idle()

    def __call__(self, observation: Observation) -> None:
        events = events_of(observation)
        if not events:
            return
        if not structlog.is_configured():
            self._plain(observation)
            return
        for event, level in events:
            # By name: not every wrapper class that a host configures has log(level, event).
            getattr(self._logger, level)(event, **log_facts_of(observation, self._limits))
