"""The walk of the sample host: it makes the calls of a script and follows the guidance it gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.types import CallToolResult

from ...core._model import Guidance, NextStep
from ._script import Arguments, Step
from ._seen import Seen, Served, rows_in, seen_of

__all__ = ["Host", "Tell", "Traced", "WatchedClient"]

Tell = Callable[[str], None]
Traced = Callable[[str], AbstractContextManager[str | None]]

_SIGN_IN = "sign_in"
"""How one signs in to this server is nothing that a failure tells; a host knows it."""


class WatchedClient(Client):
    """The SDK's client; keeps the last result as it came in, to prove what was changed."""

    last: CallToolResult

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> CallToolResult:
        """Call a tool."""
        self.last = await super().call_tool(name, arguments, *args, **kwargs)
        return self.last


class Host:
    """
    Serves requests side by side, one call at a time: one that waits lets the others go on.

    Args:
        client: With guidance.

        watched: The client inside it.

        traced: Opens a trace for a request, given in the user's words; gives its id, if it has one.

        tell: Told what happens, in a few words.
    """

    def __init__(self, client: Client, watched: WatchedClient, traced: Traced, tell: Tell) -> None:
        self.client = client
        self.watched = watched
        self.tell = tell
        self.tools: tuple[str, ...] = ()
        self.turn = anyio.Lock()
        self._traced = traced

    async def serve_all(
        self, script: Iterable[Step], count: Callable[[], None]
    ) -> tuple[Served, ...]:
        """Serve *script*; *count* is called for each request that is done."""
        self.tools = tuple(tool.name for tool in (await self.client.list_tools()).tools)
        done: dict[int, Served] = {}

        async def serve(index: int, step: Step) -> None:
            done[index] = await self._serve(step)
            count()

        async with anyio.create_task_group() as group:
            for index, step in enumerate(script):
                group.start_soon(serve, index, step)
        return tuple(done[index] for index in sorted(done))

    async def _serve(self, step: Step) -> Served:
        with self._traced(step.request) as trace_id:
            request = _Request(self, step, trace_id)
            ending = await request.serve()
        return Served(step=step, calls=tuple(request.calls), ending=ending)


class _Move(NamedTuple):
    """What the host did about a failure; without ``arguments`` it does not call again."""

    words: str
    arguments: Arguments | None = None


class _Request:
    """One request in progress."""

    def __init__(self, host: Host, step: Step, trace_id: str | None) -> None:
        self._host = host
        self._step = step
        self._trace_id = trace_id
        self.calls: list[Seen] = []
        self._moves: dict[NextStep, Callable[[Seen, Guidance], Awaitable[_Move]]] = {
            NextStep.WAIT: self._wait,
            NextStep.RECONNECT: self._wait,
            NextStep.SIGN_IN: self._sign_in,
            NextStep.PREPARE: self._prepare,
            NextStep.ASK_USER: self._ask_user,
            NextStep.CHECK_EFFECT: self._check_effect,
            NextStep.LIST_FIRST: self._list_first,
            NextStep.FIX_ARGUMENTS: self._fix_arguments,
            NextStep.REPORT: self._report,
        }

    async def serve(self) -> str | None:
        """Call, and follow guidance while there is some; return why it ended, if it failed."""
        async with self._host.turn:  # several calls without a pause are what a rate limit is for
            for _ in range(self._step.times - 1):
                await self._call_now(self._step.tool, self._step.arguments)
            seen = await self._call_now(self._step.tool, self._step.arguments)
        taken: set[NextStep] = set()
        while (guidance := seen.guidance) is not None:
            step = guidance.next_step
            if step in taken and not guidance.may_repeat:
                return "gave up and told the user"
            taken.add(step)
            move = self._moves.get(step)
            what = _Move("not repeated") if move is None else await move(seen, guidance)
            if what.arguments is None:
                return what.words
            seen = await self._call(self._step.tool, what.arguments, after=what.words)
        return None

    async def _call(self, tool: str, arguments: Arguments, after: str) -> Seen:
        async with self._host.turn:
            return await self._call_now(tool, arguments, after)

    async def _call_now(self, tool: str, arguments: Arguments, after: str | None = None) -> Seen:
        self._host.tell(tool)
        result = await self._host.client.call_tool(tool, dict(arguments))
        seen = seen_of(
            result,
            self._host.watched.last,
            tool=tool,
            arguments=arguments,
            after=after,
            trace_id=self._trace_id,
        )
        self.calls.append(seen)
        return seen

    # What the steps of guidance come to, here. How often is up to waypost: `may_repeat` falls where
    # a wait did not help, and when the budget is spent.

    async def _wait(self, seen: Seen, guidance: Guidance) -> _Move:
        if not guidance.may_repeat or guidance.wait_seconds is None:
            return _Move("not repeated, since nobody says that it is safe")
        spoken = f"{guidance.wait_seconds:.1f} s"
        self._host.tell(f"{seen.tool}: waiting {spoken}, as advised")
        await anyio.sleep(guidance.wait_seconds)
        return _Move(f"waited {spoken}", seen.arguments)

    async def _sign_in(self, seen: Seen, _: Guidance) -> _Move:
        await self._call(_SIGN_IN, {}, after="as advised")
        return _Move("signed in", seen.arguments)

    async def _prepare(self, seen: Seen, guidance: Guidance) -> _Move:
        words = (guidance.next_action or "").replace(",", " ").replace(".", " ").split()
        named = [tool for tool in self._host.tools if tool in words and tool != seen.tool]
        if len(named) != 1:
            return _Move("not repeated, since no tool is named")
        await self._call(named[0], {}, after="as advised")
        return _Move("prepared", seen.arguments)

    async def _ask_user(self, seen: Seen, __: Guidance) -> _Move:
        match seen.structured.get("input_request"):
            case {"argument": str(argument), "options": [*_, answer]}:
                # The user of the demo is a script, too, and likes the last option best.
                words = f'asked, scripted answer "{answer}"'
                return _Move(words, {**seen.arguments, argument: answer})
        return _Move("left to the user")

    async def _check_effect(self, seen: Seen, _: Guidance) -> _Move:
        if self._step.look is None:
            return _Move("not repeated")
        found = await self._call(*self._step.look, after="as advised")
        if any(seen.arguments.items() <= row.items() for row in rows_in(found)):
            return _Move(f"it took effect: {seen.tool} is not repeated")
        return _Move("it took no effect", seen.arguments)

    async def _list_first(self, seen: Seen, _: Guidance) -> _Move:
        if self._step.look is None:
            return _Move("not repeated")
        found = await self._call(*self._step.look, after="as advised")
        for row in rows_in(found):
            # Under the name of the argument stands what it may be.
            if existing := {name: row[name] for name in seen.arguments if name in row}:
                return _Move(
                    f"took {next(iter(existing.values()))}", {**seen.arguments, **existing}
                )
        return _Move("not repeated, since nothing exists")

    async def _report(self, _: Seen, __: Guidance) -> _Move:
        return _Move("told the user, as advised")

    async def _fix_arguments(self, _: Seen, __: Guidance) -> _Move:
        if self._step.corrected is None:
            return _Move("not repeated")
        return _Move("corrected", self._step.corrected)
