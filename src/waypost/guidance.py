"""
The contract: pure functions that recognize a failed tool result and say what to do next.

They never raise, whatever they are given, never write to their argument unless their name says so,
and give a success back as the same object.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .core._classify import MAX_CACHED_NAMES, default_rules
from .core._clean import CODE_CHARS, MESSAGE_CHARS
from .core._enrich import enrich
from .core._guide import guide
from .core._model import Failure, Guidance
from .core._recognize import recognize
from .core._safety import Effects

if TYPE_CHECKING:
    from .payloads import ToolFailure

__all__ = [
    "Guidance",
    "ToolFailure",
    "enrich_error_payload",
    "enrich_result",
    "error_code_of",
    "error_guidance",
    "failure",
    "guidance_of",
]


def error_guidance(error_code: str, message: str = "") -> tuple[bool, str | None]:
    """
    Return ``(retryable, next_action)`` for an error code.

    Args:
        error_code: As the tool wrote it; case and spelling do not matter, only 128 characters are
            read.

        message: Reveals failed sign-ins, and refines a code that says nothing. Of its first 4,096
            characters the first and the last 768 are read.

    Returns:
        ``(False, None)`` for codes that no rule knows. ``retryable`` is ``True`` only when the same
        call can succeed after waiting or after the step that ``next_action`` names.

    .. versionadded:: 0.1.0
    """
    try:
        code = str(error_code)[:CODE_CHARS]
        if isinstance(message, str) and message:
            return _of_failure(code, str.__str__(message)[:MESSAGE_CHARS])
        return _of_code(code)
    except Exception:  # noqa: BLE001 -- the contract: these functions never raise
        return False, None


@lru_cache(maxsize=MAX_CACHED_NAMES)
def _of_code(code: str) -> tuple[bool, str | None]:
    """A code alone, which is kept; all codes of one row are then told the same."""
    row = default_rules().row_of(code)
    known = _by_row.get(row.id)
    if known is None:
        known = _by_row[row.id] = _of_failure(code, "")
    return known


_by_row: dict[str, tuple[bool, str | None]] = {}


def _of_failure(code: str, message: str) -> tuple[bool, str | None]:
    guided = guide(Failure({}, (), code, (), message))
    return guided.retryable, guided.next_action


def error_code_of(payload: Any) -> str | None:
    """Return the error code of a failure, ``"tool_error"`` if it has none, and ``None`` for a
    success only.

    A code is one token of at most 128 characters; a sentence under ``error`` is a message.

    .. versionadded:: 0.1.0
    """
    try:
        failure = recognize(payload)
    except Exception:  # noqa: BLE001 -- a hostile object; it counts as a success
        return None
    if failure is None:
        return None
    if failure.cause is not None and failure.code is None:
        return guide(failure).error_code  # that of the cause, if nothing else says anything
    return failure.code or "tool_error"


def enrich_error_payload(payload: dict[str, Any]) -> bool:
    """
    Add ``retryable`` and ``next_action`` to a failed *payload*, in place.

    What the tool set is never overwritten. A success, or anything that is no ``dict``, is left
    alone.

    Returns:
        Whether *payload* was changed. A second call changes nothing.

    .. versionadded:: 0.1.0
    """
    try:
        if not isinstance(payload, dict) or (failure := recognize(payload)) is None:
            return False
        enriched = enrich(payload, failure, guide(failure))
        if not isinstance(enriched, dict) or enriched == payload:
            return False
        dict.update(payload, enriched)
    except Exception:  # noqa: BLE001 -- the contract: these functions never raise
        return False
    return True


def enrich_result(result: Any, *, trace_id: str | None = None) -> Any:
    """
    Return *result* with ``retryable``, ``next_action`` and the trace id added if it is a failure.

    A success comes back as the same object. A mapping comes back as a new mapping, JSON text as
    text, an MCP result as the same class, a pydantic model, a dataclass or an exception as a
    mapping.

    Args:
        trace_id: Added to failures as it is given, unless the tool set one.

    .. versionadded:: 0.1.0
    """
    try:
        failure = recognize(result)
        if failure is None:
            return result
        return enrich(result, failure, guide(failure), trace_id)
    except Exception:  # noqa: BLE001 -- a hostile object; the contract is that it comes back
        return result


def guidance_of(result: Any, *, side_effects: bool | None = None) -> Guidance | None:
    """
    Return the guidance for a failed *result*, ``None`` for a success.

    Args:
        side_effects: Whether the tool changes something. ``False`` makes a repeat safe; ``None``
            means that it is not known, and a repeat after an unknown outcome is then never called
            safe.

    .. versionadded:: 0.1.0
    """
    try:
        failure = recognize(result)
        if failure is None:
            return None
        return guide(failure, Effects(side_effects)).guidance(_jitter())
    except Exception:  # noqa: BLE001 -- a hostile object counts as a success
        return None


def _jitter() -> float:
    try:
        from random import random  # noqa: PLC0415 -- slow to load, and needed here only
    except ImportError:  # the interpreter is on its way out
        return 0.5
    return random()  # noqa: S311 -- spreads callers, guards nothing


def failure(
    code: str,
    message: str,
    *,
    retryable: bool | None = None,
    next_action: str | None = None,
    retry_after_seconds: float | None = None,
) -> dict[str, Any]:
    """
    Return the payload with which a tool reports a failure.

    Args:
        code: One token, for instance ``"order_locked"``; follow common naming and every host
            understands it.

        message: One sentence for the model.

        retryable: Whether the same call can succeed. Left out if ``None``: waypost fills it in.

        next_action: One concrete recovery step. Left out if ``None``: waypost fills it in.

        retry_after_seconds: How long to wait first, if that is known.

    .. versionadded:: 0.1.0
    """
    payload: dict[str, Any] = {"status": "error", "error_code": code, "message": message}
    given = {
        "retryable": retryable,
        "next_action": next_action,
        "retry_after_seconds": retry_after_seconds,
    }
    return payload | {key: value for key, value in given.items() if value is not None}


def __getattr__(name: str) -> object:
    if name == "ToolFailure":  # pydantic is loaded only for those who use the model
        from .payloads import ToolFailure  # noqa: PLC0415

        return ToolFailure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
