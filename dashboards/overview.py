"""Which tools fail, why, and can the same call succeed?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as builders

from waypost.observe import _names

from . import _panels as panels, _queries as queries
from ._queries import CALLS, CLASS, ERRORS, RETRIES, increase, rate, ratio, total

__all__ = ["dashboard"]


def dashboard() -> builders.Dashboard:
    """Return the dashboard `waypost-overview`."""
    errors, calls = total(increase(ERRORS)), total(increase(CALLS))
    retries = total(increase(RETRIES))
    tool = panels.link_to("tool", "This tool", tool="${__value.raw}")
    kind = panels.link_to("tool", "Its traces and logs", **{"class": "${__value.raw}"})
    return (
        panels.board(
            "overview",
            "Overview",
            "Which tools fail, why, and can the same call succeed.",
        )
        .with_panel(
            panels.number(
                "Calls",
                "Finished tool calls a second, successes included.",
                total(rate(CALLS)),
                "reqps",
            )
        )
        .with_panel(
            panels.number(
                "Error ratio",
                "Failed calls as a share of all.",
                ratio(errors, calls),
                "percentunit",
                bad_from=0.2,
            )
        )
        .with_panel(
            panels.number(
                "Retryable",
                "Failures whose call can succeed, after waiting or after the next step.",
                ratio(total(increase(ERRORS, f'{queries.RETRYABLE}="true"')), errors),
                "percentunit",
            )
        )
        .with_panel(
            panels.number(
                "Retries recovered",
                "Calls after a failure that worked, as a share of all calls after one.",
                "1 - " + ratio(total(increase(RETRIES, f'{queries.OUTCOME}="failed"')), retries),
                "percentunit",
            )
        )
        .with_panel(
            panels.number(
                "Advice ignored",
                "Calls against the advice, as a share of failures: obeying leaves no retry.",
                ratio(total(increase(RETRIES, f'{queries.ADVICE}="ignored"')), errors),
                "percentunit",
                bad_from=0.25,
            )
        )
        .with_panel(
            panels.number(
                "Without guidance",
                "Failures that no rule knows (class unknown), as a share of all.",
                ratio(total(increase(ERRORS, f'{CLASS}="unknown"')), errors),
                "percentunit",
                bad_from=0.1,
            )
        )
        .with_panel(
            panels.values(
                "Failures by tool, class and next step",
                "How often each tool failed, whether the call can succeed, and what is next. "
                "A tool leads to its dashboard, a class to its traces and logs.",
                total(
                    increase(ERRORS, classed=True),
                    (queries.TOOL, CLASS, queries.RETRYABLE, queries.STEP),
                )
                + " > 0",
                "short",
                links={queries.TOOL: tool, CLASS: kind},
            )
        )
        .with_panel(
            panels.graph(
                "Errors by class",
                "Failed calls a second; a dot is an exemplar, which leads to its trace.",
                "cps",
                (total(rate(ERRORS, classed=True), (CLASS,)), f"{{{{{CLASS}}}}}"),
            )
        )
        .with_panel(
            panels.graph(
                "Error ratio by version",
                "Of services that report service.version; a new version that fails more shows.",
                "percentunit",
                (
                    f"{_by_version(ERRORS)} / ({_by_version(CALLS)} > 0)",
                    "{{service_version}}",
                ),
            )
        )
        .with_panel(
            panels.values(
                "Next steps",
                "What callers were told to do, most frequent first.",
                f"topk(10, {total(increase(ERRORS, classed=True), (queries.STEP,))} > 0)",
                "short",
                width=8,
            )
        )
        .with_panel(
            panels.trace_table(
                "Newest failed calls",
                "Traces with a failure; the id leads to everything about it.",
                queries.spans(f"{queries.span(_names.ERROR_CLASS)} != nil") + queries.CHAIN,
                width=16,
            )
        )
    )


def _by_version(metric: str) -> str:
    return total(f"{rate(metric)} {queries.VERSIONED}", ("service_version",))
