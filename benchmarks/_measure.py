"""Ratios of two costs, measured in turns so that a noisy machine disturbs both alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

ROUNDS = 15
ROUND_SECONDS = 0.02
WARM_UPS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """
    A question of cost.

    Attributes:
        question: What is compared with what.

        bound: The ratio that must not be passed, from the issue or the reliability page.

        subject: Does waypost's part once.

        floor: Does once what waypost is compared with.

        prepare: Called before, for what must not be there while other questions are measured.
    """

    question: str
    bound: float
    subject: Callable[[], object]
    floor: Callable[[], object]
    prepare: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """
    A question about a whole program, which cannot be asked in turns.

    Attributes:
        run: Measures both once.
    """

    question: str
    bound: float
    run: Callable[[], Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The ratio, and what it was made of: of rounds the medians, in nanoseconds."""

    ratio: float
    subject: float
    floor: float
    unit: str = "ns"

    @classmethod
    def per_line(cls, subject_seconds: float, floor_seconds: float, lines: int) -> Self:
        """What one of *lines* cost."""
        return cls(
            ratio=subject_seconds / floor_seconds,
            subject=subject_seconds / lines * 1e9,
            floor=floor_seconds / lines * 1e9,
        )


def measure(question: Ratio | Whole) -> Measured:
    """Take turns between the two for 15 rounds; thread CPU time, garbage collection off."""
    if isinstance(question, Whole):
        return question.run()
    if question.prepare is not None:
        question.prepare()
    subject_loops = _loops(question.subject)
    floor_loops = _loops(question.floor)
    pairs: list[tuple[float, float]] = []
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            gc.collect()
            # The collection leaves cold caches behind, which must not count for the first alone.
            _once(question.subject, WARM_UPS)
            _once(question.floor, WARM_UPS)
            pairs.append(
                (_once(question.subject, subject_loops), _once(question.floor, floor_loops))
            )
    finally:
        if enabled:
            gc.enable()
    return Measured(
        ratio=statistics.median(subject / floor for subject, floor in pairs),
        subject=statistics.median(subject for subject, _ in pairs),
        floor=statistics.median(floor for _, floor in pairs),
    )


def _loops(function: Callable[[], object]) -> int:
    """So many calls that a round takes about 20 ms."""
    _once(function, WARM_UPS)
    loops = 1
    while (spent := _once(function, loops) * loops) < ROUND_SECONDS * 1e9 / 4:
        loops *= 2
    return max(1, round(loops * ROUND_SECONDS * 1e9 / spent))


def _once(function: Callable[[], object], loops: int) -> float:
    """Nanoseconds for one call."""
    turns = range(loops)
    started = time.thread_time_ns()
    for _ in turns:
        function()
    return (time.thread_time_ns() - started) / loops
