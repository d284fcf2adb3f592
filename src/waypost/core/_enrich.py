"""Write guidance into a new payload: the result keeps its kind, its bytes and its own words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ._clean import MESSAGE_CHARS, clean_text
from ._enrich_mcp import Style, enrich_mcp
from ._guide import Guided
from ._json_text import with_members
from ._model import Failure, Origin
from ._recognize import fields_of, fields_set_of
from ._said import SAYING_KEYS

__all__ = ["Style", "enrich", "payload_of"]

_GUIDANCE_FIELDS = ("retryable", "next_action", "trace_id")
_DEFAULT_STYLE = Style()
_MAPPING = Origin.MAPPING  # a look-up in an enumeration costs 100 ns


def enrich(
    result: object,
    failure: Failure,
    guided: Guided,
    trace_id: str | None = None,
    *,
    sampled: bool = True,
    style: Style = _DEFAULT_STYLE,
) -> object:
    """Return *result* with guidance added, as a new object of the kind that the contract names."""
    additions = guided.additions if trace_id is None else {**guided.additions, "trace_id": trace_id}
    if failure.origin is _MAPPING:
        mapping = result if type(result) is dict else _as_dict(result, failure)
        return {**mapping, **_missing(mapping, additions)}
    if failure.origin is Origin.EXCEPTION:
        return _payload_in_words(failure, guided.error_code, additions)
    if isinstance(result, str):
        return with_members(str.__str__(result), additions)
    if type(result) is list:
        mapping = _as_dict(result[0], failure)
        return [{**mapping, **_missing(mapping, additions)}]
    return enrich_mcp(
        result, failure, guided, additions, trace_id=trace_id, sampled=sampled, style=style
    )


def payload_of(
    result: object, failure: Failure, guided: Guided, additions: Mapping[str, object]
) -> dict[str, object]:
    """Return the failure in *result* as a mapping with guidance, whatever kind *result* is of."""
    if failure.origin in (Origin.EXCEPTION, Origin.PROSE):
        return _payload_in_words(failure, guided.error_code, additions)
    mapping = failure.payload
    if failure.origin is Origin.MAPPING and type(result) is not dict:
        mapping = _as_dict(result, failure)
    return {**mapping, **_missing(mapping, additions)}


def _payload_in_words(
    failure: Failure, error_code: str, additions: Mapping[str, object]
) -> dict[str, object]:
    """Return a payload for a failure that is told in prose; what the tool set besides is kept."""
    payload: dict[str, object] = {
        "status": "error",
        "error_code": error_code,
        "message": clean_text(failure.message, MESSAGE_CHARS),
    }
    for mapping in failure.details:
        for key in sorted(SAYING_KEYS & mapping.keys()):
            if type(said := mapping[key]) in _SCALARS:
                payload.setdefault(key, said[:MESSAGE_CHARS] if isinstance(said, str) else said)
    return payload | _missing(payload, additions)


_SCALARS = frozenset((str, bool, int, float))


def _missing(mapping: Mapping[str, object], additions: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in additions.items() if key not in mapping}


def _as_dict(value: object, failure: Failure) -> Mapping[str, object]:
    """
    Return a failure that is no plain dictionary as one.

    Of models and dataclasses, a guidance field that was left at ``None`` was not set.
    """
    if isinstance(value, Mapping):
        return failure.payload
    dump = getattr(value, "model_dump", None)
    if dump is None:
        members = fields_of(value).items()
        dumped = {key: item.value if isinstance(item, Enum) else item for key, item in members}
    else:
        dumped = dump(mode="json")
        if type(dumped) is not dict:
            raise TypeError(f"model_dump returned a {type(dumped).__name__}")
    given = fields_set_of(value)
    for key in _GUIDANCE_FIELDS:
        if key in dumped and dumped[key] is None and key not in given:
            del dumped[key]
    return dumped
