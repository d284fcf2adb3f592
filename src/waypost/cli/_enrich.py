"""``waypost enrich``: add guidance to a file of results, line by line."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from ..core._classify import RuleBook
from ._blocks import BROKEN_GZIP, Piece, blocks, plain
from ._lines import Done, enrich_block
from ._tally import BadLines, Tally, print_summary
from ._workers import WorkerError, enriched_by


class InputError(Exception):
    """The input cannot be read to its end; the text is for the user."""


def run(
    source: Path | None,
    errors: BinaryIO | None,
    *,
    workers: int,
    as_json: bool,
    rules: RuleBook | None,
) -> int:
    """
    Read results from *source*, or from standard input, and write them with guidance.

    Returns:
        The exit code: 0; 1 if a line or the rest of the input could not be read; 130 if it was
        interrupted.
    """
    tally, bad = Tally(), BadLines(errors)
    trouble = None
    gc.freeze()  # the modules stay: no collection need look at them again and again
    try:
        with _opened(source) as file, _output() as out:
            results = _done(_read(file), workers, rules)
            _enrich(file, results, out, tally, bad)
        bad.flush()
    except (InputError, WorkerError) as exc:
        trouble = f"{exc} Lines read: {tally.lines:,}."
    except OSError as exc:  # of the output: what the input raises was told apart
        if exc.errno == errno.EPIPE:
            raise  # the reader had enough, which typer knows
        trouble = f"The output cannot be written: {exc.strerror}."
        # What is still buffered would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except KeyboardInterrupt:
        return 130
    print_summary(tally, bad, as_json=as_json)
    if trouble:
        print(f"waypost enrich: {trouble}", file=sys.stderr)
    return 1 if trouble or bad.count else 0


@contextlib.contextmanager
def _opened(source: Path | None) -> Iterator[BinaryIO]:
    """The file, or standard input, from which reading waits instead of ending at a gap."""
    if source is not None:
        try:
            file = source.open("rb")
        except OSError as exc:
            raise InputError(f"{source} cannot be opened: {exc.strerror}.") from exc
        with file:
            yield file
    elif sys.stdin is None:
        raise InputError("Standard input is closed: name a file, or pipe the results in.")
    else:
        if sys.stdin.isatty():
            print("Reading results, one a line; end with Ctrl-D.", file=sys.stderr)
        _wait_on(sys.stdin.fileno())
        yield sys.stdin.buffer


def _wait_on(descriptor: int) -> None:
    """Wait for data or room, whatever another program has set: a gap is no end."""
    if hasattr(os, "set_blocking"):  # pragma: no branch -- not on Windows
        os.set_blocking(descriptor, True)


@contextlib.contextmanager
def _output() -> Iterator[BinaryIO]:
    """Standard output, buffered also where Python runs unbuffered: a raw file writes parts."""
    if sys.stdout is None:
        raise InputError("Standard output is closed: there is nowhere to write to.")
    _wait_on(sys.stdout.fileno())
    out = sys.stdout.buffer
    if not isinstance(out, io.RawIOBase):
        yield out
        return
    buffered = io.BufferedWriter(out)
    try:
        yield cast("BinaryIO", buffered)
    finally:
        with contextlib.suppress(OSError):  # what failed was told when it was flushed
            buffered.detach()


def _enrich(
    file: BinaryIO,
    done: Generator[Done | Piece, None, None],
    out: BinaryIO,
    tally: Tally,
    bad: BadLines,
) -> None:
    with _progress(file) as shown, contextlib.closing(done) as results:
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


def _done(
    parts: Iterable[bytes | Piece], workers: int, rules: RuleBook | None
) -> Generator[Done | Piece, None, None]:
    """What became of each part, in order; what was read before the input broke is not lost."""
    kept = _Kept(parts)
    if workers > 1:
        yield from enriched_by(workers, kept, rules)
    else:
        for part in kept:
            yield part if isinstance(part, Piece) else enrich_block(part, rules)
    if kept.trouble is not None:
        raise kept.trouble


class _Kept:
    """Parts that end where the input breaks, with the trouble kept for later."""

    def __init__(self, parts: Iterable[bytes | Piece]) -> None:
        self._parts = parts
        self.trouble: InputError | None = None

    def __iter__(self) -> Iterator[bytes | Piece]:
        try:
            yield from self._parts
        except InputError as exc:
            self.trouble = exc


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
        disable=not sys.stderr.isatty() or sys.stdout.isatty(),
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
