"""From what was said about rows to figures; a figure without anything to divide by is ``None``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Said(NamedTuple):
    """
    What a contestant said about one row.

    Attributes:
        acts: It named a next action.

        as_written: What it says of the code as its owner wrote it, without our reading.
    """

    retryable: bool
    acts: bool = False
    as_written: bool = False


NO = Said(retryable=False)
"""The cheapest answer to everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """
    How often a contestant was right about *retryable*.

    Attributes:
        hits: Retryable, and called that.

        false_alarms: Called retryable, and not.

        misses: Retryable, and not called that.

        passes: Not retryable, and not called that.

        acts: Rows with a next action.
    """

    hits: int
    false_alarms: int
    misses: int
    passes: int
    acts: int = 0

    @property
    def rows(self) -> int:
        return self.hits + self.false_alarms + self.misses + self.passes

    @property
    def retryable(self) -> int:
        return self.hits + self.misses

    @property
    def accuracy(self) -> float | None:
        """The share of rows that it was right about."""
        return _share(self.hits + self.passes, self.rows)

    @property
    def precision(self) -> float | None:
        """Of what it called retryable, the share that is."""
        return _share(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> float | None:
        """Of what is retryable, the share that it called that."""
        return _share(self.hits, self.retryable)

    @property
    def balanced(self) -> float | None:
        """The mean of the shares of retryable and of other rows that it was right about."""
        others = _share(self.passes, self.passes + self.false_alarms)
        return None if self.recall is None or others is None else (self.recall + others) / 2

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)


def score_of(pairs: Iterable[tuple[bool, Said]]) -> Score:
    """Count what was *said* of rows that are retryable or not."""
    counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
    acts = 0
    for retryable, said in pairs:
        counts[retryable, said.retryable] += 1
        acts += said.acts
    return Score(
        hits=counts[True, True],
        false_alarms=counts[False, True],
        misses=counts[True, False],
        passes=counts[False, False],
        acts=acts,
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
