"""What the tests of frameworks share: servers in processes of their own, and the spans."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.frameworks.spans import FILE, Kept, export_spans
from tests.frameworks.target import Target
from tests.programs import ROOT

OFFICE_PYTHON = os.environ.get("WAYPOST_OFFICE_PYTHON", sys.executable)
"""An interpreter that has MCP's SDK 2.x, which the demo's server is made with."""


@pytest.fixture(scope="session")
def kept() -> Kept:
    """The spans of this process: there is one provider of them."""
    return export_spans()


@pytest.fixture
def open_server(tmp_path: Path) -> Iterator[Callable[..., Target]]:
    """Return a function that gives access to a server in a process of its own."""
    programs: list[subprocess.Popen[str]] = []
    logs: list[IO[str]] = []

    def opened(transport: str, *flags: str, module: str = "tests.frameworks.office") -> Target:
        number = len(list(tmp_path.iterdir()))
        spans = tmp_path / f"spans-{number}"
        home = tmp_path / f"home-{number}"
        home.mkdir()
        python = OFFICE_PYTHON if module.endswith(".office") else sys.executable
        command = [python, "-m", module, transport, *flags]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(home)}
        env[FILE] = str(spans)
        if transport == "stdio":
            return Target(command, env, None, spans)
        log = (tmp_path / f"log-{number}").open("w", encoding="utf-8")
        logs.append(log)
        program = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        programs.append(program)
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        assert url.startswith("http://"), Path(log.name).read_text(encoding="utf-8")
        return Target(command, env, url, spans)

    yield opened
    for program in programs:
        program.communicate(timeout=20)
    for log in logs:
        log.close()
