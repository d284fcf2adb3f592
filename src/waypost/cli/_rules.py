"""``waypost rules``: the table that sorts error codes."""

from __future__ import annotations

import json
import os

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core._classify import default_rules
from ..core._model import Rule


def print_rules(*, as_json: bool) -> None:
    """Print every row of the built-in table, in order."""
    rows = default_rules().rows
    if as_json:
        typer.echo(json.dumps([_facts(row) for row in rows], indent=2))
        return
    table = Table("rule", "error class", "retryable", "step", "outcome", "why", box=None)
    table.pad_edge = False
    for row in rows:
        table.add_row(
            Text(row.id, "bold"),
            row.error_class.value,
            str(row.retryable).lower(),
            row.step.value,
            row.outcome.value,
            Text(row.why),
        )
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=1_000)  # one line a row, for grep
    console.print(table)


def _facts(row: Rule) -> dict[str, object]:
    return {
        "id": row.id,
        "error_class": row.error_class.value,
        "retryable": row.retryable,
        "step": row.step.value,
        "outcome": row.outcome.value,
        "next_action": row.action,
        "any_of": list(row.any_of),
        "ends": list(row.ends),
        "not_with": list(row.not_with),
        "in_message": row.in_message,
        "vague": row.vague,
        "why": row.why,
    }
