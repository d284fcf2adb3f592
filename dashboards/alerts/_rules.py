"""The alerts, as data: what is asked, for how long, and what to say."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .._queries import (
    ADVICE,
    CALLS,
    CLASS,
    ERRORS,
    INTERNAL_ERRORS,
    OUTCOME,
    RETRIES,
    RETRYABLE,
    SIDE,
)

__all__ = ["RULES", "RUNBOOK", "Alert"]

RUNBOOK = "RUNBOOK.md"
"""Beside the exported files; `waypost dashboards export --runbook URL` names another place."""


class Alert(NamedTuple):
    """
    One alert.

    Attributes:
        expr: Yields a series for each that is in alarm; has a guard for volume, so that one
            failure of two calls wakes nobody.

        lasting: How long it must hold, as Prometheus writes durations.
    """

    name: str
    expr: str
    lasting: str
    severity: Literal["critical", "warning", "info"]
    summary: str
    description: str

    @property
    def runbook(self) -> str:
        """Where to read what to do."""
        return f"{RUNBOOK}#{self.name.lower()}"


_HOST = f'{SIDE}="host"'
"""Host and server both count a call that goes through both: the host's word is taken."""

_ASKED = f'{CLASS}!~"needs_input|rejected|cancelled"'
"""Failures that are an answer, and no fault."""

_SIGN_IN = f'{CLASS}="unauthenticated"'


def _grown(metric: str, over: str, *matchers: str, by: str = "job") -> str:
    return f"sum by ({by}) (increase({metric}{{{', '.join((_HOST, *matchers))}}}[{over}]))"


def _share(part: str, whole: str, *, above: str, at_least: int) -> str:
    return f"{part} / {whole} > {above} and {whole} >= {at_least}"


_VERSION = "* on (job, instance) group_left (service_version) target_info"


def _by_version(metric: str, over: str) -> str:
    grown = f"increase({metric}{{{_HOST}}}[{over}])"
    return f"sum by (job, service_version) ({grown} {_VERSION})"


RULES = (
    Alert(
        "ToolErrorRatioHigh",
        _share(
            _grown(ERRORS, "10m", _ASKED, by="job, gen_ai_tool_name"),
            _grown(CALLS, "10m", by="job, gen_ai_tool_name"),
            above="0.2",
            at_least=20,
        ),
        "5m",
        "warning",
        "{{ $labels.gen_ai_tool_name }} fails in {{ $value | humanizePercentage }} of its calls",
        "More than 20 % of at least 20 calls of the tool failed in ten minutes.",
    ),
    Alert(
        "RetriesNotRecovering",
        _share(
            _grown(RETRIES, "30m", f'{OUTCOME}="failed"', f'{RETRYABLE}="true"'),
            _grown(RETRIES, "30m", f'{RETRYABLE}="true"'),
            above="0.7",
            at_least=20,
        ),
        "10m",
        "warning",
        "{{ $value | humanizePercentage }} of the retries of {{ $labels.job }} fail again",
        "More than 70 % of at least 20 retries of retryable failures failed in half an hour.",
    ),
    Alert(
        "AdviceIgnored",
        _share(
            _grown(RETRIES, "30m", f'{ADVICE}="ignored"'),
            _grown(ERRORS, "30m"),
            above="0.25",
            at_least=20,
        ),
        "10m",
        "warning",
        "{{ $labels.job }} ignores the advice on {{ $value | humanizePercentage }} of failures",
        "Calls were repeated against the advice, for more than a quarter of at least 20 failures.",
    ),
    Alert(
        "RetryStorm",
        f"{_grown(RETRIES, '5m')} / {_grown(CALLS, '5m')} > 0.3 "
        f"and {_grown(RETRIES, '5m')} / 300 > 0.5",
        "5m",
        "critical",
        "{{ $value | humanizePercentage }} of the calls of {{ $labels.job }} are retries",
        "More than 30 % of the calls, and more than one in two seconds, are retries.",
    ),
    Alert(
        "AuthenticationFailing",
        _grown(ERRORS, "10m", _SIGN_IN, by="job, gen_ai_tool_name") + " > 5",
        "2m",
        "warning",
        "{{ $labels.gen_ai_tool_name }} is refused for its credentials",
        "More than five calls in ten minutes had no valid session, token or key.",
    ),
    Alert(
        "ErrorsWithoutGuidance",
        _share(
            _grown(ERRORS, "1h", f'{CLASS}="unknown"'),
            _grown(ERRORS, "1h"),
            above="0.1",
            at_least=20,
        ),
        "30m",
        "info",
        "{{ $value | humanizePercentage }} of the failures of {{ $labels.job }} are not known",
        "No rule knows more than a tenth of at least 20 failures: the model gets no next action.",
    ),
    Alert(
        "VersionRegressed",
        f"{_by_version(ERRORS, '30m')} / {_by_version(CALLS, '30m')} "
        f"> on (job) group_left () 2 * ({_grown(ERRORS, '1d')} / {_grown(CALLS, '1d')}) "
        f"and {_by_version(CALLS, '30m')} >= 50 "
        f"and on (job) count by (job) (count by (job, service_version) "
        f"(count_over_time(target_info[1d]))) > 1",
        "10m",
        "warning",
        "{{ $labels.job }} {{ $labels.service_version }} fails in "
        "{{ $value | humanizePercentage }} of its calls",
        "A version fails more than twice as often as the service did in the day before.",
    ),
    Alert(
        "TelemetryLosing",
        f"sum by (job) (increase({INTERNAL_ERRORS}[15m])) > 0 "
        f'or count by (job) ({{otel_metric_overflow="true"}}) > 0',
        "15m",
        "warning",
        "The numbers of {{ $labels.job }} are not complete",
        "waypost had faults of its own, or the SDK folded series that were too many.",
    ),
)
