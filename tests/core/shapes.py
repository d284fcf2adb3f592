"""Shapes of DESIGN section 2 as data: what is a failure, and what only looks like one."""

from __future__ import annotations

import json
from typing import Any

WITNESSES: dict[str, dict[str, Any]] = {
    "code": {"error_code": "x_failed"},
    "message": {"message": "No."},
    "error": {"error": "No such disk."},
    "detail": {"detail": "No such disk."},
    "title": {"title": "Disk missing"},
    "msg": {"msg": "No such disk."},
    "ok": {"ok": False},
    "kind": {"kind": "Status"},
}
IDENTITIES: dict[str, dict[str, Any]] = {
    "id": {"id": "a1"},
    "job_id": {"job_id": 7},
    "url": {"url": "https://ci.example/7"},
    "started_at": {"started_at": "2024-01-01T00:00:00Z"},
    "exit_code": {"exit_code": 1},
    "conclusion": {"conclusion": "failure"},
}
CODE_SPELLINGS = (
    "error_code", "errorCode", "error-code", "err_code", "error_type", "errcode", "ErrorCode",
    "ERROR_CODE", "errorcode", "exceptionType",
)  # fmt: skip
STATUS_SPELLINGS = ("status", "status_code", "statusCode", "http_code", "HttpStatusCode")
FLAGS = ("ok", "success", "succeeded", "succeed", "isSuccess", "Success")
SIGNS: dict[str, dict[str, Any]] = {
    **{f"{flag} true": {flag: True} for flag in ("ok", "success", "succeeded")},
    **{
        f"status {word}": {"status": word}
        for word in [
            "ok",
            "success",
            "succeeded",
            "completed",
            "done",
            "accepted",
            "running",
            "pending",
        ]
    },
    **{f"status {number}": {"status": number} for number in (100, 200, 204, 207, 302, 399)},
    **{f"{key} rows": {key: [{"id": 1}]} for key in ("data", "result", "results", "items", "rows")},
}
ENVELOPES: dict[str, Any] = {
    "problem details": {
        "type": "https://api.example/problems/out-of-credit",
        "title": "You do not have enough credit.",
        "status": 403,
        "detail": "Your balance is 30.",
        "instance": "/account/12",
    },
    "problem details without status": {
        "type": "about:blank",
        "title": "Not Found",
        "detail": "No order of this number.",
    },
    "problem of two members": {"type": "urn:problem:gone", "title": "Gone"},
    "cloudflare": {
        "type": "https://developers.example/errors/1015/",
        "title": "Error 1015: You are being rate limited",
        "status": 429,
        "detail": "The owner of this site has limited you.",
        "retryable": True,
        "retry_after": 30,
        "error_code": 1015,
    },
    "google": {
        "error": {
            "code": 429,
            "message": "Quota exceeded.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "RATE_LIMIT_EXCEEDED",
                    "domain": "googleapis.com",
                }
            ],
        }
    },
    "openai": {
        "error": {
            "message": "Rate limit reached.",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
    },
    "azure": {
        "error": {
            "code": "BadArgument",
            "message": "Previous passwords may not be reused.",
            "innererror": {"code": "PasswordReuseNotAllowed"},
        }
    },
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "aws type": {
        "__type": "com.amazon.coral.service#ThrottlingException",
        "message": "Rate exceeded",
    },
    "aws type alone": {"__type": "ResourceNotFoundException"},
    "aws code": {"Code": "NoSuchBucket", "Message": "The specified bucket does not exist"},
    "graphql": {"errors": [{"message": "Not allowed", "extensions": {"code": "FORBIDDEN"}}]},
    "graphql with null data": {"data": None, "errors": [{"message": "Not allowed"}]},
    "json-rpc response": {
        "jsonrpc": "2.0",
        "id": 3,
        "error": {"code": -32602, "message": "Unknown tool"},
    },
    "json-rpc error alone": {"code": -32001, "message": "Request timed out"},
    "json-rpc lower bound": {"code": -32000, "message": "Closed"},
    "json-rpc upper bound": {"code": -32768, "message": "Odd"},
    "json-rpc positive": {"code": 32603, "message": "Odd"},
    "kubernetes": {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'pods "web" not found',
        "reason": "NotFound",
        "details": {"name": "web", "kind": "pods"},
        "code": 404,
    },
    **{
        f"inside {key}": {key: {"error": {"code": "not_found", "message": "No such order."}}}
        for key in ("result", "response", "data")
    },
    "openstack": {"itemNotFound": {"code": 404, "message": "The resource could not be found."}},
    "meta": {"meta": {"status": 410, "code": "ERR-410-RecordDeleted", "message": "Deleted."}},
    "error response": {"errorResponse": {"code": 409, "message": "Locked by another user."}},
}
ENVELOPE_CODES = {
    "problem details": "403",
    "problem details without status": "tool_error",
    "problem of two members": "urn:problem:gone",
    "cloudflare": "1015",
    "google": "RATE_LIMIT_EXCEEDED",
    "openai": "rate_limit_exceeded",
    "azure": "BadArgument",
    "anthropic": "overloaded_error",
    "aws type": "ThrottlingException",
    "aws type alone": "ResourceNotFoundException",
    "aws code": "NoSuchBucket",
    "graphql": "FORBIDDEN",
    "graphql with null data": "tool_error",
    "json-rpc response": "-32602",
    "json-rpc error alone": "-32001",
    "kubernetes": "NotFound",
    "inside data": "not_found",
    "openstack": "404",
    "meta": "ERR-410-RecordDeleted",
    "error response": "409",
}
FAILURES: dict[str, Any] = {
    **{f"status {word!r}": {"status": word} for word in ("error", "err", "ERROR", "Error", "Err")},
    **{f"result {word!r}": {"result": word, "message": "No."} for word in ("error", "ERR")},
    **{
        f"status {word!r} with {name}": {"status": word, **witness}
        for word in ("failed", "failure", "fail", "FAILED")
        for name, witness in WITNESSES.items()
    },
    **{
        f"{key} {number!r} with {name}": {key: number, **witness}
        for key in STATUS_SPELLINGS
        for number in (400, 404, 500, "503", 599)
        for name, witness in WITNESSES.items()
    },
    "a request id is no identity": {"status": "failed", "message": "No.", "request_id": "r1"},
    **{f"{flag} false alone": {flag: False} for flag in FLAGS},
    **{f"{flag} false with a code": {flag: False, "code": "gone"} for flag in FLAGS},
    **{f"{flag} false with a text": {flag: False, "reason": "It is gone."} for flag in FLAGS},
    **{f"{key} true": {key: True} for key in ("isError", "is_error")},
    "has errors with a text": {"hasErrors": True, "message": "The order is locked."},
    **{
        f"code 400 with {key}": {"code": 400, key: "Invalid symbol."}
        for key in ("message", "msg", "detail", "error-code-label")
    },
    "id of an error with a text": {"errorRef": "49f168a0", "message": "No such project."},
    "fields as arguments": {"status_code": 400, "account_id": {"detail": "Unknown account."}},
    "texts and objects of errors": {"errors": ["Not Found"], "error_details": [{"at": "id"}]},
    "flag with an object of errors": {
        "success": False,
        "error_response": {"error": "UNKNOWN_FAILURE", "message": ""},
        "order": {"price": 1},
    },
    "FastAPI": {"detail": {"error_type": "rate_limit_exceeded", "status_code": 429}},
    "Flask": {"code": 404, "name": "Not Found", "description": "No such transaction."},
    "JSON:API": {"id": "3F1F", "status": "400", "code": "invalid_value", "detail": "No integer."},
    "code that says whether to repeat": {
        "code": "DEPENDENCY_MISSING",
        "message": "ffmpeg is not installed.",
        "retryable": False,
    },
    "type error": {"type": "error", "request_id": "r-1", "message": "message_id is required"},
    "object error": {"object": "error", "message": "No such model.", "type": "X", "code": 404},
    "object error without a number": {"object": "error", "message": "No such model.", "type": "X"},
    "code with a delay": {"code": "CIRCUIT_OPEN", "message": "Off.", "retry_after_ms": 30_000},
    "protocol error of another number": {"code": -2, "message": "MCP error -2: timed out"},
    "code beside an id of an argument": {
        "status_code": 429,
        "error_code": "ComplexityException",
        "account_id": "0",
    },
    "state as the reason": {"status": "timeout", "output": None, "error": "No answer."},
    "argument error alone": [
        {"errorCode": "BAD_FORMAT", "field": "email", "originalValue": "x", "message": "Bad."}
    ],
    "error inside": {"code": "InvalidRequest", "innerError": {"code": "InvalidModel"}},
    "status object": {"status": {"status": "ERROR", "error_code": "NO_PAYMENT", "message": "x"}},
    "details of an error": {"errorDetails": "Could not activate user 'kim'."},
    **{
        f"{key} with a text": {key: 12, "message": "No such order."}
        for key in ("ErrorNumber", "errno", "exceptionCode", "fault_code")
    },
    ".NET": {"ErrorNumber": 16, "Type": "QueryParseException", "Message": "No field 'hi'."},
    **{f"{key} alone": {key: "order_locked"} for key in CODE_SPELLINGS},
    **{f"{key} as a number": {key: 1205} for key in CODE_SPELLINGS},
    "isError false is no sign of success": {"isError": False, "error_code": "order_locked"},
    "error as a code": {"error": "order_locked"},
    "error true with a text": {"error": True, "message": "The order is locked."},
    "error as a sentence": {"error": "The order is locked by another user."},
    "error as an object": {"error": {"message": "The order is locked."}},
    "errors as a list of texts": {"errors": ["The order is locked."]},
    "errors as a list of objects": {"errors": [{"message": "The order is locked."}]},
    "errors as a mapping": {"errors": {"email": ["is invalid"]}},
    "errors as a text": {"errors": "The order is locked."},
    "empty data is no work": {"data": [], "error_code": "order_locked"},
    "null data is no work": {"data": None, "error_code": "order_locked"},
    "an envelope is no work": {
        "data": {"error": {"code": "gone", "message": "It is gone."}},
        "error_code": "order_locked",
    },
    "input request in a failure": {
        "status": "error",
        "error_code": "city_missing",
        "input_request": {"argument": "city"},
    },
    "input request is a word why": {"status": "error", "input_request": {"argument": "city"}},
    **ENVELOPES,
    "graphql with data that is null inside": {
        "data": {"me": None},
        "errors": [{"message": "Not allowed"}],
    },
    "flag inside": {"ok": False, "data": {"message": "No such order."}},
    "flag and code inside": {"data": {"ok": False, "error": "not_found"}},
    "mcp flag inside": {"result": {"is_error": True, "message": "No such order."}},
    "status inside": {"response": {"status": "error"}},
    "list of one failure": [{"error_code": "order_locked"}],
    "json text": json.dumps({"error_code": "order_locked"}),
    "json text of a list": json.dumps([{"error_code": "order_locked"}]),
    "json text with white space": ' \n\t{"status": "error"}\n',
}
NOTHING: list[Any] = [None, False, 0, "", [], {}]
MARKED: dict[str, dict[str, Any]] = {
    "a code": {"error_code": "order_locked"},
    "an error": {"error": "The last try failed."},
    "errors": {"errors": [{"message": "row 3"}]},
}
SUCCESSES: dict[str, Any] = {
    **{f"error {value!r}": {"error": value} for value in (*NOTHING, "  ", "none", "null")},
    **{f"errors {value!r}": {"errors": value} for value in NOTHING},
    **{
        f"error_code {value!r}": {"error_code": value}
        for value in (*NOTHING, True, "ok", "OK", "success", 200, 204, "299", "0")
    },
    "failed 0": {"failed": 0, "passed": 12},
    "status failed alone": {"status": "failed"},
    "status 404 alone": {"status": 404},
    "status 500 in a nested row": {"data": [{"status": 500, "message": "No."}]},
    **{
        f"status failed of {name}": {"status": "failed", "message": "No.", **identity}
        for name, identity in IDENTITIES.items()
    },
    **{
        f"status 503 of {name}": {"status": 503, "message": "No.", **identity}
        for name, identity in IDENTITIES.items()
    },
    **{
        f"{sign} beside {name}": {**success, **mark}
        for sign, success in SIGNS.items()
        for name, mark in MARKED.items()
    },
    "flag beside many rows": {"ok": False, **{f"row {n}": {"message": "x"} for n in range(70)}},
    "job that stopped": {"job_id": "j-2", "status": "interrupted", "error": "restarted"},
    "task that was polled": {"id": "t-1", "finished": True, "error": "The build broke."},
    "errors counted beside rows": {"uids": ["u-1"], "errors": {"count": 1, "details": {"u-2": {}}}},
    "run with a code": {"run_id": "r", "status_code": 500, "error_code": "X", "finished": True},
    "console line alone": [{"type": "error", "message": "x is undefined"}],
    "console line with its time": {"type": "error", "message": "x", "timestamp": 17},
    "thing with a code": {"product": {"code": 404, "name": "Bolt"}},
    "health of a thing": {"database": {"status": 503, "message": "It is down."}},
    "no errors": {"hasErrors": False, "message": "The order was placed."},
    "job with an error": {"job": {"id": 4, "code": 500, "message": "It crashed."}},
    "flag inside a row": {"data": {"ok": True, "error": "none"}},
    "verdict": {"valid": False, "errors": [{"line": 3, "message": "expected ;"}]},
    "findings beside ok false": {"ok": False, "findings": [{"rule": "E501", "line": 3}]},
    "check that failed": {"check": "lint", "passed": False, "failed": 3},
    "rows that talk about errors": [{"error_code": "E1"}, {"error_code": "E2"}],
    "log line": {"level": "error", "message": "connection refused"},
    "catalog of errors": {"error_codes": ["a", "b"]},
    "partial result": {"created_ids": [4, 5], "errors": [{"index": 2, "message": "duplicate"}]},
    "partial rows": {"orders": [{"n": 1}], "errors": [{"message": "one page is missing"}]},
    "graphql with data": {"data": {"me": {"name": "x"}}, "errors": [{"message": "Not allowed"}]},
    "input required": {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "elicitation/create"}},
    },
    "task in progress": {"taskId": "t1", "status": "working", "statusMessage": "error-free so far"},
    "elicitation": {"code": -32042, "message": "URL elicitation required", "data": {}},
    "elicitation in a response": {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32042, "message": "URL elicitation required"},
    },
    "input request without a failure": {"input_request": {"argument": "city"}},
    "code that is no protocol error": {"code": -31999, "message": "A postal code"},
    "code past the protocol's": {"code": -32769, "message": "A postal code"},
    "code without text": {"code": -32001},
    "content that is no mcp result": {"content": [{"status": "error"}]},
    "document with type and title": {"type": "article", "title": "Error handling"},
    "link with type and title": {
        "type": "https://schema.example/Article",
        "title": "Errors",
        "url": "https://a.example",
    },
    "text": "Error: everything failed",
    "text of an html page": "<html><title>500 Internal Server Error</title></html>",
    "json text of a success": '{"status": "ok", "error": null}',
    "json text cut off": '{"status": "error", "error_code": "x',
    "json text of a number": "429",
    "json text of two": '[{"error_code": "a"}, {"error_code": "b"}]',
    "json text of a list of texts": '["error", "status"]',
    "empty mapping": {},
    "empty list": [],
    "empty text": "",
    "batch under an error word with a blank text": {"status": "error", "checks": [1], "error": " "},
    "none": None,
    "false": False,
    "true": True,
    "zero": 0,
    "number": 500,
    "float": 1.5,
    "bytes": b'{"status": "error"}',
    "tuple": ({"status": "error"},),
}
