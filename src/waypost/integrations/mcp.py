"""MCP's official SDK, 1.x and 2.x: clients and servers whose failed calls carry guidance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from ..core._model import OptionError
from ..pipeline import Enricher
from ._extras import extra
from ._options import enricher_of
from ._stand_in import StandIn
from ._tool_calls import ToolCalls, with_trace

with extra("mcp"):
    from mcp import ClientSession, types

__all__ = ["enrich_client", "enrich_server"]


class _Client(Protocol):
    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Awaitable[Any]: ...


ClientT = TypeVar("ClientT", bound=_Client)
ServerT = TypeVar("ServerT")
Handler = Callable[[Any], Awaitable[Any]]


def enrich_client(
    client: ClientT,
    *,
    enricher: Enricher | None = None,
    server: str | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ClientT:
    """Return *client* in a wrapper whose ``call_tool`` adds guidance to failures and reports every
    call.

    The wrapper stands in for *client*, and is no instance of its class. Everything else goes to
    *client* as it is, which is not changed. What ``call_tool`` raises is
    raised on, the same object: ``waypost.guidance_of(exception)`` tells what to do about it.

    Args:
        client: An ``mcp.Client`` of SDK 2.x, also before it is entered, or an ``mcp.ClientSession``
            of SDK 1.x or 2.x.

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
    """Stands in for a client or a session."""

    _wanted = "an mcp.Client or an mcp.ClientSession"

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """List tools, and remember their annotations."""
        listed = await self._client.list_tools(*args, **kwargs)
        self._calls.learn_page(listed, first=not args and not any(kwargs.values()))
        return listed

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Call a tool; a failure comes back with guidance."""
        with self._calls.open(name, arguments) as call:
            meta = kwargs.get("meta")
            takes_meta = self._takes_meta and isinstance(self._client, ClientSession)
            if takes_meta and (traced := with_trace(meta, call)) is not meta:
                kwargs["meta"] = traced
            return call.enrich(await self._client.call_tool(name, arguments, *args, **kwargs))


def enrich_server(
    server: ServerT,
    *,
    enricher: Enricher | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ServerT:
    """Let the failed tool calls of *server* leave with guidance, report every call, and return
    *server*.

    What a tool raises has become a result by then, where the SDK makes one of it, as ``MCPServer``
    does. What is raised beside that, such as a JSON-RPC error, passes as it is. Structured content
    of a tool with an output schema stays as it is, since a strict client checks it: guidance stands
    in ``_meta`` and in the text.

    Args:
        server: Of SDK 2.x an ``MCPServer`` or a low-level ``Server``, which gets a middleware; of
            SDK 1.x a low-level ``Server`` whose handlers are registered already.

        enricher: By default a new one of side ``"server"``.

        side_effects: By tool name, whether the tool changes something, if you know better than its
            annotations. These are known once a client has listed the tools.

    Raises:
        OptionError: If *server* has neither a list of middleware nor a handler of tool calls, as
            a ``FastMCP`` of SDK 1.x: guard its tools instead, with
            `waypost.integrations.guard.guard`.

    .. versionadded:: 0.1.0
    """
    calls = ServerCalls(enricher_of(enricher, "server"), side_effects)
    if isinstance(middleware := getattr(server, "middleware", None), list):
        middleware.append(calls.middleware)
        return server
    handlers = getattr(server, "request_handlers", None)
    if not isinstance(handlers, dict) or types.CallToolRequest not in handlers:
        raise OptionError(
            f"enrich_server({type(server).__name__}): pass a server of MCP's SDK 2.x, or a"
            " low-level Server of SDK 1.x after its @server.call_tool(). Tools of a FastMCP of SDK"
            " 1.x are guarded one by one: see waypost.integrations.guard."
        )
    for kind, stand_around in calls.handlers.items():
        if kind in handlers:
            handlers[kind] = stand_around(handlers[kind])
    return server


class ServerCalls(ToolCalls):
    """
    The tool calls of one server, as a middleware of SDK 2.x and as handlers of SDK 1.x.

    Attributes:
        active: Whether it looks at them; what it stands in cannot always be taken out again.
    """

    active: bool = True

    @property
    def handlers(self) -> dict[type, Callable[[Handler], Handler]]:
        """What stands around the handlers of SDK 1.x, by the requests that they answer."""
        return {types.CallToolRequest: self.handler, types.ListToolsRequest: self.listing}

    async def middleware(self, context: Any, call_next: Handler) -> Any:
        """Stand around every message; only calls and lists of tools are looked at."""
        method, params = context.method, context.params
        if method == "tools/call" and context.request_id is not None and self.active:
            name, arguments = (params or {}).get("name"), (params or {}).get("arguments")
            with self.open(name, arguments) as call:
                return call.enrich(await call_next(context))
        result = await call_next(context)
        if method == "tools/list":
            self.learn_page(result, first=False)
        return result

    def handler(self, handle: Handler) -> Handler:
        """Stand around the handler of tool calls."""

        async def handle_call(request: Any) -> Any:
            if not self.active:
                return await handle(request)
            with self.open(request.params.name, request.params.arguments) as call:
                answer = await handle(request)
                enriched = call.enrich(answer.root)
                return answer if enriched is answer.root else type(answer)(enriched)

        return handle_call

    def listing(self, handle: Handler) -> Handler:
        """Stand around the handler that lists tools."""

        async def handle_list(request: Any) -> Any:
            answer = await handle(request)
            self.learn_page(answer.root, first=False)
            return answer

        return handle_list
