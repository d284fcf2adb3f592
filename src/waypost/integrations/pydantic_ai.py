"""Pydantic AI: what a model reads of a failed MCP tool call carries guidance."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ..pipeline import Enricher
from ._extras import extra
from ._options import enricher_of
from ._texts import enriched_text

with extra("pydantic-ai"):
    from pydantic_ai import RunContext, exceptions
    from pydantic_ai.mcp import CallToolFunc, ProcessToolCallback, ToolResult

__all__ = ["enrich_tool_calls"]

_FOR_THE_MODEL = tuple(
    getattr(exceptions, name) for name in ("ModelRetry", "ToolFailed") if hasattr(exceptions, name)
)
"""What a model reads the text of; the second came after 2.0."""


def enrich_tool_calls(
    *,
    enricher: Enricher | None = None,
    server: str | None = None,
    side_effects: Mapping[str, bool] | None = None,
) -> ProcessToolCallback:
    """
    Return a callback for the ``process_tool_call`` of an ``MCPToolset``.

    It adds guidance to what a model reads of a failed call, and reports every call. A
    ``ModelRetry`` or ``ToolFailed`` that the toolset raises stays one, with guidance in its text;
    anything else is raised on, the same object. Pydantic AI asks the model to fix and try again
    after each ``ModelRetry``, its default; with ``tool_error_behavior="failed"`` the guidance
    stands alone.

    Args:
        enricher: Shared by all the toolsets of a host; by default a new one.

        server: Your name for the server; it becomes a metric attribute, so keep the names few.

        side_effects: By tool name, whether the tool changes something; annotations do not reach a
            callback.

    .. versionadded:: 0.1.0
    """
    asked = enricher_of(enricher, "host")
    effects = side_effects or {}
    session = secrets.token_hex(8)

    async def process_tool_call(
        ctx: RunContext[Any], call_tool: CallToolFunc, name: str, tool_args: dict[str, Any]
    ) -> ToolResult:
        with asked.call(
            name,
            arguments=tool_args,
            server=server,
            run=getattr(ctx, "conversation_id", None) or ctx.run_id,
            session=session,
            side_effects=effects.get(name),
        ) as call:
            try:
                return call.enrich(await call_tool(name, tool_args))
            except _FOR_THE_MODEL as exc:
                if type(exc) not in _FOR_THE_MODEL:  # may be made of more than a text
                    raise
                if (text := enriched_text(call, exc.message)) == exc.message:
                    raise
                raise type(exc)(text) from exc

    return process_tool_call
