"""What counts as a failure: DESIGN section 2, row by row, each shape beside its lookalikes."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, UserDict
from typing import Any

import pytest

import waypost
from tests.core.shapes import ENVELOPE_CODES, ENVELOPES, FAILURES, SUCCESSES


@pytest.mark.parametrize("payload", FAILURES.values(), ids=FAILURES.keys())
def test_shape_of_a_failure_is_recognized(payload: Any) -> None:
    """DESIGN section 2: each shape is a failure, and gets guidance."""
    assert waypost.error_code_of(payload) is not None
    assert waypost.guidance_of(payload) is not None
    assert waypost.enrich_result(payload) is not payload


@pytest.mark.parametrize("payload", SUCCESSES.values(), ids=SUCCESSES.keys())
def test_lookalike_comes_back_as_the_same_object(payload: Any) -> None:
    """DESIGN section 2, A4: the worst fault is to change a success."""
    assert waypost.enrich_result(payload) is payload
    assert waypost.error_code_of(payload) is None
    assert waypost.guidance_of(payload) is None


@pytest.mark.parametrize(
    "mapping",
    [UserDict(), UserDict(name="x"), UserDict({n: n for n in range(100)}), ChainMap({"ok": True})],
    ids=["empty", "no marker", "wide", "success"],
)
def test_success_of_a_foreign_mapping_comes_back_as_the_same_object(mapping: Any) -> None:
    """DESIGN section 2: a few look-ups tell."""
    assert waypost.enrich_result(mapping) is mapping
    assert waypost.guidance_of(mapping) is None


@pytest.mark.parametrize("kind", [dict, OrderedDict, UserDict])
def test_failure_is_recognized_whatever_the_size_of_its_mapping(kind: Any) -> None:
    """DESIGN section 2, cost of looking; A11: failures of very many keys."""
    wide = kind({**{f"row {at}": at for at in range(20_000)}, "error_code": "order_locked"})
    assert waypost.error_code_of(wide) == "order_locked"
    assert len(waypost.enrich_result(wide)) == 20_003


@pytest.mark.parametrize(("name", "code"), ENVELOPE_CODES.items())
def test_code_of_an_envelope_is_the_most_telling_one(name: str, code: str) -> None:
    """DESIGN section 2: ErrorInfo.reason before status, the inner name before the number."""
    assert waypost.error_code_of(ENVELOPES[name]) == code


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"code": "error", "message": "No.", "details": [{"code": "order_locked"}]}},
        {"error": {"code": "unknown", "innererror": {"code": "order_locked"}}},
        {"error": {"code": 1, "message": "No.", "data": {"code": "order_locked"}}},
        {"status": "error", "error_code": "tool_error", "details": {"error_code": "order_locked"}},
    ],
    ids=["details", "inner error", "data", "flat"],
)
def test_deepest_code_counts_when_the_outer_says_nothing(payload: Any) -> None:
    """DESIGN section 2, envelopes."""
    assert waypost.error_code_of(payload) == "order_locked"


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"success": False, "response_code": 125, "message": "Declined."}, "125"),
        (
            {"Success": False, "Errors": [{"Code": "INVALID_VALUE", "Message": "x"}]},
            "INVALID_VALUE",
        ),
        ({"error": {"name": "InvalidParameter", "message": "No date."}}, "InvalidParameter"),
        ({"error": {"name": "Order", "message": "No date."}}, "tool_error"),
        ({"ErrorNumber": 10, "Type": "ValidationException", "Message": "x"}, "ValidationException"),
        ({"status_code": 400, "type_name": "BadValueError", "detail": "x"}, "BadValueError"),
        ({"status": "timeout", "output": None, "error": "No answer."}, "timeout"),
        ({"status": "Rejected", "errormsg": "No funds", "errorcode": 101}, "101"),
        ({"exceptionCode": "InvalidSessionId", "exceptionMessage": "x"}, "InvalidSessionId"),
    ],
)
def test_code_is_found_under_the_names_that_programs_give_it(payload: Any, code: str) -> None:
    """Issue 4, item 1: spellings of keys, wrappers; names before numbers."""
    assert waypost.error_code_of(payload) == code
