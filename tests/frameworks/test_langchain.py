"""langchain-mcp-adapters in a LangGraph: what the model reads of the demo's results."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("langchain_mcp_adapters", reason="make matrix ARGS='-s frameworks'")

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.interceptors import MCPToolCallRequest
from langchain_mcp_adapters.tools import load_mcp_tools
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from mcp import McpError
from mcp.types import CallToolResult, ErrorData, TextContent

from tests.frameworks.spans import Kept
from tests.frameworks.table import CALLS, Read, check, guided
from tests.frameworks.target import Target
from tests.watching import Watcher
from waypost import Enricher
from waypost.integrations.langchain import EnrichInterceptor

Open = Callable[..., Target]
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
SWITCH = "handle_tool_errors" in inspect.signature(load_mcp_tools).parameters
"""Whether the adapter can hand failures on as messages; older ones always raise."""


def client_for(target: Target) -> MultiServerMCPClient:
    if target.url is not None:
        connection: dict[str, Any] = {"transport": "streamable_http", "url": target.url}
    else:
        command, *args = target.command
        connection = {"transport": "stdio", "command": command, "args": args, "env": target.env}
    return MultiServerMCPClient({"office": connection})


def graph_of(tools: Sequence[BaseTool]) -> Any:
    """A graph that does what a model asks for, once."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=False))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile()


async def read_all(target: Target, *, enriched: bool, raises: bool) -> list[Read]:
    """What the model reads, call by call."""
    interceptors: list[Any] = [EnrichInterceptor()] if enriched else []
    options: dict[str, Any] = {"handle_tool_errors": not raises} if SWITCH else {}
    async with client_for(target).session("office") as session:
        tools = await load_mcp_tools(
            session, tool_interceptors=interceptors, server_name="office", **options
        )
        graph = graph_of(tools)
        return [await _read(graph, tool, arguments) for tool, arguments, _ in CALLS]


async def _read(graph: Any, tool: str, arguments: dict[str, Any]) -> Read:
    asks = AIMessage("", tool_calls=[{"id": "1", "name": tool, "args": arguments}])
    thread = {"configurable": {"thread_id": "customer 7"}}
    try:
        state = await graph.ainvoke({"messages": [asks]}, thread)
    except ToolException as exc:
        return Read(str(exc), raised=type(exc).__qualname__)
    message = state["messages"][-1]
    assert isinstance(message, ToolMessage)
    artifact = message.artifact or {}
    content = message.content
    blocks: Any = [{"text": content}] if isinstance(content, str) else content
    text = "\n\n".join(block["text"] for block in blocks)
    return Read(text, artifact.get("structured_content"))


@TRANSPORTS
@pytest.mark.parametrize("raises", [True, False])
async def test_hosts(transport: str, raises: bool, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport), enriched=False, raises=raises)
    kept.spans.clear()
    enriched = await read_all(open_server(transport), enriched=True, raises=raises)
    check(plain, enriched)
    assert any(read.raised for read in plain) == (raises or not SWITCH)
    ours = [span for span in kept.spans if span.scope == "waypost"]
    assert [span.name for span in ours] == [f"execute_tool {tool}" for tool, _, _ in CALLS]
    assert {span.attributes.get("waypost.correlation") for span in ours} == {"run", None}


@TRANSPORTS
async def test_host_and_server_both(transport: str, open_server: Open) -> None:
    plain = await read_all(open_server(transport), enriched=False, raises=True)
    server = open_server(transport, "--enriched")
    check(plain, await read_all(server, enriched=True, raises=True))


async def intercepted(result: object, **options: Any) -> tuple[Any, Watcher]:
    """What the interceptor makes of *result*, which another one returned or raised."""

    async def handler(request: MCPToolCallRequest) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    watcher = Watcher()
    interceptor = EnrichInterceptor(enricher=Enricher((watcher,)), **options)
    request = MCPToolCallRequest(name="find", args={}, server_name="orders")
    return await interceptor(request, handler), watcher


def message(content: Any, status: Any = "error") -> ToolMessage:
    return ToolMessage(content=content, status=status, tool_call_id="1", artifact={"kept": 1})


@pytest.mark.parametrize(
    "content", ["It timed out.", [{"type": "text", "text": "It timed out."}], ["It timed out."]]
)
async def test_messages_of_other_interceptors_get_guidance(content: Any) -> None:
    """DESIGN section 2: a result keeps its kind."""
    given = message(content)
    made, watcher = await intercepted(given)
    assert type(made) is ToolMessage
    assert guided(made.text) == 1
    assert type(made.content) is type(content)
    assert made.model_copy(update={"content": content}) == given
    assert watcher.endings == [("find", "failure")]


async def test_message_and_its_artifact_say_the_same() -> None:
    """STYLE, integrations: where a framework carries the payload twice, both change or neither."""
    payload = {"ok": False, "error": "timeout"}
    given = message(json.dumps(payload))
    given.artifact["structured_content"] = payload
    made, _ = await intercepted(given)
    assert json.loads(made.content) == made.artifact["structured_content"]
    assert made.artifact["structured_content"]["retryable"] is True
    assert made.artifact["kept"] == 1
    assert given.artifact["structured_content"] is payload


async def test_line_of_the_servers_own_waypost_is_not_doubled() -> None:
    """Issue 6, item 6: one line, one set of advice."""
    once, _ = await intercepted(message("It timed out."))
    twice, watcher = await intercepted(message(once.content))
    assert twice.content == once.content
    assert not watcher.seen[0].spoofed


async def test_what_is_no_failure_passes_as_the_same_object() -> None:
    """DESIGN section 1; a `Command` steers the graph, and is not looked at."""
    for given in (message("It timed out.", "success"), Command(update={"status": "error"})):
        made, _ = await intercepted(given)
        assert made is given


async def test_what_a_session_raises_is_raised_on() -> None:
    """DESIGN section 4, raises: the same object."""
    own = McpError(ErrorData(code=-32603, message="Internal error"))
    with pytest.raises(McpError) as caught:
        await intercepted(own)
    assert caught.value is own


async def test_host_can_say_what_a_tool_changes() -> None:
    """DESIGN section 3: annotations do not reach an interceptor."""
    late = CallToolResult(content=[TextContent(type="text", text="timeout")], isError=True)
    made, _ = await intercepted(late, side_effects={"find": True})
    assert "Check whether the first call took effect" in made.content[0].text
