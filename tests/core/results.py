"""Tool results as frameworks make them: MCP SDK 1.x and 2.x, FastMCP, and a subclass."""

from __future__ import annotations

import dataclasses
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field

Results = type["OldResult"] | type["Dataclass"] | type[CallToolResult]


class Narrower(CallToolResult):
    """A subclass with a field of its own, as hosts make them."""

    server: str = "orders"


class OldResult(BaseModel):
    """What SDK 1.x returns: camel case names, extra members allowed."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    meta: dict[str, Any] | None = Field(alias="_meta", default=None)
    content: list[TextContent]
    structuredContent: dict[str, Any] | None = None  # noqa: N815 -- its name in SDK 1.x
    isError: bool = False  # noqa: N815 -- the same


@dataclasses.dataclass
class Dataclass:
    """What FastMCP's client returns."""

    content: list[TextContent]
    structured_content: dict[str, Any] | None
    meta: dict[str, Any] | None
    data: Any = None
    is_error: bool = False


def blocks(*texts: str) -> list[TextContent]:
    return [TextContent(type="text", text=text) for text in texts]


def flagged(*texts: str, **members: Any) -> CallToolResult:
    """An MCP result that the protocol flags."""
    return CallToolResult(content=[*blocks(*texts)], is_error=True, **members)


def unflagged(*texts: str, **members: Any) -> CallToolResult:
    """An MCP result without the flag."""
    return CallToolResult(content=[*blocks(*texts)], **members)


def wire(result: Any) -> dict[str, Any]:
    """The members of an MCP result as they go over the wire."""
    dumped: dict[str, Any] = result.model_dump(by_alias=True, exclude_none=True)
    dumped.pop("resultType", None)
    return dumped


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content]


class Recorder:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, observation: Any) -> None:
        self.seen.append(observation)
