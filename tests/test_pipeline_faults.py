"""Faults of observers, clocks and sinks: the host's call goes on as if nothing were."""

from __future__ import annotations

import contextvars
import itertools
import logging
from collections.abc import Callable
from typing import Any

import pytest

from tests.watching import (
    BUSY_ADVICE,
    SPAN,
    TRACE,
    Clock,
    Guest,
    Held,
    Watcher,
    busy,
    raising,
)
from waypost import Enricher, Observation

DOORS = ("begin", "end", "call")


BROKEN = (RuntimeError("broken \x1b[31m"), RecursionError(), MemoryError())


def names(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("door", DOORS)
def test_raising_observer_leaves_result_and_other_observers_alone(
    door: str, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """RELIABILITY A23: 0 escapes, the result correct, the others served, one count each."""
    before, after = Watcher(), Watcher(Held())
    guest = Guest(**{door: raising(fault)})
    with Enricher((before, guest, after)).call("search") as call:
        assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE, "trace_id": TRACE}
    assert [len(watcher.seen) for watcher in (before, after)] == [1, 1]
    assert after.scope is not None
    assert after.scope.ended == after.seen == before.seen
    assert before.faults == after.faults == ["begin" if door == "begin" else "observe"]
    (line,) = names(caplog)
    assert type(fault).__name__ in line
    assert "broken" not in line


def test_observers_that_raise_everywhere_leave_the_result_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """RELIABILITY A23: all together, and at most one line a minute."""
    fail = raising(RuntimeError("broken"))
    watcher = Watcher()
    guests = [Guest(**dict.fromkeys(doors, fail), fault=fail)
              for count in range(4) for doors in itertools.combinations(DOORS, count)]  # fmt: skip
    enricher = Enricher((*guests, watcher, *guests))
    for turn in range(20):
        with enricher.run(f"turn-{turn}"), enricher.call("search") as call:
            assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
        assert enricher.enrich_result(busy()) == {**busy(), **BUSY_ADVICE}
    assert watcher.endings == [("search", "failure"), (None, "failure")] * 20
    assert len(names(caplog)) == 1
    # Of the 8 guests 4 raise at each door; `end` is only reached by the 4 whose `begin` works.
    assert watcher.faults.count("begin") == 2 * 4 * 40
    assert watcher.faults.count("observe") == 2 * (2 + 4) * 40


@pytest.mark.parametrize("door", DOORS)
def test_exception_of_the_tool_passes_when_observers_raise_too(door: str) -> None:
    """RELIABILITY A7: re-raised as the same object when telemetry fails as well."""
    own = KeyError("the tool's")
    watcher = Watcher()
    guest = Guest(**{door: raising(RuntimeError("broken"))})
    with pytest.raises(KeyError) as caught, Enricher((guest, watcher)).call("search"):
        raise own
    assert caught.value is own
    assert (own.__context__, own.__cause__) == (None, None)
    assert watcher.endings == [("search", "raised")]


@pytest.mark.parametrize("passing", [KeyboardInterrupt(), SystemExit(), GeneratorExit()], ids=repr)
@pytest.mark.parametrize("door", DOORS)
def test_base_exception_of_an_observer_passes_and_the_next_call_works(
    door: str, passing: BaseException
) -> None:
    """RELIABILITY A6: it passes through; DESIGN section 4: no layer is left open by it."""
    once = iter([passing])

    def interrupt() -> None:
        for exception in once:
            raise exception

    held = Held()
    watcher = Watcher(held)

    def host() -> None:
        enricher = Enricher((watcher, Guest(**{door: interrupt})))
        with pytest.raises(type(passing)) as caught, enricher.call("search") as call:
            call.enrich(busy())
        assert caught.value is passing
        assert len(held.ended) == 1  # also then: an open span would be the parent of all to come
        with enricher.call("search") as call:
            assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE, "trace_id": TRACE}
        assert watcher.endings[-1:] == [("search", "failure")]

    contextvars.copy_context().run(host)


def test_fault_of_an_observer_shows_in_strict_mode_and_the_next_call_works() -> None:
    """DESIGN section 4 and STYLE rule 4: tests of observers set `strict` and see the fault."""
    fault = RuntimeError("broken")
    watcher = Watcher(Held())
    for door in DOORS:
        enricher = Enricher((watcher, Guest(**{door: raising(fault)})), strict=True)
        for _ in range(2):
            with pytest.raises(RuntimeError) as caught, enricher.call("search") as call:
                call.enrich(busy())
            assert caught.value is fault
    with Enricher((watcher,)).call("search") as call:
        assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE, "trace_id": TRACE}
    assert watcher.faults == []


class _Endless:
    """No scope at all: it has ids, but cannot end."""

    trace_id, span_id, sampled = TRACE, SPAN, True


class _Blind:
    """A scope that cannot be asked for its trace."""

    @property
    def trace_id(self) -> str:
        raise RuntimeError("broken")

    span_id, sampled = None, True

    def end(self, observation: Observation) -> None:
        pass


class _Half(_Blind):
    """A scope that has a trace and fails behind it."""

    trace_id = "c" * 32

    @property
    def sampled(self) -> bool:  # type: ignore[override]
        raise RuntimeError("broken")


@pytest.mark.parametrize("scope", [object(), True, _Endless(), _Blind(), _Half()])
def test_broken_scope_leaves_result_and_other_observers_alone(scope: object) -> None:
    """DESIGN section 4: a fault in an observer never reaches the host."""
    watcher = Watcher(Held())
    enricher = Enricher((Guest(begin=lambda: scope), watcher))
    result = {"rows": 1}
    with enricher.call("search") as call:
        assert call.enrich(result) is result
    assert call.trace_id in (TRACE, "c" * 32)
    assert watcher.endings == [("search", "success")]
    assert watcher.faults


@pytest.mark.parametrize("readings", [["a", "b"], [None, 5.0], [5.0, None], [object(), 1.0]])
def test_clock_that_tells_no_time_costs_only_the_duration(readings: list[Any]) -> None:
    """RELIABILITY A23: a clock is the host's, and may be broken."""
    watcher = Watcher()
    turns = iter(readings)
    with Enricher((watcher,), clock=lambda: next(turns)).call("search") as call:
        assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
    (seen,) = watcher.seen
    assert (seen.ending, seen.duration_seconds) == ("failure", None)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("ending", ["failure", "raised", "unseen", "cancelled"])
def test_raising_clock_costs_only_the_duration(first: bool, ending: str) -> None:
    """RELIABILITY A23 and A33: a raising clock changes no result."""
    watcher = Watcher()
    readings: list[float | None] = [None, 1.0] if first else [1.0]

    def clock() -> float:
        reading = readings.pop(0) if readings else None
        if reading is None:
            raise OSError
        return reading

    def host() -> None:
        with Enricher((watcher,), clock=clock).call("search", timeout_seconds=1) as call:
            if ending == "failure":
                assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
            if ending == "raised":
                raise KeyError
            if ending == "cancelled":
                raise GeneratorExit

    if ending in ("raised", "cancelled"):
        with pytest.raises((KeyError, GeneratorExit)):
            host()
    else:
        host()
    (seen,) = watcher.seen
    assert (seen.ending, seen.duration_seconds, watcher.faults) == (ending, None, ["clock"])


@pytest.mark.parametrize("step_seconds", [0.0, -5.0, -1e300])
def test_duration_is_never_below_zero(step_seconds: float) -> None:
    """RELIABILITY A33: a frozen clock, and one that goes back."""
    watcher, clock = Watcher(), Clock()
    with Enricher((watcher,), clock=clock).call("search", timeout_seconds=1) as call:
        clock.now += step_seconds
        call.enrich({"rows": 1})
    assert watcher.seen[0].duration_seconds == 0.0


class _RaisingHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise OSError("disk full")


def test_log_handler_that_raises_leaves_the_result_alone() -> None:
    """RELIABILITY A24: 0 escapes from a broken log sink."""
    logger, handler = logging.getLogger("waypost"), _RaisingHandler()
    logger.addHandler(handler)
    try:
        with Enricher((Guest(call=raising(RuntimeError())),)).call("search") as call:
            assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
    finally:
        logger.removeHandler(handler)


def test_observer_needs_no_more_than_a_call() -> None:
    """The protocol: `begin` and `fault` are optional, so a plain function will do."""
    seen: list[Observation] = []

    def plain(observation: Observation) -> None:
        seen.append(observation)

    def broken(observation: Observation) -> None:
        raise RuntimeError

    with Enricher((plain, broken)).call("search") as call:
        call.enrich(busy())
    assert len(seen) == 1


class _Idle(Watcher):
    """Listens only when *answer* says so."""

    def __init__(self, answer: Callable[[], object], scope: Held | None = None) -> None:
        super().__init__(scope)
        self._answer = answer

    def idle(self) -> Any:
        return self._answer()


def test_call_is_not_told_where_every_observer_is_idle() -> None:
    """The protocol of observers: `idle` spares the observation only where nobody wants it."""
    idle, busy_one = _Idle(lambda: True), _Idle(lambda: False)
    held, never = _Idle(lambda: True, Held()), Watcher()
    for observers in ([idle], [idle, idle], [idle, busy_one], [idle, held], [idle, never]):
        with Enricher(observers).call("search") as call:
            assert call.enrich(busy()).items() >= BUSY_ADVICE.items()
        assert call.guidance is not None
    assert len(busy_one.seen) == len(held.seen) == len(never.seen) == 1
    assert len(idle.seen) == 3
    assert held.scope is not None
    assert held.scope.ended == held.seen


def test_observer_that_cannot_say_whether_it_is_idle_is_told() -> None:
    """RELIABILITY A23: a fault costs no observation."""
    watcher = _Idle(raising(RuntimeError("broken")))
    with Enricher((watcher,)).call("search") as call:
        assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
    assert (watcher.endings, watcher.faults) == ([("search", "failure")], ["observe"])
