"""How a server says that it failed: DESIGN section 1."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

import waypost
from waypost import guidance

WAIT = "Wait a few seconds, then make the same call."


def test_failure_makes_the_payload_of_a_server() -> None:
    """DESIGN section 1: what is None is left out, for waypost to fill in."""
    assert waypost.failure("not_found", "No such order.") == {
        "status": "error",
        "error_code": "not_found",
        "message": "No such order.",
    }
    full = waypost.failure(
        "busy", "Busy.", retryable=False, next_action="Ask Ann.", retry_after_seconds=0
    )
    assert full == {
        "status": "error",
        "error_code": "busy",
        "message": "Busy.",
        "retryable": False,
        "next_action": "Ask Ann.",
        "retry_after_seconds": 0,
    }
    assert waypost.enrich_result(full) == full


def test_tool_failure_is_the_same_as_a_model() -> None:
    """DESIGN section 1: fields left at None were not set."""
    model = waypost.ToolFailure(error_code="rate_limited", message="Slow down.", order=7)  # type: ignore[call-arg]  # extra
    enriched = waypost.enrich_result(model)
    assert enriched == {
        "status": "error",
        "error_code": "rate_limited",
        "message": "Slow down.",
        "order": 7,
        "retryable": True,
        "next_action": WAIT,
    }
    assert guidance.ToolFailure is waypost.ToolFailure


@pytest.mark.parametrize(
    "members",
    [
        {"error_code": "two words"},
        {"error_code": ""},
        {"error_code": "x" * 129},
        {"status": "ok"},
        {"retry_after_seconds": -1},
    ],
    ids=str,
)
def test_tool_failure_refuses_what_is_no_failure(members: dict[str, Any]) -> None:
    """STYLE rule 11: fail early for the programmer."""
    with pytest.raises(pydantic.ValidationError):
        waypost.ToolFailure(**{"error_code": "x", "message": "No.", **members})


def test_tool_failure_is_written_without_what_was_not_set() -> None:
    """Bug: a ``null`` in JSON is the tool's word, so nothing was filled in behind an MCP server."""
    model = waypost.ToolFailure(error_code="order_locked", message="Busy.", next_action=None)
    assert model.model_dump() == {
        "status": "error",
        "error_code": "order_locked",
        "message": "Busy.",
        "next_action": None,
    }
    assert "retryable" not in model.model_dump_json()
    for mode in ("validation", "serialization"):
        schema = waypost.ToolFailure.model_json_schema(mode=mode)
        assert set(schema["properties"]) == set(waypost.ToolFailure.model_fields)
