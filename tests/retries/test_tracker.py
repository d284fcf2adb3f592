"""Calls followed through their retries: scopes, corrections, budgets, clocks."""

from __future__ import annotations

import asyncio
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from waypost import RetryAdvice, RetryOutcome
from waypost.core._guide import guide
from waypost.core._model import Failure
from waypost.core._recognize import recognize
from waypost.retries._chains import Facts
from waypost.retries._store import Change
from waypost.retries._tracker import Tracked, Tracker
from waypost.retries.memory import MemoryAttemptStore

T = TypeVar("T")

KEY = b"k" * 32


def _failure(code: str, message: str = "") -> Failure:
    failure = recognize({"status": "error", "error_code": code, "message": message})
    assert failure is not None
    return failure


WAIT = _failure("RATE_LIMITED")
FIX = _failure("INVALID_ARGUMENT")


@pytest.fixture
def tracker() -> Tracker:
    return Tracker(MemoryAttemptStore(), KEY)


def _begin(tracker: Tracker, arguments: object, *, scope: str = "run", now: float = 0.0) -> Tracked:
    return tracker.begin(scope, "orders", "search", arguments, now=now)


def _end(tracker: Tracker, call: Tracked, failure: Failure, **more: Any) -> Facts:
    return tracker.fail(call, failure, guide(failure), **{"now": 0.0, **more})


def _fail(tracker: Tracker, arguments: object, *, scope: str = "run", now: float = 0.0) -> int:
    call = _begin(tracker, arguments, scope=scope, now=now)
    _end(tracker, call, WAIT, now=now)
    return call.started.attempt


def test_same_call_is_the_next_attempt_of_one_chain(tracker: Tracker) -> None:
    calls = []
    for number in range(3):
        call = _begin(tracker, {"q": "a", "n": 1})
        _end(tracker, call, WAIT, trace_id=f"{number:032x}", span_id=f"{number:016x}")
        calls.append(call.started)
    assert [call.attempt for call in calls] == [1, 2, 3]
    assert [call.chain_id is None for call in calls] == [True, False, False]
    assert len({call.chain_id for call in calls[1:]}) == 1
    assert [call.retry_of and call.retry_of.span_id for call in calls] == [
        None,
        "0" * 16,
        f"{1:016x}",
    ]
    last = _begin(tracker, {"n": 1, "q": "a"}, now=9.0)
    assert tracker.succeed(last) == Facts(
        last.started.chain_id, RetryOutcome.RECOVERED, RetryAdvice.IGNORED
    )
    assert _fail(tracker, {"q": "a", "n": 1}) == 1


def test_scope_server_and_tool_part_chains(tracker: Tracker) -> None:
    for scope, server, tool in (
        ("run", "orders", "search"),
        ("other", "orders", "search"),
        ("run", None, "search"),
        ("run", "None", "search"),
        ("run", "orders", "find"),
    ):
        call = tracker.begin(scope, server, tool, {"q": "a"}, now=0.0)
        assert (call.started.attempt, call.started.retry_of) == (1, None)
        _end(tracker, call, FIX)


@pytest.mark.parametrize("arguments", [None, object(), {"q": object()}])
def test_call_like_no_other_is_always_a_first_attempt(tracker: Tracker, arguments: object) -> None:
    assert [_fail(tracker, arguments) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "corrected"),
        ({"a": 1, "b": 2}, {"a": 2, "b": 3}, "abandoned"),
        ({"a": 1}, {"a": 2}, "corrected"),
        ({"a": 1}, {"a": 2, "b": 1}, "abandoned"),
        ({}, {"a": 1}, "corrected"),
        ({}, {"a": 1, "b": 1}, "abandoned"),
        ({"a": 1}, [1], "abandoned"),
    ],
)
def test_correction_keeps_an_argument_or_has_one(
    tracker: Tracker, before: object, after: object, outcome: str
) -> None:
    _end(tracker, _begin(tracker, before), FIX)
    assert tracker.succeed(_begin(tracker, after)).outcome == outcome


def test_no_call_may_lie_between_a_failure_and_its_correction(tracker: Tracker) -> None:
    _end(tracker, _begin(tracker, {"a": 1}), FIX)
    between = _begin(tracker, {"a": 2})
    assert tracker.succeed(_begin(tracker, {"a": 3})).outcome is None
    assert tracker.succeed(between).outcome == "corrected"


def test_call_that_is_left_was_never_there(tracker: Tracker) -> None:
    _end(tracker, _begin(tracker, {"a": 1}), FIX)
    tracker.leave(_begin(tracker, {"a": 2}))
    tracker.leave(_begin(tracker, {"a": 1}))
    assert _begin(tracker, {"a": 1}).started.attempt == 2


def test_lifetime_ends_a_chain(tracker: Tracker) -> None:
    _fail(tracker, {"a": 1}, now=0.0)
    late = tracker.begin("run", "orders", "search", {"a": 1}, now=121.0, lifetime_seconds=120.0)
    assert late.started.attempt == 1


@pytest.mark.parametrize("step_seconds", [0.0, -50.0, 1.0])
def test_a33_budgets_hold_with_a_clock_that_stands_or_goes_back(
    tracker: Tracker, step_seconds: float
) -> None:
    """RELIABILITY A33."""
    facts = []
    for number in range(4):
        call = _begin(tracker, {"a": 1}, now=number * step_seconds)
        negative = guide(WAIT)._replace(delay=-5.0)
        facts.append(tracker.fail(call, WAIT, negative, now=number * step_seconds))
    waited = step_seconds == 1.0
    assert [fact.stop for fact in facts] == [
        None, "waited" if waited else None, "attempts", "attempts"
    ]  # fmt: skip
    assert [fact.storm for fact in facts] == [False, False, True, False]
    second, third = ("followed", "ignored") if waited else ("too_early", "too_early")
    assert [fact.advice for fact in facts] == [None, second, third, "ignored"]


def _obey(tracker: Tracker, scope: str, arguments: object) -> tuple[int, int]:
    """What a host does that repeats as long as it may: its attempts, and the storms it hears of."""
    attempts = storms = 0
    may_repeat = True
    while may_repeat:
        call = _begin(tracker, arguments, scope=scope)
        facts = _end(tracker, call, WAIT)
        attempts += 1
        storms += facts.storm
        may_repeat = facts.stop is None
    return attempts, storms


def test_a47_host_that_obeys_stops_whatever_the_server_says(tracker: Tracker) -> None:
    """RELIABILITY A47: <= 3 attempts a chain, <= 1.1 x + 3 calls over 10,000."""
    made = [_obey(tracker, "run", {"id": number}) for number in range(10_000)]
    assert max(attempts for attempts, _ in made) == 3
    assert max(storms for _, storms in made) == 1
    assert sum(attempts for attempts, _ in made) <= 1.1 * 10_000 + 3
    assert _obey(tracker, "another", {"id": 1}) == (3, 1)


def test_a31_attempts_are_exact_under_threads_with_loops_of_their_own(tracker: Tracker) -> None:
    """RELIABILITY A31: 8 threads, 64 tasks each, 200,000 calls."""
    rounds = 200_000 // (8 * 64)
    barrier = threading.Barrier(8)

    async def task(scope: str) -> list[int]:
        attempts = []
        for number in range(rounds):
            call = _begin(tracker, {"id": number // 4}, scope=scope)
            if number % 16 == 0:
                await asyncio.sleep(0)
            attempts.append(call.started.attempt)
            if number % 4 == 3:
                tracker.succeed(call)
            else:
                _end(tracker, call, WAIT)
        return attempts

    def thread(name: int) -> list[list[int]]:
        async def main() -> list[list[int]]:
            return await asyncio.gather(*(task(f"{name}/{number}") for number in range(64)))

        barrier.wait()
        return asyncio.run(main())

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as threads:
            seen = [attempts for part in threads.map(thread, range(8)) for attempts in part]
    finally:
        sys.setswitchinterval(before)
    assert seen == [[number % 4 + 1 for number in range(rounds)]] * 512


def test_a16_full_store_stays_below_eight_megabytes(tracker: Tracker) -> None:
    """RELIABILITY A16: 4,096 chains, each in a run of its own and with many arguments."""
    arguments = {f"argument-{number}": number for number in range(32)}
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(5_000):
            call = tracker.begin(f"run-{number}", "orders", "search", arguments, now=float(number))
            tracker.fail(
                call,
                FIX,
                guide(FIX)._replace(delay=number / 7),
                now=number / 3,
                trace_id=f"{number:032x}",
                span_id=f"{number:016x}",
            )
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before <= 8_000_000


class Noting(MemoryAttemptStore):
    """Notes the keys of chains that it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[bytes | None] = []

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        self.keys.append(chain_key)
        return super().update(chain_key, trail_key, change)


@pytest.mark.parametrize(
    "arguments",
    [
        {"ids": list(range(65))},
        {"filter": {"of": {"page": 1}}},
        {"ids": (1, 2)},
        {str(number): number for number in range(65)},
    ],
)
def test_arguments_that_cannot_be_copied_are_compared_at_once(arguments: object) -> None:
    """Our promise: what a host does with them during the call changes nothing."""
    store = Noting()
    tracker = Tracker(store, KEY)
    assert _fail(tracker, arguments) == 1
    assert None not in store.keys[1:]
    assert _fail(tracker, arguments) == 2
