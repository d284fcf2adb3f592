"""What following a call through its retries costs, against writing its arguments down once."""

from __future__ import annotations

import json
from itertools import count

from waypost.core._guide import guide
from waypost.core._model import Failure
from waypost.core._recognize import recognize
from waypost.retries._fingerprint import fingerprint_of
from waypost.retries._tracker import Tracker
from waypost.retries.memory import MemoryAttemptStore

from ._measure import Ratio
from .failure import TYPICAL

ARGUMENTS = {
    "owner": "octo",
    "repo": "orders",
    "title": "The total is wrong when a coupon is used twice",
    "labels": ["bug", "checkout"],
    "draft": False,
    "limit": 20,
}

_KEY = b"k" * 32
_tracker = Tracker(MemoryAttemptStore(), _KEY)
_failure = recognize(TYPICAL) or Failure(TYPICAL, (TYPICAL,), None, (), "")
_guided = guide(_failure)
_runs = count()


def _working() -> object:
    call = _tracker.begin("run", "orders", "create_issue", ARGUMENTS, now=0.0)
    return _tracker.succeed(call)


def _recovering() -> object:
    """A failure and its retry, in a run of their own."""
    scope = f"run-{next(_runs)}"
    call = _tracker.begin(scope, "orders", "create_issue", ARGUMENTS, now=0.0)
    _tracker.fail(call, _failure, _guided, now=0.0)
    call = _tracker.begin(scope, "orders", "create_issue", ARGUMENTS, now=0.0)
    return _tracker.succeed(call)


def _written_down_twice() -> object:
    return json.dumps(ARGUMENTS) + json.dumps(ARGUMENTS)


RATIOS = (
    Ratio(
        question="fingerprint of arguments / json.dumps(arguments)",
        bound=2.5,
        subject=lambda: fingerprint_of(ARGUMENTS, key=_KEY),
        floor=lambda: json.dumps(ARGUMENTS),
    ),
    Ratio(
        question="following a call that works / json.dumps(arguments)",
        bound=6,
        subject=_working,
        floor=lambda: json.dumps(ARGUMENTS),
    ),
    Ratio(
        question="following a failure and its retry / json.dumps(arguments) each",
        bound=6,
        subject=_recovering,
        floor=_written_down_twice,
    ),
)
