"""The generated dashboards and alerts: DASHBOARDS, "What CI proves"."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from dashboards.build import GENERATED, files
from tests.dashboards.boards import Panel, alerts, boards, filled, panels
from tests.dashboards.emitted import emitted_series
from tests.programs import ROOT
from waypost import ErrorClass
from waypost.observe._names import ATTRIBUTES

PROMQL = [
    *(
        (panel.name, query)
        for panel in panels()
        for kind, query in panel.queries
        if kind == "prometheus"
    ),
    *((f"alert: {alert['alert']}", alert["expr"]) for alert in alerts()),
]
OF_PROMETHEUS = {
    "job", "instance", "le", "service_version", "otel_metric_overflow", "__name__",
}  # fmt: skip


def test_what_is_committed_is_what_the_code_says() -> None:
    """Issue 7, done when: `make dashboards` regenerates without a difference."""
    on_disk = {
        path.relative_to(GENERATED).as_posix(): path.read_text(encoding="utf-8")
        for path in GENERATED.rglob("*")
        if path.is_file()
    }
    assert on_disk == files()
    check = [sys.executable, "-m", "dashboards.build", "--check"]
    assert subprocess.run(check, check=False, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel.name)
def test_panel_has_what_every_panel_has(panel: Panel) -> None:
    """DASHBOARDS, common; the linter rules of the field."""
    raw = panel.raw
    assert raw["title"]
    assert raw["description"].endswith((".", "right."))
    assert raw["fieldConfig"]["defaults"]["unit"]
    assert isinstance(raw["id"], int)
    for target in raw.get("targets", ()):
        assert target["datasource"]["uid"] in ("${metrics}", "${traces}", "${logs}")
        assert target["refId"]
    for _, query in panel.queries:
        assert not re.search(r"\[\d+\w\]", query), f"a window of its own: {query}"


@pytest.mark.parametrize("board", boards(), ids=lambda board: board["uid"])
def test_dashboard_has_what_every_dashboard_has(board: dict[str, Any]) -> None:
    """DASHBOARDS, common."""
    assert board["uid"].startswith("waypost-")
    assert (board["schemaVersion"], board["editable"], board["refresh"]) == (42, False, "30s")
    assert board["time"] == {"from": "now-1h", "to": "now"}
    assert board["graphTooltip"] == 1
    assert board["annotations"] == {"list": []}
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert {"metrics", "traces", "logs", "side", "service"} <= variables.keys()
    assert variables["side"]["current"]["value"] == "host"
    for name in {"service", "tool", "class"} & variables.keys():
        assert variables[name]["allValue"] == ".+"
        assert variables[name]["refresh"] == 2
    (link,) = board["links"]
    assert (link["type"], link["keepTime"], link["includeVars"]) == ("dashboards", True, True)


@pytest.mark.parametrize(("name", "query"), PROMQL, ids=[name for name, _ in PROMQL])
def test_promql_is_valid_and_asks_only_for_what_there_is(name: str, query: str) -> None:
    """DASHBOARDS, what CI proves: every metric and label is one that the library emits."""
    series = emitted_series()
    selectors = list(_selectors(promql_parser.parse(filled(query))))
    assert selectors
    for selector in selectors:
        labels = {matcher.name for matcher in selector.matchers.matchers}
        if selector.name in (None, "target_info"):
            assert labels <= OF_PROMETHEUS, query
            continue
        assert selector.name in series, f"{selector.name} is not emitted"
        assert labels <= series[selector.name] | OF_PROMETHEUS, query
        if "waypost_side" in series[selector.name]:
            apart = all("waypost_side" in by for by in re.findall(r"sum by \(([^()]*)\)", query))
            assert "waypost_side" in labels or apart, f"host and server both count: {query}"
    everything = frozenset[str]().union(*series.values()) | OF_PROMETHEUS
    for grouped in re.findall(r"\b(?:by|on|group_left|group_right) \(([^()]*)\)", query):
        assert {label.strip() for label in grouped.split(",")} - {""} <= everything, query
    if name.startswith("alert"):
        return
    counters = re.findall(r"(\w+)\((waypost_\w+_(?:total|count|bucket))", query)
    assert {function for function, _ in counters} <= {"rate", "increase", "timestamp"}


def _selectors(node: Any) -> Iterator[Any]:
    """The vector selectors of a parsed query."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
        return
    for part in ("expr", "lhs", "rhs", "vector_selector", "param"):
        child = getattr(node, part, None)
        if child is not None and not isinstance(child, str):
            yield from _selectors(child)
    for child in getattr(node, "args", None) or ():
        yield from _selectors(child)


def test_queries_of_logs_and_traces_name_attributes_that_there_are() -> None:
    """DASHBOARDS, names on the other side."""
    known = {name.replace(".", "_") for name in ATTRIBUTES} | {"trace_id", "service_name"}
    for panel in panels():
        for kind, query in panel.queries:
            if kind == "loki":
                used = set(re.findall(r"(?:waypost|gen_ai)_\w+", query))
                assert used <= known, panel.name
            elif kind == "tempo":
                used = set(re.findall(r"span\.([\w.]+)", query))
                assert used <= ATTRIBUTES.keys(), panel.name
            if kind != "prometheus" and panel.board != "waypost-call":
                assert "$side" in query, f"host and server both count: {query}"


def test_rates_look_back_further_than_samples_come() -> None:
    """Bug: with a scrape interval of 15 s in the data source, graphs of real hosts were empty."""
    file = ROOT / "dashboards/provisioning/datasources/waypost.yaml"
    (metrics,) = [
        source
        for source in yaml.safe_load(file.read_text(encoding="utf-8"))["datasources"]
        if source["type"] == "prometheus"
    ]
    # The SDK exports once a minute; $__rate_interval is four times of this.
    assert metrics["jsonData"]["timeInterval"] == "60s"


def test_links_lead_to_dashboards_and_anchors_that_exist() -> None:
    """DASHBOARDS, what CI proves: links point to uids that exist, runbook anchors exist."""
    uids = {board["uid"] for board in boards()}
    text = "".join(path.read_text(encoding="utf-8") for path in GENERATED.rglob("*.json"))
    linked = set(re.findall(r'"/d/(waypost-\w+)', text))
    assert linked
    assert linked <= uids
    runbook = (ROOT / "dashboards/RUNBOOK.md").read_text(encoding="utf-8")
    anchors = {heading.lower() for heading in re.findall(r"^### (\w+)$", runbook, re.MULTILINE)}
    for alert in alerts():
        path, _, anchor = alert["annotations"]["runbook_url"].partition("#")
        assert (path, anchor in anchors) == ("RUNBOOK.md", True)
    assert {error_class.value for error_class in ErrorClass} <= anchors


def test_grafana_gets_the_same_alerts() -> None:
    """Issue 7, item 1: Prometheus rules and Grafana provisioning from one source."""
    file = GENERATED / "grafana-alerting/waypost-alerts.yml"
    (group,) = yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]
    grafana = [
        (rule["title"], rule["data"][0]["model"]["expr"], rule["for"]) for rule in group["rules"]
    ]
    assert grafana == [(alert["alert"], alert["expr"], alert["for"]) for alert in alerts()]
    sources = yaml.safe_load(
        (ROOT / "dashboards/provisioning/datasources/waypost.yaml").read_text(encoding="utf-8")
    )["datasources"]
    assert "waypost-metrics" in {source["uid"] for source in sources}


@pytest.mark.parametrize("stack", ["compose.yaml", "compose.jaeger.yaml"])
def test_compose_stack_pins_its_images_and_mounts_what_there_is(stack: str) -> None:
    """Issue 7, done when: versions are pinned; no `latest`; nothing beyond this machine."""
    folder = ROOT / "dashboards/compose"
    services = yaml.safe_load((folder / stack).read_text(encoding="utf-8"))["services"]
    for service in services.values():
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])
        for volume in service["volumes"]:
            assert (folder / volume.split(":")[0]).exists(), volume
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")


@pytest.mark.parametrize("stack", ["compose.yaml", "compose.jaeger.yaml"])
def test_compose_stack_matches_the_schema_of_compose_files(stack: str) -> None:
    """Issue 7, done when: schema validation passes for both stacks."""
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*check, ROOT / "dashboards/compose" / stack], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_export_writes_what_the_wheel_ships(tmp_path: Path) -> None:
    """Issue 7, item 2: `waypost dashboards export DIR`."""
    target = tmp_path / "here"
    command = [sys.executable, "-c", "from waypost.cli import main; main()", "dashboards", "export"]
    runbook = ["--runbook", "https://runbook.example/waypost", "--service", "shop"]
    for _ in range(2):  # again over itself
        subprocess.run([*command, target, *runbook], check=True, capture_output=True)
    written = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert {f"generated/{name}" for name in files()} <= written
    assert {"README.md", "RUNBOOK.md", "compose/compose.yaml", "jaeger/ui.json"} <= written
    rules = (target / "generated/prometheus/waypost-alerts.yml").read_text(encoding="utf-8")
    assert "https://runbook.example/waypost#retrystorm" in rules
    assert "service=shop&" in (target / "jaeger/ui.json").read_text(encoding="utf-8")


def test_export_overwrites_nothing_of_others(tmp_path: Path) -> None:
    """Bug: a README.md of the user was replaced, and links were followed."""
    command = [sys.executable, "-c", "from waypost.cli import main; main()", "dashboards", "export"]

    def refused(*arguments: object) -> str:
        done = subprocess.run(
            [*command, *map(str, arguments)], check=False, capture_output=True, text=True
        )
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    own = tmp_path / "own"
    own.mkdir()
    (own / "README.md").write_text("mine", encoding="utf-8")
    assert "Name an empty directory" in refused(own)
    assert (own / "README.md").read_text(encoding="utf-8") == "mine"
    assert "is no directory" in refused(own / "README.md")
    assert "/proc/waypost" in refused("/proc/waypost")
    assert "names nothing" in refused(tmp_path / "new", "--runbook", " ")
    linked = tmp_path / "linked"
    subprocess.run([*command, linked], check=True, capture_output=True)
    (linked / "RUNBOOK.md").unlink()
    (linked / "RUNBOOK.md").symlink_to(own / "README.md")
    assert "is a link" in refused(linked)
    assert (own / "README.md").read_text(encoding="utf-8") == "mine"
