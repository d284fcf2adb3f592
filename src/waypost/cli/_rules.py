"""``waypost rules``: the table that sorts error codes."""

from __future__ import annotations

import json
import sys

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core._classify import RuleBook, default_rules
from ..core._model import Rule


def print_rules(rules: RuleBook | None, *, as_json: bool) -> None:
    """Print every row of *rules*, by default of the built-in table, in order."""
    rows = (rules or default_rules()).rows
    if as_json:
        typer.echo(json.dumps([_facts(row) for row in rows], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    for name in ("error class", "retryable", "step", "outcome", "why"):
        table.add_column(name)
    for row in rows:
        table.add_row(
            Text(row.id, "bold"),
            row.error_class.value,
            str(row.retryable).lower(),
            row.step.value,
            row.outcome.value,
            Text(row.why),
        )
    # In a file or a pipe one line a row, for grep.
    Console(width=None if sys.stdout.isatty() else 1_000).print(table)


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
        "only_with": list(row.only_with),
        "not_with": list(row.not_with),
        "in_message": row.in_message,
        "vague": row.vague,
        "refined_by": [each.value for each in row.refined_by],
        "why": row.why,
    }
