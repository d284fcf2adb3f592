"""Mappings, lists, models, dataclasses, exceptions: a result keeps its kind (DESIGN section 2)."""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, UserDict
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict, computed_field, field_serializer

import waypost

GONE = "Do not repeat this call. List what exists, then call again with one of those."
FAILED = {"status": "error", "error_code": "not_found", "message": "No such order."}
ENRICHED = {**FAILED, "retryable": False, "next_action": GONE}


class Code(Enum):
    GONE = "not_found"


class Status(IntEnum):
    GONE = 404


class Model(BaseModel):
    status: str = "error"
    error_code: str = "not_found"
    message: str = "No such order."
    retryable: bool | None = None
    next_action: str | None = None
    trace_id: str | None = None


class Typed(BaseModel):
    """Fields that have no plain JSON form, and things that cost to read."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    error_code: Code = Code.GONE
    found: frozenset[str] = frozenset({"a"})

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def computed(self) -> str:
        return "computed"

    @field_serializer("found")
    def _sorted(self, found: frozenset[str]) -> list[str]:
        return sorted(found)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


@dataclasses.dataclass
class Plain:
    error_code: str = "not_found"
    retryable: bool | None = None
    next_action: str | None = None
    trace_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    error_code: Code = Code.GONE
    details: tuple[int, ...] = (1, 2)


@pytest.mark.parametrize(
    "mapping",
    [
        dict(FAILED),
        OrderedDict(FAILED),
        MappingProxyType(FAILED),
        UserDict(FAILED),
    ],
    ids=lambda mapping: type(mapping).__name__,
)
def test_mapping_comes_back_as_a_new_mapping(mapping: Any) -> None:
    """DESIGN sections 1 and 2: a shallow copy, keys on its top level, the argument as it was."""
    before = dict(mapping)
    enriched = waypost.enrich_result(mapping)
    assert (type(enriched), enriched) == (dict, ENRICHED)
    assert list(enriched) == [*FAILED, "retryable", "next_action"]
    assert dict(mapping) == before


def test_copy_is_shallow() -> None:
    """DESIGN section 1: enrich_result copies a mapping first (shallow)."""
    payload = {"error": {"code": "not_found", "message": "No."}, "context": [object()]}
    enriched = waypost.enrich_result(payload)
    assert enriched == {**payload, "retryable": False, "next_action": GONE}
    assert enriched["error"] is payload["error"]
    assert enriched["context"] is payload["context"]


@pytest.mark.parametrize(
    "element", [FAILED, OrderedDict(FAILED), Model()], ids=["dict", "odd", "model"]
)
def test_list_of_one_failure_comes_back_as_a_list(element: Any) -> None:
    """DESIGN section 2: its single failing element enriched."""
    result = [element]
    enriched = waypost.enrich_result(result)
    assert len(enriched) == 1
    assert {key: enriched[0][key] for key in ENRICHED} == ENRICHED
    assert result[0] is element


@pytest.mark.parametrize(
    "result", [[], [FAILED, FAILED], [[FAILED]], ["x"], (FAILED,), [None], [{"a": 1}]], ids=str
)
def test_other_lists_come_back_untouched(result: Any) -> None:
    """DESIGN section 2: rows that talk about errors are no failure."""
    assert waypost.enrich_result(result) is result


@pytest.mark.parametrize(
    ("model", "enriched"),
    [
        pytest.param(Model(), ENRICHED, id="left at its defaults"),
        pytest.param(Model(retryable=True), {**FAILED, "retryable": True}, id="set to a value"),
        pytest.param(
            Model(retryable=None, next_action=None),
            {**FAILED, "retryable": None, "next_action": None},
            id="set to None",
        ),
        pytest.param(
            Model(next_action="Ask Ann."),
            {**FAILED, "retryable": False, "next_action": "Ask Ann."},
            id="sentence set",
        ),
    ],
)
def test_field_left_at_none_was_not_set(model: Model, enriched: dict[str, Any]) -> None:
    """DESIGN section 1: model_fields_set decides; a trace id is treated alike."""
    result = waypost.enrich_result(model)
    assert {key: result[key] for key in enriched} == enriched
    assert "trace_id" not in result
    assert waypost.enrich_result(model, trace_id="t1")["trace_id"] == "t1"
    assert waypost.enrich_result(Model(trace_id=None), trace_id="t1")["trace_id"] is None
    assert waypost.enrich_result(Model(trace_id="own"), trace_id="t1")["trace_id"] == "own"


def test_word_of_a_model_counts_as_that_of_a_mapping() -> None:
    """DESIGN section 1: the sentence agrees with what the tool set."""
    assert waypost.enrich_result(Model(retryable=True))["next_action"] == (
        "The tool says that the same call can succeed. Wait a few seconds, then make it once more."
    )


@pytest.mark.parametrize(
    ("instance", "enriched"),
    [
        pytest.param(
            Plain(),
            {"error_code": "not_found", "retryable": False, "next_action": GONE},
            id="plain",
        ),
        pytest.param(
            Plain(retryable=False, next_action="Ask Ann."),
            {"error_code": "not_found", "retryable": False, "next_action": "Ask Ann."},
            id="set",
        ),
        pytest.param(
            Slotted(),
            {
                "error_code": "not_found",
                "details": (1, 2),
                "retryable": False,
                "next_action": GONE,
            },
            id="slots",
        ),
    ],
)
def test_dataclass_comes_back_as_a_mapping(instance: Any, enriched: dict[str, Any]) -> None:
    """DESIGN sections 1 and 2: fields as stored; a None default was not set."""
    before = copy.copy(instance)
    assert waypost.enrich_result(instance) == enriched
    assert instance == before


def test_model_is_dumped_in_json_mode() -> None:
    """DESIGN section 2: model_dump(mode="json"), its serializers and computed fields included."""
    assert waypost.enrich_result(Typed()) == {
        "error_code": "not_found",
        "found": ["a"],
        "computed": "computed",
        "retryable": False,
        "next_action": GONE,
    }


def test_success_runs_no_code_of_the_model() -> None:
    """DESIGN section 2, A11: read by attribute, dumped only after it was recognized."""
    ran = []

    class Success(BaseModel):
        error: str | None = None

        @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
        @property
        def total(self) -> int:
            ran.append("total")
            return 1

    success = Success()
    assert waypost.enrich_result(success) is success
    assert waypost.guidance_of(success) is None
    assert ran == []


def test_extra_fields_of_a_model_count() -> None:
    """DESIGN section 2: its fields have one of the shapes."""
    assert waypost.enrich_result(Open.model_validate(FAILED)) == ENRICHED
    harmless = Open.model_validate({"name": "x"})
    assert waypost.enrich_result(harmless) is harmless


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"error_code": Code.GONE}, id="enum in a mapping"),
        pytest.param({"error": {"code": Status.GONE, "message": "No."}}, id="int enum"),
        pytest.param(Slotted(), id="enum in a dataclass"),
        pytest.param({"error": Model()}, id="model inside"),
        pytest.param({"error": Plain()}, id="dataclass inside"),
        pytest.param({"error": MappingProxyType({"code": "not_found"})}, id="mapping"),
    ],
)
def test_failure_may_hold_objects(value: Any) -> None:
    """DESIGN section 1: enum values become text; section 2: read as stored."""
    guidance = waypost.guidance_of(value)
    assert guidance is not None
    assert guidance.error_code in ("not_found", "404")
    assert guidance.error_class is waypost.ErrorClass.NOT_FOUND


def test_exception_comes_back_as_the_failure_mapping() -> None:
    """DESIGN section 2: {"status", "error_code", "message"}, cleaned and capped."""
    nasty = "order 7:\n\x1b[31mno such \u202eorder\ud800"
    exception = FileNotFoundError(nasty + "x" * 5_000)
    assert waypost.enrich_result(exception, trace_id="t1") == {
        "status": "error",
        "error_code": "FileNotFoundError",
        "message": "order 7: [31mno such order" + "x" * (4_096 - len(nasty)),
        "retryable": False,
        "next_action": GONE,
        "trace_id": "t1",
    }


def test_exception_that_says_nothing_is_a_tool_error() -> None:
    """DESIGN section 1: a failure without a code answers "tool_error"."""
    assert waypost.enrich_result(RuntimeError()) == {
        "status": "error",
        "error_code": "tool_error",
        "message": "",
        "retryable": False,
    }


def test_exception_whose_data_answers_keeps_that_answer() -> None:
    """DESIGN sections 1 and 2: MCPError's data is the tool's word; the copy agrees with it."""
    data = {"retryable": False, "next_action": "Ask Ann."}
    enriched = waypost.enrich_result(MCPError(-32000, "rate limit exceeded", data))
    assert enriched["retryable"] is False
    assert enriched.get("next_action", "Ask Ann.") == "Ask Ann."
