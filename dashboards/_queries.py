"""What the panels and the alerts ask: PromQL, LogQL and TraceQL, over names of the library."""

from __future__ import annotations

from waypost.observe import _names
from waypost.observe._names import Metric

__all__ = [
    "CALLS",
    "CHAIN",
    "ERRORS",
    "INTERNAL_ERRORS",
    "RETRIES",
    "STORMS",
    "VERSIONED",
    "events",
    "increase",
    "label",
    "log_label",
    "rate",
    "ratio",
    "selector",
    "span",
    "spans",
    "total",
]


def _metric_name(metric: Metric, suffix: str) -> str:
    return metric.name.replace(".", "_") + suffix


def label(attribute: str) -> str:
    """Return the Prometheus label of an attribute, as the default translation of OTLP makes it."""
    return attribute.replace(".", "_")


CALLS = _metric_name(_names.CALL_DURATION, "_seconds_count")
BUCKETS = _metric_name(_names.CALL_DURATION, "_seconds_bucket")
ERRORS = _metric_name(_names.ERRORS, "_total")
RETRIES = _metric_name(_names.RETRIES, "_total")
STORMS = _metric_name(_names.STORMS, "_total")
INTERNAL_ERRORS = _metric_name(_names.INTERNAL_ERRORS, "_total")

TOOL = label(_names.TOOL_NAME)
SERVER = label(_names.SERVER)
SIDE = label(_names.SIDE)
CLASS = label(_names.ERROR_CLASS)
STEP = label(_names.NEXT_STEP)
RETRYABLE = label(_names.RETRYABLE)
OUTCOME = label(_names.RETRY_OUTCOME)
ADVICE = label(_names.RETRY_ADVICE)

_JOB = 'job=~"(.+/)?($service)"'
"""A plain Prometheus has no `service_name` on metrics: `job` is `namespace/name` of the service."""


def selector(*more: str, tool: bool = True, classed: bool = False) -> str:
    """
    Return the label matchers of a panel, in braces: its variables, and what it asks itself.

    Args:
        tool: Whether the variable `tool` narrows it down.

        classed: Whether the variable `class` does, which success has none of.
    """
    parts = [_JOB, f'{SIDE}=~"$side"']
    if tool:
        parts.append(f'{TOOL}=~"$tool"')
    if classed:
        parts.append(f'{CLASS}=~"$class"')
    return "{" + ", ".join((*parts, *more)) + "}"


def total(series: str, by: tuple[str, ...] = ()) -> str:
    """Sum *series*, by some labels."""
    return f"sum by ({', '.join(by)}) ({series})" if by else f"sum({series})"


def increase(metric: str, *more: str, over: str = "$__range", classed: bool = False) -> str:
    """Return how much a counter grew over the time that the dashboard shows."""
    return f"increase({metric}{selector(*more, classed=classed)}[{over}])"


def rate(metric: str, *more: str, classed: bool = False) -> str:
    """Return how fast a counter grows, a second."""
    return f"rate({metric}{selector(*more, classed=classed)}[$__rate_interval])"


def ratio(part: str, whole: str) -> str:
    """Return a share: 0 where the part has no series, nothing where the whole is 0."""
    return f"({part} or vector(0)) / ({whole} > 0)"


def log_label(attribute: str) -> str:
    """Return the name of an attribute in Loki's structured metadata."""
    return attribute.replace(".", "_")


VERSIONED = (
    "* on (job, instance) group_left (service_version) topk by (job, instance) "
    "(1, max by (job, instance, service_version) (target_info))"
)
"""Joins the version to a series; one of them while an instance goes from one to the next."""


def events(*filters: str, event: str = _names.ERROR_EVENT) -> str:
    """Return a LogQL stream of waypost's events; works with and without `setup_telemetry`."""
    side = f'{log_label(_names.SIDE)}=~"$side"'
    stages = "".join(f" | {stage}" for stage in (side, *filters))
    return f'{{service_name=~"$service"}} |= `{event}`{stages}'


def span(attribute: str) -> str:
    """Return how TraceQL names a span attribute."""
    return f"span.{attribute}"


def spans(*conditions: str) -> str:
    """Return a TraceQL filter for spans of the services that are chosen."""
    chosen = (f'{span(_names.SIDE)} =~ "$side"', 'resource.service.name =~ "$service"')
    return "{ " + " && ".join((*conditions, *chosen)) + " }"


CHAIN = f" | select({span(_names.CHAIN_ID)})"
"""Shows the chain of each span, which leads to its other attempts."""
