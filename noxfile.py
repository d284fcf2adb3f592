"""
The version matrix: waypost on the oldest and on the newest releases of what it requires.

`make matrix` runs every session, `make matrix ARGS="-s oldest"` one of them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nox
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINS = Path("requirements/constraints.txt")
PROJECT = nox.project.load_toml("pyproject.toml")["project"]
EXTRAS = PROJECT["optional-dependencies"]

nox.options.default_venv_backend = "virtualenv"  # also where there is uv
nox.options.envdir = "build/nox"
nox.options.error_on_external_run = True

IMPORT_EXTRAS = (
    "tests/cli/demo",
    "tests/cli/test_cli.py",
    "tests/cli/test_retries.py",
    "tests/cli/test_rules.py",
    "tests/core/test_advice.py",
    "tests/core/test_clean.py",
    "tests/core/test_corpus.py",
    "tests/core/test_delays.py",
    "tests/core/test_enrich.py",
    "tests/core/test_enrich_kinds.py",
    "tests/core/test_enrich_options.py",
    "tests/core/test_guide.py",
    "tests/core/test_hostile_values.py",
    "tests/core/test_properties.py",
    "tests/core/test_recognize_exceptions.py",
    "tests/core/test_recognize_results.py",
    "tests/integrations",
    "tests/observe/test_otel.py",
    "tests/observe/test_otel_marks.py",
    "tests/test_pipeline.py",
    "tests/test_pipeline_options.py",
    "tests/test_pipeline_retries.py",
    "tests/test_ratios.py",
)
"""Tests that import the MCP SDK or typer."""

START_EXTRAS = (
    "tests/cli/test_doctor.py",
    "tests/cli/test_enrich.py",
    "tests/cli/test_enrich_streams.py",
)
"""Tests that start a program which needs the extra `cli`."""

START_EXPORTERS = ("tests/telemetry/test_faults.py", "tests/telemetry/test_telemetry.py")
"""Tests that start a program which needs the extra `otlp`."""

ELSEWHERE = (
    "tests/benchmarks", "tests/dashboards", "tests/docs", "tests/exceptions", "tests/frameworks",
    "tests/peers", "tests/reliability/test_patterns.py", "tests/servers", "tests/test_house.py",
)  # fmt: skip
"""Tests about our pages and our source, and about programs that bring versions of their own."""

CHECK = """
import runpy, sys
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="check")
    except ModuleNotFoundError as missing:
        if missing.name.partition(".")[0] in {"mcp", "typer"}:
            continue
        raise
    sys.exit(f"{path} imports no extra: take it off IMPORT_EXTRAS in noxfile.py.")
"""

ALONE = """
import waypost
waypost.setup_telemetry(service_name="matrix", otlp=False)
with waypost.Enricher().call("search") as call:
    enriched = call.enrich({"ok": False, "error": "rate_limited"})
assert enriched["retryable"] is True, enriched
assert waypost.enrich_result(waypost.ToolFailure(error_code="locked", message=""))["next_action"]
"""

# What the old releases of one dependency can break: beside it all is new, the MCP SDK included.
BOUNDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "opentelemetry": (
        ".[cli,mcp,otlp]",
        (
            "tests/cli/demo/test_demo.py",
            "tests/integrations",
            "tests/observe",
            "tests/test_pipeline_layers.py",
        ),
    ),
    "pydantic": (  # without the extra `mcp`: the SDK wants pydantic 2.12
        ".",
        ("tests/core", "tests/test_guidance.py", "tests/test_payloads.py"),
    ),
    "structlog": (
        ".[cli,mcp,otlp]",
        (
            "tests/cli/demo/test_demo.py",
            "tests/integrations",
            "tests/observe",
            "tests/telemetry/test_lines.py",
        ),
    ),
}


FRAMEWORKS = {
    path.stem: str(path) for path in sorted(Path("requirements/frameworks").glob("*.txt"))
}

_SDK = ("mcp", ("tests/frameworks/test_mcp.py", "tests/frameworks/test_instrumentor.py"))
FRAMEWORK_TESTS = {
    "mcp-1": _SDK,
    "mcp-2": _SDK,
    "fastmcp": ("fastmcp", ("tests/frameworks/test_fastmcp.py",)),
    "langchain": ("langchain", ("tests/frameworks/test_langchain.py",)),
    "openai-agents": ("openai-agents", ("tests/frameworks/test_openai_agents.py",)),
    "pydantic-ai": ("pydantic-ai", ("tests/frameworks/test_pydantic_ai.py",)),
}


@nox.session
def oldest(session: nox.Session) -> None:
    """Every required dependency at its lower bound."""
    install(session, ".[otlp]", "--group", "test", lowest=list(BOUNDS))
    run_tests(session, "tests", leave_out=without_extras(session, *START_EXTRAS))


@nox.session
@nox.parametrize("dependency", list(BOUNDS), ids=list(BOUNDS))
def bound(session: nox.Session, dependency: str) -> None:
    """One required dependency at its lower bound, all else as pinned."""
    what, tests = BOUNDS[dependency]
    install(session, what, "--group", "test", lowest=[dependency])
    run_tests(session, *tests, leave_out=() if "mcp" in what else without_extras(session))


@nox.session
@nox.parametrize("framework", list(FRAMEWORKS), ids=list(FRAMEWORKS))
def framework(session: nox.Session, framework: str) -> None:
    """One framework at its oldest or newest version, hosts and servers as real processes."""
    name = framework.rpartition("-")[0]
    extra, tests = FRAMEWORK_TESTS[name]
    session.install(
        f".[{extra},instrument]", "--group", "test", "--requirement", FRAMEWORKS[framework]
    )
    session.env["WAYPOST_FRAMEWORK"] = name
    session.env["WAYPOST_OFFICE_PYTHON"] = sys.executable  # what runs nox has the SDK 2.x
    # What the frameworks themselves deprecate is not ours to mend.
    quiet = ("-W", "ignore:Use `streamable_http_client` instead:DeprecationWarning")
    newest = framework.endswith("-newest")
    # The pages show the newest; those of the SDK are proved with all the others.
    paths = [*tests, *(["tests/frameworks/test_page.py"] if newest and extra != "mcp" else [])]
    if not newest or extra == "mcp":  # the integration of the SDK is covered and checked elsewhere
        session.run("python", "-m", "pytest", *quiet, *paths)
        return
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *quiet, *paths)
    session.run("coverage", "combine", "--quiet")
    module = f"waypost/integrations/{extra.replace('-', '_')}.py"
    session.run("coverage", "report", f"--include=*/site-packages/{module}", "--fail-under=100")
    session.install("mypy", "--constraint", str(PINS))
    session.run("mypy", "--follow-imports=silent", f"src/{module}")


@nox.session
def plain(session: nox.Session) -> None:
    """The required dependencies and nothing else."""
    install(session, ".")
    session.run("python", "-W", "error", "-c", ALONE)
    session.run("waypost", "classify", "LOCKED", success_codes=[2])  # says what to install
    install(session, ".", "--group", "test")
    left_out = without_extras(session, *START_EXTRAS, *START_EXPORTERS)
    run_tests(session, "tests", leave_out=left_out)


@nox.session
def wheel(session: nox.Session) -> None:
    """What only a wheel shows: the dashboards are in it, and come out as they went in."""
    install(session, ".[cli]")
    exported = Path(session.create_tmp(), "dashboards")
    shutil.rmtree(exported, ignore_errors=True)
    session.run("waypost", "dashboards", "export", str(exported), silent=True)
    for source in filter(Path.is_file, Path("dashboards").glob("*/**/*.[jy]*")):
        copy = exported / source.relative_to("dashboards")
        if copy.read_bytes() != source.read_bytes():
            session.error(f"{copy} is not what {source} is.")


@nox.session
def newest(session: nox.Session) -> None:
    """The newest releases that there are today, pinned or not."""
    session.install(".[cli,mcp,otlp]", "--group", "test")
    run_tests(session, "tests", leave_out=ELSEWHERE)


@nox.session
def libraries(session: nox.Session) -> None:
    """Exceptions as the libraries that tools are made with raise them."""
    install(session, ".", "--group", "test", "--requirement", "requirements/libraries.txt")
    session.env["WAYPOST_LIBRARIES"] = "1"
    run_tests(session, "tests/exceptions")


def install(session: nox.Session, *what: str, lowest: list[str] | None = None) -> None:
    """Install *what* as pinned, but the families *lowest* at their lower bounds."""
    constraints = Path(session.virtualenv.location, "constraints.txt")
    lines = list(constraints_for(lowest or []))
    constraints.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if lowest:
        session.log(" ".join(line for line in lines if family_of(line) in lowest))
    session.install(*what, "--constraint", str(constraints), "--build-constraint", str(PINS))


def constraints_for(lowest: list[str]) -> Iterator[str]:
    """Yield the pins of all other families, then lower bounds as they stand in pyproject.toml."""
    for line in PINS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") and family_of(line) not in lowest:
            yield line
    # The exporters are of the same release as the SDK.
    for requirement in map(Requirement, PROJECT["dependencies"] + EXTRAS["otlp"]):
        applies = requirement.marker is None or requirement.marker.evaluate()
        if applies and family_of(requirement.name) in lowest:
            (version,) = (one.version for one in requirement.specifier if one.operator == ">=")
            yield f"{requirement.name}=={version}"


def family_of(line: str) -> str:
    """Return what goes together: the SDK wants the very release of the API, and so on."""
    name = canonicalize_name(line.partition("==")[0])
    return "opentelemetry" if name == "protobuf" else name.partition("-")[0]


def without_extras(session: nox.Session, *start: str) -> tuple[str, ...]:
    """
    Return what cannot run here, once it is seen that it cannot, so that nothing is left out idly.

    Args:
        start: The files whose programs need an extra: one test of each fails.
    """
    files = [
        str(file)
        for path in map(Path, IMPORT_EXTRAS)
        for file in (sorted(path.rglob("test_*.py")) if path.is_dir() else [path])
    ]
    session.run("python", "-c", CHECK, *files, log=False)
    for path in start:
        run = ("python", "-m", "pytest", "--quiet", "--exitfirst", path)
        session.run(*run, success_codes=[1], silent=True)
    return (*IMPORT_EXTRAS, *start, *ELSEWHERE)


def run_tests(session: nox.Session, *paths: str, leave_out: tuple[str, ...] = ()) -> None:
    """Run the tests but the timed ones; a warning is an error, also while modules load."""
    ignored = [f"--ignore={path}" for path in leave_out]
    session.run("python", "-W", "error", "-m", "pytest", "-m", "not ratio", *ignored, *paths)


required = {family_of(Requirement(line).name) for line in PROJECT["dependencies"]}
if required != set(BOUNDS):
    raise ValueError(f"BOUNDS in noxfile.py has {set(BOUNDS)}, pyproject.toml requires {required}.")
