"""What waypost itself says about a code, and which rule decided."""

from __future__ import annotations

from collections.abc import Sequence

import waypost
from waypost.core._guide import guide
from waypost.core._model import Failure

from ._score import Said


def ask(questions: Sequence[tuple[str, str]]) -> tuple[Said, ...]:
    """Return what waypost says about each code and message, through its public function."""
    answers = (waypost.error_guidance(code, message) for code, message in questions)
    return tuple(
        Said(retryable=retryable, acts=action is not None, as_written=retryable)
        for retryable, action in answers
    )


def rule_of(code: str, message: str) -> str:
    """Return the id of the row that decided."""
    return guide(Failure({}, (), code, (), message)).advice.rule
