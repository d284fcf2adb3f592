"""Envelopes that make a failure without a general marker, and one level of wrapping around them."""

from __future__ import annotations

from ._evidence import (
    Payload,
    flag_of,
    has_code,
    has_text,
    has_witness,
    identified,
    marked,
    number_of,
    recorded,
    says_why,
    word_of,
)
from ._scalars import code_of, first_of, mapping_of, status_of
from ._words import (
    ADDED_KEYS,
    ERROR_OBJECT_KEYS,
    ERROR_WORDS,
    FEW_KEYS,
    ROW_KEYS,
    STATE_KEYS,
    VERDICT_KEYS,
    WITNESS_KEYS,
)

ELICITATION = -32042
"""MCP's "URL elicitation required": a question, and a call that is not finished."""


def json_rpc(payload: Payload) -> bool:
    """Whether *payload* is a JSON-RPC error, also without its envelope."""
    code, message = payload.get("code"), payload.get("message")
    if type(code) is not int or code == ELICITATION or type(message) is not str:
        return False
    return 32_000 <= abs(code) <= 32_768 or message.startswith("MCP error ")


def typed(payload: Payload) -> bool:
    """
    Whether *payload* calls itself an error, and says why.

    ``{"object": "error"}`` as servers of OpenAI's protocol do; ``{"type": "error"}`` with next to
    nothing else, since lines of logs have a type, too.
    """
    if type(payload.get("message")) is not str:
        return False
    if payload.get("object") == "error":
        return True
    return payload.get("type") == "error" and _TYPED_KEYS.issuperset(payload)


_TYPED_KEYS = frozenset(
    (
        *ADDED_KEYS, "type", "message", "request_id", "requestId", "doc_url", "param",
    )
)  # fmt: skip


def amazon(payload: Payload) -> bool:
    name = payload.get("__type")
    if type(name) is str and 0 < len(name) <= 256:
        return (
            "message" in payload
            or "Message" in payload
            or name.endswith(("Exception", "Error", "Fault"))
        )
    return code_of(payload.get("Code")) is not None and type(payload.get("Message")) is str


def problem(payload: Payload) -> bool:
    """RFC 9457, also without ``status``: only members of a problem, and a URI as ``type``."""
    kind = payload.get("type")
    if type(kind) is not str or type(payload.get("title")) is not str or len(payload) > FEW_KEYS:
        return False
    if not (kind.startswith(("about:", "urn:", "/")) or "://" in kind[:16]):
        return False
    if not payload.keys().isdisjoint(("id", "url", "href", "links", "items")):
        return False
    return "detail" in payload or "instance" in payload or _PROBLEM_KEYS.issuperset(payload)


_PROBLEM_KEYS = frozenset(
    (
        "type", "title", "status", "detail", "instance", "errors", "code", "traceId", "requestId",
        "request_id", "retry_after", "timestamp", *ADDED_KEYS,
    )
)  # fmt: skip


def wrapped(payload: Payload) -> Payload | None:
    """
    Return the failure inside one level of wrapping, or ``None``.

    Under ``result``, ``response``, ``data`` and objects named after errors; and under any name that
    stands alone, as in ``{"itemNotFound": {"code": 404, "message": ...}}``.
    """
    if "request" in payload or "event" in payload:
        return None  # a recorded exchange, or what a webhook tells
    for key in ("result", "response", "data"):
        inner = mapping_of(payload.get(key))
        if inner is not None and explicit(inner):
            return inner
    return alone(payload)


def alone(payload: Payload) -> Payload | None:
    """Return the mapping under the only key but those that waypost adds, if it tells an error."""
    if len(payload) > len(ADDED_KEYS) + 1:
        return None
    keys = list(payload.keys() - ADDED_KEYS)
    if keys == ["detail"] and (row := mapping_of(first_of(payload["detail"]))):
        return row if _PYDANTIC.issubset(row) else None  # FastAPI's 422
    inner = mapping_of(payload[keys[0]]) if len(keys) == 1 else None
    if inner is None or identified(inner) or recorded(inner) or "body" in inner:
        return None
    if keys[0] in _ALONE_KEYS:
        told = keys[0] != "meta" and explicit(inner)
        return inner if told or _complains(inner, keys[0] in _OWN_OBJECTS) else None
    bare = (status_of(inner.get("code")) or 0) >= 400 and type(inner.get("message")) is str
    return inner if bare and _names_one(keys[0]) else None


_PYDANTIC = frozenset(("loc", "msg", "type"))
_OWN_OBJECTS = frozenset(("detail", *ERROR_OBJECT_KEYS))
"""Objects of an error's own: under ``detail`` FastAPI puts whatever was raised."""

_ALONE_KEYS = frozenset(("meta", "status")) | _OWN_OBJECTS


def _complains(inner: Payload, own: bool) -> bool:
    """Whether an object that stands alone tells an error, and no state, rows or counts."""
    if not inner.keys().isdisjoint(_TOLD_OF):
        return False
    number = number_of(inner) or status_of(inner.get("code")) or 0
    coded = has_code(inner) or (own and code_of(inner.get("code")) is not None)
    said = has_text(inner, _SAID)
    return (coded and (said or number >= 400)) or (number >= 400 and said)


_TOLD_OF = (STATE_KEYS | ROW_KEYS | {"occurrences"}) - {"status"}
_SAID = frozenset(WITNESS_KEYS) - {"title"}


def _names_one(key: object) -> bool:
    """Whether *key* is itself the name of an error, as OpenStack's ``itemNotFound`` is."""
    if type(key) is not str or not key.isidentifier():
        return False
    name = key.lower().replace("_", "")
    return name.endswith(_ERROR_NAMES) and not name.startswith(("last", "prev", "expect"))


_ERROR_NAMES = (
    "error", "fault", "exception", "failure", "notfound", "badrequest", "unauthorized",
    "forbidden", "conflict", "conflictingrequest", "limit", "invalid", "denied", "unavailable",
    "unprocessable", "toomanyrequests", "badmediatype", "timeout", "notallowed", "inprogress",
)  # fmt: skip


def explicit(payload: Payload) -> bool:
    """Whether an inner mapping is an error envelope, not a row that has an ``error`` field."""
    if not marked(payload) or identified(payload) or recorded(payload):
        return False
    if not payload.keys().isdisjoint(VERDICT_KEYS):
        return False
    if word_of(payload.get("status")) in ERROR_WORDS or payload.get("isError") is True:
        return True
    flag = flag_of(payload)
    if flag is not None:
        return flag is False and says_why(payload)
    if payload.get("is_error") is True or number_of(payload) >= 400:
        return has_witness(payload) and "body" not in payload
    error = mapping_of(payload.get("error")) or mapping_of(payload.get("Error"))
    return (
        bool(error and _describes(error))
        or json_rpc(payload)
        or amazon(payload)
        or problem(payload)
    )


def _describes(error: Payload) -> bool:
    return not error.keys().isdisjoint(("code", "message", "type", "status", "reason", "Code"))
