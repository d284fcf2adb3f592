"""
A FastMCP server that says what the demo's server said; as `office`.

``--mounted`` puts it into another one, under a namespace of its own that the outer server takes off
again, so that both have the call; ``--enriched`` puts waypost into both.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from mcp.types import TextContent, ToolAnnotations

from tests.frameworks.recorded import TOOLS, prose_of, result_of
from tests.frameworks.serving import serve_app
from tests.frameworks.spans import export_spans
from waypost.integrations.fastmcp import enrich_server


class Replayed(Tool):
    """A tool of the demo's server."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        result = result_of(self.name, arguments)
        if (text := prose_of(result)) is not None:
            raise ToolError(text)
        content = [TextContent.model_validate(block) for block in result["content"]]
        return ToolResult(content, result.get("structuredContent"), is_error=result["isError"])


def build(*flags: str) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("replay")
    if "--enriched" in flags:
        server = enrich_server(server)
    for tool in TOOLS:
        annotations = tool.get("annotations")
        server.add_tool(
            Replayed(
                name=tool["name"],
                parameters=tool["inputSchema"],
                output_schema=tool.get("outputSchema"),
                annotations=annotations and ToolAnnotations.model_validate(annotations),
            )
        )
    return server


def main(transport: str, *flags: str) -> None:
    export_spans()
    server = build(*flags)
    if "--mounted" in flags:
        inner, server = server, FastMCP("outer")
        if "--enriched" in flags:
            server = enrich_server(server)
        server.mount(inner, namespace="office")
    if transport == "http":
        asyncio.run(serve_app(server.http_app()))
    else:
        server.run("stdio", show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
