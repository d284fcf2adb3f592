"""How long the tool asks to wait, from wherever it says so: DESIGN section 3."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

import waypost
from tests.core.test_guide import FIRST, LATER, failed, guided
from waypost.core._guide import guide
from waypost.core._recognize import recognize

SECONDS = [
    *("retry_after", "retryAfter", "retry-after", "Retry-After", "RetryAfter"),
    *("retry_after_seconds", "retryAfterSeconds", "retryAfterInSeconds", "retry_after_secs"),
    *("retry_in", "retryIn", "retry_in_seconds", "retryDelay", "retry_delay", "wait_seconds"),
    *("backoff_seconds", "cooldown_seconds", "x-ratelimit-reset-after"),
]
MILLISECONDS = [
    *("retry_after_ms", "retryAfterMs", "retryAfterInMs", "retry_after_millis", "retry-after-ms"),
    *("retryAfterMilliseconds", "x-ms-retry-after-ms", "retry_in_ms", "retryDelayMs", "backoff_ms"),
]
NOW = datetime(1999, 12, 31, 23, 59, 29, tzinfo=UTC)


def delay_of(result: Any) -> float | None:
    guidance = waypost.guidance_of(result)
    assert guidance is not None
    return guidance.retry_after_seconds


@pytest.mark.parametrize("key", SECONDS)
@pytest.mark.parametrize("value", [2, 2.0, "2", "2s", "2 s", " 2S ", "2000ms", "2.0"], ids=repr)
def test_seconds_are_read_under_every_usual_key(key: str, value: Any) -> None:
    """DESIGN section 3: the tool's delay if it named one, numbers and texts."""
    assert delay_of(failed(**{key: value})) == 2
    assert delay_of({"error": {"code": "rate_limited", "message": "", key: value}}) == 2


@pytest.mark.parametrize("key", MILLISECONDS)
@pytest.mark.parametrize("value", [1_500, "1500", "1500ms", "1.5s"], ids=repr)
def test_milliseconds_are_read_under_every_usual_key(key: str, value: Any) -> None:
    """DESIGN section 3: a unit in the value outranks that of the key."""
    assert delay_of(failed(**{key: value})) == 1.5


def test_minutes_are_read_too() -> None:
    """DESIGN section 3."""
    assert delay_of(failed(retry_after_minutes=2)) == 120
    assert delay_of(failed(retry_after="2m")) == 120


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(failed(details={"retry_after": 7}), id="details"),
        pytest.param(failed(details=[{"a": 1}, {"retry_after": 7}]), id="list of details"),
        pytest.param(failed(headers={"Retry-After": "7"}), id="headers"),
        pytest.param(failed(data={"retryAfterMs": 7_000}), id="data"),
        pytest.param(failed(meta={"retry_after": 7}), id="meta"),
        pytest.param(
            {"error": {"code": "rate_limited", "message": ""}, "retry_after": 7}, id="beside"
        ),
        pytest.param(
            {
                "error": {
                    "code": 429,
                    "message": "Quota exceeded.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                        {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
                        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
                    ],
                }
            },
            id="RetryInfo",
        ),
        pytest.param(
            {"errors": [{"message": "Slow down", "extensions": {"retryAfter": 7}}]}, id="graphql"
        ),
        pytest.param(MCPError(-32000, "rate limit", {"retry_after": 7}), id="MCPError"),
        pytest.param('{"error_code": "rate_limited", "retry_after": 7.0}', id="json text"),
    ],
)
def test_delay_is_found_wherever_it_hides(result: Any) -> None:
    """DESIGN section 3: one level down, in RetryInfo, headers, error data."""
    assert delay_of(result) == 7


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("Rate limit reached. Please try again in 7.66s. Visit the console.", 7.66),
        ("Please try again in 1m26.4s.", 86.4),
        ("Please try again in 6m0s.", 360),
        ("try again in 350ms", 0.35),
        ("Try again in 2 minutes.", 120),
        ("Try again in about 10 minutes", 600),
        ("Try again after 5 seconds", 5),
        ("TRY AGAIN IN 5 SECONDS", 5),
        ("Please retry after 6 seconds.", 6),
        ("Retry after 1.5 sec", 1.5),
        ("retry in 3 secs", 3),
        ("Retrying in 10", None),
        ("Try again in 2 turns", None),
        ("Try again in 2 weeks", 1_209_600),
        ("Try again after 14:30 UTC", None),
        ("Try again in 1,000 seconds", None),
        ("Retry after 2026-11-30T07:00:00Z", None),
        ("Try again in 5.", 5),
        ("Retry-After: 12", 12),
        ("You must wait 30 seconds before the next call", 30),
        ("wait for 1 hour", 3_600),
        ("Please wait at least 5 mins", 300),
        ("Request was throttled. Expected available in 43 seconds, wait.", 43),
        ("The limit resets in 1h", 3_600),
        ("Limit reset in 2 hrs", 7_200),
        ("wait 250 milliseconds", 0.25),
        ("Retry in 1 day", 86_400),
        ("Nothing about time", None),
        ("It took 20 seconds", None),
        ("Please try again later", None),
        ("try again tomorrow", None),
        ("Failed after 3 retries", None),
    ],
)
def test_delay_is_read_from_prose(message: str, seconds: float | None) -> None:
    """DESIGN section 3: the tool's delay, if it named one, in whatever wording."""
    result = {"status": "error", "error_code": "rate_limited", "message": message}
    delay = delay_of(result)
    assert delay == (None if seconds is None else pytest.approx(seconds))


def test_delay_in_prose_needs_a_failure_that_waits() -> None:
    """DESIGN section 3: a step that is no wait has no delay in its sentence."""
    assert delay_of(failed("not_found") | {"message": "Try again in 5 s"}) is None


def test_delay_turns_a_failure_that_nobody_knows_into_a_wait() -> None:
    """DESIGN section 3: who says when to come back can be called again; a write is checked."""
    guidance = guided(failed("zorp_blarg", retry_after=3), side_effects=False)
    assert (guidance.retryable, guidance.next_step, guidance.may_repeat) == (True, "wait", True)
    assert guidance.next_action == "Wait 3 s, then make the same call."
    guidance = guided(failed("zorp_blarg", retry_after=3), side_effects=True)
    assert (guidance.next_step, guidance.may_repeat) == ("check_effect", False)


@pytest.mark.parametrize(
    ("delay", "spoken"),
    [
        (0.05, "0.1 s"),
        (1, "1 s"),
        (1.21, "1.3 s"),
        (1.5, "1.5 s"),
        (59.99, "60 s"),
        (3_600, "3600 s"),
    ],
)
def test_delay_up_to_an_hour_is_named_rounded_up(delay: float, spoken: str) -> None:
    """DESIGN section 3: between 0 and 3600 s; a call that comes early fails again."""
    guidance = guided(failed(retry_after=delay))
    assert guidance.next_action == f"Wait {spoken}, then make the same call."
    assert (guidance.wait_seconds, guidance.may_repeat) == (delay, True)


def test_delay_of_zero_is_spread_like_none() -> None:
    """Callers that are all told 0 would come back together, at once."""
    guidance = guided(failed(retry_after=0))
    assert guidance.next_action == "Wait a few seconds, then make the same call."
    assert guidance.retry_after_seconds == 0
    assert guidance.wait_seconds is not None
    assert 1 <= guidance.wait_seconds <= 3


@pytest.mark.parametrize(
    "value",
    [3_600.1, 86_400, 1_735_689_600, 10**12, 10**6_000, 1e300, "90000", "2d"],
    ids=lambda value: "huge" if type(value) is int and value > 10**100 else repr(value),
)
def test_longer_delay_is_for_the_user_to_decide(value: Any) -> None:
    """DESIGN section 3: a longer one: tell the user; may_repeat no."""
    guidance = guided(failed(retry_after=value), side_effects=False)
    assert (guidance.next_action, guidance.may_repeat) == (LATER, False)
    assert (guidance.next_step, guidance.actor) == ("ask_user", "user")
    assert guidance.wait_seconds is None


@pytest.mark.parametrize(
    "value",
    [-1, math.nan, True, None, "", "soon", "-3", [], {}, "1" * 65, "1999-12-31"],
    ids=lambda value: repr(value)[:12],
)
def test_value_that_is_no_delay_is_ignored(value: Any) -> None:
    """DESIGN section 3: numbers from 0 on and durations; dates need a clock."""
    guidance = waypost.guidance_of(failed(retry_after=value))
    assert guidance is not None
    assert guidance.retry_after_seconds is None
    assert guidance.next_action == "Wait a few seconds, then make the same call."


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Fri, 31 Dec 1999 23:59:59 GMT", 30),
        ("Fri, 31 Dec 1999 23:59:59 -0000", 30),
        ("1999-12-31T23:59:59Z", 30),
        ("1999-12-31T23:59:59", 30),
        ("2000-01-01T00:59:59+01:00", 30),
        ("Fri, 31 Dec 1999 20:00:00 GMT", 0),
        ("Fri, 99 Dec 1999 23:59:59 GMT", None),
        ("soon", None),
        (", ", None),
    ],
)
def test_dates_count_from_the_clock(value: str, seconds: float | None) -> None:
    """DESIGN section 3: the pipeline passes now; the core has no clock."""
    result = failed(retry_after=value)
    failure = recognize(result)
    assert failure is not None
    assert guide(failure, now=lambda: NOW).delay == seconds
    assert delay_of(result) is None


def test_pipeline_has_a_clock() -> None:
    """DESIGN section 3: a date is a delay; long ago is now, far off is too long."""
    past = guided(failed(retry_after="Fri, 31 Dec 1999 23:59:59 GMT"))
    assert (past.retry_after_seconds, past.may_repeat) == (0, True)
    future = guided(failed(retry_after="9999-12-31T23:59:59Z"))
    assert (future.next_action, future.may_repeat) == (LATER, False)


def test_delay_of_an_unknown_outcome_keeps_the_check() -> None:
    """DESIGN section 3: a timeout that names a delay may have been done."""
    guidance = guided(failed("timeout", retry_after=4))
    assert guidance.next_action == (
        f"{FIRST} Wait 4 s, then make the same call. If it times out again, ask for less."
    )
    assert guidance.may_repeat is False
