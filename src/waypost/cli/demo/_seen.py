"""What the sample host saw: finished calls, and how it reads a result."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.types import CallToolResult, TextContent

from ...core._clean import MESSAGE_CHARS, clean_code, redact
from ...core._model import ErrorClass, Guidance, NextStep
from ...core._recognize import GUIDANCE_KEY, recognize
from ...guidance import guidance_of
from ._script import Arguments, Step

__all__ = ["Seen", "Served", "rows_in", "seen_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    One finished call. What is shown of it holds no credential.

    Attributes:
        after: What the host did before it, following guidance; ``None`` for a call of the script.

        guidance: ``None`` for a success.

        is_error: What the protocol says, which is not always the truth.

        unchanged: The very object that the client returned came out of the wrapper.

        came_back: Error code and message of a failure, the text of a success.

        before: The text as the tool wrote it.

        text: The text that a model reads.

        structured: Structured content, for the host alone: it is not shown.
    """

    tool: str
    arguments: Arguments
    after: str | None
    guidance: Guidance | None
    is_error: bool
    unchanged: bool
    came_back: str
    before: str
    text: str
    structured: Mapping[str, Any] = field(repr=False)
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A request with its calls; ``ending`` says why the host stopped where it failed."""

    step: Step
    calls: tuple[Seen, ...]
    ending: str | None


def seen_of(
    result: CallToolResult,
    raw: CallToolResult,
    *,
    tool: str,
    arguments: Arguments,
    after: str | None,
    trace_id: str | None,
) -> Seen:
    """Describe a call by its *result*, and by the same as it came in."""
    return Seen(
        tool=tool,
        arguments=arguments,
        after=after,
        guidance=_guidance_in(result),
        is_error=result.is_error,
        unchanged=result is raw,
        came_back=_came_back(raw),
        before=_shown(_text_of(raw), None),
        text=_shown(_text_of(result), trace_id),
        structured=_mapping(result.structured_content),
        trace_id=trace_id,
    )


def _guidance_in(result: CallToolResult) -> Guidance | None:
    """
    Read what waypost wrote into a failed result; ``None`` for a success.

    ``guidance_of`` reads the payload alone. What the tool's annotations come to, the wrapper knows,
    and says in ``_meta``; only how long to wait stands nowhere else.
    """
    said = _mapping((result.meta or {}).get(GUIDANCE_KEY))
    guidance = guidance_of(result)
    if not said or guidance is None:
        return None
    return dataclasses.replace(
        guidance,
        error_class=ErrorClass(said["error_class"]),
        error_code=said["error_code"],
        retryable=said["retryable"],
        next_action=said.get("next_action", guidance.next_action),
        next_step=NextStep(said["next_step"]),
        may_repeat=said["may_repeat"],
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def rows_in(seen: Seen) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in the lists of a structured result."""
    for value in seen.structured.values():
        if isinstance(value, list):
            yield from (row for row in value if isinstance(row, dict))


def _text_of(result: CallToolResult) -> str:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    return "\n".join(texts)[:MESSAGE_CHARS]


def _came_back(raw: CallToolResult) -> str:
    failure = recognize(raw)
    if failure is None or (failure.message.startswith("{") and failure.code is None):
        return _one_line(_shown(_text_of(raw), None))
    code = None if failure.code is None else clean_code(failure.code)
    message = "" if failure.message.startswith("{") else redact(failure.message)
    return _one_line(": ".join(filter(None, (code, message))))


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words.replace("{ ", "{").replace(" }", "}").replace("[ ", "[").replace(" ]", "]")


_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def _shown(text: str, trace_id: str | None) -> str:
    """
    Return *text* without what looks like a credential, which *trace_id* also does.

    In JSON every string is looked at by itself: beside its key, any error code would look like one.
    """
    if text.lstrip().startswith("{"):
        return _LITERAL.sub(lambda found: _redacted(found[0], trace_id), text)
    return _redacted(text, trace_id)


def _redacted(text: str, trace_id: str | None) -> str:
    return redact(text) if trace_id is None else trace_id.join(map(redact, text.split(trace_id)))
