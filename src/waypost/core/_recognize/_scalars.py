"""Read one value that a tool sent: exact built-in types first, anything else with care."""

from __future__ import annotations

from collections.abc import Mapping, Set as AbstractSet
from enum import Enum
from itertools import islice

from .._clean import CODE_CHARS

_CODE_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:#/")
_INTEGERS = range(-(10**12), 10**12)
_SLOTS_READ = 256


_PLAIN = frozenset((dict, list, bool, float, type(None), int))
"""Classes of values that are no texts, told at once."""


def text_of(value: object) -> str | None:
    """Return a text, or an enum member of one, as an exact ``str``; else ``None``."""
    if type(value) is str:
        return value
    if type(value) in _PLAIN:
        return None
    if isinstance(value, Enum):
        return text_of(value._value_)
    return str.__str__(value) if isinstance(value, str) else None


def code_of(value: object) -> str | None:
    """
    Return *value* as an error code, or ``None`` if it is none.

    A code is one token of at most 128 characters: a text, an integer or an enum value of either;
    never a boolean, never what means success (0 and 200 to 299).
    """
    if type(value) is str:
        text = value
    elif type(value) is int:
        return str(value) if value in _INTEGERS and not _means_success(value) else None
    elif type(value) in _PLAIN:
        return None
    elif (foreign := text_of(value)) is not None:
        text = foreign
    else:
        number = value._value_ if isinstance(value, Enum) else None
        return code_of(number) if type(number) is int else None
    if not 0 < len(text) <= CODE_CHARS:
        return None
    if text.isidentifier() and text.isascii():
        return None if text.lower() in _NO_CODES else text
    return _unusual_code(text.strip())


def _unusual_code(text: str) -> str | None:
    """A code that is no identifier: dots, dashes, slashes, colons, a number in digits."""
    if not text or not _CODE_CHARACTERS.issuperset(text) or not text.strip("-_.:#/"):
        return None
    if text[0] in "/.:#" or "://" in text or text[-1] in ".:":
        return None
    return None if text.isdigit() and _means_success(int(text)) else text


_NO_CODES = frozenset(
    (
        "ok", "success", "none", "null", "false", "true", "undefined", "no_error", "noerror",
        "none_error",
    )
)  # fmt: skip


def _means_success(number: int) -> bool:
    return number == 0 or 200 <= number <= 299


def means_success(value: object) -> bool:
    """Whether *value* is a code that says that all went well: 0, ``"0000"``, 200, ``"ok"``."""
    if type(value) is int:
        return _means_success(value)
    text = (text_of(value) or "").strip()
    if text.isdecimal() and len(text) <= CODE_CHARS:
        return _means_success(int(text))
    return text.lower() in _SUCCESS_CODES


_SUCCESS_CODES = _NO_CODES - {"null", "true", "undefined"}


def status_of(value: object) -> int | None:
    """Return an HTTP status number, also from digits in a text; ``None`` for anything else."""
    if type(value) is int:
        return value if 100 <= value <= 599 else None
    if type(value) is str:
        digits = len(value) == 3 and value.isdecimal() and value.isascii()
        return status_of(int(value)) if digits else None
    return status_of(value._value_) if isinstance(value, Enum) else None


def mapping_of(value: object) -> Mapping[str, object] | None:
    """Return *value* as an exact ``dict`` if it is a mapping, a pydantic model or a dataclass;
    else ``None``.

    Fields are read as they are stored: no property, no computed field and no serializer runs, and
    of a foreign mapping at most 256 entries are read.
    """
    if type(value) is dict:
        return value
    kind = type(value)
    if kind is str or kind is int or value is None or kind is list or kind is bool:
        return None
    if hasattr(kind, "__pydantic_fields__") or hasattr(kind, "__dataclass_fields__"):
        return set_fields_of(value)
    return dict(islice(value.items(), _SLOTS_READ)) if isinstance(value, Mapping) else None


def fields_of(value: object) -> Mapping[str, object]:
    """Return what an instance stores: ``__dict__``, a model's extra fields, a dataclass's slots."""
    stored: dict[str, object] | None = getattr(value, "__dict__", None)
    if stored is None:
        names = getattr(type(value), "__dataclass_fields__", ())
        return {
            name: getattr(value, name)
            for name in islice(names, _SLOTS_READ)
            if hasattr(value, name)
        }
    extra = getattr(value, "__pydantic_extra__", None)
    return {**stored, **extra} if extra else stored


def set_fields_of(value: object) -> Mapping[str, object]:
    """Return the fields of a model or dataclass that were set: one left at ``None`` was not."""
    given = fields_set_of(value)
    return {
        name: item for name, item in fields_of(value).items() if item is not None or name in given
    }


def fields_set_of(value: object) -> AbstractSet[str]:
    """Return the names of the fields that a model was given; empty for anything else."""
    given = getattr(value, "__pydantic_fields_set__", None)
    return given if type(given) is set else frozenset()


def given(value: object) -> bool:
    """Whether there is something: the truth of a foreign object is never asked, it may cost."""
    return bool(value) if type(value) in _BUILT_IN else value is not None


_BUILT_IN = frozenset((str, int, float, bool, list, dict, tuple, set, bytes, type(None)))


def first_of(value: object) -> object:
    """Return the first element of a non-empty list or tuple, else ``None``."""
    return value[0] if (type(value) is list or type(value) is tuple) and value else None
