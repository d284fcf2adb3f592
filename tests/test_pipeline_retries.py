"""Retries through the Enricher: scopes, numbers, and advice that learns."""

from __future__ import annotations

import asyncio
import contextvars
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import pytest
from mcp import MCPError
from mcp.types import CallToolResult, CreateTaskResult, InputRequiredResult, Task, TextContent
from opentelemetry import trace

from tests.observe.recording import Spans
from tests.watching import SPAN, TRACE, Clock, Held, Watcher, busy
from waypost import (
    Attempt,
    AttemptStore,
    Call,
    CallStart,
    Enricher,
    ErrorClass,
    MemoryAttemptStore,
    NextStep,
    OptionError,
    RetryAdvice,
    RetryOutcome,
)
from waypost.retries._store import Change

T = TypeVar("T")

ARGUMENTS = {"q": "lamp", "limit": 3}
OK = {"rows": [1]}
INVALID = {"status": "error", "error_code": "invalid_argument", "message": "limit is 3"}
GUIDED = {
    "status": "error",
    "error_code": "rate_limited",
    "message": "m",
    "next_action": "Ask Bo.",
    "retry_after_seconds": 20,
}
WAITED = (
    "Do not repeat this call: you waited, and it failed in the same way again. "
    "Stop and tell the user."
)
ATTEMPTS = "Do not repeat this call: it has failed at every attempt. Stop and tell the user."
ROW = (
    "Do not call this tool again for now: it keeps failing, whatever the arguments. "
    "Stop and tell the user."
)


def ended(
    enricher: Enricher, result: object, arguments: Mapping[str, Any] | None = ARGUMENTS, **more: Any
) -> Call:
    """Make a call, and return it when it has ended."""
    with enricher.call("search", arguments=arguments, **more) as call:
        call.enrich(result)
    return call


def attempts(watcher: Watcher) -> list[Attempt | None]:
    return [observation.attempt for observation in watcher.seen]


def numbers(watcher: Watcher) -> list[int | None]:
    return [attempt and attempt.number for attempt in attempts(watcher)]


def correlations(watcher: Watcher) -> list[str | None]:
    return [attempt and attempt.correlation for attempt in attempts(watcher)]


# What an observation says


def test_observation_tells_attempt_advice_and_outcome() -> None:
    """DESIGN section 5: the whole story of a call that recovers."""
    watcher, clock = Watcher(Held()), Clock()
    enricher = Enricher((watcher,), clock=clock)
    ended(enricher, busy())
    clock.now += 1
    ended(enricher, busy())
    clock.now += 30
    ended(enricher, OK)
    first, second, third = attempts(watcher)
    assert first is not None
    assert first == Attempt(first.chain_id, 1, "window")
    retry_of = {"trace_id": TRACE, "span_id": SPAN, "sampled": True}
    assert second is not None
    assert second.retry_of is not None
    assert second.retry_of._asdict() == {
        "error_class": ErrorClass.RATE_LIMITED,
        "next_step": NextStep.WAIT,
        "retryable": True,
        **retry_of,
    }
    assert second == Attempt(
        first.chain_id, 2, "window", second.retry_of, RetryAdvice.TOO_EARLY, RetryOutcome.FAILED
    )
    assert third == Attempt(
        first.chain_id, 3, "window", second.retry_of, RetryAdvice.FOLLOWED, RetryOutcome.RECOVERED
    )


def test_gap_runs_from_the_end_of_a_call_to_the_begin_of_the_next() -> None:
    """DESIGN section 5: however long the calls themselves take."""
    watcher, clock = Watcher(), Clock()
    enricher = Enricher((watcher,), clock=clock)
    for _ in range(2):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            clock.now += 100
            call.enrich(busy())
        clock.now += 1
    (_, second) = attempts(watcher)
    assert second is not None
    assert second.advice is RetryAdvice.TOO_EARLY


def test_exception_is_an_attempt_like_any_other() -> None:
    """DESIGN section 4: raises; `call.payload` has the words that say to stop."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for _ in range(3):
        call = enricher.call("search", arguments=ARGUMENTS)
        with pytest.raises(ConnectionResetError), call:
            raise ConnectionResetError(104, "Connection reset by peer")
    assert numbers(watcher) == [1, 2, 3]
    assert call.payload is not None
    assert call.payload["next_action"] == ATTEMPTS
    assert call.guidance is not None
    assert call.guidance.next_step is NextStep.REPORT


def asks() -> Iterator[object]:
    yield InputRequiredResult(input_requests={}, request_state="s")
    yield {"resultType": "input_required", "inputRequests": {}}
    task = Task(
        task_id="t",
        status="working",
        created_at="2026-01-01T00:00:00Z",
        last_updated_at="2026-01-01T00:00:00Z",
        ttl=None,
    )
    yield CreateTaskResult(task=task)
    yield {"task": {"taskId": "t", "status": "working", "createdAt": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize("question", tuple(asks()), ids=lambda value: type(value).__name__)
def test_question_or_running_task_is_no_attempt(question: object) -> None:
    """DESIGN section 5: `input_required` rounds and task polling are no attempts."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    ended(enricher, busy())
    ended(enricher, question)
    ended(enricher, OK)
    assert numbers(watcher) == [1, None, 2]
    assert watcher.endings[1] == ("search", "success")


@pytest.mark.parametrize(
    "result",
    [
        {"task": {"id": 7, "status": "working"}},
        {"ok": True, "task": {"task_id": "T-1", "status": "working"}},
        {"task": "working"},
        {"task": {"taskId": "t", "status": "completed"}},
        [{"resultType": "input_required"}],
    ],
)
def test_result_that_is_about_a_task_is_a_success(result: object) -> None:
    """DESIGN section 2: data is data."""
    watcher = Watcher()
    ended(Enricher((watcher,)), result)
    assert numbers(watcher) == [1]


def test_call_without_an_ending_leaves_the_chain_as_it_was() -> None:
    """DESIGN section 4: cancelled, left without a result, or MCP's question that is raised."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    ended(enricher, busy())
    with enricher.call("search", arguments=ARGUMENTS):
        pass
    for exception in (asyncio.CancelledError(), MCPError(-32042, "Open this page first.")):
        with pytest.raises(type(exception)), enricher.call("search", arguments=ARGUMENTS):
            raise exception
    ended(enricher, OK)
    assert numbers(watcher) == [1, None, None, None, 2]


def test_block_that_is_entered_again_is_a_new_attempt() -> None:
    """DESIGN section 4: one block is one attempt."""
    watcher = Watcher()
    call = Enricher((watcher,)).call("search", arguments=ARGUMENTS)
    for result in (busy(), OK):
        with call:
            call.enrich(result)
    assert numbers(watcher) == [1, 2]


def test_call_of_a_nested_layer_is_no_attempt_of_its_own() -> None:
    """DESIGN section 4: the outermost layer of a side owns the call."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for _ in range(2):
        with enricher.call("search", arguments=ARGUMENTS) as outer:
            outer.enrich(ended(enricher, busy()).payload or busy())
    assert numbers(watcher) == [1, 2]


def test_call_of_which_too_little_is_known_is_not_followed() -> None:
    """DESIGN section 5: without a tool's name, without arguments, in one shot."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    ended(enricher, busy(), None)
    with enricher.call(None, arguments=ARGUMENTS) as call:
        call.enrich(busy())
    enricher.enrich_result(busy())
    assert numbers(watcher) == [None, None, None]


def test_call_that_cannot_be_compared_has_a_number_of_its_own() -> None:
    """DESIGN section 5: a walk that does not come to an end never raises a number."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for arguments in ({"q": object()}, {"q": object()}, {}, {}):
        ended(enricher, busy(), arguments)
    assert numbers(watcher) == [1, 1, 1, 2]


def change_page(arguments: dict[str, Any]) -> None:
    arguments["page"] = 2


def append_id(arguments: dict[str, Any]) -> None:
    arguments["ids"].append(2)


def change_deeply(arguments: dict[str, Any]) -> None:
    arguments["filter"]["of"]["page"] = 2


@pytest.mark.parametrize("change", [change_page, append_id, change_deeply])
def test_arguments_may_be_used_again_by_the_host(
    change: Callable[[dict[str, Any]], None],
) -> None:
    """Our promise: what the host changes during the call is compared as it was."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for _ in range(2):
        arguments = {"page": 1, "ids": [1], "filter": {"of": {"page": 1}}}
        if change is not change_deeply:
            del arguments["filter"]
        with enricher.call("search", arguments=arguments) as call:
            change(arguments)
            call.enrich(busy())
    assert numbers(watcher) == [1, 2]


def test_chains_are_told_apart_whatever_the_host_seeds() -> None:
    """Our promise: ids come from the system, and not from a generator that hosts set back."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for number in range(2):
        random.seed(0)
        ended(enricher, busy(), {"q": number})
    assert len({attempt.chain_id for attempt in attempts(watcher) if attempt}) == 2


def test_long_names_of_runs_are_told_apart() -> None:
    """Our promise: also past what is remembered of a name."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for name in ("x" * 1_000 + "a", "x" * 1_000 + "b", "x" * 1_000 + "a"):
        with enricher.run(name):
            ended(enricher, busy())
    assert numbers(watcher) == [1, 1, 2]


# Scopes


def test_run_spans_traces_and_turns() -> None:
    """DESIGN section 5, scope (1): a retry in the next turn of the run is one."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    for name, result in (("a", busy()), ("b", busy()), ("a", OK)):
        with enricher.run(name), spans.tracer.start_as_current_span("turn"):
            ended(enricher, result)
    assert numbers(watcher) == [1, 1, 2]
    assert set(correlations(watcher)) == {"run"}


def test_run_is_that_of_the_innermost_block() -> None:
    watcher = Watcher()
    enricher = Enricher((watcher,))
    with enricher.run("outer"):
        ended(enricher, busy())
        with enricher.run("inner"):
            ended(enricher, busy())
        ended(enricher, busy())
    ended(enricher, busy())
    assert numbers(watcher) == [1, 1, 2, 1]
    assert correlations(watcher) == ["run", "run", "run", "window"]


def test_run_that_is_left_in_another_context_says_nothing() -> None:
    """As generators are, when they are closed by the collector."""
    enricher = Enricher(())
    block = enricher.run("a")
    contextvars.copy_context().run(block.__enter__)
    assert not block.__exit__(None, None, None)


@pytest.mark.parametrize("name", ["", None, 7])
def test_run_needs_a_name(name: Any) -> None:
    """STYLE rule 11: a message shows the value and the way out."""
    with pytest.raises(OptionError, match="pass a text that names the run"), Enricher(()).run(name):
        pass


def test_conversation_of_the_current_span_is_a_scope() -> None:
    """DESIGN section 5, scope (1): `gen_ai.conversation.id`, over several traces."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    for conversation in ("a", "b", "a"):
        attributes = {"gen_ai.conversation.id": conversation}
        with spans.tracer.start_as_current_span("turn", attributes=attributes):
            ended(enricher, busy())
    assert numbers(watcher) == [1, 1, 2]
    assert set(correlations(watcher)) == {"conversation"}


def test_trace_that_was_there_before_is_a_scope() -> None:
    """DESIGN section 5, scope (2)."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    for _ in range(2):
        with spans.tracer.start_as_current_span("turn"):
            ended(enricher, busy())
            ended(enricher, busy())
    assert numbers(watcher) == [1, 2, 1, 2]
    assert set(correlations(watcher)) == {"trace"}


def test_span_of_our_own_is_never_the_scope() -> None:
    """DESIGN section 5: a call inside of another one's block, also below a foreign span."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    for _ in range(2):
        with (
            enricher.call("agent", arguments={}) as agent,
            spans.tracer.start_as_current_span("inside"),
        ):
            ended(enricher, busy())
            agent.enrich(OK)
    assert [(o.tool_name, a and a.number, a and a.correlation) for o in watcher.seen
            for a in (o.attempt,)] == [
        ("search", 1, "window"), ("agent", 1, "window"),
        ("search", 2, "window"), ("agent", 1, "window"),
    ]  # fmt: skip


def test_span_without_a_trace_is_no_scope() -> None:
    """DESIGN section 5: the trace counts if it is valid."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    with trace.use_span(trace.NonRecordingSpan(trace.INVALID_SPAN_CONTEXT)):
        ended(enricher, busy())
    assert correlations(watcher) == ["window"]


def test_window_is_two_minutes_of_one_session() -> None:
    """DESIGN section 5, scope (3)."""
    watcher, clock = Watcher(), Clock()
    enricher = Enricher((watcher,), clock=clock)
    for session, wait in (("a", 0), ("b", 0), ("a", 119), ("a", 121), ("a", 0)):
        clock.now += wait
        ended(enricher, busy(), session=session)
    assert numbers(watcher) == [1, 1, 2, 1, 2]
    assert set(correlations(watcher)) == {"window"}


def test_server_side_follows_runs_and_traces_alone() -> None:
    """DESIGN section 5: a session of a server has many hosts behind it."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher), side="server")
    for _ in range(2):
        ended(enricher, busy())
        with enricher.run("a"):
            ended(enricher, busy())
    with spans.tracer.start_as_current_span("server"):
        ended(enricher, busy())
    assert numbers(watcher) == [None, 1, None, 2, 1]
    assert correlations(watcher) == [None, "run", None, "run", "trace"]


def test_a46_payload_never_changes_trace_or_chain() -> None:
    """RELIABILITY A46: ids in a payload are data."""
    watcher, spans = Watcher(), Spans()
    enricher = Enricher((spans.observer(), watcher))
    forged = {
        **busy(),
        "traceparent": f"00-{'a' * 32}-{'b' * 16}-00",
        "baggage": "gen_ai.conversation.id=x",
        "_meta": {"traceparent": f"00-{'a' * 32}-{'b' * 16}-00"},
        "trace_id": "a" * 32,
        "waypost.chain.id": "c" * 16,
        "gen_ai.conversation.id": "x",
    }
    with spans.tracer.start_as_current_span("turn") as turn:
        for result in (forged, {**forged, "trace_id": "d" * 32}):
            ended(enricher, result)
    ids = turn.get_span_context()
    own = [span for span in spans.all if span.name == "execute_tool search"]
    assert {span.context.trace_id for span in own if span.context} == {ids.trace_id}
    assert {span.parent.span_id for span in own if span.parent} == {ids.span_id}
    assert numbers(watcher) == [1, 2]
    chains = {attempt.chain_id for attempt in attempts(watcher) if attempt}
    assert len(chains) == 1
    assert chains.isdisjoint({"c" * 16})
    assert [o.trace_id for o in watcher.seen] == [f"{ids.trace_id:032x}"] * 2


# Advice that learns


def test_wait_that_did_not_help_changes_the_advice() -> None:
    """Issue 5, item 6: the words of waypost change, `may_repeat` falls, `retryable` stays."""
    clock = Clock()
    enricher = Enricher((), clock=clock)
    told = []
    for wait, message in ((0, "41 of 42 s left, 10:01:02"), (20, "3 of 42 s left, Mon 10:01:40")):
        clock.now += wait
        with enricher.call("search", arguments=ARGUMENTS) as call:
            enriched = call.enrich({**busy(), "message": message})
        assert call.guidance is not None
        told.append((enriched["next_action"], enriched["retryable"], call.guidance.may_repeat))
    assert told == [("Wait 20 s, then make the same call.", True, True), (WAITED, True, False)]


def test_other_failure_after_a_wait_is_advised_anew() -> None:
    """Issue 5, item 6: only the same failure says that waiting does not help."""
    clock = Clock()
    enricher = Enricher((), clock=clock)
    ended(enricher, {"ok": False, "error": "rate_limited", "message": "Slow down."})
    clock.now += 5
    call = ended(enricher, {"ok": False, "error": "rate_limited", "message": "Too many users."})
    assert call.guidance is not None
    assert call.guidance.may_repeat


@pytest.mark.parametrize("change_results", [True, False])
def test_budget_is_three_attempts(change_results: bool) -> None:
    """DESIGN section 5: spent, waypost's own advice says to stop."""
    watcher = Watcher()
    enricher = Enricher((watcher,), change_results=change_results)
    calls = [ended(enricher, INVALID) for _ in range(4)]
    actions = [call.guidance and call.guidance.next_action for call in calls]
    assert actions[2:] == [ATTEMPTS] * 2
    assert ATTEMPTS not in actions[:2]
    assert [(a.exhausted, a.storm) for a in attempts(watcher) if a] == [
        (False, False), (False, False), (True, True), (True, False)
    ]  # fmt: skip
    assert [o.next_action for o in watcher.seen] == actions
    assert watcher.seen[-1].guidance is not None
    assert watcher.seen[-1].guidance.next_step is NextStep.REPORT


def test_row_is_ten_failures_whatever_the_arguments() -> None:
    """DESIGN section 5: of one scope, tool and class."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    calls = [ended(enricher, INVALID, {"q": number}) for number in range(11)]
    actions = [call.guidance and call.guidance.next_action for call in calls]
    assert [action == ROW for action in actions] == [False] * 9 + [True] * 2
    assert [a.storm for a in attempts(watcher) if a] == [False] * 9 + [True, False]
    other = ended(enricher, busy(), {"q": 12})
    assert other.guidance is not None
    assert other.guidance.may_repeat


def test_words_of_the_tool_stay() -> None:
    """DESIGN section 5: the stop never goes into the tool's field, only `may_repeat` falls."""
    enricher = Enricher(())
    for _ in range(3):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            enriched = call.enrich(dict(GUIDED))
    assert enriched["next_action"] == "Ask Bo."
    assert call.guidance is not None
    assert (call.guidance.next_action, call.guidance.may_repeat) == ("Ask Bo.", False)


def mcp_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def third(result: CallToolResult, **options: Any) -> CallToolResult:
    """The same result at the third attempt."""
    enricher = Enricher((), **options)
    for _ in range(3):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            enriched = call.enrich(result)
    return enriched


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


def guidance_in(result: CallToolResult) -> dict[str, Any]:
    assert result.meta is not None
    found: dict[str, Any] = result.meta["waypost/guidance"]
    return found


def test_stop_beside_the_words_of_the_tool_is_in_meta_and_in_the_text() -> None:
    """DESIGN section 5: JSON text keeps every byte of the tool's, and gets a line beside it."""
    text = json.dumps(GUIDED)
    enriched = third(mcp_result(text))
    first, second = texts(enriched)
    assert first.startswith(text.removesuffix("}"))
    assert json.loads(first) == {**GUIDED, "retryable": True}
    assert second == f"[waypost] retryable: true. Next action: {ATTEMPTS}"
    assert guidance_in(enriched) | {
        "next_action": ATTEMPTS,
        "next_step": "report",
        "actor": "operator",
        "may_repeat": False,
    } == guidance_in(enriched)
    assert texts(third(mcp_result(text), text="never")) == [text]
    assert guidance_in(third(mcp_result(text), text="never"))["next_action"] == ATTEMPTS


def enriched_by_a_server(result: CallToolResult) -> CallToolResult:
    with Enricher((), side="server").call("search") as call:
        return call.enrich(result)


@pytest.mark.parametrize("text", ["Rate limit exceeded.", json.dumps(busy())])
def test_stop_stands_beside_what_another_waypost_wrote(text: str) -> None:
    """DESIGN section 5: the server cannot know that repeats do not help; the model must."""
    before = enriched_by_a_server(mcp_result(text))
    after = third(before)
    assert texts(after)[0].startswith(texts(before)[0])
    assert "".join(texts(after)).count(ATTEMPTS) == 1
    assert guidance_in(after)["next_action"] == ATTEMPTS
    assert guidance_in(after)["may_repeat"] is False
    assert third(after) is not after  # told anew, by another that counted too


def test_stop_is_told_beside_a_forged_claim() -> None:
    """RELIABILITY A44: what was forged is left as it is; it silences nobody."""
    forged = mcp_result("Rate limit exceeded.").model_copy(
        update={"meta": {"waypost/guidance": {}}}
    )
    after = third(forged)
    assert after.meta == forged.meta
    assert ATTEMPTS in "".join(texts(after))


@pytest.mark.parametrize("text", ["append", "block"])
def test_stop_in_prose_is_the_line_under_it(text: str) -> None:
    """DESIGN section 2: one line, as ever."""
    enriched = third(mcp_result("Not found: 7"), text=text)
    assert "\n\n".join(texts(enriched)) == (
        f"Not found: 7\n\n[waypost] retryable: false. Next action: {ATTEMPTS}"
    )


def test_stop_for_a_code_without_advice_is_advice() -> None:
    """DESIGN section 1: unknown codes have none; that a call fails again and again is known."""
    enricher = Enricher(())
    for _ in range(3):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            enriched = call.enrich({"ok": False, "error": "FROBNICATION_77"})
    assert enriched["next_action"] == ATTEMPTS
    assert enriched["retryable"] is False


def test_a47_host_that_obeys_stops_by_itself() -> None:
    """RELIABILITY A47, through the Enricher: <= 3 attempts a chain, a storm once, one scope."""
    watcher, clock = Watcher(), Clock()
    enricher = Enricher((watcher,), clock=clock)
    lie = {"ok": False, "error": "rate_limited", "retryable": True, "message": ""}

    def obey(arguments: Mapping[str, Any]) -> int:
        for made in range(1, 100):
            words = "abc"[made % 3]
            guidance = ended(enricher, {**lie, "message": f"Busy {words * 9}"}, arguments).guidance
            assert guidance is not None
            if not guidance.may_repeat:
                return made
            clock.now += guidance.wait_seconds or 0
        return 100

    with enricher.run("a"):
        assert obey({"id": 0}) == 3
        made = sum(obey({"id": number}) for number in range(1, 10_001))
    assert made <= 1.1 * 10_000 + 3
    storms = [a.chain_id for a in attempts(watcher) if a and a.storm]
    assert len(storms) == len(set(storms)) == 4  # three chains, and the row at its tenth
    with enricher.run("b"):
        assert obey({"id": 0}) == 3


# The store, and what it does wrong


class Shared:
    """Stands for a store that processes share."""

    def __init__(self) -> None:
        self.inner = MemoryAttemptStore()
        self.keys: list[bytes | None] = []

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        self.keys += [chain_key, trail_key]
        return self.inner.update(chain_key, trail_key, change)


def test_store_and_key_are_shared_between_enrichers() -> None:
    """DESIGN section 5: a store shared by several processes keeps one key."""
    store, key = Shared(), b"k" * 32
    watcher = Watcher()
    for given in (key, key, b"j" * 32, None):
        enricher = Enricher((watcher,), attempts=store, attempts_key=given)
        with enricher.run("a"):
            ended(enricher, busy())
        ended(enricher, busy())  # sessions are never shared
    assert numbers(watcher) == [1, 1, 2, 1, 1, 1, 1, 1]
    assert b"lamp" not in b"".join(key or b"" for key in store.keys)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"attempts": object()}, "pass an AttemptStore, or None"),
        ({"attempts": 3}, "pass an AttemptStore, or None"),
        ({"attempts_key": b"short"}, "pass 16 to 64 random bytes"),
        ({"attempts_key": b"k" * 65}, "pass 16 to 64 random bytes"),
        ({"attempts_key": "k" * 32}, "pass 16 to 64 random bytes"),
    ],
)
def test_mistakes_are_named_when_the_enricher_is_built(options: Any, said: str) -> None:
    """STYLE rule 11; and the message shows no key."""
    with pytest.raises(OptionError, match=said) as caught:
        Enricher((), **options)
    assert "kkk" not in str(caught.value)


class Broken(MemoryAttemptStore):
    """Raises at its n-th update."""

    def __init__(self, fails_at: int) -> None:
        super().__init__()
        self.left = fails_at

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        self.left -= 1
        if not self.left:
            raise RuntimeError("lost the connection")
        return super().update(chain_key, trail_key, change)


@pytest.mark.parametrize("fails_at", range(1, 9))
def test_a30_store_that_raises_leaves_results_and_others_alone(fails_at: int) -> None:
    """RELIABILITY A23, A30: the result as ever, one fault, and the next call is followed again."""
    watcher = Watcher()
    enricher = Enricher((watcher,), attempts=Broken(fails_at))
    for result in (busy(), OK):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            came = call.enrich(result)
        assert came == (result if result is OK else {**came, **busy()})
    with enricher.call("search", arguments=ARGUMENTS):
        pass
    assert watcher.faults == ["retries"]
    ended(enricher, OK)
    assert numbers(watcher)[-1] is not None


class Forgetful(MemoryAttemptStore):
    """Loses the answer of its n-th update, as one does that forgets to return it."""

    def __init__(self, answer: object, fails_at: int) -> None:
        super().__init__()
        self.answer, self.left = answer, fails_at

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        self.left -= 1
        made = super().update(chain_key, trail_key, change)
        return made if self.left else self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("fails_at", range(1, 7))
@pytest.mark.parametrize("answer", [None, False, 7, ()])
def test_a30_store_that_answers_wrongly_leaves_results_and_others_alone(
    answer: object, fails_at: int
) -> None:
    """RELIABILITY A30: guidance and scopes as ever, whatever a store hands back."""
    held = Held()
    watcher = Watcher(held)
    enricher = Enricher((watcher,), attempts=Forgetful(answer, fails_at))
    for _ in range(2):
        with enricher.call("search", arguments=ARGUMENTS) as call:
            came = call.enrich(busy())
        assert came.keys() > busy().keys()
        assert call.guidance is not None
        with pytest.raises(KeyError), enricher.call("search", arguments=ARGUMENTS) as call:
            raise KeyError("the tool's own")
        assert call.payload is not None
    assert [ending for _, ending in watcher.endings] == ["failure", "raised"] * 2
    assert len(held.ended) == 4
    assert set(watcher.faults) <= {"retries"}


class Strange(Held):
    """A scope of a host's own whose ``within`` is none."""

    def __init__(self, within: Any) -> None:
        super().__init__()
        self.said = within

    @property
    def within(self) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize("within", [5, (), ("trace",), RuntimeError("no"), {}, "ab"])
def test_a23_scope_that_says_nonsense_leaves_calls_unfollowed(within: Any) -> None:
    """RELIABILITY A23: an observer's own scope."""
    watcher = Watcher(Strange(within))
    ended(Enricher((watcher,)), busy())
    assert watcher.endings == [("search", "failure")]


def test_scope_that_could_not_be_had_is_not_widened() -> None:
    """RELIABILITY A47: a fault of an observer must not mix what a trace would keep apart."""

    class Blind(Watcher):
        def begin(self, start: CallStart) -> Held | None:
            raise RuntimeError("no span today")

    watcher = Blind()
    enricher = Enricher((watcher,))
    for _ in range(2):
        ended(enricher, busy())
        with enricher.run("a"):
            ended(enricher, busy())
    assert numbers(watcher) == [None, 1, None, 2]


def test_interrupt_in_the_store_passes_and_nothing_stays_open() -> None:
    """RELIABILITY A6: an interrupt is the host's."""

    class Interrupting(MemoryAttemptStore):
        def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
            raise KeyboardInterrupt

    held = Held()
    with pytest.raises(KeyboardInterrupt):
        ended(Enricher((Watcher(held),), attempts=Interrupting()), OK)
    assert len(held.ended) == 1


def test_interrupt_after_the_number_was_given_takes_it_back() -> None:
    """As above: what began must not stay behind as a call that runs."""
    watcher = Watcher()
    store = MemoryAttemptStore()
    enricher = Enricher((watcher,), attempts=store)
    ended(enricher, busy())

    class Interrupted(Call):
        def _open(self) -> None:
            super()._open()
            raise KeyboardInterrupt

    call = enricher.call("search", arguments=ARGUMENTS)
    call.__class__ = Interrupted
    with pytest.raises(KeyboardInterrupt):
        call.__enter__()
    ended(enricher, OK)
    assert numbers(watcher) == [1, 2]


def test_clock_that_fails_leaves_calls_unfollowed() -> None:
    """RELIABILITY A23: without a time nothing can be said of gaps."""

    def clock() -> float:
        raise OSError("no clock")

    watcher = Watcher()
    ended(Enricher((watcher,), clock=clock), busy())
    assert numbers(watcher) == [None]


def test_clock_that_fails_at_the_end_counts_from_the_begin() -> None:
    """RELIABILITY A33: a budget holds all the same."""
    times = iter((1.0,))
    watcher = Watcher()
    ended(Enricher((watcher,), clock=lambda: next(times)), busy())
    assert numbers(watcher) == [1]


def test_protocol_is_what_a_store_needs() -> None:
    """STYLE rule 12: the seam for a store of your own."""
    store: AttemptStore = MemoryAttemptStore()
    assert callable(store.update)


def test_run_that_a_framework_knows_stands_where_the_host_named_none() -> None:
    """A thread of LangGraph, a conversation of Pydantic AI; the host's word goes before."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    for run in ("thread 1", "thread 2", "thread 1"):
        with enricher.call("find", arguments={}, run=run) as call:
            call.enrich(busy())
    with enricher.run("of the host"), enricher.call("find", arguments={}, run="thread 1") as call:
        call.enrich(busy())
    assert numbers(watcher) == [1, 1, 2, 1]
    assert correlations(watcher) == ["run"] * 4
