"""Exceptions: code, message and class names, read without importing what raised them."""

from __future__ import annotations

import errno
from itertools import islice

from .._clean import MESSAGE_CHARS
from .._model import Failure, Origin
from ._envelopes import ELICITATION
from ._read import others, read
from ._scalars import code_of, fields_of, mapping_of
from ._text import flagged_failure
from ._words import SAYS_NOTHING

_GENERIC = frozenset(
    (
        "Exception", "BaseException", "RuntimeError", "Error", "ToolError", "ExceptionGroup",
        "BaseExceptionGroup", "object", "MCPError", "McpError", "ValueError", "TypeError",
        "ToolException", "MCPServerError", "FastMCPError", "AgentsException", "UserError",
        "LangChainException", "ModelRetry", "AgentRunError",
    )
)  # fmt: skip
"""Names that say that something went wrong, or whose framework it was in, and no more."""
_LEAVES = 16


def exception_failure(exception: BaseException, causes: int = 4) -> Failure | None:
    """
    Return the failure that an exception is; ``None`` for MCP's question to the user.

    An exception group speaks through the first of its leaves that says something. The class names
    of the exception and of its bases stand behind its own codes.

    Args:
        causes: How far to follow what it was raised from.
    """
    leaf = _leaf(exception)
    message = text_of_exception(leaf)
    failure = flagged_failure(message, 0)
    if failure.origin is not Origin.JSON_TEXT:
        failure = failure._replace(message=message[:MESSAGE_CHARS])
    codes = _own_codes(leaf)
    if str(ELICITATION) in codes:
        return None
    codes += [*filter(None, (failure.code, *failure.more_codes)), *_class_names(leaf)]
    said = _said(leaf)
    if said is not None:
        failure = failure._replace(details=(*failure.details, *said.details))
        codes += filter(None, (said.code, *said.more_codes))
    code = next((code for code in codes if code.lower() not in SAYS_NOTHING), None)
    return failure._replace(
        code=code,
        more_codes=others(codes, code),
        origin=Origin.EXCEPTION,
        cause=_cause(leaf, causes - 1),
    )


def _cause(exception: BaseException, causes: int) -> Failure | None:
    cause = exception.__cause__
    return exception_failure(cause, causes) if causes and isinstance(cause, Exception) else None


def text_of_exception(exception: BaseException) -> str:
    """Return at most 4 KiB of what ``str(exception)`` says; a ``str`` that raises says nothing."""
    try:
        return str.__str__(str(exception))[:MESSAGE_CHARS]
    except Exception:  # noqa: BLE001 -- a foreign __str__; the exception is still a failure
        return ""


def _leaf(exception: BaseException) -> BaseException:
    """The first leaf with a message or a telling class, else the first; safe against cycles."""
    if not isinstance(exception, BaseExceptionGroup):
        return exception
    queue: list[BaseException] = [exception]
    leaves: list[BaseException] = []
    for _ in range(_LEAVES):
        if not queue:
            break
        head = queue.pop(0)
        if isinstance(head, BaseExceptionGroup):
            queue = [*head.exceptions[:_LEAVES], *queue]
        else:
            leaves.append(head)
    return next(
        (leaf for leaf in leaves if text_of_exception(leaf) or _class_names(leaf)),
        (leaves or [exception])[0],
    )


_OWN_NUMBERS = ("ssl", "_ssl", "socket", "_socket")
"""Modules whose OSErrors have numbers of their own, which are no ``errno``."""


def _own_codes(exception: BaseException) -> list[str]:
    """Codes that it carries: MCP's error data, botocore's, an HTTP response's, an ``errno``."""
    codes: list[str | None] = []
    numbers_itself = any(kind.__module__ in _OWN_NUMBERS for kind in type(exception).__mro__)
    if isinstance(exception, OSError) and exception.errno is not None and not numbers_itself:
        codes.append(errno.errorcode.get(exception.errno))
    stored = fields_of(exception)
    response = stored.get("response")
    if (answer := mapping_of(response)) and (error := mapping_of(answer.get("Error"))):
        codes.append(code_of(error.get("Code")))
    for holder in (mapping_of(stored.get("error")) or {}, stored):
        codes += [code_of(holder.get(key)) for key in _CODE_FIELDS]
    kind = type(exception)  # a class for each SQLSTATE or status has it on the class
    codes += [code_of(getattr(kind, key, None)) for key in _CODE_FIELDS]
    if response is not None and answer is None:
        codes.append(code_of(getattr(response, "status_code", None)))
    return [code for code in codes if code is not None]


_CODE_FIELDS = ("error_code", "code", "sqlstate", "pgcode", "status_code", "status")


def _said(exception: BaseException) -> Failure | None:
    """What the body or the data of an exception says, for its delay, its code and its guidance."""
    stored = fields_of(exception)
    error = mapping_of(stored.get("error")) or {}
    for value in (
        error.get("data"),
        stored.get("data"),
        stored.get("body"),
        stored.get("details"),
        stored.get("response"),
    ):
        if (mapping := mapping_of(value)) is not None:
            return read(mapping)
    return None


def _class_names(exception: BaseException) -> list[str]:
    """Names of the class and its bases that say something, most special first."""
    return [
        kind.__name__
        for kind in islice(type(exception).__mro__, 16)
        if kind.__name__ not in _GENERIC
    ]
