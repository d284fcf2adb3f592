"""What every store of attempts must do, and what the one in memory does besides."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from waypost.core._model import ErrorClass, LimitError, NextStep
from waypost.retries._chains import Chain, Failed, Trail
from waypost.retries._store import AttemptStore
from waypost.retries.memory import MemoryAttemptStore

STORES: list[Callable[[], AttemptStore]] = [MemoryAttemptStore]
FAILED = Failed(1.0, "c", 1, ErrorClass.TIMEOUT, NextStep.WAIT, retryable=True)
TRAIL = Trail(FAILED, 0, ((ErrorClass.TIMEOUT, 1),), frozenset(), 1.0)
States = tuple[Chain | None, Trail | None]


def _chain(attempt: int) -> Chain:
    return Chain("c", attempt, 0, FAILED, stormed=False, seen_at=1.0)


def _states(store: AttemptStore, chain_key: bytes | None, trail_key: bytes) -> States:
    return store.update(chain_key, trail_key, lambda *states: (*states, states))


def _count(chain: Chain | None, trail: Trail | None) -> tuple[Chain, Trail, int]:
    attempt = 1 if chain is None else chain.attempt + 1
    return _chain(attempt), trail or TRAIL, attempt


@pytest.fixture(params=STORES, ids=lambda make: make.__name__)
def store(request: pytest.FixtureRequest) -> AttemptStore:
    made: AttemptStore = request.param()
    return made


def test_store_begins_empty_and_gives_back_what_was_put(store: AttemptStore) -> None:
    assert _states(store, b"a", b"t") == (None, None)
    assert store.update(b"a", b"t", lambda *_: (_chain(2), TRAIL, "answer")) == "answer"
    assert _states(store, b"a", b"t") == (_chain(2), TRAIL)


def test_keys_do_not_mix(store: AttemptStore) -> None:
    store.update(b"a", b"t", lambda *_: (_chain(2), TRAIL, None))
    assert _states(store, b"b", b"t") == (None, TRAIL)
    assert _states(store, b"a", b"u") == (_chain(2), None)
    assert _states(store, b"t", b"a") == (None, None)


def test_none_forgets(store: AttemptStore) -> None:
    store.update(b"a", b"t", lambda *_: (_chain(2), TRAIL, None))
    store.update(b"a", b"t", lambda *_: (None, None, None))
    assert _states(store, b"a", b"t") == (None, None)


def test_chain_without_a_key_is_not_kept(store: AttemptStore) -> None:
    store.update(None, b"t", lambda *_: (_chain(2), TRAIL, None))
    assert _states(store, None, b"t") == (None, TRAIL)


def test_change_that_raises_changes_nothing(store: AttemptStore) -> None:
    store.update(b"a", b"t", lambda *_: (_chain(2), TRAIL, None))

    def broken(*_: object) -> tuple[None, None, None]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.update(b"a", b"t", broken)
    assert _states(store, b"a", b"t") == (_chain(2), TRAIL)


def test_changes_from_threads_see_each_other(store: AttemptStore) -> None:
    def work(_: int) -> list[int]:
        return [store.update(b"a", b"t", _count) for _ in range(2_000)]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            seen = sorted(number for part in threads.map(work, range(8)) for number in part)
    finally:
        sys.setswitchinterval(before)
    assert seen == list(range(1, 16_001))


def test_changes_from_tasks_see_each_other(store: AttemptStore) -> None:
    async def work() -> list[int]:
        seen = []
        for _ in range(50):
            seen.append(store.update(b"a", b"t", _count))
            await asyncio.sleep(0)
        return seen

    async def main() -> list[list[int]]:
        return await asyncio.gather(*(work() for _ in range(64)))

    seen = sorted(number for part in asyncio.run(main()) for number in part)
    assert seen == list(range(1, 3_201))


def test_memory_forgets_what_was_changed_longest_ago() -> None:
    store = MemoryAttemptStore(max_chains=2)
    for key in (b"a", b"b", b"a", b"c"):
        store.update(key, key, _count)
    assert len(store) == 2
    assert _states(store, b"a", b"a") == (_chain(2), TRAIL)
    assert _states(store, b"b", b"b") == (None, None)
    assert _states(store, b"c", b"c") == (_chain(1), TRAIL)


@pytest.mark.parametrize("max_chains", [0, -1, True, 1.5, "9"])
def test_bound_that_bounds_nothing_is_refused(max_chains: object) -> None:
    with pytest.raises(LimitError, match="use an integer of 1 or more"):
        MemoryAttemptStore(max_chains)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_children_begin_with_nothing_and_never_hang() -> None:
    """A28: 200 forks while 8 threads change the store."""
    store = MemoryAttemptStore()
    stop = threading.Event()

    def work(name: int) -> None:
        while not stop.is_set():
            store.update(bytes([name]), b"t", _count)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    try:
        statuses = []
        for _ in range(200):
            child = os.fork()
            if child == 0:
                empty = len(store) == 0 and _states(store, b"\0", b"t") == (None, None)
                os._exit(0 if empty and store.update(b"\0", b"t", _count) == 1 else 1)
            statuses.append(os.waitpid(child, 0)[1])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 200
