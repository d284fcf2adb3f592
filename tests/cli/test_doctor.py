"""``waypost doctor``: what is installed, whether the receiver answers, what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import pytest

from tests.otlp_receiver import Receiver
from tests.telemetry.faults import faulty

# Argument 1 is the version that a package says it has; the rest is for waypost.
PRETENDED = """
import sys
from importlib import metadata
name, pretended = sys.argv.pop(1).split("=")
really = metadata.version
def version(asked):
    if asked != name:
        return really(asked)
    if not pretended:
        raise metadata.PackageNotFoundError(asked)
    return pretended
metadata.version = version
from waypost.cli import main
main()
"""
WITHOUT_EXPORTER = """
import sys
sys.modules["requests"] = None
from waypost.cli import main
main()
"""
PLAIN = "from waypost.cli import main; main()"


def doctor(*arguments: str, program: str = PLAIN, **env: str) -> subprocess.CompletedProcess[str]:
    dropped = ("OTEL", "WAYPOST", "FORCE_COLOR")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        check=False,
        env={**kept, "COLUMNS": "100", **env},
        text=True,
        timeout=60,
    )


def checks(*arguments: str, program: str = PLAIN, **env: str) -> dict[str, tuple[str, str, str]]:
    run = doctor(*arguments, "--json", program=program, **env)
    assert run.stderr == ""
    found = {
        check["name"]: (check["state"], check["found"], check["advice"])
        for check in json.loads(run.stdout)
    }
    assert run.returncode == any(state == "problem" for state, _, _ in found.values())
    return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_doctor_tells_versions_and_extras() -> None:
    """Issue 3, item 2: versions, and what is installed."""
    found = checks("doctor")
    for name in ("waypost", "opentelemetry-api", "opentelemetry-sdk", "pydantic", "structlog"):
        assert found[name] == ("ok", metadata.version(name), "")
    assert found["waypost[mcp]"] == ("ok", f"mcp {metadata.version('mcp')}", "")
    assert found["not installed"][2] == 'pip install "waypost[NAME]"'
    assert "fastmcp" in found["not installed"][1]


@pytest.mark.parametrize(
    ("pretended", "name", "found"),
    [
        (
            "structlog=23.1.0",
            "structlog",
            ("problem", "23.1.0 is too old", 'pip install "structlog>=24.1"'),
        ),
        ("pydantic=", "pydantic", ("problem", "not installed", 'pip install "pydantic>=2.10"')),
        (
            "mcp=1.9",
            "waypost[mcp]",
            ("problem", "mcp 1.9: mcp too old", 'pip install -U "waypost[mcp]"'),
        ),
    ],
)
def test_doctor_says_how_to_mend_an_installation(
    pretended: str, name: str, found: tuple[str, str, str]
) -> None:
    """Issue 3, item 2: what to do."""
    assert checks(pretended, "doctor", program=PRETENDED)[name] == found


def test_receiver_that_answers_is_told(receiver: Receiver) -> None:
    """Issue 3, item 2: whether its endpoint answers; what is sent is empty, headers included."""
    found = checks(
        "doctor",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20s3cret",
    )
    assert found["traces, metrics, logs"] == ("ok", f"{receiver.endpoint} accepts them", "")
    assert (receiver.spans, receiver.logs) == ([], [])
    assert len(receiver.requests) == 3
    assert {request.headers["authorization"] for request in receiver.requests} == {"Bearer s3cret"}


def test_receiver_that_is_away_is_a_problem() -> None:
    """Issue 3, item 2: exit code 1, and what to do."""
    with faulty("refused") as endpoint:
        found = checks("doctor", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
    assert found["traces, metrics, logs"] == (
        "problem",
        f"{endpoint} does not accept them: Connection refused",
        "Start the receiver, or correct the OTEL_EXPORTER_OTLP variables.",
    )


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("500", "it answered 500 Internal Server Error"),
        ("307", "answered 307; redirects are not followed"),
    ],
)
def test_answer_that_is_none_is_told_once_and_without_secrets(fault: str, told: str) -> None:
    """Issue 3, item 2: one try; no header value leaves, and nothing that the receiver wrote."""
    with faulty(fault) as endpoint:
        run = doctor(
            "doctor",
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            OTEL_EXPORTER_OTLP_HEADERS="authorization=s3cret",
        )
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.count(f"{endpoint} does not accept them: {told}") == 1
    assert "s3cret" not in run.stdout
    assert "\x1b" not in run.stdout


def test_plain_http_to_another_machine_is_refused_unless_it_is_meant() -> None:
    """STYLE section 4: data goes only where the user said; RELIABILITY: https or loopback."""
    with faulty("refused") as endpoint:
        url = endpoint.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 -- this machine, by no such name
        found = checks("doctor", OTEL_EXPORTER_OTLP_ENDPOINT=url)["traces, metrics, logs"]
        meant = checks("doctor", "--allow-insecure", OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert found[0] == "problem"
    assert found[1].startswith(f"OTEL_EXPORTER_OTLP_ENDPOINT is {url}: plain http to another")
    assert meant["traces, metrics, logs"][1].startswith(f"{url} does not accept them: ")


def test_signal_without_an_endpoint_is_no_fault_of_the_others(receiver: Receiver) -> None:
    """Our promise: what is not set up is told as that."""
    traces = f"{receiver.endpoint}/v1/traces"
    found = checks("doctor", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=traces)
    assert found["traces"] == ("ok", f"{receiver.endpoint} accepts them", "")
    assert not any(state == "problem" for state, _, _ in found.values())


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (
            {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nope.pem"},
            "OTEL_EXPORTER_OTLP_CERTIFICATE names /nope.pem, which is no file",
        ),
        (
            {"OTEL_EXPORTER_OTLP_HEADERS": "a=b,authorization s3cret"},
            "OTEL_EXPORTER_OTLP_HEADERS has an entry without '=', which is left out",
        ),
    ],
)
def test_setting_that_the_sdk_passes_over_is_named(
    receiver: Receiver, variables: dict[str, str], told: str
) -> None:
    """Our promise: the message says which variable it is, and no value that is a secret."""
    found = checks("doctor", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, **variables)
    state, seen, _ = found["traces, metrics, logs"]
    assert (state, seen) == ("problem", f"{receiver.endpoint} does not accept them: {told}")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "-1"}, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
        ({"OTEL_ATTRIBUTE_COUNT_LIMIT": "abc"}, "OpenTelemetry refused the set-up"),
    ],
)
def test_setting_that_the_sdk_refuses_is_a_problem(variables: dict[str, str], told: str) -> None:
    """Our promise: no traceback, whatever the environment says."""
    state, seen, _ = checks("doctor", **variables)["telemetry"]
    assert state == "problem"
    assert told in seen


def test_copy_that_is_not_installed_is_told() -> None:
    """Our promise: a checkout on the path, without metadata, gets an answer."""
    run = doctor("waypost=", "doctor", "--json", program=PRETENDED)
    assert run.returncode == 1
    assert json.loads(run.stdout)[1]["found"].endswith("not installed as a package")


def test_each_signal_has_its_own_answer(receiver: Receiver) -> None:
    """The OTLP specification: each signal may have an endpoint of its own, or be turned off."""
    with faulty("refused") as away:
        found = checks(
            "doctor",
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{away}/v1/logs",
            OTEL_METRICS_EXPORTER="none",
        )
    assert found["traces"][0] == "ok"
    assert found["logs"][0] == "problem"
    assert not any("metrics" in name for name in found)


def test_missing_exporter_is_a_problem_only_where_it_is_wanted() -> None:
    """Our promise: a host without telemetry is in order."""
    assert doctor("doctor", program=WITHOUT_EXPORTER).returncode == 0
    found = checks("doctor", program=WITHOUT_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT="http://[::1]:4")
    assert found["telemetry"] == (
        "problem",
        "an endpoint is set, but nothing that sends to it is installed",
        'pip install "waypost[otlp]"',
    )


def test_switches_that_are_off_are_noted() -> None:
    """Our promise: who wonders why nothing happens learns it here."""
    found = checks("doctor", WAYPOST_DISABLED="true", OTEL_SDK_DISABLED="true")
    assert found["WAYPOST_DISABLED"][:2] == ("note", "waypost adds and reports nothing")
    assert found["OTEL_SDK_DISABLED"][:2] == ("note", "no telemetry is sent")
    assert not any("traces" in name for name in found)


def test_without_settings_nothing_is_wrong() -> None:
    """Our promise: a fresh installation is healthy; one line a check, what to do below it."""
    run = doctor("doctor")
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.split()[1:2] == ["traces,"])
    if lines[at].startswith("note"):  # unless a receiver is at home on this machine
        assert "no endpoint is set, and http://localhost:4318 does not accept them" in lines[at]
        assert lines[at + 1].strip().startswith("To see telemetry, start a receiver there")
