"""What a failure says: its code, the codes behind it, its message. Look-ups are bounded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .._clean import MESSAGE_CHARS
from .._model import Failure, Origin
from ._envelopes import alone, wrapped
from ._evidence import Payload
from ._scalars import code_of, first_of, mapping_of, text_of
from ._words import (
    CODE_KEYS,
    DEEPER_KEYS,
    ERROR_OBJECT_KEYS,
    ERROR_WORDS,
    FAILED_WORDS,
    FEW_KEYS,
    INNER_KEYS,
    REASON_CODE_KEYS,
    SAYS_NOTHING,
    STATUS_KEYS,
    SUCCESS_WORDS,
    TEXT_KEYS,
    WEAK_CODE_KEYS,
)

_OUTER_CODES = (
    *CODE_KEYS, *WEAK_CODE_KEYS, "code", "Code", *REASON_CODE_KEYS, "feedbackErrorCode",
    "messageId", "error", "Error", "reason", "category", *STATUS_KEYS,
)  # fmt: skip
_INNER_CODES = (
    *CODE_KEYS, *WEAK_CODE_KEYS, "code", "Code", "type", "reason", "name", "error", "id",
    "category", *STATUS_KEYS,
)  # fmt: skip


_CODE_RANKS = [{key: at for at, key in enumerate(keys)} for keys in (_OUTER_CODES, _INNER_CODES)]
_TEXT_RANK = {key: at for at, key in enumerate(TEXT_KEYS)}
_READ_KEYS = dict.fromkeys(
    (*_OUTER_CODES, *_INNER_CODES, *TEXT_KEYS, *DEEPER_KEYS, "headers")
).keys()


@lru_cache(maxsize=512)
def _plan(keys: tuple[str, ...], inner: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sort *keys*, all of them known, into those of codes and those of texts, best first."""
    ranks = _CODE_RANKS[inner]
    codes = sorted((key for key in keys if key in ranks), key=ranks.__getitem__)
    texts = sorted((key for key in keys if key in _TEXT_RANK), key=_TEXT_RANK.__getitem__)
    return tuple(codes), tuple(texts)


_OBJECT_RANK = {
    key: rank for rank, key in enumerate((*INNER_KEYS, "errors", "Errors", *ERROR_OBJECT_KEYS))
}
_INNER_VIEW = dict.fromkeys((*_OBJECT_RANK, "result", "response", "data")).keys()
_DEEPER_RANK = {key: rank for rank, key in enumerate((*DEEPER_KEYS, "headers"))}
_DEEPER_KEYS = frozenset(_DEEPER_RANK)
_TEXTS = 3
_DETAILS = 12
_MORE_CODES = 16


def read(
    payload: Payload, origin: Origin = Origin.MAPPING, *, block: int = 0, message: str = ""
) -> Failure:
    """
    Read a mapping that is known to be a failure.

    Args:
        message: What the surrounding text says; stands in where the mapping has no text.
    """
    deep = _nests(payload)
    details = _details(payload) if deep else (payload,)
    codes, texts = _codes_and_texts(details)
    code = _best(codes)
    more = () if len(codes) < 2 else others(codes, code)
    if len(texts) == 1:
        message = texts[0]
    elif texts:
        message = " ".join(texts)[:MESSAGE_CHARS]
    elif deep or "errorMessages" in payload:
        message = _listed(payload) or message[:MESSAGE_CHARS]
    else:
        message = message[:MESSAGE_CHARS]
    return Failure(payload, details, code, more, message, origin, block)


def others(codes: list[str], code: str | None) -> tuple[str, ...]:
    """The codes behind *code*, each once, and no more of them than anybody will read."""
    return tuple(dict.fromkeys(other for other in codes if other != code))[:_MORE_CODES]


def _nests(payload: Payload) -> bool:
    """Whether there is anything but scalars to look into."""
    if len(payload) > FEW_KEYS:
        return True
    return not _FLAT.issuperset(map(type, payload.values()))


_FLAT = frozenset((str, int, float, bool, type(None)))


def _details(payload: Payload) -> tuple[Payload, ...]:
    """Return *payload*, the error object in it, and what hangs on either: a dozen at most."""
    found = [payload]
    inner = _inner(payload)
    if inner is not None:
        found.append(inner)
        if (deeper := _inner(inner)) is not None:
            found.append(deeper)
        found += _hanging(inner)
    found += _hanging(payload)
    return tuple(found[:_DETAILS])


def _inner(payload: Payload) -> Payload | None:
    if payload.keys().isdisjoint(_INNER_VIEW):
        return alone(payload)
    found = payload.keys() & _OBJECT_RANK.keys()
    for key in found if len(found) < 2 else sorted(found, key=_OBJECT_RANK.__getitem__):
        if inner := mapping_of(payload[key]) or mapping_of(first_of(payload[key])):
            return inner
    return wrapped(payload)


def _hanging(payload: Payload) -> list[Payload]:
    found: list[Payload] = []
    keys = payload.keys() & _DEEPER_KEYS
    for key in keys if len(keys) < 2 else sorted(keys, key=_DEEPER_RANK.__getitem__):
        value = payload[key]
        if mapping := mapping_of(value):
            found.append(mapping)
        elif type(value) is list:
            found += filter(None, map(mapping_of, value[:4]))
    return found


def _codes_and_texts(details: tuple[Payload, ...]) -> tuple[list[str], list[str]]:
    """
    Every code in order of trust, and up to three different texts, the outermost first.

    Names come before numbers, and Google's ``ErrorInfo.reason`` before all.
    """
    named: list[str] = []
    numbers: list[str] = []
    texts: list[str] = []
    for position, mapping in enumerate(details):
        if not mapping.keys().isdisjoint(_READ_KEYS):
            keys = mapping if len(mapping) <= FEW_KEYS else _few(mapping)
            known = [key for key in keys if key in _READ_KEYS]
            code_keys, text_keys = _plan(tuple(known), position > 0)
            for key in code_keys:
                if (code := _code_under(key, mapping[key], position)) is not None:
                    (numbers if _numeric(code) else named).append(code)
            for key in text_keys:
                _add_text(texts, mapping[key], named)
        if "@type" in mapping and _is_error_info(mapping):
            named.insert(0, str(mapping["reason"]))
    payload = details[0]
    if not payload.keys().isdisjoint(_TYPE_KEYS) and (kind := code_of(_kind(payload))) is not None:
        # The type of RFC 9457 is an address that explains the status; any other type is a name.
        (numbers if "://" in str(payload.get("type")) else named).append(kind)
    return named + numbers or _state(payload), texts


def _state(payload: Payload) -> list[str]:
    """A status in words, such as "timeout", which is a code where nothing else is."""
    code = code_of(payload.get("status"))
    return [] if code is None or code.lower() in _NOT_CODES else [code]


def _few(wide: Payload) -> Iterable[str]:
    """The keys of a wide mapping that may be read, found without a walk."""
    return wide.keys() & _READ_KEYS


def _numeric(code: str) -> bool:
    return code.isdecimal() or (code[0] == "-" and code[1:].isdecimal())


def _add_text(texts: list[str], value: object, codes: list[str]) -> None:
    text = value if type(value) is str else text_of(value)
    if text and len(texts) < _TEXTS:
        text = text[:MESSAGE_CHARS]
        if text not in texts and text not in codes:
            texts.append(text)


def _code_under(key: str, value: object, position: int) -> str | None:
    code = code_of(value)
    if code is None or key not in _WEAK_KEYS:
        return code
    word = code.lower()
    if word in _NOT_CODES:
        return None
    if key in ("name", "id"):
        named = word.endswith(("error", "exception", "fault")) or (key == "name" and _coined(code))
        return code if named and word not in SAYS_NOTHING else None
    if key == "status" and not position:
        return code if code.isdecimal() else None
    return code if position <= 2 or "." not in code else None


def _coined(name: str) -> bool:
    """Whether *name* is written as programs write names, as ``InvalidParameter`` is."""
    return "_" in name or (name[0].isupper() and not name[1:].islower() and not name.isupper())


_WEAK_KEYS = frozenset(("status", "type", "name", "id", "error", "reason", "category"))
"""Keys that hold codes in error objects and other things elsewhere."""

_NOT_CODES = ERROR_WORDS | FAILED_WORDS | SUCCESS_WORDS


_TYPE_KEYS = frozenset(("type", "__type", "Type", "type_name"))


def _kind(payload: Payload) -> str | None:
    """A code out of AWS's ``__type``, an RFC 9457 ``type``, or a ``type`` named like an error."""
    name = payload.get("__type")
    if type(name) is str:
        return name[:256].rpartition("#")[2].partition(":")[0]
    name = payload.get("type", payload.get("Type", payload.get("type_name")))
    if type(name) is not str or len(name) > 256:
        return None
    if name == "about:blank":
        return None
    if "://" in name:
        return None if "#" in name else name.rstrip("/").rpartition("/")[2].removesuffix(".html")
    if (
        "title" in payload
        or name.isupper()
        or name.lower().endswith(("error", "exception", "fault"))
    ):
        return name if name.lower() not in SAYS_NOTHING else None
    return None


def _is_error_info(mapping: Payload) -> bool:
    kind = mapping.get("@type")
    return (
        type(kind) is str
        and kind.endswith("ErrorInfo")
        and code_of(mapping.get("reason")) is not None
    )


def _best(codes: list[str]) -> str | None:
    """The first code that says something, else the first."""
    for code in codes:
        if code.lower() not in SAYS_NOTHING:
            return code
    return codes[0] if codes else None


def _listed(payload: Payload) -> str | None:
    """The first text under ``errors`` or ``errorMessages``, by list or by field name."""
    for key in ("errors", "errorMessages", "error", "messages", "message", "detail"):
        value = payload.get(key)
        if mapping := mapping_of(value):
            value = [next(iter(mapping.values()))]
        first = first_of(value)
        if text := text_of(first_of(first) if type(first) is list else first):
            return text[:MESSAGE_CHARS]
    return None
