"""Names on the wire: docs, dashboards and alerts of users hang on every letter."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from waypost import (
    Actor,
    Attempt,
    ErrorClass,
    Guidance,
    Limits,
    NextStep,
    Observation,
    RetryAdvice,
    RetryOf,
    RetryOutcome,
    Source,
)
from waypost.observe import _names
from waypost.observe._names import Metric, facts_of, log_facts_of

PACKAGE = Path(_names.__file__).parent.parent

ATTRIBUTES = {
    "waypost.attempt",
    "waypost.chain.id",
    "waypost.correlation",
    "waypost.link",
    "waypost.retry.advice",
    "waypost.retry.budget",
    "waypost.retry.of.span_id",
    "waypost.retry.of.trace_id",
    "waypost.retry.outcome",
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "waypost.actor",
    "waypost.disagreement",
    "waypost.error.class",
    "waypost.error.code",
    "waypost.error.message",
    "waypost.error.spoofed",
    "waypost.fault.at",
    "waypost.may_repeat",
    "waypost.next_action",
    "waypost.next_action.source",
    "waypost.next_step",
    "waypost.options_left_out",
    "waypost.retry_after_ms",
    "waypost.retryable",
    "waypost.retryable.source",
    "waypost.rule",
    "waypost.server",
    "waypost.side",
}
FACTS = ATTRIBUTES - {
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "waypost.fault.at",
    "waypost.link",
}

EVENTS = {"waypost.error", "waypost.recovered", "waypost.storm"}
METRICS = {
    "waypost.call.duration",
    "waypost.errors",
    "waypost.internal_errors",
    "waypost.retries",
    "waypost.storms",
}

FULL = Observation(
    ending="failure",
    side="server",
    tool_name="search",
    server="shop",
    duration_seconds=1.5,
    guidance=Guidance(
        error_class=ErrorClass.RATE_LIMITED,
        error_code="E1",
        retryable=True,
        next_action="Wait.",
        next_step=NextStep.WAIT,
        actor=Actor.MODEL,
        may_repeat=False,
        wait_seconds=2.5,
        retry_after_seconds=2.5,
        rule="rate.limited",
        retryable_source=Source.TOOL,
        next_action_source=Source.WAYPOST,
        disagreement=True,
    ),
    error_code="E1",
    error_type="tool_error",
    next_action="Wait.",
    message="Slow down.",
    spoofed=True,
    options_left_out=3,
    trace_id="a" * 32,
    span_id="b" * 16,
    attempt=Attempt(
        chain_id="c" * 16,
        number=3,
        correlation="run",
        retry_of=RetryOf(ErrorClass.TIMEOUT, NextStep.WAIT, True, "d" * 32, "e" * 16),
        advice=RetryAdvice.TOO_EARLY,
        outcome=RetryOutcome.FAILED,
        exhausted=True,
        storm=True,
    ),
)


def test_attributes_events_and_metrics_have_the_names_of_the_design() -> None:
    """DESIGN section 6: the list, word for word."""
    constants = {name: value for name, value in vars(_names).items() if name.isupper()}
    texts = {value for value in constants.values() if isinstance(value, str) and "." in value}
    metrics = {
        metric.name: (metric.unit, metric.keys)
        for metric in constants.values()
        if isinstance(metric, Metric)
    }
    named = ("waypost.side", "gen_ai.tool.name", "waypost.server", "waypost.error.class")
    failed = (*named, "waypost.next_step", "waypost.retryable")
    assert texts == {*ATTRIBUTES, *EVENTS, "gen_ai.conversation.id"}
    assert metrics == {
        "waypost.call.duration": ("s", named),
        "waypost.errors": ("{error}", failed),
        "waypost.retries": (
            "{retry}",
            (*failed, "waypost.retry.outcome", "waypost.retry.advice"),
        ),
        "waypost.storms": ("{storm}", named),
        "waypost.internal_errors": ("{error}", ("waypost.fault.at",)),
    }


def test_attempt_tells_what_is_known_of_it() -> None:
    """DESIGN section 6: what is not known is left out, also where others fill a record in."""
    worked = replace(FULL, ending="success", guidance=None, server=None)
    before = RetryOf(ErrorClass.TIMEOUT, NextStep.WAIT, retryable=True)
    known = {"waypost.side": "server", "waypost.attempt": 2, "waypost.correlation": "window"}
    assert facts_of(replace(worked, attempt=Attempt(None, 2, "window", before)), Limits()) == known
    assert facts_of(replace(worked, attempt=Attempt("c" * 16, 2, "window")), Limits()) == {}
    assert facts_of(replace(worked, attempt=None), Limits()) == {}


def test_names_stand_in_one_file() -> None:
    """DESIGN section 6: `observe/_names.py` is the only place where these stand."""
    names = {*ATTRIBUTES, *EVENTS, "gen_ai.conversation.id", *METRICS}
    strays = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "_names.py" and "cli" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert strays == []


def test_facts_of_a_failure_are_these() -> None:
    """DESIGN section 6: span attributes and log keys, value by value."""
    said = {
        "waypost.error.class": "rate_limited",
        "waypost.error.code": "E1",
        "waypost.error.message": "Slow down.",
        "waypost.error.spoofed": True,
        "waypost.retryable": True,
        "waypost.retryable.source": "tool",
        "waypost.next_step": "wait",
        "waypost.next_action": "Wait.",
        "waypost.next_action.source": "waypost",
        "waypost.actor": "model",
        "waypost.may_repeat": False,
        "waypost.disagreement": True,
        "waypost.rule": "rate.limited",
        "waypost.retry_after_ms": 2_500,
        "waypost.options_left_out": 3,
        "waypost.side": "server",
        "waypost.server": "shop",
        "waypost.chain.id": "c" * 16,
        "waypost.attempt": 3,
        "waypost.correlation": "run",
        "waypost.retry.of.trace_id": "d" * 32,
        "waypost.retry.of.span_id": "e" * 16,
        "waypost.retry.advice": "too_early",
        "waypost.retry.outcome": "failed",
        "waypost.retry.budget": "exhausted",
    }
    assert set(said) == FACTS
    assert facts_of(FULL, Limits()) == said
    assert log_facts_of(FULL, Limits()) == {
        **said,
        "gen_ai.tool.name": "search",
        "error.type": "tool_error",
        "trace_id": "a" * 32,
        "span_id": "b" * 16,
    }
    # A14: at most 28 attributes; a span of ours has three of its own, the ids are none in OTLP.
    assert len(facts_of(FULL, Limits())) + 3 <= 28
    assert len(log_facts_of(FULL, Limits())) - 2 <= 28


def test_facts_of_anything_else_are_none() -> None:
    """DESIGN section 4, logs: an event per failure."""
    for ending in ("success", "cancelled", "unseen"):
        assert facts_of(Observation(ending=ending, side="host"), Limits()) == {}


optional_text = st.none() | st.text(
    st.characters(min_codepoint=32, max_codepoint=126), max_size=2_000
)


@given(
    error_class=st.sampled_from(ErrorClass),
    step=st.sampled_from(NextStep),
    actor=st.sampled_from(Actor),
    sources=st.tuples(st.sampled_from(Source), st.sampled_from(Source)),
    delay=st.none() | st.floats(min_value=0, allow_nan=False, allow_infinity=True),
    texts=st.tuples(optional_text, optional_text),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_facts_are_capped_built_in_scalars(
    *,
    error_class: ErrorClass,
    step: NextStep,
    actor: Actor,
    sources: tuple[Source, Source],
    delay: float | None,
    texts: tuple[str | None, str | None],
    flags: tuple[bool, bool, bool],
) -> None:
    """DESIGN section 6: str, bool, int or float; RELIABILITY A14: at most 1,024 characters."""
    guidance = Guidance(
        error_class=error_class,
        error_code="E1",
        retryable=flags[0],
        next_action=None,
        next_step=step,
        actor=actor,
        may_repeat=flags[1],
        wait_seconds=None,
        retry_after_seconds=delay,
        rule="rate.limited",
        retryable_source=sources[0],
        next_action_source=sources[1],
        disagreement=flags[2],
    )
    observation = Observation(
        ending="failure", side="host", guidance=guidance, next_action=texts[0], message=texts[1]
    )
    facts: dict[str, Any] = log_facts_of(observation, Limits())
    assert set(facts) <= FACTS
    for value in facts.values():
        assert type(value) in (str, bool, int, float)
        assert not isinstance(value, int) or abs(value) <= 2**53
        assert not isinstance(value, str) or (len(value) <= 1_024 and value.isprintable())


@pytest.mark.parametrize("delay_seconds", [0.0, 0.0004, 20.0, 3_600.0])
def test_delay_is_whole_milliseconds(delay_seconds: float) -> None:
    """DESIGN section 6: `waypost.retry_after_ms` (int)."""
    assert FULL.guidance is not None
    guidance = replace(FULL.guidance, retry_after_seconds=delay_seconds)
    facts = facts_of(Observation(ending="failure", side="host", guidance=guidance), Limits())
    assert facts["waypost.retry_after_ms"] == int(delay_seconds * 1_000)
