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
    TOOL,
    VERSIONED,
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


_ASKED = f'{CLASS}!~"needs_input|rejected|cancelled"'
"""Failures that are an answer, and no fault."""

_SIGN_IN = f'{CLASS}="unauthenticated"'
_AGAIN = f'{OUTCOME}!="corrected"'
"""Calls that repeat one that failed; correcting the arguments is what waypost asks for."""

_SERVICE = f"job, {SIDE}"
"""Host and server both count a call that goes through both, so each has its own number."""

_BY_TOOL = f"{_SERVICE}, {TOOL}"
_BY_VERSION = f"{_SERVICE}, service_version"


def _grown(metric: str, over: str, *matchers: str, by: str = _SERVICE) -> str:
    asked = f"{{{', '.join(matchers)}}}" if matchers else ""
    return f"sum by ({by}) (increase({metric}{asked}[{over}]))"


def _share(part: str, whole: str, *, above: str, at_least: int) -> str:
    return f"{part} / {whole} > {above} and {whole} >= {at_least}"


def _of_version(metric: str, over: str, *matchers: str) -> str:
    asked = f"{{{', '.join(matchers)}}}" if matchers else ""
    return f"sum by ({_BY_VERSION}) (increase({metric}{asked}[{over}]) {VERSIONED})"


def _of_others(metric: str, *matchers: str) -> str:
    """The same of all other versions in a day, also of those whose instances are gone."""
    everything = _grown(metric, "1d", *matchers)
    own = _of_version(metric, "1d", *matchers)
    return f"({everything} - on ({_SERVICE}) group_right () {own})"


_YOUNG = "unless on (job, service_version) count by (job, service_version) (target_info offset 3h)"
"""Only a version that is new can have regressed: an old one that fails more was followed by one
that fails less."""


RULES = (
    Alert(
        "ToolErrorRatioHigh",
        _share(
            _grown(ERRORS, "10m", _ASKED, by=_BY_TOOL),
            _grown(CALLS, "10m", by=_BY_TOOL),
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
        f"{_grown(RETRIES, '5m', _AGAIN)} / {_grown(CALLS, '5m')} > 0.3 "
        f"and {_grown(RETRIES, '5m', _AGAIN)} / 300 > 0.5",
        "5m",
        "critical",
        "{{ $value | humanizePercentage }} of the calls of {{ $labels.job }} repeat failed ones",
        "More than 30 % of the calls, and more than one in two seconds, repeat one that failed.",
    ),
    Alert(
        "AuthenticationFailing",
        _grown(ERRORS, "10m", _SIGN_IN, by=_BY_TOOL) + " > 5",
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
        f"{_of_version(ERRORS, '30m', _ASKED)} / {_of_version(CALLS, '30m')} "
        f"> 2 * {_of_others(ERRORS, _ASKED)} / ({_of_others(CALLS)} >= 50) "
        f"and {_of_version(CALLS, '30m')} >= 50 "
        f"and {_of_version(ERRORS, '30m', _ASKED)} >= 5 "
        f"{_YOUNG}",
        "10m",
        "warning",
        "{{ $labels.job }} {{ $labels.service_version }} fails in "
        "{{ $value | humanizePercentage }} of its calls",
        "A new version fails more than twice as often as the others did in the day before.",
    ),
    Alert(
        "TelemetryLosing",
        f"sum by (job) (increase({INTERNAL_ERRORS}[15m])) > 0 "
        'or count by (job) ({__name__=~"waypost_.+", otel_metric_overflow="true"}) > 0',
        "15m",
        "warning",
        "The numbers of {{ $labels.job }} are not complete",
        "waypost had faults of its own, or the SDK folded series that were too many.",
    ),
)
