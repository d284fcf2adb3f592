"""The commands."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from .. import __version__
from ..core._classify import RuleBook
from ..core._model import RuleError
from . import _classify, _rules

app = typer.Typer(
    name="waypost",
    help=(
        "Guidance on failed MCP tool calls: can the same call succeed, what is next, and which"
        " trace shows it."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # paragraphs are filled to the width of the terminal
)
rules_app = typer.Typer(help="The table that sorts error codes.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")
dashboards_app = typer.Typer(
    help="Grafana dashboards and Prometheus alerts for what waypost tells.", no_args_is_help=True
)
app.add_typer(dashboards_app, name="dashboards")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Rules of your own, in TOML, beside the built-in ones.",
        show_default=False,
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"waypost {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


# Codes such as -32601 look like options, hence the unknown ones; ``_refuse_options`` sees to typos.
@app.command(context_settings={"ignore_unknown_options": True})
def classify(
    code: Annotated[str, typer.Argument(help="The error code, as the tool wrote it.")],
    message: Annotated[str, typer.Argument(help="What the tool said.")] = "",
    explained: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the words that were read, the row that won, and what it shadowed.",
        ),
    ] = False,
    rules: RulesFile = None,
    as_json: AsJson = False,
) -> None:
    """Sort an error code into its class, and say what to do about it."""
    _refuse_options(code, message)
    _classify.run(code, message, explained=explained, as_json=as_json, rules=_loaded(rules))


def _loaded(rules: Path | None) -> RuleBook | None:
    if rules is None:
        return None
    from ..rule_file import load_rules  # noqa: PLC0415 -- loads pydantic

    try:
        return load_rules(rules)
    except RuleError as exc:
        typer.echo(str(exc), err=True)  # a line for each mistake, as `rules lint` has them
        raise typer.Exit(2) from exc


def _refuse_options(*arguments: str) -> None:
    for argument in arguments:
        if argument.startswith("--"):
            raise typer.BadParameter(f"{argument} is no option.")


@app.command()
def enrich(
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            readable=True,
            metavar="FILE",
            help="JSON lines, plain or gzip; standard input if it is left out.",
            show_default=False,
        ),
    ] = None,
    *,
    errors: Annotated[
        Path | None,
        typer.Option(
            "--errors",
            metavar="FILE",
            dir_okay=False,
            help="Where lines go that cannot be read, or are longer than 16 MiB: number, tab,"
            " reason, tab, the line.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --errors.")] = False,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=64,
            help="Processes that share the work, order kept.",
        ),
    ] = 1,
    rules: RulesFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """
    Add guidance to tool results, one a line: JSON lines in, JSON lines out.

    A success stays as it is, byte for byte. Lines keep their order. The summary goes to standard
    error: failures by error class, and the codes that no rule knows. Exit code 1 if a line or the
    rest of the input could not be read.
    """
    from . import _enrich  # noqa: PLC0415 -- loads what starts processes

    book = _loaded(rules)
    with _created(errors, file, force=force) as kept:
        raise typer.Exit(_enrich.run(file, kept, workers=workers, as_json=as_json, rules=book))


@contextlib.contextmanager
def _created(path: Path | None, source: Path | None, *, force: bool) -> Iterator[BinaryIO | None]:
    """Create the file of ``--errors`` before any work is done, and lose no other."""
    if path is None:
        yield None
        return
    try:
        if _in_use(path, source):
            raise typer.BadParameter(
                f"--errors {path} is the input or the output itself: name another file."
            )
        file = path.open("wb" if force else "xb")
    except FileExistsError:
        raise typer.BadParameter(
            f"--errors {path} is there already: name another file, or replace it with --force."
        ) from None
    except OSError as exc:
        raise typer.BadParameter(f"--errors {path} cannot be written: {exc.strerror}.") from exc
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):  # a full disk was told when it was flushed
            file.close()


def _in_use(path: Path, source: Path | None) -> bool:
    """Whether *path* is a file that is read or written already, by name or by redirection."""
    if not path.is_file():
        return False
    taken = [] if source is None else [source.stat()]
    for descriptor in (0, 1):
        with contextlib.suppress(OSError):  # it may be closed
            taken.append(os.fstat(descriptor))
    return any(os.path.samestat(path.stat(), other) for other in taken)


@rules_app.command("list")
def list_rules(rules: RulesFile = None, as_json: AsJson = False) -> None:
    """List the rules in order: the first row that matches decides."""
    _rules.print_rules(_loaded(rules), as_json=as_json)


@rules_app.command("lint")
def lint_rules(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Rules of your own, in TOML; the built-in ones if it is left out.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Find rules and patterns that never decide, as others match whenever they do.

    One finding a line. A fault is a rule that never decides, a warning a pattern of which the same
    holds, a note a pattern that its rule does not need, or a built-in rule that yours overrule.
    Exit code 1 if there is a fault, 2 if the file does not hold rules.
    """
    from . import _lint  # noqa: PLC0415 -- loads pydantic

    raise typer.Exit(_lint.run(file, as_json=as_json))


@app.command()
def retries(
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(
            metavar="FILE",
            help="JSON lines, one call each: tool, arguments, payload (what the tool returned) and,"
            " if it waited, after_s (seconds since the call before); - for standard input.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """
    Replay recorded calls: which attempt each was, was the advice followed, did it work.

    The calls count as one run. Exit code 2 if a line holds no call.
    """
    from . import _retries  # noqa: PLC0415 -- loads what follows calls

    raise typer.Exit(_retries.run(file, getattr(file, "name", "-"), as_json=as_json))


@app.command()
def doctor(
    allow_insecure: Annotated[
        bool,
        typer.Option(
            "--allow-insecure", help="Ask a receiver on another machine over plain http, too."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Check the installation and the telemetry settings, and say what to do.

    Sends an empty export to where setup_telemetry would send: to the endpoint that the OTEL
    variables name, else to http://localhost:4318. Exit code 1 if something needs doing.
    """
    from . import _doctor  # noqa: PLC0415 -- loads OpenTelemetry

    raise typer.Exit(_doctor.run(as_json=as_json, allow_insecure=allow_insecure))


@app.command()
def demo(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """
    Run a real MCP server and a real host, and show the guidance on a dozen real failures.

    Telemetry is summarized; it is sent, too, if OTEL_EXPORTER_OTLP_ENDPOINT is set. Exit code 1 if
    the run shows less than it should, 2 if it cannot run.
    """
    from .demo.host import run  # noqa: PLC0415 -- loads the MCP SDK

    raise typer.Exit(run(as_json=as_json))


def _no_empty(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise typer.BadParameter("an empty text names nothing; leave the option out.")
    return value


@dashboards_app.command("export")
def export_dashboards(
    directory: Annotated[Path, typer.Argument(help="Where to; made if it is not there.")],
    runbook: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where your runbook is read; by default the file RUNBOOK.md beside the rest.",
            show_default=False,
            callback=_no_empty,
        ),
    ] = None,
    service: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The service that links in Jaeger search in; by default the demo's.",
            show_default=False,
            callback=_no_empty,
        ),
    ] = None,
) -> None:
    """
    Write dashboards, alerts, data sources and two compose stacks to a directory.

    It must be empty, or hold an earlier export, whose files are written anew. README.md there says
    what to do with them.
    """
    from . import _dashboards  # noqa: PLC0415 -- only for this command

    _dashboards.export(directory, runbook=runbook, service=service)
