"""Files of rules, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from waypost import ErrorClass, RuleError, load_rules

RULE = """[[rules]]
id = "shop.closed"
any_of = ["shop closed"]
error_class = "unavailable"
outcome = "not_done"
why = "Shops close at night."
"""
SECOND = """
[[rules]]
id = "order.slow"
any_of = ["order slow*"]
error_class = "timeout"
outcome = "unknown"
why = "Orders may take minutes."
place = "after"
"""

PATTERN = (
    "is no sequence of words: write lower-case words of a-z and 0-9 with one space between, with *"
    " only at the start or end of a word that has 3 characters or more beside it."
)
CLASSES = f"which does not exist: use one of {', '.join(ErrorClass)}."


def written(directory: Path, *parts: str) -> Path:
    path = directory / "rules.toml"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def told(path: Path) -> list[str]:
    """What is told of a file, line by line, without its directory."""
    with pytest.raises(RuleError) as caught:
        load_rules(path)
    return [line.removeprefix(f"{path.parent}/") for line in str(caught.value).split("\n")]
