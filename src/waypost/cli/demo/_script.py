"""What the users of the sample host ask for: data, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["SCRIPT", "Arguments", "Step"]

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One request of a user, and what a model would contribute to it when guidance asks for that.

    Attributes:
        request: In the user's words.

        times: How often the tool is called, whatever comes back.

        look: A tool that shows what exists, or what was done, and its arguments.

        corrected: What a model would send after it read what was wrong with the arguments.
    """

    request: str
    tool: str
    arguments: Arguments = field(default_factory=dict)
    times: int = 1
    look: tuple[str, Arguments] | None = None
    corrected: Arguments | None = None


SCRIPT = (
    Step(
        request="Reserve two lamps.",
        tool="reserve_stock",
        arguments={"product": "lamp", "quantity": 2},
    ),
    Step(
        request="What does it cost to ship ORD-1001?",
        tool="shipping_quote",
        arguments={"order_id": "ORD-1001"},
    ),
    Step(
        request="Convert the prices of three orders to dollars.",
        tool="convert_currency",
        arguments={"amount": 10, "source": "EUR", "target": "USD"},
        times=3,
    ),
    Step(
        request="Sum up last year.",
        tool="yearly_report",
        arguments={"year": 2025},
    ),
    Step(
        request="Who is customer C-7?",
        tool="customer_profile",
        arguments={"customer_id": "C-7"},
    ),
    Step(
        request="How many lamps are there?",
        tool="stock_level",
        arguments={"product": "lamp"},
    ),
    Step(
        request="Print the label of ORD-1002.",
        tool="print_label",
        arguments={"order_id": "ORD-1002"},
    ),
    Step(
        request="Charge 59.80 EUR for ORD-1002.",
        tool="charge_card",
        arguments={"order_id": "ORD-1002", "amount_cents": 5980},
        look=("list_charges", {"order_id": "ORD-1002"}),
    ),
    Step(
        request="Order a lamp.",
        tool="create_order",
        arguments={"product": "lamp", "quantity": 0},
        corrected={"product": "lamp", "quantity": 1},
    ),
    Step(
        request="Where is my order?",
        tool="find_order",
        arguments={"order_id": "ORD-9999"},
        look=("list_orders", {}),
    ),
    Step(
        request="Order a ladder.",
        tool="create_order",
        arguments={"product": "ladder", "quantity": 1},
    ),
    Step(
        # A model that does not listen: it makes the same call whatever it is told.
        request="Order a ladder. Keep trying.",
        tool="create_order",
        arguments={"product": "ladder", "quantity": 1},
        times=4,
    ),
    Step(
        request="Show invoice INV-1003.",
        tool="read_invoice",
        arguments={"number": "INV-1003"},
    ),
    Step(
        request="Show invoice INV-1002.",
        tool="read_invoice",
        arguments={"number": "INV-1002"},
    ),
    Step(
        request="Delete the archive of 2023.",
        tool="delete_archive",
        arguments={"year": 2023},
    ),
    Step(request="Fetch the new catalog.", tool="sync_catalog"),
    Step(request="List all orders.", tool="list_orders"),
    Step(request="What do the errors mean?", tool="help_text"),
    Step(request="What went wrong last week?", tool="error_log"),
    Step(request="When are you open?", tool="store_hours"),
)
