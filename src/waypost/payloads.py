"""The typed form of a failure, for tools that return pydantic models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ToolFailure"]


class ToolFailure(BaseModel):
    """
    What a tool returns when it failed.

    Fields left at ``None`` were not set: waypost fills them in.

    .. versionadded:: 0.1.0
    """

    model_config = ConfigDict(extra="allow")

    status: Literal["error"] = "error"
    error_code: str = Field(min_length=1, max_length=128, pattern=r"^\S+$")
    message: str
    retryable: bool | None = None
    next_action: str | None = None
    retry_after_seconds: float | None = Field(default=None, ge=0)
