"""The page of the error classes and the steps, from the tables that the code itself reads."""

from __future__ import annotations

from collections.abc import Iterator

from waypost.core._actions import CHECK_EFFECT, CHECK_FIRST, CLASS_DEFAULTS, STEP_ACTIONS
from waypost.core._advice import _ACTORS, UNATTENDED
from waypost.core._guide import _timed
from waypost.core._model import Actor, ErrorClass, NextStep, Rule
from waypost.core._rules import RULES

from ._markdown import code, section, sentences, slug, table, yes_no

__all__ = ["MEANINGS", "actor_of", "page", "said"]

MEANINGS = {
    ErrorClass.RATE_LIMITED: "Too many calls in too short a time; time alone lifts the limit.",
    ErrorClass.UNAVAILABLE: "The service, or the way to it, does not work right now.",
    ErrorClass.TIMEOUT: "No answer came in time; the work may have been done all the same.",
    ErrorClass.CONFLICT: "Another operation stands in the way: a lock, a deadlock, a transaction "
    "that must run again.",
    ErrorClass.DISCONNECTED: "The connection or the session to the server ended.",
    ErrorClass.NOT_READY: "Something that the tool needs has not been started or initialized.",
    ErrorClass.UNAUTHENTICATED: "Nobody is signed in: the session or the token is missing, "
    "expired, revoked or refused.",
    ErrorClass.NEEDS_INPUT: "The tool asks a question that only the user can answer.",
    ErrorClass.INTERNAL: "The service says that it failed itself, or the tool crashed.",
    ErrorClass.FORBIDDEN: "The caller is known, and may not do this.",
    ErrorClass.REJECTED: "A policy or a person said no to this very request.",
    ErrorClass.NOT_FOUND: "What the call names does not exist.",
    ErrorClass.INVALID: "The arguments are wrong: malformed, missing or out of range.",
    ErrorClass.TOO_LARGE: "The request, or what it asks for, is larger than is allowed.",
    ErrorClass.ALREADY_EXISTS: "What the call would make exists already.",
    ErrorClass.PRECONDITION: "The state is not what the caller thinks: a stale version, a failed "
    "condition, a wrong state.",
    ErrorClass.QUOTA_EXHAUSTED: "An allowance is used up, and does not come back by waiting.",
    ErrorClass.UNSUPPORTED: "The tool, the method or the feature does not exist here.",
    ErrorClass.MISCONFIGURED: "The server lacks something that only whoever runs it can set right.",
    ErrorClass.CANCELLED: "Somebody stopped the call on purpose.",
    ErrorClass.DATA_LOSS: "Data is lost or damaged.",
    ErrorClass.UNKNOWN: "No rule knows the failure, and waypost does not guess.",
}

_STEPS = {
    NextStep.WAIT: "Wait for the delay that the tool named, or a few seconds.",
    NextStep.RECONNECT: "Open a new connection or session.",
    NextStep.PREPARE: "Start or initialize what the tool needs.",
    NextStep.SIGN_IN: "Sign in; where credentials were refused, with other ones.",
    NextStep.ASK_USER: "Ask the user: for a value, for a decision, or how to go on.",
    NextStep.CHECK_EFFECT: "Look whether the call took effect before anything is repeated.",
    NextStep.FIX_ARGUMENTS: "Correct the arguments that the error names.",
    NextStep.LIST_FIRST: "Look up what exists, or what the state is now.",
    NextStep.REDUCE_SCOPE: "Send or ask for less.",
    NextStep.USE_OTHER_TOOL: "Reach the goal in another way.",
    NextStep.ASK_PERMISSION: "Ask the user, or whoever grants access, for permission.",
    NextStep.REPORT: "Report the failure; nobody in the conversation can fix it.",
    NextStep.NONE: "Nothing is advised.",
}

_WHO = {
    Actor.MODEL: "The model, or the host's own loop.",
    Actor.USER: "The person that the model works for.",
    Actor.OPERATOR: "Whoever runs the server.",
}

_INTRODUCTION = """
waypost sorts every failure into one of {count} error classes.
The set is closed, so a class may be a metric attribute and a dashboard can list them all.
The class decides whether the same call can succeed, what the next step is, and who can take it.
A [rule](rules.md) may be stricter than its class, never laxer.
"""

_SENTENCES = """
The next action is made from constant sentences.
Where the tool named a delay of at most an hour, it stands in place of "a few seconds": {example}
"""

_OUTCOME = """
A failure that leaves open whether the work was done, such as a timeout, is treated with care.
For a tool that writes, `retryable` is `false`, the step is `check_effect`, and the next action is:

> {check}

Where it is not known whether the tool writes, the next action begins with a sentence of its own,
and `may_repeat` is `false`:

> {first}
"""


def page() -> str:
    """Return the page."""
    example = _timed(CLASS_DEFAULTS[ErrorClass.RATE_LIMITED].action or "", 20.0)
    return section(
        1,
        "Error classes",
        sentences(_INTRODUCTION.format(count=len(ErrorClass))),
        _overview(),
        section(
            2,
            "What each class says",
            sentences(_SENTENCES.format(example=f'"{example}"')),
            *map(_class, ErrorClass),
        ),
        section(
            2,
            "When the outcome is unknown",
            sentences(_OUTCOME.format(check=CHECK_EFFECT, first=CHECK_FIRST)),
        ),
        _steps(),
    )


def said(action: str | None) -> str:
    """Return a next action as it reads where the tool named no delay."""
    return "none" if action is None else sentences(_timed(action, None))


def actor_of(step: NextStep) -> Actor:
    """Return who takes *step*."""
    return _ACTORS.get(step, Actor.MODEL)


def _overview() -> str:
    return table(
        ("Class", "Retryable", "Next step", "Who takes it"),
        (
            (
                f"[{code(cls)}](#{slug(cls)})",
                yes_no(defaults.retryable),
                code(defaults.step),
                actor_of(defaults.step),
            )
            for cls, defaults in CLASS_DEFAULTS.items()
        ),
    )


def _class(cls: ErrorClass) -> str:
    defaults = CLASS_DEFAULTS[cls]
    rows = [row for row in RULES if row.error_class is cls]
    return section(
        3,
        code(cls),
        sentences(MEANINGS[cls]),
        _advice(defaults.retryable, defaults.step, defaults.action),
        "\n\n".join(_others(cls, rows)),
        _found_by(rows),
    )


def _advice(retryable: bool, step: NextStep, action: str | None) -> str:
    sentence = said(action).replace("\n", "\n  ")
    return "\n".join(
        (
            f"- Retryable: {yes_no(retryable)}",
            f"- Next step: [{code(step)}](#{slug(step)}), taken by the {actor_of(step)}"
            if step is not NextStep.NONE
            else f"- Next step: {code(step)}",
            f"- Next action: {sentence}",
        )
    )


def _others(cls: ErrorClass, rows: list[Rule]) -> Iterator[str]:
    """What the rows of the class say that differ from it, each such advice once."""
    usual = CLASS_DEFAULTS[cls]
    advice: dict[tuple[bool, NextStep, str | None], list[Rule]] = {}
    for row in rows:
        if (row.retryable, row.step, row.action) != usual:
            advice.setdefault((row.retryable, row.step, row.action), []).append(row)
    for (retryable, step, action), differing in advice.items():
        yield f"Otherwise with {_links(differing)}:"
        yield _advice(retryable, step, action)


def _found_by(rows: list[Rule]) -> str:
    return f"Rules: {_links(rows)}." if rows else ""


def _links(rows: list[Rule]) -> str:
    return ", ".join(f"[{code(row.id)}](rules.md#{slug(row.id)})" for row in rows)


def _steps() -> str:
    steps = (
        section(
            3,
            code(step),
            sentences(_STEPS[step]),
            "\n".join(
                filter(
                    None,
                    (
                        f"- Taken by: the {actor_of(step)}" if STEP_ACTIONS[step] else "",
                        "- Needs no person: a host's own loop may take it, if `may_repeat` says so"
                        if step in UNATTENDED
                        else "",
                    ),
                )
            ),
        )
        for step in NextStep
    )
    return section(
        2,
        "Next steps",
        "The steps are a closed set, too.",
        table(("Actor", "Who it is"), ((code(actor), _WHO[actor]) for actor in Actor)),
        *steps,
    )
