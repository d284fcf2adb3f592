"""Sorting error codes and messages, against taking them apart and looking them up."""

from __future__ import annotations

import re
from itertools import cycle, product

from waypost import error_guidance
from waypost.core._classify import classify, default_rules
from waypost.core._model import Rule
from waypost.core._row import rule

from ._measure import Ratio

_SYLLABLES = ("Bar", "Ken", "Lo", "Mir", "Ta", "Vol", "Zed", "Qui", "Sto", "Nim", "Fra", "Dul")
_FORMS = (
    "{}NotFoundException", "{}LimitExceeded", "Invalid{}", "{}_throttled", "{}Unavailable",
    "{}_frobbed", "{}StateConflict", "TOO_MANY_{}",
)  # fmt: skip
# 1,728 objects that nobody has heard of, each in every form.
_CODES = [
    form.format("".join(parts).capitalize())
    for parts, form in product(product(_SYLLABLES, repeat=3), _FORMS)
]
_PIECES = "[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_unseen, _unseen_floor = cycle(_CODES), cycle(_CODES)
_many, _few = cycle(_CODES), cycle(_CODES)
"""More codes than are kept, in a circle: none is known when it comes again."""

_SEEN = "order_locked"
_TABLE = {_SEEN: error_guidance(_SEEN)}

_PROSE = "The warehouse keeps a list of what it holds, and each entry says where it lies. "
_MESSAGE = (_PROSE * 60)[: 4_096 - 40] + " The connection was reset by the server."


def _users_rule(number: int) -> Rule:
    return rule(
        f"shop.{number}",
        any_of=(f"shop {number}", f"shelf {number} is empty", f"aisle{number}*"),
        error_class="precondition",
        outcome="not_done",
        why="A rule of a user's.",
    )


_BOOK = default_rules().before(_users_rule(number) for number in range(1_000))

RATIOS = (
    Ratio(
        question="code never seen before / re.findall of its words",
        bound=8,
        subject=lambda: error_guidance(next(_unseen)),
        floor=lambda: re.findall(_PIECES, next(_unseen_floor)),
    ),
    Ratio(
        question="code never seen before, 1,000 rules of users / none",
        bound=1.2,
        subject=lambda: classify(next(_many), rules=_BOOK),
        floor=lambda: classify(next(_few)),
    ),
    Ratio(
        question="code seen before / a look-up in a dictionary",
        bound=6,
        subject=lambda: error_guidance(_SEEN),
        floor=lambda: _TABLE[_SEEN],
    ),
    Ratio(
        question="message of 4 KiB / message.lower()",
        bound=40,
        subject=lambda: classify(None, _MESSAGE),
        floor=_MESSAGE.lower,
    ),
)
