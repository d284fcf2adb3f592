"""Exporters against every fault we can think of, seen from the host that must not notice."""

from __future__ import annotations

import re

import pytest

from tests.telemetry.faults import NAMES, bomb, faulty
from tests.telemetry.programs import run

SETUP = 'telemetry = setup_telemetry(service_name="shop")\n'
MANY = "for _ in range(600): record()\n"
QUIET = "structlog.configure(logger_factory=lambda *_: structlog.testing.CapturingLogger())\n"

UNDER_WAY = "telemetry.flush(timeout_seconds=0.3)\n"  # so that the exit meets a waiting exporter


@pytest.fixture(scope="module")
def plain_exit_seconds() -> float:
    """How long the same host takes to exit when it exports nothing."""
    source = 'telemetry = setup_telemetry(service_name="shop", otlp=False)\n' + QUIET + MANY
    return run(source, goodbye=True).exit_seconds


@pytest.mark.parametrize("under_way", [False, True], ids=["at once", "under way"])
@pytest.mark.parametrize("fault", NAMES)
def test_exit_is_bounded_and_quiet(fault: str, under_way: bool, plain_exit_seconds: float) -> None:
    """RELIABILITY A21: at most 3.0 s more, the exit code unchanged, at most 3 lines on stderr."""
    source = SETUP + QUIET + MANY + (UNDER_WAY if under_way else "")
    with faulty(fault) as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}, goodbye=True)
    assert done.exit_code == 7
    assert done.exit_seconds - plain_exit_seconds <= 3.0
    assert len(done.lines) <= 3
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("fault", ["503", "307", "refused"])
def test_lines_about_a_fault_say_where_to_and_why(fault: str) -> None:
    """STYLE rule 6: whoever reads the line can act on it."""
    with faulty(fault) as endpoint:
        done = run(
            SETUP + QUIET + MANY + "telemetry.flush(timeout_seconds=0.3)",
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
        )
    assert endpoint in done.lines[0]
    reason = {
        "503": "Failed to export|Service Unavailable",
        "307": "answered 307",
        "refused": "Connection refused",
    }
    assert re.search(reason[fault], done.lines[0])


@pytest.mark.parametrize("fault", ["refused", "500", "429", "307"])
def test_flush_does_not_call_a_lost_batch_delivered(fault: str) -> None:
    """RELIABILITY A27: the SDK's own ``force_flush`` says ``True`` then."""
    with faulty(fault) as endpoint:
        done = run(
            SETUP
            + "record()\nprint(telemetry.flush(timeout_seconds=1.0), flush=True)\nos._exit(0)",
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
        )
    assert done.stdout == "False\n"


def test_server_that_drips_holds_the_exporter_no_longer_than_its_timeout() -> None:
    """RELIABILITY, how to build it: 5 s for one export, whatever trickles in meanwhile."""
    source = (
        SETUP
        + """
trace.get_tracer("host").start_span("work").end()
began = time.monotonic()
delivered = telemetry.flush(timeout_seconds=30.0)
print(delivered, time.monotonic() - began, flush=True)
os._exit(0)
"""
    )
    with faulty("dripped headers") as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    delivered, seconds = done.stdout.split()
    assert delivered == "False"
    assert 4.5 <= float(seconds) <= 6.0


@pytest.mark.parametrize("fault", ["bomb", "endless body", "endless headers"])
def test_huge_reply_costs_next_to_nothing(fault: str) -> None:
    """RELIABILITY A22: a reply that inflates to 600 MB costs at most 8 MB."""
    source = (
        SETUP
        + """
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def send():
    trace.get_tracer("host").start_span("work").end()
    calls.add(1)
    log.info("line")
    return telemetry.flush()
send()
before = peak()
for _ in range(3):
    send()
print(peak() - before)
"""
    )
    assert len(bomb()) < 1_000_000
    with faulty(fault, good_first=3) as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    assert done.exit_code == 0
    assert int(done.stdout) <= 8 * 1024  # KiB


def test_full_queue_and_broken_exporter_never_show_in_the_host() -> None:
    """RELIABILITY A20: the queue is bounded, and recording into a full one raises nothing."""
    source = (
        SETUP
        + QUIET
        + """
for _ in range(20_000):
    record()
"""
    )
    with faulty("black hole") as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}, goodbye=True)
    assert done.exit_code == 7
    assert len(done.lines) <= 3
    assert re.search(r"Queue full, dropping \w+\. \(to http://127", done.stderr)


def test_host_that_configured_logging_hears_of_a_fault_once_a_minute_in_one_line() -> None:
    """RELIABILITY A23 and A26: a failing exporter that logs does not feed itself."""
    source = (
        """
logging.basicConfig(format="%(message)s")
"""
        + SETUP
        + QUIET
        + """
for _ in range(50):
    record()
    telemetry.flush(timeout_seconds=1.0)
os._exit(0)
"""
    )
    with faulty("500") as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    assert len(done.lines) == 1


def test_host_hears_what_was_lost_at_the_exit() -> None:
    """Our promise: telemetry that is given up is not given up in silence."""
    source = 'logging.basicConfig(format="%(message)s")\n' + SETUP + QUIET + MANY
    with faulty("black hole") as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}, goodbye=True)
    assert "Telemetry was not delivered within 1.5 s; the rest is lost." in done.lines


def test_retry_that_waits_ends_with_shutdown() -> None:
    """Our promise: ``shutdown`` in mid-flight leaves no thread that goes on for minutes."""
    source = (
        SETUP
        + QUIET
        + MANY
        + """
telemetry.flush(timeout_seconds=0.3)
telemetry.shutdown(timeout_seconds=0.2)
import threading
sdk = [t for t in threading.enumerate() if t is not threading.main_thread()]
deadline = time.monotonic() + 10
for thread in sdk:
    thread.join(max(0.0, deadline - time.monotonic()))
print([thread.name for thread in threading.enumerate()])
"""
    )
    with faulty("refused") as endpoint:
        done = run(source, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
    assert done.stdout == "['MainThread']\n"
