"""One log record per failure through plain ``logging``."""

from __future__ import annotations

import logging
from typing import Literal

from ..core._clean import Limits
from ..core._model import ErrorClass
from ..core._observation import Observation
from ._names import (
    ERROR_EVENT,
    OTHER,
    RECOVERED_EVENT,
    STORM_EVENT,
    log_facts_of,
    well_ended,
)

__all__ = ["LoggingObserver"]

_logger = logging.getLogger("waypost")
_NEEDS_INPUT = ErrorClass.NEEDS_INPUT  # a look-up in an enumeration costs 100 ns


class LoggingObserver:
    """
    Reports failures, and what became of them, to ``logging.getLogger("waypost")``.

    The facts are attributes of the record.

    A program that has not configured logging sees nothing.

    .. versionadded:: 0.1.0
    """

    def __init__(self, *, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def idle(self) -> bool:
        """Whether nobody but a ``NullHandler`` listens: a record for nobody costs a record."""
        logger: logging.Logger | None = _logger
        while logger is not None:
            for handler in logger.handlers:
                if type(handler) is not logging.NullHandler:
                    return False
            logger = logger.parent if logger.propagate else None
        return True

    def __call__(self, observation: Observation) -> None:
        events = events_of(observation)
        if not events or self.idle():
            return
        said = _said(observation)
        for event, level in events:
            extra = log_facts_of(observation, self._limits)
            _logger.log(_LEVELS[level], "%s: %s", event, said, extra=extra)


def _said(observation: Observation) -> str:
    """The facts in short, for logs that show no more than the message."""
    tool, guidance, attempt = observation.tool_name or OTHER, observation.guidance, ""
    if observation.attempt is not None and observation.attempt.number > 1:
        attempt = f" at attempt {observation.attempt.number}"
    if guidance is None:
        return f"{tool} worked after a failure{attempt}"
    return (
        f"{tool} failed{attempt}: {guidance.error_class.value},"
        f" retryable: {str(guidance.retryable).lower()}, next step: {guidance.next_step.value}"
    )


def events_of(observation: Observation) -> tuple[tuple[str, Level], ...]:
    """
    Return the events that an observation is, each with the name of its level.

    A question to the user is information, any other failure a warning; a budget that is spent is an
    error, told once.
    """
    guidance, attempt = observation.guidance, observation.attempt
    if guidance is None:
        return _RECOVERED if well_ended(observation) else ()
    events = _ASKS if guidance.error_class is _NEEDS_INPUT else _FAILED
    return (*events, _STORM) if attempt is not None and attempt.storm else events


Level = Literal["info", "warning", "error"]
_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_Events = tuple[tuple[str, Level], ...]

_RECOVERED: _Events = ((RECOVERED_EVENT, "info"),)
_ASKS: _Events = ((ERROR_EVENT, "info"),)
_FAILED: _Events = ((ERROR_EVENT, "warning"),)
_STORM: tuple[str, Level] = (STORM_EVENT, "error")
