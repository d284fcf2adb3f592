"""The MCP client wrapper in processes: a server over stdio, and the spans of a host."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client

from tests.programs import ROOT, run
from tests.watching import Watcher
from waypost import Enricher
from waypost.integrations.mcp import enrich_client


async def test_server_over_stdio(tmp_path: Path) -> None:
    """Issue 2: a real server over stdio, entered through the wrapper."""
    watcher = Watcher()
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "waypost.cli.demo.server"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)},
    )
    with (tmp_path / "stderr").open("w", encoding="utf-8") as stderr:
        client = Client(stdio_client(parameters, errlog=stderr))
        async with enrich_client(client, enricher=Enricher((watcher,)), server="office") as office:
            names = {tool.name for tool in (await office.list_tools()).tools}
            worked = await office.call_tool("store_hours")
            failed = await office.call_tool("find_order", {"order_id": "no-such-order"})
    assert names >= {"store_hours", "find_order"}
    assert not worked.is_error
    assert worked.meta is None or "waypost/guidance" not in worked.meta
    assert failed.meta is not None
    assert failed.meta["waypost/guidance"]["retryable"] is False
    assert watcher.endings == [("store_hours", "success"), ("find_order", "failure")]


TOPOLOGY = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

from mcp import Client
from tests.integrations.shop import build
from waypost.integrations.mcp import enrich_client

async def main():
    async with enrich_client(Client(build(), mode="legacy")) as client:
        with trace.get_tracer("host").start_as_current_span("agent"):
            await client.call_tool("crashes")

asyncio.run(main())
spans = exporter.get_finished_spans()
names = {{span.context.span_id: span.name for span in spans}}
print({{span.name: (names.get(span.parent.span_id) if span.parent else None, span.kind.name,
                    span.status.status_code.name) for span in spans}})
"""


def test_span_of_the_sdk_is_a_child_of_the_calls() -> None:
    """DESIGN section 4, spans: the MCP client span becomes the child of `execute_tool`."""
    done = run(TOPOLOGY)
    assert (done.exit_code, done.stderr) == (0, "")
    spans = ast.literal_eval(done.stdout)
    around = {name: spans[name] for name in spans if "crashes" in name or name == "agent"}
    assert around == {
        "agent": (None, "INTERNAL", "UNSET"),
        "execute_tool crashes": ("agent", "INTERNAL", "ERROR"),
        "MCP send tools/call crashes": ("execute_tool crashes", "CLIENT", "UNSET"),
        "tools/call crashes": ("MCP send tools/call crashes", "SERVER", "ERROR"),
    }
