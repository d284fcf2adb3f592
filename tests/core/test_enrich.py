"""A result keeps its kind, its bytes and its own words: DESIGN section 2."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent

import waypost
from tests.core.results import Dataclass, Narrower, OldResult, blocks, flagged, texts, wire

TRACE = "0af7651916cd43dd8448eb211c80319c"
GONE = "Do not repeat this call. List what exists, then call again with one of those."
MEMBERS = f'"retryable": false, "next_action": "{GONE}"'
LINE = f"[waypost] retryable: false. Next action: {GONE}"
META = {
    "error_class": "not_found",
    "error_code": "tool_error",
    "retryable": False,
    "next_action": GONE,
    "next_step": "list_first",
    "actor": "model",
    "may_repeat": False,
    "rule": "not.found",
}
NONE = "no such order"
FAILED = {"error_code": "not_found", "message": "No such order."}
ADDED = {"retryable": False, "next_action": GONE}


@pytest.mark.parametrize(
    ("text", "enriched"),
    [
        pytest.param('{"error": "not_found"}', f'{{"error": "not_found", {MEMBERS}}}', id="plain"),
        pytest.param(
            '{\n  "error": "not_found"\n}\n',
            f'{{\n  "error": "not_found", {MEMBERS}\n}}\n',
            id="pretty",
        ),
        pytest.param(
            '\t{"error":{"code":"not_found","message":"No } here"}}  \n',
            f'\t{{"error":{{"code":"not_found","message":"No }} here"}}, {MEMBERS}}}  \n',
            id="nested",
        ),
        pytest.param(
            '[ {"error": "not_found", "details": 1.50} ] ',
            f'[ {{"error": "not_found", "details": 1.50, {MEMBERS}}} ] ',
            id="list of one",
        ),
        pytest.param(
            '{"error": "not_found", "a": NaN, "a": "\\u00e9\\/"}',
            f'{{"error": "not_found", "a": NaN, "a": "\\u00e9\\/", {MEMBERS}}}',
            id="odd but kept",
        ),
        pytest.param(
            '{"error": "not_found", "retryable": null, "next_action": null}',
            '{"error": "not_found", "retryable": null, "next_action": null}',
            id="nothing to add",
        ),
    ],
)
def test_json_text_keeps_every_byte(text: str, enriched: str) -> None:
    """DESIGN section 2: the new members are inserted before the closing brace."""
    assert waypost.enrich_result(text) == enriched
    assert texts(waypost.enrich_result(flagged(text))) == [enriched]
    for prefix in ("Error executing tool get_order: ", "Error calling tool 'get_order': "):
        assert texts(waypost.enrich_result(flagged(prefix + text))) == [prefix + enriched]


@pytest.mark.parametrize(
    ("text", "enriched"),
    [
        ("{}", '{"retryable": false}'),
        ("[{}]", '[{"retryable": false}]'),
        ("{ }", '{"retryable": false }'),
    ],
)
def test_empty_json_object_gets_members_without_a_comma(text: str, enriched: str) -> None:
    """DESIGN section 2: JSON text, whatever it says, when the protocol flags it."""
    assert texts(waypost.enrich_result(flagged(text))) == [enriched]


@pytest.mark.parametrize(
    "text",
    [
        "No such order.",
        'Error 404: no such order {"id": 1}',
        'Error executing tool f: no such order {"id": 1}',
        "no such order [1]",
        "{no such order}",
        '[{"a": "no such order"}, {"b": 1}]',
        "no such order\n",
    ],
)
def test_any_other_text_gets_one_line(text: str) -> None:
    """DESIGN section 2: the exact line, under the first text."""
    result = flagged(text, "second")
    enriched = waypost.enrich_result(result, trace_id=TRACE)
    assert texts(enriched) == [f"{text}\n\n{LINE} (trace {TRACE})", "second"]
    assert texts(result) == [text, "second"]


def test_line_says_the_wait_and_the_trace() -> None:
    """DESIGN section 2: the example, letter by letter."""
    result = waypost.enrich_result(flagged("Rate limit exceeded, retry after 20 s"), trace_id=TRACE)
    assert texts(result)[0].splitlines()[2] == (
        "[waypost] retryable: true. Next action: Wait 20 s, then make the same call. "
        "(trace 0af7651916cd43dd8448eb211c80319c)"
    )


def test_line_is_at_most_400_characters_and_keeps_the_trace() -> None:
    """DESIGN section 2, A14."""
    draft = {"input_request": {"argument": "city", "options": ["x" * 60] * 10}}
    text = json.dumps({"error_code": "city_missing", **draft})
    structured = json.loads(text)
    result = waypost.enrich_result(flagged("No.", structured_content=structured), trace_id=TRACE)
    line = texts(result)[0].splitlines()[2]
    assert len(line) == 400
    assert line.startswith('[waypost] retryable: true. Next action: Ask the user for "city"')
    assert line.endswith(f" (trace {TRACE})")


def test_line_leaves_out_advice_that_the_tool_gave() -> None:
    """DESIGN section 1: never a contradicting twin."""
    structured = {"error_code": "not_found", "hint": "Use list_orders."}
    result = waypost.enrich_result(flagged("No.", structured_content=structured))
    assert texts(result) == ["No.\n\n[waypost] retryable: false."]
    assert result.structured_content == {**structured, "retryable": False}


def test_text_over_32_kib_gets_a_block_of_its_own() -> None:
    """DESIGN section 2: neither copied nor changed."""
    fits, long = "no such order".ljust(32_768), "no such order".ljust(32_769)
    assert texts(waypost.enrich_result(flagged(fits))) == [f"{fits}\n\n{LINE}"]
    enriched = waypost.enrich_result(flagged(long, "second"))
    assert texts(enriched) == [long, "second", LINE]
    assert enriched.content[0].text is long


@pytest.mark.parametrize(
    "content",
    [[], [{"type": "image", "data": "aa", "mimeType": "image/png"}]],
    ids=["empty content", "no text"],
)
def test_result_without_text_gets_a_new_block(content: list[Any]) -> None:
    """DESIGN section 2: a new block if there is none."""
    line = {"type": "text", "text": "[waypost] retryable: false."}
    result = CallToolResult.model_validate({"content": content, "isError": True})
    enriched = waypost.enrich_result(result)
    assert wire(enriched)["content"] == [*content, line]
    assert type(enriched.content[-1]) is TextContent
    as_json = waypost.enrich_result({"content": content, "isError": True})
    assert as_json["content"] == [*content, line]


def test_dataclass_without_text_keeps_its_content() -> None:
    """DESIGN section 2: no block of its class can be had; _meta says it all the same."""
    image = ImageContent(type="image", data="aa", mime_type="image/png")
    result = Dataclass([image], None, None, is_error=True)  # type: ignore[list-item]  # no text
    enriched = waypost.enrich_result(result)
    assert enriched.content == [image]
    assert set(enriched.meta) == {"waypost/guidance"}


def test_empty_text_becomes_the_line() -> None:
    """DESIGN section 2: some hosts show only the first text."""
    assert texts(waypost.enrich_result(flagged(""))) == ["[waypost] retryable: false."]


def test_new_block_takes_no_annotations_from_its_sample() -> None:
    """DESIGN section 2: the tool's annotations are about the tool's text."""
    block = TextContent(type="text", text="no such order", _meta={"a": 1})
    result = CallToolResult(content=[block], is_error=True)
    with waypost.Enricher((), text="block").call("f") as call:
        enriched = call.enrich(result)
    assert enriched.content == [block, TextContent(type="text", text=LINE)]


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(flagged(NONE), id="CallToolResult"),
        pytest.param(Narrower(content=[*blocks(NONE)], is_error=True, server="s"), id="subclass"),
        pytest.param(OldResult(content=blocks(NONE), isError=True), id="SDK 1.x"),
        pytest.param(Dataclass(blocks(NONE), None, None, is_error=True), id="FastMCP"),
    ],
)
def test_mcp_result_comes_back_as_the_same_class(result: Any) -> None:
    """DESIGN section 2: text and _meta are new, all else is as it was, the argument too."""
    before = copy.deepcopy(result)
    enriched = waypost.enrich_result(result)
    assert type(enriched) is type(result)
    assert result == before
    expected = dict(vars(before))
    expected["content"] = blocks(f"{NONE}\n\n{LINE}")
    expected["meta"] = {"waypost/guidance": META}
    assert vars(enriched) == expected


def test_mcp_result_of_an_unknown_class_comes_back_as_that_class() -> None:
    """DESIGN section 2: whatever has a list content and isError."""

    class Result:
        def __init__(self) -> None:
            self.content = blocks("no such order")
            self.isError = True

    result = Result()
    enriched = waypost.enrich_result(result)
    assert type(enriched) is Result
    assert texts(enriched) == [f"no such order\n\n{LINE}"]
    assert texts(result) == ["no such order"]


def test_mcp_json_comes_back_as_json() -> None:
    """DESIGN section 2: whole value; _meta keeps what stood there."""
    result = {
        "content": [{"type": "text", "text": "no such order", "annotations": {"priority": 1}}],
        "isError": True,
        "_meta": {"server": "orders"},
    }
    before = copy.deepcopy(result)
    assert waypost.enrich_result(result, trace_id=TRACE) == {
        "content": [
            {
                "type": "text",
                "text": f"no such order\n\n{LINE} (trace {TRACE})",
                "annotations": {"priority": 1},
            }
        ],
        "isError": True,
        "_meta": {"server": "orders", "waypost/guidance": {**META, "trace_id": TRACE}},
    }
    assert result == before


def test_guidance_in_meta_is_whole() -> None:
    """DESIGN section 2: guidance goes into _meta always; the tool's own sentence is not copied."""
    structured = {"error_code": "rate_limited", "next_action": "Breathe.", "retry_after": 5}
    result = waypost.enrich_result(flagged("No.", structured_content=structured))
    assert result.meta == {
        "waypost/guidance": {
            "error_class": "rate_limited",
            "error_code": "rate_limited",
            "retryable": True,
            "next_step": "wait",
            "actor": "model",
            "may_repeat": True,
            "retry_after_seconds": 5,
            "rule": "rate.limited",
        }
    }


@pytest.mark.parametrize(
    "result",
    [
        flagged("no such order"),
        flagged(json.dumps(FAILED), structured_content=FAILED),
        flagged("", "b"),
        flagged(),
        Dataclass(blocks("no such order"), {"result": "x"}, None, is_error=True),
        OldResult(content=blocks("no such order"), isError=True),
        {"content": [{"type": "text", "text": "x"}], "isError": True},
        json.dumps(FAILED),
        [FAILED],
        FAILED,
        RuntimeError("no such order"),
    ],
    ids=lambda result: type(result).__name__,
)
def test_enriching_twice_equals_once(result: Any) -> None:
    """DESIGN section 1, A5; whether we wrote it already is read from _meta, never from the text."""
    once = waypost.enrich_result(result, trace_id=TRACE)
    assert waypost.enrich_result(copy.deepcopy(once), trace_id="f" * 32) == once


def test_line_of_ours_without_meta_is_no_sign_that_we_wrote_it() -> None:
    """DESIGN section 2: read from _meta, never from the text."""
    once = waypost.enrich_result(flagged("no such order"))
    forwarded = flagged(*texts(once))
    assert texts(waypost.enrich_result(forwarded)) == [f"no such order\n\n{LINE}\n\n{LINE}"]
