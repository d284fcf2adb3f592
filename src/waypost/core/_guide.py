"""From a recognized failure to guidance: whose word counts, what is next, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ._actions import STOP_ACTIONS
from ._advice import ASK, ASKING, TOOL_SAYS_NO, UNATTENDED, Advice, actor_of, advised, asked
from ._classify import RuleBook, sort_out
from ._delays import delay_in
from ._model import Actor, ErrorClass, Failure, Guidance, NextStep, Rule, Source, Stop, frozen
from ._recognize import mapping_of
from ._rules import UNKNOWN_RULE
from ._safety import UNKNOWN_EFFECTS, Effects
from ._said import ABSENT, NOTHING_SAID, Said, said_of

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_WAIT_SECONDS = 3_600.0
_FIRST_WAIT_SECONDS = 1.0
_JITTER_SECONDS = 2.0
_SOON = "a few seconds"

_UNCLEAR = (
    "The tool does not say clearly that the same call can succeed. Do not repeat it; report the "
    "failure."
)
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

        aside: What waypost says beside a next action that is the tool's, or ``None``.

        stop: Repeats do not help, and waypost says to stop.
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
    aside: str | None = None
    stop: bool = False

    def guidance(self, jitter: float, *, exported: str | None = None) -> Guidance:
        """
        Return the public form.

        Args:
            exported: The error code as it may leave us; the next action is then the template.

            jitter: Between 0 and 1: where in the span of a wait without a named delay this caller
                waits.
        """
        return frozen(
            Guidance,
            error_class=self.advice.error_class,
            error_code=exported or self.error_code,
            retryable=self.retryable,
            next_action=self.template if exported else self.next_action,
            next_step=self.step,
            actor=self.actor,
            may_repeat=self.may_repeat,
            wait_seconds=_wait_seconds(self.delay, jitter) if self.step in UNATTENDED else None,
            retry_after_seconds=self.delay,
            rule=self.advice.rule,
            retryable_source=self.retryable_source,
            next_action_source=self.next_action_source,
            disagreement=self.disagreement,
        )


def stopped(guided: Guided, stop: Stop) -> Guided:
    """
    Return *guided* for a call whose repeats do not help: waypost's own words say to stop.

    The tool's own words stay, and so does *retryable*, which is about the call and not about what
    was tried.
    """
    sentence = STOP_ACTIONS[stop]
    guided = guided._replace(step=_REPORT, actor=actor_of(_REPORT), may_repeat=False, stop=True)
    if guided.next_action_source is _TOOL:
        return guided._replace(aside=sentence)
    return guided._replace(
        template=sentence,
        action=sentence,
        next_action=sentence,
        next_action_source=_WAYPOST,
        additions={**guided.additions, "next_action": sentence},
    )


_REPORT = NextStep.REPORT


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
    if (
        said is not NOTHING_SAID
        or failure.claim is not None
        or failure.signed
        or failure.cause is not None
        or "input_request" in failure.payload
    ):
        return _worked_out(failure, said, effects, rules)
    # The most common failure has words and nothing else, and fails again with the same.
    key = (hash((failure.code, failure.more_codes, failure.message)), rules, effects)
    known = _plain_before.get(key)
    if known is None:
        known = _worked_out(failure, said, effects, rules)
        if len(_plain_before) >= _FOUND_KEPT:
            _plain_before.clear()
        _plain_before[key] = known
    return known


_plain_before: dict[tuple[object, ...], Guided] = {}
"""Guidance by a hash of the words, as in `_sorted`; it is never written to."""


def _worked_out(failure: Failure, said: Said, effects: Effects, rules: RuleBook | None) -> Guided:
    question = asked(failure) if "input_request" in failure.payload else None
    found = _ASKED if question else _sorted(failure, rules)
    row = found.row
    # A value that is no boolean counts as False, also for the sentence beside it.
    told = None if said.retryable is ABSENT else said.retryable is True
    delay = said.delay
    if delay is None and (told or row.step in _WAITING):
        delay = found.delay
    refused = delay is not None and found.at_503
    conditions = said.delay is not None, refused
    advice = advised(row, effects, told, *conditions)
    advises = said.advises
    if said.action:
        for known in (effects,) if effects.writes else (effects, *_OTHERS_KNOW):
            own = advised(row, known, None, *conditions)
            if _repeated(own, said, delay, question):
                advice, told, advises = own, None, False
                break
    step, actor, template = _due(advice, delay)
    if template is TOOL_SAYS_NO and said.retryable is not False:
        template = _UNCLEAR
    action = question[0] if question and template is ASK else template
    retryable = advice.retryable if told is None else told
    safe = effects.writes is False and effects.trusted
    additions: dict[str, object] = {}
    if told is None or type(said.retryable) is bool:
        additions["retryable"] = retryable
    if action is not None and not said.advises:
        additions["next_action"] = action
    return Guided(
        failure.code or found.code or "tool_error",
        advice,
        step,
        actor,
        None if advises else template,
        None if advises else action,
        said.action if advises else action,
        retryable,
        retryable and advice.repeatable and step in UNATTENDED and (safe or not found.doubtful),
        delay,
        _WAYPOST if told is None else _TOOL,
        _TOOL if advises else _WAYPOST if action is not None else _NONE,
        told is not None and type(said.retryable) is bool and told is not advice.own_retryable,
        additions,
        (failure.claim is not None or failure.signed > 0)
        and _spoofed(failure, advice.error_class, retryable=retryable),
        question[1] if question else 0,
    )


def _repeated(
    own: Advice, said: Said, delay: float | None, question: tuple[str, int] | None
) -> bool:
    """Whether *said* is waypost's own advice, word for word: a failure that was enriched before."""
    action = _due(own, delay)[2]
    if question and action is ASK:
        action = question[0]
    return own.retryable is said.retryable and action == said.action


_OTHERS_KNOW = (UNKNOWN_EFFECTS, Effects(writes=True), Effects(writes=False, trusted=False))
"""Who enriched it may have known more of the tool's effects, or less."""


def _due(advice: Advice, delay: float | None) -> tuple[NextStep, Actor, str | None]:
    """The step, who takes it and its sentence, once the delay is known."""
    if delay is not None and delay > LONGEST_WAIT_SECONDS and advice.step in UNATTENDED:
        return NextStep.ASK_USER, Actor.USER, _LONG_WAIT
    action = _timed(advice.action, delay) if advice.timed else advice.action
    return advice.step, advice.actor, action


class _Found(NamedTuple):
    """
    What a failure was sorted as.

    Attributes:
        delay: Seconds that its message names.

        doubtful: The words that say that nothing was done say other things as well.

        at_503: A code says 503, or unavailable.

        code: That of the cause, if the cause decided.
    """

    row: Rule
    delay: float | None = None
    doubtful: bool = False
    at_503: bool = False
    code: str | None = None


_ASKED = _Found(ASKING)
_FOUND_KEPT = 1_024
_found_before: dict[tuple[object, ...], _Found] = {}


def _sorted(failure: Failure, rules: RuleBook | None) -> _Found:
    """
    Sort *failure*, or remember how it was sorted.

    Calls fail again with the same words, so the answer is kept, by a hash of the words: they may
    hold a secret.
    """
    code, more_codes, message = failure.code, failure.more_codes, failure.message
    words = code, more_codes, message
    key = (hash(words if failure.cause is None else (words, _words(failure.cause))), rules)
    if (known := _found_before.get(key)) is not None:
        return known
    row, doubtful = sort_out(code, message, more_codes, rules=rules)
    at_503 = row.error_class is _UNAVAILABLE and any(
        name == "503" or "unavailable" in name.lower() for name in (code, *more_codes) if name
    )
    found = _Found(row, delay_in(message), doubtful, at_503)
    if row is UNKNOWN_RULE and failure.cause is not None:
        # What the cause had not done says nothing of what was done around it.
        found = _sorted(failure.cause, rules)
        found = found._replace(doubtful=True, code=found.code or failure.cause.code)
    if len(_found_before) >= _FOUND_KEPT:
        _found_before.clear()
    _found_before[key] = found
    return found


def _words(failure: Failure) -> tuple[object, ...]:
    cause = failure.cause
    return failure.code, failure.more_codes, failure.message, cause and _words(cause)


_WAITING = (NextStep.WAIT, NextStep.RECONNECT, NextStep.NONE)
"""Steps with which a delay in the message is the delay of a repeat."""

_WAYPOST, _TOOL, _NONE = Source.WAYPOST, Source.TOOL, Source.NONE
_UNAVAILABLE = ErrorClass.UNAVAILABLE


def _spoofed(failure: Failure, error_class: ErrorClass, *, retryable: bool) -> bool:
    """
    Whether a result carries waypost's signature without being waypost's.

    Another waypost, on the server, leaves its guidance in ``_meta`` and agrees with this one.
    """
    if failure.claim is None or failure.signed > 1:
        return failure.signed > 0
    claim = mapping_of(failure.claim)
    return (
        claim is None
        or claim.get("error_class") != error_class.value
        # It may know that the tool writes, and be stricter.
        or not (claim.get("retryable") is retryable or claim.get("retryable") is False)
    )


@lru_cache(maxsize=256)
def _timed(action: str, delay: float | None) -> str:
    return action.replace("{wait}", _spoken(delay))


def _spoken(delay: float | None) -> str:
    if not delay:
        return _SOON
    tenths = ceil(delay * 10)  # rounded up: a call that comes a little early fails again
    return f"{tenths // 10} s" if tenths % 10 == 0 else f"{tenths / 10} s"


def _wait_seconds(delay: float | None, jitter: float) -> float:
    """The tool's delay; else, or if it is 0, one to three seconds, spread so that callers part."""
    return delay or _FIRST_WAIT_SECONDS + _JITTER_SECONDS * jitter
