"""
The sample host: calls the tools of the sample server over stdio and follows the guidance it gets.

What a host of yours needs of this is in `_visit` and in the one line of `_set_up`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import TextIO

import anyio
from mcp import StdioServerParameters, stdio_client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from ...core._clean import MESSAGE_CHARS, clean_text, redact
from ...core._recognize import text_of_exception
from ...integrations.mcp import enrich_client
from ...pipeline import Enricher
from ...telemetry import Telemetry, TelemetryError, setup_telemetry
from ...telemetry.memory import MemoryTelemetry
from ._report import Report, Sent, telemetered
from ._script import SCRIPT
from ._seen import Served
from ._table import print_report
from ._walk import Host, Tell, WatchedClient

__all__ = ["DemoError", "report_of_run", "run"]

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVER = ["-m", "waypost.cli.demo.server"]
DEADLINE_SECONDS = 60.0

Count = Callable[[], None]


class DemoError(Exception):
    """The demo itself cannot run; its text is for the user."""


def run(*, as_json: bool = False) -> int:
    """
    Run the demo, and print what came of it.

    Returns:
        The exit code: 0; 1 if a success was changed, or fewer failures were seen than there should
        be; 2 if the demo could not run; 130 if it was interrupted.
    """
    terminal = sys.stderr
    try:
        report = report_of_run(terminal)
    except KeyboardInterrupt:
        return 130
    except DemoError as exc:
        print(f"waypost demo: {exc}", file=terminal)
        return 2
    _print(report, as_json=as_json)
    for shortcoming in report.shortcomings():
        print(f"waypost demo: {shortcoming}.", file=terminal)
    return 1 if any(report.shortcomings()) else 0


def report_of_run(terminal: TextIO) -> Report:
    """
    Run the demo, and return what came of it.

    Args:
        terminal: For progress, and for what else is written to stderr meanwhile.

    Raises:
        DemoError: It cannot run; the text is for the user.
    """
    # structlog's lines would tear the table and the progress line apart. They are kept, and one of
    # them is shown in the report; as log records they are exported all the same.
    lines = io.StringIO()
    try:
        with contextlib.redirect_stderr(lines):
            return _report(terminal, lines)
    finally:
        for line in _other_lines(lines):
            print(line, file=terminal)


def _report(terminal: TextIO, lines: io.StringIO) -> Report:
    memory = MemoryTelemetry()
    endpoint = os.environ.get(ENDPOINT, "").strip()
    telemetry = _set_up(memory, otlp=bool(endpoint))
    try:
        with _progress(terminal) as (tell, count):
            served = _visited(telemetry, tell, count)
            tell("sending telemetry" if endpoint else "")
            sent = _sent(telemetry, endpoint) if endpoint else None
        return Report(
            served=served,
            telemetry=telemetered(memory),
            log_line=next(_log_lines(lines), None),
            sent=sent,
        )
    finally:
        telemetry.shutdown()


def _set_up(memory: MemoryTelemetry, *, otlp: bool) -> Telemetry:
    try:
        return setup_telemetry(
            service_name="waypost-demo",
            otlp=otlp,
            span_processors=[memory.span_processor],
            metric_readers=[memory.metric_reader],
            log_processors=[memory.log_processor],
        )
    except TelemetryError as exc:
        if isinstance(exc.__cause__, ImportError):
            raise DemoError(
                f"{ENDPOINT} is set, but the OTLP exporter is not installed."
                ' Run: pip install "waypost[otlp]". Or unset the variable.'
            ) from exc
        raise DemoError(f"{exc} Or unset {ENDPOINT}.") from exc


def _sent(telemetry: Telemetry, endpoint: str) -> Sent:
    from ...telemetry._endpoint import shown  # noqa: PLC0415 -- needs the otlp extra, which is there

    return Sent(endpoint=shown(endpoint), accepted=telemetry.flush())


def _visited(telemetry: Telemetry, tell: Tell, count: Count) -> tuple[Served, ...]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
        try:
            return anyio.run(_visit, telemetry, errlog, tell, count)
        except Exception as exc:
            errlog.seek(0)
            said = errlog.read().strip() or text_of_exception(_leaf(exc))
            last = said.splitlines()[-1] if said else type(exc).__name__
            raise DemoError(
                f"the sample server broke off: {clean_text(redact(last), MESSAGE_CHARS)}"
            ) from exc


async def _visit(
    telemetry: Telemetry, errlog: TextIO, tell: Tell, count: Count
) -> tuple[Served, ...]:
    tell("starting the server")
    server = StdioServerParameters(command=sys.executable, args=SERVER, env={**os.environ})
    watched = WatchedClient(stdio_client(server, errlog=errlog))
    # The host ships its server itself, so it may believe what that says of its tools: that a read
    # may be repeated, whatever became of it. Do not trust the annotations of a stranger.
    enricher = Enricher(trust_annotations=True)
    with anyio.fail_after(DEADLINE_SECONDS):
        async with enrich_client(watched, enricher=enricher, server="office") as client:
            host = Host(client, watched, functools.partial(_traced, telemetry), tell)
            return await host.serve_all(SCRIPT, count)


@contextlib.contextmanager
def _traced(telemetry: Telemetry, request: str) -> Iterator[str | None]:
    """Open the host's own span, as frameworks do: it makes a call and its repeats one trace."""
    tracer = telemetry.tracer_provider.get_tracer("waypost.demo")
    with tracer.start_as_current_span(
        "handle_request", attributes={"demo.request": request}, record_exception=False
    ) as span:
        ids = span.get_span_context()
        yield f"{ids.trace_id:032x}" if ids.is_valid else None


def _leaf(exc: BaseException) -> BaseException:
    """Return the first exception in a group, which is what went wrong."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    return exc


@contextlib.contextmanager
def _progress(terminal: TextIO) -> Iterator[tuple[Tell, Count]]:
    """Show on a terminal, while it lasts, how far the demo is."""
    console = Console(file=terminal)
    with Progress(
        SpinnerColumn(),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=len(SCRIPT))
        yield (
            lambda what: progress.update(task, description=what),
            lambda: progress.advance(task),
        )


def _log_lines(lines: io.StringIO) -> Iterator[str]:
    return (line for line in lines.getvalue().splitlines() if line.startswith('{"timestamp"'))


def _other_lines(lines: io.StringIO) -> Iterator[str]:
    """Yield what else was written to stderr meanwhile: warnings, and what the exporters say."""
    known = set(_log_lines(lines))
    return (redact(line) for line in lines.getvalue().splitlines() if line not in known)


def _print(report: Report, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.document(), indent=2))
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # pragma: no branch -- it is, in a program
        sys.stdout.reconfigure(errors="replace")  # an arrow must not end the demo
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=120)  # in a file or a CI log nothing says how wide it is
    print_report(console, report)
