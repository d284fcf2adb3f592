"""A host on MCP's SDK that knows nothing of waypost: it prints what its model would read."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command: str, *args: str) -> None:
    parameters = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for tool, arguments in (("find_order", {"order_id": "ORD-9999"}), ("store_hours", {})):
            result = await session.call_tool(tool, arguments)
            print(json.dumps([block.text for block in result.content]))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
