"""Is the advice followed, and do retries recover?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as builders

from waypost.observe import _names

from . import _panels as panels, _queries as queries
from ._queries import ADVICE, CALLS, CLASS, ERRORS, OUTCOME, RETRIES, STORMS, increase, rate, total

__all__ = ["dashboard"]


def dashboard() -> builders.Dashboard:
    """Return the dashboard `waypost-retries`."""
    failed = increase(RETRIES, f'{OUTCOME}="failed"', classed=True)
    retries = increase(RETRIES, classed=True)
    ignored = increase(RETRIES, f'{ADVICE}="ignored"')
    second = f"{queries.span(_names.ATTEMPT)} = 2"
    recovered = f'{queries.span(_names.RETRY_OUTCOME)} = "recovered"'
    return (
        panels.board(
            "retries",
            "Retries and advice",
            "Whether callers do what they were told, and whether that helped.",
        )
        .with_panel(
            panels.graph(
                "Retries per call",
                "Calls with the arguments of one that failed, as a share of all calls.",
                "percentunit",
                (
                    total(rate(RETRIES, f'{OUTCOME}!="corrected"'), (queries.TOOL,))
                    + f" / ({total(rate(CALLS), (queries.TOOL,))} > 0)",
                    f"{{{{{queries.TOOL}}}}}",
                ),
            )
        )
        .with_panel(
            panels.graph(
                "Advice",
                "What became of the advice at each retry: followed, ignored, too early, or unknown "
                "where nobody can tell.",
                "cps",
                (total(rate(RETRIES, classed=True), (ADVICE,)), f"{{{{{ADVICE}}}}}"),
            )
        )
        .with_panel(
            panels.values(
                "Recovery by class",
                "Calls after a failure of a class that worked, as a share of all calls after one.",
                f"1 - (({total(failed, (CLASS,))} or 0 * {total(retries, (CLASS,))}) "
                f"/ ({total(retries, (CLASS,))} > 0))",
                "percentunit",
                width=8,
            )
        )
        .with_panel(
            panels.values(
                "Outcome and advice",
                "Retries by how they ended and what became of the advice.",
                total(retries, (OUTCOME, ADVICE)) + " > 0",
                "short",
                width=8,
            )
        )
        .with_panel(
            panels.values(
                "Ignored by tool",
                "Calls against the advice, as a share of the failures of the tool.",
                f"{total(ignored, (queries.TOOL,))} "
                f"/ ({total(increase(ERRORS), (queries.TOOL,))} > 0)",
                "percentunit",
                width=8,
                links={queries.TOOL: panels.link_to("tool", "This tool", tool="${__value.raw}")},
            )
        )
        .with_panel(
            panels.graph(
                "Storms",
                "Chains and tools that went past their budget, each counted once.",
                "short",
                (
                    total(
                        f"increase({STORMS}{queries.selector()}[$__rate_interval])",
                        (queries.TOOL,),
                    ),
                    f"{{{{{queries.TOOL}}}}}",
                ),
            )
        )
        .with_panel(
            panels.trace_table(
                "Recovered at the first retry",
                "Second attempts that worked.",
                queries.spans(second, recovered) + queries.CHAIN,
                width=12,
            )
        )
        .with_panel(
            panels.trace_table(
                "Chains longer than two",
                "Third and later attempts; the id leads to the call, and to its chain.",
                queries.spans(f"{queries.span(_names.ATTEMPT)} > 2") + queries.CHAIN,
            )
        )
    )
