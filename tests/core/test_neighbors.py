"""Successes next to the shapes of failures, and failures of widespread conventions."""

from __future__ import annotations

import json
from typing import Any

import pytest

import waypost

SUCCESSES: dict[str, Any] = {
    # acknowledgements that carry the names of errors
    "WeChat": {"errcode": 0, "errmsg": "ok"},
    "WeChat with more": {"errcode": 0, "errmsg": "ok", "request_id": "r-1"},
    "Baidu": {"errno": 0, "errmsg": "success"},
    "bank": {"errorCode": "0000", "errorMessage": "OK"},
    "approved": {"errorCode": "00", "errorDescription": "Approved"},
    "named success": {"ErrorCode": 0, "ErrorMessage": "Success", "Status": "OK"},
    "no error": {"error_message": "none"},
    "TikTok": {"error": {"code": "ok", "message": "", "log_id": "x"}},
    "error of code 0": {"error": {"code": 0, "message": "ok"}},
    "error without content": {"error": {"message": ""}},
    "errors without content": {"errors": {"critical": [], "minor": []}},
    # lines of consoles and compilers
    "console line": [{"type": "error", "message": "Failed to load resource: 404"}],
    "diagnostic": {"type": "error", "code": "TS2322", "message": "Type 'a' is no type."},
    # what was done in part, or is reported on
    "import with errors": {"id": "i-1", "status": "completed", "hasErrors": True, "message": "2"},
    "rows with errors": {"has_errors": True, "results": [{"id": 1}], "message": "1 of 2 failed"},
    "contact with errors": {"ContactID": "c", "Name": "ABC", "HasErrors": True, "Description": "x"},
    "flag alone": {"hasErrors": True},
    "delivery": {"delivery_id": "d", "webhook_id": "w", "status_code": 500, "error_code": "UP"},
    "check": {"check_id": "c", "status_code": 503, "error_type": "http", "latency_ms": 12},
    "endpoint": {"endpoint_id": "e", "status_code": 503, "error_type": "x", "checked_at": "2026"},
    "transaction": {"transaction_id": "t", "status_code": 402, "error_code": "declined"},
    # objects that stand alone
    "configuration": {"error_page": {"code": 404, "message": "Page not found"}},
    "last error": {"last_error": {"code": 502, "message": "Bad gateway"}},
    "address": {"https://a.example/x": {"code": 404, "message": "Not Found"}},
    "number as key": {1: {"code": 404, "message": "x"}},
    "device": {"status": {"error_code": "E42", "battery": 80, "mode": "idle"}},
    "pod": {"status": {"phase": "Failed", "errorCode": "X", "replicas": 3}},
    "front matter": {"meta": {"status": 404, "title": "Page not found"}},
    "run": {"detail": {"name": "nightly", "state": "FAILED", "error_code": "E1"}},
    "counted": {"errorDetails": {"errorCode": "E1", "occurrences": 3}},
    # unfinished and finished work that says when to come back
    "processing": {"code": "PROCESSING", "message": "The report is made.", "retry_after": 30},
    "created": {"code": "CREATED", "message": "Order created", "retryable": False},
    "lint rule": {"code": "L01", "message": "x", "retryable": False, "line": 3, "file": "a.py"},
    # rows of catalogs
    "account": {"code": "400", "name": "Advertising", "description": "Expenses for ads"},
    "aircraft": {"code": "500", "name": "Boeing 737 MAX"},
    "bolt": {"product": "Bolt", "code": 404, "detail": "Steel, 5 mm"},
    "ticket": {"id": "inc-1", "status": 500, "title": "Checkout fails", "detail": "x"},
    "broken link": {"id": "r1", "status": "404", "title": "Broken link", "source": "/index.html"},
    "crawled": {"final_url": "https://a.example", "status_code": 404, "title": "x"},
    # words of errors that name states, counts and troubles of things
    "SNMP": {"errorStatus": "noError", "errorIndex": 0, "varBinds": [["1.3", 5]]},
    "printer": {"printer": "p", "errorStatus": "paper_out"},
    "car": {"fault_code": "P0420", "vehicle": "v"},
    "parcel": {"tracking": "1Z", "exception_code": "X1", "description": "Weather delay"},
    "counts": {"error_num": 2, "success_num": 8},
    # summaries
    "summary": {"error_summary": "12 errors in the last hour", "time_range": "1h"},
    "messages counted": {"error_count": 3, "error_messages": ["a", "b"]},
    "rate": {"error_rate": 0.02, "error_details": [{"path": "/x", "n": 3}]},
    "tracker": {"error_id": "E-12", "status": "resolved", "type": "bug"},
    "webhook": {"event": "payment.failed", "data": {"error": {"code": "x", "message": "y"}}},
}

FAILURES: dict[str, Any] = {
    "FastAPI 422": {"detail": [{"loc": ["body", "x"], "msg": "field required", "type": "missing"}]},
    "FastAPI detail": {"detail": {"code": "not_found", "message": "No such order."}},
    "NestJS": {"statusCode": 400, "message": ["x must be a string"]},
    "Jira": {"status": 404, "errorMessages": ["No such issue"], "errors": {}},
    "old Jira": {"errorMessages": ["No such issue"], "warningMessages": []},
    "Google Maps": {"status": "REQUEST_DENIED", "error_message": "No key.", "results": []},
    "WordPress": {"code": "rest_no_route", "message": "No route.", "data": {"status": 404}},
    "flag as text": {"success": "false", "error": "Invalid key"},
    "gRPC gateway": {"code": 5, "message": "No such order.", "details": []},
    "Ably": {"message": "x", "code": 42900, "statusCode": 429, "href": "https://help.example/e"},
    "OData": {"odata.error": {"code": "x", "message": {"value": "y"}}},
    "SOAP": {"Fault": {"faultcode": "soap:Server", "faultstring": "It broke."}},
    "AWS query": {"ErrorResponse": {"Error": {"Code": "Throttling", "Message": "Slow down."}}},
    "empty state beside an id": {"session_id": "s", "output": "", "error": "Sandbox crashed"},
    "id of an argument": {"user_id": "7", "logs": [], "error_code": "USER_NOT_FOUND"},
    "flag that denies errors": {"hasErrors": False, "error": "boom"},
    "flag that denies, and a status": {"hasErrors": False, "status": 500, "message": "boom"},
    "WeChat": {"errcode": 40001, "errmsg": "invalid credential"},
    "SOAP text": {"faultcode": "soap:Server", "faultstring": "It broke."},
}


@pytest.mark.parametrize("success", SUCCESSES.values(), ids=SUCCESSES)
def test_success_beside_a_shape_of_failures_is_left_alone(success: Any) -> None:
    """DESIGN section 2: the worst fault is to change a success, however it is carried."""
    assert waypost.enrich_result(success) is success
    assert waypost.guidance_of(success) is None
    assert waypost.guidance_of(json.dumps(success)) is None
    assert waypost.guidance_of({"content": [], "structuredContent": success}) is None


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_failure_of_a_widespread_convention_is_found(failure: Any) -> None:
    """DESIGN section 2: the second worst fault is to miss a failure."""
    guidance = waypost.guidance_of(failure)
    assert guidance is not None
    enriched = waypost.enrich_result(failure)
    assert waypost.enrich_result(enriched) == enriched
    again = waypost.guidance_of(enriched)
    assert again is not None
    assert (again.rule, again.error_code) == (guidance.rule, guidance.error_code)


def test_waypost_does_not_read_its_own_words_in_flagged_json() -> None:
    """A5: enriching twice equals once, and guidance of the enriched result is the same."""
    text = json.dumps({"symbol": "L", "note": "the order was cancelled"})
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    guidance = waypost.guidance_of(result)
    enriched = waypost.enrich_result(result)
    again = waypost.guidance_of(enriched)
    assert guidance is not None
    assert again is not None
    assert (again.rule, again.next_step) == (guidance.rule, guidance.next_step)
    structured = {**result, "structuredContent": {"symbol": "L"}}
    again = waypost.guidance_of(waypost.enrich_result(structured))
    assert again is not None
    assert again.rule == guidance.rule


def test_delay_that_cannot_be_asked_for_its_truth_does_no_harm() -> None:
    """A3: hostile objects in a payload."""

    class Delay:
        def __bool__(self) -> bool:
            raise RuntimeError("no truth here")

    payload = {"code": "x", "message": "y", "retry_after": Delay()}
    assert waypost.guidance_of(payload) is not None
