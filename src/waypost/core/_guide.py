"""From a recognized failure to guidance: whose word counts, what is next, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ._advice import ASK, ASKING, Advice, advised, asked
from ._classify import RuleBook, classify
from ._delays import delay_in
from ._model import Actor, ErrorClass, Failure, Guidance, NextStep, Rule, Source, frozen
from ._recognize import mapping_of
from ._safety import UNKNOWN_EFFECTS, Effects
from ._said import ABSENT, said_of

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_WAIT_SECONDS = 3_600.0
_FIRST_WAIT_SECONDS = 1.0
_JITTER_SECONDS = 2.0
_SOON = "a few seconds"

_LONG_WAIT = (
    "The tool asks to wait longer than an hour. Tell the user, and make the same call only after "
    "that time."
)


class Guided(NamedTuple):
    """
    What guidance is made of, and what follows from it for those who write it down.

    Attributes:
        advice: What waypost itself says.

        step: The step that is left once the delay is known.

        template: The next action without any value of the tool's; ``None`` if the words are the
        tool's.

        action: The same with the tool's values in it.

        next_action: The sentence in the payload, whoever wrote it.

        additions: The members that the payload lacks, without the trace id.

        spoofed: The result claims guidance of waypost's that waypost would not give.

        options_left_out: Option values that cleaning would have changed, or that are too many or
        too long.
    """

    error_code: str
    advice: Advice
    step: NextStep
    actor: Actor
    template: str | None
    action: str | None
    next_action: str | None
    retryable: bool
    may_repeat: bool
    delay: float | None
    retryable_source: Source
    next_action_source: Source
    disagreement: bool
    additions: dict[str, object]
    spoofed: bool
    options_left_out: int

    def guidance(self, jitter: float) -> Guidance:
        """
        Return the public form.

        Args:
            jitter: Between 0 and 1: where in the span of a wait without a named delay this caller
            waits.
        """
        unattended = self.step is NextStep.WAIT or self.step is NextStep.RECONNECT
        return frozen(
            Guidance,
            error_class=self.advice.error_class,
            error_code=self.error_code,
            retryable=self.retryable,
            next_action=self.next_action,
            next_step=self.step,
            actor=self.actor,
            may_repeat=self.may_repeat,
            wait_seconds=_wait_seconds(self.delay, jitter) if unattended else None,
            retry_after_seconds=self.delay,
            rule=self.advice.rule,
            retryable_source=self.retryable_source,
            next_action_source=self.next_action_source,
            disagreement=self.disagreement,
        )


def guide(
    failure: Failure,
    effects: Effects = UNKNOWN_EFFECTS,
    *,
    rules: RuleBook | None = None,
    now: Callable[[], datetime] | None = None,
) -> Guided:
    """
    Work out the guidance for *failure*.

    Args:
        now: Tells the time, for delays that the tool gives as a date; without it they are ignored.
    """
    said = said_of(failure.details, now)
    question = asked(failure) if "input_request" in failure.payload else None
    row, told_delay = (ASKING, None) if question else _sorted(failure, rules)
    delay = told_delay if said.delay is None else said.delay
    told = said.retryable if type(said.retryable) is bool else None
    advice = advised(row, effects, told, delay is not None)
    template, step, actor = advice.action, advice.step, advice.actor
    if advice.timed:
        template = _timed(advice.action, delay)
        if template is _LONG_WAIT:
            step, actor = NextStep.ASK_USER, Actor.USER
    action = question[0] if question and template is ASK else template
    retryable = advice.retryable if said.retryable is ABSENT else said.retryable is True
    additions: dict[str, object] = {}
    if said.retryable is ABSENT or told is not None:
        additions["retryable"] = retryable
    if action is not None and not said.advises:
        additions["next_action"] = action
    return Guided(
        failure.code or "tool_error",
        advice,
        step,
        actor,
        None if said.advises else template,
        None if said.advises else action,
        said.action if said.advises else action,
        retryable,
        retryable and advice.repeatable and template is not _LONG_WAIT,
        delay,
        _WAYPOST if said.retryable is ABSENT else _TOOL,
        _TOOL if said.advises else _WAYPOST if action is not None else _NONE,
        told is not None and told is not row.retryable,
        additions,
        (failure.claim is not None or failure.signed)
        and _spoofed(failure, advice.error_class, retryable=retryable),
        question[1] if question else 0,
    )


_SORTED_KEPT = 1_024
_sorted_before: dict[tuple[object, ...], tuple[Rule, float | None]] = {}


def _sorted(failure: Failure, rules: RuleBook | None) -> tuple[Rule, float | None]:
    """
    Return the row for *failure*, and the delay that its message names.

    Calls fail again with the same words, so both are kept, by a hash of the message: the words
    themselves may hold a secret.
    """
    message = failure.message
    key = (failure.code, failure.more_codes, hash(message), len(message), rules)
    if (known := _sorted_before.get(key)) is not None:
        return known
    row = classify(failure.code, message, failure.more_codes, rules=rules)
    waits = row.step is NextStep.WAIT or row.step is NextStep.NONE
    found = (row, delay_in(message) if waits else None)
    if len(_sorted_before) >= _SORTED_KEPT:
        _sorted_before.clear()
    _sorted_before[key] = found
    return found


_WAYPOST, _TOOL, _NONE = Source.WAYPOST, Source.TOOL, Source.NONE


def _spoofed(failure: Failure, error_class: ErrorClass, *, retryable: bool) -> bool:
    """
    Whether a result carries waypost's signature without being waypost's.

    Another waypost, on the server, leaves its guidance in ``_meta`` and agrees with this one.
    """
    if failure.claim is None:
        return failure.signed
    claim = mapping_of(failure.claim)
    return (
        claim is None
        or claim.get("error_class") != error_class.value
        or claim.get("retryable") is not retryable
    )


@lru_cache(maxsize=256)
def _timed(action: str | None, delay: float | None) -> str | None:
    """Fill the wait into a sentence; past an hour it is the user's to decide."""
    if delay is not None and delay > LONGEST_WAIT_SECONDS:
        return _LONG_WAIT
    return action and action.replace("{wait}", _spoken(delay))


def _spoken(delay: float | None) -> str:
    if not delay:
        return _SOON
    # Rounded up: a call that comes a little early fails again.
    tenths = -int(-delay * 10 // 1)
    return f"{tenths // 10} s" if tenths % 10 == 0 else f"{tenths / 10} s"


def _wait_seconds(delay: float | None, jitter: float) -> float:
    """
    The tool's delay, or a second and up to two more: full jitter, so that callers do not come back
    together.
    """
    return delay if delay is not None else _FIRST_WAIT_SECONDS + _JITTER_SECONDS * jitter
