"""Every block of code in the README and the docs runs, or is checked in another way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

import waypost
from tests.docs.blocks import ROOT, UnprovedError, blocks_of, pages
from tests.docs.prove import prove
from tests.frameworks.pages import PAGES
from waypost.core._advice import _ACTION_CHARS
from waypost.core._clean import MESSAGE_CHARS, PARSED_CHARS
from waypost.core._enrich_mcp import _LINE_CHARS
from waypost.core._tokens import PROSE_ENDS
from waypost.telemetry import EXIT_SECONDS
from waypost.telemetry._render import LINE_BYTES

README = ROOT / "README.md"

# Proved beside their frameworks, by tests/frameworks/test_page.py.
ELSEWHERE = frozenset(page for pages_of_one in PAGES.values() for page in pages_of_one)

# The programs of a page talk to no collector, whatever they set up.
QUIET = dict.fromkeys(
    ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"), "none"
)


def proved(page: Path, directory: Path) -> subprocess.CompletedProcess[str]:
    """Prove *page* in a process of its own, whose warnings are errors."""
    dropped = ("OTEL_", "WAYPOST_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.docs.prove", str(page)],
        capture_output=True,
        check=False,
        cwd=directory,
        encoding="utf-8",
        env={**kept, **QUIET, "PYTHONPATH": str(ROOT)},
        timeout=150,
    )


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if page not in ELSEWHERE],
    ids=lambda page: page.relative_to(ROOT).as_posix().replace("/", "-"),
)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """STYLE section 5: every block runs; the blocks of one page share their names."""
    done = proved(page, tmp_path)
    assert done.returncode == 0, done.stderr


# The proof itself: no block may go unproved without anyone noticing.


def page_of(directory: Path, *blocks: str) -> Path:
    page = directory / "page.md"
    page.write_text("\n\nWords.\n\n".join(("# Page", *blocks)), encoding="utf-8")
    return page


@pytest.mark.parametrize(
    ("block", "said"),
    [
        pytest.param("```python\n>>> 1 + 1\n3\n```", "Expected:\n    3", id="session"),
        pytest.param("```python\n1 / 0\n```", "ZeroDivisionError", id="program"),
        pytest.param("```python\n# a.py\nx = 1\n```", "nothing below it", id="file unused"),
        pytest.param("```python\n# a.py\nx =\n```\n```console\n$ cat a.py\n```", "SyntaxError"),
        pytest.param("```console\n$ echo 1\n2\n```", "`echo 1` prints\n1\n", id="output"),
        pytest.param("```console\n$ echo 1\n```", "`echo 1` prints\n1\n", id="output not shown"),
        pytest.param("```console\n$ exit 3\n```", "ends with 3", id="exit code"),
        pytest.param("```console\nwaypost demo\n```", "consists of", id="no prompt"),
        pytest.param("```console\n$ make test\nfine\n```", "nobody checks", id="make, output"),
        pytest.param("```console\n$ make coffee\n```", "no target coffee", id="make"),
        pytest.param('```console\n$ pip install "waypost[tea]"\n```', "no extra tea", id="extra"),
        pytest.param("```json\n{'a': 1}\n```", "this is no json", id="json"),
        pytest.param("```toml\na = \n```", "this is no toml", id="toml"),
        pytest.param("```yaml\na: 1\n```", "nobody proves blocks of 'yaml'", id="language"),
        pytest.param("```\na\n```", "nobody proves blocks of ''", id="no language"),
        pytest.param("Words:\n\n    code\n", "indented block", id="indented"),
        pytest.param("```{code-block} python\n1\n```", "use a plain fence", id="directive"),
        pytest.param(":::{code} python\n1\n:::", "use a plain fence", id="colons"),
        pytest.param("```{eval-rst}\ncode::\n```", "autodoc directives alone", id="rst"),
        pytest.param("````{note}\n```python\n1 / 0\n```\n````", "ZeroDivisionError", id="nested"),
        pytest.param("> - ```python\n>   1 / 0\n>   ```", "ZeroDivisionError", id="in a list"),
    ],
)
def test_block_that_does_not_hold_is_named_with_its_line(
    tmp_path: Path, block: str, said: str
) -> None:
    """Our promise: a page cannot go wrong unnoticed, and says where it does."""
    page = page_of(tmp_path, block)
    with pytest.raises(UnprovedError) as unproved:
        prove(page, tmp_path, {})
    assert said in str(unproved.value)
    assert str(page) in str(unproved.value)


def test_blocks_of_a_page_build_on_each_other(tmp_path: Path) -> None:
    """Our promise: a page reads from top to bottom, as its reader does."""
    page = page_of(
        tmp_path,
        "```python\n# shop.py\nimport sys\n\nORDERS = sys.argv[1:]\nprint(ORDERS)\n```",
        "```console\n$ python shop.py ORD-1 \\\n  ORD-2\n['ORD-1',  ...]\n```",
        "```console\n$ cat no-file\n$ echo $?\n1\n```",
        "```python\n>>> import shop\n[...]\n```",
        "```python\norders = [*shop.ORDERS, 'ORD-3']\n```",
        "```python\n>>> orders[-1:]\n['ORD-3']\n```",
        "```console\n$ export ORDER=ORD-4\n$ echo $ORDER; echo $OTEL_TRACES_EXPORTER\nORD-4\n```",
        '```console\n$ pip install "waypost[cli,mcp]"\n$ make demo ARGS=--json\n```',
        "```toml\n# rules.toml\na = 1\n```",
        "```console\n$ cat rules.toml\n# rules.toml\na = 1\n```",
        "```text\nanything\n```",
    )
    done = proved(page, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


# The programs of the README.


def program_of_readme(marker: str) -> dict[str, Any]:
    (program,) = (block.text for block in blocks_of(README) if marker in block.text)
    names: dict[str, Any] = {}
    # setup_telemetry sets global providers, which a process can do once: left out here.
    exec(compile(program.replace("waypost.setup_telemetry(", "dict("), "README.md", "exec"), names)
    return names


async def test_readme_embeds_waypost_around_a_client_in_twelve_lines() -> None:
    """Issue: a 12-line embedding example that a test runs."""
    server = MCPServer("orders")

    @server.tool()
    def find_order(order_id: str) -> dict[str, Any]:
        """Find an order."""
        return {"ok": False, "error": "order_not_found"}

    text, next_step = await program_of_readme("enrich_client")["run"](server)
    assert '"retryable": false' in text
    assert next_step == "list_first"


def test_readme_puts_a_block_around_any_call() -> None:
    """The README's second way in."""
    call = program_of_readme("enricher.call(")["call"]
    assert call(lambda query: {"rows": [query]}, {"query": "x"}) == {"rows": ["x"]}
    failed = call(lambda query: {"ok": False, "error": "rate_limited"}, {"query": "x"})
    assert failed["retryable"] is True


def test_examples_of_the_readme_and_the_first_page_are_true() -> None:
    """Our promise: what stands in a block of text is what waypost writes, to the letter."""
    payloads, prose = (block.text for block in blocks_of(README) if block.language == "text")
    before, after = payloads.split("\n\n")
    trace_id = json.loads(after)["trace_id"]
    assert waypost.enrich_result(json.loads(before), trace_id=trace_id) == json.loads(after)
    said, _, _ = prose.partition("\n\n")
    result = {"content": [{"type": "text", "text": said}], "isError": True}
    assert waypost.enrich_result(result)["content"][0]["text"] == prose.rstrip()
    first = ROOT / "docs" / "index.md"
    before, after = (block.text for block in blocks_of(first) if block.language == "json")
    assert waypost.enrich_result(json.loads(before)) == json.loads(after)


def test_bounds_of_the_security_page_are_those_of_the_code() -> None:
    """RELIABILITY: figures that people rely on do not drift."""
    limits = waypost.Limits()
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", page, re.MULTILINE))
    assert {name: rows[name] for name in rows if name not in ("What", "---")} == {
        "read of a message": f"{MESSAGE_CHARS:,} characters, and of prose among them the first and"
        f" the last {PROSE_ENDS}",
        "text that is parsed": f"{PARSED_CHARS // 1024} KiB",
        "`next_action`": f"{_ACTION_CHARS} characters, one printable line",
        "the line under a text": f"{_LINE_CHARS} characters",
        "a span attribute or log value": f"{limits.attribute_chars:,} characters",
        "events on a span that is not the call's own": str(limits.span_events),
        "attribute sets of an instrument": f"{limits.attribute_sets:,}; "
        f"of `waypost.call.duration` {limits.duration_attribute_sets}",
        "a log line of `setup_telemetry`": f"{LINE_BYTES // 1024} KiB",
        "time spent on telemetry when the process exits": f"{EXIT_SECONDS} s",
    }


def test_readme_example_is_short() -> None:
    """Issue: 12 lines."""
    (program,) = (block.text for block in blocks_of(README) if "enrich_client" in block.text)
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
