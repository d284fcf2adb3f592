"""Where in a file a mistake stands; what cannot be told exactly is not told."""

from __future__ import annotations

import string
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from tests.rule_file.files import RULE, told, written
from waypost import RuleBook, RuleError, load_rules
from waypost.rule_file._lines import Lines

# Each has a rule, of which the key "why" is looked for.
TRAPS = {
    "header in a text": ("why = 1\n[[rules]]\nx = '''\n[[rules]]\nwhy = 1\n'''\nwhy = 2", 0, 7),
    "header in a list": ("[[rules]]\nx = [\n[['rules']],\n]\n[[rules]]\nwhy = 2", 1, 6),
    "key in a text": ('[[rules]]\nx = """\nwhy = 1\n"""\nwhy = 2', 0, 5),
    "key of another rule": ("[[rules]]\nid = 1\n[[rules]]\nwhy = 2", 0, 1),
    "key of a table below": ("[[rules]]\nwhy.a = 1\n[rules.b]\nwhy = 2", 0, 2),
    "key that is a table": ("[[rules]]\nid = 1\n[ rules.why ]\nb = 2", 0, 3),
    "key in quotes": ("[[ 'rules' ]] # first\n'why' = 2", 0, 2),
    "key in escapes": ('[[rules]]\n"wh\\u0079" = 1\n[rules.b]\nwhy = 2', 0, 1),
    "header in escapes": ('[["rule\\u0073"]]\nid = 0\n[[rules]]\nwhy = 1', 1, 4),
    "no header": ("rules = [{ why = 1 }]", 0, None),
    "header that nobody can spell": ('[["rule\\u0073"]]\nwhy = 1', 0, None),
    "lines of Windows": ("[[rules]]\r\nid = 1\r\nwhy = 2\r\n", 0, 3),
    "not UTF-8's line ends": ("[[rules]]\nid = '\u2028\x85'\nwhy = 2", 0, 3),
}  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "line"), TRAPS.values(), ids=TRAPS)
def test_line_is_that_of_the_key_or_of_the_rule_or_unknown(
    text: str, rule: int, line: int | None
) -> None:
    """Our promise: a line that is told is the right one."""
    tomllib.loads(text)
    assert Lines(text).of(rule, "why") == line


def test_keys_of_the_file_are_found_outside_of_rules() -> None:
    """Our promise: `[[rule]]` is told where it stands, not where a rule has a key of that name."""
    text = "a = 1\n[[rules]]\nrule = 1\n[[rule]]\n'b' = 1\n[c]\n[d.e]\n"
    lines = Lines(text)
    assert [lines.of(None, key) for key in ("a", "rule", "b", "c", "d", None)] == [
        1, 4, None, 6, 7, None
    ]  # fmt: skip


def test_rule_without_a_line_is_told_by_its_number(tmp_path: Path) -> None:
    """Our promise: a rule in an inline table can be found, too."""
    same = '{id = "a", any_of = ["x"], error_class = "invalid", outcome = "unknown", why = "W."}'
    assert told(written(tmp_path, f"rules = [{same}, {same}]")) == [
        "rules.toml: rule 2: The id 'a' is that of the rule in rule 1, too: rename one of them."
    ]


def test_lines_are_not_looked_for_without_end(tmp_path: Path) -> None:
    """RELIABILITY, promise 5: a hostile file costs seconds, not hours."""
    headers = "[[rules]]\n" * 5_000
    path = written(
        tmp_path, RULE, f"x = '''\n{headers}'''\n", RULE.replace("shop.closed", "b"), "y=1"
    )
    assert [problem.partition(" is no key")[0] for problem in told(path)] == [
        "rules.toml: rule 2: 'y'",
        "rules.toml:1: 'x'",
    ]


# Whatever stands in a file, it is loaded or a RuleError says why.

NAMES = ("id", "any_of", "ends", "not_with", "error_class", "retryable", "step", "outcome",
         "action", "why", "in_message", "vague", "place", "anyof", "x y", '"', "")  # fmt: skip
TEXTS = st.sampled_from(
    ("a", "b", "rate limit", "quota*", "No", "", "invalid", "timeout", "none", "wait", "unknown",
     "not_done", "before", "after", "Wait {wait}.", "Stop.", "timed.out", "[[rules]]", "why = 1")
) | st.text(st.characters(max_codepoint=127), max_size=6)  # fmt: skip


def spelled(text: str) -> str:
    escaped = "".join(
        char
        if char in string.ascii_letters + string.digits + " *.[]{}=_"
        else f"\\u{ord(char):04x}"
        for char in text
    )
    return f'"{escaped}"'


SPELLED = TEXTS.map(spelled) | st.sampled_from(
    ("true", "false", "5", "0x" + "f" * 5_000, "1.5", "nan", "2024-01-01", "{a = 1}", "[[]]",
     "'''\n[[rules]]\nwhy = 1\n'''", '["a",\n"b", # "c"\n]')
)  # fmt: skip
VALUES = SPELLED | st.lists(SPELLED, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
KEYS = st.sampled_from(NAMES).map(lambda key: key if key.isidentifier() else spelled(key))
STATEMENTS = st.builds("{} = {}\n".format, KEYS, VALUES) | st.sampled_from(
    ("[[rules]]\n", "[[rules]]\n", "[rules.why]\n", "why.a = 1\n", "[[rule]]\n", "\n", "# x\n",
     "[a]\n", '[["rules"]]\n', RULE, RULE.replace("[[rules]]\n", ""))
)  # fmt: skip
WHOLE = {
    "id": '"z"', "any_of": '["zz"]', "error_class": '"timeout"', "outcome": '"unknown"',
    "why": '"W."',
}  # fmt: skip
CHANGED = st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=4).map(
    lambda tables: "".join(
        "[[rules]]\n" + "".join(f"{key} = {value}\n" for key, value in (WHOLE | table).items())
        for table in tables
    )
)
DOCUMENTS = (
    CHANGED
    | st.lists(STATEMENTS, max_size=10).map("".join)
    | st.text(st.characters(max_codepoint=127), max_size=60)
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules") / "rules.toml"


def loaded(file: Path, content: bytes) -> RuleBook | list[str]:
    file.write_bytes(content)
    try:
        return load_rules(file)
    except RuleError as error:
        return str(error).split("\n")


@settings(max_examples=300)
@given(DOCUMENTS)
@example("a." * 5_000 + "b = 1")
@example("[[rules]]\nwhy = " + "[" * 100 + "]" * 100)
@example("[[rules]]\nwhy." + "a." * 5_000 + "b = 1")
def test_every_text_is_a_book_or_an_error_in_lines(file: Path, text: str) -> None:
    """Our promise: nothing but a RuleError, and each of its lines names a place in the file."""
    found = loaded(file, text.encode())
    if isinstance(found, RuleBook):
        return
    for problem in found:
        assert problem.startswith(f"{file}:")
        assert problem.isprintable()
        assert len(problem) <= 600
        place = problem.removeprefix(f"{file}:").partition(":")[0]
        if place.isdigit():
            assert 1 <= int(place) <= text.count("\n") + 1


@settings(max_examples=200)
@given(st.binary(max_size=40))
def test_bytes_are_a_book_or_an_error(file: Path, content: bytes) -> None:
    """Our promise: also where they are no text."""
    loaded(file, content)


@settings(max_examples=200)
@given(CHANGED, st.sampled_from([name for name in NAMES if name != '"']))
def test_line_of_a_key_is_where_the_text_stops_to_parse_without_it(text: str, key: str) -> None:
    """Our promise: lines are exact. With the line commented out, the key is gone, or nothing is."""
    try:
        rules: list[dict[str, Any]] = tomllib.loads(text).get("rules", [])
    except tomllib.TOMLDecodeError:
        return
    for number, table in enumerate(rules):
        if key not in table:
            continue
        lines = text.split("\n")
        line = Lines(text).of(number, key)
        assert line is not None
        begun = tomllib.loads("\n".join(lines[: line - 1]))["rules"]
        assert (len(begun), key in begun[-1]) == (number + 1, False)
        stop = line
        while (after := parsed("\n".join(lines[:stop]))) is None:
            stop += 1
        assert key in after["rules"][number]


def parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
