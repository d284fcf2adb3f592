"""Hosts in processes of their own: OpenTelemetry's globals can be set once per process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent.parent

# What a programmer writes; `record` then makes one of each signal.
PRELUDE = """
import json, logging, os, sys, time
import structlog
from opentelemetry import metrics, trace
from waypost.telemetry import TelemetryError, setup_telemetry

log = structlog.get_logger()
calls = metrics.get_meter("host").create_counter("calls")

def record(name="work"):
    with trace.get_tracer("host").start_as_current_span(name):
        log.warning("waypost.error", **{"waypost.error.class": "timeout"})
    calls.add(1, {"tool": "search"})
"""

# The last thing a host does; CLOCK_MONOTONIC is the same in every process of a machine.
GOODBYE = """
print(time.monotonic(), flush=True)
sys.exit(7)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a program went; *exit_seconds* counts from its ``GOODBYE``."""

    exit_code: int
    stdout: str
    stderr: str
    exit_seconds: float

    @property
    def lines(self) -> list[str]:
        return self.stderr.splitlines()


def run(
    source: str,
    *,
    env: Mapping[str, str] | None = None,
    stderr: IO[bytes] | int = subprocess.PIPE,
    goodbye: bool = False,
) -> Run:
    """Run *source* after the prelude, with warnings as errors and no settings but *env*."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + source + (GOODBYE if goodbye else "")],
        check=False,
        env=environment(env or {}),
        stderr=stderr,
        stdout=subprocess.PIPE,
        timeout=60,
    )
    ended = time.monotonic()
    stdout = done.stdout.decode()
    said = float(stdout.splitlines()[-1]) if goodbye and stdout else ended
    return Run(
        exit_code=done.returncode,
        stdout=stdout,
        stderr=(done.stderr or b"").decode(),  # strict: what we print is valid UTF-8
        exit_seconds=ended - said,
    )


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process without anything that steers telemetry, plus *env*."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "NO_COLOR", "TERM", "FORCE_COLOR"))
        and not name.lower().endswith("_proxy")
    }
    return {**kept, "PYTHONPATH": f"{ROOT / 'src'}", **env}
