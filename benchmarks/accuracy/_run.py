"""One run: everybody answers the same rows, once with the message and once without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

from . import _peers, _waypost
from ._corpora import CORPORA, Corpus, Row, rows_of
from ._peers import PEERS, Peer
from ._score import NO, Said, Score, score_of

WAYPOST = "waypost"
ALWAYS_NO = '*always "no"*'


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What everybody *said* about some *rows*, by name and in the order of the rows."""

    rows: Sequence[Row]
    said: Mapping[str, Sequence[Said]]

    def score(self, name: str, wanted: Callable[[Row], bool] = lambda _: True) -> Score:
        """Return the figures of *name* on the rows that are *wanted*."""
        pairs = zip(self.rows, self.said[name], strict=True)
        return score_of((row.retryable, said) for row, said in pairs if wanted(row))

    def score_as_written(self, name: str) -> Score:
        """Return the figures of *name* had it got the codes without our reading of them."""
        pairs = zip(self.rows, self.said[name], strict=True)
        return score_of((row.retryable, Said(retryable=said.as_written)) for row, said in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One corpus, with the code and the message, and with the code alone."""

    corpus: Corpus
    with_message: Sheet
    code_alone: Sheet


def run(peers: Sequence[Peer] = PEERS, corpora: Sequence[Corpus] = CORPORA) -> tuple[Trial, ...]:
    """
    Ask everybody about every row.

    Raises:
        PeerError: One did not answer every row.
    """
    rows = tuple(chain.from_iterable(map(rows_of, corpora)))
    questions = [(row.code, row.message) for row in rows] + [(row.code, "") for row in rows]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        answers = threads.map(partial(_peers.ask, questions=questions), peers)
        said: dict[str, Sequence[Said]] = {
            WAYPOST: _waypost.ask(questions),
            **dict(zip((peer.name for peer in peers), answers, strict=True)),
            ALWAYS_NO: [NO] * len(questions),
        }
    trials, start = [], 0
    for corpus in corpora:
        end = start + len(rows_of(corpus))
        with_message = _sheet(rows, said, slice(start, end))
        alone = _sheet(rows, said, slice(start, end), after=len(rows))
        trials.append(Trial(corpus=corpus, with_message=with_message, code_alone=alone))
        start = end
    return tuple(trials)


def _sheet(
    rows: Sequence[Row], said: Mapping[str, Sequence[Said]], part: slice, *, after: int = 0
) -> Sheet:
    shifted = slice(part.start + after, part.stop + after)
    return Sheet(rows=rows[part], said={name: answers[shifted] for name, answers in said.items()})


def joined(sheets: Iterable[Sheet]) -> Sheet:
    """Return one sheet of all rows, in the order of *sheets*."""
    given = tuple(sheets)
    return Sheet(
        rows=[row for sheet in given for row in sheet.rows],
        said={
            name: [said for sheet in given for said in sheet.said[name]] for name in given[0].said
        },
    )
