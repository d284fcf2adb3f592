"""The OpenAI Agents SDK: what a model reads of a failed tool call carries guidance."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from ..pipeline import Call, Enricher
from ._extras import extra
from ._options import enricher_of
from ._stand_in import StandIn
from ._tool_calls import with_trace

with extra("openai-agents"):
    from agents import AgentsException, RunContextWrapper
    from agents.mcp import MCPServer
    from agents.tool import ToolErrorFunction

__all__ = ["enrich_server", "explain_failures"]

ServerT = TypeVar("ServerT", bound=MCPServer)


def enrich_server(
    server: ServerT,
    *,
    enricher: Enricher | None = None,
    name: str | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ServerT:
    """Return *server*, one of an agent's ``mcp_servers``, in a wrapper whose ``call_tool`` adds
    guidance to failures and reports every call.

    The wrapper stands in for *server*; everything else goes to *server* as it is, which is not
    changed. What ``call_tool`` raises is raised on, the same object: pass `explain_failures` as the
    ``failure_error_function`` for a model to read guidance on that, too.

    Args:
        server: An ``MCPServerStdio``, ``MCPServerStreamableHttp`` or other ``MCPServer``.

        enricher: Shared by all the servers of a host; by default a new one.

        name: Your name for the server, if it is another than ``server.name``, which is kept out of
            telemetry: that of a server without a name is made of its command line or address.

        side_effects: By tool name, whether the tool changes something, if you know better than its
            annotations.

    Raises:
        OptionError: If *server* has no ``call_tool``.

    .. versionadded:: 0.1.0
    """
    return cast("ServerT", _EnrichedServer(server, enricher, name, side_effects))


@MCPServer.register
class _EnrichedServer(StandIn):
    """Stands in for an MCP server of an agent."""

    _wanted = "an MCPServer of agents.mcp"

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """List tools, and remember their annotations."""
        tools = await self._client.list_tools(*args, **kwargs)
        self._calls.learn(tools, first=False, last=False)  # a filter may hide some of them
        return tools

    async def call_tool(
        self,
        tool_name: str,
        arguments: dict[str, Any] | None,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a tool; a failure comes back with guidance."""
        with self._calls.open(tool_name, arguments) as call:
            if self._takes_meta:
                meta = with_trace(meta, call)
            said = {} if meta is None else {"meta": meta}
            return call.enrich(await self._client.call_tool(tool_name, arguments, **said))


def explain_failures(*, enricher: Enricher | None = None) -> ToolErrorFunction:
    """
    Return a ``failure_error_function``: what a tool raised, told to the model with guidance.

    For ``function_tool``, for an MCP server, or for all MCP servers of an agent, in its
    ``mcp_config``. The text is JSON, ``{"status": "error", "error_code", "message", "retryable",
    ...}``; the message is that of the exception, cleaned and at most 4,096 characters long, which
    the SDK's own function keeps from the model. The failure is reported on the current span, unless
    a server of `enrich_server` or a guarded function has reported it.

    Args:
        enricher: By default a new one.

    .. versionadded:: 0.1.0
    """
    asked = enricher_of(enricher, "host")

    def failure_text(_: RunContextWrapper[Any], error: Exception) -> str:
        cause = error.__cause__
        wrapped = isinstance(error, AgentsException) and isinstance(cause, Exception)
        said = cause if wrapped else error
        call = _call_of(said)
        if call is not None and call.payload is not None:
            return json.dumps(call.payload) if asked.changes_results else str(error)
        failure: object = asked.enrich_result(said)
        return str(error) if failure is said else json.dumps(failure)

    return failure_text


def _call_of(error: BaseException | None) -> Call | None:
    """
    Return the call in which waypost saw *error* raised, and reported it.

    It stands in the frame of ours that *error* came through, as `_EnrichedServer.call_tool` or a
    guarded function, which its traceback keeps.
    """
    frames = traceback.walk_tb(None if error is None else error.__traceback__)
    for frame, _ in frames:
        if str(frame.f_globals.get("__name__")).startswith(_INTEGRATIONS):
            call = frame.f_locals.get("call")
            if isinstance(call, Call) and call.guidance is not None:
                return call
    return None


_INTEGRATIONS = f"{__name__.rpartition('.')[0]}."
