"""Every name on the wire, with its allowed keys: metrics, attributes and events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core._clean import Limits
from ..core._model import Guidance, RetryOutcome
from ..core._observation import Attempt, Observation

Value = str | bool | int | float

# OpenTelemetry's own, written out: its Python constants are deprecated.
OPERATION_NAME = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
ERROR_TYPE = "error.type"
EXECUTE_TOOL = "execute_tool"

ERROR_CLASS = "waypost.error.class"
ERROR_CODE = "waypost.error.code"
ERROR_MESSAGE = "waypost.error.message"
ERROR_SPOOFED = "waypost.error.spoofed"
RETRYABLE = "waypost.retryable"
NEXT_STEP = "waypost.next_step"
NEXT_ACTION = "waypost.next_action"
ACTOR = "waypost.actor"
MAY_REPEAT = "waypost.may_repeat"
RETRYABLE_SOURCE = "waypost.retryable.source"
NEXT_ACTION_SOURCE = "waypost.next_action.source"
DISAGREEMENT = "waypost.disagreement"
RULE = "waypost.rule"
RETRY_AFTER_MS = "waypost.retry_after_ms"
OPTIONS_LEFT_OUT = "waypost.options_left_out"
SIDE = "waypost.side"
SERVER = "waypost.server"
FAULT_AT = "waypost.fault.at"
CHAIN_ID = "waypost.chain.id"
ATTEMPT = "waypost.attempt"
CORRELATION = "waypost.correlation"
RETRY_OF_TRACE_ID = "waypost.retry.of.trace_id"
RETRY_OF_SPAN_ID = "waypost.retry.of.span_id"
RETRY_ADVICE = "waypost.retry.advice"
RETRY_OUTCOME = "waypost.retry.outcome"
RETRY_BUDGET = "waypost.retry.budget"
LINK = "waypost.link"
TRACE_ID = "trace_id"
SPAN_ID = "span_id"

ERROR_EVENT = "waypost.error"
RECOVERED_EVENT = "waypost.recovered"
STORM_EVENT = "waypost.storm"

CONVERSATION_ID = "gen_ai.conversation.id"
"""Read on the span that is current, never written."""

EXHAUSTED = "exhausted"
RETRY_OF = "retry_of"

OTHER = "_OTHER"
"""Stands for tools and servers past the bound, and for a tool that nobody named."""

_MOST_MILLISECONDS = 2**53


# What each one says, for the telemetry reference, which is made from this.
ATTRIBUTES: dict[str, tuple[type[Value], str]] = {
    OPERATION_NAME: (str, "`execute_tool`, as OpenTelemetry's GenAI conventions have it."),
    TOOL_NAME: (str, "The tool; `_OTHER` for one that no server has, and past the bound."),
    ERROR_TYPE: (
        str,
        "A JSON-RPC code, an exception's name, `tool_error` if flagged, else the error class.",
    ),
    ERROR_CLASS: (
        str,
        "The error class; on `waypost.call.duration` also `cancelled`, `unseen` or `raised`.",
    ),
    ERROR_CODE: (
        str,
        "The tool's own code, at most 128 characters; `redacted` if it looks like a secret.",
    ),
    ERROR_MESSAGE: (
        str,
        "What the tool said, redacted; only with `Enricher(capture_message=True)`.",
    ),
    ERROR_SPOOFED: (
        bool,
        "`true` if the result holds guidance in waypost's name that waypost would not give.",
    ),
    RETRYABLE: (bool, "The same call can succeed, after waiting or after the next step."),
    NEXT_STEP: (str, "The recovery step, one of a closed set."),
    NEXT_ACTION: (
        str,
        "The sentence for the model, without any value of the tool's unless messages are captured.",
    ),
    ACTOR: (str, "Who can take the next step: `model`, `user` or `operator`."),
    MAY_REPEAT: (bool, "A repeat without a person is safe and can help."),
    RETRYABLE_SOURCE: (str, "Whose word `retryable` is: `tool` or `waypost`."),
    NEXT_ACTION_SOURCE: (str, "Whose word the next action is: `tool`, `waypost` or `none`."),
    DISAGREEMENT: (bool, "`true` if the tool and the rules differ on `retryable`."),
    RULE: (str, "The row of the table that decided."),
    RETRY_AFTER_MS: (int, "The delay that the tool named, in milliseconds."),
    OPTIONS_LEFT_OUT: (
        int,
        "How many option values of a question to the user were too many, too long or not clean.",
    ),
    SIDE: (str, "Where waypost stands: `host` calls tools, `server` offers them."),
    SERVER: (str, "The name that the host gave to the server, never the server's own."),
    FAULT_AT: (
        str,
        (
            "Where the fault was: `annotations`, `begin`, `clock`, `enrich`, `observe`,"
            " `recognize` or `retries`."
        ),
    ),
    CHAIN_ID: (str, "The chain that the call is an attempt of, 16 hexadecimal digits, random."),
    ATTEMPT: (int, "Which attempt of the chain it is, from 1."),
    CORRELATION: (
        str,
        (
            "What makes them attempts of one call: the `run` that the host named, the"
            " `conversation`, the `trace`, or only one client session and a `window` of two"
            " minutes."
        ),
    ),
    RETRY_OF_TRACE_ID: (str, "The trace of the failure before, 32 hexadecimal digits."),
    RETRY_OF_SPAN_ID: (str, "The span of the failure before, 16 hexadecimal digits."),
    RETRY_ADVICE: (
        str,
        "What became of the advice before: `followed`, `ignored`, `too_early` or `unknown`.",
    ),
    RETRY_OUTCOME: (
        str,
        (
            "How a call after a failure ended: `recovered` or `failed` with the same arguments,"
            " `corrected` or, for a chain that was left, `abandoned` with others."
        ),
    ),
    RETRY_BUDGET: (
        str,
        "`exhausted` once a budget is spent: three attempts, or a row of ten failures.",
    ),
    LINK: (str, "On a span link: `retry_of` for the one that leads to the failure before."),
    TRACE_ID: (str, "The trace that the call belongs to, 32 hexadecimal digits."),
    SPAN_ID: (str, "The span of the call, 16 hexadecimal digits."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """
    An instrument.

    Attributes:
        unit: In UCUM, with braces for what is counted.

        keys: The attributes it may have; their combinations are bounded.
    """

    name: str
    unit: str
    description: str
    keys: tuple[str, ...]


CALL_DURATION = Metric(
    name="waypost.call.duration",
    unit="s",
    description="Duration of tool calls, whether they worked, failed or raised.",
    keys=(SIDE, TOOL_NAME, SERVER, ERROR_CLASS),
)
ERRORS = Metric(
    name="waypost.errors",
    unit="{error}",
    description="Failed tool calls by error class and guidance.",
    keys=(SIDE, TOOL_NAME, SERVER, ERROR_CLASS, NEXT_STEP, RETRYABLE),
)
RETRIES = Metric(
    name="waypost.retries",
    unit="{retry}",
    description="Tool calls that repeated or corrected a failed one, by that failure.",
    keys=(
        SIDE, TOOL_NAME, SERVER, ERROR_CLASS, NEXT_STEP, RETRYABLE, RETRY_OUTCOME, RETRY_ADVICE,
    ),
)  # fmt: skip
STORMS = Metric(
    name="waypost.storms",
    unit="{storm}",
    description="Chains and tools that went past their budget.",
    keys=(SIDE, TOOL_NAME, SERVER, ERROR_CLASS),
)
INTERNAL_ERRORS = Metric(
    name="waypost.internal_errors",
    unit="{error}",
    description="Faults inside waypost or an observer; the tool's result was not affected.",
    keys=(FAULT_AT,),
)

DURATION_BOUNDARIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""Seconds; the boundaries that the MCP conventions advise for operation durations."""


def facts_of(
    observation: Observation, limits: Limits, *, attempts: bool = True
) -> dict[str, Value]:
    """
    Return what a span and a log event say of a call that failed, or came after one that had.

    Empty for any other. Built-in scalars only; what is not known is left out.

    Args:
        attempts: Whether to say which attempt it was; not on a span that calls share, where what
            one of them said would stay beside what the next one says.
    """
    if not attempts:
        observation = replace(observation, attempt=None)
    guidance = observation.guidance
    if guidance is None:
        attempt = observation.attempt
        return {} if attempt is None or attempt.retry_of is None else _after(observation, attempt)
    max_chars = limits.attribute_chars
    kept: tuple[int, dict[str, Value]] | None = observation.__dict__.get(_KEPT)
    if kept is None or kept[0] != max_chars:
        kept = max_chars, _facts(observation, guidance, max_chars)
        observation.__dict__[_KEPT] = kept
    return kept[1].copy()


_KEPT = "_facts"
"""Where facts are kept with the observation: a span and a log event say the same."""


def _facts(observation: Observation, guidance: Guidance, max_chars: int) -> dict[str, Value]:
    facts: dict[str, Value] = {
        ERROR_CLASS: guidance.error_class._value_,
        RETRYABLE: guidance.retryable,
        NEXT_STEP: guidance.next_step._value_,
        ACTOR: guidance.actor._value_,
        MAY_REPEAT: guidance.may_repeat,
        RETRYABLE_SOURCE: guidance.retryable_source._value_,
        NEXT_ACTION_SOURCE: guidance.next_action_source._value_,
        RULE: guidance.rule,
        SIDE: observation.side,
    }
    if observation.error_code is not None:
        facts[ERROR_CODE] = observation.error_code
    if observation.next_action is not None:
        facts[NEXT_ACTION] = observation.next_action[:max_chars]
    if observation.server is not None:
        facts[SERVER] = observation.server
    if guidance.retry_after_seconds is not None:
        facts[RETRY_AFTER_MS] = int(min(guidance.retry_after_seconds * 1_000, _MOST_MILLISECONDS))
    if observation.message is not None:
        facts[ERROR_MESSAGE] = observation.message[:max_chars]
    if observation.attempt is not None:
        _add_attempt(facts, observation.attempt)
    if guidance.disagreement or observation.spoofed or observation.options_left_out:
        _add_warnings(facts, observation, disagreement=guidance.disagreement)
    return facts


def _after(observation: Observation, attempt: Attempt) -> dict[str, Value]:
    """What is told of a call that worked after a failure."""
    facts: dict[str, Value] = {SIDE: observation.side}
    if observation.server is not None:
        facts[SERVER] = observation.server
    _add_attempt(facts, attempt)
    return facts


def _add_attempt(facts: dict[str, Value], attempt: Attempt) -> None:
    if attempt.chain_id is not None:
        facts[CHAIN_ID] = attempt.chain_id
    facts[ATTEMPT] = attempt.number
    facts[CORRELATION] = attempt.correlation
    if attempt.exhausted:
        facts[RETRY_BUDGET] = EXHAUSTED
    before = attempt.retry_of
    if before is None:
        return
    if before.trace_id is not None and before.span_id is not None:
        facts[RETRY_OF_TRACE_ID] = before.trace_id
        facts[RETRY_OF_SPAN_ID] = before.span_id
    if attempt.advice is not None:
        facts[RETRY_ADVICE] = attempt.advice._value_
    if attempt.outcome is not None:
        facts[RETRY_OUTCOME] = attempt.outcome._value_


def well_ended(observation: Observation) -> bool:
    """Whether the call made good a failure before it."""
    attempt = observation.attempt
    return attempt is not None and attempt.outcome in _WELL_ENDED


_WELL_ENDED = frozenset((RetryOutcome.RECOVERED, RetryOutcome.CORRECTED))


def _add_warnings(facts: dict[str, Value], observation: Observation, *, disagreement: bool) -> None:
    """What is rarely so, and worth a look."""
    if disagreement:
        facts[DISAGREEMENT] = True
    if observation.spoofed:
        facts[ERROR_SPOOFED] = True
    if observation.options_left_out:
        facts[OPTIONS_LEFT_OUT] = observation.options_left_out


def log_facts_of(observation: Observation, limits: Limits) -> dict[str, Value]:
    """Return the keys of a log event: the facts, the tool, and the ids that lead to the trace."""
    facts = facts_of(observation, limits)
    if observation.tool_name is not None:
        facts[TOOL_NAME] = observation.tool_name
    if observation.error_type is not None:
        facts[ERROR_TYPE] = observation.error_type
    if observation.trace_id is not None and observation.span_id is not None:
        facts[TRACE_ID] = observation.trace_id
        facts[SPAN_ID] = observation.span_id
    return facts
