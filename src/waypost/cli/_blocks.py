"""A file of lines, plain or gzip, as blocks of whole lines, in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol, cast

BLOCK_BYTES = 256 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is handed out in pieces, and nobody parses it."""

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading raises where compressed data ends early or makes no sense."""


class Piece(NamedTuple):
    """A part of a line that is too long; *last* if the line ends with it."""

    data: bytes
    last: bool


class Buffered(Protocol):
    """What a buffered binary file has beyond ``BinaryIO``."""

    def peek(self, size: int, /) -> bytes: ...


class _Stream(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def plain(file: BinaryIO) -> BinaryIO:
    """The file, or what is in it if it begins as gzip data does."""
    if cast("Buffered", file).peek(2)[:2] == _GZIP:
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return file


def blocks(file: BinaryIO) -> Iterator[bytes | Piece]:
    """
    Yield *file* in order: blocks of whole lines as they arrive, and longer lines in pieces.

    The last line may lack its line feed.
    """
    held: list[bytes] = []  # the beginning of a line
    size = 0
    in_long_line = False
    for data in _chunks(cast("_Stream", file)):
        end = data.find(b"\n")
        if in_long_line or size + (len(data) if end < 0 else end) > MAX_LINE_BYTES:
            yield from (Piece(piece, False) for piece in held)
            held.clear()
            in_long_line = end < 0
            yield Piece(data if in_long_line else data[:end], not in_long_line)
            data = b"" if in_long_line else data[end + 1 :]  # noqa: PLW2901 -- what is left of it
            size = 0
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join((*held, data[:cut]))
            held.clear()
            size = 0
        if cut < len(data):
            held.append(data[cut:])
            size += len(data) - cut
    if in_long_line:
        yield Piece(b"", True)
    elif held:
        yield b"".join(held)


def _chunks(stream: _Stream) -> Iterator[bytes]:
    yield stream.read1(BLOCK_BYTES).removeprefix(_BOM)
    while data := stream.read1(BLOCK_BYTES):
        yield data
