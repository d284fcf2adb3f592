"""From an event to one line on stderr: clean, bounded, and never in the host's way."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import sys
import threading
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

import structlog

from ..core._clean import clean_text

if TYPE_CHECKING:
    from collections.abc import MutableMapping

LINE_BYTES: Final = 8_192
"""Of one line, its line feed included."""

EVENT_CHARS: Final = 1_900
"""Of the event itself, which is never dropped: four bytes each still leave a valid line."""

_KEY_CHARS: Final = 128
_MAX_KEYS: Final = 512
_MAX_ITEMS: Final = 64
_MAX_DEPTH: Final = 4
_MAX_INT_BITS: Final = 256
_FIRST: Final = ("timestamp", "level", "event")
_BLOCKS: Final = frozenset({"exception", "stack"})
_STACK: Final = "exception.stacktrace"
_WAIT_MS: Final = 50
_PIPE_BUF: Final = 512 if not hasattr(select, "PIPE_BUF") else select.PIPE_BUF


class Renderer:
    """
    Renders an event as one line: strict JSON, or structlog's console format for a terminal.

    Text is cleaned, so that no content can forge a second line or steer the terminal. A line
    longer than 8 KiB loses whole keys, ``message`` first, then the longest; ``dropped_keys``
    counts them.
    """

    def __init__(self, *, console: bool, colors: bool) -> None:
        self._console = (
            # The width of the event goes by position: structlog 25.5 gave it another name.
            structlog.dev.ConsoleRenderer(0, colors=colors, sort_keys=False) if console else None
        )

    def __call__(self, logger: object, method: str, event: MutableMapping[str, object]) -> str:
        """Render *event*."""
        fields = cut(tidy(event))
        if self._console is None:
            return dumps(fields)
        if isinstance(stack := fields.get(_STACK), str):
            fields[_STACK] = " | ".join(line.strip() for line in stack.splitlines())
        text = self._console(logger, method, fields)
        return " ".join(text.splitlines())


def tidy(event: Mapping[str, object]) -> dict[str, object]:
    """Return a copy that holds only clean, plain values: time, level and event come first."""
    fields: dict[str, object] = {key: plain(event[key]) for key in _FIRST if key in event}
    fields["event"] = clean_text(text_of(event.get("event", "")), EVENT_CHARS)
    for key, value in islice(event.items(), _MAX_KEYS):
        if key not in _FIRST:
            # The console renderer gives these two lines of their own.
            name = f"{key}_" if key in _BLOCKS else clean_text(text_of(key), _KEY_CHARS)
            fields[name] = _stack(value) if key == _STACK else plain(value)
    return fields


def cut(fields: dict[str, object]) -> dict[str, object]:
    """Drop keys until the line fits: ``message`` first, then the longest."""
    sizes = {key: len(dumps({key: value}).encode()) for key, value in fields.items()}
    total = sum(sizes.values())
    if total <= LINE_BYTES - 1:
        return fields
    del sizes["event"]
    total += len('{"dropped_keys": 512}')
    dropped = 0
    for key in sorted(sizes, key=lambda key: (key != "message", -sizes[key])):
        if total <= LINE_BYTES - 1:
            break
        total -= sizes[key]
        del fields[key]
        dropped += 1
    fields["dropped_keys"] = dropped
    return fields


def dumps(value: object) -> str:
    """Return strict JSON on one line; *value* holds only what ``plain`` returned."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def plain(value: object, depth: int = 0) -> object:
    """Return *value* as something that JSON has, with clean text; never raises."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(str.__str__(value), LINE_BYTES)
    try:
        return _number(value) if isinstance(value, int | float) else _nested(value, depth)
    except Exception:  # noqa: BLE001 -- a foreign object may raise anything
        return f"<{type(value).__name__}>"


def _number(value: float) -> object:
    if isinstance(value, int):
        short = value.bit_length() <= _MAX_INT_BITS
        return int(value) if short else f"<int of {value.bit_length()} bits>"
    return float(value) if math.isfinite(value) else str(float(value))


def _nested(value: object, depth: int) -> object:
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        pairs = islice(value.items(), _MAX_ITEMS)
        return {clean_text(text_of(k), _KEY_CHARS): plain(v, depth + 1) for k, v in pairs}
    if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in islice(value, _MAX_ITEMS)]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    return clean_text(text_of(value), LINE_BYTES)


def _stack(value: object) -> object:
    lines = text_of(value).split("\n")
    return "\n".join(clean_text(line, LINE_BYTES) for line in lines).rstrip()


def text_of(value: object) -> str:
    """Return *value* as text; never raises."""
    if isinstance(value, str):
        return str.__str__(value)
    try:
        return str.__str__(str(value))
    except Exception:  # noqa: BLE001 -- a foreign object may raise anything
        return f"<{type(value).__name__}>"


class StderrLogger:
    """
    Writes lines to stderr; never raises, and never waits longer than 50 ms.

    Lines go to the file descriptor, unbuffered and at most ``PIPE_BUF`` bytes at a time, each
    after a poll that says they will not block. A pipe that nobody reads costs 50 ms once; after
    that, lines are dropped at once until there is room again. (Another process that fills the
    same pipe between poll and write can still block us; no portable call avoids that.)
    Where ``sys.stderr`` has no descriptor (notebooks, captured tests), it is written to.
    """

    def __init__(self) -> None:
        self._stuck = False
        self._torn = False
        self._renew_lock()
        if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
            os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        # Reentrant: a finalizer that logs may run while this thread writes.
        self._lock = threading.RLock()

    def msg(self, line: str) -> None:
        """Write *line*, or drop it."""
        with contextlib.suppress(Exception):  # full disk, closed file: there is nowhere to say so
            self._write(line)

    debug = info = warning = warn = error = exception = critical = fatal = log = msg

    def _write(self, line: str) -> None:
        data = line.encode("utf-8", "replace")[: LINE_BYTES - 1] + b"\n"
        stream = sys.stderr
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError, ValueError):
            stream.write(data.decode("utf-8", "ignore"))
            stream.flush()
            return
        if self._lock.acquire(timeout=_WAIT_MS / 1000):
            try:
                self._write_all(descriptor, data)
            finally:
                self._lock.release()

    def _write_all(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(b"\n" + data if self._torn else data)
        while rest and self._writable(descriptor):
            count = os.write(descriptor, rest[:_PIPE_BUF])
            rest = rest[count:]
            self._torn = bool(rest)

    def _writable(self, descriptor: int) -> bool:
        if not hasattr(select, "poll"):  # pragma: no cover -- Windows
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        self._stuck = not poll.poll(0 if self._stuck else _WAIT_MS)
        return not self._stuck


class StderrFactory:
    """Hands every logger the same writer, since they all write to one stderr."""

    def __init__(self) -> None:
        self._logger = StderrLogger()

    def __call__(self, *_args: object) -> StderrLogger:
        """Return the writer; a logger's name, if given, is not used."""
        return self._logger
