"""The latest observations in memory, for tests and summaries."""

from __future__ import annotations

from collections import deque

from ..core._model import OptionError
from ..core._observation import Observation

__all__ = ["MemoryObserver"]


class MemoryObserver:
    """
    Keeps the latest observations, oldest first.

    Args:
        capacity: How many are kept; older ones are dropped.

    .. versionadded:: 0.1.0
    """

    def __init__(self, capacity: int = 1_000) -> None:
        if type(capacity) is not int or capacity < 1:
            raise OptionError(
                f"MemoryObserver(capacity={capacity!r}): use an integer of 1 or more."
            )
        self._observations: deque[Observation] = deque(maxlen=capacity)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """A copy of what is kept."""
        return tuple(self._observations)

    def __call__(self, observation: Observation) -> None:
        self._observations.append(observation)
