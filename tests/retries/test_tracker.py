"""Calls followed through their retries: scopes, corrections, budgets, clocks."""

from __future__ import annotations

import asyncio
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import waypost
from waypost import Guidance
from waypost.retries._chains import Advice, Facts, RetryOutcome
from waypost.retries._tracker import Tracked, Tracker
from waypost.retries.memory import MemoryAttemptStore

KEY = b"k" * 32


def _guidance(code: str) -> Guidance:
    guidance = waypost.guidance_of({"status": "error", "error_code": code, "message": ""})
    assert guidance is not None
    return guidance


WAIT = _guidance("RATE_LIMITED")
FIX = _guidance("INVALID_ARGUMENT")


@pytest.fixture
def tracker() -> Tracker:
    return Tracker(MemoryAttemptStore(), KEY)


def _begin(tracker: Tracker, arguments: object, *, scope: str = "run", now: float = 0.0) -> Tracked:
    return tracker.begin(scope, "orders", "search", arguments, now=now)


def _fail(tracker: Tracker, arguments: object, *, scope: str = "run", now: float = 0.0) -> int:
    call = _begin(tracker, arguments, scope=scope, now=now)
    tracker.fail(call, WAIT, now=now)
    return call.started.attempt


def test_same_call_is_the_next_attempt_of_one_chain(tracker: Tracker) -> None:
    calls = []
    for number in range(3):
        call = _begin(tracker, {"q": "a", "n": 1})
        tracker.fail(call, WAIT, now=0.0, trace_id=f"{number:032x}", span_id=f"{number:016x}")
        calls.append(call.started)
    assert [call.attempt for call in calls] == [1, 2, 3]
    assert len({call.chain_id for call in calls}) == 1
    assert [call.retry_of and call.retry_of.span_id for call in calls] == [
        None,
        "0" * 16,
        f"{1:016x}",
    ]
    last = _begin(tracker, {"n": 1, "q": "a"}, now=9.0)
    assert tracker.succeed(last) == Facts(RetryOutcome.RECOVERED, Advice.FOLLOWED)
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
        tracker.fail(call, FIX, now=0.0)


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
        ({}, {"a": 1}, "abandoned"),
        ({"a": 1}, [1], "abandoned"),
    ],
)
def test_correction_keeps_an_argument_or_has_one(
    tracker: Tracker, before: object, after: object, outcome: str
) -> None:
    tracker.fail(_begin(tracker, before), FIX, now=0.0)
    assert tracker.succeed(_begin(tracker, after)).outcome == outcome


def test_no_call_may_lie_between_a_failure_and_its_correction(tracker: Tracker) -> None:
    tracker.fail(_begin(tracker, {"a": 1}), FIX, now=0.0)
    between = _begin(tracker, {"a": 2})
    assert tracker.succeed(_begin(tracker, {"a": 3})).outcome is None
    assert tracker.succeed(between).outcome == "corrected"


def test_call_that_is_left_was_never_there(tracker: Tracker) -> None:
    tracker.fail(_begin(tracker, {"a": 1}), FIX, now=0.0)
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
        negative = replace(WAIT, retry_after_seconds=-5.0)
        facts.append(tracker.fail(call, negative, now=number * step_seconds))
    assert [fact.exhausted for fact in facts] == [False, False, True, True]
    assert [fact.storm for fact in facts] == [False, False, True, False]
    assert {fact.advice for fact in facts[1:]} == {"followed"}


def _obey(tracker: Tracker, scope: str, arguments: object) -> tuple[int, int]:
    """What a host does that repeats as long as it may: its attempts, and the storms it hears of."""
    attempts = storms = 0
    may_repeat = True
    while may_repeat:
        call = _begin(tracker, arguments, scope=scope)
        facts = tracker.fail(call, WAIT, now=0.0)
        attempts += 1
        storms += facts.storm
        may_repeat = WAIT.may_repeat and not facts.exhausted
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
                tracker.fail(call, WAIT, now=0.0)
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
                replace(FIX, retry_after_seconds=number / 7),
                now=number / 3,
                trace_id=f"{number:032x}",
                span_id=f"{number:016x}",
            )
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before <= 8_000_000
