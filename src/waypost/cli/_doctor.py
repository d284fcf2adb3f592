"""``waypost doctor``: what is installed, where telemetry goes, and what to do about it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Literal, NamedTuple

import typer
from packaging.requirements import Requirement
from rich.console import Console
from rich.text import Text

from .. import __version__
from ..pipeline._enricher import disabled

State = Literal["ok", "note", "problem"]

_COLORS = {"ok": "green", "note": "yellow", "problem": "bold red"}


class Check(NamedTuple):
    """
    One thing that was looked at.

    Attributes:
        state: A ``problem`` makes the exit code 1; a ``note`` is worth knowing.

        found: What is there.

        advice: What to do, "" if nothing is to be done.
    """

    state: State
    name: str
    found: str
    advice: str = ""


def run(*, as_json: bool, allow_insecure: bool) -> int:
    """
    Print every check.

    Returns:
        The exit code: 1 if there is a problem, else 0.
    """
    checks = [*_installed(), *_settings(), *_telemetry(allow_insecure=allow_insecure)]
    if as_json:
        typer.echo(json.dumps([check._asdict() for check in checks], indent=2))
    else:
        _print(checks)
    return 1 if any(check.state == "problem" for check in checks) else 0


def _installed() -> Iterator[Check]:
    """The versions of Python, waypost, what it requires, and what its extras bring."""
    yield Check("ok", "Python", platform.python_version())
    try:
        yield Check("ok", "waypost", metadata.version("waypost"))
    except metadata.PackageNotFoundError:
        told = f"{__version__}, not installed as a package"
        yield Check("problem", "waypost", told, "pip install waypost")
        return
    extras: dict[str, list[Requirement]] = {}
    for line in metadata.requires("waypost") or ():
        requirement = Requirement(line)
        extra = _extra_of(requirement)
        if extra is None:
            yield _required(requirement)
        else:
            extras.setdefault(extra, []).append(requirement)
    missing = []
    for extra, requirements in extras.items():
        if all(_version(requirement)[0] for requirement in requirements):
            yield _extra(extra, requirements)
        else:
            missing.append(extra)
    if missing:
        yield Check("note", "not installed", ", ".join(missing), 'pip install "waypost[NAME]"')


def _extra_of(requirement: Requirement) -> str | None:
    """The extra that brings a requirement, ``None`` for one that is always there."""
    extras: list[str] = metadata.metadata("waypost").get_all("Provides-Extra") or []
    for extra in extras:
        if requirement.marker is not None and requirement.marker.evaluate({"extra": extra}):
            return extra
    return None


def _required(requirement: Requirement) -> Check:
    version, fits = _version(requirement)
    wanted = f"{requirement.name}{requirement.specifier}"
    if version is None:
        return Check("problem", requirement.name, "not installed", f'pip install "{wanted}"')
    if not fits:
        return Check(
            "problem", requirement.name, f"{version} is too old", f'pip install "{wanted}"'
        )
    return Check("ok", requirement.name, version)


def _extra(extra: str, requirements: list[Requirement]) -> Check:
    found = [(requirement.name, *_version(requirement)) for requirement in requirements]
    have = ", ".join(f"{name} {version}" for name, version, _ in found)
    if old := [name for name, _, fits in found if not fits]:
        told = f"{have}: {', '.join(old)} too old"
        return Check("problem", f"waypost[{extra}]", told, f'pip install -U "waypost[{extra}]"')
    return Check("ok", f"waypost[{extra}]", have)


def _version(requirement: Requirement) -> tuple[str | None, bool]:
    """The version that is installed, and whether it fits."""
    try:
        version: str = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return None, False
    return version, requirement.specifier.contains(version, prereleases=True)


def _settings() -> Iterator[Check]:
    """Variables that turn something off."""
    if disabled():
        yield Check(
            "note",
            "WAYPOST_DISABLED",
            "waypost adds and reports nothing",
            "Unset it to turn it on.",
        )


def _telemetry(*, allow_insecure: bool) -> Iterator[Check]:
    """Whether telemetry can be set up, and the receiver of each signal answers."""
    try:
        from ..telemetry import _settings as settings  # noqa: PLC0415 -- loads OpenTelemetry
    except Exception as exc:  # noqa: BLE001 -- out of the SDK: it reads its variables as it loads
        told = f"OpenTelemetry cannot be loaded: {exc}"
        yield Check("problem", "telemetry", told, "Correct the OTEL variables.")
        return
    if settings.sdk_disabled():
        yield Check("note", "OTEL_SDK_DISABLED", "no telemetry is sent", "Unset it to send some.")
    try:
        from ..telemetry._probe import probe, setup_trouble  # noqa: PLC0415 -- needs an extra
    except ModuleNotFoundError:
        if any(map(settings.named_endpoint, settings.wanted_signals())):
            yield Check(
                "problem",
                "telemetry",
                "an endpoint is set, but nothing that sends to it is installed",
                'pip install "waypost[otlp]"',
            )
        return
    if (trouble := setup_trouble()) is not None:
        yield Check("problem", "telemetry", trouble)
        return
    answers: dict[tuple[str, str | None, bool], list[str]] = {}
    for signal, endpoint, trouble, named in probe(allow_insecure=allow_insecure):
        answers.setdefault((endpoint, trouble, named), []).append(signal)
    for (endpoint, trouble, named), signals in answers.items():
        yield _receiver(", ".join(signals), endpoint, trouble, named=named)


def _receiver(signals: str, endpoint: str, trouble: str | None, *, named: bool) -> Check:
    if trouble is None:
        return Check("ok", signals, f"{endpoint} accepts them")
    if not endpoint:
        return Check("problem", signals, trouble)
    refused = f"{endpoint} does not accept them: {trouble}"
    if named:
        return Check(
            "problem",
            signals,
            refused,
            "Start the receiver, or correct the OTEL_EXPORTER_OTLP variables.",
        )
    return Check(
        "note",
        signals,
        f"no endpoint is set, and {refused}",
        "To see telemetry, start a receiver there or set OTEL_EXPORTER_OTLP_ENDPOINT;"
        " OTEL_METRICS_EXPORTER=none and the like turn a signal off.",
    )


def _print(checks: list[Check]) -> None:
    """One line a check, what to do below it."""
    width = max(len(check.name) for check in checks)
    console = Console(soft_wrap=True, highlight=False)
    for check in checks:
        line = Text(f"{check.state:9}", _COLORS[check.state])
        console.print(line.append(f"{check.name:{width}}  {check.found}", "not bold default"))
        if check.advice:
            console.print(Text(f"{'':{width + 11}}{check.advice}"))
