"""Rules in TOML: DESIGN section 3, "users add rules ... in TOML checked by pydantic"."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import waypost
from tests.rule_file.files import CLASSES, PATTERN, RULE, SECOND, told, written
from waypost import OptionError, RuleError, default_rules, load_rules
from waypost.core._classify import classify


def test_rules_stand_before_the_built_in_ones_unless_they_say_after(tmp_path: Path) -> None:
    """DESIGN section 3: before or after the built-in rows."""
    book = load_rules(written(tmp_path, RULE, SECOND))
    assert [row.id for row in book.rows] == [
        "shop.closed",
        *(row.id for row in default_rules().rows),
        "order.slow",
    ]
    assert classify("SHOP_CLOSED_TIMEOUT", rules=book).id == "shop.closed"
    assert classify("ORDER_SLOW_TIMEOUT", rules=book).id == "timed.out"
    assert classify("ORDER_SLOW", rules=book).id == "order.slow"


def test_keys_are_the_arguments_of_a_rule(tmp_path: Path) -> None:
    """Our promise: what `rule` takes, a file takes."""
    everything = """
[[rules]]
id = "all"
any_of = ["shop closed", "closed*"]
ends = ["closed"]
not_with = ["door"]
error_class = "unavailable"
retryable = false
step = "ask_user"
outcome = "not_done"
action = "Ask the user for another shop."
why = "All keys."
in_message = false
vague = true
place = "after"
"""
    made = load_rules(written(tmp_path, everything)).rows[-1]
    same = waypost.rule(
        "all",
        any_of=["shop closed", "closed*"],
        ends=["closed"],
        not_with=["door"],
        error_class="unavailable",
        retryable=False,
        step="ask_user",
        outcome="not_done",
        action="Ask the user for another shop.",
        why="All keys.",
        in_message=False,
        vague=True,
    )
    for name in waypost.Rule.__slots__:
        assert getattr(made, name) == getattr(same, name)


@pytest.mark.parametrize("spelled", [str, Path, os.path.relpath])
def test_path_may_be_text_or_an_object(tmp_path: Path, spelled: Callable[[Path], Any]) -> None:
    """STYLE section 5: whatever names a file in Python."""
    assert load_rules(spelled(written(tmp_path, RULE))).rows[0].id == "shop.closed"


def test_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    """Our promise: a file that was saved on Windows is a file."""
    path = tmp_path / "rules.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (RULE + "oops = 1\n").replace("\n", "\r\n").encode())
    assert told(path) == ["rules.toml:7: 'oops' is no key of a rule: use one of " + KEYS]


KEYS = (
    "id, error_class, outcome, why, any_of, ends, only_with, not_with, "
    "retryable, step, action, in_message, vague, refined_by, place."
)


@pytest.mark.parametrize("wrong", [b"rules.toml", 5, None])
def test_what_is_no_path_is_refused(wrong: Any) -> None:
    """STYLE rule 11: fail early for the programmer."""
    with pytest.raises(OptionError) as caught:
        load_rules(wrong)
    assert str(caught.value) == f"load_rules({wrong!r}): pass the path of a TOML file."


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing.toml", "No such file or directory"),
        ("", "Is a directory"),
        ("a\0b", "embedded null byte"),
    ],
)
def test_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, why: str) -> None:
    """STYLE rule 11: a message shows the value and the way out."""
    path = f"{tmp_path}/{name}"
    with pytest.raises(RuleError) as caught:
        load_rules(path)
    assert str(caught.value) == f"{path}: The file cannot be read: {why}. Name a TOML file."


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\n# caf\xe9\n", ":2: The byte 0xe9 is no UTF-8: save the file as UTF-8."),
        (b"\n" * (1024 * 1024 + 1), ": The file is longer than 1 MiB: keep fewer rules in it."),
        (
            b"[[rules]]\nid = shop\n",
            (
                ":2: 'id = shop' is no TOML: Invalid value. Put texts in quotes,"
                " close quotes and brackets, write each key once."
            ),
        ),
        (
            b"[[rules]]\nid = '''\nshop\n",
            (
                ":4: '' is no TOML: Expected \"'''\". Put texts in quotes,"
                " close quotes and brackets, write each key once."
            ),
        ),
        (
            b"[[rules]]\nid = 'a'\nid = 'b'\n",
            (
                ":3: \"id = 'b'\" is no TOML: Cannot overwrite a"
                " value. Put texts in quotes, close quotes and brackets, write each key once."
            ),
        ),
        (b"a = " + b"[" * 5_000, ": Lists are nested too deeply: a rule has texts in them."),
        (b"a = " + b"1" * 5_000, ": A number has too many digits: no rule has numbers."),
        (b"# Nothing.\n", ": The file holds no rules: write [[rules]] above each rule."),
        (b"\nrules = 5", ":2: 'rules' is 5: write [[rules]], in double brackets, above each rule."),
        (
            b"\n[rules]\nid = 'a'",
            (":2: 'rules' is {'id': 'a'}: write [[rules]], in double brackets, above each rule."),
        ),
        (b"rules = [1]", ": rule 1: A rule is 1: write its keys below a line [[rules]]."),
    ],
    ids=lambda value: value[:20],
)
def test_file_of_no_rules_is_told_apart(tmp_path: Path, content: bytes, problem: str) -> None:
    """STYLE rule 11: file, line, value and the way out."""
    path = tmp_path / "rules.toml"
    path.write_bytes(content)
    assert told(path) == [f"rules.toml{problem}"]


def test_empty_list_of_rules_is_a_file_of_rules(tmp_path: Path) -> None:
    """Our promise: the last rule of a file can go."""
    assert load_rules(written(tmp_path, "rules = []")).rows == default_rules().rows


def test_too_many_rules_are_refused(tmp_path: Path) -> None:
    """RELIABILITY, promise 5: what is read has a bound."""
    path = written(tmp_path, *(f"[[rules]]\nid='r{n}'\n" for n in range(10_001)))
    assert told(path)[-1] == ("rules.toml:20001: The file has 10,001 rules: keep at most 10,000.")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        # types
        ("id = 5", "'id' is 5: write a text, in quotes."),
        ("any_of = 'x'", "'any_of' is 'x': write a list of texts, such as [\"rate limit\"]."),
        ("any_of = ['x', 5]", "'any_of' holds 5: write a text, in quotes."),
        ("vague = 'no'", "'vague' is 'no': write true or false, without quotes."),
        ("in_message = 0", "'in_message' is 0: write true or false, without quotes."),
        ("why = 2024-01-01", "'why' is datetime.date(2024, 1, 1): write a text, in quotes."),
        (
            f"why = 0x{'f' * 5_000}",
            "'why' is a number of too many digits: write a text, in quotes.",
        ),
        ("place = 'first'", "'place' is 'first': write \"before\" or \"after\"."),
        # keys
        ("anyof = ['x']", "'anyof' is no key of a rule: write any_of."),
        ("class = 'x'", "'class' is no key of a rule: write error_class."),
        ("'x y' = 1", f"'x y' is no key of a rule: use one of {KEYS}"),
        # what `rule` refuses
        ("id = ' '", "A rule needs an id, not ' ': give it one, such as 'rate.limited'."),
        ("why = ''", "Rule 'shop.closed' has no reason: say in why= what it is for, in one line."),
        ("any_of = ['ok', 'No']", f"Pattern 'No' of rule 'shop.closed' {PATTERN}"),
        ("not_with = ['']", f"Pattern '' of rule 'shop.closed' {PATTERN}"),
        (
            "any_of = []",
            "Rule 'shop.closed' matches nothing: give it a pattern in any_of= or ends=.",
        ),
        ("error_class = 'x'", f"Rule 'shop.closed' names the error class 'x', {CLASSES}"),
        (
            "outcome = 'done'",
            (
                "Rule 'shop.closed' names the outcome 'done', which does not exist: "
                "use one of not_done, unknown."
            ),
        ),
        (
            "action = 'Wait.'",
            (
                "The action 'Wait.' of rule 'shop.closed' does not fit the step 'wait':"
                " {wait} stands in it once if the step is 'wait', and else not at all."
            ),
        ),
        # ids
        (
            "id = 'timed.out'",
            ("The id 'timed.out' is that of a built-in row: give the rule another one."),
        ),
        (
            "id = 'unknown'",
            "The id 'unknown' is that of a built-in row: give the rule another one.",
        ),
    ],
    ids=lambda value: value[:20],
)
def test_mistake_is_told_with_its_line_and_what_to_write(
    tmp_path: Path, line: str, problem: str
) -> None:
    """STYLE rule 11: file, line, value and the way out."""
    key = line.partition(" = ")[0]
    lines = RULE.splitlines()
    at = next((at for at, known in enumerate(lines) if known.startswith(f"{key} =")), len(lines))
    lines[at : at + 1] = [line]
    assert told(written(tmp_path, "\n".join(lines))) == [f"rules.toml:{at + 1}: {problem}"]


def test_missing_keys_are_told_with_an_example(tmp_path: Path) -> None:
    """STYLE rule 11: the way out."""
    assert told(written(tmp_path, "\n\n[[rules]]\n")) == [
        "rules.toml:3: The rule has no 'id': add a line such as id = \"shop.closed\".",
        (
            "rules.toml:3: The rule has no 'error_class': add a line such as"
            ' error_class = "unavailable".'
        ),
        "rules.toml:3: The rule has no 'outcome': add a line such as outcome = \"unknown\".",
        "rules.toml:3: The rule has no 'why': add a line such as why = \"Shops close at night.\".",
    ]


@pytest.mark.parametrize("key", ["id", "any_of", "error_class", "outcome", "why"])
def test_misspelled_key_is_not_missed_as_well(tmp_path: Path, key: str) -> None:
    """Our promise: one line for each mistake."""
    (problem,) = told(written(tmp_path, RULE.replace(f"\n{key} =", f"\n{key}_ =")))
    assert problem.endswith(f": '{key}_' is no key of a rule: write {key}.")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    """Our promise: a file is corrected in one go."""
    path = written(
        tmp_path,
        'title = "Shop"\n',
        '[[rules]]\nid = "a"\nany_of = ["No", "ok", "Nor"]\nnot_with = [5, "Nay"]\n'
        'error_class = "invalid"\nretryable = true\naction = "Wait {wait}."\noutcome = "maybe"\n'
        'why = "Many."\n',
        '[[rules]]\nid = "a"\nends = []\nerror_class = "invalid"\nstep = "fly"\nretryable = true\n'
        'outcome = "unknown"\nwhy = ""\n',
    )
    step = (
        "use one of wait, reconnect, prepare, sign_in, ask_user, check_effect, fix_arguments,"
        " list_first, reduce_scope, use_other_tool, ask_permission, report, none."
    )
    assert told(path) == [
        "rules.toml:1: 'title' is no key of a file of rules: write [[rules]] above each rule.",
        f"rules.toml:4: Pattern 'No' of rule 'a' {PATTERN}",
        f"rules.toml:4: Pattern 'Nor' of rule 'a' {PATTERN}",
        "rules.toml:5: 'not_with' holds 5: write a text, in quotes.",
        f"rules.toml:5: Pattern 'Nay' of rule 'a' {PATTERN}",
        (
            "rules.toml:7: Rule 'a' says retryable=True, but 'invalid' is not retryable: leave"
            " retryable out or choose another class."
        ),
        (
            "rules.toml:8: The action 'Wait {wait}.' of rule 'a' does not fit the step"
            " 'fix_arguments': {wait} stands in it once if the step is 'wait', and else not at all."
        ),
        (
            "rules.toml:9: Rule 'a' names the outcome 'maybe', which does not exist: use one of"
            " not_done, unknown."
        ),
        "rules.toml:12: The id 'a' is that of the rule in line 3, too: rename one of them.",
        f"rules.toml:15: Rule 'a' names the step 'fly', which does not exist: {step}",
        "rules.toml:18: Rule 'a' has no reason: say in why= what it is for, in one line.",
    ]


def test_long_value_is_shortened_and_its_way_out_is_not(tmp_path: Path) -> None:
    """RELIABILITY, promise 5: a message has a bound."""
    text = RULE.replace("shop closed", "X" * 100_000).replace('"shop.closed"', f'"{"i" * 120}"')
    (problem,) = told(written(tmp_path, text))
    assert len(problem) < 600
    assert problem.startswith("rules.toml:3: Pattern 'XXX")
    assert problem.endswith("of a word that has 3 characters or more beside it.")
