"""
retryguard looks at exceptions, so each row becomes exceptions in every way in which its code can be
told by one: a class of that name, or the built-in one; the `OSError` of an errno name; a field
`status_code` where the code is an HTTP status or the name of one; a field `sqlstate`; a
`TimeoutError` or a `ConnectionError` where the words of the code say so.

It is the generous reading: the answer is retryable if that of any one of them is, though a program
meets only one of them, and a caller has to choose it.
What it waits between two attempts counts as a next action.
"""

from __future__ import annotations

import builtins
import errno
import re

from retryguard import classify_error

from ._rows import Answer, answer_rows, status_of, words_of

CONNECTION = re.compile(
    r"connect(ion)? ?(error|exception|lost|loss|reset|refused|closed|aborted|failed|failure)"
)
WANT_MORE = (UnicodeError, ExceptionGroup)
"""Built-in exceptions that cannot be made from a message alone."""


def asked(exception: Exception) -> Answer:
    """Return what it decides; an exception that it does not know has no category."""
    decision = classify_error(exception)
    seconds = decision.retry_after_seconds or decision.suggested_delay_seconds
    return Answer(
        retryable=decision.retryable,
        category=None if decision.reason_code == "unknown" else str(decision.category),
        action=f"wait {seconds:g} s" if decision.retryable and seconds else None,
    )


def made(code: str, message: str, base: type[Exception] = Exception, **fields: object) -> Answer:
    return asked(type(code, (base,), fields)(message))


def named(code: str, message: str) -> Answer:
    cls = getattr(builtins, code, None)
    if isinstance(cls, type) and issubclass(cls, Exception) and not issubclass(cls, WANT_MORE):
        return asked(cls(message))
    return made(code, message)


def os_error(code: str, message: str) -> Answer | None:
    if code not in errno.errorcode.values():
        return None
    return asked(OSError(getattr(errno, code), message))


def sqlstate(code: str, message: str) -> Answer | None:
    if not re.fullmatch(r"(?=.*\d)[0-9A-Z]{5}", code):
        return None
    return made(code, message, sqlstate=code)


def http(code: str, message: str) -> Answer | None:
    status = status_of(code, message)
    return None if status is None else made(code, message, status_code=status)


def timeout(code: str, message: str) -> Answer | None:
    if not re.search(r"time ?d? ?out", words_of(code)):
        return None
    return made(code, message, TimeoutError)


def connection(code: str, message: str) -> Answer | None:
    if not CONNECTION.search(words_of(code)):
        return None
    return made(code, message, ConnectionError)


AS_WRITTEN = (named, os_error, sqlstate)
READ = (http, timeout, connection)

if __name__ == "__main__":
    answer_rows((*AS_WRITTEN, *READ), as_written=AS_WRITTEN)
