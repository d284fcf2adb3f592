"""The report as a person reads it on a terminal, from 80 columns on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...core._clean import clean_text
from ._report import Report
from ._seen import Seen, Served

__all__ = ["print_report", "table_of_calls"]

_WIDE = 110
"""From here on every fact has a column of its own."""

_VERY_WIDE = 170
"""From here on trace ids are shown whole."""

_FAILURE_CHARS = 60
_SUCCESS_CHARS = 48
_ACTION_CHARS = 300


def print_report(console: Console, report: Report) -> None:
    """Print the table, and below it what else there is to see."""
    console.print(_introduction())
    console.print(table_of_calls(console.width, report.served))
    console.print(_result(report))
    retries = (_retries(report),) if report.telemetry.retries else ()
    for part in (*retries, _telemetry(report), _examples(report), _further(report)):
        console.print()
        console.print(part)


def _introduction() -> Text:
    return Text.assemble(
        ("A host calls the tools of an order office over MCP. ", "bold"),
        "Most calls fail. Each failure comes back with guidance: can the same call succeed, and"
        " what is next? The host does what it says: those calls are marked \u21b3. The calls of one"
        " request share a trace.",
    )


# The table


def table_of_calls(width: int, served: tuple[Served, ...]) -> Table:
    """Return the table, laid out for *width* columns."""
    wide = width >= _WIDE
    trace_chars = 32 if width >= _VERY_WIDE else 8
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), expand=wide)
    table.add_column("tool", no_wrap=True)
    if wide:
        table.add_column("what came back", overflow="fold", ratio=5)
        table.add_column("class", no_wrap=True)
        table.add_column("retryable", no_wrap=True)
        table.add_column("next action", ratio=6)
    else:
        table.add_column("class, what came back, next action")
        table.add_column("retryable", no_wrap=True)
    table.add_column("trace", no_wrap=True, width=trace_chars)
    for request in served:
        for row in _rows(request):
            table.add_row(*(row.in_columns() if wide else row.stacked()))
        if len(request.calls) > 1 or request.ending:
            table.add_section()
    return table


class _Row(NamedTuple):
    """One call: what the cells of both layouts are made of."""

    tool: Text
    after: str | None
    came_back: str
    kind: Text
    retryable: Text
    next_action: Text
    trace: Text
    failed: bool

    def in_columns(self) -> tuple[Text, ...]:
        after = "" if self.after is None else (f"({self.after}) ", "cyan")
        came_back = Text.assemble(after, self.came_back)
        most = _FAILURE_CHARS if self.failed else _SUCCESS_CHARS
        came_back.truncate(most, overflow="ellipsis")
        return self.tool, came_back, self.kind, self.retryable, self.next_action, self.trace

    def stacked(self) -> tuple[RenderableType, ...]:
        after = "" if self.after is None else (f" ({self.after})", "cyan")
        came_back = f": {self.came_back}" if self.failed else ""
        first = Text.assemble(self.kind, after, came_back)
        first.no_wrap, first.overflow = True, "ellipsis"
        cell = Group(first, self.next_action) if self.next_action else first
        return self.tool, cell, self.retryable, self.trace


def _rows(request: Served) -> Iterator[_Row]:
    before: Seen | None = None
    for seen in request.calls:
        again = before is not None and seen.came_back == before.came_back
        yield _Row(
            tool=Text.assemble("" if seen.after is None else ("\u21b3 ", "cyan"), seen.tool),
            after=None if seen.after is None else clean_text(seen.after, _FAILURE_CHARS),
            came_back="the same" if again else clean_text(seen.came_back, _FAILURE_CHARS + 1),
            kind=_kind(seen),
            retryable=_retryable(seen),
            next_action=_next_action(seen, before, request),
            trace=Text(seen.trace_id or "-", "dim", overflow="crop"),
            failed=seen.guidance is not None,
        )
        before = seen if seen.guidance is not None else before


def _kind(seen: Seen) -> Text:
    if seen.guidance is not None:
        return Text(seen.guidance.error_class.value, "yellow")
    return Text("ok, unchanged", "green") if seen.unchanged else Text("ok, but CHANGED", "bold red")


def _retryable(seen: Seen) -> Text:
    if seen.guidance is None:
        return Text()
    return Text("yes", "green") if seen.guidance.retryable else Text("no", "red")


def _next_action(seen: Seen, before: Seen | None, request: Served) -> Text:
    advised = seen.guidance and seen.guidance.next_action
    shown = clean_text(advised or "", _ACTION_CHARS)
    again = before and before.guidance and before.guidance.next_action == advised
    ending = request.ending if seen is request.calls[-1] else None
    return _lines(
        Text("as before", "dim") if advised and again else Text(shown),
        Text(f"(host: {ending})" if ending else "", "cyan"),
    )


def _lines(*parts: Text) -> Text:
    """Join what is not empty, one a line."""
    return Text("\n").join(part for part in parts if part)


# Below the table


def _part(title: Text, *parts: Text) -> Group:
    return Group(title, *(Padding(part, (0, 0, 0, 2)) for part in parts))


def _result(report: Report) -> Text:
    unflagged = sum(not seen.is_error for seen in report.failures)
    changed = sum(not seen.unchanged for seen in report.successes)
    return Text.assemble(
        (f"{len(report.failures)} failures of {len(report.classes)} classes", "bold"),
        f", each with guidance; {unflagged} of them were not flagged as failures (isError false). ",
        (f"{len(report.successes)} successes", "bold"),
        f", {changed} of them CHANGED." if changed else ", none changed.",
    )


def _retries(report: Report) -> Group:
    """What became of the advice, as the spans tell: one row for each call after a failure."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("tool", "attempt", "advice was", "outcome", "chain"):
        table.add_column(column, no_wrap=True)
    for retry in report.telemetry.retries:
        table.add_row(
            retry.tool,
            str(retry.attempt) if retry.attempt > 1 else "1, other arguments",
            Text(retry.advice.replace("_", " "), _ADVICE_STYLES.get(retry.advice, "")),
            Text.assemble(
                (retry.outcome, "red" if retry.outcome == "failed" else "green"),
                ", budget spent" if retry.exhausted else "",
            ),
            Text(retry.chain_id, "dim"),
        )
    storms = report.telemetry.storm_events
    title = Text.assemble(
        ("What became of the advice", "bold"),
        f", by the spans: {report.telemetry.recovered_events} events waypost.recovered, "
        f"{storms} waypost.storm",
    )
    return Group(title, Padding(table, (0, 0, 0, 2)))


_ADVICE_STYLES = {"followed": "green", "ignored": "red", "too_early": "yellow"}


def _telemetry(report: Report) -> Group:
    told = report.telemetry
    counts = ", ".join(f"{name}={count}" for name, count in told.errors_by_class)
    counted = sum(count for _, count in told.errors_by_class)
    parts = [
        Text(f"{told.spans} spans with waypost.error.class"),
        Text(f"{counted} on the counter waypost.errors" + (f": {counts}" if counts else "")),
        Text(f"{told.log_events} log events waypost.error"),
    ]
    if report.log_line is not None:
        parts[-1].append(", the first of which is")
        parts.append(Text(report.log_line, "dim"))
    return _part(Text.assemble(("The same in telemetry", "bold"), _where(report)), *parts)


def _where(report: Report) -> Text:
    if report.sent is None:
        return Text(", kept in memory")
    if report.sent.accepted:
        return Text.assemble(", sent to ", (report.sent.endpoint, "bold"))
    return Text(f", but {report.sent.endpoint} did not accept all of it", "bold red")


def _examples(report: Report) -> Group:
    """Show a failure in JSON and one in prose, as the tool wrote it and as a model reads it."""
    in_json = [seen for seen in report.failures if seen.before.startswith("{")]
    in_prose = [seen for seen in report.failures if not seen.before.startswith("{")]
    in_json.sort(key=lambda seen: seen.is_error)  # one that nothing flags says most
    parts = []
    for seen in (*in_json[:1], *in_prose[:1]):
        parts += [
            Text.assemble((f"{seen.tool} without waypost: ", "yellow"), _tight(seen.before)),
            Text.assemble((f"{seen.tool} with waypost: ", "yellow"), _with_news(seen)),
        ]
    return _part(Text("What a model reads", "bold"), *parts)


def _with_news(seen: Seen) -> Text:
    """Return the text that a model reads; what waypost put into it stands out."""
    before, after = _tight(seen.before), _tight(seen.text)
    start = len(os.path.commonprefix((before, after)))  # noqa: RUF071 -- of texts, not of paths
    end = len(after) - (len(before) - start)
    return Text.assemble(after[:start], (after[start:end], "bold green"), after[end:])


def _tight(text: str) -> str:
    return " ".join(text.split()) if text.startswith("{") else text.replace("\n\n", "\n")


def _further(report: Report) -> Group:
    program = "waypost" if shutil.which("waypost") else sys.argv[0]
    collector = (
        Text.assemble(
            "Send the telemetry to a collector: set ",
            ("OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318", "bold"),
        ),
    )
    return _part(
        Text("Next", "bold"),
        *(collector if report.sent is None else ()),
        Text.assemble("The same as JSON: ", (f"{program} demo --json", "bold")),
        Text.assemble(
            "Why a failure was sorted as it was: ",
            (f"{program} classify ECONNREFUSED --explain", "bold"),
        ),
    )
