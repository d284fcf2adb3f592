"""Can the numbers be trusted?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as builders

from waypost.observe import _names

from . import _panels as panels, _queries as queries
from ._queries import CALLS, CLASS, ERRORS, INTERNAL_ERRORS, increase, ratio, total

__all__ = ["dashboard"]

OVERFLOW = '__name__=~"waypost_.+", otel_metric_overflow="true"'
"""Past 2,000 attribute sets the SDK folds data into a series with this label."""


def dashboard() -> builders.Dashboard:
    """Return the dashboard `waypost-health`."""
    failed = total(increase(ERRORS))
    other = f'{queries.TOOL}="{_names.OTHER}"'
    fault = queries.label(_names.FAULT_AT)
    stamp = f"timestamp({CALLS}{queries.selector()})"
    own = '{job=~"(.+/)?($service)"}'
    return (
        panels.board("health", "Health", "Whether what waypost tells is complete.", narrow=True)
        .with_panel(
            panels.number(
                "Unknown",
                "Failures that no rule knows, as a share of all: write rules for their codes.",
                ratio(total(increase(ERRORS, f'{CLASS}="unknown"')), failed),
                "percentunit",
                bad_from=0.1,
            )
        )
        .with_panel(
            panels.number(
                "Raised or unseen",
                "Calls that ended without a result that waypost saw, as a share of all.",
                ratio(
                    total(increase(CALLS, f'{CLASS}=~"unseen|raised"')),
                    total(increase(CALLS)),
                ),
                "percentunit",
            )
        )
        .with_panel(
            panels.number(
                "Overflowing series",
                "Series into which the SDK folded what was too much; 0 is right.",
                f'count({{{OVERFLOW}, job=~"(.+/)?($service)"}}) or vector(0)',
                "short",
                bad_from=1,
            )
        )
        .with_panel(
            panels.number(
                "Internal errors",
                "Faults inside waypost or an observer; results were not affected. 0 is right.",
                f"sum(increase({INTERNAL_ERRORS}{own}[$__range])) or vector(0)",
                "short",
                bad_from=1,
            )
        )
        .with_panel(
            panels.number(
                "Counted as other",
                "Failures of tools that no server has, or past the bound of attribute sets.",
                ratio(total(increase(ERRORS, other)), failed),
                "percentunit",
            )
        )
        .with_panel(
            panels.number(
                "Last export",
                "Seconds since the last sample of calls arrived, whether or not there were calls.",
                f"time() - max({stamp} or max_over_time({stamp}[$__range:1m]))",
                "s",
                bad_from=600,
            )
        )
        .with_panel(
            panels.values(
                "Internal errors by place",
                "Where in waypost, or in an observer, the fault was.",
                f"sum by ({fault}) (increase({INTERNAL_ERRORS}{own}[$__range])) > 0",
                "short",
                width=12,
            )
        )
        .with_panel(
            panels.values(
                "Versions",
                "Services and their versions, as they report them.",
                f"count by (job, service_version) (target_info{own})",
                "short",
                width=12,
            )
        )
        .with_panel(
            panels.log_lines(
                "Failures that no rule knows",
                "Their codes: write rules for those that matter.",
                queries.events(f'{queries.log_label(_names.ERROR_CLASS)}="unknown"'),
            )
        )
    )
