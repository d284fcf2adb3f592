"""
The calls: what each server is asked, and what a model needs to hear about the answer.

The advice in the table is what is right by DESIGN section 3, not what waypost happened to say.
``<name>`` stands for a place of the run (tests/servers/places.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Advice(NamedTuple):
    """What must come back with a failure."""

    error_class: str
    retryable: bool
    next_step: str


BUSY = Advice("conflict", True, "wait")
CRASHED = Advice("internal", False, "report")
DISCONNECTED = Advice("disconnected", True, "reconnect")
EXISTS = Advice("already_exists", False, "list_first")
FORBIDDEN = Advice("forbidden", False, "ask_permission")
INVALID = Advice("invalid", False, "fix_arguments")
MISCONFIGURED = Advice("misconfigured", False, "report")
NOT_FOUND = Advice("not_found", False, "list_first")
NOT_READY = Advice("not_ready", True, "prepare")
RATE_LIMITED = Advice("rate_limited", True, "wait")
SERVER_ERROR = Advice("internal", True, "wait")
SIGN_IN = Advice("unauthenticated", True, "sign_in")
TIMEOUT = Advice("timeout", True, "wait")
UNAVAILABLE = Advice("unavailable", True, "wait")
UNSUPPORTED = Advice("unsupported", False, "use_other_tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """
    One call of a tool.

    Attributes:
        server: A key of `SERVERS`.

        tool: ``None`` is the start of a server that cannot start.

        says: A part of what the server answers, so that a changed server is noticed.

        advice: ``None`` for what must come back as the same object.

        raised: Whether the client raises it instead of returning a result.

        worked: Whether the call did what it was made for. A server may answer a failure as if it
            were a success, in words without a flag; waypost leaves that alone.

        timeout_seconds: How long the host waits for the answer; ``None`` is the session's limit.
    """

    server: str
    tool: str | None
    arguments: Mapping[str, object]
    says: str
    advice: Advice | None
    raised: bool = False
    worked: bool = False
    timeout_seconds: float | None = None


def _fails(server: str, tool: str, advice: Advice, says: str, /, **arguments: object) -> Call:
    """A result that must come back with *advice*."""
    return Call(server=server, tool=tool, arguments=arguments, says=says, advice=advice)


def _raises(
    server: str,
    tool: str | None,
    advice: Advice,
    says: str,
    /,
    seconds: float | None = None,
    **arguments: object,
) -> Call:
    """A failure that the client raises; *advice* must be had for the exception."""
    return Call(
        server=server,
        tool=tool,
        arguments=arguments,
        says=says,
        advice=advice,
        raised=True,
        timeout_seconds=seconds,
    )


def _works(server: str, tool: str, says: str, /, **arguments: object) -> Call:
    return Call(server=server, tool=tool, arguments=arguments, says=says, advice=None, worked=True)


def _unflagged(server: str, tool: str, says: str, /, **arguments: object) -> Call:
    """A failure in words that nothing flags as one, so it is left alone (DESIGN section 2)."""
    return Call(server=server, tool=tool, arguments=arguments, says=says, advice=None)


TIME = (
    _works("time", "get_current_time", "UTC", timezone="UTC"),
    _fails("time", "get_current_time", INVALID, "No time zone found", timezone="Europe/Atlantis"),
    _fails("time", "get_current_time", INVALID, "Field required"),
    _fails(
        "time",
        "convert_time",
        INVALID,
        "Expected HH:MM",
        source_timezone="UTC",
        time="25:00",
        target_timezone="UTC",
    ),
    _raises("time", "get_the_time", UNSUPPORTED, "Unknown tool"),
)

GIT = (
    _works("git", "git_status", "On branch main", repo_path="<repository>"),
    # Nothing but a path: what GitPython says of one that is not there, or holds no repository.
    _fails("git", "git_status", NOT_FOUND, "<folder>/none", repo_path="<folder>/none"),
    _fails("git", "git_status", NOT_FOUND, "<plain>", repo_path="<plain>"),
    _fails(
        "git",
        "git_show",
        NOT_FOUND,
        "did not resolve to an object",
        repo_path="<repository>",
        revision="v9",
    ),
    _fails(
        "git", "git_show", NOT_FOUND, "not found", repo_path="<repository>", revision="main:no.txt"
    ),
    # Staging is the step after which the very same call succeeds.
    _fails(
        "git",
        "git_commit",
        NOT_READY,
        "No changes staged",
        repo_path="<repository>",
        message="Next",
    ),
    _fails(
        "git",
        "git_create_branch",
        EXISTS,
        "already exists",
        repo_path="<repository>",
        branch_name="main",
    ),
    _fails(
        "git", "git_add", NOT_FOUND, "did not match", repo_path="<repository>", files=["no.txt"]
    ),
    _fails("git", "git_add", INVALID, "valid list", repo_path="<repository>", files="notes.txt"),
    # Another process holds the lock; "File exists" is about the lock's file, not about the work.
    _fails("git", "git_add", BUSY, "index.lock", repo_path="<busy>", files=["new.txt"]),
    _fails(
        "git",
        "git_branch",
        INVALID,
        "Invalid branch type",
        repo_path="<repository>",
        branch_type="own",
    ),
    _raises("git", "git_push", UNSUPPORTED, "Unknown tool", repo_path="<repository>"),
    _fails("git-confined", "git_status", FORBIDDEN, "outside the allowed", repo_path="<folder>"),
    _raises("git-dead", None, DISCONNECTED, "Connection closed"),
)

FETCH = (
    _works("fetch", "fetch", "A page.", url="<site>/page"),
    _fails("fetch", "fetch", FORBIDDEN, "robots.txt", url="<site>/private"),
    _fails("fetch", "fetch", NOT_FOUND, "404", url="<site>/none"),
    _fails("fetch", "fetch", SIGN_IN, "401", url="<site>/members"),
    _fails("fetch", "fetch", RATE_LIMITED, "429", url="<site>/busy"),
    _fails("fetch", "fetch", SERVER_ERROR, "500", url="<site>/broken"),
    _fails("fetch", "fetch", UNAVAILABLE, "503", url="<site>/closed"),
    _fails("fetch", "fetch", DISCONNECTED, "disconnected", url="<site>/hung-up"),
    # A loop of redirects: no smaller request ends it, and no other argument either.
    _fails("fetch", "fetch", MISCONFIGURED, "TooManyRedirects", url="<site>/round"),
    _raises("fetch", "fetch", TIMEOUT, "timed out", url="<site>/silent", seconds=0.3),
    _fails("fetch", "fetch", UNAVAILABLE, "connection issue", url="http://<closed>/"),
    # The argument is too small, whatever "max" in its name says.
    _fails("fetch", "fetch", INVALID, "greater than", url="<site>/page", max_length=0),
    _fails("fetch", "fetch", INVALID, "valid URL", url="page"),
    # A guard: to write the same address in another way would be to work around it.
    _fails("fetch-public", "fetch", FORBIDDEN, "Refused", url="<site>/page"),
    _fails("fetch-unasked", "fetch", UNAVAILABLE, "ConnectError", url="http://<closed>/"),
)

MOTHERDUCK = (
    _works("motherduck", "execute_query", "success", sql="SELECT 1"),
    _fails("motherduck", "execute_query", INVALID, "syntax error", sql="SELEC 1"),
    _fails("motherduck", "execute_query", NOT_FOUND, "does not exist", sql="FROM customers"),
    _fails(
        "motherduck", "execute_query", NOT_FOUND, "No files found", sql="FROM read_csv('no.csv')"
    ),
    _fails("motherduck", "execute_query", INVALID, "Could not convert", sql="SELECT 'a'::INTEGER"),
    # Other SQL does not help, since the database is read-only. But the server's code says
    # InvalidInputException, and a message never overrules a code that says something.
    _fails(
        "motherduck", "execute_query", INVALID, "read-only", sql="INSERT INTO orders VALUES (1)"
    ),
    _fails("motherduck", "execute_query", BUSY, "lock is held", sql="ATTACH '<locked>'"),
    _fails("motherduck", "execute_query", INVALID, "Missing required argument"),
    _fails("motherduck", "list_columns", NOT_FOUND, "NotFoundError", table="customers"),
    # Only who runs the server can set its environment.
    _fails(
        "motherduck",
        "switch_database_connection",
        MISCONFIGURED,
        "environment variable",
        path="md:orders",
    ),
    _fails("motherduck", "drop_table", UNSUPPORTED, "Unknown tool", table="orders"),
)

EXCEL = (
    _works("excel", "create_workbook", "report.xlsx", path="report.xlsx"),
    _fails("excel", "create_workbook", EXISTS, "already exists", path="report.xlsx"),
    _fails("excel", "create_workbook", INVALID, "must point to", path="report.txt"),
    _fails("excel", "describe_workbook", NOT_FOUND, "does not exist", path="none.xlsx"),
    _fails("excel", "describe_workbook", FORBIDDEN, "outside the allowed", path="/etc/hosts"),
    _fails("excel", "describe_sheet", NOT_FOUND, "not found", path="report.xlsx", sheet="May"),
    _fails(
        "excel", "create_sheet", INVALID, "cannot contain", path="report.xlsx", new_name="May/June"
    ),
    _fails("excel", "read_range", INVALID, "required", path="report.xlsx"),
)

OTHERS = (
    # The SDK hides the words of an exception that no tool foresaw: here, a refused connection.
    _fails("memcached", "cache_get", CRASHED, "Error executing tool cache_get", key="a"),
    _works("sqlite", "list_tables", "[]"),
    _unflagged("sqlite", "read_query", "no such table", query="SELECT * FROM customers"),
    _unflagged("sqlite", "read_query", "syntax error", query="SELECT FROM"),
    _unflagged("sqlite", "read_query", "Only SELECT", query="DELETE FROM customers"),
    _fails("sqlite", "read_query", INVALID, "required property"),
    _unflagged("redis", "get", "Connection refused", key="a"),
    # A mapping that the SDK wraps once more: {"result": {"error": "..."}}.
    _fails("redis", "rename", UNAVAILABLE, "Connection refused", old_key="a", new_key="b"),
    _fails("redis", "unsubscribe", NOT_FOUND, "was not found", subscription_id="first"),
    _fails(
        "redis", "read_messages", INVALID, "greater than", subscription_id="first", timeout_ms=-1
    ),
    # The tool's own answer breaks its output schema; it has no arguments that could be fixed.
    _fails("redis", "dbsize", CRASHED, "dbsizeOutput"),
    _fails("redis", "lrange", INVALID, "valid integer", name="a", start="first", stop=1),
    _works("shell", "shell_execute", "notes.txt", command=["ls"], directory="<repository>"),
    _fails(
        "shell",
        "shell_execute",
        FORBIDDEN,
        "not allowed",
        command=["rm", "notes.txt"],
        directory="<repository>",
    ),
    _fails(
        "shell",
        "shell_execute",
        NOT_FOUND,
        "No such file",
        command=["ls", "no.txt"],
        directory="<repository>",
    ),
    _fails(
        "shell",
        "shell_execute",
        TIMEOUT,
        "timed out",
        command=["tail", "-f", "notes.txt"],
        directory="<repository>",
        timeout=1,
    ),
    _fails("shell", "shell_execute", INVALID, "not of type", command="ls", directory="<folder>"),
)

CALLS = (*TIME, *GIT, *FETCH, *MOTHERDUCK, *EXCEL, *OTHERS)
