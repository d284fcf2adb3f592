"""The page of the rules: the table in its order, and the numbers beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType

from waypost.core import _lasting, _numbers, _passing, _sign_in, _verdicts
from waypost.core._actions import CLASS_DEFAULTS
from waypost.core._advice import _DELAY_NAMED, ASKING
from waypost.core._classify import explain
from waypost.core._model import Outcome, Rule
from waypost.core._rules import RULES, SIGN_IN_PHRASES, UNKNOWN_RULE

from ._classes import said
from ._markdown import code, codes, section, sentences, slug, table, yes_no

__all__ = ["BESIDE", "FAMILIES", "page"]

BESIDE = (
    (ASKING.id, ASKING.why),
    (_DELAY_NAMED.rule, "No row matches, but the tool names a delay: it can be called again."),
    (UNKNOWN_RULE.id, UNKNOWN_RULE.why),
)
"""What stands under ``rule`` without a row in the table."""

_INTRODUCTION = """
Error codes are sorted by an ordered table of {count} rules; the first row that matches decides.
A row is matched word by word: `OrderNotFound`, `order_not_found` and `ORDER-NOT-FOUND` are the
words "order not found".
The words of a pattern stand side by side, anywhere in the code; a final `Exception` or `Error` is
not counted.
`*` at the end, or the beginning, of a word stands for the rest of it.
Where a row also reads messages, its patterns are looked for in the words of the message, too.
The rows about sign-ins are read in messages even when the code says something else.
A row that is vague decides only if no further code and no message says more.
"""

_READING = """
Each row has an id, which is `rule` in guidance and `waypost.rule` in telemetry.
The command line says which row won, and which ones it shadowed:

```console
$ waypost classify {code} --explain
...
rule         {rule}
...
shadowed     {shadowed}
```
"""
_EXAMPLE = "RATE_LIMIT_TIMEOUT"

_PHRASES = """
Scripts without spaces between words, or without the letters a to z, are looked for as they stand,
and only in messages that are not ASCII:
"""

_OUTCOMES = {
    Outcome.NOT_DONE: "nothing was done",
    Outcome.UNKNOWN: "unknown whether the work was done",
}

_PARTS: tuple[tuple[str, tuple[Rule, ...], str], ...] = (
    ("Lookalikes", _sign_in.LOOKALIKES, "What only looks like a sign-in, and stands above them."),
    ("Sign-ins", _sign_in.SIGN_IN_RULES, ""),
    ("Verdicts", _verdicts.VERDICTS, ""),
    ("Failures that pass", _passing.PASSING, ""),
    ("Failures that stay", _lasting.LASTING, ""),
)
_MODULES = {
    "Sign-ins": _sign_in,
    "Verdicts": _verdicts,
    "Failures that pass": _passing,
    "Failures that stay": _lasting,
}

FAMILIES: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    (
        "HTTP",
        "A status of three digits: the whole code, or a number after words such as `HTTP`.",
        _numbers.HTTP_STATUS,
    ),
    (
        "JSON-RPC and MCP",
        "The codes of JSON-RPC, MCP and the language server protocol, also without the sign.",
        _numbers.JSON_RPC,
    ),
    ("gRPC", "A number behind the word `grpc`.", _numbers.GRPC),
    (
        "SQLSTATE",
        "Five characters, known ones as they stand.",
        _numbers.SQLSTATES,
    ),
    (
        "SQLSTATE classes",
        "The first two characters of those that are not listed above.",
        _numbers.SQLSTATE_CLASSES,
    ),
    (
        "errno",
        "Names of POSIX, Node.js and NFS, in codes and in messages.",
        {name.upper(): row for name, row in _numbers.ERRNO.items()},
    ),
    (
        "DNS, Redis and ZooKeeper",
        "Names without a joint between their words, where they are the whole code.",
        {name.upper(): row for name, row in _numbers.SHORT_NAMES.items()},
    ),
    ("MySQL", "A number behind the word `mysql`.", _numbers.MYSQL),
    ("Oracle", "A number behind `ORA` or `oracle`, without the zeros before it.", _numbers.ORACLE),
)


def page() -> str:
    """Return the page."""
    rows = tuple(row for _, part, _ in _PARTS for row in part)
    if rows != RULES:
        raise ValueError("docs/_rules.py: _PARTS is not the table any more; write its parts anew.")
    return section(
        1,
        "Rules",
        sentences(_INTRODUCTION.format(count=len(RULES))),
        _reading(),
        *(_part(*part) for part in _PARTS),
        section(2, "Beside the table", table(("Rule", "Why"), _beside())),
        _tables_of_numbers(),
    )


def _reading() -> str:
    found = explain(_EXAMPLE)
    shadowed = ", ".join(row.id for row in found.shadowed)
    return _READING.strip().format(code=_EXAMPLE, rule=found.rule.id, shadowed=shadowed)


def _beside() -> Iterable[tuple[str, str]]:
    return ((code(id_), why) for id_, why in BESIDE)


def _part(title: str, rows: tuple[Rule, ...], reason: str) -> str:
    phrases = "\n\n".join(
        (
            sentences(_PHRASES),
            " · ".join(phrase for each in SIGN_IN_PHRASES.values() for phrase in each),
        )
    )
    return section(
        2,
        title,
        reason or _reason(_MODULES[title]),
        table(
            ("Rule", "Class", "Retryable", "Next step", "Outcome"),
            (
                (
                    f"[{code(row.id)}](#{slug(row.id)})",
                    code(row.error_class),
                    yes_no(row.retryable),
                    code(row.step),
                    code(row.outcome),
                )
                for row in rows
            ),
        ),
        *map(_row, rows),
        section(3, "Sign-ins in other scripts", phrases) if title == "Sign-ins" else "",
    )


def _reason(module: ModuleType) -> str:
    """Return what the module of a part says of itself, in Markdown."""
    return sentences((module.__doc__ or "").replace("``", "`"))


def _row(row: Rule) -> str:
    usual = row.action == CLASS_DEFAULTS[row.error_class].action
    cls = f"[{code(row.error_class)}](error-classes.md#{slug(row.error_class)})"
    facts = {
        "Class": f"{cls}, {'retryable' if row.retryable else 'not retryable'}",
        "Outcome": _OUTCOMES[row.outcome],
        "Next action": "" if usual else said(row.action).replace("\n", "\n  "),
        "Reads": "error codes and messages" if row.in_message else "error codes",
        "Words": codes(row.any_of),
        "Words at the end": codes(row.ends),
        "Only beside": codes(row.only_with),
        "Not beside": codes(row.not_with),
        "Vague": _vagueness(row),
    }
    return section(
        3,
        code(row.id),
        sentences(row.why),
        "\n".join(f"- {name}: {fact}" for name, fact in facts.items() if fact),
    )


def _vagueness(row: Rule) -> str:
    if not row.vague:
        return ""
    asked = "further codes and the message are asked first"
    if not row.refined_by or len(row.refined_by) > _FEW_CLASSES:
        return asked
    return f"{asked}; a message counts if it tells of {codes(row.refined_by)}"


_FEW_CLASSES = 4


def _tables_of_numbers() -> str:
    return section(
        2,
        "Numbers",
        _reason(_numbers),
        *(
            section(3, title, how, table(("Rule", "Class", "Codes"), _by_rule(codes_to_rules)))
            for title, how, codes_to_rules in FAMILIES
        ),
    )


def _by_rule(codes_to_rules: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    """The codes of a family, those of one row together, in the order of the table."""
    for row in RULES:
        found = sorted(name for name, id_ in codes_to_rules.items() if id_ == row.id)
        if found:
            yield f"[{code(row.id)}](#{slug(row.id)})", code(row.error_class), codes(found)
