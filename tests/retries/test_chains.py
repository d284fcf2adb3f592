"""Attempts, chains, advice and budgets: the tables of DESIGN section 5."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.retries.reference import Life, Reference, Run
from waypost.core._guide import guide
from waypost.core._model import ErrorClass, Failure, NextStep
from waypost.retries import _chains as chains
from waypost.retries._chains import Chain, Facts, Failed, Started, Trail
from waypost.retries._tracker import Tracked, Tracker
from waypost.retries.memory import MemoryAttemptStore

CLASSES = (ErrorClass.TIMEOUT, ErrorClass.INVALID)
STEPS = tuple(NextStep)
DELAYS = (None, 0.0, 5.0)
WORDS = ("down", "busy")
JUMPS = (0.0, 0.5, 4.5, 30.0, 4_000.0)
SOME = Failure({}, (), "some", (), "")
CAPACITY = 3
LIFETIME = 3_600.0


def _arguments(which: int) -> dict[str, int]:
    return {"which": which, "same": 1}


@settings(max_examples=10_000, deadline=None)
@given(st.binary(min_size=80, max_size=240))
def test_any_interleaving_agrees_with_the_reference(steps: bytes) -> None:
    """Calls that overlap, fail, work and are left; a clock that jumps; a store that forgets."""
    store, reference = MemoryAttemptStore(CAPACITY), Reference(CAPACITY, LIFETIME)
    tracker = Tracker(store, b"k" * 32)
    running: list[tuple[Tracked, Run]] = []
    ids: dict[str, Life] = {}
    now = 0.0
    for what, which in zip(steps[::2], steps[1::2], strict=False):
        if what % 8 == 0:
            now += JUMPS[which % len(JUMPS)]
        elif what % 8 < 4 or not running:
            scope, tool, arguments = str(which & 1), str(which >> 1 & 1), which >> 2 & 1
            call = tracker.begin(scope, None, tool, _arguments(arguments), now=now)
            run = reference.begin(f"{scope}{tool}{arguments}", f"{scope}{tool}", now)
            assert (call.started.attempt, call.started.repeats) == (run.number, run.repeats)
            before = call.started.retry_of
            assert (before and before.span_id) == (run.previous and run.previous.name)
            running.append((call, run))
        else:
            call, run = running.pop(which % len(running))
            ending = ("fail", "fail", "fail", "work", "left")[what // 8 % 5]
            run.error_class, run.step = CLASSES[which & 1], STEPS[which // 2 % len(STEPS)]
            run.delay, run.words = DELAYS[which % len(DELAYS)], WORDS[which >> 1 & 1]
            facts = _end(tracker, call, run, ending, now)._asdict()
            chain_id = facts.pop("chain_id")
            assert facts == reference.end(run, ending, now)
            if ending == "fail":
                assert run.chain is not None
                assert ids.setdefault(chain_id, run.chain) is run.chain
    assert len(store) <= CAPACITY


def _end(tracker: Tracker, call: Tracked, run: Run, ending: str, now: float) -> Facts:
    """End a call as *run* did; what is not compared is that of any failure."""
    if ending == "work":
        return tracker.succeed(call)
    if ending == "left":
        tracker.leave(call)
        return Facts()
    assert run.error_class is not None
    assert run.step is not None
    failure = SOME._replace(message=f"{run.words} {now}")
    guided = guide(SOME)._replace(step=run.step, delay=run.delay)
    guided = guided._replace(advice=guided.advice._replace(error_class=run.error_class))
    return tracker.fail(call, failure, guided, now=now, span_id=run.name)


def _failed(started: Started, step: NextStep, at: float = 0.0, **more: Any) -> Failed:
    return Failed(
        at, started.chain_id or "new", started.attempt, ErrorClass.INTERNAL, step, False, **more
    )


def _after(step: NextStep, delay: float | None, *, gap: float, key: bytes, works: bool) -> Facts:
    """What is said of a call that begins *gap* seconds after one that failed with *step*."""
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one")
    failed = _failed(first, step, key=b"one", delay_seconds=delay)
    kept, trail, _ = chains.fail(chain, trail, first, failed)
    kept = kept if key == b"one" else None
    chain, trail, second = chains.begin(kept, trail, now=gap, key=key)
    if works:
        return chains.succeed(chain, trail, second, kept_argument=True)[2]
    return chains.fail(chain, trail, second, _failed(second, step, gap, key=key))[2]


@pytest.mark.parametrize(
    ("step", "delay", "gap", "works", "same", "other"),
    [
        ("wait", 10.0, 9.0, True, "followed", "unknown"),
        ("wait", 10.0, 8.9, True, "too_early", "unknown"),
        ("wait", 0.0, 0.9, False, "too_early", "unknown"),
        ("wait", 0.0, 1.0, False, "followed", "unknown"),
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
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one")
    failed = _failed(first, NextStep.FIX_ARGUMENTS, key=b"one")
    _, trail, _ = chains.fail(chain, trail, first, failed)
    chain, trail, second = chains.begin(None, trail, now=0.0, key=b"two")
    assert second.retry_of == failed
    assert chains.succeed(chain, trail, second, kept_argument=False)[2].outcome == "abandoned"


def test_call_that_cannot_be_compared_follows_nothing() -> None:
    for one, two in ((None, b"two"), (b"one", None), (None, None)):
        chain, trail, first = chains.begin(None, None, now=0.0, key=one)
        failed = _failed(first, NextStep.FIX_ARGUMENTS, key=one)
        _, trail, _ = chains.fail(chain, trail, first, failed)
        _, _, second = chains.begin(None, trail, now=0.0, key=two)
        assert (second.attempt, second.retry_of) == (1, None)


def test_chain_whose_trail_is_forgotten_begins_anew() -> None:
    """A store drops trails and chains one by one; what is left of a chain is not gone on with."""
    old, _, first = chains.begin(None, None, now=0.0, key=b"one")
    old, trail, _ = chains.fail(old, None, first, _failed(first, NextStep.WAIT, key=b"one"))
    assert old is not None
    _, _, left = chains.begin(None, trail, now=0.0, key=b"two")
    assert left.retry_of is not None
    for started in (chains.FIRST, left):
        failed = _failed(started, NextStep.WAIT, key=b"one")._replace(chain_id="again")
        kept, _, facts = chains.fail(old, None, started, failed)
        assert kept is not None
        assert (kept.id, kept.attempt, facts.chain_id) == ("again", 1, "again")


def test_third_attempt_spends_the_budget_and_the_storm_is_reported_once() -> None:
    chain: Chain | None = None
    trail: Trail | None = None
    facts = []
    for attempt in range(1, 7):
        chain, trail, started = chains.begin(chain, trail, now=0.0, key=b"one")
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
    chain, trail, first = chains.begin(None, None, now=0.0, key=b"one")
    failed = _failed(first, NextStep(step), key=b"one", words=words[0])
    chain, trail, _ = chains.fail(chain, trail, first, failed)
    chain, trail, second = chains.begin(chain, trail, now=gap, key=b"one")
    failed = _failed(second, NextStep(step), gap, key=b"one", words=words[1])
    chain, trail, facts = chains.fail(chain, trail, second, failed)
    assert (facts.stop, facts.exhausted) == (told, False)
    chain, trail, third = chains.begin(chain, trail, now=2 * gap, key=b"one")
    assert third.retry_of is not None
    assert third.retry_of.step == ("report" if told else step)


def test_tenth_failure_in_a_row_spends_the_budget_whatever_the_arguments() -> None:
    trail: Trail | None = None

    def fail(number: int) -> tuple[bool, bool]:
        nonlocal trail
        key = bytes([number])
        chain, trail, started = chains.begin(None, trail, now=0.0, key=key)
        failed = _failed(started, NextStep.WAIT, key=key)
        _, trail, told = chains.fail(chain, trail, started, failed)
        return told.exhausted, told.storm

    row = [(False, False)] * 9 + [(True, True)] + [(True, False)] * 2
    assert [fail(number) for number in range(12)] == row
    chain, trail, started = chains.begin(None, trail, now=0.0, key=b"works")
    _, trail, _ = chains.succeed(chain, trail, started, kept_argument=True)
    assert [fail(number) for number in range(12)] == row
