"""How the tests start ``waypost enrich``, and what they feed it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from waypost.guidance import enrich_result

WAYPOST = [sys.executable, "-W", "error", "-c", "from waypost.cli import main; main()"]

SUCCESS = '{"status": "success",  "data": {"order": 7}}'
FAILURE = '{"ok": false, "error": "order_not_found"}'
UNKNOWN = '{"status": "error", "error_code": "FLUX_CAPACITOR", "message": "88 mph"}'
PLAIN = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
LONG = "x" * (16 * 1024 * 1024 + 1)


def enriched(line: str) -> str:
    return json.dumps(enrich_result(json.loads(line)))


def run(
    *arguments: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    done = subprocess.run(
        [*WAYPOST, "enrich", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**PLAIN, "COLUMNS": "100", **(env or {})},
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def lines_of(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


class Piped(NamedTuple):
    """The running command, and the three ends that its tests hold."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


@contextlib.contextmanager
def piped(*arguments: str | Path, **options: Any) -> Iterator[Piped]:
    """Start the command with a pipe at each end; it has ended once the block is left."""
    with subprocess.Popen(
        [*WAYPOST, "enrich", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        yield Piped(process, process.stdin, process.stdout, process.stderr)
