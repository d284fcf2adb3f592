"""The command line, ``waypost``: parse, call, print. It holds no logic of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["main"]

_CLI = '"waypost[cli]"'
_WANTED = {"mcp": f'{_CLI} "mcp>=2"', "packaging": _CLI, "rich": _CLI, "typer": _CLI}


def main() -> None:
    """Run the command line; exit code 2 if what it needs is not installed."""
    if sys.stderr is None:  # closed by whoever started us: what is for it must not go elsewhere
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 -- stays open
    try:
        from ._app import app  # noqa: PLC0415 -- typer and rich are an extra

        app()
    except ImportError as missing:  # of the SDK, too, which only the demo loads
        name = (missing.name or "").partition(".")[0]
        if name not in _WANTED:
            raise
        print(
            f"waypost: {name} is not installed, or too old. Run: pip install -U {_WANTED[name]}",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:  # while modules load; later the commands see to it themselves
        sys.exit(130)
