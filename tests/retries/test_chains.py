"""Attempts, chains, advice and budgets: the tables of DESIGN section 5."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.retries.reference import Reference, Run
from waypost.core._model import ErrorClass, NextStep
from waypost.retries import _chains as chains
from waypost.retries._chains import Chain, Facts, Failed, Started, Trail
from waypost.retries.memory import MemoryAttemptStore

CLASSES = (ErrorClass.TIMEOUT, ErrorClass.INVALID)
STEPS = tuple(NextStep)
DELAYS = (None, 0.0, 5.0)
WORDS = (None, b"same")
JUMPS = (0.0, 0.5, 4.5, 30.0, 4_000.0)
CAPACITY = 3
LIFETIME = 3_600.0


class Machine:
    """The store and the state machine, called as a tracker would."""

    def __init__(self) -> None:
        self.store = MemoryAttemptStore(CAPACITY)
        self.ids = (f"{number:016x}" for number in count())

    def begin(self, key: bytes, tool: bytes, now: float) -> Started:
        def change(
            chain: Chain | None, trail: Trail | None
        ) -> tuple[Chain | None, Trail | None, Started]:
            return chains.begin(chain, trail, now=now, key=key, new_id=next(self.ids))

        return self.store.update(key, tool, change)

    def end(self, key: bytes, tool: bytes, started: Started, run: Run, now: float) -> Facts:
        def change(
            chain: Chain | None, trail: Trail | None
        ) -> tuple[Chain | None, Trail | None, Facts]:
            if run.ending == "work":
                return chains.succeed(chain, trail, started, kept_argument=True)
            if run.ending == "left":
                return *chains.leave(chain, trail, started), Facts()
            assert run.error_class is not None
            assert run.step is not None
            failed = Failed(
                now,
                started.chain_id,
                started.attempt,
                run.error_class,
                run.step,
                retryable=False,
                key=key,
                words=run.words,
                delay_seconds=run.delay,
                span_id=next(self.ids),
            )
            kept, after, facts = chains.fail(chain, trail, started, failed)
            self.last = after.failed
            return kept, after, facts

        return self.store.update(key, tool, change)


@settings(max_examples=10_000, deadline=None)
@given(st.binary(min_size=80, max_size=240))
def test_any_interleaving_agrees_with_the_reference(steps: bytes) -> None:
    """Calls that overlap, fail, work and are left; a clock that jumps; a store that forgets."""
    machine, reference = Machine(), Reference(CAPACITY, LIFETIME)
    running: list[tuple[bytes, bytes, Started, Run]] = []
    failures: dict[Run | None, Failed | None] = {None: None}
    now = 0.0
    for what, which in zip(steps[::2], steps[1::2], strict=False):
        if what % 8 == 0:
            now += JUMPS[which % len(JUMPS)]
        elif what % 8 < 4 or not running:
            scope, tool, arguments = which & 1, which >> 1 & 1, which >> 2 & 1
            key, tool_key = bytes((scope, tool, arguments)), bytes((scope, tool))
            started, run = machine.begin(key, tool_key, now), reference.begin(key, tool_key, now)
            assert (started.attempt, started.repeats) == (run.number, run.repeats)
            assert started.retry_of == failures[run.previous]
            running.append((key, tool_key, started, run))
        else:
            key, tool_key, started, run = running.pop(which % len(running))
            ending = ("fail", "fail", "fail", "work", "left")[what // 8 % 5]
            run.error_class, run.step = CLASSES[which & 1], STEPS[which // 2 % len(STEPS)]
            run.delay = DELAYS[which % len(DELAYS)]
            run.words = WORDS[which >> 1 & 1]
            expected = reference.end(key, tool_key, run, ending, now)
            assert machine.end(key, tool_key, started, run, now)._asdict() == expected
            if ending == "fail":
                failures[run] = machine.last
    assert len(machine.store) <= CAPACITY


def _failed(started: Started, step: NextStep, at: float = 0.0, **more: Any) -> Failed:
    return Failed(at, started.chain_id, started.attempt, ErrorClass.INTERNAL, step, False, **more)


def _after(step: NextStep, delay: float | None, *, gap: float, key: bytes, works: bool) -> Facts:
    """What is said of a call that begins *gap* seconds after one that failed with *step*."""
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one", new_id="1")
    failed = _failed(first, step, key=b"one", delay_seconds=delay)
    kept, trail, _ = chains.fail(chain, trail, first, failed)
    kept = kept if key == b"one" else None
    chain, trail, second = chains.begin(kept, trail, now=gap, key=key, new_id="2")
    if works:
        return chains.succeed(chain, trail, second, kept_argument=True)[2]
    return chains.fail(chain, trail, second, _failed(second, step, gap, key=key))[2]


@pytest.mark.parametrize(
    ("step", "delay", "gap", "works", "same", "other"),
    [
        ("wait", 10.0, 9.0, True, "followed", "unknown"),
        ("wait", 10.0, 8.9, True, "too_early", "unknown"),
        ("wait", 0.0, 0.0, False, "followed", "unknown"),
        ("wait", None, 1.0, False, "followed", "unknown"),
        ("wait", None, 0.9, True, "too_early", "unknown"),
        ("fix_arguments", None, 9.0, True, "ignored", "followed"),
        ("list_first", None, 9.0, False, "ignored", "followed"),
        ("reduce_scope", None, 9.0, True, "ignored", "followed"),
        ("ask_permission", None, 9.0, True, "ignored", "unknown"),
        ("use_other_tool", None, 9.0, False, "ignored", "unknown"),
        ("report", None, 9.0, True, "ignored", "unknown"),
        ("sign_in", None, 9.0, True, "followed", "unknown"),
        ("sign_in", None, 9.0, False, "unknown", "unknown"),
        ("reconnect", None, 0.0, True, "followed", "unknown"),
        ("prepare", None, 0.0, True, "followed", "unknown"),
        ("check_effect", None, 0.0, False, "unknown", "unknown"),
        ("ask_user", None, 9.0, True, "followed", "followed"),
        ("ask_user", None, 9.0, False, "unknown", "followed"),
        ("none", None, 9.0, True, "unknown", "unknown"),
    ],
)
def test_advice_is_judged_by_the_table(  # noqa: PLR0917 -- the columns
    step: str, delay: float | None, gap: float, works: bool, same: str, other: str
) -> None:
    told = NextStep(step)
    assert _after(told, delay, gap=gap, key=b"one", works=works).advice == same
    assert _after(told, delay, gap=gap, key=b"two", works=works).advice == other


@pytest.mark.parametrize("step", NextStep)
def test_outcome_tells_the_same_call_from_another(step: NextStep) -> None:
    assert _after(step, None, gap=1.0, key=b"one", works=True).outcome == "recovered"
    assert _after(step, None, gap=1.0, key=b"one", works=False).outcome == "failed"
    assert _after(step, None, gap=1.0, key=b"two", works=False).outcome == "abandoned"
    corrects = step in ("fix_arguments", "list_first", "reduce_scope", "ask_user")
    worked = _after(step, None, gap=1.0, key=b"two", works=True)
    assert worked.outcome == ("corrected" if corrects else "abandoned")


def test_call_that_keeps_no_argument_corrects_nothing() -> None:
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one", new_id="1")
    failed = _failed(first, NextStep.FIX_ARGUMENTS, key=b"one")
    _, trail, _ = chains.fail(chain, trail, first, failed)
    chain, trail, second = chains.begin(None, trail, now=0.0, key=b"two", new_id="2")
    assert second.retry_of == failed
    assert chains.succeed(chain, trail, second, kept_argument=False)[2].outcome == "abandoned"


def test_call_that_cannot_be_compared_follows_nothing() -> None:
    for one, two in ((None, b"two"), (b"one", None), (None, None)):
        chain, trail, first = chains.begin(None, None, now=0.0, key=one, new_id="1")
        failed = _failed(first, NextStep.FIX_ARGUMENTS, key=one)
        _, trail, _ = chains.fail(chain, trail, first, failed)
        _, _, second = chains.begin(None, trail, now=0.0, key=two, new_id="2")
        assert (second.attempt, second.retry_of) == (1, None)


def test_third_attempt_spends_the_budget_and_the_storm_is_reported_once() -> None:
    chain: Chain | None = None
    trail: Trail | None = None
    facts = []
    for attempt in range(1, 7):
        chain, trail, started = chains.begin(chain, trail, now=0.0, key=b"one", new_id="1")
        assert started.attempt == attempt
        chain, trail, told = chains.fail(chain, trail, started, _failed(started, NextStep.WAIT))
        facts.append((told.exhausted, told.storm))
    assert facts == [(False, False)] * 2 + [(True, True)] + [(True, False)] * 3


@pytest.mark.parametrize(
    ("step", "gap", "words", "told"),
    [
        ("wait", 5.0, (b"busy", b"busy"), "waited"),
        ("wait", 5.0, (b"busy", b"down"), None),
        ("wait", 5.0, (None, None), None),
        ("wait", 0.5, (b"busy", b"busy"), None),
        ("reconnect", 5.0, (b"busy", b"busy"), None),
        ("report", 5.0, (b"busy", b"busy"), None),
    ],
)
def test_wait_that_did_not_help_is_told_to_stop(
    step: str, gap: float, words: tuple[bytes | None, bytes | None], told: str | None
) -> None:
    """The next repeat is then against the advice."""
    chain: Chain | None
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one", new_id="1")
    failed = _failed(first, NextStep(step), key=b"one", words=words[0])
    chain, trail, _ = chains.fail(chain, trail, first, failed)
    chain, trail, second = chains.begin(chain, trail, now=gap, key=b"one", new_id="2")
    failed = _failed(second, NextStep(step), gap, key=b"one", words=words[1])
    chain, trail, facts = chains.fail(chain, trail, second, failed)
    assert (facts.stop, facts.exhausted) == (told, False)
    chain, trail, third = chains.begin(chain, trail, now=2 * gap, key=b"one", new_id="3")
    assert third.retry_of is not None
    assert third.retry_of.step == ("report" if told else step)


def test_tenth_failure_in_a_row_spends_the_budget_whatever_the_arguments() -> None:
    trail: Trail | None = None

    def fail(number: int) -> tuple[bool, bool]:
        nonlocal trail
        key = bytes([number])
        chain, trail, started = chains.begin(None, trail, now=0.0, key=key, new_id=str(number))
        failed = _failed(started, NextStep.WAIT, key=key)
        _, trail, told = chains.fail(chain, trail, started, failed)
        return told.exhausted, told.storm

    row = [(False, False)] * 9 + [(True, True)] + [(True, False)] * 2
    assert [fail(number) for number in range(12)] == row
    chain, trail, started = chains.begin(None, trail, now=0.0, key=b"works", new_id="works")
    _, trail, _ = chains.succeed(chain, trail, started, kept_argument=True)
    assert [fail(number) for number in range(12)] == row
