"""What to do next, and whether a repeat is safe: DESIGN sections 1 and 3."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import ToolAnnotations

import waypost
from waypost import ErrorClass, Guidance, NextStep

WAIT = "Wait a few seconds, then make the same call."
SLOW = f"{WAIT} If it times out again, ask for less."
CHECK = "Check whether the first call took effect; call again only if it did not."
FIRST = "First check whether the first call took effect."
SAYS_NO = "The tool says that the same call cannot succeed. Do not repeat it; report the failure."
SAYS_YES = (
    "The tool says that the same call can succeed. Wait a few seconds, then make it once more."
)
LATER = (
    "The tool asks to wait longer than an hour. Tell the user, and make the same call only after "
    "that time."
)
SAFE = (True, "wait", SLOW, True)
SAFE_BY_HINT = (True, "wait", SLOW, False)
UNKNOWN = (True, "wait", f"{FIRST} {SLOW}", False)
WRITES = (False, "check_effect", CHECK, False)


def failed(code: str = "rate_limited", **members: Any) -> dict[str, Any]:
    return {"status": "error", "error_code": code, "message": "No.", **members}


def guided(result: Any, *, trusted: bool = False, **options: Any) -> Guidance:
    """The guidance that a host gets from a call with these options."""
    enricher = waypost.Enricher((), trust_annotations=trusted, strict=True)
    with enricher.call("f", **options) as call:
        call.enrich(result)
    assert call.guidance is not None
    return call.guidance


def gist(guidance: Guidance) -> tuple[bool, str, str | None, bool]:
    return guidance.retryable, guidance.next_step, guidance.next_action, guidance.may_repeat


class SlottedHints:
    """Annotations of a class that says nothing we can read."""

    __slots__ = ()
    readOnlyHint = True  # noqa: N815 -- its name on the wire


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, UNKNOWN, id="nobody says"),
        pytest.param({"side_effects": False}, SAFE, id="the host says safe"),
        pytest.param({"side_effects": True}, WRITES, id="the host says writes"),
        pytest.param({"annotations": {"readOnlyHint": True}}, SAFE_BY_HINT, id="read only"),
        pytest.param({"annotations": {"idempotentHint": True}}, SAFE_BY_HINT, id="idempotent"),
        pytest.param({"annotations": {"readOnlyHint": False}}, WRITES, id="not read only"),
        pytest.param(
            {"annotations": {"readOnlyHint": False, "idempotentHint": True}},
            SAFE_BY_HINT,
            id="idempotent write",
        ),
        pytest.param(
            {"annotations": {"readOnlyHint": False, "idempotentHint": False}}, WRITES, id="write"
        ),
        pytest.param({"annotations": {"idempotentHint": False}}, UNKNOWN, id="not idempotent"),
        pytest.param({"annotations": {"destructiveHint": False}}, UNKNOWN, id="other hint"),
        pytest.param({"annotations": {"readOnlyHint": "true"}}, UNKNOWN, id="a text"),
        pytest.param({"annotations": {"readOnlyHint": None}}, UNKNOWN, id="none"),
        pytest.param({"annotations": {}}, UNKNOWN, id="empty"),
        pytest.param({"annotations": "readOnlyHint"}, UNKNOWN, id="no mapping"),
        pytest.param({"annotations": SlottedHints()}, UNKNOWN, id="no fields"),
        pytest.param(
            {"annotations": ToolAnnotations(read_only_hint=True)}, SAFE_BY_HINT, id="model"
        ),
        pytest.param({"annotations": ToolAnnotations()}, UNKNOWN, id="model at its defaults"),
        pytest.param(
            {"annotations": {"readOnlyHint": True}, "trusted": True}, SAFE, id="trusted read only"
        ),
        pytest.param(
            {"annotations": {"readOnlyHint": True}, "side_effects": True}, WRITES, id="host first"
        ),
        pytest.param(
            {"annotations": {"readOnlyHint": False}, "side_effects": False}, SAFE, id="host last"
        ),
    ],
)
def test_unknown_outcome_asks_whether_a_repeat_is_safe(
    options: dict[str, Any], expected: tuple[bool, str, str | None, bool]
) -> None:
    """DESIGN section 3: explicit values only; a server's word never raises may_repeat."""
    assert gist(guided(failed("timeout"), **options)) == expected


@pytest.mark.parametrize("side_effects", [None, False, True])
def test_failure_before_any_effect_may_be_repeated_whatever_the_tool_does(
    side_effects: bool | None,
) -> None:
    """DESIGN section 3: outcome not_done."""
    for result in (
        failed(),
        failed("ECONNREFUSED"),
        {"status": 503, "message": "busy", "retry_after": 2},
    ):
        guidance = waypost.guidance_of(result, side_effects=side_effects)
        assert guidance is not None
        assert (guidance.retryable, guidance.may_repeat) == (True, True)


def test_503_without_a_delay_leaves_the_outcome_open() -> None:
    """DESIGN section 3: 503 with a delay is not_done; without, it may have been done."""
    result = {"status": 503, "message": "Service Unavailable"}
    assert gist(guided(result)) == (True, "wait", f"{FIRST} {WAIT}", False)
    assert gist(guided(result, side_effects=True)) == WRITES


def test_guidance_of_takes_the_hosts_word_on_side_effects() -> None:
    """DESIGN section 1: guidance_of(result, side_effects=...)."""
    for side_effects, expected in ((None, UNKNOWN), (False, SAFE), (True, WRITES)):
        guidance = waypost.guidance_of(failed("timeout"), side_effects=side_effects)
        assert guidance is not None
        assert gist(guidance) == expected


@pytest.mark.parametrize(
    ("code", "step", "actor", "may_repeat"),
    [
        ("rate_limited", "wait", "model", True),
        ("connection_closed", "reconnect", "model", True),
        ("not_initialized", "prepare", "model", False),
        ("token_expired", "sign_in", "user", False),
        ("quota_exhausted", "ask_user", "user", False),
        ("invalid_argument", "fix_arguments", "model", False),
        ("not_found", "list_first", "model", False),
        ("payload_too_large", "reduce_scope", "model", False),
        ("not_implemented", "use_other_tool", "model", False),
        ("permission_denied", "ask_permission", "user", False),
        ("data_loss", "report", "operator", False),
        ("zorp_blarg", "none", "model", False),
    ],
)
def test_step_decides_who_acts_and_whether_a_loop_may(
    code: str, step: str, actor: str, may_repeat: bool
) -> None:
    """DESIGN section 1: only wait and reconnect need no person."""
    guidance = guided(failed(code), side_effects=False)
    assert (guidance.next_step, guidance.actor, guidance.may_repeat) == (step, actor, may_repeat)
    assert (guidance.wait_seconds is None) is (step not in ("wait", "reconnect"))


def test_wait_without_a_named_delay_is_spread() -> None:
    """DESIGN section 1: full jitter where the tool named none; compared without it."""
    guidances = [waypost.guidance_of(failed()) for _ in range(50)]
    waits = {guidance.wait_seconds for guidance in guidances if guidance}
    assert len(waits) > 1
    assert all(wait is not None and 0 < wait <= 3 for wait in waits)
    assert all(guidance == guidances[0] for guidance in guidances)


@pytest.mark.parametrize(
    ("code", "told", "options", "expected"),
    [
        pytest.param("rate_limited", False, {}, (False, "report", SAYS_NO, False), id="no"),
        pytest.param("not_found", True, {}, (True, "wait", SAYS_YES, True), id="yes, not done"),
        pytest.param(
            "zorp_blarg", True, {}, (True, "wait", f"{FIRST} {SAYS_YES}", False), id="yes"
        ),
        pytest.param(
            "zorp_blarg", True, {"side_effects": False}, (True, "wait", SAYS_YES, True), id="safe"
        ),
        pytest.param(
            "zorp_blarg",
            True,
            {"side_effects": True},
            (True, "wait", f"{FIRST} {SAYS_YES}", False),
            id="writes",
        ),
    ],
)
def test_tools_own_word_bends_the_step_and_is_flagged(
    code: str, told: bool, options: dict[str, Any], expected: tuple[bool, str, str, bool]
) -> None:
    """DESIGN sections 1 and 6: never a contradicting twin; waypost.disagreement."""
    guidance = guided(failed(code, retryable=told), **options)
    assert gist(guidance) == expected
    assert guidance.disagreement is True


def test_step_that_needs_a_person_stays_when_the_tool_says_yes() -> None:
    """DESIGN section 1: may_repeat can only be stricter than retryable."""
    refused = guided(failed("invalid_password", retryable=True), side_effects=False)
    assert (refused.retryable, refused.next_step, refused.may_repeat) == (True, "sign_in", False)
    forbidden = guided(failed("permission_denied", retryable=True), side_effects=False)
    assert (forbidden.retryable, forbidden.next_step) == (True, "ask_permission")
    assert forbidden.may_repeat is False


@pytest.mark.parametrize(("code", "told"), [("rate_limited", True), ("not_found", False)])
def test_agreement_is_no_disagreement(code: str, told: bool) -> None:
    """DESIGN section 6: tool and rules differ, or not."""
    guidance = guided(failed(code, retryable=told))
    assert (guidance.retryable, guidance.disagreement) == (told, False)
    assert guided(failed(code)).disagreement is False
    assert guided(failed(code, retryable="maybe")).disagreement is False


CODES = [
    *("rate_limited", "unavailable", "timeout", "conflict", "connection_closed", "locked"),
    *("not_initialized", "token_expired", "invalid_password", "internal_error", "forbidden"),
    *("rejected", "not_found", "invalid_argument", "payload_too_large", "already_exists"),
    *("precondition_failed", "quota_exhausted", "not_implemented", "misconfigured", "cancelled"),
    *("data_loss", "zorp_blarg", "429", "500", "503", "404", "403", "401", "-32601", "-32602"),
    *("-32603", "ETIMEDOUT", "ENOENT", "23505", "40001", "DEADLINE_EXCEEDED", "KeyError"),
    *("ThrottlingException", "AccessDenied"),
]


@pytest.mark.parametrize("code", CODES)
def test_sources_say_whose_word_it_is(code: str) -> None:
    """A45: {absent, valid, invalid type} x {retryable, next_action} x 40 codes."""
    own = guided(failed(code))
    has_action = "waypost" if own.next_action else "none"
    assert (own.retryable_source, own.next_action_source) == ("waypost", has_action)
    answers: list[Any] = [True, False, None, "yes", 1]
    for value in answers:
        said = guided(failed(code, retryable=value))
        assert said.retryable_source == "tool"
        assert said.disagreement is (type(value) is bool and value is not own.retryable)
    sentences: list[Any] = ["Ask Ann.", None, False, 3, ["Ask Ann."]]
    for value in sentences:
        said = guided(failed(code, next_action=value))
        assert (said.retryable_source, said.next_action_source) == ("waypost", "tool")
        assert said.next_action == (value if isinstance(value, str) else None)


@pytest.mark.parametrize("error_class", list(ErrorClass), ids=str)
def test_table_of_classes_holds_for_the_name_of_each_class(error_class: ErrorClass) -> None:
    """DESIGN section 3: the table; every class but two is named by its own name."""
    retryable = {
        *("rate_limited", "unavailable", "timeout", "conflict", "disconnected", "not_ready"),
        *("unauthenticated", "needs_input", "internal"),
    }
    codes = {"conflict": "deadlock_detected", "rejected": "user_rejected"}
    code = codes.get(error_class.value, error_class.value)
    guidance = guided(failed(code), side_effects=False)
    assert guidance.error_class is error_class
    assert guidance.retryable is (error_class.value in retryable)
    assert (guidance.next_action is None) is (error_class is ErrorClass.UNKNOWN)
    assert (guidance.next_step is NextStep.NONE) is (error_class is ErrorClass.UNKNOWN)


def test_guidance_is_frozen_and_has_the_fields_of_the_contract() -> None:
    """DESIGN section 1: Guidance, whole."""
    guidance = guided(failed(retry_after=20))
    assert guidance == Guidance(
        error_class=ErrorClass.RATE_LIMITED,
        error_code="rate_limited",
        retryable=True,
        next_action="Wait 20 s, then make the same call.",
        next_step=NextStep.WAIT,
        actor=waypost.Actor.MODEL,
        may_repeat=True,
        wait_seconds=20,
        retry_after_seconds=20,
        rule="rate.limited",
        retryable_source=waypost.Source.WAYPOST,
        next_action_source=waypost.Source.WAYPOST,
    )
    assert guidance.wait_seconds == 20
    with pytest.raises(AttributeError):
        guidance.retryable = False  # type: ignore[misc]  # frozen is what is tested
