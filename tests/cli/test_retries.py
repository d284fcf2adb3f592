"""``waypost retries``: recorded calls, judged line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from waypost.cli._app import app
from waypost.testing import replay

BUSY = {"ok": False, "error": "rate_limited", "retry_after": 20}
CALLS: list[dict[str, Any]] = [
    {"tool": "search", "arguments": {"q": "a"}, "payload": BUSY},
    {"tool": "search", "arguments": {"q": "a"}, "payload": BUSY, "after_s": 1},
    {"tool": "se\x1b[31march", "arguments": {}, "payload": {"ok": False, "error": "not_found"}},
    {"tool": "search", "arguments": {"q": "a"}, "payload": {"rows": []}, "after_s": 30},
]


def written(path: Path, *lines: object) -> str:
    path.write_text("\n\n".join(map(json.dumps, lines)), "utf-8")
    return str(path)


def test_each_call_is_told_in_a_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["retries", written(tmp_path / "calls.jsonl", *CALLS)])
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["1", "search", "1", "rate_limited", "true", "true", "-", "-"],
        ["2", "search", "2", "rate_limited", "true", "true", "too_early", "failed"],
        ["3", "se[31march", "1", "not_found", "false", "false", "-", "-"],
        ["4", "search", "3", "-", "-", "-", "followed", "recovered"],
    ]


def test_programs_are_told_the_same() -> None:
    lines = "\n".join(map(json.dumps, CALLS))
    result = CliRunner().invoke(app, ["retries", "-", "--json"], input=lines)
    assert json.loads(result.stdout) == [
        {"tool": call["tool"], **told} for call, told in zip(CALLS, replay(CALLS), strict=True)
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"tool": 1', "line 2 is no JSON: "),
        ("\udcff", "line 2 is no JSON: "),
        ("[1]", "line 2 is no call: a call is an object with tool, arguments and payload."),
        ('{"tool": "t", "payload": {}}', "call 2 has no 'arguments'; each call is a mapping with"),
    ],
)
def test_line_that_holds_no_call_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "calls.jsonl"
    text = f"{json.dumps(CALLS[0])}\n{line}\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = CliRunner().invoke(app, ["retries", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"{path}: {said}")
