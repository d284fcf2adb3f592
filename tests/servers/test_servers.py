"""Somebody else's servers: real failures over stdio, what the model reads, and the spans."""

from __future__ import annotations

import json

import pytest
from mcp.types import CallToolResult

import waypost
from tests.servers.calls import CALLS, Advice, Call
from tests.servers.environments import missing
from tests.servers.page import PAGE, page_of
from tests.servers.session import Seen, run, texts_of


def name_of(call: Call) -> str:
    return f"{call.server}-{call.tool or 'start'}-{call.says}"


EVERY = pytest.mark.parametrize("call", CALLS, ids=name_of)
FAILED = pytest.mark.parametrize("call", [c for c in CALLS if c.advice], ids=name_of)
ENRICHED = pytest.mark.parametrize(
    "call", [c for c in CALLS if c.advice and not c.raised], ids=name_of
)
UNTOUCHED = pytest.mark.parametrize(
    "call", [c for c in CALLS if c.raised or not c.advice], ids=name_of
)
ON_SPANS = pytest.mark.parametrize("call", [c for c in CALLS if c.tool], ids=name_of)


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seen, ...]:
    """What one run saw, in the order of the table."""
    if lack := missing():
        pytest.skip(lack)
    return run(tmp_path_factory.mktemp("servers"))


@pytest.fixture
def item(seen: tuple[Seen, ...], call: Call) -> Seen:
    """What the call of this test led to."""
    (found,) = (item for item in seen if item.call is call)
    return found


@EVERY
def test_server_answers_as_the_table_says(item: Seen) -> None:
    """The advice of the table is about these answers; another version may give others."""
    assert item.places.fill(item.call.says) in "\n".join(item.texts)
    assert isinstance(item.answer, Exception) is item.call.raised


@FAILED
def test_failure_comes_back_with_the_guidance_that_a_model_needs(item: Seen) -> None:
    """DESIGN section 3: class, retryable and step; the pure function says the same."""
    pure = waypost.guidance_of(item.answer)
    assert item.guidance is not None
    assert pure is not None
    told = Advice(*(item.guidance[key] for key in Advice._fields))
    assert told == item.call.advice
    assert told == (pure.error_class, pure.retryable, pure.next_step)


@ENRICHED
def test_model_reads_the_answer_and_one_piece_of_guidance(item: Seen) -> None:
    """DESIGN section 2: JSON gets members, any other text gets one line; no word is lost."""
    assert item.guidance is not None
    (before, *others), (after, *others_after) = item.texts, texts_of(item.result)
    assert others_after == others
    given = payload_of(before)
    if given is None:
        kept, _, line = after.rpartition("\n\n")
        retryable = json.dumps(item.guidance["retryable"])
        assert kept == before
        assert line.startswith(f"[waypost] retryable: {retryable}.")
        assert line.endswith(f"(trace {item.guidance['trace_id']})")
        assert after.count("[waypost]") == 1
    else:
        members = ("retryable", "next_action", "trace_id")
        added = {key: item.guidance[key] for key in members if key in item.guidance}
        assert payload_of(after) == {**given, **added}
        assert "[waypost]" not in after


def payload_of(text: str) -> dict[str, object] | None:
    """The JSON object with which *text* ends, ``None`` if it does not."""
    try:
        payload: dict[str, object] = json.loads(text[text.index("{") :])
    except ValueError:
        return None
    return payload


@ENRICHED
def test_everything_but_text_and_guidance_stays(item: Seen) -> None:
    """DESIGN section 2: `is_error` is never touched; a new object is built beside the old one."""
    answer, result = item.answer, item.result
    assert isinstance(answer, CallToolResult)
    assert isinstance(result, CallToolResult)
    assert result is not answer
    assert result.is_error is answer.is_error
    assert "waypost/guidance" not in (answer.meta or {})
    assert (answer.meta or {}).items() <= (result.meta or {}).items()
    if answer.structured_content is None:
        assert result.structured_content is None
    else:
        assert answer.structured_content.items() <= (result.structured_content or {}).items()


@UNTOUCHED
def test_success_and_exception_come_back_as_the_same_object(item: Seen) -> None:
    """DESIGN sections 1, 2, 4: so does a failure that nothing flags, which is prose."""
    assert item.result is item.answer
    assert (waypost.guidance_of(item.answer) is None) is not item.call.raised


@ON_SPANS
def test_call_is_on_one_span(item: Seen) -> None:
    """DESIGN section 4: one `execute_tool` span; on a failure, ERROR and what to do about it."""
    call, guidance = item.call, item.guidance
    (span,) = item.spans
    exists = call.advice is None or call.advice.error_class != "unsupported"
    assert span.name == f"execute_tool {call.tool if exists else '_OTHER'}"
    assert span.status == ("UNSET" if guidance is None else "ERROR")
    told = ("waypost.error.class", "waypost.retryable", "waypost.next_step")
    on_span = tuple(span.attributes.get(key) for key in told)
    assert on_span == tuple((guidance or {}).get(key) for key in Advice._fields)
    if guidance is not None and not call.raised:
        assert guidance["trace_id"] == span.trace_id


def test_page_shows_what_the_run_saw(seen: tuple[Seen, ...]) -> None:
    """STYLE section 5, docs: a generated table is checked for drift."""
    assert PAGE.read_text(encoding="utf-8") == page_of(seen), (
        "docs/public-servers.md is old: write it anew with `python -m tests.servers --write`."
    )
