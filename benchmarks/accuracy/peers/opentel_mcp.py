"""
opentel-mcp writes a category of each failed tool call on its span, and says nothing on repeating
it, which is not its purpose. Each row becomes an exception whose class has the name of the code, an
error with a name, a message, a code and a status, and the text of a failed result, once with the
code as it stands and once with its words.

It is the generous reading: the categories "timeout" and "network" are read as retryable, and the
answer is that if any one of the four has such a category.
The function is a private one, because the public way only writes spans; it is the one which that
way calls.
"""

from __future__ import annotations

from opentel_mcp._compose import compute_fingerprint

from ._rows import Answer, answer_rows, status_of, words_of


def asked(failure: object) -> Answer:
    found = compute_fingerprint(failure, tool_name="tool", origin="tool_error").category
    return Answer(
        retryable=found in ("timeout", "network"),
        category=None if found in ("internal", "unknown") else found,
    )


def exception(code: str, message: str) -> Answer:
    return asked(type(code, (Exception,), {"code": code})(message))


def error(code: str, message: str) -> Answer:
    status = status_of(code, message)
    text = f"{code}: {message}"
    return asked({"name": code, "message": text, "code": code, "status": status})


def result(code: str, message: str) -> Answer:
    return asked_result(f"{code}: {message}")


def result_in_words(code: str, message: str) -> Answer:
    return asked_result(f"{words_of(code)}: {message}")


def asked_result(text: str) -> Answer:
    return asked({"isError": True, "content": [{"type": "text", "text": text}]})


AS_WRITTEN = (exception, result)

if __name__ == "__main__":
    answer_rows((*AS_WRITTEN, error, result_in_words), as_written=AS_WRITTEN)
