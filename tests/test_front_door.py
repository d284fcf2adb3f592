"""The front door: what `waypost` exports, and that it opens nothing else."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys

import pytest

import waypost
from tests.programs import run

PUBLIC = [
    "Actor",
    "Attempt",
    "AttemptStore",
    "Call",
    "CallStart",
    "Enricher",
    "ErrorClass",
    "Guidance",
    "LimitError",
    "Limits",
    "MemoryAttemptStore",
    "NextStep",
    "Observation",
    "Observer",
    "OptionError",
    "Outcome",
    "RetryAdvice",
    "RetryOf",
    "RetryOutcome",
    "Rule",
    "RuleBook",
    "RuleError",
    "Scope",
    "Source",
    "ToolFailure",
    "WaypostError",
    "default_rules",
    "enrich_error_payload",
    "enrich_result",
    "error_code_of",
    "error_guidance",
    "failure",
    "guidance_of",
    "load_rules",
    "rule",
    "setup_telemetry",
]

LOADED = """
import sys
before = set(sys.modules)
{use}
print(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""


def test_public_names_are_these() -> None:
    """STYLE rule 12: public is what `__all__` lists; additions only."""
    assert waypost.__all__ == PUBLIC == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    """STYLE rule 10: a docstring says what the signature cannot."""
    value = getattr(waypost, name)
    assert getattr(waypost, name) is value
    assert vars(waypost)[name] is value  # kept, so that the next look-up costs nothing
    assert inspect.getdoc(value)
    assert value.__name__ == name


def test_version_is_that_of_the_distribution() -> None:
    """STYLE rule 6: say the truth."""
    assert waypost.__version__ == "0.1.0"


def test_other_names_are_attribute_errors() -> None:
    """A lazy module answers like any other."""
    with pytest.raises(AttributeError, match="module 'waypost' has no attribute 'no_such_name'"):
        _ = waypost.no_such_name
    assert not hasattr(waypost, "__path_of_nothing__")


def test_dir_lists_every_public_name() -> None:
    """A prompt completes what is not loaded yet."""
    assert set(PUBLIC) <= set(dir(waypost))
    assert dir(waypost) == sorted(dir(waypost))


def test_star_import_gives_the_public_names() -> None:
    """STYLE rule 12: public is what `__all__` lists."""
    done = run("from waypost import *\nprint([name for name in dir() if not name.startswith('_')])")
    assert done.stderr == ""
    assert ast.literal_eval(done.stdout) == PUBLIC


def test_pure_functions_are_those_of_the_guidance_module() -> None:
    """DESIGN section 1: `waypost.guidance` holds the functions; `waypost` exports them too."""
    guidance = importlib.import_module("waypost.guidance")
    for name in ("error_guidance", "error_code_of", "enrich_error_payload", "enrich_result",
                 "guidance_of", "failure", "Guidance", "ToolFailure"):  # fmt: skip
        assert getattr(guidance, name) is getattr(waypost, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = guidance.no_such_name


@pytest.mark.parametrize(
    "use",
    [
        "import waypost",
        "import waypost; waypost.enrich_result({'status': 'error', 'error_code': 'locked'})",
        "import waypost; waypost.enrich_result({'rows': 1})",
        "import waypost; waypost.guidance_of(TimeoutError())",
        "import waypost; waypost.failure('locked', 'm'); waypost.error_guidance('locked')",
        "from waypost import Enricher\nwith Enricher(()).call('x') as c: c.enrich({'ok': False})",
        "from waypost import Observation, Observer, Limits, Rule, WaypostError",
    ],
)
def test_what_needs_no_library_loads_none(use: str) -> None:
    """DESIGN section 9: `import waypost` loads none of the dependencies until used."""
    done = run(LOADED.format(use=use))
    assert (done.exit_code, done.stderr) == (0, "")
    assert set(ast.literal_eval(done.stdout)) - sys.stdlib_module_names == {"waypost"}


def test_integrations_and_observers_load_one_library_each() -> None:
    """STYLE rule 9: one optional library, one file."""
    for use, loaded in {
        "import waypost.observe.stdlib, waypost.observe.memory": {"waypost"},
        "import waypost; waypost.load_rules": {"waypost", "pydantic"},
        "import waypost.observe.structlog": {"waypost", "structlog"},
        "import waypost.observe.otel": {"waypost", "opentelemetry"},
    }.items():
        done = run(LOADED.format(use=use))
        assert (done.exit_code, done.stderr) == (0, "")
        third_party = set(ast.literal_eval(done.stdout)) - sys.stdlib_module_names
        ours = {"waypost", "structlog", "opentelemetry", "mcp", "pydantic"}
        assert third_party & ours == loaded
