"""The tools of the sample server: failures with a real cause, in the shapes that servers use."""

import asyncio
import errno
import json
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import jwt
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

from ._office import DEADLINE_SECONDS, PRODUCTS, RATES, Office

OfficeContext = Context[Office, Any]  # Any: the SDK's request type, which stdio does not have.
Payload = dict[str, object]
OrderId = Annotated[str, Field(description="Such as ORD-1001.")]
Product = Literal["chair", "lamp", "table"]
Positive = Annotated[int, Field(gt=0)]


def _office(ctx: OfficeContext) -> Office:
    return ctx.request_context.lifespan_context


@contextmanager
def _told_to_the_model() -> Iterator[None]:
    """
    Pass on what is raised inside, with its text.

    The SDK takes any other exception for a crash: the model would read only "Error executing
    tool x", and stderr would get the stack trace.
    """
    try:
        yield
    except Exception as exc:
        raise ToolError(traceback.format_exception_only(exc)[-1].strip()) from exc


def _errno_name(exc: OSError) -> str:
    return errno.errorcode.get(exc.errno or errno.EIO, "EIO")


def _error_result(payload: Payload, *, structured: bool) -> CallToolResult:
    """Make a result with ``isError``: the payload as JSON text and, if asked for, as it is."""
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(payload))],
        structured_content=payload if structured else None,
        is_error=True,
    )


# Tools that wait for something: a lock, a line, a token, a deadline.


def reserve_stock(ctx: OfficeContext, product: Product, quantity: Positive) -> str:
    """Take a product from the stock and keep it for an order."""
    with _told_to_the_model():
        _office(ctx).reserve(product, quantity)
    return f"{quantity} x {product} reserved."


def shipping_quote(ctx: OfficeContext, order_id: OrderId) -> CallToolResult:
    """Ask the carrier what shipping an order costs."""
    try:
        _office(ctx).partner.ask_carrier()
    except OSError as exc:
        error = {"code": _errno_name(exc), "message": exc.strerror}
        return _error_result({"error": error}, structured=False)
    # Reached only with a carrier who listens, which this office does not have.
    text = TextContent(type="text", text=f"{order_id}: 4.90 EUR")  # pragma: no cover -- see above
    return CallToolResult(content=[text])  # pragma: no cover -- see above


def convert_currency(
    ctx: OfficeContext, amount: float, source: Literal["EUR", "USD"], target: Literal["EUR", "USD"]
) -> Payload:
    """Convert an amount between EUR and USD. At most two calls at once."""
    if wait := _office(ctx).currency_bucket.take():
        message = "Too many conversions, the allowance is used up for now."
        return {"ok": False, "error": "rate_limited", "message": message, "retry_after": wait}
    return {"ok": True, "amount": round(amount * RATES.get((source, target), 1.0), 2)}


async def yearly_report(ctx: OfficeContext, year: int) -> str:
    """Sum up the turnover of a year, month by month."""
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            for month in range(1, 13):
                await _office(ctx).sum_month(year, month)
    except TimeoutError as exc:
        raise ToolError(f"Timed out after {DEADLINE_SECONDS} s, report not finished.") from exc
    return f"Turnover of {year}: 48,210.00 EUR in 12 months."


# Tools that want something first: a session, a stock count, an answer of the user.


def customer_profile(ctx: OfficeContext, customer_id: str) -> CallToolResult:
    """Read the profile of a customer. Needs a session, see sign_in."""
    try:
        user = _office(ctx).signed_in_user()
    except jwt.ExpiredSignatureError as exc:
        payload: Payload = {"status": "error", "error_code": "TOKEN_EXPIRED", "message": str(exc)}
        return _error_result(payload, structured=True)
    profile = {"customer_id": customer_id, "name": "Customer 7", "read_by": user}
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(profile))], structured_content=profile
    )


def sign_in(ctx: OfficeContext) -> str:
    """Sign in to the customer register; the session lasts an hour."""
    _office(ctx).sign_in()
    return "Signed in as clerk."


def stock_level(ctx: OfficeContext, product: Product) -> Payload:
    """Read how many of a product were there at the last stock count."""
    try:
        return {"product": product, "quantity": _office(ctx).counted(product)}
    except sqlite3.OperationalError as exc:
        return {
            "status": "error",
            "error_code": "STOCK_COUNT_NOT_STARTED",
            "message": str(exc),
            "retryable": True,
            "next_action": "Call start_stock_count, then make the same call.",
        }


def start_stock_count(ctx: OfficeContext) -> str:
    """Count the stock."""
    _office(ctx).count_stock()
    return "The stock is counted."


def print_label(ctx: OfficeContext, order_id: OrderId, printer: str | None = None) -> Payload:
    """Print the address label of an order."""
    office = _office(ctx)
    try:
        office.print_label(order_id, printer)
    except KeyError:
        return {
            "status": "error",
            "error_code": "printer_missing",
            "message": f"No printer {printer!r}." if printer else "No printer was chosen.",
            "input_request": {"argument": "printer", "options": list(office.printers)},
        }
    return {"status": "ok", "order_id": order_id, "printer": printer}


# Tools whose call has to change, or that someone must allow.


class Invoice(BaseModel):
    """An invoice as it was sent."""

    model_config = ConfigDict(extra="forbid")
    number: str
    text: str


class InvoiceProblem(BaseModel):
    """Why an invoice could not be read."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["error"] = "error"
    error_code: str
    message: str


def read_invoice(
    ctx: OfficeContext, number: Annotated[str, Field(pattern=r"^INV-\d{4}$")]
) -> Invoice | InvoiceProblem:
    """Read an invoice, such as INV-1001."""
    try:
        return Invoice(number=number, text=_office(ctx).read_invoice(number))
    except OSError as exc:
        # Not the text of the exception: it names a directory of this machine.
        message = f"{exc.strerror}: {number}"
        return InvoiceProblem(error_code=_errno_name(exc), message=message)


def create_order(ctx: OfficeContext, product: str, quantity: Positive) -> Payload:
    """Order a product: chair, lamp or table."""
    if product not in PRODUCTS:
        message = f"There is no product {product!r}."
        return {"status": "error", "error_code": "PRODUCT_NOT_FOUND", "message": message}
    order_id = _office(ctx).add_order(product, quantity)
    return {"order_id": order_id, "product": product, "quantity": quantity}


def find_order(ctx: OfficeContext, order_id: OrderId) -> Payload:
    """Look up an order by its id."""
    for found, product, quantity, state in _office(ctx).orders():
        if found == order_id:
            return {"order_id": found, "product": product, "quantity": quantity, "state": state}
    return {"ok": False, "error": "order_not_found"}


def delete_archive(ctx: OfficeContext, year: int) -> Payload:
    """Delete the archived orders of a year."""
    try:
        _office(ctx).delete_archive(year)
    except sqlite3.DatabaseError as exc:
        return {"success": False, "error": {"code": "PERMISSION_DENIED", "message": str(exc)}}
    return {"success": True, "year": year}  # pragma: no cover -- nobody may delete


def sync_catalog(ctx: OfficeContext) -> str:
    """Fetch the product catalog from the supplier."""
    with _told_to_the_model():
        return f"{len(_office(ctx).partner.fetch_catalog())} bytes fetched."


def charge_card(ctx: OfficeContext, order_id: OrderId, amount_cents: Positive) -> str:
    """Charge the customer's card for an order. Each call is a charge of its own."""
    with _told_to_the_model():
        _office(ctx).partner.charge(order_id, amount_cents)
    return f"{amount_cents / 100:.2f} EUR charged for {order_id}."


# Tools that succeed, two of which talk about errors.


class Order(BaseModel):
    """One order."""

    order_id: str
    product: str
    quantity: int
    state: str


class Orders(BaseModel):
    """Orders, oldest first."""

    rows: list[Order]


def list_orders(ctx: OfficeContext) -> Orders:
    """List all orders."""
    fields = Order.model_fields
    rows = [
        Order.model_validate(dict(zip(fields, row, strict=True))) for row in _office(ctx).orders()
    ]
    return Orders(rows=rows)


def list_charges(ctx: OfficeContext, order_id: OrderId) -> Payload:
    """List the charges that were booked for an order."""
    charges = _office(ctx).partner.charges
    return {"charges": [charge for charge in charges if charge["order_id"] == order_id]}


def help_text() -> str:
    """Explain what the errors of the office mean."""
    return (
        "Error handling guide: 401 Unauthorized means that the session expired, so sign in again; "
        "on 'rate limit exceeded' wait; error: timeout means that the report was not ready in time."
    )


def store_hours() -> str:
    """Say when the store is open."""
    return "Open Monday to Friday, 9:00 to 18:00."


def error_log(ctx: OfficeContext) -> Payload:
    """List the errors of last week."""
    rows = _office(ctx).past_errors()
    return {"rows": [{"status": status, "code": code} for status, code in rows]}
