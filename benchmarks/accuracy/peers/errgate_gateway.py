"""
errgate-gateway judges the answer of an MCP tool, so each row becomes the text of a failed result
with the code as it stands, the same with its words, the structured content of one, and an HTTP
answer where the code is a status or the name of one.

It is the generous reading: the tool is said to change nothing, the setting that permits most
repeats, and the answer is retryable if that to any one of the four is.
Each of its verdicts comes with an action, also the one that it does not know the failure.
"""

from __future__ import annotations

from errgate_gateway import classify_rules

from ._rows import Answer, answer_rows, status_of, words_of


def asked(prose: str, structured: dict[str, object] | None = None) -> Answer:
    verdict = classify_rules("server", "tool", False, prose, structured)
    return Answer(
        retryable=verdict.retryable,
        category=None if verdict.category == "UNKNOWN" else verdict.category,
        action=verdict.action,
    )


def text(code: str, message: str) -> Answer:
    return asked(f"{code}: {message}")


def structured(code: str, message: str) -> Answer:
    return asked(message, {"code": code, "errorCategory": None, "message": message})


def text_in_words(code: str, message: str) -> Answer:
    return asked(f"{words_of(code)}: {message}")


def http(code: str, message: str) -> Answer | None:
    status = status_of(code, message)
    return None if status is None else asked(f"{status} {words_of(code)}: {message}")


AS_WRITTEN = (text, structured)

if __name__ == "__main__":
    answer_rows((*AS_WRITTEN, text_in_words, http), as_written=AS_WRITTEN)
