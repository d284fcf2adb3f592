"""
The demo's server in a process of its own, for hosts of any framework.

``python -m tests.frameworks.office stdio`` speaks MCP over stdio; ``http`` serves it at the address
that it prints, until its stdin ends. ``--enriched`` puts waypost into the server.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from tests.frameworks.serving import serve_app
from tests.frameworks.spans import export_spans
from waypost.cli.demo.server import build_server
from waypost.integrations.mcp import enrich_server


def main(transport: str, *flags: str) -> None:
    export_spans()
    server: Any = build_server()
    if "--enriched" in flags:
        server = enrich_server(server)
    if transport == "http":
        asyncio.run(serve_app(server.streamable_http_app()))
    else:
        server.run("stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
