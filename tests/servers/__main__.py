"""Run the calls and print docs/public-servers.md; ``--write`` writes it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.servers.environments import missing
from tests.servers.page import PAGE, page_of
from tests.servers.session import run


def main() -> None:
    if lack := missing():
        raise SystemExit(lack)
    with tempfile.TemporaryDirectory() as folder:
        page = page_of(run(Path(folder)))
    if "--write" in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


main()
