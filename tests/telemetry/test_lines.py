"""The lines on stderr: one an event, clean, bounded, and never in the host's way."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.telemetry.programs import PRELUDE, environment, run
from waypost.telemetry._render import LINE_BYTES, Renderer, StderrLogger

SETUP = 'telemetry = setup_telemetry(service_name="shop", otlp=False)\n'

RENDERERS = {
    "json": Renderer(console=False, colors=False),
    "console": Renderer(console=True, colors=False),
}


def _every_character() -> Iterator[str]:
    for start in range(0, sys.maxunicode + 1, 1_000):
        yield "".join(map(chr, range(start, min(start + 1_000, sys.maxunicode + 1))))


@pytest.mark.parametrize("name", RENDERERS)
def test_every_character_leaves_one_physical_line(name: str) -> None:
    """RELIABILITY A42: no ESC, valid UTF-8, strict JSON, through every renderer we set up."""
    for text in _every_character():
        event: dict[str, object] = {
            "event": text,
            "level": "info",
            "key": text,
            text[:100]: [text, {text[:9]: text}],
            "exception.stacktrace": text,
            "exception": text,
            "stack": text,
        }
        line = RENDERERS[name](None, "info", event)
        assert line.isprintable()
        assert len(line.splitlines()) == 1
        assert len(line.encode()) < LINE_BYTES
        if name == "json":
            json.loads(line, parse_constant=pytest.fail)


class _Hostile:
    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


def test_every_value_has_a_strict_json_form() -> None:
    """RELIABILITY A42: NaN, huge integers, bytes, cycles and objects that raise."""
    cycle: list[object] = []
    cycle.append(cycle)
    line = RENDERERS["json"](
        None,
        "info",
        {
            "event": 7,
            "nan": float("nan"),
            "inf": -float("inf"),
            "int": 10**6000,
            "bytes": b"secret",
            "cycle": cycle,
            "set": {1},
            "hostile": _Hostile(),
            "hostile_keys": {_Hostile(): 1},
            "nested": {"a": (None, True, 1.5)},
            "deep": {"1": {"2": {"3": {"4": {"5": 1}}}}},
            "long": list(range(1000)),
        },
    )
    got = json.loads(line, parse_constant=pytest.fail)
    assert (got["event"], got["nan"], got["inf"]) == ("7", "nan", "-inf")
    assert (got["int"], got["bytes"]) == ("<int of 19932 bits>", "<6 bytes>")
    assert (got["cycle"], got["set"]) == ([[[["[[...]]"]]]], [1])
    assert (got["hostile"], got["hostile_keys"]) == ("<_Hostile>", {"<_Hostile>": 1})
    assert got["nested"] == {"a": [None, True, 1.5]}
    assert got["deep"] == {"1": {"2": {"3": {"4": "{'5': 1}"}}}}
    assert got["long"] == list(range(64))


class _Raises(dict[str, object]):
    def items(self) -> object:  # type: ignore[override]  # that is the point
        raise RuntimeError


def test_mapping_that_raises_is_named_by_its_type() -> None:
    """RELIABILITY A23: a value of the host's never costs the line."""
    line = RENDERERS["json"](None, "info", {"event": "x", "value": _Raises(a=1)})
    assert json.loads(line)["value"] == "<_Raises>"


@pytest.mark.parametrize("name", RENDERERS)
def test_long_line_loses_whole_keys_message_first_then_the_longest(name: str) -> None:
    """RELIABILITY A14: at most 8 KiB, and what is left is whole."""
    event: dict[str, object] = {
        "event": "waypost.error",
        "message": "m" * 2_000,
        "long": "l" * 4_000,
        "longest": "é" * 2_500,
        "short": "s" * 10,
        "trace_id": "ab" * 16,
    }
    line = RENDERERS[name](None, "error", dict(event))
    assert len(line.encode()) < LINE_BYTES
    assert "m" * 10 not in line
    assert "é" not in line
    assert "l" * 4_000 in line
    assert "ab" * 16 in line
    if name == "json":
        assert json.loads(line) == {
            **{key: event[key] for key in ("event", "long", "short", "trace_id")},
            "dropped_keys": 2,
        }


@pytest.mark.parametrize("unit", ["x", "é", "😀", '"', "\\"])
def test_event_of_any_length_leaves_a_valid_line(unit: str) -> None:
    """RELIABILITY A14: the event itself is never dropped, only cut."""
    event: dict[str, object] = {"event": unit * 10_000_000, "trace_id": unit * 10_000_000}
    line = RENDERERS["json"](None, "info", event)
    assert len(line.encode()) < LINE_BYTES
    assert json.loads(line) == {"event": unit * 1_900, "dropped_keys": 1}


def test_thousand_keys_leave_a_valid_line() -> None:
    """RELIABILITY A14: many short keys are bounded as well as one long one."""
    event: dict[str, object] = {"event": "x", **{f"key{n}": "v" * 50 for n in range(1_000)}}
    line = RENDERERS["json"](None, "info", event)
    assert len(line.encode()) < LINE_BYTES
    assert json.loads(line)["dropped_keys"] > 300


def test_line_that_a_terminal_gets_has_colors_unless_told_otherwise() -> None:
    """no-color.org: colors are for terminals, and ``NO_COLOR`` ends them there too."""
    source = SETUP + "try:\n    1 / 0\nexcept ZeroDivisionError:\n    log.exception('a\\x1b[31mb')"
    colored = _on_terminal(source, {})
    plain = _on_terminal(source, {"NO_COLOR": "1"})
    dumb = _on_terminal(source, {"TERM": "dumb"})
    assert "\x1b[" in colored
    assert "\x1b[31mb" not in colored
    assert "\x1b" not in plain + dumb
    for text in (colored, plain, dumb):
        assert len(text.strip().splitlines()) == 1
        assert "ZeroDivisionError: division by zero" in text


def _on_terminal(source: str, env: dict[str, str]) -> str:
    ours, theirs = os.openpty()
    try:
        done = run(source, env=env, stderr=theirs)
    finally:
        os.close(theirs)
    assert done.exit_code == 0
    parts = []
    with contextlib.suppress(OSError):  # how a terminal says that the other side is gone
        while part := os.read(ours, 65_536):
            parts.append(part)
    os.close(ours)
    return b"".join(parts).decode()


def test_full_disk_costs_nothing_but_the_lines() -> None:
    """RELIABILITY A24: ENOSPC."""
    with Path("/dev/full").open("wb") as full:
        done = run(SETUP + "for _ in range(100): record()\nprint('done')", stderr=full)
    assert (done.exit_code, done.stdout) == (0, "done\n")


@pytest.mark.parametrize(
    "breakage",
    [
        pytest.param("sys.stderr.close()", id="closed file"),
        pytest.param("os.close(2)", id="closed descriptor"),
        pytest.param("r, w = os.pipe(); os.dup2(w, 2); os.close(r)", id="broken pipe"),
        pytest.param("import io; sys.stderr = io.StringIO(); sys.stderr.close()", id="closed text"),
        pytest.param("sys.stderr = object()", id="no file at all"),
    ],
)
def test_broken_stderr_costs_nothing_but_the_lines(breakage: str) -> None:
    """RELIABILITY A24: closed file, EPIPE."""
    source = (
        SETUP + breakage + "\nfor _ in range(100): record()\nprint('done', flush=True)\nos._exit(0)"
    )
    done = run(source)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "done\n", "")


def test_pipe_that_nobody_reads_costs_one_short_wait() -> None:
    """RELIABILITY A24: a full blocking pipe must not hold the host."""
    source = (
        SETUP
        + """
began = time.monotonic()
for index in range(2_000):
    log.warning("line", index=index, filler="x" * 5_000)
print(time.monotonic() - began, flush=True)
"""
    )
    reader, writer = os.pipe()
    try:
        done = run(source, stderr=writer)
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        *lines, torn = pipe.read().split(b"\n")
    assert done.exit_code == 0
    assert float(done.stdout) < 3.0
    assert [json.loads(line)["index"] for line in lines] == list(range(len(lines)))
    assert not torn or torn.startswith(b'{"timestamp"')


def test_reader_that_comes_back_gets_whole_lines_again() -> None:
    """RELIABILITY A24: after a torn line the next one begins on a line of its own."""
    source = (
        SETUP
        + """
for index in range(200):
    log.warning("early", index=index, filler="x" * 5_000)
print("full", flush=True)
sys.stdin.readline()
for index in range(5):
    log.warning("late", index=index)
"""
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PRELUDE + source],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process, process.stdin, process.stdout, process.stderr:
        assert process.stdout.readline() == b"full\n"
        early = os.read(process.stderr.fileno(), 1 << 20)
        process.stdin.write(b"\n")
        process.stdin.flush()
        late = process.stderr.read()
    lines = (early + late).split(b"\n")
    assert [json.loads(line)["event"] for line in lines[-6:-1]] == ["late"] * 5


def test_stream_without_a_descriptor_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks and tests replace ``sys.stderr``, and expect to see the lines there."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    StderrLogger().warning("a line")
    assert stream.getvalue() == "a line\n"


def test_line_below_info_is_not_printed_until_the_host_asks_for_it() -> None:
    """structlog's way to change the level keeps working after our set-up."""
    source = (
        SETUP
        + """
log.debug("hidden")
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG))
log.debug("shown")
"""
    )
    done = run(source)
    assert [json.loads(line)["event"] for line in done.lines] == ["shown"]


def test_child_of_a_fork_can_write_while_the_parent_held_the_lock() -> None:
    """RELIABILITY A28: locks are made anew in the child."""
    source = (
        SETUP
        + """
import threading
stop = threading.Event()
def chat():
    while not stop.is_set():
        log.info("parent")
threads = [threading.Thread(target=chat, daemon=True) for _ in range(4)]
for thread in threads: thread.start()
codes = set()
for _ in range(20):
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        log.info("child")
        os._exit(0 if time.monotonic() - began < 1 else 1)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads: thread.join()
print(codes)
"""
    )
    with Path(os.devnull).open("wb") as devnull:
        done = run(source, stderr=devnull)
    assert done.stdout == "{0}\n"
