"""Spans of a test and of the servers that it starts: kept in memory, or written to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from tests.frameworks.table import CALLS

FILE = "WAYPOST_TEST_SPANS"
"""The variable that names the file which a server writes its spans to."""


class Span(NamedTuple):
    """What the tests look at."""

    name: str
    scope: str
    kind: str
    status: str
    trace_id: str
    attributes: dict[str, object]


class Kept(SpanExporter):
    """Keeps the spans of this process, and writes them to a file if one is named."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._file = os.environ.get(FILE)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        for span in spans:
            seen = _seen(span)
            self.spans.append(seen)
            if self._file:
                with Path(self._file).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(seen) + "\n")
        return SpanExportResult.SUCCESS


def _seen(span: ReadableSpan) -> Span:
    assert span.instrumentation_scope is not None
    assert span.context is not None
    return Span(
        span.name,
        span.instrumentation_scope.name,
        span.kind.name,
        span.status.status_code.name,
        format(span.context.trace_id, "032x"),
        dict(span.attributes or {}),
    )


def export_spans() -> Kept:
    """Set up the spans of this process, once."""
    kept, provider = Kept(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


def spans_in(file: Path) -> list[Span]:
    """The spans that a server wrote."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Span(*json.loads(line)) for line in lines]


def check_server_spans(plain: list[Span], enriched: list[Span]) -> None:
    """A server has the spans that it had, none of them ours; its own `error.type` stands."""
    for before, after in zip(plain, enriched, strict=True):
        assert after[:3] == before[:3]
        assert before.status in (after.status, "UNSET")
        assert after.scope != "waypost"
        assert after.attributes.get("error.type") == before.attributes.get("error.type")
    calls = [span for span in enriched if span.name.startswith("tools/call ")]
    failed = [span for span in calls if "waypost.error.class" in span.attributes]
    assert len(failed) == (sum(fails for *_, fails in CALLS) if calls else 0)
