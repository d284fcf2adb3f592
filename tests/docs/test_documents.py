"""Every block of code in the README and the docs runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(document: Path) -> list[str]:
    return BLOCK.findall(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_session_in_a_document_prints_what_it_shows(document: Path) -> None:
    """STYLE section 5: every block runs; sessions of one page share their names."""
    session = "\n".join(block for block in blocks_of(document) if block.startswith(">>>"))
    example = doctest.DocTestParser().get_doctest(session, {}, document.name, str(document), 0)
    assert example.examples
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.failures == 0


def program_of_readme(marker: str) -> dict[str, Any]:
    (program,) = (block for block in blocks_of(ROOT / "README.md") if marker in block)
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


def test_readme_example_is_short() -> None:
    """Issue: 12 lines."""
    (program,) = (block for block in blocks_of(ROOT / "README.md") if "enrich_client" in block)
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
