"""What a structlog event takes with it: the ids of its span, and an OTLP log record."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import sys
import time
import traceback
from typing import TYPE_CHECKING, Final

import structlog
from opentelemetry import trace
from opentelemetry._logs import SeverityNumber  # logs are not stable in OpenTelemetry yet

from ..core._clean import clean_text
from ._render import Renderer, StderrFactory, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from opentelemetry._logs import Logger
    from opentelemetry.context import Context

    _Event = MutableMapping[str, object]

BODY_CHARS: Final = 4_096
ATTRIBUTE_CHARS: Final = 1_024
STACK_CHARS: Final = 4_096
MAX_ATTRIBUTES: Final = 64
_NAME_CHARS: Final = 128
_FRAMES: Final = 50

_OWN_FIELDS: Final = frozenset({"event", "level", "timestamp", "trace_id", "span_id"})
_STACK: Final = "exception.stacktrace"
_SEVERITIES: Final = {
    "debug": SeverityNumber.DEBUG,
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "warn": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
    "exception": SeverityNumber.ERROR,
    "critical": SeverityNumber.FATAL,
    "fatal": SeverityNumber.FATAL,
}
_TRACE_ID: Final = re.compile("[0-9a-f]{32}")
_SPAN_ID: Final = re.compile("[0-9a-f]{16}")


def configure_structlog(logger: Logger) -> None:
    """
    Set structlog up to write to stderr and to emit through *logger*.

    If the host has configured structlog, its chain, renderer and output stay as they are: only
    the two processors that add ids and emit go in, before its last one.
    """
    ids_and_record = (add_trace_ids, RecordEmitter(logger))
    if structlog.is_configured():
        *chain, last = structlog.get_config()["processors"]
        structlog.configure(processors=[*chain, *ids_and_record, last])
        return
    terminal = _stderr_is_terminal()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            add_exception,
            *ids_and_record,
            Renderer(console=terminal, colors=terminal and _colors_wanted()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=StderrFactory(),
    )


def _stderr_is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, OSError, ValueError):  # no stderr, or a closed one
        return False


def _colors_wanted() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def add_exception(_logger: object, _method: str, event: _Event) -> _Event:
    """Replace ``exc_info`` with the fields of OpenTelemetry's convention; never with locals."""
    given = event.pop("exc_info", None)
    if isinstance(given, tuple) and len(given) == 3:
        given = given[1]
    exception = given if isinstance(given, BaseException) else sys.exc_info()[1] if given else None
    if exception is not None:
        kind = type(exception)
        event["exception.type"] = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        event["exception.message"] = text_of(exception)
        lines = traceback.format_exception(exception, limit=-_FRAMES)
        event[_STACK] = "".join(lines)[-STACK_CHARS:]
    return event


def add_trace_ids(_logger: object, _method: str, event: _Event) -> _Event:
    """Add ``trace_id`` and ``span_id`` of the current span, unless the event brings its own."""
    span = trace.get_current_span().get_span_context()
    if span.is_valid and "trace_id" not in event:
        event["trace_id"] = trace.format_trace_id(span.trace_id)
        event["span_id"] = trace.format_span_id(span.span_id)
    return event


class RecordEmitter:
    """
    Emits an event as an OTLP log record and passes it on unchanged.

    An event of waypost's is emitted under its name, any other as a plain record. A fault in here
    never costs the log line.
    """

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def __call__(self, _logger: object, method: str, event: _Event) -> _Event:
        """Emit *event*."""
        with contextlib.suppress(Exception):  # the line matters more, and logging this would loop
            self._emit(method, event)
        return event

    def _emit(self, method: str, event: _Event) -> None:
        text = text_of(event.get("event", ""))
        level = event.get("level", method)
        severity = _SEVERITIES.get(level if isinstance(level, str) else method)
        self._logger.emit(
            timestamp=time.time_ns(),
            context=_context_of(event),
            severity_number=severity or SeverityNumber.UNSPECIFIED,
            severity_text=severity.name if severity else None,
            body=clean_text(text, BODY_CHARS),
            attributes=_attributes_of(event),
            event_name=clean_text(text, _NAME_CHARS) if text.startswith("waypost.") else None,
        )


def _context_of(event: Mapping[str, object]) -> Context | None:
    """Return the context of the span that *event* names; ``None``: the current one will do."""
    trace_id, span_id = event.get("trace_id"), event.get("span_id")
    if not (isinstance(trace_id, str) and isinstance(span_id, str)):
        return None
    if not (_TRACE_ID.fullmatch(trace_id) and _SPAN_ID.fullmatch(span_id)):
        return None
    named = trace.SpanContext(
        trace_id=int(trace_id, 16),
        span_id=int(span_id, 16),
        is_remote=False,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    current = trace.get_current_span().get_span_context()
    if (named.trace_id, named.span_id) == (current.trace_id, current.span_id):
        return None  # it knows better whether it is sampled
    return trace.set_span_in_context(trace.NonRecordingSpan(named))


def _attributes_of(event: Mapping[str, object]) -> dict[str, str | bool | int | float]:
    attributes: dict[str, str | bool | int | float] = {}
    for key, value in event.items():
        name = clean_text(key, _NAME_CHARS)
        if name and key not in _OWN_FIELDS and (cleaned := _attribute(key, value)) is not None:
            attributes[name] = cleaned
        if len(attributes) == MAX_ATTRIBUTES:
            break
    return attributes


def _attribute(key: str, value: object) -> str | bool | int | float | None:
    """Return *value* if OTLP can carry it: one it cannot encode would lose the whole batch."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = str.__str__(value)
    if key == _STACK:
        return "\n".join(clean_text(line, ATTRIBUTE_CHARS) for line in text.split("\n"))
    return clean_text(text, ATTRIBUTE_CHARS)
