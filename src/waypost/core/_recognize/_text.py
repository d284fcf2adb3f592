"""Texts: JSON that has the shape of a failure, and prose that the protocol flags as one."""

from __future__ import annotations

import json

from .._clean import MESSAGE_CHARS, PARSED_CHARS
from .._model import Failure, Origin
from ._evidence import marked
from ._read import read
from ._verdict import failed, failed_alone
from ._words import ADDED_KEYS

SIGNPOST = "[waypost]"
_JSON_STARTS = ("{", "[")
_LOOKED_AT = 4_096
_PREFIXES = ("Error executing tool ", "Error calling tool ")
_PREFIX_CHARS = 160
_PREFIX_SPACES = 3
_MARKER_KEYS = (
    '"error', '"status', '"ok"', '"success', '"isError"', '"is_error"', '"err', '"code"',
    '"__type"', '"Code"', '"Error', '"type"', '"fault"', '"exception"', '"http_', '"succeed',
)  # fmt: skip


def json_failure(text: str) -> Failure | None:
    """
    Return the failure in a text that nothing flags, or ``None``.

    Only JSON is looked at: at most 32 KiB that begin with a brace or bracket and hold a marker key
    in the first 4 KiB.
    """
    if len(text) > PARSED_CHARS or not text[:64].lstrip().startswith(_JSON_STARTS):
        return None
    head = text[:_LOOKED_AT]
    if not any(key in head for key in _MARKER_KEYS):
        return None
    payload, alone = _parsed(text)
    if payload is None:
        return None
    found = failed_alone(payload) if alone else marked(payload) and failed(payload)
    return read(payload, Origin.JSON_TEXT) if found else None


def flagged_failure(text: str, block: int) -> Failure:
    """
    Return the failure that a flagged text tells.

    Past 32 KiB it is not parsed, and its first 4 KiB are the message. A text that is nothing but
    the prefix of a framework stands for an exception that the framework hides: the tool crashed.
    """
    if len(text) > PARSED_CHARS + _PREFIX_CHARS:
        text = text[:PARSED_CHARS] + "..."  # never parsed, and not copied as a whole
    body = without_prefix(text)
    payload = None
    if len(body) <= PARSED_CHARS and body[:64].lstrip().startswith(_JSON_STARTS):
        payload, _ = _parsed(body)
    if payload:
        return read(payload, Origin.JSON_TEXT, block=block, message=_own_words(payload, body))
    hidden = not body.strip() and body != text
    message = (text if hidden else body)[:MESSAGE_CHARS]
    return Failure(
        payload={"message": message},
        details=(),
        code=None,
        more_codes=("tool_crashed",) if hidden else (),
        message="" if hidden else message,
        origin=Origin.PROSE,
        block=block,
    )


def own_words(text: str) -> str:
    """*text*, without waypost's members if it is JSON that was enriched."""
    if '"next_action"' not in text or not text[:64].lstrip().startswith(_JSON_STARTS):
        return text
    payload, _ = _parsed(text[:PARSED_CHARS])
    return text if payload is None else _own_words(payload, text)


def _own_words(payload: dict[str, object], text: str) -> str:
    if "next_action" not in payload:
        return text
    return json.dumps({key: value for key, value in payload.items() if key not in ADDED_KEYS})


def signatures(text: str) -> int:
    """How many lines of *text* claim to be waypost's."""
    head = text[:PARSED_CHARS]
    return head.startswith(SIGNPOST) + head.count(f"\n{SIGNPOST}")


def without_prefix(text: str) -> str:
    """Drop "Error executing tool x: ", which the MCP SDK and FastMCP put before a tool's words."""
    if not text.startswith(_PREFIXES):
        return text
    head, colon, _ = text[:_PREFIX_CHARS].partition(": ")
    if colon:
        return text[len(head) + 2 :]
    # The SDK hides the words of an unexpected exception: then only the tool's name is left.
    return "" if len(text) < _PREFIX_CHARS and text.count(" ") <= _PREFIX_SPACES else text


def _parsed(text: str) -> tuple[dict[str, object] | None, bool]:
    """Return the mapping that the JSON *text* holds, and whether it stands alone in a list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, False
    alone = type(value) is list and len(value) == 1
    if alone:
        value = value[0]
    return (value if type(value) is dict else None), alone
