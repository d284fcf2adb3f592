"""The table of rules, the constructor of its rows, and the sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from waypost.core import _numbers
from waypost.core._actions import (
    CHECK_EFFECT,
    CHECK_FIRST,
    CLASS_DEFAULTS,
    STEP_ACTIONS,
    WAIT_PLACEHOLDER,
)
from waypost.core._classify import RuleBook, classify, default_rules
from waypost.core._model import ErrorClass, NextStep, Outcome, Rule, RuleError
from waypost.core._rules import RULES, UNKNOWN_RULE, rule

CORPUS = Path(__file__).parents[1] / "corpus" / "codes-dev.jsonl"
WON = {classify(row["code"]).id for row in map(json.loads, CORPUS.read_text("utf-8").splitlines())}

# Codes, or messages after a colon, for the rows that no code of the corpus wins.
EXAMPLES = {
    "cluster.name": "NotALeader",
    "connection.name": "NO_FREE_CONNECTION",
    "page_token.refused": "InvalidNextToken",
    "account.locked": "ACCOUNT_LOCKED",
    "input.required": "input_required",
    "session.refused": "INVALID_SESSION",
    "lock.name": "database_locked",
    "auth.failed_elsewhere": ":Échec de l'authentification",
    "auth.required_elsewhere": ":Die Sitzung ist abgelaufen.",
    "tool.unknown": "unknown_tool",
    "answer.unreadable": ":Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "http.forbidden": "403",
    "http.conflict": "409",
    "http.internal": "500",
    "rpc.internal": "-32603",
    "rpc.arguments": "-32602",
    "rpc.timeout": "-32001",
    "rpc.not_found": "-32002",
    "maintenance": "MAINTENANCE",
    "crashed": "KeyError",
    "quota.message": ":You exceeded your current quota.",
    "misconfigured": "not_configured",
    "argument.bounds": ":timeout_ms must be greater than or equal to 0",
    "answer.invalid": ":1 validation error for dbsizeOutput\nresult\n  Input should be an integer",
    "arguments.validated": ":2 validation errors for fetchArguments\nurl\n  Field required",
    "exception.vague": "ValueError",
    "said.retryable": "SchemaMismatchRetryableException",
    "internal.name": "INTERNAL",
    "not.there": "PREVIEW_UNAVAILABLE",
    "unavailable.all": ":There are no brokers available",
    "unknown.thing": ":unknown job_id",
    "conflict.vague": "CONFLICT",
    "asked.to_repeat": ":That did not work, please try again.",
    "nothing.staged": ":No changes staged for commit",
    "nothing.there": ":There is no order ORD-9999.",
    "found.nothing": ":No order found for customer 12",
}


def any_rule(**changes: Any) -> dict[str, Any]:
    return {
        "any_of": ("some words",),
        "error_class": "invalid",
        "outcome": "not_done",
        "why": "A test.",
    } | changes


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.id)
def test_every_row_wins_somewhere(row: Rule) -> None:
    """STYLE section 5: every rule is hit by a code or message, and each names its row."""
    identity = row.id
    if identity in EXAMPLES:
        code, _, message = EXAMPLES[identity].partition(":")
        assert classify(code, message).id == identity
    else:
        assert identity in WON


@pytest.mark.parametrize("row", [*RULES, UNKNOWN_RULE], ids=lambda row: row.id)
def test_no_row_is_laxer_than_its_class(row: Rule) -> None:
    """DESIGN section 3: a row may be stricter than its class, never laxer."""
    assert CLASS_DEFAULTS[row.error_class].retryable or not row.retryable


def test_table_can_be_read_in_one_sitting() -> None:
    """Issue 4: keep the table short; every row carries its reason."""
    assert len(RULES) <= 90
    assert all(row.why and "\n" not in row.why for row in RULES)
    assert {row.error_class for row in RULES} == set(ErrorClass) - {ErrorClass.UNKNOWN}


def test_sentences_are_short_lines_that_wait_where_the_step_waits() -> None:
    """DESIGN section 3: constant templates; the delay is filled in by another stage."""
    sentences = [(row.step, row.action) for row in RULES]
    sentences += [(default.step, default.action) for default in CLASS_DEFAULTS.values()]
    sentences += list(STEP_ACTIONS.items())
    for step, action in sentences:
        assert (action is None) == (step is NextStep.NONE)
        text = action or ""
        assert len(text) <= 200
        assert text.isprintable()
        assert text.count(WAIT_PLACEHOLDER) == (step is NextStep.WAIT)
    assert CHECK_EFFECT.endswith("only if it did not.")
    assert CHECK_FIRST.startswith("First")


def test_class_table_covers_every_class_and_step() -> None:
    """DESIGN section 3: the sets are closed."""
    assert set(CLASS_DEFAULTS) == set(ErrorClass)
    assert set(STEP_ACTIONS) == set(NextStep)


def test_numbers_lead_to_rows_of_the_table() -> None:
    """Our promise: a number means what a row says, so that there is one table."""
    ids = {row.id for row in RULES}
    tables = (
        _numbers.HTTP_STATUS, _numbers.JSON_RPC, _numbers.GRPC, _numbers.SQLSTATES,
        _numbers.SQLSTATE_CLASSES, _numbers.ERRNO, _numbers.SHORT_NAMES, _numbers.MYSQL,
        _numbers.ORACLE,
    )  # fmt: skip
    assert {row for table in tables for row in table.values()} <= ids


def test_row_takes_what_is_left_out_from_its_class() -> None:
    """Our promise: one table of class defaults."""
    row = rule("mine", any_of=["busy now"], error_class="timeout", outcome="unknown", why="Mine.")
    assert (row.error_class, row.outcome) == (ErrorClass.TIMEOUT, Outcome.UNKNOWN)
    assert (row.retryable, row.step, row.action) == CLASS_DEFAULTS[ErrorClass.TIMEOUT]


@pytest.mark.parametrize(
    ("changes", "step", "start"),
    [
        ({"error_class": "unauthenticated", "retryable": False}, "sign_in", "The credentials"),
        ({"error_class": "internal", "retryable": False}, "report", "Do not repeat"),
        ({"error_class": "timeout", "retryable": False}, "report", "Do not repeat"),
        ({"step": "report"}, "report", "Do not repeat"),
        ({"step": "fix_arguments"}, "fix_arguments", "Do not repeat this call unchanged. Correct"),
        ({"action": "Ask for a date."}, "fix_arguments", "Ask for a date."),
        ({"step": "none"}, "none", ""),
        ({"retryable": False}, "fix_arguments", "Do not repeat"),
    ],
)
def test_stricter_row_gets_a_sentence_that_fits(
    changes: dict[str, Any], step: str, start: str
) -> None:
    """DESIGN section 3: a refused credential and a crash are told something else."""
    row = rule("mine", **any_rule(**changes))
    assert (row.step, row.retryable) == (step, False)
    assert (row.action or "").startswith(start)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"any_of": ()}, "matches nothing"),
        ({"any_of": "rate limit"}, "use a list"),
        ({"any_of": ("",)}, "''"),
        ({"any_of": ("rate  limit",)}, "one space"),
        ({"any_of": (" rate",)}, "one space"),
        ({"any_of": ("Rate",)}, "lower-case"),
        ({"any_of": ("rate_limit",)}, "'rate_limit'"),
        ({"any_of": ("ra.*e",)}, "'ra.*e'"),
        ({"any_of": ("*",)}, "'*'"),
        ({"any_of": ("ra*",)}, "3 characters"),
        ({"any_of": ("*rate*",)}, "'*rate*'"),
        ({"not_with": ("naïve",)}, "'naïve'"),
        ({"ends": ("a-b",)}, "'a-b'"),
        ({"error_class": "oops"}, "'oops'"),
        ({"step": "dance"}, "use one of wait"),
        ({"outcome": "maybe"}, "not_done, unknown"),
        ({"retryable": True}, "leave retryable out"),
        ({"why": " "}, "why="),
        ({"action": ""}, "1 to 200"),
        ({"action": "x" * 201}, "1 to 200"),
        ({"action": "a\nb"}, "printable"),
        ({"action": "Wait {wait}."}, "not at all"),
        ({"error_class": "timeout", "action": "Wait."}, "once"),
        ({"error_class": "unknown", "action": "Go on."}, "none for that"),
        ({"any_of": [5]}, "Pattern 5"),
        ({"any_of": 5}, "the value 5 for patterns"),
        ({"why": None}, "why="),
        ({"action": 5}, "write a text"),
        ({"vague": "no"}, "True or False"),
        ({"retryable": 0}, "True or False"),
        ({"refined_by": "invalid"}, "for error classes: use a list"),
        ({"refined_by": ["oops"]}, "'oops'"),
        ({"error_class": ["oops"]}, "['oops']"),
    ],
)
def test_mistake_in_a_row_is_named_with_the_way_out(changes: dict[str, Any], told: str) -> None:
    """Issue 2, bad input: a WaypostError when built, naming the value and the way out."""
    with pytest.raises(RuleError) as raised:
        rule("mine", **any_rule(**changes))
    assert told in str(raised.value)
    assert "mine" in str(raised.value)


def test_row_without_an_id_is_refused() -> None:
    """Issue 2, bad input."""
    with pytest.raises(RuleError, match="needs an id"):
        rule("", **any_rule())


def test_two_rows_with_one_id_are_refused() -> None:
    """Issue 2, bad input: the id is named."""
    with pytest.raises(RuleError, match=r"'rate\.limited'.*rename"):
        default_rules().after([RULES[0], *(row for row in RULES if row.id == "rate.limited")][1:])


def test_book_shows_how_many_rows_it_has() -> None:
    """Our promise: a repr that fits on a line."""
    assert repr(RuleBook(RULES[:2])) == "RuleBook(2 rows)"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", 5, None, "x" * 129])
def test_id_is_a_short_text_on_one_line(name: Any) -> None:
    """STYLE rule 11: it goes into logs, spans and terminals."""
    with pytest.raises(RuleError, match="id"):
        rule(name, **any_rule())
