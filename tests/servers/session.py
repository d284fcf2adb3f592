"""One run: start every server over stdio, make every call, and keep what came back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent
from opentelemetry.sdk.trace import TracerProvider

import waypost
from tests.servers.calls import CALLS, Call
from tests.servers.environments import program_of
from tests.servers.places import Places, open_places
from tests.servers.servers import SERVERS
from waypost import Enricher
from waypost.integrations.mcp import enrich_client
from waypost.observe.otel import OpenTelemetryObserver
from waypost.telemetry.memory import MemoryTelemetry, SeenSpan

RUN_SECONDS = 150.0
"""Long enough for a busy machine; a server that hangs fails the run instead of stopping it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What a call led to.

    Attributes:
        answer: What the server's client returned or raised.

        result: What the host got from the wrapped client.

        spans: Those that ended during the call.
    """

    call: Call
    answer: object
    result: object
    spans: tuple[SeenSpan, ...]
    places: Places

    @property
    def texts(self) -> list[str]:
        """The text blocks of the answer, or the words of what was raised."""
        return texts_of(self.answer)

    @property
    def guidance(self) -> Mapping[str, Any] | None:
        """What the host can read: on the result, or of what was raised; ``None`` for a success."""
        if isinstance(self.result, CallToolResult):
            return (self.result.meta or {}).get("waypost/guidance")
        guidance = waypost.guidance_of(self.result)
        return None if guidance is None else dataclasses.asdict(guidance)


def texts_of(answer: object) -> list[str]:
    if isinstance(answer, CallToolResult):
        return [block.text for block in answer.content if isinstance(block, TextContent)]
    while isinstance(answer, ExceptionGroup):
        answer = answer.exceptions[0]
    assert isinstance(answer, MCPError)
    return [f"{answer.error.code}: {answer.error.message}"]


class KeepingClient(Client):
    """A client that keeps what it last returned or raised, to compare with what a host gets."""

    answer: object = None

    async def call_tool(self, *args: Any, **kwargs: Any) -> Any:
        try:
            self.answer = await super().call_tool(*args, **kwargs)
        except Exception as exception:
            self.answer = exception
            raise
        return self.answer


def run(folder: Path) -> tuple[Seen, ...]:
    """Make every call of the table, in *folder*, an empty one; the servers run side by side."""
    seen: dict[int, Seen] = {}
    with open_places(folder) as places:
        anyio.run(_run_all, places, seen)
    return tuple(seen[index] for index in range(len(CALLS)))


async def _run_all(places: Places, seen: dict[int, Seen]) -> None:
    with anyio.fail_after(RUN_SECONDS):
        async with anyio.create_task_group() as group:
            for name in SERVERS:
                group.start_soon(_run_one, name, places, seen)


async def _run_one(name: str, places: Places, seen: dict[int, Seen]) -> None:
    """Start the server *name* once, and make its calls in the order of the table."""
    calls = {index: call for index, call in enumerate(CALLS) if call.server == name}
    with (places.folder / f"{name}.log").open("w", encoding="utf-8") as log:
        host = _Host(KeepingClient(stdio_client(_parameters(name, places), errlog=log)), places)
        if any(call.tool is None for call in calls.values()):
            ((index, call),) = calls.items()
            seen[index] = await host.start_in_vain(call)
            return
        async with host.client:
            await host.client.list_tools()
            for index, call in calls.items():
                seen[index] = await host.make(call)


def _parameters(name: str, places: Places) -> StdioServerParameters:
    """How to start the server *name*: away from the user's settings, in English."""
    server = SERVERS[name]
    program, *arguments = server.command
    return StdioServerParameters(
        command=str(program_of(server.environment, program)),
        args=places.fill(arguments),
        env={"HOME": str(places.folder), "LC_ALL": "C", **places.fill(server.env)},
        cwd=places.folder,
    )


class _Host:
    """A host of one server, whose spans go to a provider of its own."""

    def __init__(self, given: KeepingClient, places: Places) -> None:
        self._given = given
        self._places = places
        self._memory = MemoryTelemetry()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(self._memory.span_processor)
        observer = OpenTelemetryObserver(tracer_provider=provider)
        self.client = enrich_client(given, enricher=Enricher((observer,), strict=True))

    async def start_in_vain(self, call: Call) -> Seen:
        try:
            async with self.client:
                pass
        except Exception as exception:  # noqa: BLE001 -- whatever it is, it is what the test is about
            return self._seen(call, exception, exception, ())
        raise AssertionError(f"{call.server} was to die at its start.")

    async def make(self, call: Call) -> Seen:
        before = len(self._memory.spans())
        try:
            result: object = await self.client.call_tool(
                call.tool or "",
                self._places.fill(call.arguments),
                read_timeout_seconds=call.timeout_seconds,
            )
        except MCPError as error:
            result = error
        return self._seen(call, self._given.answer, result, self._memory.spans()[before:])

    def _seen(self, call: Call, answer: object, result: object, spans: Iterable[SeenSpan]) -> Seen:
        return Seen(
            call=call, answer=answer, result=result, spans=tuple(spans), places=self._places
        )
