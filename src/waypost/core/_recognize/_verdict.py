"""Whether a mapping is a failure: by its structure, never by a word in its prose."""

from __future__ import annotations

from itertools import islice

from ._envelopes import amazon, explicit, json_rpc, problem, typed, wrapped
from ._evidence import (
    Payload,
    flag_of,
    has_code,
    has_witness,
    identified,
    marked,
    number_of,
    recorded,
    says_why,
    says_why_inside,
    word_of,
)
from ._naming import names_error
from ._scalars import given, mapping_of
from ._words import (
    ADDED_KEYS,
    COUNT_KEYS,
    DONE_PREFIXES,
    ERROR_OBJECT_KEYS,
    ERROR_ROW_KEYS,
    ERROR_WORDS,
    FAILED_WORDS,
    FEW_KEYS,
    FLAG_KEYS,
    MARKERS,
    RECORD_KEYS,
    STATE_KEYS,
    SUCCESS_WORDS,
    VERDICT_KEYS,
    WORK_KEYS,
)


def failed(payload: Payload) -> bool:
    """Whether *payload*, which is `marked`, says of itself that the call failed."""
    get = payload.get
    if get("resultType") == "input_required":
        return False
    status = word_of(get("status"))
    if status is None and len(payload) == 1 and type(get("error")) is dict:
        return names_error(payload)  # the most common envelope
    if status in ERROR_WORDS:
        return not _reports(payload)
    if status in SUCCESS_WORDS and payload.keys().isdisjoint(_LOUD_KEYS):
        return False
    if "result" in payload and word_of(payload["result"]) in ERROR_WORDS:
        return not _reports(payload)
    if (
        get("isError") is True
        or get("is_error") is True
        or ("code" in payload and json_rpc(payload))
    ):
        return True
    return _failed_by_signs(payload, status)


def failed_alone(row: Payload) -> bool:
    """The same of the only element of a list: one that may be a row of anything is none."""
    if not ERROR_ROW_KEYS.issuperset(row) or (row.get("type") == "error" and "error" not in row):
        return False  # the second is a line of a console
    return marked(row) and failed(row)


def _failed_by_signs(payload: Payload, status: str | None) -> bool:
    """Weigh flags and status against each other, then signs of success against names of errors."""
    flag = flag_of(payload)
    if flag is True:
        return False
    number = number_of(payload)
    ended_badly = status in FAILED_WORDS or number >= 400
    if flag is False and _flagged(payload):
        return True
    if ended_badly:
        reported_on = (identified(payload) or recorded(payload)) and not (
            number and (_json_api(payload) or _argued(payload))
        )
        return (flag is False or _witnessed(payload, number)) and not reported_on
    if flag is False or status in SUCCESS_WORDS or 100 <= number <= 399 or _worked(payload):
        return False
    if not payload.keys().isdisjoint(VERDICT_KEYS) or recorded(payload):
        return False
    if any(given(payload[key]) for key in payload.keys() & STATE_KEYS) and identified(payload):
        return False
    return names_error(payload) or _enveloped(payload)


def _argued(payload: Payload) -> bool:
    """Whether a code stands beside ids of arguments, and nothing else is told of anything."""
    return (
        len(payload) <= FEW_KEYS
        and has_code(payload)
        and all(
            key in ERROR_ROW_KEYS or type(value) is list or type(value) is dict or _argument(key)
            for key, value in payload.items()
        )
    )


def _argument(key: object) -> bool:
    """Whether *key* is the id of a thing, not of something that ran or was sent."""
    return (
        type(key) is str and key.endswith(("_id", "Id", "ID")) and not key.lower().startswith(_RUNS)
    )


_RUNS = (
    "job", "run", "task", "execution", "delivery", "webhook", "check", "monitor", "invocation",
    "transaction", "message", "event", "build", "deploy", "attempt",
)  # fmt: skip


def _json_api(payload: Payload) -> bool:
    """Whether *payload* is an error of JSON:API, with an id of its own and a text for status."""
    return (
        type(payload.get("status")) is str
        and _JSON_API.issuperset(payload)
        and ("code" in payload or "detail" in payload or type(payload.get("source")) is dict)
    )


_JSON_API = frozenset(
    (
        *ADDED_KEYS, "id", "links", "status", "code", "title", "detail", "source", "meta",
    )
)  # fmt: skip
"""Members of an error of JSON:API, and what waypost adds."""


def _flagged(payload: Payload) -> bool:
    """Whether ``ok: false`` stands alone, or with a code or a text, and is no verdict."""
    if not payload.keys().isdisjoint(VERDICT_KEYS):
        return has_code(payload)
    alone = len(payload) == 1 or _OWN_KEYS.issuperset(payload)
    return alone or says_why(payload) or says_why_inside(payload, _WRAPPING_KEYS)


_OWN_KEYS = ADDED_KEYS.union(FLAG_KEYS)

_WRAPPING_KEYS = ("data", "result", "response", "details", "meta", *ERROR_OBJECT_KEYS)


_LOUD_KEYS = MARKERS - {"status", "data", "type", "content", "response"}
"""Keys that may speak of a failure beside a status that says success."""


def _reports(payload: Payload) -> bool:
    """Whether an error word is the state of a job, a batch or of checks, told without a reason."""
    if "input_request" in payload or "next_action" in payload:
        return False
    if not payload.keys().isdisjoint(RECORD_KEYS):
        return True
    message = payload.get("message")
    if (type(message) is str and message) or says_why(payload):
        return False
    return len(payload) > FEW_KEYS or any(
        type(value) is list or type(value) is dict for value in payload.values()
    )


def _witnessed(payload: Payload, number: int) -> bool:
    """Whether a failed status has a second witness, and is not that of a page that was fetched."""
    if payload.get("kind") == "Status" or has_code(payload):
        return True
    if given(payload.get("body")) and type(payload.get("code")) is not str:
        return False
    if has_witness(payload):
        return True
    named = "status_code" in payload or "statusCode" in payload
    return named and number >= 400 and says_why_inside(payload, islice(payload, FEW_KEYS))


def _worked(payload: Payload) -> bool:
    """Whether something was done: rows came back, or what worked stands beside what failed."""
    if len(payload) == 1 and "error" in payload:
        return False
    for key in payload.keys() & _WORKED_KEYS:
        if not given(value := payload[key]):
            continue
        if type(value) is not bool if key in COUNT_KEYS else not _empty_or_failed(value):
            return True
    return len(payload) <= FEW_KEYS and any(
        type(value) is list and value and type(key) is str and key.startswith(DONE_PREFIXES)
        for key, value in payload.items()
    )


_WORKED_KEYS = frozenset((*WORK_KEYS, *COUNT_KEYS))


def _empty_or_failed(value: object) -> bool:
    """GraphQL's ``{"me": null}`` is no data, and an error envelope is no work done."""
    mapping = mapping_of(value)
    if mapping is None:
        return False
    if len(mapping) <= FEW_KEYS and all(item is None for item in mapping.values()):
        return True
    return explicit(mapping) or (number_of(mapping) >= 400 and len(mapping) <= _TOLD)


_TOLD = 3
"""Members of what a failure says of itself beside its status, as WordPress does under ``data``."""


def _enveloped(payload: Payload) -> bool:
    """Envelopes without a general marker: AWS, RFC 9457, and one level of wrapping."""
    return amazon(payload) or problem(payload) or typed(payload) or wrapped(payload) is not None
