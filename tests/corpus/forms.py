"""The rows of payloads.jsonl as a host meets them, and what their labels mean in our words."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
from mcp.types import CallToolResult

STEPS = {
    "wait": {"wait"},
    "reconnect": {"reconnect"},
    "prepare": {"reconnect", "choose_other_tool", "ask_user"},
    "sign_in": {"reauthenticate"},
    "ask_user": {"ask_user"},
    "check_effect": {"list_first"},
    "fix_arguments": {"fix_arguments"},
    "list_first": {"list_first"},
    "reduce_scope": {"reduce_scope"},
    "use_other_tool": {"choose_other_tool"},
    "ask_permission": {"check_permission"},
    "report": {"report"},
    "none": {"none", "report"},
}
"""Each step of ours, with the labels that it fits."""


def forms_of(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each form in which a host sees the payload."""
    payload = row["payload"]
    if row["kind"] == "exception_text":
        yield "exception", RuntimeError(payload)
    elif row["kind"] == "model":
        yield "model", _live(payload)
    else:
        yield "json", payload
        if row["kind"] == "call_tool_result":
            try:
                yield "object", CallToolResult.model_validate(payload)
            except pydantic.ValidationError:  # content that the SDK itself would refuse
                return


def _live(value: Any) -> Any:
    """The object that a row of kind `model` stands for."""
    if isinstance(value, list):
        return [_live(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__enum__" in value:
        member = {value["name"]: value["value"]}
        kind: Any = enum.StrEnum if isinstance(value["value"], str) else enum.IntEnum
        return kind(value["__enum__"], member)[value["name"]]
    fields = {key: _live(item) for key, item in value.items() if not key.startswith("__")}
    if "__dataclass__" in value:
        return dataclasses.make_dataclass(value["__dataclass__"], list(fields))(**fields)
    if value.get("__model__") == "CallToolResult":
        return CallToolResult.model_validate(fields)
    if value.get("__base__") == "CallToolResult":
        own = {key: item for key, item in fields.items() if key not in ("content", "isError")}
        return _model(value["__model__"], own, __base__=CallToolResult).model_validate(fields)
    if "__model__" in value:
        config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)
        return _model(value["__model__"], fields, __config__=config)(
            **fields, **value.get("__extra__", {})
        )
    return fields


def _model(name: str, fields: dict[str, Any], **options: Any) -> Any:
    make: Any = pydantic.create_model
    return make(name, **options, **dict.fromkeys(fields, (Any, ...)))
