"""The calls that every framework makes, and what must hold for what its model reads of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

FAILS, WORKS = True, False

CALLS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("store_hours", {}, WORKS),
    ("shipping_quote", {"order_id": "ORD-1001"}, FAILS),
    ("convert_currency", {"amount": 10, "source": "EUR", "target": "USD"}, WORKS),
    ("convert_currency", {"amount": 20, "source": "EUR", "target": "USD"}, WORKS),
    ("convert_currency", {"amount": 30, "source": "EUR", "target": "USD"}, FAILS),
    ("customer_profile", {"customer_id": "C-7"}, FAILS),
    ("stock_level", {"product": "lamp"}, FAILS),
    ("print_label", {"order_id": "ORD-1002"}, FAILS),
    ("print_label", {"order_id": "ORD-1002", "printer": "front desk"}, WORKS),
    ("charge_card", {"order_id": "ORD-1002", "amount_cents": 5980}, FAILS),
    ("list_charges", {"order_id": "ORD-1002"}, WORKS),
    ("create_order", {"product": "lamp", "quantity": 0}, FAILS),
    ("find_order", {"order_id": "ORD-9999"}, FAILS),
    ("list_orders", {}, WORKS),
    ("read_invoice", {"number": "INV-1003"}, FAILS),
    ("read_invoice", {"number": "INV-1002"}, FAILS),
    ("delete_archive", {"year": 2023}, FAILS),
    ("sync_catalog", {}, FAILS),
    ("help_text", {}, WORKS),
    ("error_log", {}, WORKS),
)
"""Tool, arguments, and whether it fails on an office that has just opened."""


class Read(NamedTuple):
    """
    What became of one call.

    Attributes:
        text: What the model reads, its blocks one after the other.

        structured: The structured content, where the framework hands it on.

        raised: The class of the exception that the host gets, if it gets one.
    """

    text: str
    structured: object = None
    raised: str | None = None


def check(plain: Sequence[Read], enriched: Sequence[Read]) -> None:
    """Compare what a model reads without waypost and with it."""
    assert len(plain) == len(enriched) == len(CALLS)
    for (tool, arguments, fails), before, after in zip(CALLS, plain, enriched, strict=True):
        told = f"{tool}({arguments}): {before} became {after}"
        assert after.raised == before.raised, told
        if not fails:
            assert after == before, told
            continue
        assert guided(after.text) == 1, told
        # A tool that says it all has nothing to gain where its schema binds it.
        assert after.text != before.text or guided(before.text) == 1, told
        if isinstance(after.structured, dict):
            _check_structured(before, after, told)


def _check_structured(before: Read, after: Read, told: str) -> None:
    """Structured content and the text that stands for it say the same, before and after."""
    first = after.text.split("\n\n[waypost]")[0]
    if after.structured == before.structured:
        assert first == before.text, told  # hence the line stands in a block of its own
    elif first.startswith("{"):
        structured = dict(after.structured)
        wrapped = structured.pop("result", {})  # the SDK wraps what is no object of its own
        assert json.loads(first) == {**wrapped, **structured}, told


def guided(text: str) -> int:
    """How often the text says whether the call can be repeated."""
    return len(re.findall(r'"retryable"|^\[waypost\] retryable:', text, re.MULTILINE))


def text_of(content: Sequence[Any]) -> str:
    """The texts of MCP content, as models read them."""
    return "\n\n".join(block.text for block in content if getattr(block, "text", None) is not None)
