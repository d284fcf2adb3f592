"""Whether a mapping names an error: by a code, an ``error``, a text or a number that says so."""

from __future__ import annotations

from itertools import islice

from .._numbers import REASONS
from ._envelopes import ELICITATION
from ._evidence import Payload, has_code, has_errors, has_text, identified, number_of
from ._scalars import code_of, first_of, given, mapping_of, means_success, status_of, text_of
from ._words import (
    ADDED_KEYS,
    CODE_KEYS,
    ERROR_REFERENCE_KEYS,
    ERROR_TEXT_KEYS,
    FEW_KEYS,
    INNER_KEYS,
    INVERSE_FLAG_KEYS,
    LEVEL_KEYS,
    REPORT_KEYS,
    ROW_KEYS,
    SUCCESS_WORDS,
    TEXT_KEYS,
    WEAK_CODE_KEYS,
    WITNESS_KEYS,
)


def names_error(payload: Payload) -> bool:
    """Whether an error code, an ``error`` or ``errors`` stands here."""
    if has_code(payload) or _bare_status(payload) or _coded(payload) or _warned(payload):
        return True
    for key in INNER_KEYS:
        if (value := payload.get(key)) is not None and _tells(value, payload):
            return True
    return (has_errors(payload) and not _has_rows(payload)) or _error_texts(payload)


def _bare_status(payload: Payload) -> bool:
    """An HTTP error number under ``code`` beside a text that speaks of an error."""
    number = status_of(payload.get("code")) or 0
    if number < 400:
        return False
    if has_text(payload, _BESIDE_STATUS):
        return True
    if _ERROR_MEMBERS.issuperset(payload) and has_text(payload, _BESIDE_STATUS_ALONE):
        return True
    # Flask: the name is the reason phrase; a code and a name are a row of any catalog.
    phrase = (text_of(payload.get("name")) or "").lower().partition(" ")[0]
    return "description" in payload and REASONS.get(str(number)) == phrase


_BESIDE_STATUS = frozenset(WITNESS_KEYS) - {"title", "detail", "msg"}
_BESIDE_STATUS_ALONE = frozenset(("detail", "msg"))
_ERROR_MEMBERS = frozenset(
    (
        "code", "detail", "msg", "errors", "type", "status", "request_id", "requestId", "data",
        "timestamp", "path", *ADDED_KEYS,
    )
)  # fmt: skip


def _coded(payload: Payload) -> bool:
    """
    A code and a message of which the rest says that they are a failure's.

    Whether or when to repeat, which only failures say; or a status of gRPC with its details.
    """
    if "code" not in payload:
        return False
    code, said = payload["code"], payload.get("message") or payload.get("msg")
    if type(said) is not str or code_of(code) is None:
        return False
    if type(code) is int and 1 <= code <= _LAST_GRPC and "details" in payload:
        return _GRPC_GATEWAY.issuperset(payload)
    if number_of(mapping_of(payload.get("data")) or {}) >= 400:
        return True  # WordPress
    judged = type(payload.get("retryable")) is bool or any(
        given(payload.get(key)) for key in _DELAY_KEYS
    )
    return judged and not (
        str(code).lower() in _UNFINISHED
        or identified(payload)
        or not payload.keys().isdisjoint(_ROWS)
    )


_LAST_GRPC = 16
_GRPC_GATEWAY = ADDED_KEYS | {"code", "message", "details"}
_DELAY_KEYS = ("retry_after", "retry_after_ms", "retry_after_seconds", "retryAfter", "retryAfterMs")
_UNFINISHED = SUCCESS_WORDS | {
    "processing", "in_progress", "queued", "created", "authorization_pending", "working",
}  # fmt: skip
_ROWS = (ROW_KEYS | frozenset(LEVEL_KEYS)) - {"url"}


def _warned(payload: Payload) -> bool:
    """``hasErrors: true`` beside a text that speaks of an error, and no report."""
    if payload.keys().isdisjoint(_INVERSE_FLAG_KEYS):
        return False
    return (
        any(payload.get(key) is True for key in _INVERSE_FLAG_KEYS)
        and has_text(payload, _BESIDE_WARNING)
        and payload.keys().isdisjoint(REPORT_KEYS)
        and not identified(payload)
    )


_INVERSE_FLAG_KEYS = frozenset(INVERSE_FLAG_KEYS)
_BESIDE_WARNING = frozenset(WITNESS_KEYS) - {"title", "detail"}


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
        if "code" in mapping and (mapping["code"] == ELICITATION or means_success(mapping["code"])):
            return False
        return any(given(each) for each in islice(mapping.values(), FEW_KEYS))
    element = first_of(value)
    return bool(text_of(element) or mapping_of(element))


_WORD_CHARS = 64
_BESIDE_TRUE = frozenset(TEXT_KEYS) - {"error"}
_NUMBER_CHARACTERS = "0123456789.,+-±%eE "
_NO_ERROR = frozenset(
    (
        "none", "null", "no", "no error", "ok", "success", "false", "0", "n/a", "undefined", "-",
        "successful", "succ", "no_error", "noerror", "no errors", "no errors found", "approved",
    )
)  # fmt: skip


def _error_texts(payload: Payload) -> bool:
    """A text named after errors, as Jira's ``errorMessages``, where nothing else came back."""
    named = payload.keys() & _NAMED_AFTER_ERRORS
    if not named or len(payload) > FEW_KEYS or not payload.keys().isdisjoint(REPORT_KEYS):
        return False
    if any(means_success(payload[key]) for key in payload.keys() & _ANY_CODE_KEYS):
        return False  # "errcode": 0 beside "errmsg": "ok"
    texts = [
        text
        for key in named
        if (text := text_of(payload[key]) or text_of(first_of(payload[key])))
        or mapping_of(first_of(payload[key]))
    ]
    if named.issubset(_REFERENCES) and not has_text(payload, _BESIDE_REFERENCE):
        return False
    told = any(text is None or text.strip().lower() not in _NO_ERROR for text in texts)
    return told and all(
        type(key) is str
        and (key.lower().startswith(_BESIDE_ERROR_TEXTS) or not given(value))
        and not key.lower().endswith(_COUNTED)
        for key, value in payload.items()
    )


_REFERENCES = frozenset(ERROR_REFERENCE_KEYS)
_BESIDE_REFERENCE = frozenset(WITNESS_KEYS) - {"title", "detail"}
_NAMED_AFTER_ERRORS = frozenset(ERROR_TEXT_KEYS) | _REFERENCES
_ANY_CODE_KEYS = frozenset((*CODE_KEYS, *WEAK_CODE_KEYS, "code"))
_COUNTED = ("count", "rate", "total", "range")
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
