"""
What holds for every test.

A test that needs a program the machine may lack skips and says why:
``pytest.skip("needs redis-server")``. On a developer's machine that is a note at the end of the
run. In CI (``CI=true``) a skip is a failure: ``.ci/run`` installs every peer, so nothing goes
untested without anyone noticing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

# A shell ignores Ctrl-C for what it runs in the background, and programs inherit that; some tests
# press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

CI = os.environ.get("CI", "").lower() in {"1", "true"}

# CI runs these in sessions of noxfile.py, where the libraries and the frameworks are.
_ELSEWHERE = {"exceptions": "WAYPOST_LIBRARIES", "frameworks": "WAYPOST_FRAMEWORK"}
collect_ignore = [path for path, here in _ELSEWHERE.items() if CI and here not in os.environ]

# No deadline: coverage and a busy machine slow single examples; `ratio` tests are for times.
# In CI every run draws the same examples, so that a red build is about the change.
settings.register_profile("waypost", deadline=None, derandomize=CI, print_blob=True)
settings.load_profile("waypost")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run coroutines on asyncio, the loop that every framework we stand in has."""
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one in CI; an expected failure is no skip."""
    report = yield
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a file that skips itself, as ``pytest.importorskip`` makes it."""
    report = yield
    if CI and report.skipped:
        _fail(report)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    place = report.longrepr
    reason = place[2] if isinstance(place, tuple) else place
    report.outcome = "failed"
    report.longrepr = f"CI allows no skips. {reason}"
