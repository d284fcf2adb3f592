"""The page of a framework is proved where the framework is: issue 6, item 7."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frameworks.pages import PAGES
from tests.programs import ROOT


@pytest.mark.parametrize("page", PAGES.get(os.environ.get("WAYPOST_FRAMEWORK", ""), ()))
def test_programs_of_the_page_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    """STYLE, docs: every block runs in CI."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.prove", page],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=170,
    )
    assert done.returncode == 0, done.stderr
