"""Measure every ratio and print the table: ``make bench``. Exit code 1 if one is past its bound."""

from __future__ import annotations

import argparse
import sys

from . import codes, failure, host, lines, retries, success
from ._measure import Ratio, Whole, measure

RATIOS: tuple[Ratio | Whole, ...] = (
    *success.RATIOS,
    *failure.RATIOS,
    *codes.RATIOS,
    *host.RATIOS,
    *retries.RATIOS,
    *lines.RATIOS,
)


def main() -> int:
    """Print one line a ratio, as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks")
    parser.add_argument("words", nargs="*", help="measure only questions that hold one of these")
    parser.add_argument("--only", metavar="QUESTION", help="measure this question alone")
    options = parser.parse_args()
    chosen = [ratio for ratio in RATIOS if _wanted(ratio.question, options.only, options.words)]
    past = 0
    print(f"{'':62}{'waypost':>14}{'floor':>14}{'ratio':>8}{'bound':>8}")
    for question in chosen:
        seen = measure(question)
        over = seen.ratio > question.bound
        past += over
        remark = "  past its bound" if over else ""
        print(
            f"{question.question:62}{seen.subject:>11,.0f} {seen.unit:2}{seen.floor:>11,.0f} "
            f"{seen.unit:2}{seen.ratio:>8.2f}{question.bound:>8.3g}{remark}",
            flush=True,
        )
    return min(past, 1)


def _wanted(question: str, only: str | None, words: list[str]) -> bool:
    if only is not None:
        return question == only
    return not words or any(word in question for word in words)


if __name__ == "__main__":
    sys.exit(main())
