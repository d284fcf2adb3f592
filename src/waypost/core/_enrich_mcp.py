"""Write guidance into MCP results: ``_meta``, structured content, the text that a model reads."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Literal, NamedTuple, cast

from ._clean import PARSED_CHARS, clean_code
from ._guide import Guided
from ._json_text import with_members
from ._model import Failure, Source
from ._recognize import GUIDANCE_KEY, SIGNPOST, fields_of, meta_of

_LINE_CHARS = 400
_IDS = frozenset(("trace_id",))
"""What is added that is no guidance."""
_TEXT_BLOCKS = 4


class Style(NamedTuple):
    """
    How guidance is written into MCP results.

    Attributes:
        text: ``append`` to the first text block, add a ``block`` of its own, or ``never``.

        text_trace: Whether the line names the trace.

        structured: Whether structured content may get new keys.
    """

    text: Literal["append", "block", "never"] = "append"
    text_trace: bool = True
    structured: bool = True


def enrich_mcp(
    result: object,
    failure: Failure,
    guided: Guided,
    additions: Mapping[str, object],
    *,
    trace_id: str | None,
    sampled: bool,
    style: Style,
) -> object:
    """Return *result*, an MCP result as object or JSON, as a new one of the same class."""
    fields = result if type(result) is dict else fields_of(result)
    meta = meta_of(fields) or {}
    if GUIDANCE_KEY in meta and not guided.stop:
        return result
    updates: dict[str, object] = {}
    if GUIDANCE_KEY not in meta or not guided.spoofed:  # what was forged is left for all to see
        guidance = _for_meta(guided, trace_id, sampled=sampled)
        name = "_meta" if type(result) is dict else "meta"
        updates[name] = {**meta, GUIDANCE_KEY: guidance}
    name = "structuredContent" if "structuredContent" in fields else "structured_content"
    structured = fields.get(name)
    if type(structured) is dict and style.structured:
        updates[name] = {**additions, **structured}
    if style.text != "never":
        bound = structured if type(structured) is dict and not style.structured else None
        line = signpost(guided, trace_id if style.text_trace else None)
        blocks: list[object] = list(cast("list[object]", fields["content"]))
        # JSON says it all, unless it may not change, or repeats do not help: that neither the tool
        # nor another waypost could know.
        unsaid = bound is not None and not additions.keys() <= _IDS | bound.keys()
        beside = unsaid or guided.aside is not None or GUIDANCE_KEY in meta
        append = style.text == "append"
        members = additions if bound is None else None
        if _write_text(result, blocks, failure.block, members, line, append=append, beside=beside):
            updates["content"] = blocks
    return rebuilt(result, updates)


def _for_meta(guided: Guided, trace_id: str | None, *, sampled: bool) -> dict[str, object]:
    """Return the guidance as JSON members; what is not known is left out."""
    members: dict[str, object] = {
        "error_class": guided.advice.error_class.value,
        "error_code": clean_code(guided.error_code),
        "retryable": guided.retryable,
        "next_action": _own_action(guided),
        "next_step": guided.step.value,
        "actor": guided.actor.value,
        "may_repeat": guided.may_repeat,
        "retry_after_seconds": guided.delay,
        "rule": guided.advice.rule,
        "trace_id": trace_id,
        "sampled": False if trace_id and not sampled else None,
    }
    return {key: value for key, value in members.items() if value is not None}


def _own_action(guided: Guided) -> str | None:
    """What waypost itself says is next: also beside what the tool says."""
    if guided.next_action_source is Source.WAYPOST:
        return guided.next_action
    return guided.aside


def signpost(guided: Guided, trace_id: str | None) -> str:
    """Return the one line that a model reads under a text; at most 400 characters."""
    line = f"{SIGNPOST} retryable: {'true' if guided.retryable else 'false'}."
    if (action := _own_action(guided)) is not None:
        line += f" Next action: {action}"
    tail = f" (trace {trace_id})"[: _LINE_CHARS // 4] if trace_id else ""
    return line[: _LINE_CHARS - len(tail)] + tail


def _write_text(
    result: object,
    blocks: list[object],
    block: int,
    members: Mapping[str, object] | None,
    line: str,
    *,
    append: bool,
    beside: bool,
) -> bool:
    """
    Put *members* into the JSON text of *blocks*, else *line* under the first text.

    Args:
        block: Where the failure was read; the first text if that is none.

        members: ``None`` if structured content may not change, hence its JSON twin neither.

        append: Whether the line may stand in a block of the tool's.

        beside: Whether the line says what JSON does not.

    Returns:
        Whether *blocks* changed: not where JSON says it all, or no text block can be made.
    """
    looked_at = enumerate(blocks[:_TEXT_BLOCKS])
    texts = {index: text for index, item in looked_at if (text := _text_of(item)) is not None}
    index = block if block in texts else next(iter(texts), None)
    if index is not None:
        text = texts[index]
        with_json = with_members(text, members or {})
        if with_json is not None:
            if members is not None:
                blocks[index] = rebuilt(blocks[index], {"text": with_json})
            if not beside:
                return members is not None
        elif append and len(text) <= PARSED_CHARS:
            text = f"{text}\n\n{line}" if text else line
            blocks[index] = rebuilt(blocks[index], {"text": text})
            return True
    made = _text_block(result, blocks, index, line)
    if made is None:
        return False
    blocks.append(made)
    return True


def _text_of(block: object) -> str | None:
    text = (block if type(block) is dict else fields_of(block)).get("text")
    return text if type(text) is str else None


def _text_block(
    result: object, blocks: list[object], sample: int | None, text: str
) -> object | None:
    """Return a text block of the framework's own class; ``None`` if none can be had."""
    if type(result) is dict:
        return {"type": "text", "text": text}
    if sample is not None:
        plain = dict.fromkeys({"annotations", "meta"} & fields_of(blocks[sample]).keys())
        return rebuilt(blocks[sample], {**plain, "text": text})
    validate = getattr(type(result), "model_validate", None)
    if validate is None:
        return None
    made: list[object] = validate({"content": [{"type": "text", "text": text}]}).content
    return made[0]


def rebuilt(value: object, updates: Mapping[str, object]) -> object:
    """Return a copy of *value*, of the same class, with some members replaced."""
    if type(value) is dict:
        return {**value, **updates}
    model_copy = getattr(value, "model_copy", None)
    if model_copy is not None:
        copied: object = model_copy(update=dict(updates))
        return copied
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **updates)
    twin = copy.copy(value)
    vars(twin).update(updates)
    return twin
