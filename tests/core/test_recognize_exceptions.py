"""Exceptions are failures, whatever library raises them: DESIGN section 2."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

import waypost
from tests.core.results import Recorder, flagged

FAILED = '{"status": "error", "error_code": "order_locked", "message": "It is locked."}'


class OldMcpError(Exception):
    """What SDK 1.x raises."""

    def __init__(self, error: Any) -> None:
        self.error = error
        super().__init__(error.message)


class ErrorData(BaseModel):
    code: int
    message: str
    data: Any = None


class HttpStatusError(Exception):
    """What HTTP clients raise."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.response = type("Response", (), {"status_code": status_code})()


class ClientError(Exception):
    """What botocore raises."""

    def __init__(self, code: str) -> None:
        super().__init__(f"An error occurred ({code}) when calling the GetOrder operation")
        self.response = {"Error": {"Code": code, "Message": "No."}, "ResponseMetadata": {}}


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("nothing to say")


def of_framework(base: str, name: str) -> Exception:
    """What a tool raises through a framework, whose own exceptions have a common base."""
    kind = type(name, (type(base, (Exception,), {}),), {})
    raised: Exception = kind("There is no order 7.")
    return raised


FRAMEWORKS = [
    ("MCPServerError", "ToolError"),
    ("FastMCPError", "ToolError"),
    ("LangChainException", "ToolException"),
    ("AgentsException", "UserError"),
    ("AgentRunError", "ModelRetry"),
]


@pytest.mark.parametrize(("base", "name"), FRAMEWORKS)
def test_name_of_a_framework_says_nothing_of_the_failure(base: str, name: str) -> None:
    """Issue 6, item 1: a tool that raises the framework's exception speaks by its message."""
    guidance = waypost.guidance_of(of_framework(base, name))
    assert guidance is not None
    assert (guidance.error_class.value, guidance.error_code) == ("not_found", "tool_error")


DATA = {"retry_after_ms": 2_500}


@pytest.mark.parametrize(
    ("exception", "code", "error_class", "delay"),
    [
        pytest.param(RuntimeError("No."), "tool_error", "unknown", None, id="plain"),
        pytest.param(KeyError("x"), "KeyError", "internal", None, id="crash"),
        pytest.param(TimeoutError(), "TimeoutError", "timeout", None, id="timeout"),
        pytest.param(OSError(111, "x"), "ECONNREFUSED", "unavailable", None, id="errno"),
        pytest.param(OSError("x"), "OSError", "unknown", None, id="no errno"),
        pytest.param(RuntimeError(FAILED), "order_locked", "conflict", None, id="json"),
        pytest.param(MCPError(-32001, "Request timed out"), "-32001", "timeout", None, id="mcp"),
        pytest.param(MCPError(-32000, "Busy", DATA), "-32000", "unavailable", 2.5, id="mcp data"),
        pytest.param(
            OldMcpError(ErrorData(code=-32000, message="Busy", data=DATA)),
            "-32000",
            "unavailable",
            2.5,
            id="mcp of SDK 1.x",
        ),
        pytest.param(HttpStatusError("No.", 429), "429", "rate_limited", None, id="http"),
        pytest.param(
            ClientError("ThrottlingException"),
            "ThrottlingException",
            "rate_limited",
            None,
            id="aws",
        ),
        pytest.param(
            ExceptionGroup("g", [RuntimeError(), ExceptionGroup("h", [TimeoutError()])]),
            "TimeoutError",
            "timeout",
            None,
            id="group",
        ),
        pytest.param(
            ExceptionGroup("g", [RuntimeError(), ValueError()]),
            "tool_error",
            "unknown",
            None,
            id="mute group",
        ),
        pytest.param(MuteError(), "MuteError", "unknown", None, id="str raises"),
    ],
)
def test_exception_is_a_failure(
    exception: Exception, code: str, error_class: str, delay: float | None
) -> None:
    """DESIGN section 2: any Exception, MCPError's code and data, the first telling leaf."""
    guidance = waypost.guidance_of(exception)
    assert guidance is not None
    assert waypost.error_code_of(exception) == guidance.error_code == code
    assert (guidance.error_class, guidance.retry_after_seconds) == (error_class, delay)


def nested(depth: int) -> Exception:
    group: Exception = TimeoutError()
    for _ in range(depth):
        group = ExceptionGroup("g", [group])
    return group


def wide(mute: int) -> Exception:
    return ExceptionGroup("g", [*[RuntimeError()] * mute, TimeoutError()])


@pytest.mark.parametrize(
    ("group", "code"),
    [
        pytest.param(nested(15), "TimeoutError", id="depth 15"),
        pytest.param(nested(5_000), "tool_error", id="depth 5000"),
        pytest.param(
            ExceptionGroup("g", [*[RuntimeError()] * 14, TimeoutError()]),
            "TimeoutError",
            id="15 leaves",
        ),
        pytest.param(
            ExceptionGroup("g", [*[RuntimeError()] * 99, TimeoutError()]),
            "tool_error",
            id="100 leaves",
        ),
    ],
)
def test_group_is_read_so_far_and_no_farther(group: Exception, code: str) -> None:
    """A12: bounded, however deep or wide."""
    assert waypost.error_code_of(group) == code


@pytest.mark.parametrize(
    "exception",
    [
        MCPError(-32042, "URL elicitation required", {}),
        OldMcpError(ErrorData(code=-32042, message="URL elicitation required")),
    ],
    ids=["SDK 2.x", "SDK 1.x"],
)
def test_question_that_is_raised_is_no_failure(exception: Exception) -> None:
    """DESIGN section 2, not failures: elicitation (-32042)."""
    assert waypost.enrich_result(exception) is exception
    assert waypost.guidance_of(exception) is None


def test_data_of_an_exception_keeps_its_plain_members_only() -> None:
    """DESIGN section 1: what the tool set is kept, whole payload."""
    data = {"retryable": False, "hint": "Ask Ann.", "retry_after": 5, "next_action": ["x"]}
    assert waypost.enrich_result(MCPError(-32000, "Busy.", data)) == {
        "status": "error",
        "error_code": "-32000",
        "message": "Busy.",
        "retryable": False,
        "hint": "Ask Ann.",
        "retry_after": 5,
    }


@pytest.mark.parametrize(
    ("result", "error_type"),
    [
        pytest.param(MCPError(-32001, "Request timed out"), "-32001", id="json-rpc code"),
        pytest.param(KeyError("x"), "KeyError", id="built-in"),
        pytest.param(MuteError(), f"{__name__}.MuteError", id="qualified name"),
        pytest.param(flagged("No."), "tool_error", id="flagged"),
        pytest.param(
            {"content": [], "isError": False, "structuredContent": {"error_code": "timeout"}},
            "timeout",
            id="unflagged",
        ),
        pytest.param({"error_code": "timeout"}, "timeout", id="mapping"),
        pytest.param('{"error_code": "timeout"}', "timeout", id="text"),
        pytest.param([{"error_code": "timeout"}], "timeout", id="list"),
    ],
)
def test_error_type_tells_what_the_protocol_tells(result: Any, error_type: str) -> None:
    """DESIGN section 4: the JSON-RPC code, the exception's name, tool_error, the class in band."""
    recorder = Recorder()
    with waypost.Enricher((recorder,)).call("f") as call:
        call.enrich(result)
    assert recorder.seen[0].error_type == error_type


def raised_from(message: str, *causes: BaseException) -> Exception:
    """An error that says *message*, raised from the first cause, that from the second, ..."""
    error = RuntimeError(message)
    last: BaseException = error
    for cause in causes:
        last.__cause__ = cause
        last = cause
    return error


REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.mark.parametrize(
    ("error", "code", "error_class"),
    [
        pytest.param(raised_from("No.", REFUSED), "ECONNREFUSED", "unavailable", id="cause"),
        pytest.param(
            raised_from("No.", RuntimeError("It did not work."), REFUSED),
            "ECONNREFUSED",
            "unavailable",
            id="cause of a cause",
        ),
        pytest.param(
            raised_from("The order does not exist.", REFUSED),
            "tool_error",
            "not_found",
            id="own words first",
        ),
        pytest.param(
            raised_from("No.", *[RuntimeError("No.") for _ in range(4)], REFUSED),
            "tool_error",
            "unknown",
            id="too deep",
        ),
        pytest.param(
            raised_from("No.", KeyboardInterrupt()), "tool_error", "unknown", id="no exception"
        ),
        pytest.param(
            raised_from("No.", ValueError("Token has expired")),
            "tool_error",
            "unauthenticated",
            id="words of the cause",
        ),
    ],
)
def test_exception_that_says_nothing_is_sorted_by_what_it_was_raised_from(
    error: Exception, code: str, error_class: str
) -> None:
    """Issue 4, item 3: walking ``__cause__``, four deep."""
    guidance = waypost.guidance_of(error)
    assert guidance is not None
    assert (guidance.error_code, guidance.error_class.value) == (code, error_class)
    assert waypost.guidance_of(error) == guidance  # remembered


def test_cause_says_nothing_of_what_was_done_around_it() -> None:
    """DESIGN section 3: refused is refused, but the tool may have done more than connect."""
    error = raised_from("No.", REFUSED)
    guidance = waypost.guidance_of(error)
    assert guidance is not None
    assert (guidance.retryable, guidance.may_repeat) == (True, False)
    assert waypost.error_code_of(error) == "ECONNREFUSED"
    enriched = waypost.enrich_result(error)
    assert enriched["error_code"] == "ECONNREFUSED"
    assert enriched["message"] == "No."
    again = waypost.guidance_of(enriched)
    assert again is not None
    assert again.rule == guidance.rule


def test_code_that_stands_on_the_class_is_read() -> None:
    """Issue 4, item 3: psycopg and Google name a class for each number."""

    class SerializationError(Exception):
        sqlstate = "40001"

    class OddError(Exception):
        @property
        def code(self) -> str:
            raise RuntimeError("not asked")

    assert waypost.error_code_of(SerializationError("x")) == "40001"
    assert waypost.error_code_of(OddError("x")) == "OddError"
