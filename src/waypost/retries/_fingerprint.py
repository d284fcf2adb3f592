"""Tell whether two calls have the same arguments, without keeping a byte of either."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from ..core._recognize import fields_of
from ..core._tokens import words_of

_WHOLE = 65_536
"""Characters of a text, and bytes, that are hashed whole."""
_END = 32_768
"""Of longer ones, so much of either end."""
_NODES = 10_000
_TEXT_PER_NODE = 64
"""A long text counts as so many nodes: the bound is one of time."""
_DEPTH = 64
_SIZE = 16
_ARGUMENTS = 32
_PRINT = 4
"""Bytes; thousands of failures are kept, each with its arguments."""

_EXACT = frozenset(("datetime", "decimal", "fractions", "ipaddress", "pathlib", "uuid"))
"""Modules whose classes show their whole value in ``repr``."""


class _Partial(Exception):  # noqa: N818 -- a way out, not an error
    """The walk cannot come to an end: too much, too deep, or an object that shows no value."""


def fingerprint_of(*parts: object, key: bytes) -> bytes | None:
    """
    Return 16 bytes that are the same for the same *parts*; ``None`` where that cannot be told.

    The order of keys in a mapping does not matter; a list and a tuple are alike, as in JSON; ``1``,
    ``1.0``, ``True`` and ``"1"`` differ. Texts and bytes are read whole up to 65,536 characters;
    longer ones count as the same if their lengths and their first and last 32,768 are. ``None`` is
    for more than 10,000 values or 640,000 characters, for 64 levels and more, and for objects
    without a value of their own, such as a function: calls that cannot be compared are never
    taken for repeats.

    Args:
        key: At most 64 bytes. Without it nobody can tell what a fingerprint was made of.
    """
    text = _text_of(parts)
    return None if text is None else blake2b(text, digest_size=_SIZE, key=key).digest()


def trail_key_of(scope: str, server: str | None, tool_name: str, key: bytes) -> bytes:
    """Return the fingerprint of a tool in a scope; long names of scopes are not remembered."""
    made = _trail_key if len(scope) <= _SHORT else _trail_key.__wrapped__
    return made(scope, server, tool_name, key)


_SHORT = 128


@lru_cache(maxsize=1_024)
def _trail_key(scope: str, server: str | None, tool_name: str, key: bytes) -> bytes:
    text = f"{scope!r},{server!r},{tool_name!r}"
    return blake2b(text.encode(), digest_size=_SIZE, key=key).digest()


def chain_key_of(trail_key: bytes, arguments: object, key: bytes) -> bytes | None:
    """
    Return the fingerprint of a call of the tool that *trail_key* stands for.

    ``None`` where `fingerprint_of` *arguments* is, and where they are ``None`` themselves: nobody
    said what they were.
    """
    text = None if arguments is None else _text_of(arguments)
    return text and blake2b(trail_key + text, digest_size=_SIZE, key=key).digest()


def copy_of(arguments: object) -> dict[object, object] | None:
    """
    Return a copy that the host cannot change any more, two levels deep.

    ``None`` for more than 64 arguments, or deeper ones: these are to be compared at once.
    """
    if type(arguments) is not dict or len(arguments) > _FLAT:
        return None
    copied: dict[object, object] = arguments.copy()
    if _USUAL.issuperset(map(type, copied.values())):
        return copied
    for name, value in arguments.items():
        kind = type(value)
        if kind is list or kind is dict:
            items = value if kind is list else value.values()
            if len(value) > _FLAT or not _USUAL.issuperset(map(type, items)):
                return None
            copied[name] = value.copy()
        elif kind not in _USUAL:
            return None
    return copied


def _text_of(value: object) -> bytes | None:
    try:
        flat = _flat_text_of(value) if type(value) is dict and len(value) <= _FLAT else None
        if flat is not None:
            return flat.encode()
        walk = _Walk()
        walk.add(value, _DEPTH)
    except Exception:  # noqa: BLE001 -- arguments are any objects, and these may raise
        return None
    return ",".join(walk.parts).encode()


_FLAT = 64


def _flat_text_of(mapping: dict[object, object]) -> str | None:
    """The text of the usual arguments, scalars by their names, as a walk would write it."""
    if not _USUAL.issuperset(map(type, mapping.values())) or set(map(type, mapping)) != _TEXTS:
        return None
    parts = ["{"]
    for key in sorted(mapping):  # type: ignore[type-var]  # all of them texts
        value = mapping[key]
        if type(value) is str and len(value) > _TEXT_PER_NODE:
            return None
        parts.append(f"{key!r}:{value!r}")
    parts.append("}")
    return ",".join(parts)


_TEXTS = {str}


def prints_of(arguments: object, key: bytes) -> bytes:
    """Return four bytes for each of the first 32 arguments, name and value together."""
    if not isinstance(arguments, Mapping):
        return b""
    try:
        pairs = list(islice(arguments.items(), _ARGUMENTS))
    except Exception:  # noqa: BLE001 -- a mapping of any kind
        return b""
    return b"".join((fingerprint_of(*pair, key=key) or b"")[:_PRINT] for pair in pairs)


def words_print_of(code: str, message: str, key: bytes) -> bytes:
    """
    Return eight bytes that are the same for failures that differ in numbers, times and ids only.

    A word with a digit in it is such a thing, and so is the name of a unit of time, a month or a
    day. Calls fail again with the same words, so the answer is kept, by a hash of the words: they
    may hold a secret.
    """
    known = hash((code, message, key))
    found = _prints_before.get(known)
    if found is None:
        words = [word for word in words_of(message) if word.isalpha() and word not in _TIMES]
        text = repr((code, words)).encode()
        found = blake2b(text, digest_size=_WORDS, key=key).digest()
        if len(_prints_before) >= _PRINTS_KEPT:
            _prints_before.clear()
        _prints_before[known] = found
    return found


_PRINTS_KEPT = 1_024
_prints_before: dict[int, bytes] = {}
_WORDS = 8
_TIMES = frozenset(
    (
        "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h",
        "hr", "hrs", "hour", "hours", "d", "day", "days", "am", "pm", "t", "z", "utc", "gmt",
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday",
        "thursday", "friday", "saturday", "sunday", "jan", "feb", "mar", "apr", "may", "jun", "jul",
        "aug", "sep", "oct", "nov", "dec", "january", "february", "march", "april", "june", "july",
        "august", "september", "october", "november", "december",
    )
)  # fmt: skip


def share_one(prints: bytes, others: bytes) -> bool:
    """Whether two calls have an argument in common; of two million one is wrong."""
    return not _split(prints).isdisjoint(_split(others))


def _split(prints: bytes) -> frozenset[bytes]:
    return frozenset(prints[at : at + _PRINT] for at in range(0, len(prints), _PRINT))


class _Walk:
    """
    Write a value so that no other value reads the same.

    Its parts are joined by commas. A scalar is its ``repr``, which puts a text in quotes and
    escapes these, surrogates and control characters; all else stands outside of quotes.
    """

    __slots__ = ("nodes_left", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.nodes_left = _NODES

    def add(self, value: object, depth: int) -> None:
        kind = type(value)
        if kind is str or kind in _SCALARS:
            self._add_scalar(value)
        elif kind is dict:
            self._add_mapping(value, depth)  # type: ignore[arg-type]  # exactly a dict
        elif kind is list or kind is tuple:
            self._add_list(value, depth)  # type: ignore[arg-type]  # exactly one of the two
        else:
            self._add_other(value, depth)

    def _add_scalar(self, value: object) -> None:
        if type(value) is str and len(value) > _TEXT_PER_NODE:
            self._add_long(value)
        else:
            self.parts.append(repr(value))

    def _add_list(self, items: list[object] | tuple[object, ...], depth: int) -> None:
        self._count(len(items), depth)
        parts = self.parts
        parts.append("[")
        if _SCALARS.issuperset(map(type, items)):
            parts += map(repr, items)
        else:
            for item in items:
                self.add(item, depth - 1)
        parts.append("]")

    def _add_mapping(self, mapping: Mapping[object, object], depth: int) -> None:
        self._count(len(mapping), depth)
        parts = self.parts
        parts.append("{")
        for key in _sorted(mapping):
            value = mapping[key]
            kind = type(value)
            if type(key) is not str:
                self.add(key, 0)
                self.add(value, depth - 1)
            elif kind in _SCALARS or (kind is str and len(value) <= _TEXT_PER_NODE):  # type: ignore[arg-type]
                parts.append(f"{key!r}:{value!r}")  # the usual argument, in one step
            else:
                self._add_scalar(key)
                self.add(value, depth - 1)
        parts.append("}")

    def _add_long(self, text: str | bytes) -> None:
        self._count(min(len(text), _WHOLE) // _TEXT_PER_NODE, 1)
        if len(text) <= _WHOLE:
            self.parts.append(repr(text))
        else:
            self.parts.append(f"{len(text)}~{text[:_END]!r}~{text[-_END:]!r}")

    def _add_other(self, value: object, depth: int) -> None:
        """What JSON does not have, by the value that it shows."""
        kind = type(value)
        if isinstance(value, Enum):
            self.add(value._value_, depth - 1)
        elif isinstance(value, str):
            self._add_scalar(str.__str__(value))
        elif isinstance(value, (int, float)):
            self.add(int(value) if isinstance(value, int) else float(value), depth)
        elif isinstance(value, (bytes, bytearray)):
            self._add_long(bytes(value))
        elif isinstance(value, Mapping):
            self._add_mapping(value, depth)
        elif kind.__module__ in _EXACT:
            self.parts.append(f"{kind.__name__}{value!r}")
        elif hasattr(kind, "__pydantic_fields__") or hasattr(kind, "__dataclass_fields__"):
            self._add_mapping(fields_of(value), depth)  # type: ignore[arg-type]  # names are keys
        else:
            raise _Partial

    def _count(self, nodes: int, depth: int) -> None:
        self.nodes_left -= nodes
        if self.nodes_left < 0 or depth <= 0:
            raise _Partial


_SCALARS = frozenset((int, float, bool, type(None)))
_USUAL = _SCALARS | {str}


def _sorted(mapping: Mapping[object, object]) -> list[object]:
    try:
        return sorted(mapping)  # type: ignore[type-var]  # what cannot be compared raises
    except TypeError:
        return sorted(mapping, key=repr)
