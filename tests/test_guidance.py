"""The contract that may not move: DESIGN section 1, sentence by sentence."""

from __future__ import annotations

import copy
import inspect
import sys
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pydantic
import pytest

import waypost
from waypost import Enricher, Source, guidance
from waypost.guidance import enrich_result, guidance_of

WAIT = "Wait a few seconds, then make the same call."
GONE = "Do not repeat this call. List what exists, then call again with one of those."
SIGN_IN = "Sign in again, or ask the user to, then make the same call."
LIMITED = {"status": "error", "error_code": "rate_limited", "message": "Slow down."}
ABSENT = object()
ODD_VALUES = [None, False, True, "", "no", 0, 1, 1.5, [], ["x"], {}, {"a": None}]


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("error_guidance", "(error_code: 'str', message: 'str' = '') -> 'tuple[bool, str | None]'"),
        ("error_code_of", "(payload: 'Any') -> 'str | None'"),
        ("enrich_error_payload", "(payload: 'dict[str, Any]') -> 'bool'"),
        ("enrich_result", "(result: 'Any', *, trace_id: 'str | None' = None) -> 'Any'"),
        (
            "guidance_of",
            "(result: 'Any', *, side_effects: 'bool | None' = None) -> 'Guidance | None'",
        ),
    ],
)
def test_functions_have_the_signatures_of_the_contract(name: str, signature: str) -> None:
    """DESIGN section 1; `waypost` exports them too."""
    function = getattr(guidance, name)
    assert str(inspect.signature(function)) == signature
    assert getattr(waypost, name) is function


class Refusal(pydantic.BaseModel):
    status: str = "error"
    error_code: str = "rate_limited"
    message: str = "Slow down."


@pytest.mark.parametrize(
    ("result", "enriched"),
    [
        pytest.param(LIMITED, {**LIMITED, "retryable": True, "next_action": WAIT}, id="status"),
        pytest.param(
            {"ok": False, "error": "rate_limited"},
            {"ok": False, "error": "rate_limited", "retryable": True, "next_action": WAIT},
            id="ok",
        ),
        pytest.param(Refusal(), {**LIMITED, "retryable": True, "next_action": WAIT}, id="model"),
    ],
)
def test_failure_of_each_form_gets_guidance(result: Any, enriched: dict[str, Any]) -> None:
    """DESIGN section 1: the three ways in which a tool reports failure."""
    before = copy.deepcopy(result)
    assert waypost.enrich_result(result) == enriched
    assert waypost.error_code_of(result) == "rate_limited"
    assert result == before


@pytest.mark.parametrize(
    "success", [{"status": "ok"}, {"ok": True, "data": [1]}, {}, None, "text", [1], 3], ids=str
)
def test_success_comes_back_as_the_same_object(success: Any) -> None:
    """DESIGN section 1: unchanged, whatever else is asked for."""
    assert waypost.enrich_result(success) is success
    assert waypost.enrich_result(success, trace_id="t1") is success
    assert waypost.error_code_of(success) is None
    assert waypost.guidance_of(success) is None
    assert waypost.enrich_error_payload(success) is False


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        pytest.param("rate_limited", "", (True, WAIT), id="wait"),
        pytest.param("RATE-LIMITED", "", (True, WAIT), id="spelling"),
        pytest.param("not_found", "", (False, GONE), id="list"),
        pytest.param("zorp_blarg", "", (False, None), id="unknown"),
        pytest.param("", "", (False, None), id="empty"),
        pytest.param("gizmo_not_found", "", (False, GONE), id="new name"),
        pytest.param("not_found", "Token has expired", (True, SIGN_IN), id="sign-in"),
        pytest.param("not_found", "rate limit exceeded", (False, GONE), id="code outranks"),
        pytest.param("zorp_blarg", "rate limit exceeded", (True, WAIT), id="no rule matches"),
        pytest.param("tool_error", "rate limit exceeded", (True, WAIT), id="tool_error"),
        pytest.param("error", "rate limit exceeded", (True, WAIT), id="error"),
        pytest.param("-32000", "rate limit exceeded", (True, WAIT), id="-32000"),
        pytest.param("UNKNOWN", "rate limit exceeded", (True, WAIT), id="UNKNOWN"),
        pytest.param(
            "RATE_LIMITED",
            "Try again in 20s",
            (True, "Wait 20 s, then make the same call."),
            id="delay",
        ),
        pytest.param("x" * 129 + "_not_found", "", (False, None), id="past 128 characters"),
        pytest.param("x", " " * 4_096 + "rate limit exceeded", (False, None), id="past 4 KiB"),
    ],
)
def test_error_guidance_answers_for_a_code_and_a_message(
    code: str, message: str, expected: tuple[bool, str | None]
) -> None:
    """DESIGN section 1: name patterns, sign-ins in messages, vague codes refined."""
    assert waypost.error_guidance(code, message) == expected


class Unnamed:
    """Shows itself as objects do; the address has the word "bad" and the number 429 in it."""

    def __repr__(self) -> str:
        return "<Unnamed at 0x7fbc429bad240>"


@pytest.mark.parametrize("code", [429, None, b"x", Unnamed(), 1.5, ["x"]], ids=repr)
def test_error_guidance_takes_whatever_comes(code: Any) -> None:
    """A1: these functions never raise; a number is its digits."""
    retryable, action = waypost.error_guidance(code, code)
    assert (retryable, action) == ((True, WAIT) if code == 429 else (False, None))


def test_guidance_of_answers_while_the_interpreter_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A1: nothing can be imported any more then, and a failure stays one."""
    monkeypatch.setitem(sys.modules, "random", None)
    guidance = waypost.guidance_of(LIMITED)
    assert guidance is not None
    assert guidance.wait_seconds == 2


def test_unknown_code_says_not_retryable_and_names_no_step() -> None:
    """DESIGN section 1: retryable False is added and next_action is omitted."""
    payload = {"status": "error", "error_code": "zorp_blarg"}
    assert waypost.enrich_result(payload) == {**payload, "retryable": False}


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
@pytest.mark.parametrize("nested", [False, True], ids=["top", "nested"])
def test_value_that_the_tool_set_is_never_overwritten(value: Any, nested: bool) -> None:
    """DESIGN section 1: whatever its type, False and None included, also nested."""
    said = {"retryable": value, "next_action": value, "trace_id": value}
    payload = (
        {"error": {"code": "rate_limited", "message": "Slow down.", **said}}
        if nested
        else {**LIMITED, **said}
    )
    before = copy.deepcopy(payload)
    enriched = waypost.enrich_result(payload, trace_id="t1")
    assert payload == before
    assert {key: enriched[key] for key in payload} == payload
    assert "next_action" not in enriched.keys() - payload.keys()
    assert enriched.get("retryable", value) is value
    found = waypost.guidance_of(payload)
    assert found is not None
    assert (found.retryable, found.retryable_source) == (value is True, "tool")
    assert found.next_action == (value if isinstance(value, str) else None)
    assert found.next_action_source == "tool"
    assert found.may_repeat is (value is True)


@pytest.mark.parametrize("value", [True, False, None, "yes", 1], ids=repr)
@pytest.mark.parametrize(
    "alias",
    ["isRetryable", "is_retryable", "retriable", "can_retry", "should_retry", "is_transient"],
)
def test_boolean_under_another_name_is_copied(alias: str, value: Any) -> None:
    """DESIGN section 1: a boolean; anything else under that name is no answer."""
    enriched = waypost.enrich_result({**LIMITED, alias: value})
    assert enriched["retryable"] is (value is not False)
    assert enriched[alias] is value
    inner = {"error": {"code": "rate_limited", "message": "Slow down.", alias: value}}
    assert waypost.enrich_result(inner)["retryable"] is (value is not False)


@pytest.mark.parametrize(("value", "copied"), [(True, False), (False, True), ("no", True)])
def test_inverse_name_is_copied_inverted(value: Any, copied: bool) -> None:
    """DESIGN section 1: the inverse non_retryable."""
    enriched = waypost.enrich_result({**LIMITED, "non_retryable": value})
    assert enriched["retryable"] is copied
    assert enriched["non_retryable"] is value


def test_retryable_itself_outranks_its_aliases() -> None:
    """DESIGN section 1: in a mapping the key decides."""
    payload = {**LIMITED, "isRetryable": True, "retryable": None}
    assert waypost.enrich_result(payload)["retryable"] is None


@pytest.mark.parametrize(
    "alias",
    [
        "hint",
        "suggestion",
        "suggested_action",
        "recovery_suggestion",
        "remediation",
        "what_you_should_do",
        "next_steps",
        "guidance",
        "retry_advice",
    ],
)
def test_advice_under_another_name_keeps_ours_away(alias: str) -> None:
    """DESIGN section 1: a non-empty text; never a contradicting twin."""
    payload = {**LIMITED, alias: "Use the other region."}
    assert waypost.enrich_result(payload) == {**payload, "retryable": True}
    inner = {"error": {"code": "rate_limited", "message": "", alias: "Use the other region."}}
    assert waypost.enrich_result(inner) == {**inner, "retryable": True}
    empties: list[Any] = ["", "  ", None, 3, [], {}]
    for empty in empties:
        assert waypost.enrich_result({**LIMITED, alias: empty})["next_action"] == WAIT


class Text(StrEnum):
    CODE = "order_locked"


class Mixed(str, Enum):  # noqa: UP042 -- tools have both kinds
    CODE = "order_locked"


class Bare(Enum):
    CODE = "order_locked"
    NUMBER = 1205


class Number(IntEnum):
    CODE = 1205


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("order_locked", "order_locked"),
        ("ORA-12154", "ORA-12154"),
        ("org.example/Order.Locked:2", "org.example/Order.Locked:2"),
        (" order_locked ", "order_locked"),
        (1205, "1205"),
        (-32000, "-32000"),
        (Text.CODE, "order_locked"),
        (Mixed.CODE, "order_locked"),
        (Bare.CODE, "order_locked"),
        (Bare.NUMBER, "1205"),
        (Number.CODE, "1205"),
        ("x" * 128, "x" * 128),
        ("x" * 129, "tool_error"),
        pytest.param(10**6_000, "tool_error", id="huge"),
        (True, "tool_error"),
        (False, "tool_error"),
        (None, "tool_error"),
        (1.5, "tool_error"),
        ("", "tool_error"),
        ("The order is locked.", "tool_error"),
        ("order\nlocked", "tool_error"),
        ("---", "tool_error"),
        ("https://a.example/b", "tool_error"),
        (["order_locked"], "tool_error"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_code_is_one_token_of_at_most_128_characters(value: Any, code: str) -> None:
    """DESIGN section 1: str, int and enum values become text; bool never; else "tool_error"."""
    assert waypost.error_code_of({"status": "error", "error_code": value, "message": "No."}) == code


def test_sentence_under_error_is_a_message() -> None:
    """DESIGN section 1: and its failure has no code."""
    payload = {"error": "Rate limit exceeded, try again in 3 seconds."}
    assert waypost.error_code_of(payload) == "tool_error"
    assert waypost.enrich_result(payload) == {
        **payload,
        "retryable": True,
        "next_action": "Wait 3 s, then make the same call.",
    }


def test_enrich_error_payload_changes_its_argument_in_place() -> None:
    """DESIGN section 1: and says whether it changed; twice equals once."""
    payload = dict(LIMITED)
    assert waypost.enrich_error_payload(payload) is True
    assert payload == {**LIMITED, "retryable": True, "next_action": WAIT}
    assert list(payload) == [*LIMITED, "retryable", "next_action"]
    assert waypost.enrich_error_payload(payload) is False
    assert payload == {**LIMITED, "retryable": True, "next_action": WAIT}


@pytest.mark.parametrize(
    "payload",
    [{"status": "ok"}, {**LIMITED, "retryable": None, "next_action": None}, [LIMITED], "x", None],
    ids=repr,
)
def test_enrich_error_payload_leaves_the_rest_alone(payload: Any) -> None:
    """DESIGN section 1: nothing to add, or nothing to add it to."""
    before = copy.deepcopy(payload)
    assert waypost.enrich_error_payload(payload) is False
    assert payload == before


@pytest.mark.parametrize("trace_id", ["0af7651916cd43dd8448eb211c80319c", "any text", ""], ids=repr)
def test_trace_id_is_added_as_given(trace_id: str) -> None:
    """DESIGN section 1: to failures, unless the tool set one, None included."""
    enriched = waypost.enrich_result(LIMITED, trace_id=trace_id)
    assert enriched == {**LIMITED, "retryable": True, "next_action": WAIT, "trace_id": trace_id}
    assert list(enriched)[-1] == "trace_id"
    own = {**LIMITED, "trace_id": None}
    assert waypost.enrich_result(own, trace_id=trace_id)["trace_id"] is None
    assert "trace_id" not in waypost.enrich_result(LIMITED)


def test_guidance_has_no_other_attribute() -> None:
    """STYLE rule 12: a small front door."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        guidance.Nothing  # noqa: B018 -- asking is the test


ENRICHED_ONCE = [
    {"ok": False, "error": "rate_limited"},
    {"error_code": "order_not_found", "message": "No."},
    {"error_code": "RATE_LIMITED", "message": "No.", "retry_after": 20},
    {"status": "error", "error_code": "timeout", "message": "No."},
    {"status": "error", "error_code": "X", "input_request": {"argument": "size", "options": ["a"]}},
]


@pytest.mark.parametrize("payload", ENRICHED_ONCE, ids=lambda payload: str(payload)[:40])
def test_guidance_of_an_enriched_failure_is_that_of_the_failure(payload: dict[str, Any]) -> None:
    """Bug: waypost's own words were taken for the tool's, and led to other steps."""
    assert guidance_of(enrich_result(payload)) == guidance_of(payload)


@pytest.mark.parametrize("later", [None, True, False])
@pytest.mark.parametrize("earlier", [None, True, False])
def test_guidance_that_was_written_with_other_knowledge_is_known_again(
    earlier: bool | None, later: bool | None
) -> None:
    """Bug: after a write with an unknown outcome the step became ``report``."""
    failed = {"status": "error", "error_code": "timeout", "message": "No answer."}
    with Enricher(()).call("charge", side_effects=earlier) as call:
        enriched = call.enrich(failed)
    assert call.guidance is not None
    guidance = guidance_of(enriched, side_effects=later)
    assert guidance is not None
    assert (guidance.next_step, guidance.next_action) == (
        call.guidance.next_step,
        call.guidance.next_action,
    )
    # Of a tool that writes, only the check counts as waypost's word.
    laxer = later is True and earlier is not True
    source = Source.TOOL if laxer else Source.WAYPOST
    assert (guidance.retryable_source, guidance.disagreement) == (source, False)
    assert guidance.may_repeat is (earlier is False and later is False)


def test_own_words_of_a_tool_stay_its_own() -> None:
    """RELIABILITY A45: only what waypost would say word for word counts as waypost's."""
    said = {"error_code": "order_not_found", "retryable": False, "next_action": "Call Ann."}
    guidance = guidance_of(said)
    assert guidance is not None
    assert (guidance.retryable_source, guidance.next_action_source) == (Source.TOOL, Source.TOOL)


def test_message_of_a_class_of_its_own_is_read() -> None:
    """Bug: a message that is a subclass of ``str``, as template engines make, was dropped."""

    class Markup(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise RuntimeError("not asked")

    assert waypost.error_guidance("x", Markup("token expired")) == waypost.error_guidance(
        "x", "token expired"
    )
    assert waypost.error_guidance("x", 5) == (False, None)  # type: ignore[arg-type]
