"""
Somebody's MCP server: an order office that knows nothing of waypost, and whose tools really fail.

Run it with ``python -m waypost.cli.demo.server``; it speaks MCP over stdio.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from . import _tools
from ._office import Office, open_office
from ._partner import DEMO_SECRET

__all__ = ["DEMO_SECRET", "build_server", "main"]


class _Tool(NamedTuple):
    function: Callable[..., object]
    annotations: ToolAnnotations | None
    structured: bool | None = None
    """None: structured content and an output schema as the return type gives them."""


_READS = ToolAnnotations(read_only_hint=True)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
_WRITES_ONCE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
_DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)

_TOOLS = (
    _Tool(_tools.reserve_stock, _WRITES, structured=False),
    _Tool(_tools.shipping_quote, _READS),
    # No annotations, as on most servers in the wild.
    _Tool(_tools.convert_currency, None),
    _Tool(_tools.yearly_report, _READS, structured=False),
    _Tool(_tools.customer_profile, _READS),
    _Tool(_tools.sign_in, _WRITES_ONCE, structured=False),
    _Tool(_tools.stock_level, _READS),
    _Tool(_tools.start_stock_count, _WRITES_ONCE, structured=False),
    _Tool(_tools.print_label, None),
    _Tool(_tools.read_invoice, _READS),
    _Tool(_tools.create_order, _WRITES, structured=False),
    _Tool(_tools.find_order, _READS),
    _Tool(_tools.delete_archive, _DELETES, structured=False),
    _Tool(_tools.sync_catalog, _WRITES_ONCE, structured=False),
    _Tool(_tools.charge_card, _WRITES, structured=False),
    _Tool(_tools.list_orders, _READS),
    _Tool(_tools.list_charges, _READS),
    _Tool(_tools.help_text, _READS),
    _Tool(_tools.store_hours, _READS, structured=False),
    _Tool(_tools.error_log, _READS),
)


@asynccontextmanager
async def _lifespan(_server: MCPServer[Office]) -> AsyncIterator[Office]:
    with open_office() as office:
        yield office


def build_server() -> MCPServer[Office]:
    """
    Build the server. Its office opens when it runs.

    A function, and not a constant of the module: making an `MCPServer` configures logging.
    """
    server = MCPServer("order-office", version="1.0.0", lifespan=_lifespan, log_level="WARNING")
    for tool in _TOOLS:
        server.add_tool(
            tool.function, annotations=tool.annotations, structured_output=tool.structured
        )
    return server


def main() -> None:
    """Serve over stdin and stdout until stdin ends."""
    build_server().run("stdio")


if __name__ == "__main__":
    main()
