"""The pages that the code describes say what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.metrics.export import Histogram, Sum
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from structlog.testing import CapturingLoggerFactory

import waypost
from docs import build
from docs._commands import commands
from docs._telemetry import (
    METRICS,
    on_logs,
    on_metrics,
    on_own_spans,
    on_retries,
    on_spans,
)
from tests.docs.blocks import ROOT
from tests.observe.recording import Meters, Spans
from waypost import Enricher, ErrorClass, NextStep, ToolFailure
from waypost.core import _numbers
from waypost.core._recognize import GUIDANCE_KEY
from waypost.core._rules import RULES, UNKNOWN_RULE
from waypost.observe import _names
from waypost.observe._names import ATTRIBUTES, Metric
from waypost.observe.structlog import StructlogObserver

FIRST_ATTEMPT = {_names.CHAIN_ID, _names.ATTEMPT, _names.CORRELATION}
REFERENCE = ROOT / "docs" / "reference"
FAILURE = {
    "ok": False,
    "error": "needs_color",
    "message": "Which one?",
    "retry_after": 2,
    "retryable": False,
    "input_request": {"argument": "color", "options": ["red", 'a "quoted" one']},
}


def read(page: str) -> str:
    return (REFERENCE / page).read_text(encoding="utf-8")


def test_pages_are_what_the_code_says() -> None:
    """STYLE section 5: tables of rules, metrics and help are generated and checked for drift."""
    assert build.drift() == []


def test_drift_is_named_with_the_command_that_repairs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our promise: who changes a rule learns which page to write anew, and how."""
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["build", "--check"])
    (tmp_path / "docs").mkdir()
    assert build.main() == 1
    said = capsys.readouterr().err.splitlines()
    assert said[1] == (
        "docs/reference/rules.md is not what the code says: "
        "run `make pages`, and commit what it writes."
    )
    monkeypatch.setattr(sys, "argv", ["build"])
    assert build.main() == 0
    assert capsys.readouterr().out.splitlines() == list(build.PAGES)
    assert build.drift() == []


def test_pages_do_not_depend_on_the_terminal_or_on_hashes() -> None:
    """Our promise: what one machine writes is no drift on another."""
    env = {"COLUMNS": "40", "FORCE_COLOR": "1", "PYTHONHASHSEED": "7", "PATH": ""}
    run = subprocess.run(
        [sys.executable, "-m", "docs.build", "--check"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        env=env,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_every_class_and_step_has_its_section() -> None:
    """Our promise: a word in a payload or on a dashboard can be looked up."""
    headings = re.findall(r"^### `(.+)`$", read("error-classes.md"), re.MULTILINE)
    assert headings == [*map(str, ErrorClass), *map(str, NextStep)]


def test_every_rule_has_its_section_in_the_order_of_the_table() -> None:
    """Our promise: ``rule`` in guidance leads to the row, its patterns and its reason."""
    page = read("rules.md")
    assert re.findall(r"^### `(.+)`$", page, re.MULTILINE) == [row.id for row in RULES]
    assert f"| `{UNKNOWN_RULE.id}` |" in page
    for row in RULES:
        assert row.why in page.replace("\n", " ")
        for pattern in (*row.any_of, *row.ends, *row.only_with, *row.not_with):
            assert f"`{pattern}`" in page


def test_every_number_is_there() -> None:
    """Our promise: so do the codes of standards that stand beside the rules."""
    page = read("rules.md")
    tables = {
        name: value
        for name, value in vars(_numbers).items()
        if name.isupper() and isinstance(value, dict) and name not in ("REASONS", "FAMILIES")
    }
    assert len(tables) == 9
    rows = {row.id: row.error_class.value for row in RULES}
    for table in tables.values():
        for number, rule in table.items():
            assert re.search(
                rf"^\| \[`{re.escape(rule)}`\].+ `{rows[rule]}` .+`{number}`",
                page,
                re.MULTILINE | re.IGNORECASE,
            ), (number, rule)


# Telemetry


def exported() -> dict[str, set[str]]:
    """Make one failure of which everything is known; return the names that came out, by place."""
    spans, meters, logs = Spans(), Meters(), CapturingLoggerFactory()
    observers = (spans.observer(), meters.observer(), StructlogObserver())
    structlog.configure(processors=[structlog.processors.EventRenamer("name")], logger_factory=logs)
    try:
        enricher = Enricher(observers, capture_message=True)
        for _ in range(4):
            with enricher.call("search", server="shop", arguments={"q": 1}, session="s") as call:
                call.enrich(FAILURE)
        with spans.tracer.start_as_current_span("of the host"):
            enricher.enrich_result(FAILURE)
        meters.observer().fault("begin")
    finally:
        structlog.reset_defaults()
    (first, *_, own), shared = spans.all[:4], spans.finished["of the host"]
    return {
        "own span": {*(own.attributes or {})},
        "retry": {*(own.attributes or {})} - {*(first.attributes or {})} | FIRST_ATTEMPT,
        "shared span": {*(shared.attributes or {})},
        "span event": {key for event in shared.events for key in event.attributes or {}},
        "log": {key for call in logs.logger.calls for key in call.kwargs} - {"name"},
        "metric": {
            key
            for metric in meters.read().values()
            for point in metric.data.data_points
            for key in point.attributes or {}
        },
    }


def test_every_attribute_that_waypost_exports_is_described() -> None:
    """DESIGN section 6: docs are generated from the one place where names stand."""
    places = exported()
    assert places["own span"] <= {*on_spans(), *on_own_spans()}
    assert places["shared span"] | places["span event"] <= {*on_spans()}
    assert places["log"] <= {*on_logs()}
    assert places["metric"] == {*on_metrics()}
    everywhere = {*on_spans(), *on_own_spans(), *on_logs(), *on_metrics(), _names.LINK}
    assert everywhere == {*ATTRIBUTES}
    assert places["retry"] == {*on_retries()}
    page = read("telemetry.md")
    for name in everywhere:
        assert f"`{name}`" in page


def test_every_name_on_the_wire_has_its_meaning() -> None:
    """DESIGN section 6: a new name comes with what it says."""
    names = {
        value
        for name, value in vars(_names).items()
        if name.isupper() and isinstance(value, str) and "." in value
    }
    events = {_names.ERROR_EVENT, _names.RECOVERED_EVENT, _names.STORM_EVENT}
    assert names - events - {_names.CONVERSATION_ID} == {*ATTRIBUTES} - {"trace_id", "span_id"}
    assert all(meaning.endswith(".") for _, meaning in ATTRIBUTES.values())
    telemetry = read("telemetry.md")
    assert [name for name, (_, meaning) in ATTRIBUTES.items() if meaning not in telemetry] == []


def test_attributes_have_the_type_that_is_said() -> None:
    """Our promise: a dashboard may rely on the types."""
    spans = Spans()
    with spans.enricher(capture_message=True).call("search", server="shop") as call:
        call.enrich(FAILURE)
    (span,) = spans.all
    for name, value in (span.attributes or {}).items():
        assert type(value) is ATTRIBUTES[name][0], name


def test_every_metric_is_described_as_the_instrument_that_it_is() -> None:
    """Our promise: name, kind, unit and description are those that a collector gets."""
    meters = Meters()
    observer = meters.observer()
    with Enricher((observer,)).call("search") as call:
        call.enrich(FAILURE)
    observer.fault("begin")
    page = read("telemetry.md")
    read_metrics = meters.read()
    assert set(read_metrics) == {metric.name for metric in METRICS}
    for name, metric in read_metrics.items():
        kind = {Histogram: "histogram", Sum: "counter"}[type(metric.data)]
        assert (
            f"### `{name}`\n\n{metric.description}\n\n"
            f"- Instrument: {kind}\n- Unit: `{metric.unit}`\n"
        ) in page


def test_every_metric_is_on_the_page() -> None:
    """Our promise: also one that no test records yet."""
    names = [value.name for value in vars(_names).values() if isinstance(value, Metric)]
    assert re.findall(r"^### `(waypost.+)`$", read("telemetry.md"), re.MULTILINE) == names


def test_members_of_meta_are_described() -> None:
    """DESIGN section 6: ``waypost/guidance`` is on the wire, too."""
    text = {"type": "text", "text": '{"error": "rate_limited", "retry_after": 2}'}
    result: dict[str, Any] = {"isError": True, "content": [text]}
    with Spans(ALWAYS_OFF).enricher("own").call("search") as call:
        enriched = call.enrich(result)
    described = read("telemetry.md").partition("\n## MCP results\n")[2].partition("\n## ")[0]
    assert f"`{GUIDANCE_KEY}`" in described
    members = re.findall(r"^\| `(\w+)` \|", described, re.MULTILINE)
    assert list(enriched["_meta"][GUIDANCE_KEY]) == members


# Commands and Python names


def test_every_command_and_option_has_its_help() -> None:
    """STYLE section 5: the help of the command line is generated."""
    page = read("command-line.md")
    walked = dict(commands())
    assert {"waypost", "waypost classify", "waypost demo"} <= walked.keys()
    for words, command in walked.items():
        section = page.partition(f"## `{words}`\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            option = parameter.param_type_name == "option"
            assert f"`{parameter.opts[0] if option else parameter.name.upper()}" in section
            assert " ".join(parameter.help.split()) in section


def documented() -> Iterator[str]:
    for line in read("python.md").splitlines():
        if line.startswith(".. auto"):
            yield line.partition(":: ")[2].partition("(")[0]


def test_every_public_name_is_documented_once() -> None:
    """STYLE rule 12: public is what ``__all__`` lists and the docs show."""
    names = list(documented())
    assert len(names) == len({*names})
    front_door = {name.removeprefix("waypost.") for name in names if name.count(".") == 1}
    assert front_door == {*waypost.__all__}


def test_arguments_of_the_model_are_those_that_are_shown() -> None:
    """Our promise: pydantic's own signature is too long to read, so the page has one of its own."""
    line = next(line for line in read("python.md").splitlines() if "waypost.ToolFailure(" in line)
    assert re.findall(r"(\w+): ", line.partition("(")[2]) == [
        name for name in ToolFailure.model_fields if name != "status"
    ]
