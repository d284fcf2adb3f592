"""What waypost itself advises: a row, bent to what the tool says and to what is safe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ._actions import CHECK_EFFECT, CHECK_FIRST
from ._clean import clean_text
from ._model import Actor, ErrorClass, Failure, NextStep, Outcome, Rule
from ._recognize import mapping_of, text_of
from ._safety import Effects

_OPTIONS = 10
_OPTION_CHARS = 64
_ACTION_CHARS = 512

TOOL_SAYS_NO = (
    "The tool says that the same call cannot succeed. Do not repeat it; report the failure."
)
_TOOL_SAYS_YES = (
    "The tool says that the same call can succeed. Wait {wait}, then make it once more."
)

_TOOL_SAYS_AFTER = (
    "The tool says that the same call can succeed. Ask the user first, then make it once more."
)

_ACTORS = {
    NextStep.SIGN_IN: Actor.USER,
    NextStep.ASK_USER: Actor.USER,
    NextStep.ASK_PERMISSION: Actor.USER,
    NextStep.REPORT: Actor.OPERATOR,
}


def actor_of(step: NextStep) -> Actor:
    """Who can take *step*."""
    return _ACTORS.get(step, Actor.MODEL)


UNATTENDED = frozenset((NextStep.WAIT, NextStep.RECONNECT))
_PERSONAL = frozenset(
    (NextStep.SIGN_IN, NextStep.ASK_USER, NextStep.ASK_PERMISSION, NextStep.PREPARE)
)


class Advice(NamedTuple):
    """What waypost itself would say, before the delay is filled in; kept, since rows are few."""

    error_class: ErrorClass
    rule: str
    retryable: bool
    step: NextStep
    outcome: Outcome
    action: str | None
    actor: Actor = Actor.MODEL
    timed: bool = False
    repeatable: bool = False
    own_retryable: bool = False


@lru_cache(maxsize=1_024)
def advised(row: Rule, effects: Effects, told: bool | None, delayed: bool, refused: bool) -> Advice:
    """
    What *row* comes to, given what else is known.

    Args:
        told: What the tool says on *retryable*, if it says it.

        delayed: Whether the tool names a delay in a field of its own.

        refused: Whether it says 503 and names a delay: then it has not begun with the call.
    """
    advice = Advice(row.error_class, row.id, row.retryable, row.step, row.outcome, row.action)
    if refused and row.error_class is ErrorClass.UNAVAILABLE:
        advice = advice._replace(outcome=Outcome.NOT_DONE)
    if delayed and row.error_class is ErrorClass.UNKNOWN:
        advice = _DELAY_NAMED
    own_retryable = advice.retryable
    advice = _checked(_agreed(advice, told), effects.writes, told)
    safe = advice.outcome is Outcome.NOT_DONE or (effects.writes is False and effects.trusted)
    return advice._replace(
        actor=actor_of(advice.step),
        timed=advice.action is not None and "{wait}" in advice.action,
        repeatable=safe and advice.step in UNATTENDED,
        own_retryable=own_retryable,
    )


ASK = "Ask the user for the missing value, then make the same call with it added."
ASKING = Rule(
    id="input.request",
    error_class=ErrorClass.NEEDS_INPUT,
    retryable=True,
    step=NextStep.ASK_USER,
    outcome=Outcome.NOT_DONE,
    action=ASK,
    why="The tool names the argument that it needs; nothing else that it says matters more.",
)
_DELAY_NAMED = Advice(
    ErrorClass.UNAVAILABLE,
    "delay.named",
    True,
    NextStep.WAIT,
    Outcome.UNKNOWN,
    "Wait {wait}, then make the same call.",
)


def asked(failure: Failure) -> tuple[str, int] | None:
    """Return the tool's question to the user, and how many of its options are left out."""
    request = mapping_of(failure.payload["input_request"])
    if not request or not (text_of(request.get("argument")) or "")[:_OPTION_CHARS].strip():
        return None
    return _question(request)


def _question(request: Mapping[str, object]) -> tuple[str, int]:
    """Name only an identifier as argument, and only options that cleaning would not change."""
    argument = text_of(request.get("argument")) or ""
    if len(argument) > _OPTION_CHARS or not (argument.isascii() and argument.isidentifier()):
        return ASK, 0
    action = f'Ask the user for "{argument}", then make the same call with that argument added.'
    options = request.get("options")
    if type(options) is not list or not options:
        return action, 0
    kept = [text for option in options[: _OPTIONS * 2] if (text := _option(option))][:_OPTIONS]
    while kept and len(action) + 60 + sum(len(text) + 4 for text in kept) > _ACTION_CHARS:
        kept.pop()
    if kept:
        action += " Options reported by the tool: " + ", ".join(f'"{text}"' for text in kept) + "."
    return action, len(options) - len(kept)


def _option(option: object) -> str | None:
    """An option that can be quoted as it is: short, visible, without a mark that ends a quote."""
    text = str(option) if type(option) is int and abs(option) < 10**12 else text_of(option)
    if not text or len(text) > _OPTION_CHARS or not _UNQUOTABLE.isdisjoint(text):
        return None
    return text if clean_text(text, _OPTION_CHARS) == text else None


_UNQUOTABLE = frozenset(
    '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02'  # marks that end a quotation
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # printable, and invisible
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def _agreed(advice: Advice, told: bool | None) -> Advice:
    """Bend waypost's step to the tool's own word on *retryable*: never a contradicting twin."""
    if told is None or told is advice.retryable:
        return advice
    if not told:
        return advice._replace(retryable=False, step=NextStep.REPORT, action=TOOL_SAYS_NO)
    if advice.step in _PERSONAL or advice.error_class is ErrorClass.DATA_LOSS:
        step = advice.step if advice.step in _PERSONAL else NextStep.ASK_USER
        return advice._replace(retryable=True, step=step, action=_TOOL_SAYS_AFTER)
    return advice._replace(retryable=True, step=NextStep.WAIT, action=_TOOL_SAYS_YES)


def _checked(advice: Advice, writes: bool | None, told: bool | None) -> Advice:
    """Where the outcome is unknown, check the effect first, so that no write is made twice."""
    if not advice.retryable or advice.outcome is Outcome.NOT_DONE or writes is False:
        return advice
    if writes and told is None:
        return advice._replace(retryable=False, step=NextStep.CHECK_EFFECT, action=CHECK_EFFECT)
    return advice._replace(action=f"{CHECK_FIRST} {advice.action}")
