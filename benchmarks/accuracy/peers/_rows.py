"""What the adapters have in common: the lines, the choice among answers, our reading of a code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import NamedTuple

_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_ERROR = re.compile(r"(error|exception)$")


class Answer(NamedTuple):
    """
    What a peer says about one row.

    Attributes:
        category: In the peer's words; ``None`` if it does not know the row.

        action: What it tells the caller to do; ``None`` if it says nothing.
    """

    retryable: bool
    category: str | None = None
    action: str | None = None


Way = Callable[[str, str], Answer | None]
"""Asks the peer about a code and a message in one way; ``None`` where that way has no question."""


def answer_rows(ways: Sequence[Way], *, as_written: Sequence[Way]) -> None:
    """
    Answer each row of stdin with the most favorable of *ways*.

    Args:
        as_written: Ways that hand the code over as its owner wrote it. What they say is written
            beside the answer, so that it is seen what our reading of the code adds.
    """
    for line in sys.stdin:
        row = json.loads(line)
        answer = _best(ways, row["code"], row["message"])
        without_us = _best(as_written, row["code"], row["message"])
        print(json.dumps({**answer._asdict(), "as_written": without_us.retryable}))


def _best(ways: Sequence[Way], code: str, message: str) -> Answer:
    """Return the first answer that is retryable, else the first that knows the row."""
    answers = [answer for way in ways if (answer := way(code, message)) is not None]
    return max(
        answers,
        key=lambda answer: (answer.retryable, answer.category is not None),
        default=Answer(retryable=False),
    )


def words_of(code: str) -> str:
    """Return the words of a code: ``RequestTimeout`` and ``REQUEST_TIMEOUT`` as one text."""
    return _JOINTS.sub(" ", code).strip().lower()


def status_of(code: str, message: str) -> int | None:
    """Return the HTTP status that a code is or names in any spelling, else one in the message."""
    if re.fullmatch(r"[45]\d\d", code):
        return int(code)
    if named := _STATUS.get(_name_of(code)):
        return named
    number = re.search(r"\b[45]\d\d\b", message)
    return int(number[0]) if number else None


def _name_of(code: str) -> str:
    return _ERROR.sub("", words_of(code).replace(" ", ""))


_STATUS = {_name_of(status.name): status.value for status in HTTPStatus if status >= 400}
