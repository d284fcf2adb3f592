"""``waypost dashboards``: hand out the dashboards and alerts that ship with waypost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import typer

_SHIPPED = Path(__file__).parents[1] / "_dashboards"
_IN_A_CHECKOUT = Path(__file__).parents[3] / "dashboards"
_PARTS = ("compose", "generated", "jaeger", "provisioning", "README.md", "RUNBOOK.md")
_RUNBOOK = "RUNBOOK.md#"


def export(directory: Path, *, runbook: str | None) -> None:
    """
    Copy everything to *directory*, which must be empty or hold an earlier export.

    Args:
        runbook: Where the runbook is to be read; by default the file in *directory*.
    """
    source = _SHIPPED if _SHIPPED.is_dir() else _IN_A_CHECKOUT
    names = sorted(_files(source))
    foreign = {
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    }
    if foreign - set(names):
        typer.echo(
            f"waypost dashboards export: {directory} holds other files, such as"
            f" {min(foreign - set(names))}. Name an empty directory.",
            err=True,
        )
        raise typer.Exit(2)
    for name in names:
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if runbook is not None and name.endswith("alerts.yml"):
            text = (source / name).read_text(encoding="utf-8")
            target.write_text(text.replace(_RUNBOOK, f"{runbook}#"), encoding="utf-8")
        else:
            shutil.copyfile(source / name, target)
        typer.echo(f"wrote {target}")


def _files(source: Path) -> Iterator[str]:
    for part in _PARTS:
        path = source / part
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file():
                yield file.relative_to(source).as_posix()
