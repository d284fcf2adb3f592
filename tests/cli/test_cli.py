"""The command line: what it prints, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import waypost
from waypost.cli._app import app
from waypost.core._classify import default_rules
from waypost.guidance import error_guidance

ROOT = Path(__file__).parents[2]

# Arguments 1 and 2 name what cannot be imported, and what comes of that; the rest is for waypost.
WITHOUT = """
import builtins, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == missing or name.startswith(missing + "."):
            exception = getattr(builtins, raised)(f"No module named {name!r}")
            exception.name = name
            raise exception

missing, raised = sys.argv.pop(1), sys.argv.pop(1)
sys.meta_path.insert(0, Missing())
from waypost.cli import main
main()
"""


def started(*program: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **env},
        text=True,
        timeout=60,
    )


def classified(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["classify", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_classify_prints_the_class_and_what_to_do() -> None:
    """Issue 2, item 7: ``waypost classify CODE``."""
    assert [line.rstrip() for line in classified("ECONNREFUSED").splitlines()] == [
        "error_class  unavailable",
        "retryable    true",
        "next_step    wait",
        "actor        model",
        "next_action  Wait a few seconds, then make the same call.",
    ]


def test_classify_prints_a_dash_for_what_is_not_known() -> None:
    """DESIGN section 1: an unknown code has no next action."""
    lines = [line.split() for line in classified("FLUX_CAPACITOR").splitlines()]
    assert lines == [
        ["error_class", "unknown"],
        ["retryable", "false"],
        ["next_step", "none"],
        ["actor", "model"],
        ["next_action", "-"],
    ]


def test_classify_reads_the_message() -> None:
    """DESIGN section 1: the message refines a code that says nothing."""
    facts = json.loads(classified("tool_error", "database is locked", "--json"))
    assert facts["error_class"] == "conflict"


def test_classify_says_what_the_contract_says() -> None:
    """Our promise: the command line holds no logic of its own."""
    facts = json.loads(classified("TOKEN_EXPIRED", "--json"))
    retryable, next_action = error_guidance("TOKEN_EXPIRED")
    assert facts == {
        "error_class": "unauthenticated",
        "retryable": retryable,
        "next_step": "sign_in",
        "actor": "user",
        "next_action": next_action,
    }


def test_explanation_names_the_row_that_won() -> None:
    """DESIGN section 3: which row won, and which it shadowed."""
    facts = json.loads(classified("RATE_LIMIT_TIMEOUT", "--explain", "--json"))
    assert (facts["rule"], facts["decided_by"], facts["outcome"]) == (
        "rate.limited",
        "code",
        "not_done",
    )
    assert facts["tokens"] == ["rate", "limit", "timeout"]
    assert "timed.out" in facts["shadowed"]
    table = classified("RATE_LIMIT_TIMEOUT", "--explain")
    assert "rate, limit, timeout" in table
    assert facts["why"].split()[0] in table


@pytest.mark.parametrize("arguments", [("-32601",), ("--", "-32601")])
def test_code_may_be_a_negative_number(arguments: tuple[str, ...]) -> None:
    """Issue 2, item 7: JSON-RPC codes are error codes, too."""
    assert classified(*arguments).split()[1] == "unsupported"


def test_code_is_not_read_as_markup() -> None:
    """Our promise: what a tool wrote is shown as it is."""
    assert "[bold]" not in classified("x", "[bold]y[/bold]")
    assert "red, x" in classified("[red]x", "--explain")


@pytest.mark.parametrize("arguments", [["classify"], ["classify", "X", "--explian"], ["no-such"]])
def test_wrong_usage_is_told_with_exit_code_2(arguments: list[str]) -> None:
    """Our promise: a typo is no code."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_command_runs_as_a_program() -> None:
    """Issue 2, item 7: ``waypost`` beside ``make demo``."""
    run = started("-c", "from waypost.cli import main; main()", "classify", "ETIMEDOUT", "--json")
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["error_class"] == "timeout"


@pytest.mark.parametrize(
    ("missing", "wanted"),
    [
        ("typer", '"waypost[cli]"'),
        ("rich", '"waypost[cli]"'),
        ("mcp", '"waypost[cli]" "mcp>=2"'),
        ("mcp.server.mcpserver", '"waypost[cli]" "mcp>=2"'),  # as it is with SDK 1.x
    ],
)
def test_missing_extra_is_named(missing: str, wanted: str) -> None:
    """Our promise: a plain ``pip install waypost`` says what to install, without a traceback."""
    run = started("-c", WITHOUT, missing, "ModuleNotFoundError", "demo")
    assert (run.returncode, run.stdout) == (2, "")
    name = missing.partition(".")[0]
    assert run.stderr == (
        f"waypost: {name} is not installed, or too old. Run: pip install -U {wanted}\n"
    )


def test_other_missing_module_is_not_explained_away() -> None:
    """Our promise: a broken installation shows what is broken."""
    run = started("-c", WITHOUT, "waypost.cli._app", "ModuleNotFoundError", "demo")
    assert run.returncode == 1
    assert run.stderr.endswith("ModuleNotFoundError: No module named 'waypost.cli._app'\n")


def test_interruption_while_modules_load_prints_no_traceback() -> None:
    """Our promise: Ctrl-C ends with 130."""
    run = started("-c", WITHOUT, "typer", "KeyboardInterrupt", "demo")
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_rules_are_listed_in_order() -> None:
    """Issue 3, item 2: ``waypost rules list``; the first row that matches decides."""
    rows = default_rules().rows
    listed = CliRunner().invoke(app, ["rules", "list"]).stdout.splitlines()
    assert listed[0].split() == ["rule", "error", "class", "retryable", "step", "outcome", "why"]
    assert [line.split()[0] for line in listed[1:]] == [row.id for row in rows]
    documents = json.loads(CliRunner().invoke(app, ["rules", "list", "--json"]).stdout)
    first = next(row for row in documents if row["id"] == "rate.limited")
    known = next(row for row in rows if row.id == "rate.limited")
    assert first == {
        "id": "rate.limited",
        "error_class": "rate_limited",
        "retryable": True,
        "step": "wait",
        "outcome": "not_done",
        "next_action": known.action,
        "any_of": list(known.any_of),
        "ends": [],
        "only_with": [],
        "not_with": list(known.not_with),
        "in_message": True,
        "vague": False,
        "refined_by": [],
        "why": known.why,
    }


def test_version_is_told() -> None:
    """Our promise: a bug report can name it."""
    assert CliRunner().invoke(app, ["--version"]).stdout == f"waypost {waypost.__version__}\n"


def test_shell_completes_commands() -> None:
    """Issue 3, item 2: shell completion."""
    run = started(
        "-c",
        "import sys; sys.argv[0] = 'waypost'; from waypost.cli import main; main()",
        _WAYPOST_COMPLETE="complete_bash",
        COMP_WORDS="waypost e",
        COMP_CWORD="1",
    )
    assert (run.returncode, run.stdout.split()) == (0, ["enrich"])


@pytest.mark.parametrize("color", [True, False])
def test_no_color_is_heeded_on_a_terminal(color: bool) -> None:
    """Issue 3, item 2: ``NO_COLOR`` (https://no-color.org)."""
    shown, terminal = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    env = {**kept, "TERM": "xterm-256color", **({} if color else {"NO_COLOR": "1"})}
    program = [sys.executable, "-c", "from waypost.cli import main; main()", "doctor"]
    with subprocess.Popen(program, stdout=terminal, stderr=terminal, env=env) as process:
        os.close(terminal)
        text = b""
        with contextlib.suppress(OSError):  # Linux says so when the other end is closed
            while data := os.read(shown, 65_536):
                text += data
    os.close(shown)
    assert process.returncode == 0
    assert (b"\x1b[32m" in text) is color
