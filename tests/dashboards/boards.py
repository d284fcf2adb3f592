"""What is asked of the stores, read from the generated files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from dashboards.build import GENERATED

__all__ = ["Panel", "alerts", "boards", "filled", "panels"]

_VALUES = {
    "side": "host",
    "service": ".+",
    "tool": ".+",
    "class": ".+",
    "__range": "1h",
    "__rate_interval": "4m",
    "__auto": "1m",
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
    "chain_id": "0af7651916cd43dd",
}


class Panel(NamedTuple):
    """
    A panel with what it asks.

    Attributes:
        queries: The kind of the data source, and the query as it is written.
    """

    board: str
    raw: dict[str, Any]
    queries: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.board}: {self.raw['title']}"


def boards() -> list[dict[str, Any]]:
    """The dashboards."""
    files = sorted((GENERATED / "grafana").glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def panels() -> list[Panel]:
    """The panels of all dashboards."""
    return [
        Panel(board["uid"], panel, tuple(_queries(panel)))
        for board in boards()
        for panel in board["panels"]
    ]


def _queries(panel: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for target in panel.get("targets", ()):
        yield target["datasource"]["type"], target.get("expr") or target["query"]


def alerts() -> list[dict[str, Any]]:
    """The alerts, as Prometheus reads them."""
    file = GENERATED / "prometheus/waypost-alerts.yml"
    (group,) = yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def filled(query: str) -> str:
    """A query as Grafana asks it, with everything chosen."""
    return re.sub(r"\$(\w+)", lambda found: _VALUES[found[1]], query)
