"""
The ordered table of rules: data, no logic. The first row that matches decides.

Order: what only looks like a sign-in, sign-ins, verdicts that a name states outright, what waiting
cures, what it does not cure. The rows stand in `_sign_in`, `_verdicts`, `_passing` and `_lasting`.
"""

from __future__ import annotations

from ._lasting import LASTING
from ._model import ErrorClass, NextStep, Outcome, Rule
from ._passing import PASSING
from ._row import rule
from ._sign_in import LOOKALIKES, SIGN_IN_PHRASES, SIGN_IN_RULES
from ._verdicts import VERDICTS

__all__ = ["RULES", "SIGN_IN_PHRASES", "UNKNOWN_RULE", "rule"]

RULES: tuple[Rule, ...] = (*LOOKALIKES, *SIGN_IN_RULES, *VERDICTS, *PASSING, *LASTING)

UNKNOWN_RULE = Rule(
    id="unknown",
    error_class=ErrorClass.UNKNOWN,
    retryable=False,
    step=NextStep.NONE,
    outcome=Outcome.UNKNOWN,
    action=None,
    why="No row matches: waypost does not guess.",
)
"""What is said when nothing is known; not in the table, and the only row without a sentence."""
