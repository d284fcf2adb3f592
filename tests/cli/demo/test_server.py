"""
The sample server, driven over stdio by the SDK's own client.

The table of the demo host is built on what is asserted here. The server is another process with
real locks and real clocks, so advice to wait is followed by waiting.
"""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from waypost.cli.demo.server import DEMO_SECRET


@asynccontextmanager
async def running_server(directory: Path) -> AsyncIterator[Client]:
    """Start the server with *directory* for its temporary files; stderr goes to a file beside."""
    with directory.with_suffix(".stderr").open("w", encoding="utf-8") as stderr:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-W", "error", "-m", "waypost.cli.demo.server"],
            env={**os.environ, "TMPDIR": str(directory)},
        )
        async with Client(stdio_client(parameters, errlog=stderr)) as client:
            yield client


@pytest.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with running_server(tmp_path_factory.mktemp("office")) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def succeeded(client: Client, tool: str, arguments: Mapping[str, Any] | None = None) -> str:
    result = await client.call_tool(tool, dict(arguments or {}))
    assert not result.is_error
    return text_of(result)


async def failed(client: Client, tool: str, arguments: Mapping[str, Any] | None = None) -> str:
    result = await client.call_tool(tool, dict(arguments or {}))
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)


async def structured(client: Client, tool: str, arguments: Mapping[str, Any]) -> object:
    """Call a tool that does not flag anything and return what it says in structured content."""
    result = await client.call_tool(tool, dict(arguments))
    assert not result.is_error
    return result.structured_content


async def test_locked_stock_can_be_reserved_after_waiting(client: Client) -> None:
    """Issue 2, item 7: a locked SQLite database."""
    call = "reserve_stock", {"product": "lamp", "quantity": 2}
    locked = "Error executing tool reserve_stock: sqlite3.OperationalError: database is locked"
    assert await failed(client, *call) == locked
    await anyio.sleep(1.6)
    assert await succeeded(client, *call) == "2 x lamp reserved."


async def test_shipping_quote_meets_a_port_where_nobody_listens(client: Client) -> None:
    """Issue 2, item 7: a port nobody listens on."""
    text = await failed(client, "shipping_quote", {"order_id": "ORD-1001"})
    assert text == '{"error": {"code": "ECONNREFUSED", "message": "Connection refused"}}'


async def test_expired_session_works_after_signing_in(client: Client) -> None:
    """Issue 2, item 7: an expired signed token."""
    call = "customer_profile", {"customer_id": "C-7"}
    result = await client.call_tool(*call)
    assert result.is_error
    assert text_of(result) == (
        '{"status": "error", "error_code": "TOKEN_EXPIRED", "message": "Signature has expired"}'
    )
    assert result.structured_content == {
        "status": "error",
        "error_code": "TOKEN_EXPIRED",
        "message": "Signature has expired",
    }
    assert await succeeded(client, "sign_in") == "Signed in as clerk."
    assert await structured(client, *call) == {
        "customer_id": "C-7",
        "name": "Customer 7",
        "read_by": "clerk",
    }


async def test_currency_conversion_runs_out_and_names_its_delay(client: Client) -> None:
    """Issue 2, item 7: a token bucket that runs out and names its delay."""
    call = "convert_currency", {"amount": 10, "source": "EUR", "target": "USD"}
    converted = {"ok": True, "amount": 11.0}
    answers = [await structured(client, *call) for _ in range(3)]
    assert answers == [
        converted,
        converted,
        {
            "ok": False,
            "error": "rate_limited",
            "message": "Too many conversions, the allowance is used up for now.",
            "retry_after": 2,
        },
    ]
    await anyio.sleep(2)
    assert await structured(client, *call) == converted


async def test_yearly_report_misses_its_deadline_once(client: Client) -> None:
    """Issue 2, item 7: a slow call against a deadline; what was summed up is kept."""
    text = await failed(client, "yearly_report", {"year": 2025})
    assert text == "Error executing tool yearly_report: Timed out after 0.8 s, report not finished."
    text = await succeeded(client, "yearly_report", {"year": 2025})
    assert text == "Turnover of 2025: 48,210.00 EUR in 12 months."


@pytest.mark.parametrize(
    ("number", "error_code", "message"),
    [
        ("INV-1002", "EACCES", "Permission denied: INV-1002"),
        ("INV-1003", "ENOENT", "No such file or directory: INV-1003"),
    ],
)
async def test_invoice_that_cannot_be_read_is_a_typed_error(
    client: Client, number: str, error_code: str, message: str
) -> None:
    """Issue 2, item 7: a file it may not read, also as root; a typed error model, wrapped."""
    assert await structured(client, "read_invoice", {"number": number}) == {
        "result": {"status": "error", "error_code": error_code, "message": message}
    }


async def test_other_invoice_can_be_read(client: Client) -> None:
    """Our promise: only the invoice of mode 000 is refused."""
    invoice = {"number": "INV-1001", "text": "Invoice INV-1001: 2 lamps, 59.80 EUR\n"}
    answer = await structured(client, "read_invoice", {"number": "INV-1001"})
    assert answer == {"result": invoice}


async def test_invoice_schema_forbids_keys_that_it_does_not_name(client: Client) -> None:
    """DESIGN section 2: a strict client raises on extra keys, and this tool has one."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    schema = tools["read_invoice"].output_schema
    assert schema is not None
    assert schema["$defs"]["InvoiceProblem"]["additionalProperties"] is False


async def test_order_of_nothing_fails_validation(client: Client) -> None:
    """Issue 2, item 7: an argument that fails validation."""
    text = await failed(client, "create_order", {"product": "lamp", "quantity": 0})
    assert text.startswith(
        "Error executing tool create_order: 1 validation error for create_orderArguments\n"
        "quantity\n  Input should be greater than 0 [type=greater_than, input_value=0"
    )


async def test_unknown_product_is_an_unflagged_error_in_text_alone(client: Client) -> None:
    """Issue 2, item 7: a missing record; and ``status: error`` with ``isError`` false."""
    result = await client.call_tool("create_order", {"product": "ladder", "quantity": 1})
    assert not result.is_error
    assert result.structured_content is None
    assert text_of(result) == (
        '{\n  "status": "error",\n  "error_code": "PRODUCT_NOT_FOUND",\n'
        '  "message": "There is no product \'ladder\'."\n}'
    )


async def test_order_can_be_created_and_found(client: Client) -> None:
    """Our promise: corrected arguments work."""
    text = await succeeded(client, "create_order", {"product": "lamp", "quantity": 1})
    assert text == '{\n  "order_id": "ORD-1004",\n  "product": "lamp",\n  "quantity": 1\n}'
    found = {"order_id": "ORD-1004", "product": "lamp", "quantity": 1, "state": "new"}
    assert await structured(client, "find_order", {"order_id": "ORD-1004"}) == found


async def test_missing_order_is_an_ok_false(client: Client) -> None:
    """Issue 2, item 7: a missing record."""
    answer = await structured(client, "find_order", {"order_id": "ORD-9999"})
    assert answer == {"ok": False, "error": "order_not_found"}


async def test_label_asks_for_a_printer_and_prints_with_the_answer(client: Client) -> None:
    """Issue 2, item 7: an ``input_request``."""
    assert await structured(client, "print_label", {"order_id": "ORD-1002"}) == {
        "status": "error",
        "error_code": "printer_missing",
        "message": "No printer was chosen.",
        "input_request": {"argument": "printer", "options": ["front desk", "warehouse"]},
    }
    answered = {"order_id": "ORD-1002", "printer": "warehouse"}
    assert await structured(client, "print_label", answered) == {"status": "ok", **answered}


async def test_stock_level_is_known_after_a_count(client: Client) -> None:
    """Issue 2, item 7: ``status: error`` with ``isError`` false; with the tool's own advice."""
    assert await structured(client, "stock_level", {"product": "lamp"}) == {
        "status": "error",
        "error_code": "STOCK_COUNT_NOT_STARTED",
        "message": "unable to open database file",
        "retryable": True,
        "next_action": "Call start_stock_count, then make the same call.",
    }
    assert await succeeded(client, "start_stock_count") == "The stock is counted."
    counted = {"product": "lamp", "quantity": 12}
    assert await structured(client, "stock_level", {"product": "lamp"}) == counted


async def test_refused_catalog_shows_the_secret_in_the_raw_result(client: Client) -> None:
    """Issue 2, item 7: an exception with a secret in its text; hiding it is the host's work."""
    assert await failed(client, "sync_catalog") == (
        "Error executing tool sync_catalog: http.client.HTTPException: 401 Unauthorized "
        f"for GET /catalog, sent Authorization: Bearer {DEMO_SECRET}"
    )


async def test_charge_without_an_answer_was_booked(client: Client) -> None:
    """Issue 2, item 7: a write whose outcome is unknown; blindly repeated, it is booked twice."""
    charge = {"order_id": "ORD-1002", "amount_cents": 5980}
    assert await failed(client, "charge_card", charge) == (
        "Error executing tool charge_card: http.client.RemoteDisconnected: "
        "Remote end closed connection without response"
    )
    of_order = {"order_id": "ORD-1002"}
    assert await structured(client, "list_charges", of_order) == {"charges": [charge]}
    assert await succeeded(client, "charge_card", charge) == "59.80 EUR charged for ORD-1002."
    assert await structured(client, "list_charges", of_order) == {"charges": [charge, charge]}


async def test_archive_may_not_be_deleted(client: Client) -> None:
    """The brief of the demo: a refusal under ``success: false``."""
    result = await client.call_tool("delete_archive", {"year": 2023})
    assert not result.is_error
    assert result.structured_content is None
    assert text_of(result) == (
        '{\n  "success": false,\n  "error": {\n    "code": "PERMISSION_DENIED",\n'
        '    "message": "not authorized"\n  }\n}'
    )


async def test_successes_may_talk_about_errors(client: Client) -> None:
    """Issue 2, item 7: successes, one of which talks about errors."""
    orders = await structured(client, "list_orders", {})
    assert isinstance(orders, dict)
    assert orders["rows"][0] == {
        "order_id": "ORD-1001",
        "product": "lamp",
        "quantity": 2,
        "state": "shipped",
    }
    assert await structured(client, "error_log", {}) == {
        "rows": [
            {"status": "error", "code": "TIMEOUT"},
            {"status": "error", "code": "RATE_LIMITED"},
        ]
    }
    assert "401 Unauthorized means" in await succeeded(client, "help_text")
    assert await succeeded(client, "store_hours") == "Open Monday to Friday, 9:00 to 18:00."


async def test_annotations_say_what_is_known(client: Client) -> None:
    """DESIGN section 3: annotations reach the safe-to-repeat rule; an absent hint is unknown."""
    tools = (await client.list_tools()).tools
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.idempotent_hint)
        for tool in tools
        if tool.annotations
    }
    assert hints["yearly_report"] == (True, None)
    assert hints["charge_card"] == (False, False)
    assert hints["sync_catalog"] == (False, True)
    assert {tool.name for tool in tools} - hints.keys() == {"convert_currency", "print_label"}


async def test_server_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Our promise: expected failures print no stack trace, and no secret reaches stderr."""
    directory = tmp_path / "office"
    directory.mkdir()
    async with running_server(directory) as client:
        await failed(client, "create_order", {"product": "lamp", "quantity": 0})
        await failed(client, "sync_catalog")
        await failed(client, "charge_card", {"order_id": "ORD-1002", "amount_cents": 5980})
        await client.call_tool("read_invoice", {"number": "INV-1002"})
        # Ends while the stocktaking still holds its lock.
        await failed(client, "reserve_stock", {"product": "lamp", "quantity": 1})
        assert len(list(directory.iterdir())) == 1
    assert list(directory.iterdir()) == []
    assert directory.with_suffix(".stderr").read_text(encoding="utf-8") == ""
