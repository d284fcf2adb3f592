"""Each alert fires in the scenario made for it, and none where all is well: real promtool."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from dashboards.build import GENERATED
from tests.dashboards.boards import alerts
from tests.peers.programs import BUILT

PROMTOOL = BUILT / "promtool"
RULES = GENERATED / "prometheus/waypost-alerts.yml"

if not PROMTOOL.exists():
    pytest.skip("needs promtool: make peers", allow_module_level=True)

_OF_THE_HOST = 'job="host", instance="1", waypost_side="host", gen_ai_tool_name="find"'


class Grows(NamedTuple):
    """
    A counter that grows by *a_minute*, with the labels that its alert looks at.

    Attributes:
        after: So many minutes it stands still at first.
    """

    metric: str
    a_minute: float
    labels: str = ""
    after: int = 0

    def series(self, minutes: int) -> dict[str, str]:
        own = f", {self.labels}" if self.labels else ""
        still = f"0x{self.after} " if self.after else ""
        return {
            "series": f"{self.metric}{{{_OF_THE_HOST}{own}}}",
            "values": f"{still}0+{self.a_minute}x{minutes - self.after}",
        }


def calls(a_minute: float) -> Grows:
    return Grows("waypost_call_duration_seconds_count", a_minute)


def errors(a_minute: float, error_class: str = "timeout", after: int = 0) -> Grows:
    labels = f'waypost_error_class="{error_class}", waypost_retryable="true"'
    return Grows("waypost_errors_total", a_minute, labels, after)


def retries(a_minute: float, outcome: str = "recovered", advice: str = "followed") -> Grows:
    labels = (
        f'waypost_retry_outcome="{outcome}", waypost_retry_advice="{advice}", '
        'waypost_retryable="true"'
    )
    return Grows("waypost_retries_total", a_minute, labels)


HEALTHY = (calls(10), errors(0.2), retries(0.1))
SCENARIOS = {
    "ToolErrorRatioHigh": (calls(10), errors(4)),
    "RetriesNotRecovering": (calls(100), retries(2, "failed"), retries(0.2)),
    "AdviceIgnored": (calls(100), errors(2), retries(1, "failed", "ignored"), retries(1)),
    "RetryStorm": (calls(100), retries(40)),
    "AuthenticationFailing": (calls(100), errors(1, "unauthenticated")),
    "ErrorsWithoutGuidance": (calls(100), errors(2), errors(1, "unknown")),
    "TelemetryLosing": (calls(10), Grows("waypost_internal_errors_total", 1)),
}


def fired(folder: Path, series: list[dict[str, str]], minutes: int, names: set[str]) -> str:
    """What promtool says to the claim that exactly *names* fire after *minutes*."""
    tests = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": series,
                "promql_expr_test": [
                    {
                        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": f"{minutes}m",
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}"}}', "value": 1}
                            for name in sorted(names)
                        ],
                    }
                ],
            }
        ],
    }
    file = folder / "tests.yml"
    file.write_text(yaml.safe_dump(tests), encoding="utf-8")
    done = subprocess.run(
        [PROMTOOL, "test", "rules", file], check=False, capture_output=True, text=True
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_rules_are_valid() -> None:
    """DASHBOARDS, what CI proves: `promtool check rules`."""
    done = subprocess.run([PROMTOOL, "check", "rules", RULES], check=False, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_every_alert_has_a_scenario() -> None:
    """Issue 7, item 4."""
    assert {*SCENARIOS, "VersionRegressed"} == {alert["alert"] for alert in alerts()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_alert_fires_in_its_scenario_alone(name: str, tmp_path: Path) -> None:
    """Issue 7, item 4: each alert fires in a scenario made for it."""
    minutes = 120
    series = [one.series(minutes) for one in SCENARIOS[name]]
    assert fired(tmp_path, series, minutes, {name}) == ""


def test_no_alert_fires_where_all_is_well(tmp_path: Path) -> None:
    """Issue 7, item 4: and not in the healthy one."""
    minutes = 180
    assert fired(tmp_path, [one.series(minutes) for one in HEALTHY], minutes, set()) == ""


@pytest.mark.parametrize("at_night", ["ToolErrorRatioHigh", "RetriesNotRecovering"])
def test_a_few_failures_at_night_wake_nobody(at_night: str, tmp_path: Path) -> None:
    """DASHBOARDS, alerts: each with a volume guard."""
    few = (calls(0.1), errors(0.1), retries(0.1, "failed"))
    assert at_night in SCENARIOS
    assert fired(tmp_path, [one.series(120) for one in few], 120, set()) == ""


def test_answers_of_people_are_no_errors(tmp_path: Path) -> None:
    """DASHBOARDS, alerts: `needs_input`, `rejected` and `cancelled` are left out."""
    asked = (calls(10), errors(3, "needs_input"), errors(3, "rejected"), errors(3, "cancelled"))
    assert fired(tmp_path, [one.series(120) for one in asked], 120, set()) == ""


def test_corrections_are_no_storm(tmp_path: Path) -> None:
    """Bug: calls with corrected arguments, which waypost asks for, woke people up."""
    corrected = (calls(100), retries(40, "corrected"))
    assert fired(tmp_path, [one.series(120) for one in corrected], 120, set()) == ""


def test_server_side_has_alerts_of_its_own(tmp_path: Path) -> None:
    """Bug: where waypost stands on the server alone, nothing fired."""
    series = [one.series(120) for one in (calls(100), errors(1, "unauthenticated"))]
    for one in series:
        one["series"] = one["series"].replace('waypost_side="host"', 'waypost_side="server"')
    assert fired(tmp_path, series, 120, {"AuthenticationFailing"}) == ""


@pytest.mark.parametrize(
    ("metric", "names"),
    [("waypost_errors_total", {"TelemetryLosing"}), ("http_server_duration_count", set())],
)
def test_overflow_of_others_is_not_told(metric: str, names: set[str], tmp_path: Path) -> None:
    """Bug: any library's overflow was said to be waypost's."""
    series = {"series": f'{metric}{{job="shop", otel_metric_overflow="true"}}', "values": "0+1x120"}
    assert fired(tmp_path, [series], 120, names) == ""


def versions(*seen: tuple[str, str, int, int, tuple[Grows, ...]]) -> list[dict[str, str]]:
    """Instances with their versions: from and to which minute each is there, and what it does."""
    series = []
    for instance, version, begins, ends, grows in seen:
        gone = f"_x{begins} " if begins else ""
        for one in grows:
            raw = one.series(ends - begins)
            name = raw["series"].replace('instance="1"', f'instance="{instance}"')
            series.append({"series": name, "values": f"{gone}{raw['values']}"})
        info = f'target_info{{job="host", instance="{instance}", service_version="{version}"}}'
        series.append({"series": info, "values": f"{gone}1x{ends - begins}"})
    return series


WELL, BADLY = (calls(20), errors(0.2)), (calls(20), errors(2))
DAY = 24 * 60


@pytest.mark.parametrize(
    ("seen", "names"),
    [
        # One after a day of another; a young service.
        ([("1", "1.0", 0, DAY, WELL), ("2", "1.1", DAY, DAY + 60, BADLY)], {"VersionRegressed"}),
        ([("1", "1.0", 0, 60, WELL), ("2", "1.1", 60, 120, BADLY)], {"VersionRegressed"}),
        # In one and the same instance versions cannot be told apart: nothing, and no error.
        ([("1", "1.0", 0, DAY, WELL), ("1", "1.1", DAY, DAY + 60, BADLY)], set()),
        # One that is as good; one that is better than the one that is still there; a single one.
        ([("1", "1.0", 0, DAY, WELL), ("2", "1.1", DAY, DAY + 60, WELL)], set()),
        ([("1", "1.0", 0, DAY + 60, BADLY), ("2", "1.1", DAY, DAY + 60, WELL)], set()),
        ([("1", "1.0", 0, 120, BADLY)], set()),
        # Answers of people are no failures.
        (
            [
                ("1", "1.0", 0, DAY, (calls(20),)),
                ("2", "1.1", DAY, DAY + 60, (calls(20), errors(2, "needs_input"))),
            ],
            set(),
        ),
    ],
)
def test_new_version_that_fails_more_than_the_others_is_told(
    seen: list[tuple[str, str, int, int, tuple[Grows, ...]]], names: set[str], tmp_path: Path
) -> None:
    """DASHBOARDS, alerts: more than twice the ratio, with a volume guard."""
    minutes = max(ends for _, _, _, ends, _ in seen)
    assert fired(tmp_path, versions(*seen), minutes, names) == ""
