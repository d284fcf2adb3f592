"""Recognize a failure in whatever a tool returned: ``result -> Failure | None``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from .._clean import ERROR_TYPE_CHARS, clean_text
from .._model import Failure, Origin
from ._evidence import marked
from ._exceptions import exception_failure, text_of_exception
from ._mcp import GUIDANCE_KEY, meta_of, result_failure, unfinished
from ._read import read
from ._scalars import (
    code_of,
    fields_of,
    fields_set_of,
    first_of,
    mapping_of,
    set_fields_of,
    text_of,
)
from ._text import SIGNPOST, json_failure, without_prefix
from ._verdict import failed, failed_alone
from ._words import (
    ADVICE_ALIASES,
    COMMON_MARKERS,
    FEW_KEYS,
    MARKERS,
    RETRYABLE_ALIASES,
    RETRYABLE_INVERSE,
)

__all__ = [
    "ADVICE_ALIASES",
    "GUIDANCE_KEY",
    "RETRYABLE_ALIASES",
    "RETRYABLE_INVERSE",
    "SIGNPOST",
    "code_of",
    "error_type_of",
    "fields_of",
    "fields_set_of",
    "mapping_of",
    "meta_of",
    "recognize",
    "text_of",
    "text_of_exception",
    "unfinished",
    "without_prefix",
]


def recognize(result: object) -> Failure | None:
    """
    Return the failure in *result*, or ``None`` for a success.

    Costs a fixed number of look-ups, whatever the size of *result*. Hostile objects may raise out
    of here: the two faces, ``guidance`` and ``pipeline``, contain it.
    """
    if type(result) is dict:
        if not marked(result):
            return None
        if type(result.get("content")) is list and is_mcp_json(result):
            return result_failure(result)
        return read(result) if failed(result) else None
    return _family(type(result))(result)  # type: ignore[arg-type]  # classes are hashable


def is_mcp_json(result: Mapping[str, object]) -> bool:
    """Whether a mapping with a list ``content`` is an MCP result, not one that has contents."""
    if (
        "isError" in result
        or "is_error" in result
        or "structuredContent" in result
        or "structured_content" in result
    ):
        return True
    if "role" in result or "model" in result:
        return False  # a message of a language model
    block = first_of(result["content"])
    return (
        type(block) is dict
        and type(block.get("type")) is str
        and ("text" in block or "data" in block)
    )


@lru_cache(maxsize=512)
def _family(kind: type) -> Callable[[Any], Failure | None]:
    """How results of one class are read. Kept per class, so that a success costs one look-up."""
    if issubclass(kind, Exception):
        return _exception
    if issubclass(kind, str):
        return _text
    if issubclass(kind, list):
        return _list
    if issubclass(kind, Mapping):
        return _foreign_mapping
    names = getattr(kind, "__pydantic_fields__", getattr(kind, "__dataclass_fields__", None))
    if names is not None:
        if "content" in names and ("is_error" in names or "isError" in names):
            return _mcp_object
        return _fields if _may_fail(kind, names) else _no_failure
    return _no_failure if kind.__module__ == "builtins" else _plain_object


def _may_fail(kind: type, names: Mapping[str, object]) -> bool:
    """Whether a class can hold a failure: it has a marker field, or takes extra fields."""
    config = getattr(kind, "model_config", None)
    return not names.keys().isdisjoint(MARKERS) or (
        type(config) is dict and config.get("extra") == "allow"
    )


def _no_failure(_: object) -> None:
    return None


def _text(result: object) -> Failure | None:
    return json_failure(text_of(result) or "")


def _list(result: object) -> Failure | None:
    if type(result) is not list or len(result) != 1:
        return None
    mapping = mapping_of(result[0])
    return read(mapping, Origin.LIST) if mapping and failed_alone(mapping) else None


def _foreign_mapping(result: Mapping[str, object]) -> Failure | None:
    """
    Mapping and dict subclasses: a few look-ups tell successes.

    Only then entries are read: of a dict what it stores, of anything else what it hands out, as
    long as that is no more than it says, and at most 100,000.
    """
    markers = MARKERS if len(result) <= FEW_KEYS else COMMON_MARKERS
    if not any(key in result for key in markers):
        return None
    if isinstance(result, dict):
        return recognize(dict(dict.items(result)))
    entries = min(len(result), _FOREIGN_ENTRIES)
    payload = dict(islice(result.items(), entries + 1))
    return recognize(payload) if len(payload) <= entries else None


_FOREIGN_ENTRIES = 100_000


def _exception(result: object) -> Failure | None:
    return exception_failure(result) if isinstance(result, Exception) else None


def _mcp_object(result: object) -> Failure | None:
    fields = fields_of(result)
    return result_failure(fields) if type(fields.get("content")) is list else _fields(result)


def _fields(result: object) -> Failure | None:
    fields = fields_of(result)
    return read(set_fields_of(result)) if marked(fields) and failed(fields) else None


def _plain_object(result: object) -> Failure | None:
    """Objects that are MCP results by their attributes; anything else is none of ours."""
    stored = getattr(result, "__dict__", None)
    if (
        type(stored) is dict
        and type(stored.get("content")) is list
        and ("is_error" in stored or "isError" in stored)
    ):
        return result_failure(stored)
    return None


_MAPPING = Origin.MAPPING  # a look-up in an enumeration costs 100 ns


def error_type_of(result: object, failure: Failure) -> str | None:
    """
    Return OpenTelemetry's ``error.type`` for a failure, or ``None`` for one that is told in band.

    The JSON-RPC code of a protocol error, the qualified name of another exception, ``"tool_error"``
    for a result that the protocol flags.
    """
    if isinstance(result, BaseException):
        error = mapping_of(getattr(result, "error", None))
        if error is not None and type(error.get("code")) is int:
            return code_of(error["code"])
        kind = type(result)
        name = kind.__qualname__
        if kind.__module__ != "builtins":
            name = f"{kind.__module__}.{name}"
        return clean_text(name, ERROR_TYPE_CHARS)
    if failure.origin is _MAPPING or isinstance(result, (str, list)):
        return None
    fields = result if type(result) is dict else fields_of(result)
    return "tool_error" if fields.get("isError") is True or fields.get("is_error") is True else None
