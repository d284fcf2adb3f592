"""Frozen values that the stages hand to each other, and the protocols of those who receive them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple, TypeVar


class WaypostError(Exception):
    """Base of every exception that waypost raises; none is ever raised while a tool is called."""


class RuleError(WaypostError, ValueError):
    """A rule, or a book of rules, cannot be built."""


class OptionError(WaypostError, ValueError):
    """An option has a value that it cannot have."""


class LimitError(OptionError):
    """A limit is out of its range."""


class ErrorClass(StrEnum):
    """The closed set of error classes: bounded, so that it may be a metric attribute."""

    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"
    DISCONNECTED = "disconnected"
    NOT_READY = "not_ready"
    UNAUTHENTICATED = "unauthenticated"
    NEEDS_INPUT = "needs_input"
    INTERNAL = "internal"
    FORBIDDEN = "forbidden"
    REJECTED = "rejected"
    NOT_FOUND = "not_found"
    INVALID = "invalid"
    TOO_LARGE = "too_large"
    ALREADY_EXISTS = "already_exists"
    PRECONDITION = "precondition"
    QUOTA_EXHAUSTED = "quota_exhausted"
    UNSUPPORTED = "unsupported"
    MISCONFIGURED = "misconfigured"
    CANCELLED = "cancelled"
    DATA_LOSS = "data_loss"
    UNKNOWN = "unknown"


class NextStep(StrEnum):
    """The closed set of recovery steps that a ``next_action`` can name."""

    WAIT = "wait"
    RECONNECT = "reconnect"
    PREPARE = "prepare"
    SIGN_IN = "sign_in"
    ASK_USER = "ask_user"
    CHECK_EFFECT = "check_effect"
    FIX_ARGUMENTS = "fix_arguments"
    LIST_FIRST = "list_first"
    REDUCE_SCOPE = "reduce_scope"
    USE_OTHER_TOOL = "use_other_tool"
    ASK_PERMISSION = "ask_permission"
    REPORT = "report"
    NONE = "none"


class Actor(StrEnum):
    """Who can take the next step."""

    MODEL = "model"
    USER = "user"
    OPERATOR = "operator"


class Outcome(StrEnum):
    """What a failure says about the work that was asked for."""

    NOT_DONE = "not_done"
    UNKNOWN = "unknown"


class Source(StrEnum):
    """Whose word a value in the payload is."""

    TOOL = "tool"
    WAYPOST = "waypost"
    NONE = "none"


class RetryAdvice(StrEnum):
    """What the caller made of the last advice."""

    FOLLOWED = "followed"
    IGNORED = "ignored"
    TOO_EARLY = "too_early"
    UNKNOWN = "unknown"


class RetryOutcome(StrEnum):
    """
    How a call after a failure ended.

    ``recovered`` and ``failed`` are for the same arguments, ``corrected`` and ``abandoned`` for the
    chain that was left when the tool was called with others.
    """

    RECOVERED = "recovered"
    FAILED = "failed"
    CORRECTED = "corrected"
    ABANDONED = "abandoned"


class Stop(StrEnum):
    """
    Why waypost no longer advises a repeat.

    ``waited``: the advised wait was taken, and the same failure came back; ``attempts``: the budget
    of the chain is spent; ``row``: that of the tool is, whatever the arguments.
    """

    WAITED = "waited"
    ATTEMPTS = "attempts"
    ROW = "row"


Side = Literal["host", "server"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """
    One row of the table that sorts error codes and messages into error classes.

    Attributes:
        id: Unique in its book, for instance ``"rate.limited"``.

        error_class: The class of every failure that the row matches.

        retryable: Whether the same call can succeed. Never laxer than the class.

        step: The recovery step.

        outcome: ``NOT_DONE`` when the failure proves that nothing happened.

        action: The sentence for the model, a constant.

        why: Why the row stands where it stands.

        any_of: Sequences of tokens, for instance ``"rate limit"``; ``*`` may end or begin a token.

        only_with: Sequences of which one must stand in the same name or message, if there are any.

        not_with: Sequences that must not stand in the same name or message.

        in_message: Whether the row also reads messages. Off for words too common in prose.

        ends: Sequences that count only where the name or the message ends in them.

        vague: The row says little: further codes and the message are asked before it is believed.

        refined_by: The classes in which a message makes a vague row clearer; empty for all.
    """

    id: str
    error_class: ErrorClass
    retryable: bool
    step: NextStep
    outcome: Outcome
    action: str | None
    why: str
    any_of: tuple[str, ...] = ()
    only_with: tuple[str, ...] = ()
    not_with: tuple[str, ...] = ()
    in_message: bool = True
    ends: tuple[str, ...] = ()
    vague: bool = False
    refined_by: tuple[ErrorClass, ...] = ()


class Origin(StrEnum):
    """Where in a result the failure stands, hence where guidance is written."""

    MAPPING = "mapping"
    LIST = "list"
    JSON_TEXT = "json_text"
    STRUCTURED = "structured"
    PROSE = "prose"
    EXCEPTION = "exception"


class Failure(NamedTuple):
    """
    A result that was recognized as a failure.

    Attributes:
        payload: The failure as a mapping, as the tool sent it; never written to.

        details: *payload* and the mappings inside it that speak of the same failure, outermost
            first.

        code: The error code, or ``None`` if the tool gave none.

        more_codes: Further codes and numbers, consulted in order when *code* says nothing.

        message: At most 4,096 characters of what the tool said.

        origin: Where in the result it stands.

        block: Index of the text block of an MCP result that carries it.

        signed: How many lines of its texts begin with ``[waypost]``.

        claim: What stands under ``waypost/guidance`` in ``_meta``, whoever wrote it.

        cause: The failure that an exception was raised from; asked when nothing else says anything.
    """

    payload: Mapping[str, object]
    details: tuple[Mapping[str, object], ...]
    code: str | None
    more_codes: tuple[str, ...]
    message: str
    origin: Origin = Origin.MAPPING
    block: int = 0
    signed: int = 0
    claim: object = None
    cause: Failure | None = None


T = TypeVar("T")


def frozen(cls: type[T], **fields: object) -> T:
    """
    Make a frozen dataclass without slots, on the paths where each call makes one.

    Its own ``__init__`` sets every field through ``object.__setattr__``, at some 2,000 machine
    instructions each; this is a fifth of that. All the fields must be given: tests see to it.
    """
    made = object.__new__(cls)
    object.__setattr__(made, "__dict__", fields)
    return made


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """
    What a caller may do about one failure.

    Attributes:
        error_class: One of the closed set.

        error_code: The tool's own code, ``"tool_error"`` if it gave none. Unbounded: never a metric
            label.

        retryable: The value in the payload: the tool's own if it is a boolean, else waypost's.

        next_action: The sentence in the payload, the tool's own if it gave one; ``None`` if there
            is none.

        next_step: The step that waypost sees, whoever wrote the sentence.

        actor: Who can take that step.

        may_repeat: For the host's own loop: a repeat without a person is safe and can help.

        wait_seconds: How long to wait before a repeat, with jitter where the tool named no delay;
            ``None`` if the step is no ``wait`` or ``reconnect``. Left out of comparisons.

        retry_after_seconds: The delay that the tool named, or ``None``.

        rule: Id of the row that decided, for ``waypost classify --explain``.

        retryable_source: Whose word *retryable* is.

        next_action_source: Whose word *next_action* is; ``NONE`` if there is none.

        disagreement: The tool and the rules differ on *retryable*.
    """

    error_class: ErrorClass
    error_code: str
    retryable: bool
    next_action: str | None
    next_step: NextStep
    actor: Actor
    may_repeat: bool
    wait_seconds: float | None = field(compare=False)
    retry_after_seconds: float | None
    rule: str
    retryable_source: Source
    next_action_source: Source
    disagreement: bool = False
