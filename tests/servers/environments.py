"""Where `make servers` puts the servers, and which versions they have."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.programs import ROOT

REQUIREMENTS = ROOT / "requirements" / "servers"
ENVIRONMENTS = tuple(sorted(path.stem for path in REQUIREMENTS.glob("*.txt")))


def missing() -> str | None:
    """Say what a run needs and does not find, ``None`` if nothing."""
    if any(not (_folder(environment) / ".installed").exists() for environment in ENVIRONMENTS):
        return "needs the public servers: run make servers"
    if shutil.which("git") is None:
        return "needs git"
    return None


def python_of(environment: str) -> Path:
    return program_of(environment, "python")


def program_of(environment: str, name: str) -> Path:
    return _folder(environment) / "bin" / name


def version_of(environment: str, package: str) -> str:
    """The version of *package* that the requirement file pins."""
    pins = (REQUIREMENTS / f"{environment}.txt").read_text(encoding="utf-8").splitlines()
    (pin,) = (pin for pin in pins if pin.startswith(f"{package}=="))
    return pin.partition("==")[2]


def _folder(environment: str) -> Path:
    return ROOT / "build" / "servers" / environment
