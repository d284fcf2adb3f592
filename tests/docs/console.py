"""Sessions of a shell: what a page shows below ``$ command`` is what the command prints."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.blocks import Block

__all__ = ["Command", "Shell", "commands_of", "environment", "prints_the_same"]

_ELSEWHERE = re.compile(
    r"(python3? -m )?pip install |git clone |cd waypost$|make\b"
    r"|python3? -m venv |(\.|source) \S+/activate$"
)
"""What is not run here: the walk through the tutorial installs, ``make`` is what runs us."""

_KEPT = re.compile(r"(cd|export) |unset ")
"""What a shell remembers for the commands that follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """
    One command of a session.

    Attributes:
        line: Where it stands in its block, from 0.

        expected: What the page shows below it.
    """

    block: Block
    line: int
    text: str
    expected: str

    @property
    def elsewhere(self) -> bool:
        """Whether it is proved in another way than by running it here."""
        return _ELSEWHERE.match(self.text) is not None


def commands_of(block: Block) -> Iterator[Command]:
    """Yield the commands of a ``console`` block; a backslash continues one on the next line."""
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise block.unproved('a console block consists of "$ command" and its output.', at)
        start, text = at, [lines[at][2:]]
        while text[-1].endswith("\\") and at + 1 < len(lines):
            at += 1
            text.append(lines[at])
        shown = at = at + 1
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        expected = "\n".join(lines[shown:at])
        yield Command(block=block, line=start, text="\n".join(text), expected=expected)


def environment(home: Path, programs: Path) -> dict[str, str]:
    """Return what commands see: *programs* first, no color, no setting of telemetry or Python."""
    dropped = ("OTEL_", "WAYPOST_", "PYTHON", "VIRTUAL_ENV", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "COLUMNS": "100",
        "HOME": str(home),
        "NO_COLOR": "1",
        "PATH": os.pathsep.join((str(programs), kept.get("PATH", os.defpath))),
        "PYTHONIOENCODING": "utf-8",
        "TERM": "dumb",
    }


@dataclass(slots=True, kw_only=True)
class Shell:
    """
    A POSIX shell in *directory*; each command has a process of its own.

    Attributes:
        programs: Where ``python`` and ``waypost`` are.
    """

    directory: Path
    programs: Path = Path(sys.executable).parent
    _before: list[str] = field(default_factory=list)
    _status: int = 0

    def prove(self, command: Command, *, checked_next: bool = False) -> None:
        """
        Run *command*, and compare what it prints with what the page shows.

        Args:
            checked_next: The next command shows the exit code, which may then be any.

        Raises:
            UnprovedError: It prints something else, fails, or does not end.
        """
        block, line = command.block, command.line
        script = "\n".join((*self._before, f"(exit {self._status})", command.text))
        try:
            ended = self._run(("sh", "-c", script))
        except subprocess.TimeoutExpired:
            raise block.unproved(f"`{command.text}` does not end.", line) from None
        self._status = ended.returncode
        if _KEPT.match(command.text):
            self._before.append(command.text)
        if ended.returncode and not checked_next:
            raise block.unproved(
                f"`{command.text}` ends with {ended.returncode}; show that with `$ echo $?`.\n"
                f"{ended.stdout}{ended.stderr}",
                line,
            )
        if not prints_the_same(command.expected, ended.stdout):
            raise block.unproved(
                f"`{command.text}` prints\n{ended.stdout}and not, as the page shows,\n"
                f"{command.expected}\n{ended.stderr}",
                line,
            )

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments,
            capture_output=True,
            check=False,
            cwd=self.directory,
            encoding="utf-8",
            env=environment(self.directory, self.programs),
            stdin=subprocess.DEVNULL,
            timeout=90,
        )


def prints_the_same(expected: str, printed: str) -> bool:
    """Whether the lines are the same but for space within them; ``...`` stands for anything."""
    return doctest.OutputChecker().check_output(_lines(expected), _lines(printed), doctest.ELLIPSIS)


def _lines(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())
