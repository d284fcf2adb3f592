"""Promises about the package as a whole that no import contract can state."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "waypost"

# Modules of the standard library that wait, tell the time, log, or read settings and files.
IMPURE = {"asyncio", "io", "logging", "os", "pathlib", "socket", "subprocess", "threading", "time"}

NEWLY_LOADED = """
import sys
before = set(sys.modules)
import waypost
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""

SKIPPED_TEST = "import pytest\ndef test_peer(): pytest.skip('needs a peer')"
SKIPPED_FILE = "import pytest\npytest.skip('needs a peer', allow_module_level=True)"


def _absolute_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level module of each absolute import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, (node.module or "").partition(".")[0]


def test_core_and_guidance_import_only_the_standard_library() -> None:
    """STYLE section 6: what decides has no dependency, and no way to wait, log or look around."""
    pure = [*(PACKAGE / "core").rglob("*.py"), PACKAGE / "guidance.py"]
    foreign = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sorted(pure)
        for line, module in _absolute_imports(path)
        if module in IMPURE or module not in sys.stdlib_module_names
    ]
    assert foreign == []


def test_package_imports_itself_relatively() -> None:
    """STYLE section 5; where a relative import leads is what the import contracts check."""
    absolute = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, module in _absolute_imports(path)
        if module == "waypost"
    ]
    assert absolute == []


def test_import_of_waypost_loads_no_third_party_module() -> None:
    """DESIGN section 9: a host that only imports waypost pays for nothing it does not use."""
    # Without coverage's variables, since measuring the subprocess loads modules before us.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    run = subprocess.run(
        [sys.executable, "-I", "-c", NEWLY_LOADED],
        capture_output=True,
        check=True,
        env=env,
        text=True,
    )
    assert set(run.stdout.split()) - sys.stdlib_module_names == {"waypost"}


@pytest.mark.parametrize(
    ("ci", "source", "exit_code"),
    [
        pytest.param("", SKIPPED_TEST, pytest.ExitCode.OK, id="test, locally"),
        pytest.param("true", SKIPPED_TEST, pytest.ExitCode.TESTS_FAILED, id="test, in CI"),
        pytest.param("", SKIPPED_FILE, pytest.ExitCode.NO_TESTS_COLLECTED, id="file, locally"),
        pytest.param("true", SKIPPED_FILE, pytest.ExitCode.INTERRUPTED, id="file, in CI"),
    ],
)
def test_skip_fails_in_ci_only(
    tmp_path: Path, ci: str, source: str, exit_code: pytest.ExitCode
) -> None:
    """DESIGN section 8: a missing peer skips with its reason locally and fails in CI."""
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (tmp_path / "test_peer.py").write_text(source, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "CI": ci},
        text=True,
    )
    assert "needs a peer" in run.stdout
    assert run.returncode == exit_code, run.stdout
