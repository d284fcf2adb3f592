"""Servers on MCP's SDK 2.x: failures leave with guidance, and every call is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from tests.integrations.shop import LOCKED, build
from tests.watching import Watcher
from waypost import Enricher, OptionError
from waypost.integrations.mcp import enrich_client, enrich_server

ADVICE = {
    "retryable": True,
    "next_action": "Wait a few seconds for the other operation to end, then make the same call.",
}


def seen_by(watcher: Watcher, **options: Any) -> Enricher:
    return Enricher((watcher,), side="server", **options)


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content]


def answered(payload: Mapping[str, object], *, structured: bool = True) -> CallToolResult:
    text = TextContent(text=json.dumps(payload))
    return CallToolResult(content=[text], structured_content=dict(payload) if structured else None)


def low_level(*tools: Tool, pages: int = 1) -> Server[Any]:
    """A server that lists *tools*, one a page, and whose tools find something locked."""

    async def list_tools(_: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        at = int(params.cursor) if params and params.cursor else 0
        following = str(at + 1) if at + 1 < len(tools) else None
        return ListToolsResult(tools=list(tools[at : at + 1]), next_cursor=following)

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        return answered(LOCKED)

    return Server("orders", on_list_tools=list_tools, on_call_tool=call_tool)


def tool(name: str, *, schema: bool = False) -> Tool:
    return Tool(
        name=name,
        input_schema={"type": "object"},
        output_schema={"type": "object"} if schema else None,
    )


async def test_failures_of_a_server_leave_with_guidance() -> None:
    """DESIGN section 2: in `_meta` and in the text; a success is not touched."""
    watcher = Watcher()
    server = build()
    assert enrich_server(server, enricher=seen_by(watcher)) is server
    async with Client(server) as client:
        failed = await client.call_tool("flagged", {})
        worked = await client.call_tool("works", {})
    assert failed.meta is not None
    assert failed.meta["waypost/guidance"]["error_class"] == "rate_limited"
    assert texts(failed)[0].startswith("rate limit\n\n[waypost] retryable: true.")
    assert worked.structured_content == {"rows": 1}
    assert worked.meta is None or "waypost/guidance" not in worked.meta
    assert watcher.endings == [("flagged", "failure"), ("works", "success")]
    assert {start.side for start in watcher.starts} == {"server"}


async def test_structured_content_changes_only_where_no_schema_binds_it() -> None:
    """DESIGN section 2: a strict client raises on extra keys, and the error is lost."""
    server = enrich_server(low_level(tool("free"), tool("bound", schema=True)))
    async with Client(server) as client:
        unlisted = await client.session.call_tool("free", {})
        listed = await client.list_tools()
        await client.list_tools(cursor=listed.next_cursor)
        free = await client.call_tool("free", {})
        bound = await client.call_tool("bound", {})
    assert unlisted.structured_content == LOCKED  # not known yet: it may be bound
    assert free.structured_content == {**LOCKED, **ADVICE}
    assert json.loads(texts(free)[0]) == free.structured_content
    assert bound.structured_content == LOCKED
    assert json.loads(texts(bound)[0]) == LOCKED
    assert [text.startswith("[waypost] retryable: true.") for text in texts(bound)] == [False, True]


async def test_bound_payload_that_says_it_all_gets_no_line() -> None:
    """Bug: a tool with an output schema that wrote `retryable` itself got it said again."""
    own = {**LOCKED, "retryable": True, "next_action": "Call unlock."}
    enricher = Enricher((), side="server")
    with enricher.call("find", output_schema={}) as call:
        said = call.enrich(answered(own))
    with enricher.call("find", output_schema={}) as call:
        half = call.enrich(answered({**LOCKED, "retryable": True}))
    assert texts(said) == [json.dumps(own)]
    assert said.meta is not None
    assert "waypost/guidance" in said.meta
    assert texts(half)[1].startswith("[waypost] retryable: true. Next action: Wait")


async def test_annotations_are_known_once_a_client_has_listed_the_tools() -> None:
    """DESIGN section 3, safe to repeat: a tool that writes must not be repeated blindly."""
    watcher = Watcher()
    server = build()
    enrich_server(server, enricher=seen_by(watcher), side_effects={"reads": False})
    async with Client(server) as client:
        before = await client.call_tool("writes", {})
        await client.list_tools()
        after = await client.call_tool("writes", {})
        reads = await client.call_tool("reads", {})
    advice = [json.loads(texts(result)[0])["retryable"] for result in (before, after, reads)]
    assert advice == [True, False, True]
    assert watcher.seen[2].guidance is not None
    assert watcher.seen[2].guidance.may_repeat


async def test_tool_that_nobody_has_is_no_metric_attribute() -> None:
    """STYLE rule 7: a tool name counts only once it is known; until then it is client input."""
    watcher = Watcher()
    async with Client(enrich_server(low_level(tool("a")), enricher=seen_by(watcher))) as client:
        await client.list_tools()
        await client.session.call_tool("invented", {})
    assert watcher.endings == [(None, "failure")]


async def test_json_rpc_error_passes_as_it_is() -> None:
    """DESIGN section 4, raises: an exception passes through unchanged."""
    watcher = Watcher()
    async with Client(enrich_server(build(), enricher=seen_by(watcher))) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("refuses", {})
    assert (caught.value.code, caught.value.message) == (-32602, "Invalid params: quantity")
    assert [(seen.ending, seen.error_type) for seen in watcher.seen] == [("raised", "-32602")]


async def test_host_and_server_that_both_use_waypost_give_one_line() -> None:
    """Issue 6, item 6: one line, one set of advice."""
    watcher = Watcher()
    client = enrich_client(Client(enrich_server(build())), enricher=Enricher((watcher,)))
    async with client:
        result = await client.call_tool("flagged", {})
    assert texts(result)[0].count("[waypost]") == 1
    assert watcher.endings == [("flagged", "failure")]
    assert not watcher.seen[0].spoofed


async def test_server_of_two_layers_reports_once() -> None:
    """DESIGN section 4, nested layers: the outermost one of a side owns the call."""
    outer, inner = Watcher(), Watcher()
    server = enrich_server(enrich_server(build(), enricher=seen_by(outer)), enricher=seen_by(inner))
    async with Client(server) as client:
        result = await client.call_tool("flagged", {})
    assert texts(result)[0].count("[waypost]") == 1
    assert (outer.endings, inner.endings) == ([("flagged", "failure")], [])


async def test_handlers_of_sdk_1_are_stood_around() -> None:
    """Issue 6, item 1: SDK 1.x has no middleware; its handlers are a public mapping."""
    from mcp import types

    class Answer:
        """As the SDK's `ServerResult`."""

        def __init__(self, root: Any) -> None:
            self.root = root

    worked = CallToolResult(content=[])

    async def call_tool(request: Any) -> Answer:
        return Answer(worked if request.params.name == "works" else answered(LOCKED))

    async def list_tools(_: Any) -> Answer:
        return Answer(ListToolsResult(tools=[tool("free"), tool("works")]))

    class Old:
        def __init__(self) -> None:
            self.request_handlers: dict[Any, Any] = {
                types.CallToolRequest: call_tool,
                types.ListToolsRequest: list_tools,
            }

    def asked(name: str) -> Any:
        return types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments={}))

    old = enrich_server(Old())
    handlers = old.request_handlers
    await handlers[types.ListToolsRequest](types.ListToolsRequest())
    failed = await handlers[types.CallToolRequest](asked("free"))
    assert type(failed) is Answer
    assert failed.root.structured_content == {**LOCKED, **ADVICE}
    assert (await handlers[types.CallToolRequest](asked("works"))).root is worked

    class WithoutList(Old):
        def __init__(self) -> None:
            super().__init__()
            del self.request_handlers[types.ListToolsRequest]

    assert enrich_server(WithoutList()).request_handlers.keys() == {types.CallToolRequest}


@pytest.mark.parametrize("given", [object(), Client(build()), low_level])
def test_what_is_no_server_is_refused(given: object) -> None:
    """STYLE rule 11: the message shows the value and the way out."""
    with pytest.raises(OptionError, match=r"enrich_server\(.*\): pass a server of MCP's SDK"):
        enrich_server(given)


def test_enricher_of_the_other_side_is_refused() -> None:
    """STYLE rule 11: spans of the other side would stand where they do not belong."""
    with pytest.raises(OptionError, match=r"pass Enricher\(side='server'\)"):
        enrich_server(build(), enricher=Enricher(()))
    with pytest.raises(OptionError, match=r"pass Enricher\(side='host'\)"):
        enrich_client(Client(build()), enricher=Enricher((), side="server"))
