"""Enricher and Call as a host uses them: what comes back, and what observers are told."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from typing import Any

import pytest
from mcp import MCPError
from mcp.types import CallToolResult, TextContent

import waypost
from tests.watching import BUSY_ADVICE, SPAN, TRACE, Clock, Held, Watcher, busy
from waypost import Attempt, CallStart, Enricher, Guidance, Observation, ToolFailure

LATE: dict[str, Any] = {"status": "error", "error_code": "timeout", "message": "No answer."}


def guidance(result: object, **kwargs: bool) -> Guidance:
    found = waypost.guidance_of(result, **kwargs)
    assert found is not None
    return found


def test_success_comes_back_as_the_same_object() -> None:
    """DESIGN section 1: a success is returned unchanged, as the same object."""
    watcher, clock = Watcher(), Clock()
    result = {"status": "ok", "rows": [1]}
    with Enricher((watcher,), clock=clock).call("search", server="shop", arguments={}) as call:
        clock.now += 1.5
        assert call.enrich(result) is result
        clock.now += 60
    assert (call.guidance, call.payload) == (None, None)
    assert watcher.seen == [
        Observation(
            ending="success",
            side="host",
            tool_name="search",
            server="shop",
            duration_seconds=1.5,
            attempt=Attempt(chain_id=None, number=1, correlation="window"),
        )
    ]
    assert watcher.starts == [CallStart(side="host", tool_name="search", server="shop")]


def test_failure_comes_back_with_guidance_and_trace() -> None:
    """DESIGN section 4: `Call.enrich` closes the attempt; leaving the block observes."""
    watcher, clock = Watcher(Held()), Clock()
    result = busy()
    with Enricher((watcher,), clock=clock).call("search", server="shop") as call:
        clock.now += 0.25
        enriched = call.enrich(result)
        clock.now += 60
        assert watcher.seen == []
    assert enriched == {**busy(), **BUSY_ADVICE, "trace_id": TRACE}
    assert result == busy()
    assert call.payload == enriched
    assert call.guidance == guidance(busy())
    assert call.guidance.wait_seconds == 20
    assert watcher.seen == [
        Observation(
            ending="failure",
            side="host",
            tool_name="search",
            server="shop",
            duration_seconds=0.25,
            guidance=guidance(busy()),
            error_code="rate_limited",
            error_type="rate_limited",
            next_action="Wait 20 s, then make the same call.",
            trace_id=TRACE,
            span_id=SPAN,
        )
    ]
    assert watcher.scope is not None
    assert watcher.scope.ended == watcher.seen


def test_trace_is_that_of_the_first_valid_scope() -> None:
    """DESIGN section 4: with the trace id of the first valid scope, sampled or not."""
    watchers = [
        Watcher(None),
        Watcher(Held(trace_id=None, span_id=None)),
        Watcher(Held(trace_id="a" * 32, span_id="b" * 16, sampled=False)),
        Watcher(Held()),
    ]
    failed = CallToolResult(content=[TextContent(text="boom: timeout")], is_error=True)
    with Enricher(watchers).call("search") as call:
        enriched = call.enrich(failed)
        assert (call.trace_id, call.span_id, call.sampled) == ("a" * 32, "b" * 16, False)
    assert enriched.meta is not None
    assert enriched.meta["waypost/guidance"]["trace_id"] == "a" * 32
    assert enriched.meta["waypost/guidance"]["sampled"] is False
    assert [watcher.seen[0].trace_id for watcher in watchers] == ["a" * 32] * 4


def test_raise_passes_as_the_same_object_and_leaves_its_payload() -> None:
    """DESIGN section 4, raises: `call.guidance` and `call.payload` are set for the host."""
    watcher = Watcher(Held())
    late = TimeoutError("No answer in 5 s\x00.")
    with (
        pytest.raises(TimeoutError) as caught,
        Enricher((watcher,), clock=Clock()).call("search") as call,
    ):
        raise late
    assert caught.value is late
    assert late.__context__ is None
    assert call.guidance == guidance(late)
    assert call.payload == {
        "status": "error",
        "error_code": "TimeoutError",
        "message": "No answer in 5 s.",
        "retryable": True,
        "next_action": call.guidance.next_action,
        "trace_id": TRACE,
    }
    assert watcher.seen == [
        Observation(
            ending="raised",
            side="host",
            tool_name="search",
            duration_seconds=0.0,
            guidance=guidance(late),
            error_code="TimeoutError",
            error_type="TimeoutError",
            next_action=call.guidance.next_action,
            trace_id=TRACE,
            span_id=SPAN,
        )
    ]


@pytest.mark.parametrize("result", [ToolFailure(error_code="locked", message="m"), busy(), LATE])
def test_payload_is_what_enrich_returns(result: Any) -> None:
    """DESIGN section 4: one failure has one payload, with the trace id."""
    with Enricher((Watcher(Held()),)).call("search") as call:
        enriched = call.enrich(result)
    assert call.payload == enriched


def test_payload_never_overwrites_what_the_tool_set() -> None:
    """DESIGN section 1: values that the tool set stay, `None` and the trace included."""
    said = {**busy(), "retryable": None, "next_action": "Pray.", "trace_id": "mine"}
    with Enricher((Watcher(Held()),)).call("search") as call:
        assert call.enrich(said) == said
    assert call.payload == said


@pytest.mark.parametrize(
    "passing", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3), GeneratorExit()]
)
def test_cancellation_passes_at_once_and_is_no_error(passing: BaseException) -> None:
    """DESIGN section 4, cancellation: counted as `cancelled`, no guidance."""
    watcher, clock = Watcher(Held()), Clock()
    with (
        pytest.raises(type(passing)) as caught,
        Enricher((watcher,), clock=clock).call("search", timeout_seconds=5) as call,
    ):
        clock.fail_after(4, passing)
    assert caught.value is passing
    assert (call.guidance, call.payload) == (None, None)
    assert watcher.seen == [
        Observation(
            ending="cancelled",
            side="host",
            tool_name="search",
            duration_seconds=4.0,
            trace_id=TRACE,
            span_id=SPAN,
        )
    ]


def test_question_that_is_raised_is_no_failure() -> None:
    """DESIGN section 2: elicitation (-32042) is a question; section 4: left without `enrich`."""
    watcher, question = Watcher(), MCPError(-32042, "Open this page first.")
    with pytest.raises(MCPError) as caught, Enricher((watcher,)).call("search") as call:
        raise question
    assert caught.value is question
    assert (call.guidance, call.payload) == (None, None)
    assert watcher.endings == [("search", "unseen")]


@pytest.mark.parametrize("passed_seconds", [5.0, 5.2, 4.999])
def test_cancellation_at_the_stated_limit_is_a_timeout(passed_seconds: float) -> None:
    """DESIGN section 4: the limit is set outside, so it begins a little before our block."""
    watcher, clock = Watcher(), Clock()
    with (
        pytest.raises(asyncio.CancelledError),
        Enricher((watcher,), clock=clock).call("search", timeout_seconds=5) as call,
    ):
        clock.fail_after(passed_seconds, asyncio.CancelledError())
    assert call.guidance is not None
    assert call.guidance.error_class == "timeout"
    assert call.payload is not None
    assert call.payload["error_code"] == "timeout"
    (seen,) = watcher.seen
    assert (seen.ending, seen.error_code, seen.error_type) == ("raised", "timeout", "timeout")


async def test_cancelled_task_is_cancelled() -> None:
    """DESIGN section 4: what asyncio cancels stays cancelled."""
    watcher, entered = Watcher(), asyncio.Event()

    async def tool() -> None:
        with Enricher((watcher,)).call("search"):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(tool())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert watcher.endings == [("search", "cancelled")]


def test_block_left_without_enrich_is_unseen() -> None:
    """DESIGN section 4: a block left without `enrich` is recorded as `unseen`."""
    watcher, clock = Watcher(), Clock()
    with Enricher((watcher,), clock=clock).call("search") as call:
        clock.now += 2
    assert call.guidance is None
    assert watcher.seen == [
        Observation(ending="unseen", side="host", tool_name="search", duration_seconds=2.0)
    ]


@pytest.mark.parametrize(("result", "ending"), [(busy(), "failure"), ({"rows": 1}, "success")])
def test_exception_after_enrich_changes_no_record(result: dict[str, Any], ending: str) -> None:
    """DESIGN section 4: `enrich` closes the attempt; what the host does later is its own."""
    watcher = Watcher()
    call = Enricher((watcher,)).call("search")

    def host() -> None:
        with call:
            call.enrich(result)
            raise KeyError("the host's own")

    with pytest.raises(KeyError):
        host()
    assert watcher.endings == [("search", ending)]
    assert (call.guidance is None) is (ending == "success")


def test_first_enrich_decides() -> None:
    """DESIGN section 4: one block is one attempt, and `enrich` closes it."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    with enricher.call("search") as failed:
        enriched = failed.enrich(busy())
        assert failed.enrich(enriched) == enriched
        failed.enrich({"rows": 1})
    with enricher.call("search") as worked:
        worked.enrich({"rows": 1})
        worked.enrich(busy())
    assert failed.guidance == guidance(busy())
    assert worked.guidance is None
    assert [(seen.ending, seen.guidance) for seen in watcher.seen] == [
        ("failure", guidance(busy())),
        ("success", None),
    ]


def test_enrich_outside_of_the_block_changes_nothing() -> None:
    """DESIGN section 4: a block is one attempt; before and after it there is none."""
    watcher = Watcher()
    result = busy()
    call = Enricher((watcher,)).call("search")
    assert call.enrich(result) is result
    with call:
        call.enrich({"rows": 1})
    assert call.enrich(result) is result
    assert watcher.endings == [("search", "success")]


def test_block_entered_again_is_a_new_attempt() -> None:
    """DESIGN section 4: one block is one attempt, in a loop of the host's as well."""
    watcher, clock = Watcher(), Clock()
    call = Enricher((watcher,), clock=clock).call("search")
    for result in (busy(), {"rows": 1}):
        with call:
            clock.now += 1
            call.enrich(result)
    assert call.guidance is None
    assert [(seen.ending, seen.duration_seconds) for seen in watcher.seen] == [
        ("failure", 1.0),
        ("success", 1.0),
    ]


def test_observation_and_guidance_are_whole_frozen_values() -> None:
    """STYLE rule 2: every field is there, none can be written, and a copy can be made."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    enricher.enrich_result(busy())
    with enricher.call("search"):
        pass
    with enricher.call("search") as call:
        call.enrich(busy())
    values: list[Observation | Guidance] = [*watcher.seen]
    values += [seen.guidance for seen in watcher.seen if seen.guidance is not None]
    assert len(values) == 5
    for value in values:
        assert set(vars(value)) == {field.name for field in dataclasses.fields(value)}
        assert value == dataclasses.replace(value) == copy.deepcopy(value)
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.error_code = "other"  # type: ignore[misc]


def test_one_shot_reports_the_failure_without_a_duration() -> None:
    """DESIGN section 4: `enricher.enrich_result` is for places without a block."""
    watcher = Watcher(Held())
    enricher = Enricher((watcher,), side="server")
    success = {"rows": 1}
    assert enricher.enrich_result(success) is success
    assert enricher.enrich_result(busy()) == {**busy(), **BUSY_ADVICE, "trace_id": TRACE}
    assert watcher.starts == [CallStart(side="server", tool_name=None, server=None, one_shot=True)]
    assert watcher.seen == [
        Observation(
            ending="failure",
            side="server",
            guidance=guidance(busy()),
            error_code="rate_limited",
            error_type="rate_limited",
            next_action="Wait 20 s, then make the same call.",
            trace_id=TRACE,
            span_id=SPAN,
        )
    ]
