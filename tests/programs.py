"""Programs of hosts, each in a process of its own: globals can be set once per process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a program went."""

    exit_code: int
    stdout: str
    stderr: str


def run(
    source: str,
    *,
    env: Mapping[str, str] | None = None,
    flags: Sequence[str] = ("-W", "error"),
    path: bool = True,
    measured: bool = True,
) -> Run:
    """
    Run *source* in a fresh interpreter without any setting of telemetry but *env*.

    Args:
        path: Whether waypost is found through ``PYTHONPATH``, which ``-I`` ignores.

        measured: Whether coverage, when it runs, looks at the program.
    """
    dropped = (
        ("OTEL_", "WAYPOST_", "PYTHON") if measured else ("OTEL_", "WAYPOST_", "PYTHON", "COV")
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    found = {"PYTHONPATH": str(ROOT / "src")} if path else {}
    done = subprocess.run(
        [sys.executable, *flags, "-c", source],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**kept, **found, **(env or {})},
        timeout=60,
    )
    return Run(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)
