"""langchain-mcp-adapters: tool messages of failed calls carry guidance."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..pipeline import Call, Enricher
from ._extras import extra
from ._options import enricher_of
from ._texts import enriched_blocks

with extra("langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_mcp_adapters.interceptors import MCPToolCallRequest, MCPToolCallResult
    from mcp.types import CallToolResult

__all__ = ["EnrichInterceptor"]


class EnrichInterceptor:
    """
    An interceptor for the ``tool_interceptors`` of a ``MultiServerMCPClient``.

    It adds guidance to what a model reads of a failed call, whether the adapter makes a
    ``ToolMessage`` of it or raises a ``ToolException``, and reports every call. What a session
    raises, such as an ``McpError``, is raised on, the same object. Put it last of the interceptors,
    so that it sees each attempt of one that retries.

    Args:
        enricher: By default a new one. One interceptor is enough for all servers of a client.

        side_effects: By tool name, whether the tool changes something; annotations do not reach an
            interceptor.

    .. versionadded:: 0.1.0
    """

    def __init__(
        self,
        *,
        enricher: Enricher | None = None,
        side_effects: Mapping[str, bool] | None = None,
    ) -> None:
        self._enricher = enricher_of(enricher, "host")
        self._side_effects = side_effects or {}
        self._session = secrets.token_hex(8)

    async def __call__(
        self,
        request: MCPToolCallRequest,
        handler: Callable[[MCPToolCallRequest], Awaitable[MCPToolCallResult]],
    ) -> MCPToolCallResult:
        """Call a tool; a failure comes back with guidance."""
        with self._enricher.call(
            request.name,
            arguments=request.args,
            server=request.server_name,
            run=_thread_of(request),
            session=self._session,
            side_effects=self._side_effects.get(request.name),
        ) as call:
            result = await handler(request)
            if isinstance(result, ToolMessage):
                return _enriched_message(call, result)
            return call.enrich(result) if isinstance(result, CallToolResult) else result


def _thread_of(request: MCPToolCallRequest) -> str | None:
    """The conversation: LangGraph's ``thread_id``, where the tool runs in a graph that has one."""
    config: Any = getattr(request.runtime, "config", None)
    configurable = config.get("configurable") if isinstance(config, Mapping) else None
    thread = configurable.get("thread_id") if isinstance(configurable, Mapping) else None
    return None if thread is None else str(thread)


def _enriched_message(call: Call, message: ToolMessage) -> ToolMessage:
    """The message that another interceptor made, read as the MCP result that it stands for."""
    given: list[Any] = [message.content] if isinstance(message.content, str) else message.content
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in given]
    artifact = message.artifact if isinstance(message.artifact, dict) else {}
    structured = artifact.get("structured_content")
    enriched = enriched_blocks(
        call,
        blocks,
        failed=message.status == "error",
        structured=structured if isinstance(structured, dict) else None,
    )
    if enriched["content"] == blocks:
        return message
    content: Any = [
        block["text"] if at < len(given) and isinstance(given[at], str) else block
        for at, block in enumerate(enriched["content"])
    ]
    if isinstance(message.content, str):
        content = "\n\n".join(block["text"] for block in enriched["content"])
    changed: dict[str, Any] = {"content": content}
    if "structuredContent" in enriched:
        changed["artifact"] = {**artifact, "structured_content": enriched["structuredContent"]}
    return message.model_copy(update=changed)
