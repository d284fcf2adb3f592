"""What of a book never decides: DESIGN section 3, "which row won and which it shadowed"."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from waypost.core._classify import RuleBook, classify, default_rules, explain
from waypost.core._model import Rule
from waypost.core._rules import rule
from waypost.core._shadows import findings

WORDS = ("rate", "limit", "limits", "unlimit", "size", "cap", "error")
GLOBS = ("limit*", "*limit", "rat*", "*ate", "err*", "siz*")
SEPARATORS = (" ", " ", " ", "_", "; ", " '", "' ", ": ")


def row(name: str, *any_of: str, **changes: Any) -> Rule:
    kept = {"error_class": "invalid", "outcome": "unknown", "why": "A test."}
    return rule(name, any_of=any_of, **(kept | changes))


def found(*rows: Rule, mine: tuple[Rule, ...] | None = None) -> list[tuple[object, ...]]:
    return [
        (
            finding.kind,
            finding.row.id,
            *(
                (each.pattern, *((by.id, other) for by, other in each.by))
                for each in finding.hidden
            ),
        )
        for finding in findings(RuleBook(rows), mine)
    ]


def test_every_pattern_of_the_built_in_table_can_decide() -> None:
    """Issue 4: keep the table short enough to read in one sitting."""
    assert list(findings(default_rules())) == []


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        # an earlier row matches whenever the later one does
        (row("a", "quota*"), row("b", "quota exceeded", "quotas"),
         [("never_decides", "b", ("quota exceeded", ("a", "quota*")),
           ("quotas", ("a", "quota*")))]),
        (row("a", "*limit"), row("b", "rate limit", "rate"),
         [("shadowed", "b", ("rate limit", ("a", "*limit")))]),
        (row("a", "limit"), row("b", ends=["rate limit"]),
         [("never_decides", "b", ("rate limit", ("a", "limit")))]),
        (row("a", ends=["limit"]), row("b", ends=["rate limit"]),
         [("never_decides", "b", ("rate limit", ("a", "limit")))]),
        (row("a", "error"), row("b", ends=["some error"]),
         [("never_decides", "b", ("some error", ("a", "error")))]),
        # it does not
        (row("a", "quota exceeded"), row("b", "quota*"), []),
        (row("a", "limit"), row("b", "limits"), []),
        (row("a", "rate limit"), row("b", "limit rate"), []),
        (row("a", ends=["limit"]), row("b", "rate limit"), []),
        (row("a", ends=["rate"]), row("b", ends=["rate error"]), []),
        # what is barred is left to later rows, unless those bar it, too
        (row("a", "limit", not_with=["size"]), row("b", "rate limit"), []),
        (row("a", "limit", not_with=["size"]), row("b", "rate limit", not_with=["siz*"]),
         [("never_decides", "b", ("rate limit", ("a", "limit")))]),
        (row("a", "limit", not_with=["size"]), row("b", "size limit"), []),
        # a row may be found in messages, where names lead elsewhere, and first of all by sign-ins
        (row("a", "limit", in_message=False), row("b", "rate limit"), []),
        (row("a", "limit", in_message=False), row("b", "rate limit", in_message=False),
         [("never_decides", "b", ("rate limit", ("a", "limit")))]),
        (row("a", "limit", vague=True), row("b", "rate limit"), []),
        (row("a", "limit"), row("b", "rate limit", error_class="unauthenticated"), []),
        (row("a", "limit", error_class="unauthenticated"), row("b", "rate limit"),
         [("never_decides", "b", ("rate limit", ("a", "limit")))]),
    ],
)  # fmt: skip
def test_row_behind_another_is_found(
    first: Rule, second: Rule, said: list[tuple[object, ...]]
) -> None:
    """Our promise: lint names every pattern that one earlier row stands before, and no other."""
    assert found(first, second) == said


def test_names_and_messages_may_be_decided_by_two_rows() -> None:
    """Our promise: names and messages are looked at apart, since their order differs."""
    rows = row("a", "limit", in_message=False), row("b", "rate limit"), row("c", "rate limit now")
    assert found(*rows) == [
        ("never_decides", "c", ("rate limit now", ("a", "limit"), ("b", "rate limit")))
    ]


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ({"any_of": ("quota exceeded", "quota*")}, [("quota exceeded", "quota*")]),
        ({"any_of": ("quota", "cap", "quota")}, [("quota", "quota")]),
        ({"any_of": ("limit",), "ends": ("rate limit", "limit")},
         [("rate limit", "limit"), ("limit", "limit")]),
        ({"any_of": ("limit now",), "ends": ("limit",)}, []),
    ],
)  # fmt: skip
def test_pattern_that_another_one_of_its_row_makes_needless_is_found(
    patterns: dict[str, tuple[str, ...]], said: list[tuple[str, str]]
) -> None:
    """Our promise: of two patterns that say the same, one is named."""
    only = row("a", *patterns["any_of"], ends=patterns.get("ends", ()))
    assert found(only) == [("redundant", "a", (one, ("a", other))) for one, other in said]


def test_pattern_that_its_own_row_bars_is_found() -> None:
    """Our promise: a pattern that never counts is named, and a row of such patterns."""
    bars = {"not_with": ["size"]}
    assert found(row("a", "size limit", "limit", **bars)) == [
        ("barred", "a", ("size limit", ("a", "size")))
    ]
    assert found(row("a", "size limit", **bars)) == [
        ("never_decides", "a", ("size limit", ("a", "size")))
    ]


def test_row_that_bars_whatever_it_wants_beside_its_pattern_is_found() -> None:
    """Our promise: a row to which no text leads is said to be one."""
    wants = {"only_with": ["size", "length"]}
    assert found(row("a", "limit", not_with=["size"], **wants)) == []
    assert found(row("a", "limit", not_with=["size", "length"], **wants)) == [
        ("never_decides", "a", ("limit", ("a", "size")))
    ]


def test_rows_that_numbers_lead_to_decide_without_a_pattern() -> None:
    """DESIGN section 3: numbers are a look-up table beside the rules."""
    assert found(row("a", "limit"), row("rate.limited", "rate limit")) == [
        ("shadowed", "rate.limited", ("rate limit", ("a", "limit")))
    ]


def test_of_built_in_rows_only_those_are_named_that_are_overruled() -> None:
    """Our promise: that a user's row overrules others is no fault, and good to know."""
    built_in = row("b", "rate limit"), row("c", "size", "size limit"), row("d", "size")
    mine = row("a", "limit")
    assert found(mine, *built_in, mine=(mine,)) == [
        ("overruled", "b", ("rate limit", ("a", "limit")))
    ]
    assert found(*built_in, mine, mine=(mine,)) == []


PATTERNS = st.lists(st.sampled_from(WORDS + GLOBS), min_size=1, max_size=3).map(" ".join)
ROWS = st.fixed_dictionaries(
    {
        "any_of": st.lists(PATTERNS, min_size=1, max_size=3),
        "ends": st.lists(PATTERNS, max_size=1),
        "not_with": st.lists(st.sampled_from(WORDS + GLOBS), max_size=1),
        "only_with": st.lists(st.sampled_from(WORDS + GLOBS), max_size=2),
        "error_class": st.sampled_from(("invalid", "unauthenticated")),
        "in_message": st.booleans(),
        "vague": st.booleans(),
    }
)
WORDED = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), max_size=6)


def trimmed(book: RuleBook) -> RuleBook:
    """The book without the patterns that are said to decide nothing."""
    needless = [
        (finding.row, hidden.pattern) for finding in findings(book) for hidden in finding.hidden
    ]
    rows = []
    for each in book.rows:
        kept = {}
        for key in ("ends", "any_of"):  # of two equal patterns, the last one goes
            kept[key] = list(getattr(each, key))[::-1]
            for pattern in [*kept[key]]:
                if (each, pattern) in needless:
                    needless.remove((each, pattern))
                    kept[key].remove(pattern)
        if kept["any_of"] or kept["ends"]:
            rows.append(
                row(each.id, *kept["any_of"], ends=kept["ends"], not_with=each.not_with,
                    only_with=each.only_with,
                    error_class=each.error_class, in_message=each.in_message, vague=each.vague)
            )  # fmt: skip
    return RuleBook(rows)


@settings(max_examples=300)
@given(st.lists(ROWS, min_size=1, max_size=4), st.lists(WORDED, min_size=1, max_size=8))
def test_book_decides_the_same_without_what_is_said_to_decide_nothing(
    rows: list[dict[str, Any]], texts: list[list[tuple[str, str]]]
) -> None:
    """Our promise: what lint calls needless can go, whatever a tool says."""
    book = RuleBook(
        row(f"r{at}", *made["any_of"], **{key: made[key] for key in made if key != "any_of"})
        for at, made in enumerate(rows)
    )
    rest = trimmed(book)
    for parts in texts:
        name = "_".join(word for word, _ in parts)
        prose = "".join(word + separator for word, separator in parts)
        for said in ((name, ""), (None, prose), (name, prose)):
            assert explain(*said, rules=rest).rule.id == explain(*said, rules=book).rule.id


def test_word_that_ends_like_an_error_is_read_whole() -> None:
    """Bug: the end of ``waveerror`` was cut off before ``wave`` was looked for."""
    book = RuleBook([row("a", ends=["micro* wave"])])
    assert classify("micro_wave_error", rules=book).id == "a"
    assert classify("micro_waveerror", rules=book).id == "unknown"


def test_book_can_be_sent_to_another_process() -> None:
    """Our promise: a host may share its work among processes, and so does ``waypost enrich``."""
    book = pickle.loads(pickle.dumps(default_rules().before([row("a", "limit")])))  # noqa: S301 -- our own
    assert classify("LIMIT", rules=book).id == "a"
