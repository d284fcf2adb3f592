"""The libraries that waypost is compared with, and how they are asked."""

from __future__ import annotations

import ast
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ._corpora import ROOT
from ._score import Said

REQUIREMENTS = ROOT / "requirements" / "peers"
ENVIRONMENTS = ROOT / "build" / "peers"
LONGEST_RUN_SECONDS = 120


class PeerError(Exception):
    """A peer is missing, or did not answer: then there is nothing to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """
    A library, in an environment of its own.

    Attributes:
        name: Of its requirement file, and of its rows on the page.

        package: The distribution that the requirement file pins.

        purpose: What it says it is for.

        env: Variables that its program needs.
    """

    name: str
    package: str
    license: str
    purpose: str
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        pins = (REQUIREMENTS / f"{self.name}.txt").read_text(encoding="utf-8").splitlines()
        (pin,) = (pin for pin in pins if pin.startswith(f"{self.package}=="))
        return pin.partition("==")[2]

    @property
    def adapter(self) -> Path:
        return Path(__file__).parent / "peers" / f"{self.name.replace('-', '_')}.py"

    @property
    def environment(self) -> Path:
        return ENVIRONMENTS / self.name


_RETRYGUARD = "Decides whether to repeat what raised an exception, for a backend's own loop."

PEERS = (
    Peer(name="retryguard", package="retryguard", license="MIT", purpose=_RETRYGUARD),
    Peer(
        name="retryguard-extras",
        package="retryguard",
        license="MIT",
        purpose="The same, with the SDKs installed whose exceptions it knows.",
    ),
    Peer(
        name="errorsense",
        package="errorsense",
        license="MIT",
        purpose="Labels errors by rules, and by a language model where no rule decides.",
    ),
    Peer(
        name="errgate-gateway",
        package="errgate-gateway",
        license="MIT",
        purpose="A gateway in front of MCP servers: translates failures into verdicts, and "
        "enforces them.",
    ),
    Peer(
        name="mcp-rescue",
        package="mcp-rescue",
        license="MIT",
        purpose="Chooses a recovery step for a failed MCP tool call.",
    ),
    Peer(
        name="failecho-autoreport",
        package="failecho-autoreport",
        license="MIT",
        purpose="Reports the shape of tool failures to a service.",
        env={"FAILECHO_DISABLED": "1"},
    ),
    Peer(
        name="opentel-mcp",
        package="opentel-mcp",
        license="MIT",
        purpose="Instruments MCP servers with OpenTelemetry; retrying is not its purpose.",
    ),
)


def missing() -> str | None:
    """Say what a run needs and does not find, ``None`` if nothing."""
    lack = [peer.name for peer in PEERS if not (peer.environment / ".installed").exists()]
    return f"needs its peers ({', '.join(lack)}): run make peers" if lack else None


def ask(peer: Peer, questions: Sequence[tuple[str, str]]) -> tuple[Said, ...]:
    """
    Return what *peer* says about each code and message, in a process that knows nothing of ours.

    Raises:
        PeerError: It did not answer every one.
    """
    lines = [json.dumps({"code": code, "message": message}) for code, message in questions]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [peer.environment / "bin" / "python", "-P", "-m", _module(peer.adapter)],
            capture_output=True,
            check=False,
            cwd=home,
            encoding="utf-8",
            env={
                "HOME": home,
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": str(ROOT),
                "PYTHONUTF8": "1",
                **peer.env,
            },
            input="".join(f"{line}\n" for line in lines),
            timeout=LONGEST_RUN_SECONDS,
        )
    answers = done.stdout.splitlines()
    if done.returncode or len(answers) != len(questions):
        raise PeerError(
            f"{peer.name} answered {len(answers)} of {len(questions)} rows, and ended with "
            f"{done.returncode}:\n{done.stderr}"
        )
    return tuple(map(_said, answers))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _said(line: str) -> Said:
    answer = json.loads(line)
    return Said(
        retryable=answer["retryable"],
        acts=answer["action"] is not None,
        as_written=answer["as_written"],
    )


def adapter_of(peer: Peer) -> tuple[str, str]:
    """Return what the adapter of *peer* says of itself, and the code below that."""
    source = peer.adapter.read_text(encoding="utf-8")
    module = ast.parse(source)
    below = module.body[0].end_lineno or 0
    return ast.get_docstring(module) or "", "\n".join(source.splitlines()[below:]).strip()
