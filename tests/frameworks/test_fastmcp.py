"""FastMCP 4: what hosts and servers of it do with the demo's results."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("fastmcp", reason="runs with FastMCP: make matrix ARGS='-s frameworks'")

from fastmcp import Client, Context, FastMCP
from fastmcp.client.client import CallToolResult
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.server.middleware.error_handling import RetryMiddleware
from fastmcp.tools import ToolResult
from mcp.types import TextContent

from tests.frameworks.spans import Kept, check_server_spans, spans_in
from tests.frameworks.table import CALLS, Read, check, guided, text_of
from tests.frameworks.target import Target
from tests.watching import Watcher
from waypost import Enricher, OptionError
from waypost.integrations.fastmcp import enrich_client, enrich_server

Open = Callable[..., Target]
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
SERVER = "tests.frameworks.replay_fastmcp"


def client_for(target: Target) -> Client[Any]:
    if target.url is not None:
        return Client(target.url)
    command, *args = target.command
    return Client(StdioTransport(command, args, env=target.env, keep_alive=False))


async def read_all(
    target: Target, *, enriched: bool, raises: bool = True, prefix: str = ""
) -> list[Read]:
    """What the host hands to a model, call by call."""
    client = client_for(target)
    async with enrich_client(client, server="office") if enriched else client as asked:
        await asked.list_tools()
        return [await _read(asked, prefix + tool, given, raises) for tool, given, _ in CALLS]


async def _read(client: Client[Any], tool: str, arguments: dict[str, Any], raises: bool) -> Read:
    try:
        result = await client.call_tool(tool, arguments, raise_on_error=raises)
    except ToolError as exc:
        return Read(str(exc), raised=type(exc).__qualname__)
    return Read(text_of(result.content), result.structured_content)


def check_host_spans(kept: Kept) -> None:
    ours = [span for span in kept.spans if span.scope == "waypost"]
    assert [span.name for span in ours] == [f"execute_tool {tool}" for tool, _, _ in CALLS]


@TRANSPORTS
@pytest.mark.parametrize("raises", [True, False])
async def test_hosts(transport: str, raises: bool, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport), enriched=False, raises=raises)
    kept.spans.clear()
    enriched = await read_all(open_server(transport), enriched=True, raises=raises)
    check(plain, enriched)
    check_host_spans(kept)


@TRANSPORTS
@pytest.mark.parametrize("mounted", [(), ("--mounted",)], ids=["alone", "mounted"])
async def test_servers(transport: str, mounted: tuple[str, ...], open_server: Open) -> None:
    prefix = "office_" if mounted else ""
    plain_server = open_server(transport, *mounted, module=SERVER)
    plain = await read_all(plain_server, enriched=False, prefix=prefix)
    server = open_server(transport, *mounted, "--enriched", module=SERVER)
    check(plain, await read_all(server, enriched=False, prefix=prefix))
    check_server_spans(spans_in(plain_server.spans), spans_in(server.spans))


@TRANSPORTS
async def test_host_and_server_both(transport: str, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport, module=SERVER), enriched=False)
    kept.spans.clear()
    server = open_server(transport, "--enriched", module=SERVER)
    check(plain, await read_all(server, enriched=True))
    check_host_spans(kept)


def orders(**options: Any) -> FastMCP[Any]:
    """A server in memory."""
    server: FastMCP[Any] = FastMCP("orders", **options)

    @server.tool(annotations={"readOnlyHint": False})
    def charge(amount: int) -> dict[str, object]:
        """Charge a card."""
        return {"status": "error", "error_code": "timeout", "message": "No answer."}

    @server.tool
    def crash() -> str:
        """Fail by an exception that FastMCP masks."""
        raise ConnectionRefusedError(111, "Connection refused")

    return server


async def test_result_of_a_host_says_the_same_in_text_structured_content_and_data() -> None:
    """DESIGN section 7: its result is a dataclass, whose data is what the host works with."""
    watcher = Watcher()
    async with enrich_client(Client(orders()), enricher=Enricher((watcher,))) as client:
        result = await client.call_tool("charge", {"amount": 1})
        assert type(result) is CallToolResult
        assert result.data == result.structured_content == json.loads(result.content[0].text)
        assert result.data["retryable"] is True
        listed = await client.list_tools_mcp()
        assert {tool.name for tool in listed.tools} == {"charge", "crash"}
        raw = await client.call_tool_mcp("charge", {"amount": 1})
        await client.call_tool_mcp("invented", {})
    # Once its annotations are known, it writes: the same failure must not be repeated.
    assert raw.structured_content["retryable"] is False
    assert watcher.endings == [("charge", "failure"), ("charge", "failure"), (None, "failure")]


async def test_exceptions_that_are_no_tool_errors_pass_as_the_same_object() -> None:
    """DESIGN section 4, raises."""
    client = Client(orders())
    with pytest.raises(RuntimeError) as plain:
        await client.call_tool("charge", {"amount": 1})
    watcher = Watcher()
    with pytest.raises(RuntimeError) as enriched:
        await enrich_client(client, enricher=Enricher((watcher,))).call_tool("charge", {})
    assert (type(enriched.value), str(enriched.value)) == (type(plain.value), str(plain.value))
    assert watcher.endings == [("charge", "raised")]


@pytest.mark.parametrize("masked", [True, False])
async def test_what_a_tool_raises_leaves_in_the_words_of_fastmcp(masked: bool) -> None:
    """Issue 6, item 2: masked errors, `ToolError`; what was hidden stays hidden."""
    plain = await texts_of(orders(mask_error_details=masked))
    watcher = Watcher()
    server = enrich_server(
        orders(mask_error_details=masked), enricher=Enricher((watcher,), side="server")
    )
    enriched = await texts_of(server)
    assert [text.split("\n\n[waypost]")[0] for text in enriched] == plain
    assert all(guided(text) == 1 for text in enriched)
    assert ("Connection refused" in enriched[0]) is not masked
    assert watcher.seen[0].guidance is not None
    assert watcher.seen[0].guidance.error_class == ("internal" if masked else "unavailable")


async def texts_of(server: FastMCP[Any]) -> list[str]:
    """What a client gets from a tool that crashes, one that is not there, and bad arguments."""
    async with Client(server) as client:
        return [
            text_of((await client.call_tool(tool, {}, raise_on_error=False)).content)
            for tool in ("crash", "invented", "charge")
        ]


async def test_where_no_client_waits_the_server_raises_as_before() -> None:
    """DESIGN section 4, raises: no other exception, and no result instead of one."""
    plain, enriched = orders(), enrich_server(orders())
    for tool, kind in (("crash", ToolError), ("invented", NotFoundError)):
        with pytest.raises(kind) as before:
            await plain.call_tool(tool, {})
        with pytest.raises(kind) as after:
            await enriched.call_tool(tool, {})
        assert str(after.value) == str(before.value)


@pytest.mark.parametrize("enrich", [enrich_client, enrich_server])
def test_what_is_neither_client_nor_server_is_refused(enrich: Callable[[Any], Any]) -> None:
    """STYLE rule 11: the message shows the value and the way out."""
    with pytest.raises(OptionError, match=r"object.*pass a fastmcp"):
        enrich(object())


def test_enricher_of_the_other_side_is_refused() -> None:
    """STYLE rule 11: spans of the other side would stand where they do not belong."""
    with pytest.raises(OptionError, match="side='server'"):
        enrich_server(orders(), enricher=Enricher(()))


def shop(**options: Any) -> FastMCP[Any]:
    """A server whose tools call tools, and one of which works at the third try."""
    server: FastMCP[Any] = FastMCP("shop", **options)
    tries: list[int] = []

    @server.tool
    def charge() -> str:
        """Charge a card."""
        raise ToolError("The card was declined.")

    @server.tool
    async def checkout(ctx: Context) -> str:
        """Ship what was paid."""
        try:
            await ctx.fastmcp.call_tool("charge", {})
        except ToolError:
            return "not shipped"
        return "shipped"

    @server.tool
    def flaky() -> str:
        """Work at the third try."""
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("reset")
        return "done"

    return server


async def test_tool_that_calls_a_tool_sees_it_raise() -> None:
    """Bug: the inner call returned a result instead, and its failure was lost."""
    watcher = Watcher()
    server = enrich_server(shop(), enricher=Enricher((watcher,), side="server"))
    async with Client(server) as client:
        assert text_of((await client.call_tool("checkout", {})).content) == "not shipped"
    assert watcher.endings == [("checkout", "success")]


@pytest.mark.parametrize("before", [True, False])
async def test_retry_of_the_framework_goes_on_around_waypost(before: bool) -> None:
    """DESIGN section 7: waypost stands inside a framework's own retry, and sees each attempt."""
    watcher = Watcher()
    server, retry = shop(), RetryMiddleware(base_delay=0.0)
    if before:
        server.add_middleware(retry)
    enrich_server(server, enricher=Enricher((watcher,), side="server"))
    if not before:
        server.middleware.insert(1, retry)
    async with Client(server) as client:
        assert text_of((await client.call_tool("flaky", {})).content) == "done"
    assert [ending for _, ending in watcher.endings] == ["failure", "failure", "success"]


async def test_server_that_is_mounted_under_other_names_reports_once() -> None:
    """DESIGN section 4, nested layers: the outermost one owns the call, whatever its name."""
    outer, inner = Watcher(), Watcher()
    child = enrich_server(shop(), enricher=Enricher((inner,), side="server"))
    parent: FastMCP[Any] = FastMCP("parent")
    enrich_server(parent, enricher=Enricher((outer,), side="server"))
    parent.mount(child, tool_names={"charge": "pay"})
    async with Client(parent) as client:
        result = await client.call_tool("pay", {}, raise_on_error=False)
    assert guided(text_of(result.content)) == 1
    assert (outer.endings, inner.endings) == ([("pay", "failure")], [])


@pytest.mark.parametrize("off", [{"change_results": False}, {"disabled": "true"}])
async def test_waypost_that_changes_nothing_changes_no_exception(
    off: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DESIGN section 4, off switch: FastMCP makes the result, as before."""
    if off.pop("disabled", None):
        monkeypatch.setenv("WAYPOST_DISABLED", "true")
    server = enrich_server(shop(), enricher=Enricher((), side="server", **off))
    async with Client(server) as client:
        result = await client.call_tool("charge", {}, raise_on_error=False)
    assert text_of(result.content) == "The card was declined."


async def test_tool_error_has_the_guidance_wherever_it_stands() -> None:
    """Bug: it was the first text alone, also where the failure is in the second."""
    server: FastMCP[Any] = FastMCP("shop")

    @server.tool
    def ship() -> ToolResult:
        """Ship an order."""
        texts = ("Could not ship.", '{"error_code": "timeout", "message": "no answer"}')
        return ToolResult([TextContent(type="text", text=text) for text in texts], is_error=True)

    async with enrich_client(Client(server)) as client:
        with pytest.raises(ToolError) as caught:
            await client.call_tool("ship", {})
    assert str(caught.value).startswith("Could not ship.\n\n{")
    assert guided(str(caught.value)) == 1
