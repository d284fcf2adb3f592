"""FastMCP 4: clients and servers whose failed calls carry guidance."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from ..core._model import OptionError
from ..pipeline import Enricher
from ._extras import extra
from ._options import enricher_of
from ._stand_in import StandIn
from ._tool_calls import ToolCalls

with extra("fastmcp"):
    from fastmcp import Client, FastMCP
    from fastmcp.exceptions import DisabledError, FastMCPError, NotFoundError, ToolError
    from fastmcp.server.middleware import Middleware, MiddlewareContext
    from fastmcp.tools import ToolResult
    from mcp.types import TextContent

__all__ = ["enrich_client", "enrich_server"]

ClientT = TypeVar("ClientT", bound="Client[Any]")
ServerT = TypeVar("ServerT", bound="FastMCP[Any]")


def enrich_client(
    client: ClientT,
    *,
    enricher: Enricher | None = None,
    server: str | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ClientT:
    """Return *client* in a wrapper whose ``call_tool`` and ``call_tool_mcp`` add guidance to
    failures and report every call.

    The wrapper stands in for *client*, and is no instance of its class. Everything else goes to
    *client* as it is, which is not changed. The ``ToolError`` that ``call_tool`` raises stays a
    ``ToolError``, with guidance in its text; with ``raise_on_error=False`` the result has it.

    Args:
        client: A ``fastmcp.Client``, also before it is entered.

        enricher: Shared by all the clients of a host; by default a new one.

        server: Your name for the server; it becomes a metric attribute, so keep the names few.

        side_effects: By tool name, whether the tool changes something, if you know better than its
            annotations. These are known for the tools that were listed through the wrapper.

    Raises:
        OptionError: If *client* has no ``call_tool``.

    .. versionadded:: 0.1.0
    """
    return cast("ClientT", _EnrichedClient(client, enricher, server, side_effects))


class _EnrichedClient(StandIn):
    """Stands in for a client."""

    _wanted = "a fastmcp.Client"

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """List tools, and remember their annotations."""
        tools = await self._client.list_tools(*args, **kwargs)
        self._calls.learn(tools)
        return tools

    async def list_tools_mcp(self, *args: Any, **kwargs: Any) -> Any:
        """List a page of tools, and remember their annotations."""
        listed = await self._client.list_tools_mcp(*args, **kwargs)
        self._calls.learn_page(listed, first=not args and not any(kwargs.values()))
        return listed

    async def call_tool_mcp(
        self, name: str, arguments: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Call a tool; a failure comes back with guidance."""
        with self._calls.open(name, arguments) as call:
            return call.enrich(await self._client.call_tool_mcp(name, arguments, *args, **kwargs))

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        raise_on_error: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Call a tool; a failure comes back, or is raised, with guidance."""
        with self._calls.open(name, arguments) as call:
            result = await self._client.call_tool(name, arguments, raise_on_error=False, **kwargs)
            enriched = call.enrich(result)
        if raise_on_error and enriched.is_error:
            raise ToolError(_text_of(enriched, result) or f"Tool {name!r} returned an error")
        if enriched is not result and result.data == result.structured_content:
            return dataclasses.replace(enriched, data=enriched.structured_content)
        return enriched


def _text_of(enriched: Any, result: Any) -> str:
    """The first text, as FastMCP raises it, and the one with guidance where that is another."""
    before = [*result.content, None]
    blocks = [
        block
        for at, block in enumerate(enriched.content)
        if at == 0 or block is not before[min(at, len(result.content))]
    ]
    return "\n\n".join(block.text for block in blocks if isinstance(block, TextContent))


def enrich_server(
    server: ServerT,
    *,
    enricher: Enricher | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ServerT:
    """Let the failed tool calls of *server* leave with guidance, report every call, and return
    *server*.

    It adds middleware: the last one sees each attempt, also of a ``RetryMiddleware``; the first one
    makes of what is raised in the end the result that FastMCP would have made, with guidance. Other
    middleware, and tools that call tools, see exceptions as before, and so do callers in the
    program, as of ``server.call_tool()``. Structured content of a tool with an output schema stays
    as it is, since a strict client checks it: guidance stands in ``_meta`` and in the text. Of
    servers that are mounted into each other, enrich the outermost; it reports for all.

    Args:
        server: A ``fastmcp.FastMCP``.

        enricher: By default a new one of side ``"server"``.

        side_effects: By tool name, whether the tool changes something, if you know better than its
            annotations. These are known once a client has listed the tools.

    Raises:
        OptionError: If *server* takes no middleware.

    .. versionadded:: 0.1.0
    """
    middleware = getattr(server, "middleware", None)
    if not isinstance(middleware, list):
        raise OptionError(f"enrich_server({type(server).__name__}): pass a fastmcp.FastMCP.")
    middleware.insert(0, _Seam())
    middleware.append(_Attempts(enricher, side_effects))
    return server


@dataclasses.dataclass(slots=True)
class _Served:
    """
    A request of a client, as one chain of servers serves it.

    Attributes:
        open: Whether an attempt is under way; what a tool or a mounted server calls within it is
            its own affair.

        raised: What the last attempt raised.

        result: What a client is to get for that.
    """

    open: bool = False
    raised: Exception | None = None
    result: Any = None


_served: ContextVar[_Served | None] = ContextVar("waypost_fastmcp_served", default=None)


class _Seam(Middleware):
    """Stands around all other middleware, where an exception becomes what the client gets."""

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Call a tool; what is raised with guidance leaves as a result."""
        serving = context.fastmcp_context
        if _served.get() is not None or serving is None or serving.request_context is None:
            return await call_next(context)
        served = _Served()
        token = _served.set(served)
        try:
            return await call_next(context)
        except Exception as exc:
            if exc is served.raised:  # not what other middleware made of it
                return served.result
            raise
        finally:
            _served.reset(token)
            served.raised = None  # its traceback holds this frame


class _Attempts(Middleware):
    """Stands innermost, around each attempt, and around lists of tools."""

    def __init__(self, enricher: Enricher | None, side_effects: Mapping[str, bool] | None) -> None:
        self._calls = ToolCalls(enricher_of(enricher, "server"), side_effects)

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: Any) -> Sequence[Any]:
        """List tools, and remember their annotations and output schemas."""
        tools: Sequence[Any] = await call_next(context)
        self._calls.learn(tools, first=False)
        return tools

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Call a tool; a failure leaves with guidance, also if it is raised."""
        served = _served.get() or _Served()
        if served.open:
            return await call_next(context)
        served.open = True
        token = _served.set(served)
        try:
            with self._calls.open(context.message.name, context.message.arguments) as call:
                try:
                    return call.enrich(await call_next(context))
                except (FastMCPError, DisabledError, NotFoundError) as exc:
                    result = _result_of(exc, context.message.name)
                    enriched = call.enrich(result)
                    if enriched is not result:
                        served.raised, served.result = exc, enriched
                    raise
        finally:
            served.open = False
            _served.reset(token)


def _result_of(exception: Exception, tool_name: str) -> ToolResult:
    """What FastMCP makes of *exception*: it tells a client no more of a tool that is not there."""
    unknown = isinstance(exception, DisabledError | NotFoundError)
    text = f"Unknown tool: {tool_name!r}" if unknown else str(exception)
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)
