"""MCP's official SDK: a client whose tool calls come back with guidance."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from mcp import Client, ClientSession
from mcp.types import ListToolsResult, Tool

from ..core._model import OptionError
from ..pipeline import Enricher

__all__ = ["enrich_client"]

ClientT = TypeVar("ClientT", Client, ClientSession)

_TOOLS_REMEMBERED = 10_000


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
        client: An ``mcp.Client``, also before it is entered, or an ``mcp.ClientSession``.

        enricher: Shared by all the clients of a host; by default a new one.

        server: Your name for the server; it becomes a metric attribute, so keep the names few.

        side_effects: By tool name, whether the tool changes something, if you know better than its
            annotations. These are known for the tools that were listed through the wrapper.

    Raises:
        OptionError: If *client* has no ``call_tool``.

    .. versionadded:: 0.1.0
    """
    if not callable(getattr(client, "call_tool", None)):
        raise OptionError(
            f"enrich_client({type(client).__name__}): pass an mcp.Client or mcp.ClientSession."
        )
    return cast(
        "ClientT", _EnrichedClient(client, enricher or Enricher(), server, side_effects or {})
    )


class _EnrichedClient:
    """Stands in for a client; knows the tools that were listed through it."""

    def __init__(
        self, client: Any, enricher: Enricher, server: str | None, side_effects: Mapping[str, bool]
    ) -> None:
        self._client = client
        self._enricher = enricher
        self._server = server
        self._side_effects = side_effects
        self._tools: dict[str, Tool] = {}
        self._all_listed = False
        self._session = secrets.token_hex(8)

    def __getattr__(self, name: str) -> Any:
        if name == "_client":  # while copied: there is none yet
            raise AttributeError(name)
        return getattr(self._client, name)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return cast("bool | None", await self._client.__aexit__(kind, exception, traceback))

    async def list_tools(self, *args: Any, **kwargs: Any) -> ListToolsResult:
        """List tools, and remember their annotations."""
        listed: ListToolsResult = await self._client.list_tools(*args, **kwargs)
        if not args and not any(kwargs.values()):  # the first page: what is gone is gone
            self._tools = {}
        for tool in listed.tools:
            if tool.name in self._tools or len(self._tools) < _TOOLS_REMEMBERED:
                self._tools[tool.name] = tool
        self._all_listed = listed.next_cursor is None
        return listed

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Call a tool; a failure comes back with guidance."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        with self._enricher.call(
            # A name that no listed tool has is the model's invention, and no metric attribute.
            None if tool is None and self._all_listed else name,
            arguments={} if arguments is None else arguments,
            server=self._server,
            session=self._session,
            annotations=None if tool is None else tool.annotations,
            side_effects=self._side_effects.get(name) if isinstance(name, str) else None,
        ) as call:
            return call.enrich(await self._client.call_tool(name, arguments, *args, **kwargs))
