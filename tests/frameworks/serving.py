"""Serve an ASGI application for as long as a test holds on to the program."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn


async def serve_app(app: Any) -> None:
    """Serve at a free port of loopback, print the address, and end when stdin does."""
    listener = socket.create_server(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    while not web.started:  # noqa: ASYNC110 -- it has no event for that
        await asyncio.sleep(0.01)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    web.should_exit = True
    await serving
