"""How the tests start ``waypost enrich``, and what they feed it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from waypost.guidance import enrich_result

WAYPOST = [sys.executable, "-W", "error", "-c", "from waypost.cli import main; main()"]

SUCCESS = '{"status": "success",  "data": {"order": 7}}'
FAILURE = '{"ok": false, "error": "order_not_found"}'
UNKNOWN = '{"status": "error", "error_code": "FLUX_CAPACITOR", "message": "88 mph"}'
PLAIN = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
LONG = "x" * (16 * 1024 * 1024 + 1)


def enriched(line: str) -> str:
    return json.dumps(enrich_result(json.loads(line)))


def run(
    *arguments: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    done = subprocess.run(
        [*WAYPOST, "enrich", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**PLAIN, "COLUMNS": "100", **(env or {})},
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def lines_of(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
