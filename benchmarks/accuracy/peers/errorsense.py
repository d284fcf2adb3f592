"""
errorsense sorts signals by rules, and asks a language model about the rest; here the model is left
out. Its preset for HTTP gets the row as the body of a response, with the status that the code names
and 500 if it names none. The rules that its README shows get it as a mapping and as an exception.

It is the generous reading: its labels say whose fault a failure is, and "server" and "transient"
are read as retryable, whichever of the two sets of rules says so, for the code as it stands or for
its words.
With the model it would say more; without a rule it says nothing, which counts as no.
"""

from __future__ import annotations

from errorsense import ErrorSense, Phase, Ruleset, Signal
from errorsense.presets import http_no_llm

from ._rows import Answer, Way, answer_rows, status_of, words_of

PRESET = http_no_llm()
README = ErrorSense(
    labels=["transient", "permanent", "user"],
    default="undecided",
    pipeline=[
        Phase(
            "codes",
            rulesets=[
                Ruleset(
                    field="error_code",
                    match={
                        "ECONNRESET": "transient",
                        "ETIMEOUT": "transient",
                        "EPERM": "permanent",
                    },
                )
            ],
        ),
        Phase(
            "patterns",
            rulesets=[
                Ruleset(
                    field="message",
                    patterns=[
                        ("transient", ["timeout", "connection reset", "retry"]),
                        ("permanent", ["corruption", "fatal"]),
                    ],
                )
            ],
        ),
    ],
)


def asked(sense: ErrorSense, signal: Signal) -> Answer:
    label = sense.classify(signal)[0].label
    return Answer(
        retryable=label in ("server", "transient"),
        category=None if label == "undecided" else label,
    )


def response(code: str, message: str) -> Answer:
    status = status_of(code, message) or 500
    return asked(PRESET, Signal.from_http(status, body=f"{code}: {message}"))


def mapping(code: str, message: str) -> Answer:
    return asked(README, Signal({"error_code": code, "message": f"{code}: {message}"}))


def exception(code: str, message: str) -> Answer:
    return asked(README, Signal.from_exception(type(code, (Exception,), {})(message)))


def in_words(way: Way) -> Way:
    return lambda code, message: way(words_of(code), message)


AS_WRITTEN = (mapping, exception)

if __name__ == "__main__":
    answer_rows(
        (response, in_words(response), *AS_WRITTEN, in_words(mapping)), as_written=AS_WRITTEN
    )
