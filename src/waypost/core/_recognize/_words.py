"""The spellings that recognition looks for: keys, words and codes, as data."""

from __future__ import annotations


def spellings(*names: str) -> tuple[str, ...]:
    """The ways in which programs write the words of *names* as one key, the most common first."""
    spelled = []
    for name in names:
        words = name.split()
        pascal = "".join(map(str.capitalize, words))
        spelled += ["_".join(words), pascal[0].lower() + pascal[1:], pascal, "-".join(words)]
        spelled += ["".join(words), "_".join(words).upper()]
    return tuple(dict.fromkeys(spelled))


STATUS_KEYS = spellings("status", "status code", "http code", "http status", "http status code")
FLAG_KEYS = spellings(
    "ok", "success", "succeeded", "succeed", "is success", "is successful", "is ok"
)
"""Booleans that say whether the call worked."""

INVERSE_FLAG_KEYS = spellings("has error", "has errors")
"""Booleans that say whether it did not."""

CODE_KEYS = spellings(
    "error code", "err code", "error key", "error type", "error name", "error class", "error kind",
    "exception type", "exception class", "exception name",
)  # fmt: skip
"""Keys that hold nothing but an error code: alone they make a failure."""

WEAK_CODE_KEYS = spellings("exception code", "fault code", "error number", "error num", "err no")
"""The same, but in other worlds a count, a trouble of a car, a delay of a parcel."""

REASON_CODE_KEYS = spellings("response code", "result code", "return code", "reason code")
"""Keys that hold a code of any outcome: of a failure's, once something else says that it is one."""

ERROR_TEXT_KEYS = spellings(
    "error description", "error message", "error messages", "err msg", "error msg",
    "error summary", "error title", "error detail", "error details", "error reason", "error cause",
    "error code label", "exception message", "fault string",
)  # fmt: skip
"""Texts named after errors: a failure where nothing but the like stands beside them."""

ERROR_REFERENCE_KEYS = spellings("error ref", "error reference", "error id")
"""Names of one error, to be told to whoever runs the service."""

ERROR_OBJECT_KEYS = spellings(
    "error response", "error info", "error details", "error data", "error object", "error body"
)
"""Objects named after errors: what a flag or a status leaves open stands in them."""

MARKERS = frozenset(
    (
        *STATUS_KEYS, *FLAG_KEYS, *CODE_KEYS, *WEAK_CODE_KEYS, "detail", "odata.error", "Fault",
        "result", "response", "data", "isError", "is_error",
        "error", "Error", "errors", "Errors", "code", "type", "__type", "Code", "content", "fault",
        "exception", "err", "innerError", "innererror", *ERROR_TEXT_KEYS, *INVERSE_FLAG_KEYS,
        *ERROR_OBJECT_KEYS, *ERROR_REFERENCE_KEYS, "retryable",
    )
)  # fmt: skip
"""A mapping without one of these is no failure, unless an error object is all that it holds."""

FEW_KEYS = 64
"""Up to so many keys, all of MARKERS are looked for; a wider mapping costs COMMON_MARKERS only."""

COMMON_MARKERS = (
    "error", "status", "error_code", "errorCode", "ok", "success", "isError", "is_error", "errors",
    "code", "status_code", "type", "error_type",
)  # fmt: skip

ERROR_WORDS = frozenset(("error", "err"))
FAILED_WORDS = frozenset(("failed", "failure", "fail", "failing"))
SUCCESS_WORDS = frozenset(
    (
        "ok",
        "success",
        "successful",
        "succeeded",
        "completed",
        "complete",
        "done",
        "accepted",
        "running",
        "pending",
    )
)

WORK_KEYS = ("data", "result", "results", "items", "rows")
"""Non-empty, they say that work was done."""

COUNT_KEYS = (
    "succeeded", "success_count", "successCount", "succeededCount", "successful", "created",
    "updated", "inserted", "processed", "imported", "numSucceeded", "numPassedTests",
)  # fmt: skip
"""A count above zero, or ids, of what was done beside what failed."""

DONE_PREFIXES = (
    "deleted",
    "created",
    "updated",
    "inserted",
    "succeeded",
    "successful",
    "processed",
    "imported",
    "added",
)
"""Keys that begin so and hold a list name what was done."""

VERDICT_KEYS = frozenset(
    (
        "valid", "is_valid", "isValid", "open", "reachable", "available", "alive", "healthy",
        "allowed", "passed", "matched", "compliant", "supported", "exists", "up", "registered",
    )
)  # fmt: skip
"""A verdict on something: its errors are findings."""

RECORD_KEYS = frozenset(
    (
        "EventName", "eventName", "EventTime", "eventTime", "executionArn", "execution_status",
        "operationName", "span", "progress", "percent_complete", "percentComplete",
    )
)  # fmt: skip
"""A record of something that happened, or goes on: its error is the record's."""

STATE_KEYS = frozenset(
    (
        "status", "state", "phase", "stage", "finished", "done", "output", "logs", "attempts",
        "exit_code", "exitCode", "started_at", "startedAt", "created_at", "createdAt",
    )
)  # fmt: skip
"""Beside an id they tell how a thing is doing: its error is the thing's."""

LEVEL_KEYS = ("level", "severity", "levelname", "log_level")
TIME_KEYS = ("timestamp", "time", "ts", "@timestamp", "date", "asctime", "pid")
"""One of each makes a line of a log."""

PALETTE_KEYS = ("success", "info", "primary", "warning", "cancel")
"""Beside ``error``, and holding what it holds, they make a palette or a translation."""

TEXT_KEYS = tuple(
    dict.fromkeys(
        (
            "message", *ERROR_TEXT_KEYS, "msg", "errmsg", "detail", "details", "description",
            "title", "Message", "error", "reason", "statusText", "cause", "text", "exception",
            "fault", "body", "Description", "summary",
            *spellings("error text", "status message", "status description"),
            "info",
        )
    )
)  # fmt: skip
"""Where a tool says what happened, in order of trust."""

WITNESS_KEYS = (
    "message", *ERROR_TEXT_KEYS, "error", "detail", "title", "msg", "errmsg", "Message", "fault",
    "exception", *spellings("status message"),
)  # fmt: skip
"""Texts that are a second witness for a failed status; a page that was fetched has other ones."""

IDENTITY_KEYS = (
    "id", "url", "link", "final_url", "conclusion", "uuid", "uid", "html_url", "exit_code",
    "exitCode", "job", "run", "sid", "unit", "revision",
)  # fmt: skip
"""They name a thing that is reported on: its ``failed`` is not ours."""

IDENTITY_ENDINGS = ("_id", "_sid", "_arn", "_uid", "Id", "ID", "Arn", "Uid", "_at", "At")
"""The same by the end of a key: ids, and times at which something happened."""

CALL_IDS = frozenset(
    (
        "request_id", "correlation_id", "trace_id", "error_id", "span_id", "message_id", "log_id",
        "event_id", "call_id", "requestId", "requestID", "RequestId", "correlationId", "traceId",
        "traceID", "errorId", "spanId", "messageId", "logId", "eventId", "callId", "operation_id",
        "retry_at", "retryAt", "reset_at", "resetAt", "expires_at", "expiresAt", "occurred_at",
    )
)  # fmt: skip
"""They name the call itself, or when to come back, hence no thing that is reported on."""

REPORT_KEYS = frozenset(
    (
        *VERDICT_KEYS, "warnings", "summary", "checked", "files", "diagnostics", "findings",
        "violations", "total", "count", "score", "page", "per_page", "perPage", "has_more",
        "hasMore", "next", "cursor", "nextPageToken", "logs", "period", "since", "fixable",
        "errorCount", "error_count", "warningCount", "requests", "failureCount", "failure_count",
        "testResults", "log_level",
    )
)  # fmt: skip
"""Beside ``errors`` they make a report that talks about errors."""

ROW_KEYS = frozenset(
    (
        "count", "timestamp", "level", "line", "lineNumber", "file", "filename", "column",
        "severity", "url", "firstSeen", "lastSeen", "rule", "ruleId",
    )
)  # fmt: skip
"""An element of ``errors`` with one of them is a row of a report, or a finding."""

INNER_KEYS = (
    "error", "Error", "fault", "exception", "err", "innerError", "innererror", "odata.error",
    "Fault",
)  # fmt: skip
"""One of them, holding a mapping, is the error object."""

DEEPER_KEYS = (
    "details", "detail", "extensions", "data", "innerError", "innererror", "cause", "context",
    "meta", "metadata",
)  # fmt: skip
"""Where a more telling code, a delay or guidance may hide, in or beside an error object."""

SAYS_NOTHING = frozenset(
    (
        "error", "err", "tool_error", "toolerror", "unknown", "unknown_error", "unknownerror",
        "failed", "failure", "fail", "exception", "none", "null", "n/a", "undefined", "generic",
        "general", "default", "true", "-1", "1",
    )
)  # fmt: skip

RETRYABLE_ALIASES = (
    "isRetryable",
    "is_retryable",
    "retriable",
    "can_retry",
    "should_retry",
    "is_transient",
)
RETRYABLE_INVERSE = "non_retryable"
ADVICE_ALIASES = (
    "hint", "suggestion", "suggested_action", "recovery_suggestion", "remediation",
    "what_you_should_do", "next_steps", "guidance", "retry_advice",
)  # fmt: skip

ADDED_KEYS = frozenset(("retryable", "next_action", "trace_id"))
"""What waypost adds: an enriched failure is still one."""

ERROR_ROW_KEYS = frozenset(
    (
        *CODE_KEYS, *TEXT_KEYS, *FLAG_KEYS, *STATUS_KEYS, *RETRYABLE_ALIASES, *ADVICE_ALIASES,
        "code", "type", "fields", "field", "errors", "retryable", "next_action", "retry_after",
        "isError", "is_error", "input_request", "request_id", "requestId", "trace_id",
        "extensions", "data", "locations", "value", "originalValue", "rejectedValue", "param",
        "parameter", "path", "pointer", "source", "target", "location", "help", "helpUrl",
    )
)  # fmt: skip
"""All that a list of one error may hold: with more in it, a row is a row, alone or not."""
