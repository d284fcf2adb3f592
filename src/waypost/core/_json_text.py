"""JSON text that keeps every byte: members are put before its last brace."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._clean import PARSED_CHARS
from ._recognize import without_prefix


def with_members(text: str, members: Mapping[str, object]) -> str | None:
    """
    Return JSON *text* with the members that its mapping lacks, or ``None`` if it holds no mapping.

    The mapping may stand behind the prefix of a framework, or be the only element of a list. Past
    32 KiB no text is parsed.
    """
    if len(text) > PARSED_CHARS * 2:
        return None
    body = without_prefix(text)
    if len(body) > PARSED_CHARS or not body[:64].lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    mapping = value[0] if type(value) is list and len(value) == 1 else value
    if type(mapping) is not dict:
        return None
    missing = {key: value for key, value in members.items() if key not in mapping}
    if not missing:
        return text
    return inserted(text, json.dumps(missing)[1:-1], alone=not mapping)


def inserted(text: str, members: str, *, alone: bool) -> str:
    """
    Put *members*, which are JSON, before the brace that closes the mapping of *text*.

    Args:
        text: A mapping, or a list of it alone: its last brace closes the mapping itself.

        alone: Whether the mapping has no members of its own.
    """
    joint = "" if alone else ", "
    if text[-1] == "}" and text[-2] not in " \t\r\n":  # the common case, at once
        return f"{text[:-1]}{joint}{members}}}"
    # White space before the brace, as in indented JSON, stays between the new members and it.
    end = len(text[: text.rindex("}")].rstrip())
    return f"{text[:end]}{joint}{members}{text[end:]}"
