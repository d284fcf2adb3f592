"""The tables of docs/accuracy.md; those of waypost alone need no other library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from docs._markdown import code, slug, table, yes_no
from waypost.core._rules import RULES

from . import _waypost
from ._peers import PEERS
from ._recognition import GROUPS, SUCCESS
from ._run import ALWAYS_NO, WAYPOST, Sheet, Trial
from ._score import Score

Part = Literal["category", "owner"]
PARTS: tuple[Part, ...] = get_args(Part)

WITH_MESSAGE = "code and message"
ALONE = "code alone"

_FIGURES = ("accuracy", "balanced", "precision", "recall", "F1", "next action")
_ROWS = {row.id for row in RULES}


def figure(value: float | None) -> str:
    """Return *value* with three decimals, and a dash where there is nothing to divide by."""
    return "-" if value is None else f"{value:.3f}"


# All contestants


def outcome(trial: Trial) -> str:
    """Everybody on one corpus, the most accurate first."""
    names = sorted(
        trial.with_message.said,
        key=lambda name: -(trial.with_message.score(name).accuracy or 0),
    )
    rows = (row for name in names for row in outcome_rows(trial, name))
    return table(("library", "given", *_FIGURES), rows)


def outcome_rows(trial: Trial, name: str) -> Iterator[tuple[str, ...]]:
    """The lines of one contestant."""
    shown = f"[{name}](#{slug(name)})" if name in {peer.name for peer in PEERS} else name
    for given, sheet in ((WITH_MESSAGE, trial.with_message), (ALONE, trial.code_alone)):
        yield (shown, given, *_figures(sheet.score(name)))


def _figures(score: Score) -> tuple[str, ...]:
    shares = (score.accuracy, score.balanced, score.precision, score.recall, score.f1)
    return (*map(figure, shares), f"{score.acts:,}")


# By owner and by category


def groups(sheet: Sheet, part: Part) -> str:
    """Each group beside the library that is best there."""
    header = (
        *(part, "codes", "retryable", "accuracy", "F1"),
        *("best other", "its accuracy", "its F1"),
    )
    names = group_names(sheet, part)
    return table(
        header,
        ((*group_cells(sheet, part, name), *_best_cells(sheet, part, name)) for name in names),
    )


def group_names(sheet: Sheet, part: Part) -> list[str]:
    return sorted({getattr(row, part) for row in sheet.rows})


def group_cells(sheet: Sheet, part: Part, name: str) -> tuple[str, ...]:
    """What is known of a group without any other library."""
    score = group_score(sheet, part, name, WAYPOST)
    return (
        *(name, f"{score.rows:,}", f"{score.retryable:,}"),
        *(figure(score.accuracy), figure(score.f1)),
    )


def group_score(sheet: Sheet, part: Part, name: str, contestant: str) -> Score:
    return sheet.score(contestant, lambda row: getattr(row, part) == name)


def best_of(scores: dict[str, Score]) -> list[str]:
    """Return who has the highest accuracy, and of those who has the highest F1."""
    rank = {name: (score.accuracy or 0, score.f1 or 0) for name, score in scores.items()}
    return [name for name in rank if rank[name] == max(rank.values())]


def other_scores(sheet: Sheet, part: Part, name: str) -> dict[str, Score]:
    """The figures of the other libraries for one group."""
    others = (other for other in sheet.said if other not in (WAYPOST, ALWAYS_NO))
    return {other: group_score(sheet, part, name, other) for other in others}


def _best_cells(sheet: Sheet, part: Part, name: str) -> tuple[str, ...]:
    scores = other_scores(sheet, part, name)
    first, *more = best = best_of(scores)
    shown = f"{first} and {len(more)} more" if more else first
    shown = "*all alike*" if len(best) == len(scores) else shown
    return shown, figure(scores[first].accuracy), figure(scores[first].f1)


def by_owner(sheet: Sheet) -> Sequence[int]:
    """Return for how many owners waypost is ahead of the best other, level with it, and behind."""
    counts = [0, 0, 0]
    for name in group_names(sheet, "owner"):
        own = group_score(sheet, "owner", name, WAYPOST).accuracy or 0
        scores = other_scores(sheet, "owner", name)
        other = scores[best_of(scores)[0]].accuracy or 0
        counts[(own <= other) + (own < other)] += 1
    return counts


# What waypost gets wrong


WRONG_COLUMNS = ("code", "owner", "label", "category", "wrong with", "rule")


def wrong_rows(trial: Trial, *, retryable: bool) -> Iterator[tuple[str, ...]]:
    """Yield the codes that are *retryable* or not, and of which waypost says the opposite."""
    both = zip(trial.with_message.said[WAYPOST], trial.code_alone.said[WAYPOST], strict=True)
    for row, (heard, alone) in zip(trial.with_message.rows, both, strict=True):
        wrongs = {
            given: _waypost.rule_of(row.code, message)
            for given, said, message in ((WITH_MESSAGE, heard, row.message), (ALONE, alone, ""))
            if row.retryable is retryable and said.retryable is not retryable
        }
        if wrongs:
            label = f"{yes_no(row.retryable)} ({row.basis})"
            given = "both" if len(wrongs) > 1 else next(iter(wrongs))
            rules = ", ".join(map(_rule, dict.fromkeys(wrongs.values())))
            yield code(row.code), row.owner, label, row.category, given, rules


def _rule(id_: str) -> str:
    anchor = slug(id_) if id_ in _ROWS else "beside-the-table"
    return f"[{code(id_)}](reference/rules.md#{anchor})"


# Recognition


def successes(seen: Counter[tuple[str, str, str]]) -> str:
    files = dict.fromkeys(file for file, _ in GROUPS)
    return table(
        ("file", "successes", "changed"),
        (
            (code(file), f"{seen[file, SUCCESS, 'all']:,}", f"{seen[file, SUCCESS, 'changed']:,}")
            for file in files
        ),
    )


def failures(seen: Counter[tuple[str, str, str]]) -> str:
    header = ("file", "what tells the failure", "failures", "missed")
    return table(
        (*header, "code", "retryable", "next step"),
        (
            (
                *(code(file), shown, f"{seen[file, told_by, 'all']:,}"),
                f"{seen[file, told_by, 'missed']:,}",
                *(_right(seen, file, told_by, what) for what in ("code", "retryable", "step")),
            )
            for (file, told_by), shown in GROUPS.items()
        ),
    )


def _right(seen: Counter[tuple[str, str, str]], file: str, told_by: str, what: str) -> str:
    right = seen[file, told_by, f"{what} right"]
    labeled = right + seen[file, told_by, f"{what} wrong"]
    return f"{right:,} of {labeled:,} right" if labeled else "-"
