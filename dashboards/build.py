"""
Write the dashboards and alerts, or check that what is committed is what the code says.

``python -m dashboards.build`` writes ``dashboards/generated``; ``--check`` writes nothing, and ends
with 1 if a file is another.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from . import call, health, overview, retries, tool
from .alerts._write import for_grafana, for_prometheus

__all__ = ["GENERATED", "files", "main"]

GENERATED = Path(__file__).parent / "generated"
_BOARDS = (overview, tool, retries, call, health)
_NOTICE = "# Written by `make dashboards` from dashboards/alerts. Edit that.\n"


def files() -> dict[str, str]:
    """Return what ``generated`` holds: paths in it, and contents."""
    contents = {}
    for module in _BOARDS:
        board = _as_grafana_reads_it(module.dashboard().build())
        contents[f"grafana/{board['uid']}.json"] = json.dumps(board, indent=2) + "\n"
    contents["prometheus/waypost-alerts.yml"] = _yaml(for_prometheus())
    contents["grafana-alerting/waypost-alerts.yml"] = _yaml(for_grafana())
    return contents


def _as_grafana_reads_it(built: object) -> dict[str, Any]:
    """The model as JSON, with what the SDK leaves out or gets wrong."""
    board: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(built))
    board["annotations"] = {"list": []}
    board["editable"] = False
    for at, panel in enumerate(board["panels"], start=1):
        panel["id"] = at
    for variable in board["templating"]["list"]:
        for name in ("auto", "auto_count", "auto_min"):  # of variables of another kind
            variable.pop(name, None)
        if variable["type"] == "query":
            variable["query"] = {"query": variable["query"], "refId": variable["name"]}
    for link in board.get("links", ()):
        link.setdefault("icon", "external link")
        link.setdefault("targetBlank", False)
    return board


def _yaml(content: dict[str, object]) -> str:
    return _NOTICE + yaml.safe_dump(content, sort_keys=False, width=120, allow_unicode=True)


def main() -> int:
    """Write or check; the exit code says whether all is as it should be."""
    parser = argparse.ArgumentParser(description="Write dashboards/generated from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 on drift")
    check: bool = parser.parse_args().check
    drifted = []
    for name, content in files().items():
        path = GENERATED / name
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        drifted.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            print(f"wrote {path.relative_to(GENERATED.parents[1])}")
    stale = [
        path for path in GENERATED.rglob("*.*") if str(path.relative_to(GENERATED)) not in files()
    ]
    if check and (drifted or stale):
        names = ", ".join([*drifted, *(str(path.relative_to(GENERATED)) for path in stale)])
        print(f"dashboards/generated drifted: {names}. Run `make dashboards`.", file=sys.stderr)
        return 1
    for path in stale:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
