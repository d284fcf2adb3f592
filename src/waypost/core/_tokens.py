"""Names and prose, cut into lower-case words that rules can be compared with."""

from __future__ import annotations

import re
from functools import cache

MAX_NAME = 128
MAX_MESSAGE = 4096
PROSE_ENDS = 768

_SUFFIXES = frozenset(("error", "errors", "exception", "fault", "failure", "err"))
_DIVIDERS = ("#", "/", ":")
_TYPE_ENDINGS = ("Exception", "Error", "Fault", "Failure")

# Punctuation and control characters part words. Prose in ASCII, the common case, is folded as
# bytes, ten times as fast. Accents are folded too, so that rows can be written in a to z.
_ASCII = bytes(ord(chr(n).lower()) if chr(n).isalnum() and n < 128 else 32 for n in range(256))
_ACCENTS = dict(zip("àáâãäåçèéêëìíîïñòóôõöùúûü", "aaaaaaceeeeiiiinooooouuuu", strict=True))
_SIGNS = "\u00a0\u00ab\u00bb\u2013\u2014\u2018\u201c\u201d\u2026\u3001\u3002\uff0c\uff1a"
_FOLD = str.maketrans(
    {chr(n): " " for n in range(128) if not chr(n).isalnum()}
    | dict.fromkeys(_SIGNS, " ")
    | _ACCENTS
)


# An address ("0x7fbc46bad240") and a hexadecimal id ("550e8400") are one piece: no word or number
# stands in them.
_DIGITS = "0[xX][0-9a-fA-F]+|(?=[0-9a-fA-F]{8})[0-9]+[a-fA-F]+[0-9][0-9a-fA-F]*|[0-9]+"


@cache
def _pieces() -> re.Pattern[str]:
    """Acronym with a plural s, acronym, word, digits: each piece is read once."""
    return re.compile(f"[A-Z]{{2,}}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|{_DIGITS}")


@cache
def _plain_pieces() -> re.Pattern[str]:
    """The same for a name in one case, in which only signs and digits part words."""
    return re.compile(f"[a-z]+|{_DIGITS}")


def _spaced(name: str) -> str:
    """The words of *name* in lower case, a space between."""
    lowered = name.lower()
    if lowered == name or name.isupper():
        return " ".join(_plain_pieces().findall(lowered))
    return " ".join(_pieces().findall(name)).lower()


def _last_segment(name: str) -> str:
    """What stands after a namespace, a type prefix, a path of a URI; the name itself if none."""
    for divider in _DIVIDERS:
        if divider in name:
            name = name.rstrip(divider).rpartition(divider)[2] or name
    if "." not in name:
        return name
    space, _, last = name.rpartition(".")
    # A module path is lower case; a dotted code such as "InvalidGroup.NotFound" is read whole.
    if last.endswith(_TYPE_ENDINGS) or (last[:1].isupper() and not space[:1].isupper()):
        return last
    return name


def name_text(name: str) -> str:
    """
    The words of an error code, a space before and after each, an error suffix written ``error``.

    Rows are compared with this text, so that ``"connection error"`` finds ``ConnectionException``
    as well as "a connection error" in prose. Empty for a name without a letter or digit.
    """
    name = name[:MAX_NAME]
    text = _spaced(name if name.isidentifier() else _last_segment(name))
    if not text:
        return ""
    head, space, last = text.rpartition(" ")
    return f" {head} error " if space and last in _SUFFIXES else f" {text} "


def tokens_of(name: str) -> tuple[str, ...]:
    """
    The words of an error code in lower case: ``DBInstanceNotFound`` gives db instance not found.

    A trailing ``Exception``, ``Error``, ``Fault`` or ``Failure`` is dropped unless nothing else is
    left. Digits are words of their own. Of a namespace only the last segment is read, and of a
    name at most 128 characters.
    """
    tokens = name_text(name).split()
    if len(tokens) > 1 and tokens[-1] == "error":
        tokens.pop()
    return tuple(tokens)


def plain_text(message: str) -> str:
    """*message* in lower case, "can't" spelled out, signs replaced by spaces."""
    text = message
    ascii_only = text.isascii()
    if not ascii_only:
        text = text.lower().replace("\u2019", "'")
    if "'" in text:
        text = (
            text.replace("Can't", "cannot")
            .replace("can't", "cannot")
            .replace("n't", " not")
            .replace("'", "")
        )
    if ascii_only:
        return text.encode().translate(_ASCII).decode()
    return text.translate(_FOLD)


def words_of(message: str) -> list[str]:
    """
    The words and numbers of prose, in lower case, in order.

    Of 4,096 characters the first and the last 768 are read: a reason stands at the beginning or
    at the end, and cutting prose into words is most of what sorting it costs.
    """
    text = message[:MAX_MESSAGE]
    if len(text) > 2 * PROSE_ENDS:
        text = f"{text[:PROSE_ENDS]} {text[-PROSE_ENDS:]}"
    return plain_text(text).split()
