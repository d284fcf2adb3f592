"""Score waypost and its peers, and compare docs/accuracy.md with that; ``--write`` writes it."""

from __future__ import annotations

import argparse
import sys

from . import _peers, _recognition, _tables
from ._chart import IMAGE, chart_of
from ._page import PAGE, page_of
from ._run import run


def main() -> int:
    """Print the tables of the outcome; exit code 1 if the page is not what the run saw."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.accuracy")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md")
    write = parser.parse_args().write
    if lack := _peers.missing():
        return _fail(lack)
    try:
        trials = run()
    except _peers.PeerError as error:
        return _fail(str(error))
    made = {
        PAGE: page_of(trials, _recognition.count(_recognition.cases())),
        IMAGE: chart_of(trials),
    }
    for trial in trials:
        print(f"{trial.corpus.file}\n{_tables.outcome(trial)}")
    for path, text in made.items():
        if write:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            return _fail(f"docs/{path.name} is not what this run saw: run `make accuracy`.")
    return 0


def _fail(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
