"""What a message is made of: pages, tracebacks, quotations, addresses, codes that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ._tokens import MAX_MESSAGE

MAX_LINES = 12
MAX_CODES = 8
MAX_CODE = 100
MAX_PATH = 1_024

_TRACEBACK = "Traceback (most recent call last)"
_EDGES = ".,;'\"`*[]{}<>"
_JOINTS = str.maketrans("", "", "_-.")
_PAGE_TAGS = ("title", "h1", "code", "message", "faultstring")


def parts_of(message: str) -> Iterator[str]:
    """
    The texts to read, the most telling first.

    Of a page in HTML or XML its title, heading, code and message; of a Python traceback its lines
    from the last; of the stack of another language its lines but the frames; else the message.
    """
    message = message[:MAX_MESSAGE]
    if message.lstrip()[:1] == "<" and (page := _page(message)):
        yield page
    elif _TRACEBACK in message:
        for line in message.strip().splitlines()[: -MAX_LINES - 1 : -1]:
            if not line.startswith(" "):
                yield line
    elif _has_frames(message):
        yield _without_frames(message)
    else:
        yield message


def _has_frames(message: str) -> bool:
    return "\n" in message and ("\tat " in message or "  at " in message)


def _without_frames(message: str) -> str:
    """The lines of a stack of Java or JavaScript that are no frames."""
    lines = message.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(_FRAMES))


_FRAMES = ("at ", "... ")


def is_path(message: str) -> bool:
    """Whether *message* is nothing but the path of a file, on Unix or Windows."""
    path = message.strip().strip("'\"")
    if len(path) > MAX_PATH:
        return False
    if path[1:3] in (":\\", ":/"):
        return _NOT_IN_PATHS.isdisjoint(path[2:])
    rooted = path.startswith(_ROOTS) or (path[:1] == "/" and path[1:2] != "/" and "/" in path[2:])
    return rooted and _NOT_IN_PATHS.isdisjoint(path)


_ROOTS = ("~/", "./", "../", "\\\\")
_NOT_IN_PATHS = frozenset(" \t\r\n<>|*?\"':;,()[]{}=")


def _page(markup: str) -> str:
    """The contents of the telling elements, each once, in the order of `_PAGE_TAGS`."""
    lowered = markup.lower()
    texts = []
    for tag in _PAGE_TAGS:
        start = lowered.find(f"<{tag}")
        start = lowered.find(">", start) + 1 if start >= 0 else 0
        end = lowered.find(f"</{tag}", start) if start else -1
        if end > start:
            texts.append(f"{markup[start:end]}:")
    return " ".join(texts)


def without_addresses(text: str) -> str:
    """*text* without URLs and paths: words in them are names."""
    if "/" not in text and "\\" not in text:
        return text
    return " ".join(
        piece
        for piece in text.split(" ")
        if not (("/" in piece or "\\" in piece) and _is_address(piece))
    )


def _is_address(piece: str) -> bool:
    return "://" in piece or piece.count("/") > 1 or piece.count("\\") > 1


@cache
def _quotations() -> re.Pattern[str]:
    """
    A quotation, but of a status or a command to sign in.

    "'401 Unauthorized'" is what the server said, and "run 'az login'" what it asks for.
    """
    return re.compile(
        '"(?![0-9]|[^"\n]{0,30}login")[^"\n]*"'
        "|`(?![^`\n]{0,30}login`)[^`\n]*`"
        "|(?<!\\w)'(?![0-9]|[^'\n]{0,30}login')[^'\n]*'(?!\\w)"
    )


def without_quotes(text: str) -> str:
    """*text* without quoted names and titles, which talk about something else; JSON is left."""
    if '"' not in text and "'" not in text and "`" not in text:
        return text
    if '":' in text or '" :' in text:
        return text
    return _quotations().sub(" ", text)


def embedded_codes(text: str) -> Iterator[str]:
    """
    Words of *text* that stand where a code does, at most 8.

    Before a colon, in brackets, last, or after ``StatusCode.`` or ``Error Code:``: ``ENOENT: no
    such file``, ``An error occurred (ExpiredToken) when``, ``Failed to send: invalid_grant``.
    """
    places = []
    if ":" in text:
        places += [chunk[-MAX_CODE:].rpartition(" ")[2] for chunk in text.split(":", MAX_CODES)]
    if "(" in text:
        places += [c[:MAX_CODE].partition(")")[0] for c in text.split("(", MAX_CODES)[1:]]
    if ":" in text or "=" in text or "StatusCode." in text:  # one look before six
        for mark in _BEFORE_CODES:
            if mark in text:
                after = text.partition(mark)[2][:MAX_CODE]
                places.append(after.partition("\n")[0].partition(" ")[0].rstrip(";"))
    places.append(text[-MAX_CODE:].rstrip(_EDGES + " \n").rpartition(" ")[2])
    for place in dict.fromkeys(places):
        if _like_code(word := place.strip(_EDGES + "() \n\t")):
            yield word


_BEFORE_CODES = (
    "StatusCode.", "Error Code: ", "error code: ", "ErrorCode: ", "errorCode=", "error_code=",
)  # fmt: skip


def _like_code(word: str) -> bool:
    """Whether *word* is written as programs write names: with inner capitals or underscores."""
    if not (4 <= len(word) < MAX_CODE and word.isascii() and word[0].isalpha()):
        return False
    if not word.translate(_JOINTS).isalnum():
        return False
    return word not in (word.capitalize(), word.lower()) or "_" in word or "-" in word
