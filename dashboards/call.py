"""Show me one call: its attempts, its trace, its logs."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as builders

from waypost.observe import _names

from . import _panels as panels, _queries as queries
from ._queries import log_label

__all__ = ["dashboard"]

_JAEGER = (
    "Open this trace in [Jaeger](${jaeger}/trace/${trace_id}), or "
    "[all attempts of the chain](${jaeger}/search?service=${service}"
    "&tags=%7B%22waypost.chain.id%22%3A%22${chain_id}%22%7D)."
)


def dashboard() -> builders.Dashboard:
    """Return the dashboard `waypost-call`."""
    chain = f'{queries.span(_names.CHAIN_ID)} = "$chain_id"'
    asked = ", ".join(
        queries.span(name)
        for name in (
            _names.ATTEMPT,
            _names.ERROR_CLASS,
            _names.RETRY_ADVICE,
            _names.RETRY_OUTCOME,
            _names.NEXT_ACTION,
        )
    )
    trace = log_label(_names.TRACE_ID)
    return (
        panels.board(
            "call",
            "Call",
            "One call: its attempts, its trace, its logs. Give it a trace id, and the chain id "
            "that stands on its span.",
            narrow=False,
        )
        .with_variable(_text("trace_id", "Trace id"))
        .with_variable(_text("chain_id", "Chain id"))
        .with_variable(_text("jaeger", "Jaeger's address", "http://localhost:16686"))
        .with_panel(panels.note("Jaeger", "The same in Jaeger, where there is one.", _JAEGER))
        .with_panel(
            panels.trace_table(
                "Attempts",
                "All attempts of the chain, with what was advised and what came of it.",
                f"{{ {chain} }} | select({asked}, status)",
            )
        )
        .with_panel(panels.trace_view("Trace", "The spans of the trace.", "$trace_id"))
        .with_panel(
            panels.log_lines(
                "Logs of the trace",
                "Everything that was logged in it, by any library.",
                # An empty value would match every line that belongs to no trace.
                f'{{service_name=~"$service"}} | {trace}=~".+" | {trace}="$trace_id"',
            )
        )
        .with_panel(
            panels.trace_table(
                "Retried in other traces",
                "Spans with a link to this trace: later attempts that began elsewhere.",
                '{ link:traceID = "$trace_id" }',
            )
        )
    )


def _text(name: str, title: str, value: str = "") -> builders.TextBoxVariable:
    return builders.TextBoxVariable(name).label(title).default_value(value)
