"""Looking at a success: the common case must cost next to nothing, whatever its size."""

from __future__ import annotations

from mcp.types import CallToolResult
from pydantic import BaseModel

from waypost import enrich_result

from ._measure import Ratio

UNMARKED = {
    "order": 7,
    "customer": "Ada",
    "total": 12.5,
    "currency": "EUR",
    "lines": [1, 2],
    "shipped": True,
}
MARKED = {
    "status": "success",
    "data": {"order": 7},
    "customer": "Ada",
    "total": 12.5,
    "currency": "EUR",
    "shipped": True,
}
WIDE = {f"column_{number}": number for number in range(1_000_000)}

RESULT_JSON = {
    "content": [{"type": "text", "text": "Order 7 was shipped on Monday."}],
    "isError": False,
}
RESULT = CallToolResult.model_validate(RESULT_JSON)
STRUCTURED_JSON = {
    "content": [{"type": "text", "text": '{"order": 7, "state": "shipped"}'}],
    "structuredContent": {"order": 7, "state": "shipped"},
    "isError": False,
}
STRUCTURED = CallToolResult.model_validate(STRUCTURED_JSON)

SHORT_TEXT = "Order 7 was shipped on Monday. " * 3
LONG_TEXT = "Order 7 was shipped on Monday. " * 330_000
LONG_JSON_TEXT = '{"rows": [' + ", ".join(["1"] * 3_300_000) + "]}"


class Page(BaseModel):
    """A model such as tools return."""

    title: str
    items: list[int]
    status: str


SMALL_MODEL = Page(title="Orders", items=[1, 2], status="ok")
LARGE_MODEL = Page.model_construct(title="Orders", items=list(range(2_000_000)), status="ok")


RATIOS = (
    Ratio(
        question="success of 6 keys without a marker / dict(payload)",
        bound=5,
        subject=lambda: enrich_result(UNMARKED),
        floor=lambda: dict(UNMARKED),
    ),
    Ratio(
        question="success of 6 keys with status and data / dict(payload)",
        bound=16,
        subject=lambda: enrich_result(MARKED),
        floor=lambda: dict(MARKED),
    ),
    Ratio(
        question="success in a CallToolResult / model_validate of the same",
        bound=0.5,
        subject=lambda: enrich_result(RESULT),
        floor=lambda: CallToolResult.model_validate(RESULT_JSON),
    ),
    Ratio(
        question="success in structured content / model_validate of the same",
        bound=0.5,
        subject=lambda: enrich_result(STRUCTURED),
        floor=lambda: CallToolResult.model_validate(STRUCTURED_JSON),
    ),
    Ratio(
        question="success of 10^6 keys / of 6 keys",
        bound=2,
        subject=lambda: enrich_result(WIDE),
        floor=lambda: enrich_result(UNMARKED),
    ),
    Ratio(
        question="success of 10 MB of text / of 100 characters",
        bound=2,
        subject=lambda: enrich_result(LONG_TEXT),
        floor=lambda: enrich_result(SHORT_TEXT),
    ),
    Ratio(
        question="success of 10 MB of JSON text / of 100 characters",
        bound=2,
        subject=lambda: enrich_result(LONG_JSON_TEXT),
        floor=lambda: enrich_result(SHORT_TEXT),
    ),
    Ratio(
        question="success of 2 million items in a model / of 2 items",
        bound=2,
        subject=lambda: enrich_result(LARGE_MODEL),
        floor=lambda: enrich_result(SMALL_MODEL),
    ),
)
