"""Metrics as a real SDK aggregates them: every ending counted, sets bounded, sums exact."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import Histogram, HistogramDataPoint, Sum

from tests.observe.recording import Meters, key_of
from tests.watching import Clock, Guest, busy, raising
from waypost import Enricher, ErrorClass, Limits
from waypost.core._actions import CLASS_DEFAULTS
from waypost.core._model import Side

LOCKED = {"status": "error", "error_code": "locked", "message": "m"}
BASE = {"waypost.side": "host", "gen_ai.tool.name": "search", "waypost.server": "shop"}
FAILED = {
    **BASE,
    "waypost.error.class": "rate_limited",
    "waypost.next_step": "wait",
    "waypost.retryable": True,
}

# One code of each class.
CODES = {
    "rate_limited": "rate_limited",
    "unavailable": "service_unavailable",
    "timeout": "timeout",
    "conflict": "locked",
    "not_found": "not_found",
    "invalid": "invalid_argument",
    "forbidden": "forbidden",
    "unknown": "no_rule_knows_this",
}


def run(enricher: Enricher, clock: Clock, tool: str, server: str | None, result: object) -> None:
    with enricher.call(tool, server=server) as call:
        clock.now += 0.25
        call.enrich(result)


def test_instruments_are_those_of_the_design() -> None:
    """DESIGN section 6: names, units, and the boundaries of the MCP convention."""
    meters, clock = Meters(), Clock()
    run(Enricher((meters.observer(),), clock=clock), clock, "search", "shop", busy())
    metrics = meters.read()
    assert {name: metric.unit for name, metric in metrics.items()} == {
        "waypost.call.duration": "s",
        "waypost.errors": "{error}",
        "waypost.retries": "{retry}",
        "waypost.storms": "{storm}",
    }
    assert all(metric.description for metric in metrics.values())
    duration, errors = metrics["waypost.call.duration"].data, metrics["waypost.errors"].data
    assert isinstance(duration, Histogram)
    assert isinstance(errors, Sum)
    assert errors.is_monotonic
    (point,) = duration.data_points
    assert isinstance(point, HistogramDataPoint)
    assert point.explicit_bounds == (
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    )  # fmt: skip
    assert (point.count, point.sum) == (1, 0.25)


def test_every_ending_is_in_the_duration_and_failures_alone_in_the_errors() -> None:
    """DESIGN sections 4 and 6: every finished call; a cancellation is no error."""
    meters, clock = Meters(), Clock()
    enricher = Enricher((meters.observer(),), clock=clock)
    run(enricher, clock, "search", "shop", {"rows": 1})
    run(enricher, clock, "search", "shop", busy())
    with enricher.call("search", server="shop"):
        clock.now += 1
    for exception in (TimeoutError("late"), GeneratorExit()):
        with pytest.raises(type(exception)), enricher.call("search", server="shop"):
            clock.fail_after(2, exception)
    assert meters.durations() == {
        key_of(BASE): (1, 0.25),
        key_of({**BASE, "waypost.error.class": "rate_limited"}): (1, 0.25),
        key_of({**BASE, "waypost.error.class": "unseen"}): (1, 1.0),
        key_of({**BASE, "waypost.error.class": "timeout"}): (1, 2.0),
        key_of({**BASE, "waypost.error.class": "cancelled"}): (1, 2.0),
    }
    counted = {key: value for key, value in meters.sums("waypost.errors").items() if value}
    assert counted == {
        key_of(FAILED): 1,
        key_of({**FAILED, "waypost.error.class": "timeout"}): 1,
    }


def test_absent_names_are_absent_and_one_shot_failures_have_no_duration() -> None:
    """DESIGN section 4: a one-shot result is not timed; section 6: keys only with a value."""
    meters = Meters()
    enricher = Enricher((meters.observer(),), side="server", clock=Clock())
    enricher.enrich_result(busy())
    with enricher.call("search") as call:
        call.enrich({"rows": 1})
    tool = {"waypost.side": "server", "gen_ai.tool.name": "search"}
    assert meters.durations() == {key_of(tool): (1, 0.0)}
    counted = {key: value for key, value in meters.sums("waypost.errors").items() if value}
    assert counted == {
        key_of(
            {
                "waypost.side": "server",
                "gen_ai.tool.name": "_OTHER",
                "waypost.error.class": "rate_limited",
                "waypost.next_step": "wait",
                "waypost.retryable": True,
            }
        ): 1
    }


def test_first_tools_start_at_zero_in_every_class() -> None:
    """DESIGN section 6: zeros for the classes of the first 40 (side, tool, server)."""
    meters, clock = Meters(), Clock()
    enricher = Enricher((meters.observer(),), clock=clock)
    for number in range(50):
        run(enricher, clock, f"tool{number}", "shop", {"rows": 1})
    zeros = {
        key_of(
            {
                "waypost.side": "host",
                "gen_ai.tool.name": f"tool{number}",
                "waypost.server": "shop",
                "waypost.error.class": error_class.value,
                "waypost.next_step": CLASS_DEFAULTS[error_class].step.value,
                "waypost.retryable": CLASS_DEFAULTS[error_class].retryable,
            }
        ): 0
        for number in range(40)
        for error_class in ErrorClass
    }
    assert meters.sums("waypost.errors") == zeros
    assert len(meters.durations()) == 50


def test_zeros_of_a_name_do_not_stand_for_another_kind_of_name() -> None:
    """DESIGN section 6: (side, tool, server); a server called as a tool is something else."""
    meters, clock = Meters(), Clock()
    enricher = Enricher((meters.observer(),), clock=clock)
    with enricher.call(None, server="shop") as call:
        call.enrich({"rows": 1})
    run(enricher, clock, "shop", None, {"rows": 1})
    assert len(meters.sums("waypost.errors")) == 2 * len(ErrorClass)


def test_faults_are_counted_by_where_they_were() -> None:
    """RELIABILITY A23: one `waypost.internal_errors` each; its text is nowhere."""
    meters = Meters()
    guest = Guest(begin=raising(RuntimeError("words")), call=raising(RuntimeError("words")))
    with Enricher((guest, meters.observer()), clock=Clock()).call("search") as call:
        call.enrich(busy())
    metric = meters.read()["waypost.internal_errors"]
    assert metric.unit == "{error}"
    assert meters.sums("waypost.internal_errors") == {
        key_of({"waypost.fault.at": "begin"}): 1,
        key_of({"waypost.fault.at": "observe"}): 1,
    }


def _storm(enricher: Enricher, clock: Clock) -> Counter[str]:
    """10 tools x 10 servers x 8 classes and a success, then 1,000 new names, all failures."""
    counts: Counter[str] = Counter()
    for tool, server, (error_class, code) in itertools.product(range(10), range(10), CODES.items()):
        said = {"status": "error", "error_code": code, "message": "m"}
        run(enricher, clock, f"t{tool}", f"s{server}", said)
        counts[error_class] += 1
    for number in range(1_000):
        run(enricher, clock, f"new{number}", f"new{number}", LOCKED)
        run(enricher, clock, f"new{number}", f"new{number}", {"rows": 1})
        counts["conflict"] += 1
    return counts


@pytest.mark.parametrize(
    ("limits", "errors_at_most", "durations_at_most"),
    [
        (Limits(attribute_sets=200, duration_attribute_sets=60, zeroed_tools=2), 201, 62),
        (Limits(attribute_sets=6, duration_attribute_sets=3, zeroed_tools=1), 7, 5),
        (Limits(attribute_sets=1, duration_attribute_sets=1, zeroed_tools=1), 2, 3),
        (Limits(), 1_501, 502),
    ],
    ids=["200", "6", "1", "defaults"],
)
def test_attribute_sets_are_bounded_and_sums_exact(
    limits: Limits, errors_at_most: int, durations_at_most: int
) -> None:
    """RELIABILITY A18, smaller: 0 overflow points; past the bound a name is `_OTHER`."""
    meters, clock = Meters(), Clock()
    expected = Counter[str]()
    observer = meters.observer(limits)
    sides: tuple[Side, ...] = ("host", "server")
    for side in sides:
        expected += _storm(Enricher((observer,), side=side, clock=clock), clock)
    errors, durations = meters.sums("waypost.errors"), meters.durations()
    assert len(errors) <= errors_at_most
    assert len(durations) <= durations_at_most
    for key in (*errors, *durations):
        assert "otel.metric.overflow" not in dict(key)
    assert sum(errors.values()) == expected.total()
    assert sum(count for count, _ in durations.values()) == expected.total() + 2_000
    assert sum(total for _, total in durations.values()) == 0.25 * (expected.total() + 2_000)
    if limits == Limits():
        by_class: Counter[str] = Counter()
        for key, value in errors.items():
            by_class[dict(key)["waypost.error.class"]] += int(value)
        assert +by_class == expected


def test_name_past_the_bound_is_other_with_its_class_kept() -> None:
    """DESIGN section 6: further sets are recorded with tool and server `_OTHER`."""
    meters, clock = Meters(), Clock()
    limits = Limits(attribute_sets=50, zeroed_tools=1)
    enricher = Enricher((meters.observer(limits),), clock=clock)
    for number in range(100):
        run(enricher, clock, f"tool{number}", "shop", busy())
    other = {**FAILED, "gen_ai.tool.name": "_OTHER", "waypost.server": "_OTHER"}
    named = [key for key, value in meters.sums("waypost.errors").items() if value == 1]
    assert meters.sums("waypost.errors")[key_of(other)] == 100 - len(named)
    assert 0 < len(named) <= 40


def test_threads_lose_no_count() -> None:
    """RELIABILITY A31: counts are exact under threads."""
    meters, clock = Meters(), Clock()
    enricher = Enricher((meters.observer(Limits(attribute_sets=30, zeroed_tools=1)),), clock=clock)

    def work(thread: int) -> None:
        for turn in range(200):
            with enricher.call(f"tool{turn % 60}", server=f"s{thread}") as call:
                call.enrich(busy() if turn % 2 else {"rows": 1})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sum(meters.sums("waypost.errors").values()) == 800
    assert sum(count for count, _ in meters.durations().values()) == 1_600
    assert len(meters.sums("waypost.errors")) <= 31


def test_no_word_of_the_tool_is_a_metric_attribute() -> None:
    """STYLE rule 7: no message text, arguments or raw codes on metrics."""
    meters = Meters()
    said: dict[str, Any] = {
        "status": "error",
        "error_code": "tool_word_code",
        "message": "tool_word_message",
        "input_request": {"argument": "tool_word", "options": ["tool_word"]},
        "next_action": "tool_word_action",
    }
    enricher = Enricher((meters.observer(),), capture_message=True)
    with enricher.call("search", arguments={"tool_word": "tool_word"}) as call:
        call.enrich(said)
    assert call.guidance is not None
    assert "tool_word" not in repr(meters.read())
