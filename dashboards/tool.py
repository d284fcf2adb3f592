"""What goes wrong with one tool?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as builders

from waypost.observe import _names

from . import _panels as panels, _queries as queries
from ._queries import BUCKETS, CALLS, CLASS, ERRORS, increase, log_label, rate, total

__all__ = ["dashboard"]


def dashboard() -> builders.Dashboard:
    """Return the dashboard `waypost-tool`."""
    by_tool = (queries.TOOL,)
    tool = f"{{{{{queries.TOOL}}}}}"
    code, kind = log_label(_names.ERROR_CODE), log_label(_names.ERROR_CLASS)
    name = log_label(_names.TOOL_NAME)
    of_tool = f'{name}=~"$tool"'
    return (
        panels.board("tool", "Tool", "Rate, errors, duration, codes, logs and traces of a tool.")
        .with_panel(
            panels.graph(
                "Calls",
                "Finished calls a second, successes included.",
                "reqps",
                (total(rate(CALLS), by_tool), tool),
                width=8,
            )
        )
        .with_panel(
            panels.graph(
                "Error ratio",
                "Failed calls as a share of all.",
                "percentunit",
                (f"{total(rate(ERRORS), by_tool)} / ({total(rate(CALLS), by_tool)} > 0)", tool),
                width=8,
            )
        )
        .with_panel(
            panels.graph(
                "Duration",
                "Median, 95th and 99th percentile; a dot is an exemplar, which leads to its trace.",
                "s",
                *(
                    (
                        f"histogram_quantile({share}, {total(rate(BUCKETS), ('le',))})",
                        f"p{round(share * 100)}",
                    )
                    for share in (0.5, 0.95, 0.99)
                ),
                width=8,
            )
        )
        .with_panel(
            panels.log_table(
                "Codes and classes",
                "The tools' own codes, which are no metric attribute, and what waypost makes of "
                "them. From logs.",
                f"sum by ({code}, {kind}) (count_over_time({queries.events(of_tool)} [$__range]))",
            )
        )
        .with_panel(
            panels.values(
                "Servers",
                "Failures by the host's name of the server.",
                total(increase(ERRORS, classed=True), (queries.SERVER, queries.TOOL, CLASS))
                + " > 0",
                "short",
                width=12,
                links={
                    queries.TOOL: panels.link_to("tool", "This tool", tool="${__value.raw}"),
                },
            )
        )
        .with_panel(
            panels.graph(
                "Errors by class",
                "Failed calls a second.",
                "cps",
                (total(rate(ERRORS, classed=True), (CLASS,)), f"{{{{{CLASS}}}}}"),
            )
        )
        .with_panel(
            panels.graph(
                "Errors by version",
                "Failed calls a second, by service.version.",
                "cps",
                (
                    total(f"{rate(ERRORS)} {queries.VERSIONED}", ("service_version",)),
                    "{{service_version}}",
                ),
            )
        )
        .with_panel(
            panels.log_lines(
                "Failures in the logs",
                "One event a failure, with what was advised.",
                queries.events(of_tool, f'{kind}=~"$class"'),
            )
        )
        .with_panel(
            panels.trace_table(
                "Failures in the traces",
                "Newest first; the id leads to everything about the call.",
                queries.spans(
                    f'{queries.span(_names.ERROR_CLASS)} =~ "$class"',
                    f'{queries.span(_names.TOOL_NAME)} =~ "$tool"',
                )
                + queries.CHAIN,
            )
        )
    )
