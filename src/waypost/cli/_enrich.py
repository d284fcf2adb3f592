"""``waypost enrich``: add guidance to a file of results, line by line."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from ._blocks import BROKEN_GZIP, Piece, blocks, plain
from ._lines import Done, enrich_block
from ._tally import BadLines, Tally, print_summary


class InputError(Exception):
    """The input cannot be read to its end; the text is for the user."""


def run(source: Path | None, errors: BinaryIO | None, *, workers: int, as_json: bool) -> int:
    """
    Read results from *source*, or from standard input, and write them with guidance.

    Returns:
        The exit code: 0; 1 if a line or the rest of the input could not be read; 130 if it was
        interrupted.
    """
    tally, bad = Tally(), BadLines(errors)
    trouble = None
    if source is None and sys.stdin.isatty():
        print("Reading results, one a line; end with Ctrl-D.", file=sys.stderr)
    gc.freeze()  # the modules stay: no collection need look at them again and again
    try:
        with source.open("rb") if source else contextlib.nullcontext(sys.stdin.buffer) as file:
            _enrich(file, sys.stdout.buffer, tally, bad, workers)
        bad.flush()
    except InputError as exc:
        trouble = f"{exc} Lines read: {tally.lines:,}."
    except OSError as exc:  # of the output: what the input raises was told apart
        if exc.errno == errno.EPIPE:
            raise  # the reader had enough, which typer knows
        trouble = f"The output cannot be written: {exc.strerror}."
        # What is still buffered would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    print_summary(tally, bad, as_json=as_json)
    if trouble:
        print(f"waypost enrich: {trouble}", file=sys.stderr)
    return 1 if trouble or bad.count else 0


def _enrich(file: BinaryIO, out: BinaryIO, tally: Tally, bad: BadLines, workers: int) -> None:
    with _progress(file) as shown, contextlib.closing(_done(_read(file), workers)) as results:
        for result in results:
            if isinstance(result, Piece):
                bad.add_piece(tally.lines + 1, result)
                tally.lines += result.last
                continue
            out.write(result.output)
            out.flush()
            for line in result.bad:
                bad.add(tally.lines + line.offset + 1, line.reason, line.line)
            tally.add(result)
            shown(tally)


def _read(file: BinaryIO) -> Iterator[bytes | Piece]:
    try:
        yield from blocks(plain(file))
    except BROKEN_GZIP as exc:
        raise InputError(f"The gzip data is broken or ends early: {exc}.") from exc
    except OSError as exc:
        raise InputError(f"The input cannot be read on: {exc.strerror}.") from exc


def _done(parts: Iterable[bytes | Piece], workers: int) -> Generator[Done | Piece, None, None]:
    """What became of each part, in order; with several workers a few blocks are on their way."""
    if workers == 1:
        for part in parts:
            yield part if isinstance(part, Piece) else enrich_block(part)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin_worker)
    pending: deque[Future[Done]] = deque()
    try:
        for part in parts:
            if isinstance(part, Piece):
                yield from _results(pending, leave=0)
                yield part
                continue
            pending.append(pool.submit(enrich_block, part))
            yield from _results(pending, leave=2 * workers)
        yield from _results(pending, leave=0)
    except BrokenProcessPool as exc:
        raise InputError("A worker process was ended from outside.") from exc
    finally:
        pool.shutdown(cancel_futures=True)


def _results(pending: deque[Future[Done]], *, leave: int) -> Iterator[Done]:
    """The results that are due: those beyond *leave*, and those that are there already."""
    while pending and (len(pending) > leave or pending[0].done()):
        yield pending.popleft().result()


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, which ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()


@contextlib.contextmanager
def _progress(file: BinaryIO) -> Iterator[Callable[[Tally], None]]:
    """Show on a terminal how far it is, unless the lines go to that terminal themselves."""
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        DownloadColumn(binary_units=True),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not console.is_terminal or sys.stdout.isatty(),
    ) as progress:
        task = progress.add_task("", total=_size_of(file))

        def show(tally: Tally) -> None:
            told = f"{tally.lines:,} lines, {tally.failures:,} failures"
            progress.update(task, description=told, completed=_position_of(file))

        yield show


def _size_of(file: BinaryIO) -> int | None:
    """How many bytes there are to read, if anybody knows."""
    return os.fstat(file.fileno()).st_size or None


def _position_of(file: BinaryIO) -> int | None:
    return file.tell() if file.seekable() else None
