"""MCP tool results: of SDK 1.x and 2.x and FastMCP, as object and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from .._model import Failure, Origin
from ._evidence import Payload, marked
from ._read import read
from ._scalars import fields_of, mapping_of, text_of
from ._text import SIGNPOST, flagged_failure, json_failure, own_words, signatures
from ._verdict import failed
from ._words import ADDED_KEYS

GUIDANCE_KEY = "waypost/guidance"
"""Where guidance stands in ``_meta``; a result that has it was enriched, here or elsewhere."""

DRAFT_KEY = "io.modelcontextprotocol/toolFailure"
"""A draft of the protocol: what the tool itself says about its failure, in ``_meta``."""

_TEXT_BLOCKS = 4


def result_failure(result: Payload) -> Failure | None:
    """
    Return the failure in an MCP result, given as its fields or its JSON members, or ``None``.

    The caller knows that ``content`` is a list.

    ``isError`` flags it whatever it says. Without the flag, structured content decides where there
    is any; else up to four text blocks are looked at.
    """
    get = result.get
    content = cast("list[object]", result["content"])
    if get("resultType") == "input_required" or get("result_type") == "input_required":
        return None
    flagged = get("is_error") is True or get("isError") is True
    structured = get("structured_content")
    if structured is None:
        structured = get("structuredContent")
    if flagged or structured is not None:
        meta = meta_of(result)
        read = content
        if meta and GUIDANCE_KEY in meta:
            read = [_unsigned(block) for block in content[:_TEXT_BLOCKS]]
        failure = _content_failure(structured, read, flagged=flagged)
    else:
        failure = _unflagged_content(content)
    return None if failure is None else _with_meta(failure, result, content)


def unfinished(result: object) -> bool:
    """Whether the call goes on after *result*: it asks for input, or became a task that runs."""
    stored = result if type(result) is dict else getattr(result, "__dict__", None)
    if type(stored) is not dict:
        return False
    for name in _RESULT_TYPES:
        if name in stored and text_of(stored[name]) == "input_required":
            return True
    if "task" not in stored:
        return False
    task = mapping_of(stored["task"]) or {}
    return not task.keys().isdisjoint(_CREATED) and text_of(task.get("status")) in _RUNNING


_RESULT_TYPES = ("result_type", "resultType")
_CREATED = frozenset(("createdAt", "created_at"))
"""Every task of MCP's has it; a task that a tool keeps has other names, or stands beside others."""
_RUNNING = ("working", "input_required")


def _unsigned(block: object) -> object:
    """The block without the line that waypost put under it: it is not the tool's word."""
    fields = block if type(block) is dict else fields_of(block)
    text = fields.get("text")
    if type(text) is not str or not signatures(text):
        return block
    return {"type": "text", "text": text[: max(0, text.rfind(SIGNPOST))].rstrip()}


def _with_meta(failure: Failure, result: Payload, content: list[object]) -> Failure:
    """Add what texts and ``_meta`` claim in waypost's name, and the draft of a tool failure."""
    meta = meta_of(result) or {}
    claim = meta[GUIDANCE_KEY] or False if GUIDANCE_KEY in meta else None
    failure = failure._replace(
        signed=sum(signatures(text) for _, text in _texts(content)), claim=claim
    )
    draft = mapping_of(meta.get(DRAFT_KEY))
    return _with_draft(failure, draft) if draft else failure


def _content_failure(structured: object, content: list[object], *, flagged: bool) -> Failure | None:
    mapping = mapping_of(structured)
    if mapping is not None:
        failure = _structured_failure(mapping, flagged, content)
        if failure is not None or not flagged:
            return failure
    return _flagged_content(content) if flagged else _unflagged_content(content)


def _structured_failure(mapping: Payload, flagged: bool, content: list[object]) -> Failure | None:
    if _RESULT_KEYS.issuperset(mapping) and (text := text_of(mapping.get("result"))) is not None:
        failure = json_failure(text)
        return None if failure is None else failure._replace(payload=mapping, origin=Origin.PROSE)
    inner = mapping_of(mapping.get("result")) if _RESULT_KEYS.issuperset(mapping) else None
    if inner is not None and marked(inner) and failed(inner):
        failure = read(inner, Origin.STRUCTURED)
        return failure._replace(payload=mapping, details=(mapping, *failure.details))
    if not mapping or not (flagged or (marked(mapping) and failed(mapping))):
        return None
    failure = read(mapping, Origin.STRUCTURED)
    if failure.message:
        return failure
    texts = [own_words(text) for _, text in _texts(content)]
    return failure._replace(message="\n".join(texts)[:4_096]) if texts else failure


_RESULT_KEYS = ADDED_KEYS | {"result"}
"""What the SDK wraps a text or a mapping in, and what waypost adds beside it."""


def _flagged_content(content: list[object]) -> Failure:
    """The flagged text that is JSON, since it says most; else all of them as one message."""
    first: Failure | None = None
    messages = []
    for block, text in _texts(content):
        failure = flagged_failure(text, block)
        if failure.origin is Origin.JSON_TEXT:
            return failure
        first = first or failure
        messages.append(failure.message)
    if first is None:
        return Failure({}, (), None, (), "", Origin.PROSE)
    message = "\n".join(messages)[:4_096]
    return first if message == first.message else first._replace(message=message)


def _unflagged_content(content: list[object]) -> Failure | None:
    for index, block in enumerate(content[:_TEXT_BLOCKS]):
        stored = block if type(block) is dict else fields_of(block)
        text = stored.get("text")
        if stored.get("type") == "error":
            return flagged_failure(text if type(text) is str else "", index)
        if type(text) is not str:
            continue
        if text[:1] in _JSON_BEGINS and (failure := json_failure(text)) is not None:
            return failure._replace(block=index)
    return None


_JSON_BEGINS = frozenset("{[ \t\r\n")


def _texts(content: list[object]) -> Iterator[tuple[int, str]]:
    """Yield index and text of up to four text blocks."""
    for index, block in enumerate(content[:_TEXT_BLOCKS]):
        text = (block if type(block) is dict else fields_of(block)).get("text")
        if type(text) is str:
            yield index, text


def _with_draft(failure: Failure, draft: Payload) -> Failure:
    """Let the draft of a tool failure speak for the tool, behind what the payload itself says."""
    said = read(draft)
    return failure._replace(
        code=failure.code or said.code,
        more_codes=(*failure.more_codes, *said.more_codes),
        details=(*failure.details, draft),
    )


def meta_of(result: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the ``_meta`` of an MCP result, by its name on the wire or on the object."""
    return mapping_of(result.get("_meta")) or mapping_of(result.get("meta"))
