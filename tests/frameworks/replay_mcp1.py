"""A low-level server of MCP's SDK 1.x that says what the demo's server said; as `office`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.frameworks.recorded import TOOLS, prose_of, result_of
from tests.frameworks.serving import serve_app
from tests.frameworks.spans import export_spans
from waypost.integrations.mcp import enrich_server


def build() -> Any:
    server: Any = Server("replay")

    @server.list_tools()
    async def list_tools() -> list[types.Tool]:
        return [types.Tool.model_validate(tool) for tool in TOOLS]

    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        result = result_of(name, arguments)
        if (text := prose_of(result)) is not None:
            raise RuntimeError(text)
        if "structuredContent" in result and not result["isError"]:
            return result["structuredContent"]
        return types.CallToolResult.model_validate(result)

    return server


def app_of(server: Any) -> Starlette:
    manager = StreamableHTTPSessionManager(server)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)


async def serve_stdio(server: Any) -> None:
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


def main(transport: str, *flags: str) -> None:
    export_spans()
    server = build()
    if "--enriched" in flags:
        server = enrich_server(server)
    asyncio.run(serve_app(app_of(server)) if transport == "http" else serve_stdio(server))


if __name__ == "__main__":
    main(*sys.argv[1:])
