"""Rules of the user's own in a TOML file, checked when it is loaded."""

from __future__ import annotations

from ._load import RuleFile, load_rules, read_rules

__all__ = ["RuleFile", "load_rules", "read_rules"]
