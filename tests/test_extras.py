"""A framework that is missing is told by the name of the extra that brings it."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import requires

import pytest

from waypost import WaypostError

EXTRAS = {
    "fastmcp": ("fastmcp", "fastmcp"),
    "instrumentor": ("instrument", "opentelemetry.instrumentation"),
    "langchain": ("langchain", "langchain_core"),
    "mcp": ("mcp", "mcp"),
    "openai_agents": ("openai-agents", "agents"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai"),
}


@pytest.mark.parametrize("module", EXTRAS)
def test_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6, done when: each missing extra gives an error that names it."""
    extra, package = EXTRAS[module]
    for loaded in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    for name in (package, "mcp"):  # some stand on the SDK, too; which comes first does not matter
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"waypost.integrations.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module(f"waypost.integrations.{module}")
    assert isinstance(caught.value, WaypostError)
    assert f'pip install -U "waypost[{extra}]"' in str(caught.value)
    assert str(caught.value).startswith(f"{caught.value.name} is not installed")
    assert any(f"extra == '{extra}'" in line for line in requires("waypost") or ())
