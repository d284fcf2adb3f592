"""The picture of the README shows what the demo prints now."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from docs.picture import PICTURE, masked_text_of
from tests.docs.blocks import ROOT


def test_picture_shows_what_the_demo_prints() -> None:
    """Our promise: the one picture of the README does not grow old; ids and times are masked."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    run = subprocess.run(
        [sys.executable, "-m", "docs.picture", "--check"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        env={**kept, "PYTHONIOENCODING": "utf-8"},
        timeout=90,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_picture_masks_what_differs_from_run_to_run() -> None:
    """Our promise: and nothing else, else the test above would prove little."""
    text = masked_text_of(PICTURE.read_text(encoding="utf-8"))
    assert "make demo" in text
    assert "customer_profile TOKEN_EXPIRED: Signature has unauthenticated yes Sign in again" in text
    assert "(waited #)" in text
    assert len(re.findall(r" #$", text, re.MULTILINE)) == text.count("ok, unchanged") + 5


def test_picture_loads_nothing() -> None:
    """Our promise: no font and no image of others, so that it looks the same anywhere."""
    picture = PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\"]+", picture) == ["http://www.w3.org/2000/svg"]
    assert "@" not in picture
    assert all(link.startswith("#") for link in re.findall(r"url\(([^)]+)\)", picture))
