"""What the demo's server said to the calls of the table, for servers of other frameworks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_RECORDED = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

TOOLS: list[dict[str, Any]] = _RECORDED["tools"]


def result_of(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result, as JSON of the protocol."""
    for call in _RECORDED["calls"]:
        if (call["tool"], call["arguments"]) == (tool, arguments):
            result: dict[str, Any] = call["result"]
            return result
    raise LookupError(f"Not recorded: {tool}({arguments})")


def prose_of(result: dict[str, Any]) -> str | None:
    """The text of a failure that the tool raised: flagged, and no JSON."""
    text: str = result["content"][0]["text"]
    return text if result["isError"] and not text.startswith("{") else None
