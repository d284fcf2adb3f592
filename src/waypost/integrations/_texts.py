"""Guidance on a failure that a framework hands over as text, without ``_meta``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..core._actions import STOP_ACTIONS
from ..core._clean import PARSED_CHARS
from ..guidance import guidance_of
from ..pipeline import Call

__all__ = ["enriched_blocks", "enriched_text"]

_LINE = "\n\n[waypost] retryable: "
_LINE_CHARS = 500


def enriched_text(call: Call, text: str) -> str:
    """Return *text*, with which a framework told that *call* failed, with guidance for a model."""
    several = _texts_in(text)
    blocks = [{"type": "text", "text": one} for one in several or (text,)]
    enriched = enriched_blocks(call, blocks)["content"]
    if enriched == blocks:
        return text
    texts = [block["text"] for block in enriched]
    return "\n\n".join(texts) if several is None else json.dumps(texts)


def enriched_blocks(
    call: Call,
    blocks: Sequence[Mapping[str, Any]],
    *,
    failed: bool = True,
    structured: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the result that *blocks* stand for, as JSON of MCP, with guidance if it failed."""
    result: dict[str, Any] = {"isError": failed, "content": list(blocks)}
    if structured is not None:
        result["structuredContent"] = structured
    if failed and (claim := _claim_of(blocks)) is not None:
        result["_meta"] = {"waypost/guidance": claim}
    return call.enrich(result)


def _texts_in(text: str) -> list[str] | None:
    """The texts of a JSON list, as which several blocks are handed over; else ``None``."""
    if not text.startswith('["') or len(text) > PARSED_CHARS:
        return None
    try:
        texts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return texts if all(isinstance(one, str) for one in texts) else None


def _claim_of(blocks: Sequence[Mapping[str, Any]]) -> dict[str, object] | None:
    """
    What the waypost of a server said under one of the texts; ``None`` if it said nothing.

    Only a line that waypost would write under that very text is taken for its own: for a tool that
    is known to write or to read or not, or after repeats that did not help.
    """
    for block in blocks:
        text = block.get("text")
        if isinstance(text, str) and (at := text.rfind(_LINE, -_LINE_CHARS)) != -1:
            line = text[at + 2 :].partition(" (trace ")[0]
            return _signed(text[:at], line)
    return None


def _signed(text: str, line: str) -> dict[str, object] | None:
    result = {"isError": True, "content": [{"type": "text", "text": text}]}
    for side_effects in (None, True, False):
        guidance = guidance_of(result, side_effects=side_effects)
        if guidance is None:
            return None
        for action in (guidance.next_action, *STOP_ACTIONS.values()):
            said = f"{str(guidance.retryable).lower()}."
            own = f"{said} Next action: {action}" if action else said
            if line == f"{_LINE.strip()} {own}":
                error_class = guidance.error_class.value
                return {"error_class": error_class, "retryable": guidance.retryable}
    return None
