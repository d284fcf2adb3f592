"""``waypost dashboards``: hand out the dashboards and alerts that ship with waypost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import typer

_SHIPPED = Path(__file__).parents[1] / "_dashboards"
_IN_A_CHECKOUT = Path(__file__).parents[3] / "dashboards"
_PARTS = ("compose", "generated", "jaeger", "provisioning", "README.md", "RUNBOOK.md")
_RUNBOOK = "RUNBOOK.md#"
_SERVICE = "service=waypost-demo"
_WRITTEN = ".waypost-dashboards"
"""Lists what an export wrote, so that the next one knows what is its own."""


def export(directory: Path, *, runbook: str | None, service: str | None) -> None:
    """
    Write everything to *directory*, which must be empty or hold an earlier export.

    Args:
        runbook: Where the runbook is to be read; by default the file in *directory*.

        service: The ``service.name`` that Jaeger's links search in; by default the demo's.
    """
    source = _SHIPPED if _SHIPPED.is_dir() else _IN_A_CHECKOUT
    try:
        contents = {
            name: _for(name, (source / name).read_text(encoding="utf-8"), runbook, service)
            for name in sorted(_files(source))
        }
        if not contents:
            _refuse(f"waypost is installed without its dashboards ({source}).")
        directory = directory.resolve()
        before = _written_before(directory)
        for name, content in contents.items():
            target = directory / name
            if target.is_symlink() or directory not in target.resolve().parents:
                _refuse(f"{target} is a link to another place.")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
            typer.echo(f"wrote {target}")
        for name in before - contents.keys():
            (directory / name).unlink(missing_ok=True)
        (directory / _WRITTEN).write_text("\n".join(contents) + "\n", encoding="utf-8")
    except OSError as fault:
        _refuse(f"{fault.filename}: {fault.strerror}.")


def _files(source: Path) -> Iterator[str]:
    for part in _PARTS:
        path = source / part
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file():
                yield file.relative_to(source).as_posix()


def _for(name: str, content: str, runbook: str | None, service: str | None) -> str:
    if runbook is not None and name.endswith("alerts.yml"):
        return content.replace(_RUNBOOK, f"{runbook}#")
    if service is not None and name == "jaeger/ui.json":
        return content.replace(_SERVICE, f"service={service}")
    return content


def _written_before(directory: Path) -> set[str]:
    """What an earlier export wrote; refuses a directory with anything else in it."""
    if directory.exists() and not directory.is_dir():
        _refuse(f"{directory} is no directory.")
    list_of_files = directory / _WRITTEN
    if list_of_files.is_file():
        return set(list_of_files.read_text(encoding="utf-8").splitlines())
    if directory.exists() and any(directory.iterdir()):
        _refuse(f"{directory} holds files that are not of an export. Name an empty directory.")
    return set()


def _refuse(why: str) -> NoReturn:
    typer.echo(f"waypost dashboards export: {why}", err=True)
    raise typer.Exit(2)
