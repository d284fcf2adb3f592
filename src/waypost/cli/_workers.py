"""Processes that share the blocks of one file, in its order."""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from queue import SimpleQueue

from ..core._classify import RuleBook
from ._blocks import BLOCK_BYTES, Piece
from ._lines import Done, enrich_block


class WorkerError(Exception):
    """The processes cannot go on; the text is for the user."""


def enriched_by(
    count: int, parts: Iterable[bytes | Piece], rules: RuleBook | None
) -> Iterator[Done | Piece]:
    """
    Yield what becomes of each part, in order, made by *count* processes.

    Each process has a pipe of its own, one block in work and one that waits. A
    ``ProcessPoolExecutor`` shares one queue among all, and hangs in Python 3.11 when a process is
    killed while it holds that.

    Raises:
        WorkerError: A process cannot be started, or was killed.
    """
    with _workers(count, rules) as connections:
        idle, busy = deque(connections * _BLOCKS_EACH), deque[Connection]()
        for part in parts:
            # Small parts come from somebody who writes line by line, and waits for the answer.
            at_once = isinstance(part, Piece) or len(part) < BLOCK_BYTES // 8
            if not idle:
                yield _received(idle, busy)
            if isinstance(part, bytes):
                _send(part, idle, busy)
            while busy and at_once:
                yield _received(idle, busy)
            if isinstance(part, Piece):
                yield part
        while busy:
            yield _received(idle, busy)


_BLOCKS_EACH = 2


def _send(block: bytes, idle: deque[Connection], busy: deque[Connection]) -> None:
    connection = idle.popleft()
    try:
        connection.send_bytes(block)
    except OSError as exc:
        raise WorkerError(_KILLED) from exc
    busy.append(connection)


def _received(idle: deque[Connection], busy: deque[Connection]) -> Done:
    connection = busy.popleft()
    try:
        done: Done = connection.recv()
    except (EOFError, OSError) as exc:
        raise WorkerError(_KILLED) from exc
    idle.append(connection)
    return done


_KILLED = "A worker process was ended from outside."


@contextlib.contextmanager
def _workers(count: int, rules: RuleBook | None) -> Iterator[list[Connection]]:
    context = get_context("spawn")  # a fork would take the threads' locks along
    with contextlib.ExitStack() as stack:
        connections = []
        try:
            resource_tracker.ensure_running()  # else the first start does, and lets Ctrl-C through
            with _interrupts_held():
                for _ in range(count):
                    ours, theirs = context.Pipe()
                    args = (theirs, rules)
                    process = context.Process(target=_serve, args=args, daemon=True)
                    process.start()
                    theirs.close()
                    stack.callback(process.join)
                    stack.callback(ours.close)  # it ends by that, and before it is waited for
                    connections.append(ours)
        except OSError as exc:
            raise WorkerError(f"The processes cannot be started: {exc.strerror}.") from exc
        yield connections


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back; a process that is started meanwhile never gets it."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover -- on Windows only
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, rules: RuleBook | None) -> None:
    """What a process does: one block after the other, until nobody sends any more."""
    gc.freeze()
    blocks: SimpleQueue[bytes | None] = SimpleQueue()
    # Reads on meanwhile: else each end could wait for the other to read first.
    threading.Thread(target=_read, args=(connection, blocks), daemon=True).start()
    with contextlib.suppress(OSError):
        while (block := blocks.get()) is not None:
            connection.send(enrich_block(block, rules))


def _read(connection: Connection, blocks: SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            blocks.put(connection.recv_bytes())
    blocks.put(None)
