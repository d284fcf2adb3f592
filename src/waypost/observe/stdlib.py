"""One log record per failure through plain ``logging``."""

from __future__ import annotations

import logging

from ..core._clean import Limits
from ..core._model import ErrorClass
from ..core._observation import Observation
from ._names import ERROR_EVENT, OTHER, log_facts_of

__all__ = ["LoggingObserver"]

_logger = logging.getLogger("waypost")
_NEEDS_INPUT = ErrorClass.NEEDS_INPUT  # a look-up in an enumeration costs 100 ns


class LoggingObserver:
    """
    Reports failures to ``logging.getLogger("waypost")``; the facts are attributes of the record.

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
        guidance = observation.guidance
        if guidance is None or self.idle():
            return
        level = level_of(observation)
        _logger.log(
            level,
            "%s: %s failed: %s, retryable: %s, next step: %s",
            ERROR_EVENT,
            observation.tool_name or OTHER,
            guidance.error_class.value,
            str(guidance.retryable).lower(),
            guidance.next_step.value,
            extra=log_facts_of(observation, self._limits),
        )


def level_of(observation: Observation) -> int:
    """A question to the user is information, any other failure a warning."""
    guidance = observation.guidance
    asks = guidance is not None and guidance.error_class is _NEEDS_INPUT
    return logging.INFO if asks else logging.WARNING
