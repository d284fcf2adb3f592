"""``waypost classify``: one error code, its class, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core._classify import RuleBook, explain
from ..core._guide import guide
from ..core._model import Failure


def run(code: str, message: str, *, explained: bool, as_json: bool, rules: RuleBook | None) -> None:
    """Print what is known of *code*, one fact a line."""
    facts = _facts(code, message, rules, explained=explained)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        table.add_row(Text(name, "bold"), Text(_shown(value)))
    Console().print(table)


def _facts(
    code: str, message: str, rules: RuleBook | None, *, explained: bool
) -> Mapping[str, object]:
    guided = guide(Failure({}, (), code, (), message), rules=rules)
    facts: dict[str, object] = {
        "error_class": guided.advice.error_class.value,
        "retryable": guided.retryable,
        "next_step": guided.step.value,
        "actor": guided.actor.value,
        "next_action": guided.next_action,
    }
    if explained:
        found = explain(code, message, rules=rules)
        facts |= {
            "rule": found.rule.id,
            "why": found.rule.why,
            "decided_by": found.decided_by,
            "tokens": list(found.tokens),
            "outcome": found.rule.outcome.value,
            "shadowed": [row.id for row in found.shadowed],
        }
    return facts


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None else str(value)
