"""``waypost rules``, and ``--rules`` of the other commands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from waypost.cli._app import app
from waypost.core._classify import default_rules

BUILT_IN = {row.id: row for row in default_rules().rows}
LIMIT = BUILT_IN["rate.limited"].any_of[0]


def quoted(patterns: Iterable[str]) -> str:
    return json.dumps(list(patterns))


RULES = f"""\
[[rules]]
id = "shop.closed"
any_of = ["shop closed", "closed", "size closed"]
not_with = ["size"]
error_class = "unavailable"
outcome = "not_done"
why = "Shops close at night."

[[rules]]
id = "late"
any_of = ["{LIMIT}"]
not_with = {quoted(BUILT_IN["rate.limited"].not_with)}
error_class = "unavailable"
outcome = "not_done"
why = "A test."
place = "after"

[[rules]]
id = "locked"
any_of = {quoted(BUILT_IN["account.locked"].any_of)}
error_class = "forbidden"
outcome = "not_done"
why = "A test."

[[rules]]
id = "looping"
any_of = {quoted(BUILT_IN["redirect.loop"].any_of)}
error_class = "forbidden"
outcome = "not_done"
why = "A test."

[[rules]]
id = "shut"
any_of = ["shop closed", "shut", "shop shut now"]
ends = ["shut"]
error_class = "unavailable"
outcome = "not_done"
why = "A test."
"""


LINES = f"""\
1: note: rule 'shop.closed' does not need one of its patterns: wherever 'shop closed' stands, \
'closed' of 'shop.closed' does.
1: warning: rule 'shop.closed' bars one of its own patterns: wherever 'size closed' stands, \
'size' of 'shop.closed' does.
9: fault: rule 'late' never decides: wherever {LIMIT!r} stands, {LIMIT!r} of 'rate.limited' does. \
Change it, move it up, or leave it out.
18: note: built-in rule 'account.locked' no longer decides, but where a number leads to it: \
'locked' has all its patterns.
25: note: built-in rule 'redirect.loop' no longer decides: 'looping' has all its patterns.
32: note: rule 'shut' does not need one of its patterns: wherever 'shop shut now' stands, \
'shut' of 'shut' does.
32: note: rule 'shut' does not need one of its patterns: wherever 'shut' stands, \
'shut' of 'shut' does.
""".splitlines()


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.toml").write_text(RULES)
    return "rules.toml"


def test_explanation_names_the_rule_of_the_user_and_what_it_shadowed(rules: str) -> None:
    """DESIGN section 3: which row won and which it shadowed."""
    arguments = ["classify", "ACCOUNT_LOCKED", "--explain", "--json", "--rules", rules]
    facts = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert (facts["rule"], facts["shadowed"][0]) == ("locked", "account.locked")
    assert facts["error_class"] == "forbidden"


def test_rules_of_a_file_are_listed_where_they_stand(rules: str) -> None:
    """Our promise: the list is the table that decides, in its order."""
    listed = CliRunner().invoke(app, ["rules", "list", "--rules", rules, "--json"]).stdout
    ids = [row["id"] for row in json.loads(listed)]
    assert ids[:4] == ["shop.closed", "locked", "looping", "shut"]
    assert ids[-1] == "late"


@pytest.mark.parametrize(
    "command", [["classify", "X"], ["enrich"], ["rules", "list"]], ids=lambda words: words[0]
)
def test_file_that_holds_no_rules_is_wrong_usage(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our promise: exit code 2, the mistake with its line, and no traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.toml").write_text("\nrule = 1\n")
    result = CliRunner().invoke(app, [*command, "--rules", "rules.toml"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "rules.toml:2: 'rule' is no key of a file of rules: write [[rules]] above each rule.\n"
    )


def test_lint_names_what_never_decides_line_by_line(rules: str) -> None:
    """Our promise: each finding in one line, with its place, as other linters do."""
    result = CliRunner().invoke(app, ["rules", "lint", rules])
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [f"rules.toml:{line}" for line in LINES]


def test_lint_tells_programs_the_same(rules: str) -> None:
    """Our promise: ``--json`` on every command that reports."""
    result = CliRunner().invoke(app, ["rules", "lint", rules, "--json"])
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert [each["kind"] for each in facts] == [
        "redundant",
        "barred",
        "never_decides",
        "overruled",
        "overruled",
        "redundant",
        "redundant",
    ]
    assert facts[1] == {
        "severity": "warning",
        "kind": "barred",
        "file": "rules.toml",
        "line": 1,
        "rule": "shop.closed",
        "patterns": [
            {
                "pattern": "size closed",
                "covered_by": [{"rule": "shop.closed", "pattern": "size"}],
            }
        ],
        "message": "rule 'shop.closed' bars one of its own patterns: wherever 'size closed'"
        " stands, 'size' of 'shop.closed' does.",
    }


def test_lint_of_a_sound_file_says_so(tmp_path: Path) -> None:
    """Our promise: silence is no answer."""
    path = tmp_path / "rules.toml"
    path.write_text(RULES.partition("\n\n")[0].replace('"shop closed", "closed", "size c', '"c'))
    result = CliRunner().invoke(app, ["rules", "lint", str(path)])
    assert (result.exit_code, result.stdout) == (0, "Every pattern of every rule can decide.\n")
    assert CliRunner().invoke(app, ["rules", "lint", str(path), "--json"]).stdout == "[]\n"


def test_lint_names_rules_without_a_line_by_their_file(tmp_path: Path) -> None:
    """Our promise: a line is told where it is known."""
    path = tmp_path / "rules.toml"
    path.write_text(
        'rules = [{id = "a", any_of = ["xyz", "xyz"], error_class = "invalid",'
        ' outcome = "unknown", why = "A test."}]'
    )
    result = CliRunner().invoke(app, ["rules", "lint", str(path)])
    assert (result.exit_code, result.stdout) == (
        0,
        (
            f"{path}: note: rule 'a' does not need one of its patterns: wherever 'xyz' stands,"
            " 'xyz' of 'a' does.\n"
        ),
    )


def test_lint_of_the_built_in_table_finds_nothing() -> None:
    """Issue 4: the table keeps no pattern in vain."""
    result = CliRunner().invoke(app, ["rules", "lint"])
    assert result.exit_code == 0
    assert result.stdout == "Every pattern of every rule can decide.\n"


def test_lint_of_what_holds_no_rules_ends_with_2(tmp_path: Path) -> None:
    """Our promise: 1 means a rule that never decides, and nothing else."""
    result = CliRunner().invoke(app, ["rules", "lint", str(tmp_path / "no.toml")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"{tmp_path}/no.toml: The file cannot be read: No such file or directory."
        " Name a TOML file.\n"
    )
