"""
The demo's telemetry in real programs: issue 7, item 4.

A Collector gets it over OTLP, and hands it on to Jaeger and Prometheus; what is asserted is what
their own HTTP APIs answer.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from tests.dashboards.boards import alerts, filled, panels
from tests.peers.programs import Stack, missing, running_stack
from tests.programs import ROOT

if missing():
    pytest.skip(f"needs {', '.join(missing())}: make peers", allow_module_level=True)

PANELS = [
    (panel.name, query)
    for panel in panels()
    for kind, query in panel.queries
    if kind == "prometheus"
]
QUIET = {
    "waypost-health: Internal errors by place": "nothing in waypost went wrong",
}
"""Panels that have nothing to show of a run like this, and why."""


class Sent(NamedTuple):
    """The stack after the demo has sent to it, and what the demo itself tells."""

    stack: Stack
    report: dict[str, Any]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sent]:
    with running_stack(tmp_path_factory.mktemp("stack")) as stack:
        report = run_demo(stack)
        eventually(
            lambda: stack.ask_prometheus("query", query="waypost_storms_total > 0")["result"]
        )
        eventually(lambda: stack.ask_jaeger("services"))
        yield Sent(stack, report)


def run_demo(stack: Stack) -> dict[str, Any]:
    """Run the demo twice: as two versions of a service."""
    for version in ("1.0.0", "1.1.0"):
        done = subprocess.run(
            [sys.executable, "-c", "from waypost.cli import main; main()", "demo", "--json"],
            check=True,
            capture_output=True,
            text=True,
            timeout=150,
            cwd=ROOT,
            env={
                **os.environ,
                "OTEL_EXPORTER_OTLP_ENDPOINT": stack.otlp,
                "OTEL_METRIC_EXPORT_INTERVAL": "1000",
                "OTEL_RESOURCE_ATTRIBUTES": (
                    f"service.version={version},service.instance.id={version}"
                ),
            },
        )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def eventually(ask: Callable[[], Any]) -> Any:
    """Return the first answer that is something; a minute is enough for any of them."""
    for _ in range(120):
        if answer := ask():
            return answer
        time.sleep(0.5)
    return pytest.fail("no answer")


@pytest.mark.parametrize(("name", "query"), PANELS, ids=[name for name, _ in PANELS])
def test_panel_shows_data_of_the_demo(name: str, query: str, sent: Sent) -> None:
    """Issue 7, done when: each panel is named with its result; 0 empty ones of the PromQL kind."""
    found = sent.stack.ask_prometheus("query", query=filled(query))["result"]
    assert bool(found) is (name not in QUIET)


@pytest.mark.parametrize("name", [alert["alert"] for alert in alerts()])
def test_alert_is_loaded_and_quiet(name: str, sent: Sent) -> None:
    """Issue 7, item 4: a demo is no storm; where the alerts fire is tested with promtool."""

    def evaluated() -> list[dict[str, Any]]:
        (group,) = sent.stack.ask_prometheus("rules")["groups"]
        return [rule for rule in group["rules"] if rule["name"] == name and rule["health"] == "ok"]

    (rule,) = eventually(evaluated)
    assert rule["state"] != "firing"


def test_counters_say_what_the_demo_says(sent: Sent) -> None:
    """Issue 7, item 4: what arrives is what happened."""
    query = 'sum by (waypost_error_class) (waypost_errors_total{instance="1.1.0"}) > 0'

    def counted() -> dict[str, int]:
        found = sent.stack.ask_prometheus("query", query=query)["result"]
        return {one["metric"]["waypost_error_class"]: int(one["value"][1]) for one in found}

    failed = (call["error_class"] for call in sent.report["calls"] if call["outcome"] == "failure")
    told = Counter(failed)
    eventually(lambda: counted() == told)


def test_every_failure_is_found_in_jaeger_by_its_class(sent: Sent) -> None:
    """Issue 7, item 4; DASHBOARDS, names on the other side: tags are equal-to only."""
    calls = sent.report["calls"]
    classes = {call["error_class"] for call in calls if call["outcome"] == "failure"}
    assert len(classes) > 8
    for error_class in classes:
        tags = json.dumps({"waypost.error.class": error_class})
        traces = sent.stack.ask_jaeger("traces", service="waypost-demo", tags=tags, limit=100)
        assert traces, error_class
        found = [
            span
            for trace in traces
            for span in trace["spans"]
            if tag_of(span, "waypost.error.class") == error_class
        ]
        assert all(tag_of(span, "waypost.next_step") for span in found)


def test_all_attempts_of_a_chain_are_found_by_its_id_with_their_references(sent: Sent) -> None:
    """Issue 7, item 4: links show as references."""
    tags = json.dumps({"waypost.retry.outcome": "recovered"})
    traces = sent.stack.ask_jaeger("traces", service="waypost-demo", tags=tags, limit=100)
    chains = {
        tag_of(span, "waypost.chain.id")
        for trace in traces
        for span in trace["spans"]
        if tag_of(span, "waypost.retry.outcome") == "recovered"
    }
    assert chains
    for chain in chains:
        found = sent.stack.ask_jaeger(
            "traces",
            service="waypost-demo",
            tags=json.dumps({"waypost.chain.id": chain}),
            limit=100,
        )
        attempts = sorted(
            (
                span
                for trace in found
                for span in trace["spans"]
                if tag_of(span, "waypost.chain.id") == chain
            ),
            key=lambda span: tag_of(span, "waypost.attempt"),
        )
        assert [tag_of(span, "waypost.attempt") for span in attempts] == [
            *range(1, len(attempts) + 1)
        ]
        for before, after in pairwise(attempts):
            assert tag_of(after, "waypost.retry.of.span_id") == before["spanID"]
            referred = {(one["traceID"], one["spanID"]) for one in after["references"]}
            assert (before["traceID"], before["spanID"]) in referred


def test_links_of_jaegers_page_can_be_made(sent: Sent) -> None:
    """Bug: a pattern with a tag that no span has makes no link, and says nothing."""
    text = (ROOT / "dashboards/jaeger/ui.json").read_text(encoding="utf-8")
    wanted = set(re.findall(r"#\{([\w.]+)\}", text))
    traces = sent.stack.ask_jaeger("traces", service="waypost-demo", limit=100)
    tags = {tag["key"] for trace in traces for span in trace["spans"] for tag in span["tags"]}
    assert wanted
    assert wanted <= tags


def test_exemplars_lead_to_traces_that_jaeger_knows(sent: Sent) -> None:
    """Issue 7, item 4."""
    now = time.time()
    found = sent.stack.ask_prometheus(
        "query_exemplars", query="waypost_errors_total", start=now - 600, end=now
    )
    ids = {one["labels"]["trace_id"] for series in found for one in series["exemplars"]}
    assert ids
    for trace_id in ids:
        eventually(partial(sent.stack.ask_jaeger, f"traces/{trace_id}"))


def tag_of(span: dict[str, Any], key: str) -> Any:
    return next((tag["value"] for tag in span["tags"] if tag["key"] == key), None)
