"""What observers get: the start of a call, and one frozen record at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from ._model import ErrorClass, Guidance, NextStep, RetryAdvice, RetryOutcome, Side

Ending = Literal["success", "failure", "raised", "cancelled", "unseen"]
"""``unseen``: the block was left without `Call.enrich`; ``raised``: an exception left it."""


Correlation = Literal["run", "conversation", "trace", "window"]
"""What the attempts of a chain have in common: the run that the host named, the conversation of
their spans, their trace, or only one client session and two minutes."""


class RetryOf(NamedTuple):
    """
    The failure that came before an attempt.

    Attributes:
        next_step: What was advised then.

        trace_id: 32 hexadecimal digits, or ``None``.

        span_id: 16 hexadecimal digits, or ``None``.

        sampled: Whether its trace is recorded.
    """

    error_class: ErrorClass
    next_step: NextStep
    retryable: bool
    trace_id: str | None = None
    span_id: str | None = None
    sampled: bool = True


class Attempt(NamedTuple):
    """
    Which attempt a call is, and what became of the advice before it.

    Attributes:
        chain_id: 16 hexadecimal digits, the same for the attempts of one call, and for the call
            that corrects it; ``None`` for a first call that works.

        number: From 1; a repeat after a failure has the next one.

        correlation: What makes them attempts of one call.

        retry_of: The failure before; ``None`` for a first call.

        advice: What the caller made of its advice.

        outcome: What this call made of it.

        exhausted: A budget is spent, and waypost says to stop.

        storm: This is the failure with which it was.

    .. versionadded:: 0.1.0
    """

    chain_id: str | None
    number: int
    correlation: Correlation
    retry_of: RetryOf | None = None
    advice: RetryAdvice | None = None
    outcome: RetryOutcome | None = None
    exhausted: bool = False
    storm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart:
    """
    A tool call that begins.

    Attributes:
        side: Which side of the protocol waypost stands on.

        tool_name: Cleaned, at most 128 characters; ``None`` if nobody named it.

        server: The name that the host gave to the server, or ``None``.

        one_shot: A result is enriched on a span that is not the call's own; nothing is to be
            opened.
    """

    side: Side
    tool_name: str | None
    server: str | None
    one_shot: bool = False


@dataclass(frozen=True, kw_only=True)
class Observation:
    """
    One finished call: every value is cleaned and capped, and may be exported.

    Attributes:
        ending: How the call ended.

        side: Which side of the protocol waypost stands on.

        tool_name: Cleaned, at most 128 characters; ``None`` if nobody named it.

        server: The name that the host gave to the server, or ``None``.

        duration_seconds: From the begin of the block to its result; ``None`` for a result enriched
            in one shot.

        guidance: ``None`` unless the call failed. Its error code and next action are those below,
            never the tool's own words.

        error_code: The code as it may leave us: at most 128 characters, ``redacted`` if it looks
            like a secret.

        error_type: Value for OpenTelemetry's ``error.type``, or ``None``.

        next_action: The sentence as it may leave us: without any value of the tool's unless
            messages are captured.

        message: What the tool said, redacted; ``None`` unless messages are captured.

        spoofed: The result holds a ``[waypost]`` line, or guidance, that waypost did not write.

        options_left_out: Option values of an input request that were not repeated.

        trace_id: 32 hexadecimal digits of the trace that the call belongs to, or ``None``.

        span_id: 16 hexadecimal digits, or ``None``.

        attempt: ``None`` for a call that is not followed: one without a tool's name or a scope, one
            that was cancelled or left, a question to the user.
    """

    ending: Ending
    side: Side
    tool_name: str | None = None
    server: str | None = None
    duration_seconds: float | None = None
    guidance: Guidance | None = None
    error_code: str | None = None
    error_type: str | None = None
    next_action: str | None = None
    message: str | None = None
    spoofed: bool = False
    options_left_out: int = 0
    trace_id: str | None = None
    span_id: str | None = None
    attempt: Attempt | None = None


class Scope(Protocol):
    """
    What an observer holds open during a call, usually a span.

    It may also have ``within: tuple[Correlation, str] | None``: the conversation or the trace that
    was there before it, within which retries are followed.

    Attributes:
        trace_id: 32 hexadecimal digits, or ``None`` if there is no valid trace.

        span_id: 16 hexadecimal digits, or ``None``.

        sampled: Whether the trace is recorded.
    """

    @property
    def trace_id(self) -> str | None: ...
    @property
    def span_id(self) -> str | None: ...
    @property
    def sampled(self) -> bool: ...
    def end(self, observation: Observation, /) -> None:
        """Close the scope. Called once, also if another observer failed."""


class Observer(Protocol):
    """
    Called once for every finished call, whether it worked, failed or raised.

    An observer may also have ``begin(start: CallStart) -> Scope | None``, called before the tool
    is; ``fault(where: str) -> None``, called when something inside waypost, or in an observer, went
    wrong; and ``idle() -> bool``: where all observers are idle, and none has a scope open, no
    observation is made. What it raises never reaches the host.
    """

    def __call__(self, observation: Observation, /) -> None: ...
