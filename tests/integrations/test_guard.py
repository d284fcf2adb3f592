"""`guard`: tool functions whose exceptions come back as failures with guidance."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import TextContent

from tests.watching import Watcher, busy
from waypost import Enricher, OptionError
from waypost.integrations.guard import guard
from waypost.integrations.mcp import enrich_server

NOT_FOUND = {
    "status": "error",
    "error_code": "FileNotFoundError",
    "message": "no such order",
    "retryable": False,
    "next_action": "Do not repeat this call. List what exists, then call again with one of those.",
}


def server_side(watcher: Watcher, **options: Any) -> Enricher:
    return Enricher((watcher,), side="server", **options)


def test_exception_becomes_a_failure_with_guidance() -> None:
    """Issue 6, item 1: by the exception rules."""

    @guard
    def find_order(order_id: str) -> dict[str, str]:
        raise FileNotFoundError("no such order")

    assert find_order("A") == NOT_FOUND


def test_success_is_the_same_object_and_a_failure_is_enriched() -> None:
    """DESIGN section 1."""
    watcher, rows = Watcher(), {"rows": [1]}

    @guard(enricher=server_side(watcher), tool_name="orders.find")
    def find(what: str) -> dict[str, Any]:
        return rows if what == "rows" else busy()

    assert find("rows") is rows
    assert find(what="busy")["next_action"] == "Wait 20 s, then make the same call."
    assert watcher.endings == [("orders.find", "success"), ("orders.find", "failure")]


async def test_coroutine_functions_stay_coroutine_functions() -> None:
    """Issue 6, item 1: sync and async; frameworks look at the signature."""
    watcher = Watcher()

    @guard(enricher=server_side(watcher))
    async def slow(seconds: float) -> dict[str, Any]:
        """Wait."""
        await asyncio.sleep(0)
        raise TimeoutError("late")

    class Slow:
        async def __call__(self) -> dict[str, Any]:
            raise TimeoutError("late")

    assert inspect.iscoroutinefunction(slow)
    assert (slow.__name__, slow.__doc__) == ("slow", "Wait.")
    assert list(inspect.signature(slow).parameters) == ["seconds"]
    assert (await slow(1.0))["retryable"] is True
    assert (await guard(enricher=server_side(watcher))(Slow())())["retryable"] is True
    assert watcher.endings == [("slow", "failure"), ("Slow", "failure")]


@pytest.mark.parametrize("kind", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_cancellation_is_never_swallowed(kind: type[BaseException]) -> None:
    """Issue 6, item 1."""
    watcher = Watcher()

    @guard(enricher=server_side(watcher))
    def find() -> None:
        raise kind

    with pytest.raises(kind):
        find()
    assert watcher.endings == [("find", "cancelled")]


def test_question_to_the_user_passes() -> None:
    """DESIGN section 2: -32042 is a question, and no failure."""
    question = MCPError(-32042, "Open this page first.")

    @guard
    def find() -> None:
        raise question

    with pytest.raises(MCPError) as caught:
        find()
    assert caught.value is question


@pytest.mark.parametrize("off", [{"change_results": False}, {}])
def test_exception_passes_where_results_are_not_changed(
    off: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DESIGN section 4: the off switch."""
    if not off:
        monkeypatch.setenv("WAYPOST_DISABLED", "true")
    own = KeyError("the tool's")

    @guard(enricher=server_side(Watcher(), **off))
    def find() -> None:
        raise own

    with pytest.raises(KeyError) as caught:
        find()
    assert caught.value is own


def test_exception_of_the_framework_stays_one() -> None:
    """Issue 6, item 1: `ToolError`-style exceptions; the text is what a model reads."""

    @guard(raises=ToolError)
    def find() -> str:
        raise ToolError("order 7 not found")

    with pytest.raises(ToolError) as caught:
        find()
    told = json.loads(str(caught.value))
    assert (told["retryable"], told["message"]) == (False, "order 7 not found")
    assert isinstance(caught.value.__cause__, ToolError)


def rows() -> Iterator[int]:
    yield 1


async def rows_later() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("function", [rows, rows_later])
def test_generators_are_refused_when_they_are_decorated(function: Any) -> None:
    """STYLE rule 11."""
    with pytest.raises(OptionError, match="a generator has no single result"):
        guard(function)


def test_retries_are_followed_by_the_arguments_alone() -> None:
    """DESIGN section 5: what the framework adds is no argument."""
    watcher = Watcher()
    enricher = server_side(watcher)

    @guard(enricher=enricher)
    def find(order_id: str, ctx: Context[Any, Any] | None = None) -> dict[str, Any]:
        return busy()

    with enricher.run("a"):
        find("A", Context())
        find(order_id="A", ctx=Context())
        with pytest.raises(TypeError):
            raise find()  # type: ignore[call-arg,misc]  # a call that does not fit
    numbers = [seen.attempt and seen.attempt.number for seen in watcher.seen]
    assert numbers == [1, 2, None]


async def test_model_reads_the_failure_over_a_real_server() -> None:
    """Issue 6: under the decorator of the framework, by `raises` and without it."""
    server = MCPServer("orders", log_level="CRITICAL")

    @server.tool(structured_output=False)
    @guard
    def find_order(order_id: str) -> dict[str, str]:
        raise FileNotFoundError("no such order")

    @server.tool()
    @guard(raises=ToolError)
    def order_state(order_id: str) -> str:
        raise FileNotFoundError("no such order")

    async with Client(server) as client:
        texts = []
        for name in ("find_order", "order_state"):
            result = await client.call_tool(name, {"order_id": "A"})
            texts += [block.text for block in result.content if isinstance(block, TextContent)]
        assert result.is_error
    assert json.loads(texts[0])["next_action"] == NOT_FOUND["next_action"]
    assert "List what exists" in texts[1]


@pytest.mark.parametrize("raises", [None, ToolError])
async def test_guard_works_under_a_server_that_reports(raises: type[Exception] | None) -> None:
    """Bug: the outer layer had the call, so the guard let the exception through, and its words."""
    watcher = Watcher()
    server: MCPServer[Any] = MCPServer("shop", log_level="CRITICAL")

    @server.tool(structured_output=False)
    @guard(raises=raises, side_effects=True)
    def reserve() -> dict[str, object]:
        """Reserve."""
        raise TimeoutError("No answer.")

    enrich_server(server, enricher=Enricher((watcher,), side="server"))
    async with Client(server) as client:
        result = await client.call_tool("reserve", {})
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert '"next_action": "Check whether the first call took effect' in block.text
    assert '"retryable": false' in block.text
    assert watcher.endings == [("reserve", "failure")]
