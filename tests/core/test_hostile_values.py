"""Values that are made to hurt, in each place that is read: A1, A12."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from mcp.types import CallToolResult

import waypost
from tests.core.results import blocks


def deep(depth: int) -> Any:
    value: Any = "end"
    for at in range(depth):
        value = {"error": value} if at % 2 else [value]
    return value


def cycle() -> dict[str, Any]:
    value: dict[str, Any] = {"status": "error", "error_code": "not_found"}
    value |= {"error": value, "details": [value], "data": value, "cause": value}
    return value


HOSTILE: dict[str, Any] = {
    "surrogate": "\ud800\udfff",
    "nul": "\x00",
    "huge": 10**6_000,
    "minus huge": -(10**6_000),
    "nan": math.nan,
    "infinity": math.inf,
    "depth 60": deep(60),
    "depth 100,000": deep(100_000),
    "cycle": cycle(),
    "bytes": b"\xff" * 100,
    "object": object(),
    "set": {1},
    "tuple": (1, (2,)),
    "class": dict,
    "megabyte": "x" * 2**20,
}
PLACES: dict[str, Any] = {
    "itself": lambda value: value,
    "in a list": lambda value: [value],
    "code": lambda value: {"status": "error", "error_code": value, "message": "x"},
    "message": lambda value: {"status": "error", "message": value},
    "error": lambda value: {"error": value},
    "errors": lambda value: {"errors": value},
    "error inside": lambda value: {"error": {"code": value, "message": value, "details": value}},
    "status": lambda value: {"status": value, "ok": value, "result": value, "type": value},
    "guidance": lambda value: {
        "status": "error",
        "error_code": "rate_limited",
        "retryable": value,
        "next_action": value,
        "hint": value,
        "isRetryable": value,
        "retry_after": value,
    },
    "question": lambda value: {
        "status": "error",
        "error_code": "x_y",
        "input_request": {"argument": value, "options": [value, value]},
    },
    "asked": lambda value: {
        "status": "error",
        "error_code": "x_y",
        "input_request": {"argument": "city", "options": [value] * 20},
    },
    "request": lambda value: {"status": "error", "error_code": "x_y", "input_request": value},
    "content": lambda value: {"content": [value, {"type": "text", "text": value}], "isError": True},
    "contents": lambda value: {"content": value, "isError": True},
    "structured": lambda value: {"content": [], "isError": True, "structuredContent": value},
    "meta": lambda value: {
        "content": [],
        "isError": True,
        "_meta": {"io.modelcontextprotocol/toolFailure": value, "waypost/guidance": value},
    },
    "key": lambda value: {"status": "error", "message": "x", 1: value, None: value, (): value},
    "exception": ValueError,
    "data": lambda value: {"code": -32000, "message": "x", "data": value},
}


def check(place: str, value: Any) -> None:
    """Whatever stands there: no exception, the argument as it was, a failure still a failure."""
    result = PLACES[place](value)
    members = dict(result) if isinstance(result, dict) else None
    code = waypost.error_code_of(result)
    enriched = waypost.enrich_result(result)
    guidance = waypost.guidance_of(result)
    assert (code is None) is (guidance is None)
    assert enriched is result or guidance is not None
    if members is not None:
        assert result.keys() == members.keys()
        assert all(result[key] is members[key] for key in members)
        flagged = members.get("status") == "error" or type(members.get("content")) is list
        assert code is not None or not flagged or place == "message"
    waypost.error_guidance(value, value)
    if type(result) is dict and result is not value:
        waypost.enrich_error_payload(result)
        assert waypost.enrich_error_payload(result) is False


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_value_that_is_made_to_hurt_is_harmless(name: str, place: str) -> None:
    """A1, A12: surrogates, 10^6000, NaN, depth, cycles, in each place that is read."""
    check(place, HOSTILE[name])


@pytest.mark.parametrize(
    "text",
    [
        '{"error":' * 3_000 + "1" + "}" * 3_000,
        '{"status": "error", "a": ' + "[" * 9_000 + "]" * 9_000 + "}",
        '{"status": "error", "error_code": ' + "9" * 5_000 + "}",
        '{"status": "error", "message": "\\ud800"}',
        '{"status": "error", "a": NaN, "b": Infinity}',
        '{"status": "error"',
    ],
    ids=["deep error", "deep member", "huge number", "surrogate", "nan", "cut"],
)
def test_json_text_that_is_made_to_hurt_is_harmless(text: str) -> None:
    """A1: flagged or not."""
    for result in (
        text,
        CallToolResult(content=[*blocks(text)], is_error=True),
        {"content": [{"type": "text", "text": text}], "isError": True},
        RuntimeError(text),
    ):
        enriched = waypost.enrich_result(result)
        assert (waypost.guidance_of(result) is None) is (waypost.error_code_of(result) is None)
        assert isinstance(result, str) or enriched is not result


SHALLOW = """
import sys
import waypost
from tests.core.test_hostile_values import HOSTILE, PLACES, check
for place in PLACES:
    check(place, "warm")
sys.setrecursionlimit(200)
for place in PLACES:
    for value in HOSTILE.values():
        check(place, value)
deep = '{"error":' * 150 + "1" + "}" * 150
deeper = '{"status": "error", "a": ' + "[" * 190 + "]" * 190 + "}"
for text in (deep, deeper):
    waypost.enrich_result(text)
    waypost.enrich_result({"content": [{"type": "text", "text": text}], "isError": True})
print("done")
"""


def test_low_recursion_limit_changes_nothing() -> None:
    """A12: also at sys.setrecursionlimit(200)."""
    run = subprocess.run(
        [sys.executable, "-c", SHALLOW], capture_output=True, check=False, text=True
    )
    assert (run.stdout, run.stderr) == ("done\n", "")
