"""MCP's official SDK, 1.x and 2.x: what hosts and servers of it do with the demo's results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import pytest

pytest.importorskip("mcp", reason="runs with the SDK: make matrix ARGS='-s frameworks'")

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from opentelemetry import baggage, context

from tests.frameworks.spans import Kept, check_server_spans, spans_in
from tests.frameworks.table import CALLS, Read, check, text_of
from tests.frameworks.target import Target
from waypost.integrations.mcp import enrich_client

Open = Callable[..., Target]
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
SDK = int(version("mcp").partition(".")[0])


@asynccontextmanager
async def streams_to(target: Target) -> AsyncIterator[tuple[Any, Any]]:
    if target.url is None:
        command, *args = target.command
        parameters = StdioServerParameters(command=command, args=args, env=target.env)
        async with stdio_client(parameters) as streams:
            yield streams
        return
    async with streamable_http_client(target.url) as streams:
        yield streams[:2]


async def read_all(target: Target, *, enriched: bool) -> list[Read]:
    """What the host hands to a model, call by call."""
    async with streams_to(target) as streams, ClientSession(*streams) as session:
        await session.initialize()
        asked = enrich_client(session, server="office") if enriched else session
        await asked.list_tools()
        return [_read(await asked.call_tool(tool, arguments)) for tool, arguments, _ in CALLS]


def _read(result: Any) -> Read:
    structured = result.structuredContent if SDK == 1 else result.structured_content
    return Read(text_of(result.content), structured)


@TRANSPORTS
async def test_hosts(transport: str, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport), enriched=False)
    kept.spans.clear()
    server = open_server(transport)
    enriched = await read_all(server, enriched=True)
    check(plain, enriched)
    ours = [span for span in kept.spans if span.scope == "waypost"]
    assert [span.name for span in ours] == [f"execute_tool {tool}" for tool, _, _ in CALLS]
    # The trace goes on in the server, also where the SDK does not hand it on.
    served = [span for span in spans_in(server.spans) if span.name.startswith("tools/call ")]
    assert [span.trace_id for span in served] == [span.trace_id for span in ours]


SERVER = "tests.frameworks.office" if SDK == 2 else "tests.frameworks.replay_mcp1"


@TRANSPORTS
async def test_servers(transport: str, open_server: Open) -> None:
    plain_server = open_server(transport, module=SERVER)
    plain = await read_all(plain_server, enriched=False)
    server = open_server(transport, "--enriched", module=SERVER)
    check(plain, await read_all(server, enriched=False))
    check_server_spans(spans_in(plain_server.spans), spans_in(server.spans))


@TRANSPORTS
async def test_host_and_server_both(transport: str, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport, module=SERVER), enriched=False)
    kept.spans.clear()
    server = open_server(transport, "--enriched", module=SERVER)
    check(plain, await read_all(server, enriched=True))
    ours = [span for span in kept.spans if span.scope == "waypost"]
    assert [span.name for span in ours] == [f"execute_tool {tool}" for tool, _, _ in CALLS]


if SDK == 1:  # 2.x propagates by itself

    async def test_what_is_injected_is_traceparent_alone(kept: Kept) -> None:
        """RELIABILITY A46: never baggage; what the host says itself stands."""
        asked: list[Any] = []

        class Session(ClientSession):
            def __init__(self) -> None: ...

            async def call_tool(self, *args: Any, **kwargs: Any) -> Any:
                asked.append(kwargs["meta"])
                return types.CallToolResult(content=[])

        token = context.attach(baggage.set_baggage("user", "7"))
        try:
            await enrich_client(Session()).call_tool("find", {})
            await enrich_client(Session()).call_tool(
                "find", {}, meta={"traceparent": "own", "a": 1}
            )
        finally:
            context.detach(token)
        span = kept.spans[-2]
        assert asked[0].keys() == {"traceparent"}
        assert asked[0]["traceparent"].split("-")[1] == span.trace_id
        assert asked[1] == {"traceparent": "own", "a": 1}

    async def test_session_of_the_host_need_not_take_meta(kept: Kept) -> None:
        """Bug: `meta` was passed always."""

        class Session(ClientSession):
            def __init__(self) -> None: ...

            async def call_tool(self, name: str, arguments: Any = None) -> Any:  # type: ignore[override]
                return types.CallToolResult(content=[])

        result = await enrich_client(Session()).call_tool("find", {})
        assert result.content == []
