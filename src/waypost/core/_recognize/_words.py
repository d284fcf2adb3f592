"""The spellings that recognition looks for: keys, words and codes, as data."""

from __future__ import annotations

STATUS_KEYS = (
    "status",
    "status_code",
    "statusCode",
    "http_code",
    "http_status",
    "httpStatus",
    "http_status_code",
)
FLAG_KEYS = ("ok", "success", "succeeded", "succeed", "Success")
CODE_KEYS = (
    "error_code", "errorCode", "error-code", "err_code", "errCode", "errcode", "ErrorCode",
    "error_type", "errorType", "err-code", "error_name", "errorName", "error_class",
    "exception_type", "exceptionType", "exception_class", "error_kind",
)  # fmt: skip
"""Keys that hold nothing but an error code: alone they make a failure."""

ERROR_TEXT_KEYS = (
    "errorMessage", "error_message", "errorMessages", "error_title", "err-msg",
    "error_description", "errorSummary", "error_msg", "error-code-label",
)  # fmt: skip
"""Texts named after errors: a failure where nothing but the like stands beside them."""

MARKERS = frozenset(
    (
        *STATUS_KEYS, *FLAG_KEYS, *CODE_KEYS, "result", "response", "data", "isError", "is_error",
        "error", "Error", "errors", "Errors", "code", "type", "__type", "Code", "content", "fault",
        "exception", "err", *ERROR_TEXT_KEYS,
    )
)  # fmt: skip
"""A mapping without one of these keys is no failure."""

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
    "succeeded",
    "success_count",
    "successful",
    "created",
    "updated",
    "inserted",
    "processed",
    "imported",
)
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

VERDICT_KEYS = ("valid", "is_valid", "isValid")
"""A verdict on something: its errors are findings."""

TEXT_KEYS = (
    "message", "error_description", "error_message", "errorMessage", "msg", "errmsg", "err_msg",
    "error_msg", "detail", "details", "description", "title", "errorSummary", "Message", "error",
    "reason", "error_detail", "errorDescription", "statusText", "cause", "text", "exception",
    "fault", "body", "error_title", "error_text", "err-msg", "Description", "summary",
    "statusMessage", "status_message", "info",
)  # fmt: skip
"""Where a tool says what happened, in order of trust."""

IDENTITY_KEYS = (
    "id", "url", "started_at", "startedAt", "exit_code", "exitCode", "conclusion", "uuid",
    "html_url", "created_at", "createdAt", "finished_at", "completed_at", "completedAt", "job",
    "run", "sid",
)  # fmt: skip
"""They name a thing that is reported on: its ``failed`` is not ours."""

CALL_IDS = frozenset(
    (
        "request_id",
        "correlation_id",
        "trace_id",
        "error_id",
        "span_id",
        "message_id",
        "log_id",
        "event_id",
        "call_id",
    )
)
"""They name the call itself, hence are no identity of a thing reported on."""

REPORT_KEYS = frozenset(
    (
        "valid", "warnings", "summary", "passed", "checked", "files", "diagnostics", "findings",
        "violations", "is_valid", "isValid", "total", "count", "score",
    )
)  # fmt: skip
"""Beside ``errors`` they make a report that talks about errors."""

INNER_KEYS = ("error", "Error", "fault", "exception", "err")
"""One of them, holding a mapping, is the error object."""

DEEPER_KEYS = (
    "details", "detail", "extensions", "data", "innerError", "innererror", "cause", "context",
    "meta", "metadata",
)  # fmt: skip
"""
Inside an error object or beside its code, where a more telling code, a delay or guidance may hide.
"""

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
