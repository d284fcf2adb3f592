"""The page of the telemetry: every name on the wire, what it is and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from waypost.core._clean import Limits
from waypost.core._model import (
    Actor,
    ErrorClass,
    Guidance,
    NextStep,
    RetryAdvice,
    RetryOutcome,
    Source,
)
from waypost.core._observation import Attempt, Observation, RetryOf
from waypost.core._recognize import GUIDANCE_KEY
from waypost.observe import _names
from waypost.observe._names import ATTRIBUTES, Metric, facts_of, log_facts_of
from waypost.observe.otel import RETRIES_ZEROED
from waypost.pipeline._retries import WINDOW_SECONDS
from waypost.retries._chains import CHAIN_ATTEMPTS, LIFETIME_SECONDS, ROW_FAILURES

from ._markdown import code, codes, section, sentences, table

__all__ = ["METRICS", "on_logs", "on_metrics", "on_own_spans", "on_spans", "page"]

METRICS = tuple(value for value in vars(_names).values() if isinstance(value, Metric))
_HISTOGRAMS = (_names.CALL_DURATION,)

_FULL = Observation(
    ending="failure",
    side="host",
    tool_name="search",
    server="shop",
    guidance=Guidance(
        error_class=ErrorClass.UNKNOWN,
        error_code="E1",
        retryable=True,
        next_action="Wait.",
        next_step=NextStep.NONE,
        actor=Actor.MODEL,
        may_repeat=False,
        wait_seconds=None,
        retry_after_seconds=1.0,
        rule="unknown",
        retryable_source=Source.TOOL,
        next_action_source=Source.TOOL,
        disagreement=True,
    ),
    error_code="E1",
    error_type="tool_error",
    next_action="Wait.",
    message="No.",
    spoofed=True,
    options_left_out=1,
    trace_id="a" * 32,
    span_id="b" * 16,
    attempt=Attempt(
        chain_id="c" * 16,
        number=3,
        correlation="run",
        retry_of=RetryOf(
            ErrorClass.UNKNOWN, NextStep.NONE, retryable=True, trace_id="d" * 32, span_id="e" * 16
        ),
        advice=RetryAdvice.UNKNOWN,
        outcome=RetryOutcome.FAILED,
        exhausted=True,
    ),
)
"""An observation of which everything is known, so that every attribute is there."""

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}

_INTRODUCTION = """
Every name that waypost writes to traces, metrics, logs and MCP results.
Values are strings, booleans, integers or numbers.
Text is cleaned of control characters and capped at {chars:,} characters.
What is not known is left out.
Renaming one of these is a breaking change.
"""

_METRICS = """
waypost counts and times through the global meter provider, whoever set it.
Metric attributes are bounded: of what a tool wrote, only its boolean `retryable` is among them.
An instrument keeps at most {sets:,} attribute sets (`{duration}`: {duration_sets:,}).
When four fifths of them are taken, new ones are recorded with tool and server `{other}`, so that
sums stay exact; `waypost.observe.default_observers(limits=waypost.Limits(...))` raises the bounds.
`gen_ai.tool.name` is `{other}`, too, for a tool that no server has.
A success has no `{error_class}`.
In `{duration}` it is `cancelled` for a cancelled call, `unseen` for a block that was left without a
result or by MCP's question to the user (-32042), and `raised` for an exception that cannot be read.
A tool's own failure of the class `cancelled` has the same value there; only that one counts in
`{errors}`.
`{errors}` starts at zero for every class with its usual next step and `retryable`, for the first
{zeroed} combinations of side, tool and server, so that a first such error is an increase.
Other combinations, such as a crash of the tool (`internal`, `report`), begin with their first
error.
So does `{storms}`, and for the first {zeroed_retries} of them `{retries}`, with what can become of
the usual step.
`{retries}` has the class, step and `retryable` of the failure that was repeated, or corrected by a
call with other arguments.
A chain that was left is no retry, so it is not counted: shares of advice that was followed are over
`{errors}`.
"""

_SPANS = """
On the host side waypost adds to the tool's own span, or opens one named `{execute_tool} {{tool}}`.
On the server side it adds to the span that is there, and never opens one.
The status of a failed span of waypost's, of the tool's or of the server's becomes ERROR, with the
error class as its description, unless native code has set it.
It stays as it is for `needs_input` and `cancelled`, on a span that is not the call's own, and on a
server span for the JSON-RPC codes -32700, -32600, -32601, -32602 and -32002.
"""

_RETRIES = """
A call that waypost follows through its retries has the attributes of attempts when it fails, and
when it comes after a failure.
A call that is told nothing of has none: a first call that works, one that was cancelled, one
without a tool's name, and on the server side one without a run, a conversation or a trace.
The attempts of one call have one `{chain}`, made at random by the first.
They are found by that attribute, also where they are spread over several traces.
A retry, and a call that corrects a failure, has a span link to that failure if its trace is
recorded, with `{link}` as attribute.
The same ids are span attributes, since some stores drop links.
A chain is forgotten {hours:.0f} hour after its last call, one of a `window` after {window:.0f} s.
`{budget}` is there from the {attempts}rd attempt of a chain on, and from the {row}th failure of one
class in a row of a tool, whatever its arguments.
"""

_VALUES = """
The values of `waypost.error.class`, `waypost.next_step` and `waypost.actor` are those of the
[error classes](error-classes.md), those of `waypost.rule` the ids of the [rules](rules.md).
"""

_EVENTS = """
A result that is enriched outside of a block stands on a span that is not the call's own.
Each such failure is a span event `{event}` with these attributes, at most {events} a span.
The span itself has those of the last one.
"""

_LOGS = """
One event `{event}` is written for each failure: a warning, or information for `needs_input`.
A call that makes a failure good, by the same arguments or by corrected ones, is an event
`{recovered}`, which is information, with the attributes of attempts.
The failure with which a budget is spent is an event `{storm}`, too, which is an error, once for
each chain or row.
It goes through structlog if the host has configured that, else to `logging.getLogger("waypost")`,
where the message says the same in short and the keys are attributes of the record.
`setup_telemetry` puts `timestamp`, `level` and `event` before them; a line that would be longer
than 8 KiB loses whole keys, which `dropped_keys` counts.
A host that has configured neither sees nothing.
"""

_META = """
In an MCP result, guidance stands in `_meta` under `{key}`.
It is for programs that read the result next, and never believed by waypost itself.
`next_action` is left out where it is the tool's own.
"""

_META_MEMBERS = (
    ("error_class", "string", "The [error class](error-classes.md)."),
    ("error_code", "string", ATTRIBUTES[_names.ERROR_CODE][1]),
    ("retryable", "boolean", ATTRIBUTES[_names.RETRYABLE][1]),
    ("next_action", "string", "The sentence for the model, if it is waypost's."),
    ("next_step", "string", "The [recovery step](error-classes.md#next-steps)."),
    ("actor", "string", ATTRIBUTES[_names.ACTOR][1]),
    ("may_repeat", "boolean", ATTRIBUTES[_names.MAY_REPEAT][1]),
    ("retry_after_seconds", "number", "The delay that the tool named, in seconds."),
    ("rule", "string", "The [row of the table](rules.md) that decided."),
    ("trace_id", "string", ATTRIBUTES[_names.TRACE_ID][1]),
    ("sampled", "boolean", "`false` if there is a trace, and it is not recorded."),
)


_SETTINGS = (
    (
        "`WAYPOST_DISABLED`",
        (
            "`true`, `1`, `yes` or `on`: an `Enricher` made afterwards changes and reports nothing;"
            " the pure functions and `waypost enrich` work all the same."
        ),
    ),
    (
        "`OTEL_EXPORTER_OTLP_ENDPOINT`, and the like for `_TRACES_`, `_METRICS_` and `_LOGS_`",
        "Where `setup_telemetry` sends; without them `http://localhost:4318`.",
    ),
    (
        "`OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER`, `OTEL_LOGS_EXPORTER`",
        "`none` turns one signal off.",
    ),
    ("`OTEL_SDK_DISABLED`", "`true` turns all of them off."),
    ("`OTEL_SERVICE_NAME`", "Not used: `service_name` wins."),
    (
        "`OTEL_EXPORTER_OTLP_PROTOCOL`, `OTEL_EXPORTER_OTLP_TIMEOUT`",
        "Not read: it is always HTTP, so port 4317 does not work, and 5 s.",
    ),
    ("`NO_COLOR`, `TERM=dumb`", "No colors on a terminal."),
)
"""What the environment says; headers, certificates and the like are the SDK's own matter."""


def on_spans() -> tuple[str, ...]:
    """The attributes of a failed call on any span."""
    return tuple(facts_of(_FULL, Limits()))


def on_retries() -> tuple[str, ...]:
    """Those of them that tell which attempt it was, and of which chain."""
    others = facts_of(replace(_FULL, attempt=None), Limits())
    return tuple(name for name in on_spans() if name not in others)


def on_own_spans() -> tuple[str, ...]:
    """What a span that waypost opened has beside those."""
    return (_names.OPERATION_NAME, _names.TOOL_NAME, _names.ERROR_TYPE)


def on_logs() -> tuple[str, ...]:
    """The keys of a log event."""
    return tuple(log_facts_of(_FULL, Limits()))


def on_metrics() -> tuple[str, ...]:
    """The attributes of all metrics, each once."""
    return tuple(dict.fromkeys(key for metric in METRICS for key in metric.keys))


def page() -> str:
    """Return the page."""
    limits = Limits()
    return section(
        1,
        "Telemetry",
        sentences(_INTRODUCTION.format(chars=limits.attribute_chars)),
        _metrics(limits),
        _spans(limits),
        section(
            2,
            "Log events",
            sentences(
                _LOGS.format(
                    event=_names.ERROR_EVENT,
                    recovered=_names.RECOVERED_EVENT,
                    storm=_names.STORM_EVENT,
                )
            ),
            "Its keys are the attributes of a failed call, and these:",
            _described(key for key in on_logs() if key not in on_spans()),
        ),
        section(
            2,
            "MCP results",
            sentences(_META.format(key=GUIDANCE_KEY)),
            table(("Member", "Type", "What it says"), map(_member, _META_MEMBERS)),
        ),
        section(2, "Settings", table(("Variable", "What it does"), _SETTINGS)),
    )


def _spans(limits: Limits) -> str:
    events = _EVENTS.format(event=_names.ERROR_EVENT, events=limits.span_events)
    return section(
        2,
        "Spans",
        sentences(_SPANS.format(execute_tool=_names.EXECUTE_TOOL)),
        "A failed call has these attributes:",
        _described(name for name in on_spans() if name not in on_retries()),
        sentences(_VALUES),
        "A call that did not fail has `waypost.side`, and `waypost.server` if the host named one.",
        "A span that waypost opened has these, too:",
        _described(on_own_spans()),
        section(
            3,
            "Attempts",
            sentences(
                _RETRIES.format(
                    chain=_names.CHAIN_ID,
                    link=f"{_names.LINK}={_names.RETRY_OF}",
                    hours=LIFETIME_SECONDS / 3_600,
                    window=WINDOW_SECONDS,
                    budget=_names.RETRY_BUDGET,
                    attempts=CHAIN_ATTEMPTS,
                    row=ROW_FAILURES,
                )
            ),
            _described((*on_retries(), _names.LINK)),
        ),
        section(3, "Span events", sentences(events)),
    )


def _metrics(limits: Limits) -> str:
    text = sentences(
        _METRICS.format(
            sets=limits.attribute_sets,
            duration=_names.CALL_DURATION.name,
            duration_sets=limits.duration_attribute_sets,
            error_class=_names.ERROR_CLASS,
            errors=_names.ERRORS.name,
            other=_names.OTHER,
            zeroed=limits.zeroed_tools,
            zeroed_retries=limits.zeroed_tools // RETRIES_ZEROED,
            retries=_names.RETRIES.name,
            storms=_names.STORMS.name,
        )
    )
    return section(
        2,
        "Metrics",
        text,
        *map(_metric, METRICS),
        section(3, "Attributes of metrics", _described(on_metrics())),
    )


def _metric(metric: Metric) -> str:
    histogram = metric in _HISTOGRAMS
    boundaries = ", ".join(map(str, _names.DURATION_BOUNDARIES))
    facts = (
        f"- Instrument: {'histogram' if histogram else 'counter'}",
        f"- Unit: {code(metric.unit)}",
        f"- Attributes: {codes(metric.keys)}",
        *([f"- Boundaries, in seconds: {boundaries}"] if histogram else []),
    )
    return section(3, code(metric.name), sentences(metric.description), "\n".join(facts))


def _described(names: Iterable[str]) -> str:
    return table(
        ("Attribute", "Type", "What it says"),
        ((code(name), _TYPES[ATTRIBUTES[name][0]], ATTRIBUTES[name][1]) for name in names),
    )


def _member(member: tuple[str, str, str]) -> tuple[str, str, str]:
    name, kind, meaning = member
    return code(name), kind, meaning
