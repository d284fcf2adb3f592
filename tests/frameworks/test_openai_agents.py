"""The OpenAI Agents SDK: what the model of an agent reads of the demo's results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

pytest.importorskip("agents", reason="make matrix ARGS='-s frameworks'")

import mcp
from agents import (
    Agent,
    AgentsException,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Usage,
    function_tool,
)
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from mcp.types import CallToolResult, ErrorData, Tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from tests.frameworks.spans import Kept, spans_in
from tests.frameworks.table import CALLS, Read, check, guided
from tests.frameworks.target import Target
from tests.watching import Watcher
from waypost import Enricher
from waypost.integrations.guard import guard
from waypost.integrations.openai_agents import enrich_server, explain_failures

SDK = 2 if hasattr(mcp, "MCPError") else 1
MCPError: Any = mcp.MCPError if SDK == 2 else mcp.McpError
Open = Callable[..., Target]
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
Calls = list[tuple[str, dict[str, Any]]]


class Scripted(Model):
    """Makes the calls of a list, one a turn, and keeps what it reads of each."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.reads: list[Read] = []

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 -- as declared
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        last = input[-1] if isinstance(input, list) else {}
        if last.get("type") == "function_call_output":
            self.reads.append(Read(_text_of(last["output"])))
        return ModelResponse([self._next()], Usage(), None)

    def _next(self) -> Any:
        if len(self.reads) < len(self._calls):
            tool, arguments = self._calls[len(self.reads)]
            return ResponseFunctionToolCall(
                type="function_call",
                call_id=str(len(self.reads)),
                name=tool,
                arguments=json.dumps(arguments),
            )
        text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
        return ResponseOutputMessage(
            id="1", type="message", role="assistant", status="completed", content=[text]
        )

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


def _text_of(output: Any) -> str:
    return output if isinstance(output, str) else "\n\n".join(item["text"] for item in output)


def server_for(target: Target, **options: Any) -> MCPServer:
    options = {"client_session_timeout_seconds": 20, **options}
    if target.url is not None:
        return MCPServerStreamableHttp({"url": target.url}, name="agents", **options)
    command, *args = target.command
    return MCPServerStdio({"command": command, "args": args, "env": target.env}, **options)


async def run(model: Model, **options: Any) -> None:
    agent = Agent("clerk", model=model, **options)
    await Runner.run(agent, "Do it all.", max_turns=50, run_config=RunConfig(tracing_disabled=True))


async def read_all(target: Target, *, enriched: bool, structured: bool = False) -> list[Read]:
    """What the model reads, call by call."""
    model = Scripted([(tool, arguments) for tool, arguments, _ in CALLS])
    server = server_for(target, use_structured_content=structured)
    async with enrich_server(server, name="office") if enriched else server as asked:
        assert isinstance(asked, MCPServer)
        await run(model, mcp_servers=[asked])
    return model.reads


@TRANSPORTS
@pytest.mark.parametrize("structured", [True, False])
async def test_hosts(transport: str, structured: bool, open_server: Open, kept: Kept) -> None:
    plain = await read_all(open_server(transport), enriched=False, structured=structured)
    kept.spans.clear()
    server = open_server(transport)
    enriched = await read_all(server, enriched=True, structured=structured)
    check(plain, enriched)
    ours = [span for span in kept.spans if span.scope == "waypost"]
    assert [span.name for span in ours] == [f"execute_tool {tool}" for tool, _, _ in CALLS]
    assert {span.attributes.get("waypost.server") for span in ours} == {"office"}
    # The trace goes on in the server, also where the SDK does not hand it on.
    served = [span for span in spans_in(server.spans) if span.name.startswith("tools/call ")]
    assert [span.trace_id for span in served] == [span.trace_id for span in ours]


@TRANSPORTS
async def test_host_and_server_both(transport: str, open_server: Open) -> None:
    plain = await read_all(open_server(transport), enriched=False)
    server = open_server(transport, "--enriched")
    check(plain, await read_all(server, enriched=True))


class Broken(MCPServer):
    """A server whose calls raise."""

    def __init__(self, error: Exception, **options: Any) -> None:
        super().__init__(**options)
        self._error = error

    name = "broken"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *args: Any, **kwargs: Any) -> list[Tool]:
        return [Tool.model_validate({"name": "find", "inputSchema": {"type": "object"}})]

    async def call_tool(self, *args: Any, **kwargs: Any) -> Any:
        raise self._error

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


@pytest.mark.parametrize("error", [ConnectionResetError("reset by peer"), TimeoutError("timeout")])
async def test_what_a_server_raises_is_explained_and_reported_once(error: Exception) -> None:
    """Issue 6, item 4: the public seam `failure_error_function`."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    broken = Broken(error, failure_error_function=explain_failures(enricher=enricher))
    model = Scripted([("find", {})])
    await run(model, mcp_servers=[enrich_server(broken, enricher=enricher)])
    (read,) = model.reads
    assert guided(read.text) == 1
    assert json.loads(read.text)["message"] == str(error)
    assert watcher.endings == [("find", "raised")]


async def test_exception_stays_that_exception_where_nobody_explains_it() -> None:
    """Issue 6, done when: an exception of the framework stays that exception."""
    raised = []
    for enrich in (lambda server: server, enrich_server):
        broken = Broken(ConnectionResetError("reset by peer"), failure_error_function=None)
        with pytest.raises(AgentsException) as caught:
            await run(Scripted([("find", {})]), mcp_servers=[enrich(broken)])
        raised.append((type(caught.value), str(caught.value), type(caught.value.__cause__)))
    assert raised[0] == raised[1]


async def test_functions_that_raise_are_explained_and_reported_once() -> None:
    """Issue 6, item 4: also beside a guard, which reports by itself."""
    watcher = Watcher()
    enricher = Enricher((watcher,))
    explain = explain_failures(enricher=enricher)

    @function_tool(failure_error_function=explain)
    def plain() -> str:
        """Fail."""
        raise TimeoutError("No answer.")

    @function_tool(failure_error_function=explain)
    @guard(enricher=enricher, raises=RuntimeError)
    def guarded() -> str:
        """Fail."""
        raise TimeoutError("No answer.")

    @function_tool(failure_error_function=explain)
    def asks() -> str:
        """Ask the user."""
        raise (
            MCPError(ErrorData(code=-32042, message="Open a page."))
            if SDK == 1
            else MCPError(-32042, "Open a page.")
        )

    model = Scripted([("plain", {}), ("guarded", {}), ("asks", {})])
    await run(model, tools=[plain, guarded, asks])
    assert [guided(read.text) for read in model.reads] == [1, 1, 0]
    assert json.loads(model.reads[1].text)["message"] == "No answer."
    assert model.reads[2].text == "Open a page."
    assert watcher.endings == [(None, "failure"), ("guarded", "failure")]


@pytest.mark.parametrize(("options", "retryable"), [({}, False), ({"change_results": False}, None)])
async def test_explanation_is_that_of_the_call(
    options: dict[str, Any], retryable: bool | None
) -> None:
    """Bug: it was made anew, without what the host knows of the tool; and when turned off."""
    enricher = Enricher((), **options)
    broken = Broken(TimeoutError("No answer."))
    server = enrich_server(broken, enricher=enricher, side_effects={"find": True})
    with pytest.raises(TimeoutError) as caught:
        await server.call_tool("find", {})
    text = explain_failures(enricher=enricher)(None, caught.value)  # type: ignore[arg-type]
    if retryable is None:
        assert text == "No answer."
    else:
        assert json.loads(text)["retryable"] is retryable


async def test_off_switch_leaves_the_exception_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN section 4, off switch."""
    monkeypatch.setenv("WAYPOST_DISABLED", "true")
    model = Scripted([("find", {})])
    broken = Broken(TimeoutError("No answer."), failure_error_function=explain_failures())
    await run(model, mcp_servers=[enrich_server(broken)])
    assert guided(model.reads[0].text) == 0


async def test_server_of_the_host_need_not_take_meta() -> None:
    """Bug: `meta` was passed always; the SDK leaves it out where there is none."""

    class Own(Broken):
        async def call_tool(self, tool_name: str, arguments: Any) -> Any:  # type: ignore[override]
            return CallToolResult(content=[])

    result = await enrich_server(Own(TimeoutError())).call_tool("find", {})
    assert result.content == []


async def test_list_that_a_filter_shortened_forgets_nothing() -> None:
    """Bug: another agent's list made a tool that writes look like one that nobody knows."""

    class Filtered(Broken):
        lists = iter(([{"readOnlyHint": False}], []))

        async def list_tools(self, *args: Any, **kwargs: Any) -> list[Tool]:
            return [
                Tool.model_validate(
                    {"name": "find", "inputSchema": {"type": "object"}, "annotations": hints}
                )
                for hints in next(self.lists)
            ]

    watcher = Watcher()
    server = enrich_server(Filtered(TimeoutError("No.")), enricher=Enricher((watcher,)))
    for _ in range(2):
        await server.list_tools()
        with pytest.raises(TimeoutError):
            await server.call_tool("find", {})
    steps = [seen.guidance and seen.guidance.next_step for seen in watcher.seen]
    assert steps == ["check_effect", "check_effect"]


def test_what_is_set_on_the_wrapper_is_set_on_the_server() -> None:
    """Bug: it was lost."""
    broken = Broken(TimeoutError())
    enrich_server(broken).use_structured_content = True
    assert broken.use_structured_content is True
