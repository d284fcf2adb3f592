"""
The demo as a program of its own: real host, real server, real failures.

A run takes seconds, so two of them, one for each form of the output, serve most tests here. What
the script of the demo does not lead to is tried with a server in memory.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from rich.console import Console

from tests.otlp_receiver import Receiver
from waypost import Enricher
from waypost.cli.demo._report import Report, Sent, Telemetered
from waypost.cli.demo._script import Step
from waypost.cli.demo._seen import Served
from waypost.cli.demo._table import print_report
from waypost.cli.demo._walk import Host, WatchedClient
from waypost.cli.demo.server import DEMO_SECRET
from waypost.integrations.mcp import enrich_client

ROOT = Path(__file__).parents[3]
WAYPOST = ("-W", "error", "-c", "from waypost.cli import main; main()")

# Runs the demo with another server, whose program is argument 1.
WITH_SERVER = """
import sys
from waypost.cli import main
from waypost.cli.demo import host
host.SERVER = ["-c", sys.argv.pop(1)]
main()
"""

# Runs the demo as if the exporters were not installed.
WITHOUT_EXPORTERS = """
import sys
from waypost.cli import main
sys.modules["opentelemetry.exporter"] = None
main()
"""

Call = dict[str, Any]


class Ended(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def run(*program: str, **env: str) -> Ended:
    """Run a program without what the developer's environment says on telemetry and terminals."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "WAYPOST_")) and name not in ("COLUMNS", "FORCE_COLOR")
    }
    ended = subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        env={**clean, "PYTHONIOENCODING": "utf-8", **env},
        timeout=90,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def table() -> Ended:
    """A run without an endpoint, as a person reads it."""
    return run(*WAYPOST, "demo")


@pytest.fixture(scope="module")
def sent(receiver: Receiver) -> Ended:
    """A run whose telemetry goes to the receiver, as a machine reads it."""
    endpoint = receiver.endpoint.replace("://", "://user:password@")
    return run(*WAYPOST, "demo", "--json", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)


@pytest.fixture(scope="module")
def document(sent: Ended) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(sent.stdout)
    return read


@pytest.fixture(scope="module")
def failures(document: dict[str, Any]) -> list[Call]:
    return [call for call in document["calls"] if call["outcome"] == "failure"]


def test_demo_ends_well(table: Ended, sent: Ended) -> None:
    """Issue 2, "Done when": exit code 0; and nothing complains on the way."""
    assert (table.exit_code, table.stderr) == (0, "")
    assert (sent.exit_code, sent.stderr) == (0, "")


def test_a_dozen_failures_of_nine_classes_have_guidance(failures: list[Call]) -> None:
    """Issue 2, "Done when"; the repeats of a failure are not counted."""
    assert len({(call["tool"], json.dumps(call["arguments"])) for call in failures}) >= 12
    assert len({call["error_class"] for call in failures}) >= 9
    assert all(call["retryable"] in (True, False) and call["next_action"] for call in failures)


def test_no_success_is_changed(document: dict[str, Any]) -> None:
    """Issue 2, "Done when"; one of the successes talks about errors."""
    successes = [call for call in document["calls"] if call["outcome"] == "success"]
    assert {"help_text", "list_orders", "error_log", "store_hours"} <= {
        call["tool"] for call in successes
    }
    assert all(call["unchanged"] for call in successes)
    assert not any("waypost" in call["text"] for call in successes)
    assert document["summary"]["successes_changed"] == 0


def test_secret_is_nowhere(table: Ended, sent: Ended, receiver: Receiver) -> None:
    """Issue 2, "Done when": in neither form; and, our promise, not in what was sent either."""
    for shown in (table.output, sent.output, repr((receiver.spans, receiver.logs))):
        assert DEMO_SECRET not in shown
        assert DEMO_SECRET[-12:] not in shown
        assert "password" not in shown
    assert "sync_catalog" in table.stdout
    assert "sent [redacted]" in sent.stdout


def test_host_follows_the_guidance(document: dict[str, Any]) -> None:
    """Issue 2, item 7: waits, signs in, asks; and never repeats what must not be repeated."""
    walk: dict[str, list[str]] = {}
    for call in document["calls"]:
        ending = call["ending"] and f"({call['ending']})"
        words = (call["tool"], call["error_class"] or "ok", ending)
        walk.setdefault(call["request"], []).append(" ".join(filter(None, words)))
    assert walk == {
        "Reserve two lamps.": ["reserve_stock conflict", "reserve_stock ok"],
        "What does it cost to ship ORD-1001?": [
            "shipping_quote unavailable",
            "shipping_quote unavailable (told the user, as advised)",
        ],
        "Convert the prices of three orders to dollars.": [
            "convert_currency ok",
            "convert_currency ok",
            "convert_currency rate_limited",
            "convert_currency ok",
        ],
        "Sum up last year.": ["yearly_report timeout", "yearly_report ok"],
        "Who is customer C-7?": [
            "customer_profile unauthenticated",
            "sign_in ok",
            "customer_profile ok",
        ],
        "How many lamps are there?": [
            "stock_level not_ready",
            "start_stock_count ok",
            "stock_level ok",
        ],
        "Print the label of ORD-1002.": ["print_label needs_input", "print_label ok"],
        "Charge 59.80 EUR for ORD-1002.": [
            "charge_card disconnected",
            "list_charges ok (it took effect: charge_card is not repeated)",
        ],
        "Order a lamp.": ["create_order invalid", "create_order ok"],
        "Where is my order?": ["find_order not_found", "list_orders ok", "find_order ok"],
        "Order a ladder.": ["create_order not_found (not repeated)"],
        "Order a ladder. Keep trying.": [
            "create_order not_found",
            "create_order not_found",
            "create_order not_found",
            "create_order not_found (told the user, as advised)",
        ],
        "Show invoice INV-1003.": ["read_invoice not_found (not repeated)"],
        "Show invoice INV-1002.": ["read_invoice forbidden (not repeated)"],
        "Delete the archive of 2023.": ["delete_archive forbidden (not repeated)"],
        "Fetch the new catalog.": [
            "sync_catalog unauthenticated",
            "sign_in ok",
            "sync_catalog unauthenticated (gave up and told the user)",
        ],
        "List all orders.": ["list_orders ok"],
        "What do the errors mean?": ["help_text ok"],
        "What went wrong last week?": ["error_log ok"],
        "When are you open?": ["store_hours ok"],
    }


def test_annotations_decide_what_may_be_repeated(failures: list[Call]) -> None:
    """DESIGN section 3: the demo trusts its own server, so a read may be repeated, a write not."""
    may_repeat = {call["tool"]: call["may_repeat"] for call in failures}
    assert may_repeat["yearly_report"]
    assert not may_repeat["charge_card"]


def test_each_text_that_a_model_reads_has_the_guidance(failures: list[Call]) -> None:
    """DESIGN section 2: in the members of JSON, in one line under other text, with the trace."""
    for call in failures:
        text: str = call["text"]
        assert call["trace_id"] in text
        if text.startswith("{"):
            read = json.loads(text)
            assert (read["retryable"], read["next_action"]) == (
                call["retryable"],
                call["next_action"],
            )
        else:
            assert f"\n\n[waypost] retryable: {str(call['retryable']).lower()}. " in text


def test_calls_of_one_request_share_a_trace(document: dict[str, Any]) -> None:
    """DESIGN, first sentence: the trace shows whether the advice worked."""
    traces = {(call["request"], call["trace_id"]) for call in document["calls"]}
    requests = {call["request"] for call in document["calls"]}
    assert len(traces) == len(requests) == len({trace for _, trace in traces})


def test_each_failure_has_its_span_and_its_log_record(
    failures: list[Call], receiver: Receiver
) -> None:
    """Issue 2, "Done when": a span with ``waypost.error.class``, a log record of its trace."""
    told = Counter((call["trace_id"], call["error_class"]) for call in failures)
    spans = Counter(
        (span.trace_id, span.attributes["waypost.error.class"])
        for span in receiver.spans
        if "waypost.error.class" in span.attributes
    )
    logs = Counter(
        (log.trace_id, log.attributes["waypost.error.class"])
        for log in receiver.logs
        if log.event_name == "waypost.error"
    )
    assert spans == told
    assert logs == told


def test_failures_are_counted_by_class(failures: list[Call], receiver: Receiver) -> None:
    """Issue 2, "Done when": and ``waypost.errors`` by class."""
    counted: Counter[object] = Counter()
    for point in receiver.points("waypost.errors"):
        counted[point.attributes["waypost.error.class"]] += int(point.value)
    assert +counted == Counter(call["error_class"] for call in failures)


def test_retries_tell_what_became_of_the_advice(
    document: dict[str, Any], receiver: Receiver
) -> None:
    """Issue 5, item 8: a recovered chain, a corrected one, one whose advice was ignored."""
    seen = Counter(
        (retry["tool"], retry["attempt"], retry["advice"], retry["outcome"], retry["exhausted"])
        for retry in document["retries"]
    )
    assert seen == {
        ("reserve_stock", 2, "followed", "recovered", False): 1,
        ("shipping_quote", 2, "followed", "failed", False): 1,
        ("convert_currency", 2, "followed", "recovered", False): 1,
        ("yearly_report", 2, "followed", "recovered", False): 1,
        ("customer_profile", 2, "followed", "recovered", False): 1,
        ("stock_level", 2, "followed", "recovered", False): 1,
        ("print_label", 1, "followed", "corrected", False): 1,
        ("create_order", 1, "followed", "corrected", False): 1,
        ("find_order", 1, "followed", "corrected", False): 1,
        ("create_order", 2, "ignored", "failed", False): 1,
        ("create_order", 3, "ignored", "failed", True): 1,
        ("create_order", 4, "ignored", "failed", True): 1,
        ("sync_catalog", 2, "unknown", "failed", False): 1,
    }
    counted = Counter[object]()
    for point in receiver.points("waypost.retries"):
        counted[point.attributes["waypost.retry.outcome"]] += int(point.value)
    assert +counted == Counter(retry["outcome"] for retry in document["retries"])
    storms = [log for log in receiver.logs if log.event_name == "waypost.storm"]
    assert [log.attributes["waypost.attempt"] for log in storms] == [3]


def test_summary_agrees_with_the_calls(
    document: dict[str, Any], failures: list[Call], receiver: Receiver
) -> None:
    """Issue 2, item 7: the telemetry is summarized, whether it was sent or not."""
    classes = Counter(call["error_class"] for call in failures)
    assert document["summary"] == {
        "failures": len(failures),
        "failures_not_flagged": sum(not call["is_error"] for call in failures),
        "classes": classes,
        "successes": len(document["calls"]) - len(failures),
        "successes_changed": 0,
        "telemetry": {
            "spans_with_error_class": len(failures),
            "log_events": len(failures),
            "errors_by_class": classes,
            "recovered_events": 8,
            "storm_events": 1,
            "sent_to": receiver.endpoint,
            "accepted": True,
        },
        "shortcomings": [],
    }


def test_table_tells_the_story(table: Ended) -> None:
    """Issue 2, item 7: tool, what came back, class, retryable, next action, trace id."""
    lines = [" ".join(line.split()) for line in table.stdout.splitlines()]
    assert "tool what came back class retryable next action trace" in lines
    assert any(line.startswith("customer_profile TOKEN_EXPIRED: Signature") for line in lines)
    assert any(line.startswith("\u21b3 customer_profile (signed in)") for line in lines)
    assert any(line.startswith("create_order 4 ignored failed, budget spent") for line in lines)
    assert "The same in telemetry, kept in memory" in lines
    assert "set OTEL_EXPORTER_OTLP_ENDPOINT=" in table.stdout
    assert "[waypost] retryable: true. Next action: Wait" in table.stdout
    assert '{"timestamp": ' in table.stdout  # one line of the log, below, where it tears nothing
    assert "\x1b" not in table.output
    assert max(map(len, table.stdout.splitlines())) <= 120


# What goes wrong with the demo itself.


@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param(
            "raise SystemExit('no disk\\nno luck with Bearer abcdefgh')",
            "no luck with [redacted]",
            id="last words of the server",
        ),
        pytest.param("", "Connection closed", id="without a word"),
    ],
)
def test_broken_server_is_one_line_and_exit_code_2(program: str, said: str) -> None:
    """Our promise: what went wrong, without a traceback and without a credential."""
    ended = run("-c", WITH_SERVER, program, "demo")
    assert ended == (2, "", f"waypost demo: the sample server broke off: {said}\n")


def test_interruption_ends_with_130() -> None:
    """Our promise: Ctrl-C prints no traceback."""
    program = "import os, signal, sys; os.kill(os.getppid(), signal.SIGINT); sys.stdin.read()"
    assert run("-c", WITH_SERVER, program, "demo") == (130, "", "")


def test_endpoint_without_exporters_says_what_to_install() -> None:
    """Our promise: ``pip install "waypost[cli,mcp]"`` is enough until telemetry is to be sent."""
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    ended = run("-c", WITHOUT_EXPORTERS, "demo", **endpoint)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr == (
        "waypost demo: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OTLP exporter is not installed."
        ' Run: pip install "waypost[otlp]". Or unset the variable.\n'
    )


def test_endpoint_that_is_not_safe_is_refused() -> None:
    """RELIABILITY: telemetry and its credentials do not cross a network in the clear."""
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:password@collector.example:4318"}
    ended = run(*WAYPOST, "demo", **endpoint)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(
        "waypost demo: OTEL_EXPORTER_OTLP_ENDPOINT is http://collector.example:4318: plain http"
    )
    assert ended.stderr.endswith(" Or unset OTEL_EXPORTER_OTLP_ENDPOINT.\n")
    assert "password" not in ended.stderr


def test_what_others_write_to_stderr_is_passed_on() -> None:
    """Our promise: keeping the log lines away from the table hides no warning."""
    ended = run("-c", WITH_SERVER, "", "demo", OTEL_TRACES_SAMPLER="no-such-sampler")
    assert ended.exit_code == 2
    assert "no-such-sampler" in ended.stderr


# Turns of a request that the script does not take, with a server in memory.

Payload = dict[str, object]
OK: Payload = {"page": 1, "rows": [{"note": "none"}, {"order_id": "A"}]}
WRITES = ToolAnnotations(read_only_hint=False)


def failing(code: str, **more: object) -> Payload:
    return {"status": "error", "error_code": code, "message": "No.", **more}


def answering(answers: Iterable[Payload]) -> Callable[[str], Payload]:
    """A tool that gives one answer after the other."""
    given = iter(answers)

    def tool(order_id: str = "") -> Payload:
        return next(given)

    return tool


async def served(
    step: Step, annotations: ToolAnnotations | None = None, **answers: Iterable[Payload]
) -> Served:
    """Serve one request with a server that has these tools."""
    server = MCPServer("office", log_level="ERROR")
    for name, given in answers.items():
        server.add_tool(answering(given), name=name, annotations=annotations)
    watched = WatchedClient(server)
    async with enrich_client(watched, enricher=Enricher(observers=())) as client:
        host = Host(client, watched, lambda _: nullcontext("ab" * 16), lambda _: None)
        (done,) = await host.serve_all([step], lambda: None)
        return done


def moves(done: Served) -> list[str | None]:
    """What was done before each call but the first, and how the request ended."""
    return [*(f"{call.tool}, {call.after}" for call in done.calls[1:]), done.ending]


FIND = Step(request="Find it.", tool="find", arguments={"order_id": "B"}, look=("list", {}))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (OK, ["list, as advised", "find, took A", None]),
        ({"rows": []}, ["list, as advised", "not repeated, since nothing exists"]),
    ],
)
async def test_host_takes_only_what_exists(found: Payload, expected: list[str | None]) -> None:
    """DESIGN section 3, ``list_first``: use one of those that exist."""
    done = await served(FIND, find=[failing("not_found"), OK], list=[found])
    assert moves(done) == expected


@pytest.mark.parametrize(
    ("booked", "expected"),
    [
        ([], ["list, as advised", "find, it took no effect", None]),
        ([{"order_id": "B"}], ["list, as advised", "it took effect: find is not repeated"]),
    ],
)
async def test_host_repeats_a_write_only_if_it_took_no_effect(
    booked: list[Payload], expected: list[str | None]
) -> None:
    """DESIGN section 3, ``check_effect``: call again only if it did not."""
    answers = [failing("connection_reset"), OK]
    done = await served(FIND, WRITES, find=answers, list=[{"rows": booked}])
    assert moves(done) == expected


@pytest.mark.parametrize(
    ("failure", "annotations", "ending"),
    [
        pytest.param(
            failing("connection_reset"),
            None,
            "not repeated, since nobody says that it is safe",
            id="unknown outcome",
        ),
        pytest.param(failing("connection_reset"), WRITES, "not repeated", id="write"),
        pytest.param(
            failing("not_initialized"), None, "not repeated, since no tool is named", id="prepare"
        ),
        pytest.param(
            failing("needed", input_request={"argument": "size"}),
            None,
            "left to the user",
            id="question",
        ),
        pytest.param(failing("invalid_argument"), None, "not repeated", id="arguments"),
        pytest.param(failing("not_found"), None, "not repeated", id="nothing to list with"),
        pytest.param(failing("FLUX_CAPACITOR"), None, "not repeated", id="unknown"),
    ],
)
async def test_host_stops_where_guidance_leaves_it_nothing_to_do(
    failure: Payload, annotations: ToolAnnotations | None, ending: str
) -> None:
    """Our promise: a host that cannot do what is advised does not call again."""
    step = Step(request="Find it.", tool="find")
    assert moves(await served(step, annotations, find=[failure])) == [ending]


# The printed form.


def report_of(*done: Served, sent: Sent | None = None) -> Report:
    telemetry = Telemetered(spans=0, log_events=0, errors_by_class=())
    return Report(served=done, telemetry=telemetry, log_line=None, sent=sent)


def printed(report: Report, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    print_report(console, report)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 200])
async def test_table_fits_the_terminal(width: int) -> None:
    """Our promise: readable from 80 columns on; the whole trace id where there is room."""
    answers = [failing("not_found", long="words " * 100), OK]
    report = report_of(await served(FIND, find=answers, list=[OK]))
    text = printed(report, width)
    assert max(map(len, text.splitlines())) <= width
    assert "not_found" in text
    assert "List what exists" in " ".join(text.split())
    assert ("ab" * 16 in text.split("1 failures")[0]) == (width == 200)


async def test_what_a_tool_writes_cannot_steer_the_terminal() -> None:
    """Our promise: control characters and markup of a tool are shown as text, or not at all."""
    failure = failing("broken", next_action="\x1b[2J[bold]Do.\nIt.") | {"message": "[red]\x1b[2JNo"}
    step = Step(request="Find it.", tool="find")
    text = printed(report_of(await served(step, find=[failure])))
    assert "\x1b" not in text
    assert "[bold]Do. It." in text
    assert "[red]" in text


async def test_failure_without_advice_has_an_empty_cell() -> None:
    """DESIGN section 1: unknown codes have no next action."""
    step = Step(request="Find it.", tool="find")
    text = printed(report_of(await served(step, find=[failing("FLUX_CAPACITOR")])))
    assert " None" not in text
    assert "no         (host: not repeated)" in text


@pytest.mark.parametrize(
    ("accepted", "told"),
    [(True, "sent to http://127.0.0.1:9"), (False, "http://127.0.0.1:9 did not accept all of it")],
)
def test_fate_of_the_telemetry_is_told(accepted: bool, told: str) -> None:
    """Our promise: nobody looks for traces that never arrived."""
    report = report_of(sent=Sent(endpoint="http://127.0.0.1:9", accepted=accepted))
    assert told in printed(report)
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in printed(report)


async def test_changed_success_is_a_shortcoming() -> None:
    """Issue 2, "Done when": the demo checks itself what it promises."""
    done = await served(Step(request="List.", tool="list"), list=[OK])
    changed = dataclasses.replace(done.calls[0], unchanged=False)
    report = report_of(dataclasses.replace(done, calls=(changed,)))
    assert list(report.shortcomings()) == [
        "1 successes were changed",
        "0 failures, and not at least 12",
        "0 classes of failures, and not at least 9",
        "no retry recovered",
        "no retry corrected",
        "no retry failed",
        "no storm was reported",
    ]
    text = " ".join(printed(report).split())
    assert "1 of them CHANGED" in text
    assert "ok, but CHANGED" in text


def test_shortcoming_is_exit_code_1() -> None:
    """Issue 2, "Done when": a demo that shows too little fails."""
    ended = run(*WAYPOST, "demo", WAYPOST_DISABLED="true", COLUMNS="80")
    assert ended.exit_code == 1
    assert ended.stderr.splitlines() == [
        "waypost demo: 0 failures, and not at least 12.",
        "waypost demo: 0 classes of failures, and not at least 9.",
        "waypost demo: no retry recovered.",
        "waypost demo: no retry corrected.",
        "waypost demo: no retry failed.",
        "waypost demo: no storm was reported.",
    ]
    assert max(map(len, ended.stdout.splitlines())) == 80
    assert DEMO_SECRET not in ended.stdout
