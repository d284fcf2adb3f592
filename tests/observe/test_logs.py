"""Log events: structlog where it is configured, logging where it is not, nothing for nobody."""

from __future__ import annotations

import io
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.observe.recording import Spans, facts
from tests.programs import run
from tests.watching import BUSY_ADVICE, Watcher, busy
from waypost import Enricher, Limits, Observation
from waypost.observe.stdlib import LoggingObserver
from waypost.observe.structlog import StructlogObserver

LOCKED = {"status": "error", "error_code": "locked", "message": "m"}
QUESTION = {**LOCKED, "input_request": {"argument": "region"}}
KEYS = {**facts(LOCKED), "gen_ai.tool.name": "search", "error.type": "conflict"}


@pytest.fixture
def events() -> Iterator[list[dict[str, Any]]]:
    """Configure structlog to collect events, as a host configures it its own way."""
    capture = structlog.testing.LogCapture()
    structlog.configure(processors=[capture])
    yield capture.entries  # type: ignore[misc]  # mutable mappings of str
    structlog.reset_defaults()


def call(enricher: Enricher, result: Any = None, **options: Any) -> Any:
    with enricher.call("search", **options) as block:
        return block.enrich(LOCKED if result is None else result)


def test_failure_is_one_event_with_the_facts_and_the_ids(events: list[dict[str, Any]]) -> None:
    """DESIGN sections 4 and 6: `waypost.error`, a warning, 32 and 16 hexadecimal digits."""
    spans = Spans()
    call(Enricher((spans.observer(), StructlogObserver())), server="shop")
    (span,) = spans.finished.values()
    assert span.context is not None
    assert events == [
        {
            "event": "waypost.error",
            "log_level": "warning",
            **KEYS,
            "waypost.server": "shop",
            "trace_id": f"{span.context.trace_id:032x}",
            "span_id": f"{span.context.span_id:016x}",
        }
    ]


def test_levels_are_those_of_the_design(events: list[dict[str, Any]]) -> None:
    """DESIGN section 4, logs: warning; `needs_input` info; outside of a trace there are no ids."""
    enricher = Enricher((StructlogObserver(),))
    call(enricher)
    call(enricher, QUESTION)
    with pytest.raises(TimeoutError), enricher.call("search"):
        raise TimeoutError("late")
    enricher.enrich_result(LOCKED)
    told = [
        (event["log_level"], event["waypost.error.class"], event["error.type"]) for event in events
    ]
    assert told == [
        ("warning", "conflict", "conflict"),
        ("info", "needs_input", "needs_input"),
        ("warning", "timeout", "TimeoutError"),
        ("warning", "conflict", "conflict"),
    ]
    assert events[0] == {"event": "waypost.error", "log_level": "warning", **KEYS}
    assert "gen_ai.tool.name" not in events[3]


def test_success_and_cancellation_are_no_event(
    events: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    """DESIGN section 4: one event per *failure*; a cancellation is no error."""
    caplog.set_level(logging.DEBUG)
    for observer in (StructlogObserver(), LoggingObserver()):
        enricher = Enricher((observer,))
        call(enricher, {"rows": 1})
        with enricher.call("search"):
            pass
        with pytest.raises(GeneratorExit), enricher.call("search"):
            raise GeneratorExit
    assert events == []
    assert caplog.records == []


def test_captured_words_are_in_the_event_and_capped(events: list[dict[str, Any]]) -> None:
    """DESIGN section 6: messages only when asked for, redacted and capped."""
    observer = StructlogObserver(limits=Limits(attribute_chars=30))
    said = {**LOCKED, "message": "token=abcdef12 and many more words than that"}
    call(Enricher((observer,)), said)
    call(Enricher((observer,), capture_message=True), said)
    assert "waypost.error.message" not in events[0]
    assert events[1]["waypost.error.message"] == "[redacted] and many more words"


@pytest.mark.parametrize(
    "wrapper", [structlog.stdlib.BoundLogger, structlog.BoundLogger,
                structlog.make_filtering_bound_logger(logging.INFO)]
)  # fmt: skip
def test_any_wrapper_class_of_the_host_will_do(wrapper: Any) -> None:
    """DESIGN section 4: one structlog event per failure, however the host set structlog up."""
    capture, watcher = structlog.testing.LogCapture(), Watcher()
    structlog.configure(
        processors=[capture],
        wrapper_class=wrapper,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    try:
        call(Enricher((StructlogObserver(), watcher)))
        call(Enricher((StructlogObserver(), watcher)), QUESTION)
    finally:
        structlog.reset_defaults()
    assert [event["log_level"] for event in capture.entries] == ["warning", "info"]
    assert capture.entries[0] == {"event": "waypost.error", "log_level": "warning", **KEYS}
    assert watcher.faults == []


def test_level_that_the_host_filters_out_is_no_event() -> None:
    """The host's configuration decides what is written."""
    capture = structlog.testing.LogCapture()
    structlog.configure(
        processors=[capture], wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR)
    )
    try:
        call(Enricher((StructlogObserver(),)))
    finally:
        structlog.reset_defaults()
    assert capture.entries == []


def _full_disk() -> Any:
    return Path("/dev/full").open("w", buffering=1, encoding="utf-8")


def _closed_file() -> Any:
    stream = io.StringIO()
    stream.close()
    return stream


def _broken_pipe() -> Any:
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "w", buffering=1, encoding="utf-8")


@pytest.mark.parametrize("sink", [_full_disk, _closed_file, _broken_pipe])
def test_broken_sink_leaves_the_result_alone(sink: Any) -> None:
    """RELIABILITY A24: ENOSPC, a closed file, EPIPE: 0 escapes, the others served."""
    stream, watcher = sink(), Watcher()
    structlog.configure(
        processors=[structlog.processors.JSONRenderer()],
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    try:
        enriched = call(Enricher((StructlogObserver(), watcher)), busy())
    finally:
        structlog.reset_defaults()
        try:
            stream.close()
        except OSError:
            assert sink is not _closed_file
    assert enriched == {**busy(), **BUSY_ADVICE}
    assert (len(watcher.seen), watcher.faults) == (1, ["observe"])


def test_raising_processor_leaves_the_result_alone() -> None:
    """RELIABILITY A23: a raising structlog processor, one internal error, 0 escapes."""

    def broken(*_: object) -> Any:
        raise RuntimeError("broken")

    watcher = Watcher()
    structlog.configure(processors=[broken])
    try:
        enriched = call(Enricher((StructlogObserver(), watcher)), busy())
    finally:
        structlog.reset_defaults()
    assert enriched == {**busy(), **BUSY_ADVICE}
    assert (len(watcher.seen), watcher.faults) == (1, ["observe"])


@pytest.mark.parametrize("observer", [LoggingObserver(), StructlogObserver()])
def test_unconfigured_structlog_gives_the_event_to_logging(
    observer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """DESIGN section 4, logs: the event goes to `logging.getLogger("waypost")`."""
    assert not structlog.is_configured()
    caplog.set_level(logging.INFO)
    spans = Spans()
    call(Enricher((spans.observer(), observer)), server="shop")
    call(Enricher((observer,)), QUESTION)
    Enricher((observer,)).enrich_result(LOCKED)
    first, second, third = caplog.records
    (span,) = spans.finished.values()
    assert span.context is not None
    said = {key: value for key, value in vars(first).items() if "." in key or key.endswith("_id")}
    assert said == {
        **KEYS,
        "waypost.server": "shop",
        "trace_id": f"{span.context.trace_id:032x}",
        "span_id": f"{span.context.span_id:016x}",
    }
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("waypost", "WARNING"),
        ("waypost", "INFO"),
        ("waypost", "WARNING"),
    ]
    assert first.getMessage() == (
        "waypost.error: search failed: conflict, retryable: true, next step: wait"
    )
    assert second.getMessage() == (
        "waypost.error: search failed: needs_input, retryable: true, next step: ask_user"
    )
    assert "_OTHER failed" in third.getMessage()


def test_nobody_listening_costs_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 2, bench: with nothing configured a failure costs no log record."""
    made: list[logging.LogRecord] = []
    factory = logging.getLogRecordFactory()

    def counting(*args: Any, **kwargs: Any) -> logging.LogRecord:
        made.append(factory(*args, **kwargs))
        return made[-1]

    logger, handler = logging.getLogger("waypost"), logging.StreamHandler(io.StringIO())
    monkeypatch.setattr(logger, "propagate", False)
    logging.setLogRecordFactory(counting)
    enricher = Enricher((LoggingObserver(),))
    try:
        call(enricher)
        assert made == []
        logger.addHandler(handler)
        call(enricher)
        assert len(made) == 1
    finally:
        logger.removeHandler(handler)
        logging.setLogRecordFactory(factory)


def test_host_that_configured_neither_sees_nothing() -> None:
    """DESIGN section 4, logs: nothing on stdout, which would break a stdio server, or stderr."""
    source = """
from waypost import Enricher, failure
enricher = Enricher()
for _ in range(3):
    with enricher.call("search") as call:
        call.enrich(failure("locked", "m"))
    enricher.enrich_result(failure("locked", "m"))
"""
    done = run(source)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_host_that_configured_logging_sees_one_line_a_failure() -> None:
    """DESIGN section 4, logs: through plain logging where structlog is not configured."""
    source = """
import logging
from waypost import Enricher, failure
enricher = Enricher()
logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
with enricher.call("search") as call:
    call.enrich(failure("locked", "m"))
"""
    done = run(source)
    line = (
        "WARNING waypost waypost.error: search failed: conflict, retryable: true, next step: wait\n"
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", line)


def test_structlog_configured_later_is_used_from_then_on() -> None:
    """DESIGN section 4, logs: what counts is whether structlog is configured when it fails."""
    source = """
import sys, structlog
from waypost import Enricher, failure
enricher = Enricher()
with enricher.call("early") as call:
    call.enrich(failure("locked", "m"))
structlog.configure(processors=[structlog.processors.JSONRenderer()],
                    logger_factory=structlog.WriteLoggerFactory(sys.stderr))
with enricher.call("late") as call:
    call.enrich(failure("locked", "m"))
"""
    done = run(source)
    assert (done.exit_code, done.stdout) == (0, "")
    (line,) = done.stderr.splitlines()
    assert json.loads(line) == {"event": "waypost.error", **KEYS, "gen_ai.tool.name": "late"}


def test_faults_make_one_line_a_minute_without_their_words() -> None:
    """RELIABILITY A23: <= 1 stderr line a minute; the text may hold what the tool said."""
    source = """
import logging
from waypost import Enricher, failure
logging.basicConfig(format="%(levelname)s %(message)s")
def broken(observation):
    raise ValueError("secret words")
enricher = Enricher((broken,))
for _ in range(100):
    with enricher.call("search") as call:
        call.enrich(failure("locked", "m"))
"""
    done = run(source)
    line = "ERROR waypost: observe raised ValueError; the result is unaffected.\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", line)


def test_memory_observer_keeps_the_latest() -> None:
    """Its docstring: how many are kept; older ones are dropped."""
    from waypost.observe.memory import MemoryObserver

    memory = MemoryObserver(capacity=2)
    for name in ("a", "b", "c"):
        memory(Observation(ending="success", side="host", tool_name=name))
    assert [observation.tool_name for observation in memory.observations] == ["b", "c"]
