"""Flushing and closing the three providers, in bounded time whatever their exporters do."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ._gate import Gate

_log_to_host = logging.getLogger("waypost")

_Job = Callable[[], bool]
_Jobs = SimpleQueue["tuple[_Job, Future[bool]] | None"]


class Exporter(Protocol):
    """What a lane needs of an exporter: to count what failed, and to be told to give up."""

    failed: int

    def shutdown(self) -> None: ...


class Lane:
    """
    One provider, its exporter, and a daemon thread that does one thing at a time for them.

    The SDK can bound neither: ``force_flush`` takes as long as the exporter takes, and
    ``shutdown`` joins a worker for 30 s. The thread starts at once and then sleeps, because
    Python 3.12 and later start none while the interpreter exits. It is a daemon, so it never
    holds up that exit.
    """

    def __init__(
        self,
        name: str,
        exporter: Exporter | None,
        *,
        flush: Callable[[int], bool],
        close: Callable[[], None],
    ) -> None:
        self._name = name
        self._exporter = exporter
        self._flush = flush
        self._close = close
        self.start()

    def start(self) -> None:
        """Start the thread; once more in a forked child, which has none."""
        self._jobs: _Jobs = SimpleQueue()
        thread = threading.Thread(
            target=_serve, args=(self._jobs,), name=f"waypost-{self._name}", daemon=True
        )
        thread.start()

    def flush(self, timeout_seconds: float) -> Future[bool]:
        """Ask for a flush; true if the provider says so and no batch failed meanwhile."""

        def job() -> bool:
            failed = self._failed()
            return self._flush(int(timeout_seconds * 1000)) and self._failed() == failed

        return self._submit(job)

    def close(self) -> Future[bool]:
        """Ask for the end: send what is queued, then shut the provider down."""

        def job() -> bool:
            self._close()
            return True

        future = self._submit(job)
        self._jobs.put(None)
        return future

    def give_up(self) -> None:
        """Wake an exporter that waits for its next try; what it still holds is lost."""
        if self._exporter is not None:
            self._exporter.shutdown()

    def _failed(self) -> int:
        return 0 if self._exporter is None else self._exporter.failed

    def _submit(self, job: _Job) -> Future[bool]:
        future: Future[bool] = Future()
        self._jobs.put((job, future))
        return future


def _serve(jobs: _Jobs) -> None:
    while (item := jobs.get()) is not None:
        job, future = item
        if not future.set_running_or_notify_cancel():
            continue
        try:
            done = job()
        except Exception:  # noqa: BLE001 -- a processor of the host's may raise anything
            done = False
        future.set_result(done)


class Lanes:
    """The lanes of one set-up: flushed together, closed together, once."""

    def __init__(self, lanes: Sequence[Lane], gate: Gate) -> None:
        self._lanes = tuple(lanes)
        self._gate = gate
        self._lock = threading.Lock()
        self._closing: list[Future[bool]] | None = None
        if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
            os.register_at_fork(after_in_child=self._after_fork)

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._closing is not None

    def flush(self, timeout_seconds: float) -> bool:
        """Send what is queued; whether all of it was accepted in time."""
        if self.closed:
            return False
        futures = [lane.flush(timeout_seconds) for lane in self._lanes]
        pending = wait(futures, timeout_seconds).not_done
        for future in pending:
            future.cancel()
        return not pending and all(future.result() for future in futures)

    def close(self, timeout_seconds: float) -> None:
        """Shut all providers down side by side, with one deadline for all of them."""
        deadline = time.monotonic() + timeout_seconds
        with self._lock:
            if self._closing is None:
                self._gate.begin_closing()
                self._closing = [lane.close() for lane in self._lanes]
        late = wait(self._closing, max(deadline - time.monotonic(), 0.0)).not_done
        if late and not self._gate.closed:
            _log_to_host.warning(
                "Telemetry was not delivered within %s s; the rest is lost.", timeout_seconds
            )
        self._gate.close()
        for lane, future in zip(self._lanes, self._closing, strict=True):
            if not future.done():
                lane.give_up()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        if not self.closed:
            for lane in self._lanes:
                lane.start()
