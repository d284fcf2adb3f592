"""The picture of docs/accuracy.md: F1 of everybody on each corpus, drawn from what a run saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ._corpora import ROOT
from ._peers import PEERS
from ._run import WAYPOST, Trial

IMAGE = ROOT / "docs" / "images" / "accuracy.svg"

_WIDTH, _LABELS, _VALUES = 760, 190, 60
_BAR, _GAP, _HEAD = 12, 14, 34
_INK = "#808080"  # readable on white and on black
_COLORS = ("#4c8bf5", "#e8912d", "#5cb270")


def chart_of(trials: Sequence[Trial]) -> str:
    """Return the SVG: a group of bars for each library, the best one first."""
    scores = {
        name: [trial.with_message.score(name).f1 or 0 for trial in trials]
        for name in (WAYPOST, *(peer.name for peer in PEERS))
    }
    names = sorted(scores, key=lambda name: -scores[name][0])
    height = _HEAD + len(names) * (_BAR * len(trials) + _GAP)
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
                'font-family="system-ui, sans-serif" font-size="13">'
            ),
            "<title>F1 on retryable, with the message, by library and corpus</title>",
            *_legend(trials),
            *(line for at, name in enumerate(names) for line in _group(at, name, scores[name])),
            "</svg>\n",
        )
    )


def _legend(trials: Sequence[Trial]) -> Iterator[str]:
    x = _LABELS
    for trial, color in zip(trials, _COLORS, strict=False):
        stem = trial.corpus.file.removesuffix(".jsonl")
        text = f"{stem}: {len(trial.with_message.rows):,} codes"
        yield f'<rect x="{x}" y="6" width="12" height="12" rx="2" fill="{color}"/>'
        yield f'<text x="{x + 18}" y="16" fill="{_INK}">{escape(text)}</text>'
        x += 190


def _group(at: int, name: str, values: Sequence[float]) -> Iterator[str]:
    top = _HEAD + at * (_BAR * len(values) + _GAP)
    weight = ' font-weight="bold"' if name == WAYPOST else ""
    middle = top + _BAR * len(values) / 2 + 4
    yield (
        f'<text x="{_LABELS - 10}" y="{middle:g}" text-anchor="end" fill="{_INK}"{weight}>'
        f"{escape(name)}</text>"
    )
    for row, (value, color) in enumerate(zip(values, _COLORS, strict=False)):
        y, width = top + row * _BAR, value * (_WIDTH - _LABELS - _VALUES)
        yield (
            f'<rect x="{_LABELS}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" rx="2" '
            f'fill="{color}"/>'
        )
        yield (
            f'<text x="{_LABELS + width + 6:.1f}" y="{y + 9}" fill="{_INK}" font-size="11">'
            f"{value:.3f}</text>"
        )
