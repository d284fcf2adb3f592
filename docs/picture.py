"""
Draw the picture of the README: what ``make demo`` prints, as far as a picture may be long.

``make picture`` draws it anew. With ``--check`` the demo runs, too, and its table must be the one
in the picture; waits and trace ids differ from run to run, and are not compared.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

from rich.console import Console

from waypost.cli.demo._seen import Served
from waypost.cli.demo._table import table_of_calls
from waypost.cli.demo.host import DemoError, report_of_run

__all__ = ["PICTURE", "main", "masked_text_of"]

PICTURE = Path(__file__).parent / "images" / "demo.svg"

_WIDTH = 126
_TITLE = "make demo"
_SHOWN = {
    "Convert the prices of three orders to dollars.": slice(2, None),
    "Who is customer C-7?": slice(None),
    "Print the label of ORD-1002.": slice(None),
    "Charge 59.80 EUR for ORD-1002.": slice(None),
    "Where is my order?": slice(None),
}
"""Requests of the demo, one for each way in which a call goes on, and which of their calls."""

# Rich's own format names fonts on the web; a README loads nothing.
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" role="img" \
aria-label="The table that make demo prints: failed tool calls with class, retryable, next action \
and trace" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
    font-size: {char_height}px;
    line-height: {line_height}px;
    font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

_CHANGING = re.compile(r"\b[0-9a-f]{8}\b|\b\d+(\.\d)? s\b")


def main() -> int:
    """Draw the picture, or check it; exit code 1 if it shows something else, 2 without a demo."""
    parser = argparse.ArgumentParser(
        description="Draw the picture of the README.", prog="python -m docs.picture"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    check = parser.parse_args().check
    try:
        served = report_of_run(sys.stderr).served
    except DemoError as exc:
        print(f"docs/picture.py: {exc}", file=sys.stderr)
        return 2
    drawn = _drawn(served)
    if not check:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(drawn, encoding="utf-8")
        return 0
    now, then = masked_text_of(drawn), masked_text_of(PICTURE.read_text(encoding="utf-8"))
    if now != then:
        print(f"{now}\nis not what the picture shows: run `make picture`.", file=sys.stderr)
    return int(now != then)


def _drawn(served: tuple[Served, ...]) -> str:
    shown = tuple(
        Served(step=each.step, calls=each.calls[_SHOWN[each.step.request]], ending=each.ending)
        for each in served
        if each.step.request in _SHOWN
    )
    console = Console(
        color_system="truecolor",
        file=io.StringIO(),
        force_terminal=True,
        legacy_windows=False,
        record=True,
        width=_WIDTH,
    )
    console.print(table_of_calls(_WIDTH, shown))
    return console.export_svg(title=_TITLE, code_format=_FORMAT, unique_id="demo")


def masked_text_of(picture: str) -> str:
    """Return the lines of text in an SVG picture, ``#`` for what differs from run to run."""
    lines: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for text in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text"):  # noqa: S314 -- ours
        place = float(text.get("y", 0)), float(text.get("x", 0))
        lines[place[0]].append((place[1], "".join(text.itertext()).replace("\u00a0", " ")))
    joined = (" ".join(word for _, word in sorted(lines[y])) for y in sorted(lines))
    return "\n".join(_CHANGING.sub("#", " ".join(line.split())) for line in joined)


if __name__ == "__main__":
    sys.exit(main())
