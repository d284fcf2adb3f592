"""RELIABILITY A16 (its state part), A28 and A31, through the Enricher."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.observe.recording import Spans
from waypost import Enricher, MemoryAttemptStore, Observation
from waypost.observe.memory import MemoryObserver

BUSY = {"ok": False, "error": "rate_limited", "message": "Slow down."}
OK = {"ok": True}
CALLS = 50_000


def test_a16_state_stays_as_large_as_it_is() -> None:
    """
    Half the calls are of new runs, codes and tools; the last half adds at most 0.01 blocks a call.

    What is kept of words is dropped as a whole now and then, so lows are compared with lows.
    """
    store = MemoryAttemptStore()
    enricher = Enricher((lambda _: None,), attempts=store)
    blocks = []
    for number in range(CALLS):
        new = number if number % 2 else number % 64
        failure = {"ok": False, "error": f"code_{new}", "message": f"word{new} {number}"}
        with (
            enricher.run(f"run-{new}"),
            enricher.call(f"tool-{new}", arguments={"id": new}) as call,
        ):
            call.enrich(failure if number % 3 else OK)
        if number % 250 == 0:
            gc.collect(0)
            blocks.append(sys.getallocatedblocks())
    half = len(blocks) // 2
    third, last = blocks[half : half + half // 2], blocks[half + half // 2 :]
    assert (min(last) - min(third)) / (CALLS / 4) <= 0.01
    assert len(store) <= 4_096


def call_in(enricher: Enricher, name: int) -> None:
    with enricher.run(f"run-{name}"), enricher.call("search", arguments={"id": name}) as call:
        call.enrich(BUSY)


def status_of_child(seen: MemoryObserver, enricher: Enricher) -> int:
    """0 if the attempts of the parent are forgotten, and those of the child are counted."""
    for _ in range(2):
        call_in(enricher, 0)
    attempts = [observation.attempt for observation in seen.observations[-2:]]
    return 0 if [attempt and attempt.number for attempt in attempts] == [1, 2] else 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a28_forked_children_begin_with_nothing_and_never_hang() -> None:
    """200 forks while 8 threads make calls: 0 hung children, their state empty."""
    seen = MemoryObserver(capacity=10)
    enricher = Enricher((seen,))
    stop = threading.Event()

    def work(name: int) -> None:
        while not stop.is_set():
            call_in(enricher, name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    try:
        statuses = []
        for _ in range(200):
            pid = os.fork()
            if pid == 0:
                status = 2
                try:
                    status = status_of_child(seen, enricher)
                finally:
                    os._exit(status)
            statuses.append(os.waitpid(pid, 0)[1])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 200


def test_a31_attempts_are_exact_under_threads_with_loops_of_their_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """8 threads, a loop each, 64 tasks each, 200,000 calls: no cross-talk, nothing detached."""
    rounds = 200_000 // (8 * 64)
    spans = Spans()
    seen: dict[str, list[int]] = {}

    def note(observation: Observation) -> None:
        assert observation.attempt is not None
        assert observation.tool_name is not None
        seen.setdefault(observation.tool_name, []).append(observation.attempt.number)

    quiet, traced = Enricher((note,)), Enricher((spans.observer(), note))
    barrier = threading.Barrier(8)

    async def task(name: str, enricher: Enricher) -> None:
        with enricher.run(name):
            for number in range(rounds):
                # The tool is named after the task, so that what is mixed would show.
                with enricher.call(name, arguments={"id": number // 4}) as call:
                    if number % 16 == 0:
                        await asyncio.sleep(0)
                    call.enrich(OK if number % 4 == 3 else BUSY)

    def thread(name: int) -> None:
        async def main() -> None:
            names = (f"{name}/{number}" for number in range(64))
            await asyncio.gather(
                *(task(one, quiet if at else traced) for at, one in enumerate(names))
            )

        barrier.wait()
        asyncio.run(main())

    with caplog.at_level(logging.DEBUG), ThreadPoolExecutor(8) as threads:
        list(threads.map(thread, range(8)))
    expected = [number % 4 + 1 for number in range(rounds)]
    assert len(seen) == 512
    assert [name for name, numbers in seen.items() if numbers != expected] == []
    assert [record for record in caplog.records if "detach" in record.getMessage()] == []
    assert len(spans.all) == 8 * rounds
