"""What holds for every value: A1, A4, A5."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings, strategies as st
from mcp.types import CallToolResult

import waypost
from tests.core.results import blocks

WORDS = [
    *("status", "error", "errors", "error_code", "errorCode", "code", "message", "ok", "success"),
    *("isError", "is_error", "content", "structuredContent", "data", "result", "type", "title"),
    *("detail", "details", "retryable", "next_action", "trace_id", "hint", "isRetryable"),
    *("non_retryable", "retry_after", "input_request", "argument", "options", "id", "text"),
    *("_meta", "status_code", "items", "exception", "err", "__type", "valid", "created"),
]
TELLING = [
    *("error", "failed", "ok", "rate_limited", "not_found", "429", "timeout", "tool_error", "none"),
    *("Token has expired", "try again in 20s", "[waypost] yes", "city", '{"error_code": "gone"}'),
    *("about:blank", "application", "text", "2 days", "-32602"),
]
TEXTS = st.sampled_from(TELLING) | st.text(st.characters(max_codepoint=127), max_size=20)
NUMBERS = st.sampled_from([0, 1, 200, 404, 429, 503, -32602, -32001]) | st.integers()
SCALARS = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | TEXTS
KEYS = st.sampled_from(WORDS) | st.text(st.characters(max_codepoint=127), max_size=8)
INNER = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(KEYS, SCALARS, max_size=4)
JSON = INNER | st.lists(INNER, max_size=2) | st.dictionaries(KEYS, INNER, max_size=3)
MAPPINGS = st.dictionaries(KEYS, JSON, max_size=5)
MARKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"status": "error"},
        {"ok": False, "error": "not_found"},
        {"error_code": "rate_limited"},
        {"error": {"code": "timeout", "message": "It took too long."}},
        {"isError": True},
    ]
)
FAILURES = st.builds(lambda mapping, mark: {**mapping, **mark}, MAPPINGS, MARKS)
PAYLOADS = MAPPINGS | FAILURES
BODIES = (
    TEXTS | PAYLOADS.map(json.dumps) | PAYLOADS.map(lambda value: json.dumps([value], indent=1))
)
MCP = st.builds(
    lambda texts, structured, flag: CallToolResult(
        content=[*blocks(*texts)], structured_content=structured, is_error=flag
    ),
    st.lists(BODIES, max_size=5),
    st.none() | PAYLOADS,
    st.booleans(),
)
ANYTHING = PAYLOADS | JSON | BODIES | MCP | MCP.map(lambda result: result.model_dump(by_alias=True))
OURS = {"retryable", "next_action", "trace_id"}


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types: ``True`` is not ``1``."""
    return type(one) is type(other) and repr(one) == repr(other)


@settings(max_examples=300)
@given(ANYTHING)
def test_functions_agree_and_leave_their_argument_alone(value: Any) -> None:
    """A1, A4: nothing is raised or written; a success is the same object for all of them."""
    before = copy.deepcopy(value)
    code, guidance = waypost.error_code_of(value), waypost.guidance_of(value)
    enriched = waypost.enrich_result(value, trace_id="t1")
    assert same(value, before)
    assert (code is None) is (guidance is None)
    if guidance is None:
        assert enriched is value
    else:
        assert guidance.error_code == code
        assert type(enriched) is type(value)


@settings(max_examples=300)
@given(ANYTHING)
def test_enriching_twice_equals_once(value: Any) -> None:
    """A5: also with another trace, since the first one stands."""
    once = waypost.enrich_result(value, trace_id="t1")
    assert same(waypost.enrich_result(copy.deepcopy(once), trace_id="t2"), once)


@settings(max_examples=300)
@given(PAYLOADS)
def test_mapping_gains_only_our_keys_and_loses_none(payload: dict[str, Any]) -> None:
    """A5: keys set by the tool stay identical; in place and copied come to the same."""
    enriched = waypost.enrich_result(payload)
    kept = {key: enriched[key] for key in payload} if "content" not in payload else payload
    assert same(kept, payload)
    assert enriched.keys() - payload.keys() <= {*OURS, "_meta"}
    in_place = copy.deepcopy(payload)
    changed = waypost.enrich_error_payload(in_place)
    assert same(in_place, copy.deepcopy(enriched) if changed else payload)
    assert changed is (enriched is not payload and not same(enriched, payload))
    assert waypost.enrich_error_payload(in_place) is False


@settings(max_examples=300)
@given(FAILURES, st.text(st.sampled_from(" \n\t"), max_size=3), st.sampled_from([None, 2]))
def test_json_text_keeps_its_bytes_and_gains_our_members(
    payload: dict[str, Any], space: str, indent: int | None
) -> None:
    """DESIGN section 2: the new members are inserted before the closing brace."""
    text = f"{space}{json.dumps(payload, indent=indent)}{space}"
    enriched = waypost.enrich_result(text, trace_id="t1")
    head = text.rstrip().removesuffix("}").rstrip()
    assert enriched.startswith(head)
    assert enriched.endswith(text[len(head) :])
    assert same(json.loads(text), {key: json.loads(enriched)[key] for key in json.loads(text)})
    if enriched is not text and enriched != text:
        assert json.loads(enriched).keys() - payload.keys() <= OURS


@settings(max_examples=300)
@given(FAILURES, st.none() | st.booleans())
def test_guidance_is_consistent_in_itself(payload: dict[str, Any], effects: bool | None) -> None:
    """DESIGN section 1: may_repeat is only ever stricter; A14: a short, printable line."""
    guidance = waypost.guidance_of(payload, side_effects=effects)
    if guidance is None:
        return
    said = {} if "content" in payload else payload  # in an MCP result such a key is nobody's word
    assert guidance.retryable or not guidance.may_repeat
    assert not guidance.may_repeat or guidance.next_step in ("wait", "reconnect")
    assert (guidance.wait_seconds is None) is (guidance.next_step not in ("wait", "reconnect"))
    if "retryable" in said:
        assert guidance.retryable is (said["retryable"] is True)
        assert guidance.retryable_source == "tool"
    if guidance.next_action_source == "waypost":
        assert guidance.next_action is not None
        assert len(guidance.next_action) <= 512
        assert guidance.next_action.isprintable()


@settings(max_examples=300)
@given(TEXTS, TEXTS | st.text(st.characters(max_codepoint=127), max_size=200))
def test_error_guidance_answers_whatever_it_is_asked(code: str, message: str) -> None:
    """A1, A14."""
    retryable, action = waypost.error_guidance(code, message)
    assert type(retryable) is bool
    assert action is None or (action.isprintable() and len(action) <= 512)
    assert action is not None or not retryable


@settings(max_examples=300)
@given(MCP)
def test_mcp_result_keeps_its_flag_and_its_blocks(result: CallToolResult) -> None:
    """DESIGN section 2: is_error is never touched, text is only added to, at most one block."""
    enriched = waypost.enrich_result(result)
    assert enriched.is_error is result.is_error
    assert 0 <= len(enriched.content) - len(result.content) <= 1
    if result.structured_content is not None:
        members = result.structured_content
        assert same({key: enriched.structured_content[key] for key in members}, members)
    else:
        assert enriched.structured_content is None
    assert (enriched is result) is (waypost.guidance_of(result) is None)
    assert enriched is result or "waypost/guidance" in enriched.meta
