"""Blocks inside blocks, in other contexts, tasks, threads and processes."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.programs import run
from tests.watching import BUSY_ADVICE, Watcher, busy
from waypost import Enricher
from waypost.observe.otel import OpenTelemetryObserver

ENRICHED = {**busy(), **BUSY_ADVICE}


@pytest.mark.parametrize(
    ("outer", "inner"),
    [(None, None), ("shop", "shop"), ("shop", None), (None, "shop")],
    ids=repr,
)
def test_inner_layer_of_the_same_call_is_passive(outer: str | None, inner: str | None) -> None:
    """DESIGN section 4, nested layers: the outermost owns the call."""
    watcher, other = Watcher(), Watcher()
    result = busy()
    with Enricher((watcher,)).call("search", server=outer) as owner:
        with Enricher((other,)).call("search", server=inner) as passive:
            assert passive.enrich(result) is result
        assert owner.enrich(result) == ENRICHED
    assert (passive.guidance, passive.payload, passive.trace_id) == (None, None, None)
    assert (watcher.endings, other.starts, other.seen) == ([("search", "failure")], [], [])


def test_exception_passes_an_inner_layer_and_is_seen_by_the_outer_one() -> None:
    """DESIGN section 4, nested layers: one call is observed once, also when it raises."""
    watcher, own = Watcher(), KeyError()
    enricher = Enricher((watcher,))
    with (
        pytest.raises(KeyError) as caught,
        enricher.call("search"),
        enricher.call("search") as passive,
    ):
        raise own
    assert caught.value is own
    assert passive.guidance is None
    assert watcher.endings == [("search", "raised")]


@pytest.mark.parametrize(
    ("side", "tool", "server"),
    [("host", "fetch", "shop"), ("server", "search", "shop"), ("host", "search", "bank")],
)
def test_other_tool_side_or_server_is_a_call_of_its_own(side: Any, tool: str, server: str) -> None:
    """DESIGN section 4, nested layers: only a layer that sees the same tool is passive."""
    watcher = Watcher()
    with Enricher((watcher,)).call("search", server="shop") as outer:
        with Enricher((watcher,), side=side).call(tool, server=server) as inner:
            assert inner.enrich(busy()) == ENRICHED
        outer.enrich({"rows": 1})
    assert watcher.endings == [(tool, "failure"), ("search", "success")]


def test_next_call_after_a_block_is_a_call_of_its_own() -> None:
    """DESIGN section 4, nested layers: one after the other is not one inside the other."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for _ in range(3):
        with enricher.call("search") as call:
            assert call.enrich(busy()) == ENRICHED
    assert watcher.endings == [("search", "failure")] * 3


async def test_task_that_outlives_the_outer_block_is_no_inner_layer() -> None:
    """DESIGN section 4, nested layers: a closed block owns nothing."""
    watcher, closed = Watcher(), asyncio.Event()
    enricher = Enricher((watcher,))

    async def background() -> None:
        await closed.wait()
        with enricher.call("search") as call:
            assert call.enrich(busy()) == ENRICHED

    with enricher.call("search") as call:
        task = asyncio.create_task(background())
        call.enrich({"rows": 1})
    closed.set()
    await task
    assert watcher.endings == [("search", "success"), ("search", "failure")]


def _generator(enricher: Enricher) -> Iterator[str | None]:
    with enricher.call("search") as call:
        yield call.trace_id
        call.enrich(busy())


@pytest.mark.parametrize("finish", ["close", "exhaust", "collect"])
def test_block_left_in_another_context_is_no_error_there(
    finish: str, caplog: pytest.LogCaptureFixture
) -> None:
    """RELIABILITY A31: generators change contexts; no "Failed to detach" line, no clobbering."""
    watcher = Watcher()
    enricher = Enricher((watcher, OpenTelemetryObserver()))
    generator = _generator(enricher)
    contextvars.copy_context().run(next, generator)
    with enricher.call("fetch") as outer:
        if finish == "close":
            generator.close()  # type: ignore[attr-defined]
        elif finish == "exhaust":
            assert list(generator) == []
        del generator
        gc.collect()
        with enricher.call("fetch") as inner:
            inner.enrich(busy())
        outer.enrich(busy())
    ending = "failure" if finish == "exhaust" else "cancelled"
    assert watcher.endings == [("search", ending), ("fetch", "failure")]
    assert watcher.faults == []
    assert caplog.records == []


async def test_block_of_an_async_generator_left_in_another_task_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """RELIABILITY A31: as the loop closes the async generators that a task left behind."""
    watcher = Watcher()
    enricher = Enricher((watcher, OpenTelemetryObserver()))

    async def streaming() -> AsyncIterator[int]:
        with enricher.call("search"):
            yield 1

    stream = streaming()
    assert await asyncio.create_task(anext(stream)) == 1  # type: ignore[arg-type]
    await asyncio.create_task(stream.aclose())  # type: ignore[attr-defined]
    assert watcher.endings == [("search", "cancelled")]
    with enricher.call("search") as call:
        assert call.enrich(busy()) == ENRICHED
    assert (watcher.faults, caplog.records) == ([], [])


def test_threads_with_loops_of_their_own_do_not_mix_calls() -> None:
    """RELIABILITY A31, smaller: every call gets its own result, name and record."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    threads, tasks, rounds = 8, 16, 10

    async def agent(name: str) -> None:
        for turn in range(rounds):
            said = {"status": "error", "error_code": f"locked_{name}_{turn}", "message": name}
            with enricher.call(name, server=name) as call:
                await asyncio.sleep(0)
                with enricher.call(name) as passive:
                    assert passive.enrich(said) is said
                    await asyncio.sleep(0)
                enriched = call.enrich(said)
                await asyncio.sleep(0)
            assert enriched["error_code"] == said["error_code"]
            assert call.guidance is not None
            assert call.guidance.error_code == said["error_code"]

    async def loop(thread: int) -> None:
        await asyncio.gather(*[agent(f"t{thread}n{task}") for task in range(tasks)])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda thread: asyncio.run(loop(thread)), range(threads)))
    assert len(watcher.seen) == threads * tasks * rounds
    records = {(seen.tool_name, seen.server, seen.error_code, seen.ending) for seen in watcher.seen}
    assert records == {
        (name, name, f"locked_{name}_{turn}", "failure")
        for name in [f"t{thread}n{task}" for thread in range(threads) for task in range(tasks)]
        for turn in range(rounds)
    }


def test_collector_that_runs_anywhere_finds_no_lock_held() -> None:
    """RELIABILITY A29, smaller: `__del__` that enriches, at any allocation, never deadlocks."""
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.sdk.trace import TracerProvider

    tracers = TracerProvider(shutdown_on_exit=False)
    tracer = tracers.get_tracer("host")
    observer = OpenTelemetryObserver(tracer_provider=tracers, meter_provider=NoOpMeterProvider())
    enricher = Enricher((observer,))
    deleted = 0

    class Dying:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            nonlocal deleted
            deleted += 1
            with tracer.start_as_current_span("agent"):
                enricher.enrich_result(busy())
            with enricher.call(f"del{deleted}") as call:
                call.enrich(busy())

    def work() -> None:
        for turn in range(700):
            Dying()
            with enricher.call(f"tool{turn}") as call:
                assert call.enrich(busy()).keys() >= {"retryable", "next_action"}
            with tracer.start_as_current_span("agent"):
                assert enricher.enrich_result(busy()).keys() >= {"retryable", "next_action"}

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(60)
        assert not worker.is_alive(), "deadlock"
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert deleted == 700


FORKS = """
import os, signal, sys, threading, time
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider
from waypost import Enricher, Limits, Observation, failure
from waypost.observe.otel import OpenTelemetryObserver

def observer():
    # Without a near limit every new name is kept, so that a lock is held most of the time.
    return OpenTelemetryObserver(
        limits=Limits(attribute_sets=10**8, duration_attribute_sets=10**8),
        tracer_provider=NoOpTracerProvider(), meter_provider=NoOpMeterProvider())

go, stop = threading.Event(), threading.Event()

def work():
    while not stop.is_set():
        told = observer()
        for turn in range(2_000):
            go.wait()
            told(Observation(ending="success", side="host", tool_name=str(turn),
                             duration_seconds=1.0))

def child(number):
    code = 1
    try:
        with enricher.call(f"child{number}", server="forked") as call:
            enriched = call.enrich(failure("locked", "m"))
        code = 0 if enriched["retryable"] is True else 2
    finally:
        os._exit(code)

enricher = Enricher((observer(),))
sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
for thread in threads:
    thread.start()
codes = []
for number in range(20):
    go.set()
    for _ in range(100):
        time.sleep(0)  # lets the others run
    pid = os.fork()
    if pid == 0:
        signal.alarm(40)  # kills a child that hangs
        child(number)
    go.clear()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    if codes[-1]:
        break
stop.set()
go.set()
for thread in threads:
    thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_forked_child_does_not_hang_under_busy_threads() -> None:
    """RELIABILITY A28, smaller: a lock that another thread held is not held in the child."""
    done = run(FORKS, measured=False)  # coverage has a lock of its own that hangs children
    assert (done.exit_code, done.stdout) == (0, f"{[0] * 20}\n"), done.stderr
