"""``waypost enrich`` on a file of results: a whole program against the floor in one process."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ._measure import Measured, Whole

LINES = 1_000_000
LONG_LINE_BYTES = 100_000_000
MAX_RESIDENT_BYTES = 100_000_000

_CODES = (
    "order_not_found", "RATE_LIMITED", "TIMEOUT", "RESOURCE_LOCKED", "PERMISSION_DENIED",
    "FLUX_CAPACITOR", "INVALID_ARGUMENT", "TOKEN_EXPIRED", "quota_exceeded", "ECONNREFUSED",
)  # fmt: skip
_ENRICH = [sys.executable, "-c", "from waypost.cli import main; main()", "enrich"]

# A small process in between: what its parent holds when a program is started counts as resident
# in that program.
_LAUNCHER = """
import json, os, subprocess, sys, time
started = time.perf_counter()
with open(sys.argv[1], "wb") as out:
    process = subprocess.Popen(sys.argv[2:], stdout=out, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
print(json.dumps([
    used.ru_utime + used.ru_stime,
    time.perf_counter() - started,
    used.ru_maxrss * 1024,
    os.waitstatus_to_exitcode(status),
]))
os._exit(0)
"""


def _lines(count: int) -> Iterator[str]:
    """Results of about 200 bytes, every second one a failure; no two messages are the same."""
    draw = random.Random(1)
    for number in range(count):
        customer = draw.randrange(1_000_000)
        if number % 2:
            payload: dict[str, object] = {
                "status": "error",
                "error_code": _CODES[number // 2 % len(_CODES)],
                "message": f"Order {number} of customer {customer} could not be handled by the"
                f" service, see the log for request {draw.randrange(1_000_000_000)}.",
                "request_id": f"req-{number:08d}",
            }
        else:
            payload = {
                "status": "success",
                "data": {
                    "order": number,
                    "customer": f"customer-{customer}",
                    "total": round(draw.random() * 100, 2),
                    "currency": "EUR",
                    "lines": [1, 2, 3],
                    "shipped": True,
                    "note": "left at the door",
                },
            }
        yield json.dumps(payload)


class _Run(NamedTuple):
    cpu_seconds: float
    wall_seconds: float
    resident_bytes: int
    exit_code: int


def _enriched(source: Path, *options: str) -> _Run:
    """Run the command; of its processes the largest counts."""
    output = source.with_suffix(".out")
    run = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, str(output), *_ENRICH, str(source), *options],
        capture_output=True,
        check=True,
    )
    return _Run(*json.loads(run.stdout))


def _written(folder: str, *, count: int = LINES) -> Path:
    source = Path(folder) / "results.jsonl"
    with source.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(count))
    return source


def _cost() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        source = _written(folder)
        started = time.process_time()
        with source.open(encoding="utf-8") as file:
            for line in file:
                json.dumps(json.loads(line))
        floor = time.process_time() - started
        run = _enriched(source)
        assert run.exit_code == 0
    return Measured.per_line(run.cpu_seconds, floor, LINES)


def _second_worker() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        source = _written(folder)
        alone = _enriched(source)
        shared = _enriched(source, "--workers", "2")
        assert alone.exit_code == shared.exit_code == 0
    return Measured.per_line(shared.wall_seconds, alone.wall_seconds, LINES)


def _memory() -> Measured:
    """A million lines in gzip and a line of 100 MB among them, for one process and for two."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "results.jsonl.gz"
        with gzip.open(source, "wb", compresslevel=1) as file:
            for number, line in enumerate(_lines(LINES)):
                if number == LINES // 2:
                    file.writelines(b"x" * 1_000_000 for _ in range(LONG_LINE_BYTES // 1_000_000))
                    file.write(b"\n")
                file.write(f"{line}\n".encode())
        errors = Path(folder) / "bad.tsv"
        runs = [
            _enriched(source, "--workers", str(workers), "--errors", str(errors), "--force")
            for workers in (1, 2)
        ]
        assert [run.exit_code for run in runs] == [1, 1]
        assert errors.stat().st_size > LONG_LINE_BYTES
    largest = max(run.resident_bytes for run in runs)
    return Measured(
        ratio=largest / MAX_RESIDENT_BYTES, subject=largest, floor=MAX_RESIDENT_BYTES, unit="B"
    )


RATIOS = (
    Whole(question="waypost enrich, a million lines / json.loads and dumps", bound=3, run=_cost),
    Whole(
        question="waypost enrich --workers 2 / --workers 1, wall time",
        bound=1 / 1.35,
        run=_second_worker,
    ),
    Whole(question="resident memory of waypost enrich / 100 MB", bound=1, run=_memory),
)
