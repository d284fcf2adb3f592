"""``waypost retries``: which attempt each recorded call was, and what became of the advice."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core._clean import clean_text
from ..core._model import OptionError
from ..testing import ReplayedCall, replay

_TOOL_CHARS = 128


def run(lines: Iterable[bytes], name: str, *, as_json: bool) -> int:
    """
    Print what is said of each call in *lines*.

    Args:
        name: What errors call the file.

    Returns:
        The exit code: 0, or 2 if a line holds no call.
    """
    calls: list[dict[str, Any]] = []
    try:
        calls += _calls(lines)
        told = replay(calls)
    except (ValueError, RecursionError) as exc:
        typer.echo(f"{name}: {exc}", err=True)
        return 2
    if as_json:
        facts = [{"tool": call["tool"], **each} for call, each in zip(calls, told, strict=True)]
        typer.echo(json.dumps(facts, indent=2))
        return 0
    table = Table("call", "tool", "attempt", "error class", "retryable", "may repeat", box=None)
    table.pad_edge = False
    table.add_column("advice")
    table.add_column("outcome")
    for number, (call, each) in enumerate(zip(calls, told, strict=True), start=1):
        table.add_row(str(number), *map(Text, _cells(call, each)))
    Console(width=None if sys.stdout.isatty() else 1_000).print(table)
    return 0


def _calls(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            call = json.loads(line)
        except ValueError as exc:
            raise OptionError(f"line {number} is no JSON: {exc}") from exc
        if type(call) is not dict:
            raise OptionError(
                f"line {number} is no call: a call is an object with tool, arguments and payload."
            )
        yield call


def _cells(call: dict[str, Any], told: ReplayedCall) -> Iterator[str]:
    yield clean_text(str(call["tool"]), _TOOL_CHARS)
    yield str(told["attempt"])
    yield told["error_class"] or "-"
    yield "-" if told["retryable"] is None else str(told["retryable"]).lower()
    yield str(told["may_repeat"]).lower() if told["is_error"] else "-"
    yield told["advice"] or "-"
    yield told["outcome"] or "-"
