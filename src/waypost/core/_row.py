"""The one way to make a row of the table: defaults of its class filled in, mistakes named."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from ._actions import CLASS_DEFAULTS, STEP_ACTIONS, STRICTER_DEFAULTS, WAIT_PLACEHOLDER
from ._model import ErrorClass, NextStep, Outcome, Rule, RuleError

MIN_GLOB = 3
MAX_ACTION = 200
MAX_ID = 128

_Word = TypeVar("_Word", bound=StrEnum)


def rule(
    id: str,  # noqa: A002 -- the field's name in the table, in TOML and on the wire
    *,
    any_of: Iterable[str] = (),
    ends: Iterable[str] = (),
    only_with: Iterable[str] = (),
    not_with: Iterable[str] = (),
    error_class: ErrorClass | str,
    retryable: bool | None = None,
    step: NextStep | str | None = None,
    outcome: Outcome | str,
    action: str | None = None,
    why: str,
    in_message: bool = True,
    vague: bool = False,
    refined_by: Iterable[ErrorClass | str] = (),
) -> Rule:
    """
    Make one row; what is left out comes from the table of classes.

    Args:
        id: Unique in its book.

        any_of: Patterns: words of ``[a-z0-9]`` parted by one space, in the order in which they must
            stand. ``*`` may begin or end a word and needs three characters beside it.

        ends: Patterns that count only at the end of the name or message.

        only_with: Patterns of which one must stand in the same name or message, anywhere: the
            object of a verdict, as in "too many" with "requests". None are asked for if it is
            empty.

        not_with: Patterns that must not stand in the same name or message.

        error_class: The class, or its value.

        retryable: ``False`` makes the row stricter than its class.

        step: The recovery step, if not that of the class.

        outcome: ``not_done`` if the failure proves that nothing happened, else ``unknown``.

        action: The sentence, at most 200 characters. Holds ``{wait}`` once if the step is ``wait``.

        why: Why the row stands in the table, in one line.

        in_message: Whether the row reads messages too, or names only.

        vague: Whether the row gives way to any further code, and to a message that says more.

        refined_by: The classes, or their values, to which a vague row gives way when a message
            tells of them; to all if it is empty. A boilerplate is no reason.

    Raises:
        RuleError: Something above does not hold; the text names the value and the way out.
    """
    _check_text_and_flags(id, why, retryable, vague=vague, in_message=in_message)
    patterns = _patterns(id, any_of), _patterns(id, ends)
    if not patterns[0] and not patterns[1]:
        raise RuleError(f"Rule {id!r} matches nothing: give it a pattern in any_of= or ends=.")
    known_class = _known(id, "error class", error_class, ErrorClass)
    can_repeat, known_step, sentence = _advice(
        id, known_class, retryable, None if step is None else _known(id, "step", step, NextStep)
    )
    sentence = sentence if action is None else action
    _check_action(id, known_step, sentence)
    return Rule(
        id=id,
        error_class=known_class,
        retryable=can_repeat,
        step=known_step,
        outcome=_known(id, "outcome", outcome, Outcome),
        action=sentence,
        why=why,
        any_of=patterns[0],
        ends=patterns[1],
        only_with=_patterns(id, only_with),
        not_with=_patterns(id, not_with),
        in_message=in_message,
        vague=vague,
        refined_by=tuple(
            _known(id, "error class", each, ErrorClass)
            for each in _listed(id, "error classes", refined_by)
        ),
    )


def _check_text_and_flags(
    rule_id: object, why: object, retryable: object, *, vague: object, in_message: object
) -> None:
    if not (isinstance(rule_id, str) and rule_id.strip() and rule_id.isprintable()):
        raise RuleError(
            f"A rule needs an id, not {rule_id!r}: give it one, such as 'rate.limited'."
        )
    if len(rule_id) > MAX_ID:
        raise RuleError(
            f"The id {rule_id[:MAX_ID]!r}... is too long: write at most {MAX_ID} characters."
        )
    if not (isinstance(why, str) and why.strip()):
        raise RuleError(f"Rule {rule_id!r} has no reason: say in why= what it is for, in one line.")
    for name, value in (("vague", vague), ("in_message", in_message), ("retryable", retryable)):
        if not (value is True or value is False or (value is None and name == "retryable")):
            raise RuleError(f"Rule {rule_id!r} has {name}={value!r}: write True or False.")


def _advice(
    rule_id: str, error_class: ErrorClass, retryable: bool | None, step: NextStep | None
) -> tuple[bool, NextStep, str | None]:
    """Whether to repeat, the step and its sentence, as far as the class or the step decides."""
    defaults = CLASS_DEFAULTS[error_class]
    if retryable and not defaults.retryable:
        raise RuleError(
            f"Rule {rule_id!r} says retryable=True, but {error_class.value!r} is not retryable: "
            f"leave retryable out or choose another class."
        )
    default_step, sentence = defaults.step, defaults.action
    if retryable is False and defaults.retryable:
        report = (NextStep.REPORT, STEP_ACTIONS[NextStep.REPORT])
        default_step, sentence = STRICTER_DEFAULTS.get(error_class, report)
    if step is not None and step is not default_step:
        default_step, sentence = step, STEP_ACTIONS[step]
    return defaults.retryable and retryable is not False, default_step, sentence


def _known(rule_id: str, what: str, value: str, words: type[_Word]) -> _Word:
    """The member of a closed set that *value* names."""
    try:
        return words(value)
    except (ValueError, TypeError):
        allowed = ", ".join(word.value for word in words)
        raise RuleError(
            f"Rule {rule_id!r} names the {what} {value!r}, which does not exist: "
            f"use one of {allowed}."
        ) from None


def _patterns(rule_id: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns as a tuple, each one checked."""
    patterns = _listed(rule_id, "patterns", patterns)
    for pattern in patterns:
        if not isinstance(pattern, str) or not _well_formed(pattern):
            raise RuleError(
                f"Pattern {pattern!r} of rule {rule_id!r} is no sequence of words: write "
                f"lower-case words of a-z and 0-9 with one space between, with * only at the "
                f"start or end of a word that has {MIN_GLOB} characters or more beside it."
            )
    return patterns


def _listed(rule_id: str, what: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        kind = "the text" if isinstance(values, str) else "the value"
        raise RuleError(f"Rule {rule_id!r} has {kind} {values!r} for {what}: use a list.")
    return tuple(values)


def _well_formed(pattern: str) -> bool:
    bare = pattern.replace(" ", "")
    if bare.isascii() and bare.isalnum() and bare == bare.lower():  # the common case, at once
        return pattern.split(" ") == pattern.split()
    for word in pattern.split(" "):
        literal = word.removeprefix("*").removesuffix("*")
        if not (literal.isascii() and literal.isalnum() and literal == literal.lower()):
            return False
        if literal != word and (len(literal) < MIN_GLOB or len(word) > len(literal) + 1):
            return False
    return True


def _check_action(rule_id: str, step: NextStep, action: str | None) -> None:
    """A sentence for every step but ``none``, short, on one line, ``{wait}`` where it belongs."""
    if (action is None) != (step is NextStep.NONE):
        raise RuleError(
            f"Rule {rule_id!r} has the step {step.value!r} and the action {action!r}: "
            f"give a sentence for every step but 'none', and none for that."
        )
    if action is None:
        return
    if not isinstance(action, str):
        raise RuleError(f"The action of rule {rule_id!r} is {action!r}: write a text.")
    if not action.strip() or len(action) > MAX_ACTION or not action.isprintable():
        raise RuleError(
            f"The action of rule {rule_id!r} is {action[:MAX_ACTION]!r}: write one line of 1 to "
            f"{MAX_ACTION} printable characters."
        )
    if action.count(WAIT_PLACEHOLDER) != (step is NextStep.WAIT):
        raise RuleError(
            f"The action {action!r} of rule {rule_id!r} does not fit the step {step.value!r}: "
            f"{WAIT_PLACEHOLDER} stands in it once if the step is 'wait', and else not at all."
        )
