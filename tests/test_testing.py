"""Recorded sequences of calls, judged by `waypost.testing.replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from waypost import OptionError
from waypost.testing import replay

CORPUS = Path(__file__).parent / "corpus/payloads.jsonl"
ROWS = map(json.loads, CORPUS.read_text("utf-8").splitlines())
CHAINS: dict[str, dict[str, Any]] = {row["id"]: row for row in ROWS if row["kind"] == "retry_chain"}

OUTCOMES: dict[str, set[str | None]] = {
    "recovered_same_arguments": {"recovered"},
    "recovered_changed_arguments": {"corrected"},
    "never_recovered": {"failed"},
    "duplicate_side_effect": {"recovered"},
    "succeeded": {None},
}
"""How the last call of a sequence ended, by what the corpus says of the whole."""


@pytest.mark.parametrize("row", CHAINS.values(), ids=CHAINS)
def test_real_sequences_are_told_as_they_were(row: dict[str, Any]) -> None:
    """Corpus: failures, guidance, the longest run of the same failed call, and how it ended."""
    told, expected = replay(row["calls"]), row["expected"]
    wanted = expected["per_call"]
    assert [call["is_error"] for call in told] == [call["is_error"] for call in wanted]
    for call, want in zip(told, wanted, strict=True):
        if want["retryable"] is not None:
            assert call["retryable"] is want["retryable"]
    longest = max((call["attempt"] for call in told if call["is_error"]), default=0)
    assert longest == expected["longest_identical_failure_run"]
    assert told[-1]["outcome"] in OUTCOMES[expected["outcome"]]


@pytest.mark.parametrize(
    ("chain", "attempts", "outcomes", "advice"),
    [
        (
            "C390",
            [1, 2, 3, 4],
            [None, "failed", "failed", "recovered"],
            [None, "too_early", "too_early", "ignored"],  # told to stop, it waited and worked
        ),
        ("C392", [1, 2], [None, "recovered"], [None, "followed"]),
        ("C394", [1, 2, 3, 4], [None, *["failed"] * 3], [None, *["ignored"] * 3]),
        ("C396", [1, 1], [None, "corrected"], [None, "followed"]),
        ("C398", [1, 1, 1], [None, "abandoned", "corrected"], [None, "followed", "followed"]),
        ("C408", [1, 2, 1, 2], [None, "recovered"] * 2, [None, "followed"] * 2),
        ("C410", [1] * 5, [None] * 5, [None] * 5),
    ],
)
def test_attempts_outcomes_and_advice(
    chain: str, attempts: list[int], outcomes: list[str | None], advice: list[str | None]
) -> None:
    told = replay(CHAINS[chain]["calls"])
    assert [call["attempt"] for call in told] == attempts
    assert [call["outcome"] for call in told] == outcomes
    assert [call["advice"] for call in told] == advice


def test_a_spent_budget_takes_back_that_the_host_may_repeat() -> None:
    busy = {"tool": "t", "arguments": {}, "payload": {"ok": False, "error": "rate_limited"}}
    told = replay([busy] * 4)
    assert [call["may_repeat"] for call in told] == [True, True, False, False]
    assert [call["error_class"] for call in told] == ["rate_limited"] * 4


@pytest.mark.parametrize("missing", ["tool", "arguments", "payload"])
def test_call_that_lacks_something_is_told_by_its_number(missing: str) -> None:
    call = {"tool": "t", "arguments": {}, "payload": {}}
    broken = {key: value for key, value in call.items() if key != missing}
    with pytest.raises(OptionError, match=rf"call 2 has no '{missing}'; each call is a mapping"):
        replay([call, broken])


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "2", None, True])
def test_time_that_is_none_is_told(seconds: object) -> None:
    call = {"tool": "t", "arguments": {}, "payload": {}, "after_s": seconds}
    with pytest.raises(OptionError, match=r"call 1 has after_s=.*: use the seconds since"):
        replay([call])


def test_question_of_the_server_is_no_attempt() -> None:
    """DESIGN section 5: nor does it end a chain."""
    busy = {"tool": "t", "arguments": {}, "payload": {"ok": False, "error": "rate_limited"}}
    question = {**busy, "payload": {"resultType": "input_required", "inputRequests": {}}}
    told = replay([busy, question, busy])
    assert [(call["attempt"], call["outcome"]) for call in told] == [
        (1, None), (2, None), (2, "failed"),
    ]  # fmt: skip
