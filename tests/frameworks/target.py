"""Where a server is."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Target(NamedTuple):
    """
    A server in a process of its own.

    Attributes:
        command: Starts it, over stdio.

        env: For that.

        url: Where it serves already, over streamable HTTP; ``None`` over stdio.

        spans: The file that it writes its spans to.
    """

    command: list[str]
    env: dict[str, str]
    url: str | None
    spans: Path
