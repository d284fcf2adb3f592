"""What a run of the demo comes to: figures, whether they are as promised, and the JSON form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from ...telemetry.memory import MemoryTelemetry, SeenSpan
from ._seen import Seen, Served

__all__ = ["Report", "Retry", "Sent", "Telemetered", "telemetered"]

_LEAST_FAILURES = 12
_LEAST_CLASSES = 9
_OUTCOMES = ("recovered", "corrected", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Where the telemetry went, and whether all of it was accepted in time."""

    endpoint: str
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """
    A call that came after a failure, as its span tells of it.

    Attributes:
        attempt: 1 where it corrected the arguments of another call.

        advice: What was made of the advice before.

        outcome: What came of it.

        exhausted: A budget is spent, and waypost says to stop.
    """

    tool: str
    attempt: int
    advice: str
    outcome: str
    exhausted: bool
    chain_id: str
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetered:
    """What the telemetry in memory says of the failures, and of what became of them."""

    spans: int
    log_events: int
    errors_by_class: tuple[tuple[str, int], ...]
    retries: tuple[Retry, ...] = ()
    recovered_events: int = 0
    storm_events: int = 0


def telemetered(memory: MemoryTelemetry) -> Telemetered:
    """Count what *memory* holds; before telemetry is shut down, which empties the counters."""
    sums = memory.sums("waypost.errors", by="waypost.error.class")
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    events = Counter(log.event_name for log in memory.logs())
    spans = memory.spans()
    return Telemetered(
        spans=sum("waypost.error.class" in span.attributes for span in spans),
        log_events=events["waypost.error"],
        errors_by_class=tuple((name, int(value)) for name, value in ordered),
        retries=tuple(_retries_in(spans)),
        recovered_events=events["waypost.recovered"],
        storm_events=events["waypost.storm"],
    )


def _retries_in(spans: Iterable[SeenSpan]) -> Iterator[Retry]:
    for span in spans:
        said = span.attributes
        if said.get("waypost.retry.outcome") in _OUTCOMES:
            yield Retry(
                tool=str(said["gen_ai.tool.name"]),
                attempt=int(str(said["waypost.attempt"])),
                advice=str(said["waypost.retry.advice"]),
                outcome=str(said["waypost.retry.outcome"]),
                exhausted="waypost.retry.budget" in said,
                chain_id=str(said["waypost.chain.id"]),
                trace_id=span.trace_id,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    One run.

    Attributes:
        log_line: One of the lines that structlog wrote.

        sent: ``None`` when no endpoint was named.
    """

    served: tuple[Served, ...]
    telemetry: Telemetered
    log_line: str | None
    sent: Sent | None

    @property
    def calls(self) -> tuple[Seen, ...]:
        """All calls, those of one request together."""
        return tuple(seen for served in self.served for seen in served.calls)

    @property
    def failures(self) -> tuple[Seen, ...]:
        """The calls that came back with guidance."""
        return tuple(seen for seen in self.calls if seen.guidance is not None)

    @property
    def successes(self) -> tuple[Seen, ...]:
        """All others."""
        return tuple(seen for seen in self.calls if seen.guidance is None)

    @property
    def classes(self) -> Counter[str]:
        """Failures by class."""
        return Counter(seen.guidance.error_class.value for seen in self.calls if seen.guidance)

    def shortcomings(self) -> Iterator[str]:
        """Yield what is not as promised; nothing, if all is well."""
        if changed := sum(not seen.unchanged for seen in self.successes):
            yield f"{changed} successes were changed"
        if len(self.failures) < _LEAST_FAILURES:
            yield f"{len(self.failures)} failures, and not at least {_LEAST_FAILURES}"
        if len(self.classes) < _LEAST_CLASSES:
            yield f"{len(self.classes)} classes of failures, and not at least {_LEAST_CLASSES}"
        outcomes = {retry.outcome for retry in self.telemetry.retries}
        for outcome in _OUTCOMES:
            if outcome not in outcomes:
                yield f"no retry {outcome}"
        if not self.telemetry.storm_events:
            yield "no storm was reported"

    def document(self) -> dict[str, object]:
        """Return the report as JSON has it."""
        return {
            "calls": [row for served in self.served for row in _rows_of(served)],
            "retries": [asdict(retry) for retry in self.telemetry.retries],
            "summary": {
                "failures": len(self.failures),
                "failures_not_flagged": sum(not seen.is_error for seen in self.failures),
                "classes": dict(self.classes.most_common()),
                "successes": len(self.successes),
                "successes_changed": sum(not seen.unchanged for seen in self.successes),
                "telemetry": {
                    "spans_with_error_class": self.telemetry.spans,
                    "log_events": self.telemetry.log_events,
                    "errors_by_class": dict(self.telemetry.errors_by_class),
                    "recovered_events": self.telemetry.recovered_events,
                    "storm_events": self.telemetry.storm_events,
                    "sent_to": self.sent and self.sent.endpoint,
                    "accepted": self.sent and self.sent.accepted,
                },
                "shortcomings": list(self.shortcomings()),
            },
        }


def _rows_of(served: Served) -> Iterator[dict[str, object]]:
    for seen in served.calls:
        guidance = seen.guidance
        yield {
            "request": served.step.request,
            "tool": seen.tool,
            "arguments": dict(seen.arguments),
            "after": seen.after,
            "is_error": seen.is_error,
            "outcome": "success" if guidance is None else "failure",
            "unchanged": seen.unchanged,
            "error_class": guidance and guidance.error_class.value,
            "error_code": guidance and guidance.error_code,
            "retryable": guidance and guidance.retryable,
            "next_action": guidance and guidance.next_action,
            "next_step": guidance and guidance.next_step.value,
            "may_repeat": guidance and guidance.may_repeat,
            "ending": served.ending if seen is served.calls[-1] else None,
            "trace_id": seen.trace_id,
            "text": seen.text,
        }
