"""
On which line of a TOML text something stands.

tomllib does not tell. But the text before a line can be parsed just when the line begins a
statement, and not when it is part of a text or a list.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

MOST_PARSED = 16 * 1024 * 1024
"""Characters; beyond, lines are not looked for: a file of a thousand mistakes takes seconds."""

_HEADER = re.compile(r"""\A[ \t]*\[\[[ \t]*(?:rules|"rules"|'rules')[ \t]*\]\]""")

_NAME = r"""("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*[\].=]"""
_BEGINS = re.compile(rf"\A[ \t]*(\[{{1,2}}[ \t]*)?{_NAME}")
_BEGINS_IN_RULE = re.compile(rf"\A[ \t]*(\[{{1,2}}[ \t]*rules\.)?{_NAME}")
"""A statement up to its first name, for instance ``[[rules.why`` or ``'why' =``."""

Document = Mapping[str, Any]


class Lines:
    """The lines of a TOML text that can be parsed; they are counted from 1, rules from 0."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._left = MOST_PARSED

    def of(self, rule: int | None, key: str | None) -> int | None:
        """
        The line of a key of a rule, or of the rule if that cannot be told or *key* is ``None``.

        Returns:
            ``None`` if it cannot be told either: the rule has no header of its own.
        """
        end = len(self._lines)
        if rule is None:
            lines, table = range(end), ""
        elif (header := self._headers.get(rule)) is not None:
            lines, table = range(header, self._headers.get(rule + 1, end)), "rules."
        else:
            return None
        line = None if key is None else self._of_key(key, lines, table)
        return line if line or rule is None else lines.start + 1

    @cached_property
    def _headers(self) -> dict[int, int]:
        """Where the headers are, by the number of their rule; from each to the next is parsed."""
        found: dict[int, int] = {}
        start, rule = 0, 0
        for at, line in enumerate(self._lines):
            if _HEADER.match(line) and (part := self._parsed(start, at)) is not None:
                rule += len(part.get("rules", ()))
                found[rule] = start = at
        return found

    def _of_key(self, key: str, lines: range, table: str) -> int | None:
        """The first of *lines* at which a statement that begins with *key* defines it."""

        def defined(part: Document) -> bool:
            return key in (part["rules"][0] if table else part)

        quoted = json.dumps(key, ensure_ascii=False)
        spellings = (key, quoted, f"'{key}'")
        begins = _BEGINS_IN_RULE if table else _BEGINS
        for at in lines:
            if (match := begins.match(self._lines[at])) and match[2] in spellings:
                statement = f"[{table}{quoted}]" if match[1] else f"{quoted} = 0"
                part = self._parsed(lines.start, at, statement)
                if part is not None and defined(part):
                    before = self._parsed(lines.start, at)  # it may be there in another spelling
                    return None if before is None or defined(before) else at + 1
        return None

    def _parsed(self, start: int, stop: int, statement: str = "") -> Document | None:
        text = "\n".join((*self._lines[start:stop], statement))
        self._left -= len(text)
        if self._left < 0:
            return None
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError):
            return None
