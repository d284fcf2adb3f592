"""
mcp-rescue turns a failure of an MCP tool into a recovery step, so each row becomes the text of a
failed `CallToolResult`, an exception whose class has the name of the code, an error of a status
and a message, and the words of the code with the message.

It is the generous reading: the tool is said to be read-only, idempotent and not destructive, which
permits most repeats, and the answer is retryable if that to any one of the four is.
Each of its answers comes with an action, also the one that it does not know the failure.
"""

from __future__ import annotations

from mcp.types import CallToolResult, TextContent
from mcp_rescue.api import rescue_mcp_result
from mcp_rescue.classifier import rescue_error
from mcp_rescue.models import ErrorCategory, RescueError, ToolInfo

from ._rows import Answer, answer_rows, status_of, words_of

TOOL = ToolInfo(name="tool", read_only=True, idempotent=True, destructive=False)


def read(recovery: RescueError) -> Answer:
    unknown = recovery.category is ErrorCategory.UNKNOWN
    return Answer(
        retryable=recovery.retryable,
        category=None if unknown else recovery.category.value,
        action=recovery.action.value,
    )


def result(code: str, message: str) -> Answer:
    content = TextContent(type="text", text=f"{code}: {message}")
    return read(rescue_mcp_result(CallToolResult(is_error=True, content=[content]), TOOL))


def exception(code: str, message: str) -> Answer:
    return read(rescue_error(type(code, (Exception,), {})(message), TOOL))


def status(code: str, message: str) -> Answer:
    found = status_of(code, message) or code
    return read(rescue_error({"status": found, "message": message}, TOOL))


def in_words(code: str, message: str) -> Answer:
    return read(rescue_error(f"{words_of(code)}: {message}", TOOL))


AS_WRITTEN = (result, exception)

if __name__ == "__main__":
    answer_rows((*AS_WRITTEN, status, in_words), as_written=AS_WRITTEN)
