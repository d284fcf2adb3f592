"""Whether a mapping is a failure: by its structure, never by a word in its prose."""

from __future__ import annotations

from ._envelopes import ELICITATION, amazon, explicit, json_rpc, problem, typed, wrapped
from ._evidence import (
    Payload,
    flag_of,
    has_code,
    has_errors,
    has_text,
    has_witness,
    identified,
    number_of,
    recorded,
    says_why,
    says_why_inside,
    word_of,
)
from ._scalars import code_of, first_of, given, mapping_of, status_of, text_of
from ._words import (
    COUNT_KEYS,
    DONE_PREFIXES,
    ERROR_OBJECT_KEYS,
    ERROR_REFERENCE_KEYS,
    ERROR_TEXT_KEYS,
    ERROR_WORDS,
    FAILED_WORDS,
    FEW_KEYS,
    FLAG_KEYS,
    IDENTITY_KEYS,
    INNER_KEYS,
    MARKERS,
    RECORD_KEYS,
    STATE_KEYS,
    SUCCESS_WORDS,
    TEXT_KEYS,
    VERDICT_KEYS,
    WITNESS_KEYS,
    WORK_KEYS,
)


def failed(payload: Payload) -> bool:
    """Whether *payload*, which is `marked`, says of itself that the call failed."""
    get = payload.get
    if get("resultType") == "input_required":
        return False
    status = word_of(get("status"))
    if status is None and len(payload) == 1 and type(get("error")) is dict:
        return _names_error(payload)  # the most common envelope
    if status in SUCCESS_WORDS and payload.keys().isdisjoint(_LOUD_KEYS):
        return False
    if status in ERROR_WORDS or ("result" in payload and word_of(payload["result"]) in ERROR_WORDS):
        return not _reports(payload)
    if (
        get("isError") is True
        or get("is_error") is True
        or ("code" in payload and json_rpc(payload))
    ):
        return True
    return _failed_by_signs(payload, status)


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
            number and (_JSON_API.issuperset(payload) or _argued(payload))
        )
        return (flag is False or _witnessed(payload, number)) and not reported_on
    if flag is False or status in SUCCESS_WORDS or 100 <= number <= 399 or _worked(payload):
        return False
    if not payload.keys().isdisjoint(VERDICT_KEYS) or recorded(payload):
        return False
    if not payload.keys().isdisjoint(STATE_KEYS) and identified(payload):
        return False
    return _names_error(payload) or _enveloped(payload)


def _argued(payload: Payload) -> bool:
    """Whether a code stands beside ids of arguments, and nothing is reported on."""
    return has_code(payload) and payload.keys().isdisjoint(_REPORTED)


_REPORTED = frozenset((*IDENTITY_KEYS, *STATE_KEYS, *RECORD_KEYS)) - {"status"}

_JSON_API = frozenset(
    (
        "id", "links", "status", "code", "title", "detail", "source", "meta",
        "retryable", "next_action", "trace_id",
    )
)  # fmt: skip
"""Members of an error of JSON:API, whose id is the error's, and what waypost adds."""


def _flagged(payload: Payload) -> bool:
    """Whether ``ok: false`` stands alone, or with a code or a text, and is no verdict."""
    if not payload.keys().isdisjoint(VERDICT_KEYS):
        return has_code(payload)
    alone = len(payload) == 1 or _OWN_KEYS.issuperset(payload)
    return alone or says_why(payload) or says_why_inside(payload, _WRAPPING_KEYS)


_OWN_KEYS = frozenset((*FLAG_KEYS, "retryable", "next_action", "trace_id"))
"""A flag, and what waypost adds: an enriched failure is still one."""

_WRAPPING_KEYS = ("data", "result", "response", "details", "meta", *ERROR_OBJECT_KEYS)


_LOUD_KEYS = MARKERS - {"status", "data", "type", "content", "response"}
"""Keys that may speak of a failure beside a status that says success."""


def _reports(payload: Payload) -> bool:
    """Whether an error word is the state of a job, a batch or of checks, told without a reason."""
    if "input_request" in payload or "next_action" in payload:
        return False
    if not payload.keys().isdisjoint(RECORD_KEYS):
        return True
    if says_why(payload):
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
    return named and number >= 400 and says_why_inside(payload, list(payload)[:FEW_KEYS])


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
    return explicit(mapping)


def _names_error(payload: Payload) -> bool:
    """Whether an error code, an ``error`` or ``errors`` stands here."""
    if has_code(payload) or _bare_status(payload) or _judged(payload):
        return True
    for key in INNER_KEYS:
        if (value := payload.get(key)) is not None and _tells(value, payload):
            return True
    return (has_errors(payload) and not _has_rows(payload)) or _error_texts(payload)


def _bare_status(payload: Payload) -> bool:
    """An HTTP error number under ``code`` beside a text that speaks of an error."""
    if (status_of(payload.get("code")) or 0) < 400:
        return False
    return has_text(payload, _BESIDE_STATUS) or _WERKZEUG.issuperset(payload)


def _judged(payload: Payload) -> bool:
    """A code and a message that say themselves whether or when to repeat: only failures do."""
    return (
        (type(payload.get("retryable")) is bool or any(map(payload.get, _DELAY_KEYS)))
        and code_of(payload.get("code")) is not None
        and text_of(payload.get("message")) is not None
    )


_DELAY_KEYS = ("retry_after", "retry_after_ms", "retry_after_seconds", "retryAfter", "retryAfterMs")


_WERKZEUG = frozenset(("code", "name", "description", "retryable", "next_action", "trace_id"))
"""What Flask says of an HTTP error, and what waypost adds."""

_BESIDE_STATUS = frozenset(WITNESS_KEYS) - {"title"}


def _has_rows(payload: Payload) -> bool:
    """Whether rows stand beside ``errors``: the call worked in part."""
    return len(payload) <= FEW_KEYS and any(
        type(value) is list
        and value
        and type(value[0]) is dict
        and key not in _ERROR_LISTS
        and not (type(key) is str and key[:5].lower() == "error")
        for key, value in payload.items()
    )


_ERROR_LISTS = frozenset(("details", "messages", "causes", "warnings"))


def _tells(value: object, payload: Payload) -> bool:
    """Whether what stands under ``error`` is a code, a sentence or an object."""
    if value is True:
        return has_text(payload, _BESIDE_TRUE)
    if (text := text_of(value)) is not None:
        word = text[:_WORD_CHARS].strip()
        if not word.strip(_NUMBER_CHARACTERS):  # a measurement has an error, too
            return (status_of(word) or 0) >= 400
        return word.lower() not in _NO_ERROR
    if type(value) is int:
        return code_of(value) is not None
    mapping = mapping_of(value)
    if mapping is not None:
        return bool(mapping) and mapping.get("code") != ELICITATION
    element = first_of(value)
    return bool(text_of(element) or mapping_of(element))


_WORD_CHARS = 64
_BESIDE_TRUE = frozenset(TEXT_KEYS) - {"error"}
_NUMBER_CHARACTERS = "0123456789.,+-±%eE "
_NO_ERROR = frozenset(
    ("none", "null", "no", "no error", "ok", "success", "false", "0", "n/a", "undefined")
)


def _error_texts(payload: Payload) -> bool:
    """A text named after errors, as Jira's ``errorMessages``, where nothing else came back."""
    for key in payload.keys() & _NAMED_AFTER_ERRORS:
        value = payload[key]
        first = first_of(value)
        if text_of(value) or text_of(first) or mapping_of(first):
            return len(payload) <= FEW_KEYS and all(
                type(key) is str and key.lower().startswith(_BESIDE_ERROR_TEXTS) for key in payload
            )
    return False


_NAMED_AFTER_ERRORS = frozenset((*ERROR_TEXT_KEYS, *ERROR_REFERENCE_KEYS))
_BESIDE_ERROR_TEXTS = (
    "err",
    "code",
    "status",
    "request",
    "trace",
    "time",
    "type",
    "message",
    "path",
    "invalid",
    "correlation",
    "retryable",
    "next_action",
)


def _enveloped(payload: Payload) -> bool:
    """Envelopes without a general marker: AWS, RFC 9457, and one level of wrapping."""
    return amazon(payload) or problem(payload) or typed(payload) or wrapped(payload) is not None
