"""
failecho-autoreport reports the shape of failures; here its switch for that is off, and only its
sorting is asked. Each row becomes an exception with the words of the code and the message. It has
no word of its own for retryable: a class counts as that if it is in its set `TRANSIENT`.

It is the generous reading: on these rows, the words of the code alone score higher than the code
as it stands, a class with its name or an HTTP status, and higher than any of these together.
What it says to the code as it stands is the figure without our reading.
"""

from __future__ import annotations

from failecho_autoreport import classify
from failecho_autoreport.auto import TRANSIENT

from ._rows import Answer, answer_rows, words_of


def asked(text: str) -> Answer:
    kind, _ = classify(Exception(text))
    return Answer(retryable=kind in TRANSIENT, category=None if kind == "error" else kind)


def in_words(code: str, message: str) -> Answer:
    return asked(f"{words_of(code)}: {message}")


def as_it_stands(code: str, message: str) -> Answer:
    return asked(f"{code}: {message}")


if __name__ == "__main__":
    answer_rows((in_words,), as_written=(as_it_stands,))
