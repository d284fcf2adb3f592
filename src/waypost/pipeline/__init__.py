"""Run the stages around a tool call, time it, and contain every fault."""

from __future__ import annotations

from ._call import Call
from ._enricher import Enricher

__all__ = ["Call", "Enricher"]
