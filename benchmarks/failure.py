"""Enriching a failure with the pure functions, against writing the same payload as JSON."""

from __future__ import annotations

import json
from itertools import count

from waypost import enrich_result

from ._measure import Ratio

SHORT = {"ok": False, "error": "order_not_found"}
TYPICAL = {
    "status": "error",
    "error_code": "RATE_LIMITED",
    "message": "Too many requests, try again in 20 seconds.",
    "details": {"limit": 100, "window_seconds": 60},
    "request_id": "req-4f1",
}
NESTED = {
    "error": {
        "code": 503,
        "message": "The service is currently unavailable.",
        "status": "UNAVAILABLE",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"}],
    }
}

_numbers = count()


def _new_words() -> dict[str, object]:
    """The typical failure with a message that nobody has seen before."""
    return {
        **TYPICAL,
        "message": f"Request {next(_numbers)}: too many requests, try again in 20 s.",
    }


_HARDER = 8
"""Bound for a failure that is nested, or says what was never heard: more to read and to sort."""

RATIOS = (
    Ratio(
        question="typical failure / json.dumps(payload)",
        bound=6,
        subject=lambda: enrich_result(TYPICAL),
        floor=lambda: json.dumps(TYPICAL),
    ),
    Ratio(
        question="typical failure in new words / json.dumps(payload)",
        bound=_HARDER,
        subject=lambda: enrich_result(_new_words()),
        floor=lambda: json.dumps(_new_words()),
    ),
    Ratio(
        question="shortest failure / json.dumps(payload)",
        bound=6,
        subject=lambda: enrich_result(SHORT),
        floor=lambda: json.dumps(SHORT),
    ),
    Ratio(
        question="nested failure / json.dumps(payload)",
        bound=_HARDER,
        subject=lambda: enrich_result(NESTED),
        floor=lambda: json.dumps(NESTED),
    ),
)
