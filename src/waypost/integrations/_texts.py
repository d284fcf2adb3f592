"""Guidance on a failure that a framework hands over as text, without ``_meta``."""

from __future__ import annotations

import re
from typing import Any

from ..guidance import guidance_of
from ..pipeline import Call

__all__ = ["enriched_text"]

_SIGNPOST = re.compile(r"(?:\n\n|\A)\[waypost\] retryable: (true|false)\.[^\n]*\Z")


def enriched_text(call: Call, text: str) -> str:
    """Return *text*, with which a framework told that *call* failed, with guidance for a model."""
    result = _flagged(text)
    if (claim := _claim_of(text)) is not None:
        result["_meta"] = {"waypost/guidance": claim}
    return "\n\n".join(block["text"] for block in call.enrich(result)["content"])


def _flagged(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def _claim_of(text: str) -> dict[str, object] | None:
    """
    What the waypost of a server seems to have said, under *text*; ``None`` if it said nothing.

    A line that allows more than our own guidance does is not waypost's.
    """
    signpost = _SIGNPOST.search(text, max(0, len(text) - 500))
    if signpost is None:
        return None
    own = guidance_of(_flagged(text[: signpost.start()]))
    retryable = signpost[1] == "true"
    if own is None or (retryable and not own.retryable):
        return None
    return {"error_class": own.error_class.value, "retryable": retryable}
