"""Kinds of successes that talk about errors; each was once taken for a failure."""

from __future__ import annotations

from typing import Any

import pytest

import waypost

LOOKALIKES: dict[str, Any] = {
    "findings beside ok: false": {"ok": False, "findings": [{"message": "x"}], "checked": 3},
    "lint report": {"ok": False, "errors": [{"line": 1, "message": "x"}], "warnings": []},
    "diagnostics": {"success": False, "diagnostics": [{"severity": "error", "message": "x"}]},
    "violations": {"success": False, "violations": [{"rule": "x", "message": "bad"}], "score": 3},
    "verdict with errors": {
        "ok": False,
        "isValid": False,
        "errors": [{"path": "a", "message": "b"}],
    },
    "test run": {"success": False, "testResults": [{"status": "failed", "message": "x"}]},
    "standard errors": {"coef": [1.0], "error": [0.1, 0.2]},
    "measurement": {"value": 9.81, "error": "0.02", "unit": "m/s2"},
    "tolerance": {"value": 3, "error": "±0.2"},
    "errors counted": {"errors": {"500": 12, "404": 3}, "period": "24h"},
    "error rate": {"errors": {"count": 3, "rate": 0.1}, "requests": 30},
    "page of errors": {"errors": [{"id": 1, "message": "TypeError", "count": 3}], "page": 1},
    "errors listed": {"errors": [{"timestamp": "2026", "message": "boom", "level": "error"}]},
    "bulk": {"successCount": 8, "failureCount": 2, "errors": [{"message": "x"}]},
    "log line": {"timestamp": "2026", "level": "error", "error": "reset by peer", "message": "x"},
    "pino": {"level": 50, "time": 1, "pid": 7, "err": {"message": "boom"}, "msg": "request failed"},
    "log line alone": [{"timestamp": "2026", "level": "error", "error": "connection reset"}],
    "row alone": [{"error_code": "500", "n": 12}],
    "request alone": [{"method": "GET", "status": 404, "path": "/x", "message": "Not Found"}],
    "task alone": [{"task": "deploy", "status": "failed", "message": "timeout"}],
    "workflow": {"workflowId": "7", "status": "failed", "error": {"message": "x"}},
    "job under way": {"jobId": "7", "status": "error", "error": "disk full", "progress": 40},
    "execution": {"executionArn": "a", "status": "FAILED", "error": "States.TaskFailed"},
    "audit record": {"EventName": "PutObject", "errorCode": "AccessDenied", "EventTime": "2026"},
    "page fetched": {"status_code": 404, "headers": {"content-type": "text/html"}, "body": "<h1>"},
    "mock": {"method": "GET", "path": "/x", "status": 404, "body": {"error": "not found"}},
    "release": {"status": "failed", "description": "Upgrade failed", "name": "r", "revision": 3},
    "unit": {"unit": "nginx.service", "status": "failed", "description": "nginx web server"},
    "order": {"order": "A1", "status": "failed", "reason": "card declined", "total": 12},
    "asked and answered": {"success": True, "status": "failed", "error": "x", "data": []},
    "translation": {"error": "Fehler", "success": "Erfolg", "cancel": "Abbrechen"},
    "palette": {"error": {"main": "#f00"}, "primary": {"main": "#00f"}},
    "setting": {"error_reporting": True, "errors": "log", "log_level": "error"},
    "port closed": {"host": "x", "port": 22, "open": False, "error": "Connection refused"},
    "host down": {"host": "x", "reachable": False, "error": "timeout"},
    "policy asked": {"allowed": False, "ok": False, "reason": "denied by policy"},
    "question of MCP": {"error": {"code": -32042, "message": "URL elicitation required"}},
}

FAILURES: dict[str, Any] = {
    "flag and reason": {"success": False, "reason": "insufficient funds"},
    "flag and data": {"success": False, "data": {"code": 403, "message": "Forbidden"}},
    "Cloudflare": {"success": False, "errors": [{"code": 1000, "message": "x"}], "messages": []},
    "ids of the arguments": {"status": "error", "error_code": "LOCKED", "order_id": "7"},
    "Spring": {"timestamp": "2026", "status": 404, "error": "Not Found", "path": "/x"},
    "Salesforce": [{"message": "No such column", "errorCode": "INVALID_FIELD", "fields": ["x"]}],
    "GraphQL": {"errors": [{"message": "x", "path": ["me"], "locations": [{"line": 1}]}]},
    "fields": {"status_code": 400, "ssn": {"detail": "not supported", "summary": "x"}},
    "Slack": {"ok": False, "error": "invalid_auth", "warning": "missing_charset"},
}


@pytest.mark.parametrize("success", LOOKALIKES.values(), ids=LOOKALIKES)
def test_what_talks_about_errors_is_left_alone(success: object) -> None:
    """DESIGN section 2, not failures: rows, logs, jobs, checks, verdicts, reports."""
    assert waypost.enrich_result(success) is success
    assert waypost.guidance_of(success) is None


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_what_looks_alike_and_failed_is_still_found(failure: object) -> None:
    """DESIGN section 2: the second worst fault is to miss a failure."""
    assert waypost.guidance_of(failure) is not None


def test_row_is_a_row_however_many_there_are() -> None:
    """DESIGN section 2, rows: guidance must not depend on how many rows a query finds."""
    row = {"error_code": "500", "n": 12}
    assert waypost.guidance_of([row]) is None
    assert waypost.guidance_of([row, row]) is None
