"""
Prove one page: ``python -m tests.docs.prove PAGE``, in a directory that it may fill.

A process of its own, since pages set what can be set once in a process: providers, logging.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
import tomllib
import traceback
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.docs.blocks import ROOT, Block, UnprovedError, blocks_of, file_of
from tests.docs.console import Command, Shell, commands_of

__all__ = ["main", "prove"]

_EXTRAS = re.compile(r"\bwaypost\[([\w,-]+)\]")
_TARGETS = re.compile(r"(?:^\$ |`)make((?: [a-z]+)+)", re.MULTILINE)
_PARSERS: dict[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads}
_RULES = re.compile(r"^([a-z]+):", re.MULTILINE)


def main() -> int:
    """Prove the page that the first argument names; exit code 1 if that fails."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module  # where classes of the page are looked for
    try:
        prove(Path(sys.argv[1]), Path.cwd(), vars(module))
    except UnprovedError as unproved:
        print(unproved, file=sys.stderr)
        return 1
    return 0


def prove(page: Path, directory: Path, names: dict[str, Any]) -> None:
    """
    Run or check every block of *page* in order.

    Args:
        directory: Where its files are written and its commands run.

        names: Shared by its Python blocks.

    Raises:
        UnprovedError: At the first block that does not do what the page says.
    """
    blocks = blocks_of(page)
    _prove_installation(page)
    proof = _Proof(directory, names)
    for at, block in enumerate(blocks):
        _refuse_unused_file(block, blocks[at + 1 :])
        proof.of(block)


def _refuse_unused_file(block: Block, below: list[Block]) -> None:
    name = file_of(block)
    if name is None:
        return
    used = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)|import {re.escape(Path(name).stem)}\b")
    if not any(used.search(other.text) for other in below):
        raise block.unproved(f"{name} is written, but nothing below it on the page uses it.")


def _prove_installation(page: Path) -> None:
    """What is not run, wherever it stands on the page: extras and targets exist."""
    text = page.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra for found in _EXTRAS.findall(text) for extra in found.split(",")}
    if unknown := named - project["optional-dependencies"].keys():
        raise UnprovedError(f"{page}: pyproject.toml has no extra {', '.join(sorted(unknown))}.")
    targets = {target for found in _TARGETS.findall(text) for target in found.split()}
    if unknown := targets - {*_RULES.findall((ROOT / "Makefile").read_text(encoding="utf-8"))}:
        raise UnprovedError(f"{page}: the Makefile has no target {', '.join(sorted(unknown))}.")


class _Proof:
    """What the blocks of one page have in common."""

    def __init__(self, directory: Path, names: dict[str, Any]) -> None:
        self._directory = directory
        self._names = names
        self._shell = Shell(directory=directory)

    def of(self, block: Block) -> None:
        """Prove one block."""
        if (name := file_of(block)) is not None:
            self._write(block, name)
        match block.language:
            case "console":
                self._run_commands(block)
            case "json" | "toml":
                _parse(block)
            case "python" if re.search(r"^>>> ", block.text, re.MULTILINE):
                self._run_session(block)
            case "python":
                self._run_program(block, runs=name is None)

    def _write(self, block: Block, name: str) -> None:
        path = self._directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _run_commands(self, block: Block) -> None:
        commands = list(commands_of(block))
        for command, following in pairwise((*commands, None)):
            assert command is not None
            if command.elsewhere:
                _refuse_output(command)
            else:
                checks = following is not None and following.text == "echo $?"
                self._shell.prove(command, checked_next=checks)

    def _run_session(self, block: Block) -> None:
        parser = doctest.DocTestParser()
        name = block.page.name
        session = parser.get_doctest(block.text, {}, name, str(block.page), block.line - 1)
        session.globs = self._names
        said: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        if runner.run(session, out=said.append, clear_globs=False).failed:
            raise block.unproved("".join(said))

    def _run_program(self, block: Block, *, runs: bool) -> None:
        """Compile a block, so that its lines are those of the page, and run it."""
        source = "\n" * (block.line - 1) + block.text
        try:
            program = compile(source, block.page, "exec", dont_inherit=True)
            if runs:
                exec(program, self._names)
        except Exception:  # noqa: BLE001 -- whatever it raises, it is not what the page says
            raise block.unproved(traceback.format_exc()) from None


def _refuse_output(command: Command) -> None:
    if command.expected.strip():
        raise command.block.unproved(
            f"`{command.text}` is not run, so nobody checks the output that the page shows.",
            command.line,
        )


def _parse(block: Block) -> None:
    try:
        _PARSERS[block.language](block.text)
    except ValueError as exc:
        raise block.unproved(f"this is no {block.language}: {exc}") from None


if __name__ == "__main__":
    sys.exit(main())
