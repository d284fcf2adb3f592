"""What a file of results came to, and where its unreadable lines go."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import BinaryIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ._blocks import MAX_LINE_BYTES, Piece
from ._lines import Done

_CODES_KEPT = 10_000
_CODES_SHOWN = 20
_TOO_LONG = f"longer than {MAX_LINE_BYTES // 1024**2} MiB"


class BadLines:
    """
    Lines that could not be read, written to a file if there is one.

    A line there is its number, a tab, the reason, a tab, and the bytes as they came.
    """

    def __init__(self, file: BinaryIO | None) -> None:
        self._file = file
        self.name = None if file is None else file.name
        self._in_long_line = False
        self.count = 0
        self.first: tuple[int, str] | None = None

    def add(self, number: int, reason: str, line: bytes) -> None:
        self._begin(number, reason)
        self._write(line + b"\n")

    def add_piece(self, number: int, piece: Piece) -> None:
        if not self._in_long_line:
            self._begin(number, _TOO_LONG)
        self._in_long_line = not piece.last
        self._write(piece.data + b"\n" if piece.last else piece.data)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def _begin(self, number: int, reason: str) -> None:
        self.count += 1
        self.first = self.first or (number, reason)
        self._write(f"{number}\t{reason}\t".encode())

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            self._file.write(data)


class Tally:
    """What the lines so far came to."""

    def __init__(self) -> None:
        self.lines = 0
        self.successes = 0
        self.classes: Counter[str] = Counter()
        self.unknown_codes: Counter[str] = Counter()

    @property
    def failures(self) -> int:
        return self.classes.total()

    def add(self, done: Done) -> None:
        self.lines += done.lines
        self.successes += done.successes
        self.classes += done.classes
        for code, count in done.unknown_codes.items():
            if code in self.unknown_codes or len(self.unknown_codes) < _CODES_KEPT:
                self.unknown_codes[code] += count


def print_summary(tally: Tally, bad: BadLines, *, as_json: bool) -> None:
    """Tell on stderr what the lines came to; their own place is standard output."""
    if as_json:
        print(json.dumps(_document(tally, bad)), file=sys.stderr)
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(
        f"lines {tally.lines:,}, successes {tally.successes:,}, failures {tally.failures:,}, "
        f"unreadable {bad.count:,}"
    )
    if tally.classes:
        console.print(_classes(tally))
    if tally.unknown_codes:
        console.print(_codes(tally))
    if bad.first is not None:
        number, reason = bad.first
        kept = f"They are in {bad.name}." if bad.name else "Keep them with --errors FILE."
        console.print(f"First unreadable line: {number:,} ({reason}). {kept}", markup=False)


def _document(tally: Tally, bad: BadLines) -> dict[str, object]:
    return {
        "lines": tally.lines,
        "successes": tally.successes,
        "failures": tally.failures,
        "unreadable": bad.count,
        "error_classes": dict(tally.classes.most_common()),
        "unknown_codes": dict(tally.unknown_codes.most_common()),
    }


def _classes(tally: Tally) -> Table:
    table = Table("error class", box=None, pad_edge=False)
    table.add_column("failures", justify="right")
    table.add_column("share", justify="right")
    for error_class, count in tally.classes.most_common():
        table.add_row(error_class, f"{count:,}", f"{count / tally.failures:.1%}")
    return table


def _codes(tally: Tally) -> Table:
    table = Table("code that no rule knows", box=None, pad_edge=False)
    table.add_column("failures", justify="right")
    for code, count in tally.unknown_codes.most_common(_CODES_SHOWN):
        table.add_row(Text(code), f"{count:,}")
    if (others := len(tally.unknown_codes) - _CODES_SHOWN) > 0:
        table.add_row(f"and {others:,} more, which --json lists", "")
    return table
