"""The typed form of a failure, for tools that return pydantic models."""

from __future__ import annotations

from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

__all__ = ["ToolFailure"]


class ToolFailure(BaseModel):
    """
    What a tool returns when it failed.

    Fields left at ``None`` were not set: they are left out when it is written as JSON, and waypost
    fills them in.

    .. versionadded:: 0.1.0
    """

    model_config = ConfigDict(extra="allow")

    status: Literal["error"] = "error"
    error_code: str = Field(min_length=1, max_length=128, pattern=r"^\S+$")
    message: str
    retryable: bool | None = None
    next_action: str | None = None
    retry_after_seconds: float | None = Field(default=None, ge=0)

    # Without a return type, since pydantic would take that for the schema of the whole model.
    @model_serializer(mode="wrap")
    def _without_unset(self, dump: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """In JSON a ``null`` is the tool's own word, and nothing would be filled in."""
        given = self.model_fields_set
        return {
            key: value for key, value in dump(self).items() if value is not None or key in given
        }
