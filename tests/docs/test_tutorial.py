"""A newcomer's walk through the tutorial, on a machine that has Python and nothing else."""

from __future__ import annotations

import faulthandler
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks_of, file_of
from tests.docs.console import Command, Shell, commands_of

TUTORIAL = ROOT / "docs" / "tutorial.md"
PINS = ROOT / "requirements" / "constraints.txt"
MOST_SECONDS = 300
NO_INDEX = (
    "No matching distribution found",
    "Could not fetch URL",
    "ConnectionError",
    "ReadTimeout",
)


class Walk:
    """A directory with a virtual environment of its own."""

    def __init__(self, directory: Path) -> None:
        environment = directory / ".venv"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=120)
        self._programs = environment / ("Scripts" if os.name == "nt" else "bin")
        self._directory = directory
        self._shell = Shell(directory=directory, programs=self._programs)

    def follow(self, page: Path) -> int:
        """Do what *page* says; return how many commands were run."""
        commands = 0
        for block in blocks_of(page):
            if (name := file_of(block)) is not None:
                (self._directory / name).write_text(block.text, encoding="utf-8")
            if block.language == "console":
                for command in commands_of(block):
                    self._enter(command)
                    commands += 1
        return commands

    def _enter(self, command: Command) -> None:
        if "pip install" in command.text:
            self._install(command)
        elif not command.elsewhere:  # the environment is made, and active
            self._shell.prove(command)

    def _install(self, command: Command) -> None:
        """Install what the page says, but the checkout instead of a release, and what is pinned."""
        _, _, wanted = command.text.partition("pip install ")
        requirements = [
            f"{ROOT}{word.removeprefix('waypost')}" if word.startswith("waypost") else word
            for word in shlex.split(wanted)
        ]
        pip = [str(self._programs / "python"), "-m", "pip", "--disable-pip-version-check"]
        options = ["--quiet", "--retries", "1", "--constraint", str(PINS)]
        ended = subprocess.run(
            [*pip, "install", *options, *requirements],
            capture_output=True,
            check=False,
            encoding="utf-8",
            timeout=MOST_SECONDS,
        )
        if ended.returncode and any(words in ended.stderr for words in NO_INDEX):
            pytest.skip(f"needs a package index: {ended.stderr.strip().splitlines()[-1]}")
        assert ended.returncode == 0, ended.stderr


def test_newcomer_walks_through_the_tutorial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our promise: what the page says is all that it takes, and takes minutes."""
    # Each command has a limit of its own; pytest's is for tests that install nothing.
    faulthandler.cancel_dump_traceback_later()
    began = time.monotonic()
    commands = Walk(tmp_path).follow(TUTORIAL)
    seconds = time.monotonic() - began
    with capsys.disabled():
        print(f"\nThe walk through the tutorial: {commands} commands in {seconds:.0f} s.")
    assert commands >= 10
    assert seconds < MOST_SECONDS
