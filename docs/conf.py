"""Sphinx's settings: ``make docs`` builds the documentation into build/docs, without a network."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import waypost
from waypost.telemetry import Telemetry

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "waypost"
author = "The waypost authors"
version = release = waypost.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

# A reference that leads nowhere is an error; `make docs` makes every warning one.
nitpicky = True
default_role = "py:obj"  # in docstrings, `Enricher` is a link
nitpick_ignore_regex = [
    ("py:class", r"(collections|contextlib|opentelemetry|os)\..*"),  # has documentation of its own
    ("py:class", r"(waypost\..*\.)?(P|R|T|ClientT|ServerT|Correlation)"),  # says what its name does
    ("py:class", r"(agents|pydantic_ai)\..*"),
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
# Their integrations are imported for what they say of themselves; they want other versions of MCP.
autodoc_mock_imports = [
    "agents", "fastmcp", "langchain_core", "langchain_mcp_adapters", "pydantic_ai",
]  # fmt: skip
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the signature has them
python_maximum_signature_line_length = 80

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"waypost {version}"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5d6b", "color-brand-content": "#0b5d6b"},
    "dark_css_variables": {"color-brand-primary": "#6fd0de", "color-brand-content": "#6fd0de"},
}
pygments_style = "sphinx"
pygments_dark_style = "monokai"

_MADE_BY_WAYPOST = (
    waypost.AttemptStore,
    waypost.Call,
    waypost.Observer,
    waypost.Scope,
    Telemetry,
)


def setup(app: Sphinx) -> None:
    """Show no arguments of classes that nobody calls: closed sets, protocols, what we hand out."""

    def without_arguments(
        _app: Sphinx, _what: str, _name: str, subject: object, *_: object
    ) -> tuple[str, str] | None:
        closed = isinstance(subject, type) and issubclass(subject, Enum)
        return ("", "") if closed or subject in _MADE_BY_WAYPOST else None

    app.connect("autodoc-process-signature", without_arguments)
