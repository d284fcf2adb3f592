"""The commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core._classify import explain
from ..core._guide import guide
from ..core._model import Failure

app = typer.Typer(
    name="waypost",
    help=(
        "Guidance on failed MCP tool calls: can the same call succeed, what is next, and did it"
        " help."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


# Codes such as -32601 look like options, hence the unknown ones; ``_refuse_options`` sees to typos.
@app.command(context_settings={"ignore_unknown_options": True})
def classify(
    code: Annotated[str, typer.Argument(help="The error code, as the tool wrote it.")],
    message: Annotated[str, typer.Argument(help="What the tool said.")] = "",
    explained: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the words that were read, the row that won, and what it shadowed.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Sort an error code into its class, and say what to do about it."""
    _refuse_options(code, message)
    facts = _facts(code, message, explained=explained)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        table.add_row(Text(name, "bold"), Text(_shown(value)))
    Console().print(table)


def _refuse_options(*arguments: str) -> None:
    for argument in arguments:
        if argument.startswith("--"):
            raise typer.BadParameter(f"{argument} is no option.")


def _facts(code: str, message: str, *, explained: bool) -> Mapping[str, object]:
    guided = guide(Failure({}, (), code, (), message))
    facts: dict[str, object] = {
        "error_class": guided.advice.error_class.value,
        "retryable": guided.retryable,
        "next_step": guided.step.value,
        "next_action": guided.next_action,
    }
    if explained:
        found = explain(code, message)
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


@app.command()
def demo(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """
    Run a real MCP server and a real host, and show the guidance on a dozen real failures.

    Telemetry is summarized; it is sent, too, if OTEL_EXPORTER_OTLP_ENDPOINT is set.
    """
    from .demo.host import run  # noqa: PLC0415 -- loads the MCP SDK

    raise typer.Exit(run(as_json=as_json))
