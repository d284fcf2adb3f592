"""``waypost rules lint``: which rules and patterns never decide."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from ..core._classify import default_rules
from ..core._model import RuleError
from ..core._shadows import Finding, Hidden, Kind, findings
from ..rule_file import RuleFile, read_rules

_SEVERITIES: dict[Kind, str] = {
    "never_decides": "fault",
    "shadowed": "warning",
    "barred": "warning",
    "redundant": "note",
    "overruled": "note",
}
_SAID: dict[Kind, str] = {
    "never_decides": "rule {id!r} never decides: {hidden}. Change it, move it up, or leave it out.",
    "shadowed": "rule {id!r} never decides by one of its patterns: {hidden}.",
    "barred": "rule {id!r} bars one of its own patterns: {hidden}.",
    "redundant": "rule {id!r} does not need one of its patterns: {hidden}.",
    "overruled": "built-in rule {id!r} no longer decides{numbers}: {others} has all its patterns.",
}


def run(path: Path | None, *, as_json: bool) -> int:
    """
    Print what is odd about the rules of a file, or about the built-in ones.

    Returns:
        The exit code: 0; 1 if a rule never decides; 2 if there is no file of rules.
    """
    try:
        file = None if path is None else read_rules(path)
    except RuleError as exc:
        print(exc, file=sys.stderr)
        return 2
    rows = None if file is None else file.numbers.keys()
    found = findings(default_rules() if file is None else file.book, rows)
    facts = [_facts(finding, file, path) for finding in found]
    facts.sort(key=lambda each: each["line"] or 0)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    for each in [] if as_json else facts:
        place = each["file"] or "built-in"
        place += f":{each['line']}" if each["line"] else ""
        typer.echo(f"{place}: {each['severity']}: {each['message']}")
    if not facts and not as_json:
        typer.echo("Every pattern of every rule can decide.")
    return int(any(each["severity"] == "fault" for each in facts))


def _facts(finding: Finding, file: RuleFile | None, path: Path | None) -> dict[str, Any]:
    return {
        "severity": _SEVERITIES[finding.kind],
        "kind": finding.kind,
        "file": None if path is None else str(path),
        "line": None if file is None else _line(finding, file),
        "rule": finding.row.id,
        "patterns": [
            {
                "pattern": hidden.pattern,
                "covered_by": [{"rule": row.id, "pattern": other} for row, other in hidden.by],
            }
            for hidden in finding.hidden
        ],
        "message": _told(finding),
    }


def _line(finding: Finding, file: RuleFile) -> int | None:
    """Where the row stands; of a built-in row, the first of those that overrule it."""
    rows = [finding.row] if finding.row in file.numbers else finding.others
    return file.lines.of(min(file.numbers[row] for row in rows if row in file.numbers), None)


def _told(finding: Finding) -> str:
    others = " and ".join(repr(row.id) for row in finding.others)
    hidden = "; ".join(map(_covered, finding.hidden))
    numbers = ", but where a number leads to it" if finding.looked_up else ""
    said = _SAID[finding.kind]
    return said.format(id=finding.row.id, others=others, hidden=hidden, numbers=numbers)


def _covered(hidden: Hidden) -> str:
    by = " and ".join(f"{pattern!r} of {row.id!r}" for row, pattern in hidden.by)
    return f"wherever {hidden.pattern!r} stands, {by} does"
