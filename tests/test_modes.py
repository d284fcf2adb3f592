"""Modes of the interpreter and states of the libraries: the same results in all of them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tests.programs import ROOT, run

GOLDEN: list[tuple[Any, Any]] = [
    ({"rows": [1]}, {"rows": [1]}),
    ({"status": "ok", "error": None}, {"status": "ok", "error": None}),
    ("no JSON at all, error", "no JSON at all, error"),
    (None, None),
    (
        {"status": "error", "error_code": "rate_limited", "message": "m", "retry_after": 20},
        {
            "status": "error",
            "error_code": "rate_limited",
            "message": "m",
            "retry_after": 20,
            "retryable": True,
            "next_action": "Wait 20 s, then make the same call.",
        },
    ),
    (
        {"ok": False, "error": "not_found"},
        {
            "ok": False,
            "error": "not_found",
            "retryable": False,
            "next_action": "Do not repeat this call. List what exists, then call again with one "
            "of those.",
        },
    ),
    (
        {"status": "error", "error_code": "zzqx", "message": "m"},
        {"status": "error", "error_code": "zzqx", "message": "m", "retryable": False},
    ),
    (
        {"status": "error", "error_code": "rate_limited", "retryable": False, "next_action": "x"},
        {"status": "error", "error_code": "rate_limited", "retryable": False, "next_action": "x"},
    ),
    (
        '{"status": "error", "error_code": "zzqx"}',
        '{"status": "error", "error_code": "zzqx", "retryable": false}',
    ),
    (
        [{"status": "error", "error_code": "zzqx"}],
        [{"status": "error", "error_code": "zzqx", "retryable": False}],
    ),
    (
        {"content": [{"type": "text", "text": "zzqx"}], "isError": True, "_meta": {"a": 1}},
        {
            "content": [{"type": "text", "text": "zzqx\n\n[waypost] retryable: false."}],
            "isError": True,
            "_meta": {
                "a": 1,
                "waypost/guidance": {
                    "error_class": "unknown",
                    "error_code": "tool_error",
                    "retryable": False,
                    "next_step": "none",
                    "actor": "model",
                    "may_repeat": False,
                    "rule": "unknown",
                },
            },
        },
    ),
]

SOURCE = """
import waypost
results = []
enricher = waypost.Enricher({observers})
for result in {inputs!r}:
    pure = waypost.enrich_result(result)
    with enricher.call("search", server="shop") as call:
        full = call.enrich(result)
    shot = enricher.enrich_result(result)
    results.append((pure, full, shot))
try:
    with enricher.call("search"):
        raise ValueError("x")
except ValueError:
    results.append(call.guidance is not None)
"""
DEFAULT_OBSERVERS = SOURCE.format(observers="", inputs=[given for given, _ in GOLDEN])
NO_OBSERVERS = SOURCE.format(observers="()", inputs=[given for given, _ in GOLDEN])
PRINT = "\nimport sys\nprint(results, file=sys.stderr)\n"

SDK_UNSET = "import opentelemetry.sdk.trace, opentelemetry.sdk.metrics\n"
SDK_SET = """
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
metrics.set_meter_provider(MeterProvider())
"""
HIDE_SDK = """
import sys
sys.modules["opentelemetry.sdk"] = None  # as if it were not installed
"""


def same_results(stderr: str) -> bool:
    """Whether the program printed the golden results, each three times."""
    *results, raised = ast.literal_eval(stderr)
    assert [pure for pure, _, _ in results] == [expected for _, expected in GOLDEN]
    assert all(pure == full == shot for pure, full, shot in results)
    return raised is not None


@pytest.mark.parametrize(
    ("before", "env", "flags"),
    [
        pytest.param(HIDE_SDK, {}, (), id="API only"),
        pytest.param(SDK_UNSET, {}, (), id="SDK unset"),
        pytest.param(SDK_SET, {"OTEL_SDK_DISABLED": "true"}, (), id="OTEL_SDK_DISABLED"),
        pytest.param("import structlog\n", {}, (), id="structlog unconfigured"),
        pytest.param("", {}, ("-O",), id="-O"),
        pytest.param("", {}, ("-OO",), id="-OO"),
        pytest.param("", {}, ("-X", "dev", "-W", "error"), id="-X dev -W error"),
        pytest.param("", {}, ("-bb", "-W", "error"), id="-bb"),
        pytest.param("", {"PYTHONHASHSEED": "0", "LC_ALL": "C"}, (), id="LC_ALL=C"),
    ],
)
def test_results_are_the_same_in_every_mode(
    before: str, env: dict[str, str], flags: tuple[str, ...]
) -> None:
    """RELIABILITY A8: same results on a golden list; nothing on stdout."""
    done = run(before + DEFAULT_OBSERVERS + PRINT, env=env, flags=flags)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert same_results(done.stderr)


def test_results_are_the_same_in_isolated_mode() -> None:
    """RELIABILITY A8: `python -I`, which reads no path from the environment."""
    # The package may be there without being installed, so the path is given in the program.
    path = f"import sys\nsys.path.insert(0, {str(ROOT / 'src')!r})\n"
    done = run(path + DEFAULT_OBSERVERS + PRINT, flags=("-I",), path=False)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert same_results(done.stderr)


def test_pure_functions_and_pipeline_agree_without_any_library() -> None:
    """DESIGN section 9: nothing third-party is needed for the results."""
    hide = "import sys\nfor name in ('opentelemetry', 'structlog', 'pydantic'):\n"
    hide += "    sys.modules[name] = None\n"
    done = run(hide + NO_OBSERVERS + PRINT)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert same_results(done.stderr)
