"""``waypost enrich`` among other programs: pipes, signals, terminals, disks that are full."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.enriching import (
    FAILURE,
    PLAIN,
    SUCCESS,
    WAYPOST,
    enriched,
    lines_of,
    piped,
    run,
)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("kept", "added"), [(-20, b""), (-8, b"\xff" * 8)], ids=["cut", "noise"])
def test_broken_gzip_is_told_after_what_could_be_read(
    kept: int, added: bytes, workers: str
) -> None:
    """Our promise: a clear error, and nothing lost, also of what is with the workers."""
    data = gzip.compress(lines_of(*[SUCCESS] * 50_000), compresslevel=1)[:kept] + added
    code, out, told = run("--workers", workers, stdin=data)
    assert code == 1
    assert set(out.splitlines()) == {SUCCESS}
    assert len(out.splitlines()) > 40_000
    assert "waypost enrich: The gzip data is broken or ends early:" in told
    assert f"Lines read: {len(out.splitlines()):,}." in told


@pytest.mark.parametrize("workers", ["1", "2"])
def test_lines_come_out_as_they_come_in(workers: str) -> None:
    """Issue 3, item 2: streaming, as behind ``tail -f``."""
    with piped("--workers", workers) as (process, stdin, stdout, _):
        for _ in range(2):
            stdin.write(lines_of(FAILURE))
            stdin.flush()
            assert stdout.readline() == lines_of(enriched(FAILURE))
        stdin.close()
        assert process.wait(timeout=30) == 0


def test_interruption_ends_at_once_and_quietly() -> None:
    """Our promise: Ctrl-C ends with 130, and what was read is written."""
    with piped() as (process, stdin, stdout, stderr):
        stdin.write(lines_of(FAILURE))
        stdin.flush()
        assert stdout.readline() == lines_of(enriched(FAILURE))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert stderr.read() == b""


def test_worker_that_is_killed_is_told(tmp_path: Path) -> None:
    """Our promise: a clear error; what came before it is written."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(*[FAILURE] * 100_000))
    with piped(source, "--workers", "2") as (process, _, stdout, stderr):
        # It waits for somebody to read on, with most of the file before it.
        assert stdout.readline() == lines_of(enriched(FAILURE))
        for worker in workers_of(process.pid):
            os.kill(worker, signal.SIGKILL)
        out, told = stdout.read(), stderr.read()
    assert process.returncode == 1
    assert set(out.decode().splitlines()) == {enriched(FAILURE)}
    assert "waypost enrich: A worker process was ended from outside." in told.decode()
    assert "Traceback" not in told.decode()


def workers_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    found = [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
    assert found
    return found


def test_input_that_cannot_be_read_on_is_told() -> None:
    """Our promise: a clear error; nobody can read the memory at address 0."""
    code, out, told = run("/proc/self/mem")
    assert (code, out) == (1, "")
    assert "waypost enrich: The input cannot be read on: Input/output error. Lines read: 0." in told


def test_reader_that_goes_away_is_no_fault() -> None:
    """Our promise: ``waypost enrich | head`` prints no traceback."""
    with piped() as (process, stdin, stdout, stderr):
        stdout.close()
        stdin.write(lines_of(FAILURE))
        stdin.close()
        assert process.wait(timeout=30) == 1
        assert stderr.read() == b""


def test_unbuffered_python_writes_everything(tmp_path: Path) -> None:
    """Bug: a raw file writes a part and says how much; a paused reader made lines vanish."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(*[FAILURE] * 20_000))
    with subprocess.Popen(
        [*WAYPOST, "enrich", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**PLAIN, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), True)
        first = process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        out = first + process.stdout.read()
    assert process.returncode == 0
    assert out == lines_of(*[enriched(FAILURE)] * 20_000)


def test_gap_in_the_input_is_not_its_end() -> None:
    """Bug: a pipe that another program had set to non-blocking ended at its first gap."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with subprocess.Popen(
        [*WAYPOST, "enrich"], stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        os.close(reading)
        assert process.stdout is not None
        for _ in range(2):
            os.write(writing, lines_of(FAILURE))
            assert process.stdout.readline() == lines_of(enriched(FAILURE))
        os.close(writing)
        assert process.wait(timeout=30) == 0


def test_interruption_of_the_group_ends_the_workers_quietly(tmp_path: Path) -> None:
    """Our promise: Ctrl-C on a terminal reaches every process, and prints no traceback."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(*[FAILURE] * 100_000))
    with piped(source, "--workers", "2", start_new_session=True) as (process, _, stdout, stderr):
        stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        stdout.read()
        assert process.wait(timeout=30) == 130
        assert stderr.read() == b""


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        ("<&-", "Standard input is closed: name a file, or pipe the results in."),
        (">&-", "Standard output is closed: there is nowhere to write to."),
    ],
)
def test_closed_stream_is_told(tmp_path: Path, closed: str, told: str) -> None:
    """Our promise: no traceback, whatever started us."""
    (tmp_path / "in.jsonl").write_bytes(lines_of(FAILURE))
    source = "" if closed == "<&-" else "in.jsonl"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {source} {closed}', "sh", *WAYPOST, "enrich"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"waypost enrich: {told}" in done.stderr
    assert "Traceback" not in done.stderr


def test_summary_never_goes_among_the_lines() -> None:
    """Bug: without a standard error, the JSON summary went to standard output."""
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *WAYPOST, "enrich", "--json"],
        input=lines_of(SUCCESS),
        stdout=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, lines_of(SUCCESS))


def test_forced_color_does_not_tear_the_summary() -> None:
    """Our promise: ``--json`` is JSON, and a spinner needs a terminal."""
    _, _, told = run("--json", stdin=lines_of(SUCCESS), env={"FORCE_COLOR": "1"})
    assert json.loads(told)["lines"] == 1


def test_input_is_never_taken_for_the_file_of_bad_lines(tmp_path: Path) -> None:
    """Our promise: nothing is lost, also where the shell opened the file."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(FAILURE))
    errors = ("--errors", "in.jsonl", "--force")
    for redirection in ("<", ">>"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {redirection} in.jsonl', "sh", *WAYPOST, "enrich", *errors],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            input=None if redirection == "<" else b"",
        )
        assert done.returncode == 2
    assert source.read_bytes() == lines_of(FAILURE)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disk_is_told(unbuffered: str) -> None:
    """RELIABILITY A24: ENOSPC."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*WAYPOST, "enrich"],
            input=lines_of(FAILURE),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**PLAIN, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert b"waypost enrich: The output cannot be written: No space left on device." in done.stderr
    assert b"Traceback" not in done.stderr


def test_full_disk_of_the_bad_lines_is_told() -> None:
    """RELIABILITY A24: ENOSPC, at whichever of the two files."""
    code, out, told = run("--errors", "/dev/full", "--force", stdin=lines_of("oops", SUCCESS))
    assert (code, out) == (1, f"{SUCCESS}\n")
    assert "waypost enrich: The output cannot be written: No space left on device." in told
    assert "Traceback" not in told


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    """Issue 3, item 2: progress on a terminal; ``NO_COLOR`` is heeded."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines_of(*[FAILURE] * 5_000))
    shown, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}
    with subprocess.Popen(
        [*WAYPOST, "enrich", source], stdout=subprocess.DEVNULL, stderr=terminal, env=env
    ) as process:
        os.close(terminal)
        text = b""
        try:
            while data := os.read(shown, 65_536):
                text += data
        except OSError:  # Linux says so when the other end is closed
            pass
    os.close(shown)
    assert process.returncode == 0
    assert b"5,000 lines, 5,000 failures" in text
    assert b"lines 5,000, successes 0, failures 5,000" in text
    assert b"\x1b[3" not in text
    assert run(source)[2].count("5,000") == 3
