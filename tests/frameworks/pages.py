"""Which pages of docs/integrations are proved beside which framework."""

from __future__ import annotations

from tests.programs import ROOT

PAGES = {
    name: (ROOT / f"docs/integrations/{name}.md",)
    for name in ("fastmcp", "langchain", "openai-agents", "pydantic-ai")
}
"""By the name of the framework in requirements/frameworks; the others need the SDK alone."""
