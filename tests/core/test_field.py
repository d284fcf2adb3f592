"""How codes are built in the field: verdicts with objects nobody has shown us, and their twins."""

from __future__ import annotations

import pytest

from waypost.core._classify import classify


@pytest.mark.parametrize(
    ("code", "row"),
    [
        # a limit of calls passes, a limit of things does not
        ("TOO_MANY_SEARCH_REQUESTS", "rate.of_calls"),
        ("HOURLY_EXPORT_LIMIT_EXCEEDED", "rate.of_calls"),
        ("OVER_QUERY_LIMIT", "rate.of_calls"),
        ("MaxInFlightLimitExceeded", "rate.of_calls"),
        ("TOO_MANY_ATTACHMENTS", "limit.vague"),
        ("DAILY_REQUESTS_LIMIT_EXCEEDED", "limit.vague"),
        ("RequestSizeLimitExceeded", "too_large"),
        # what an object is doing now, and what it is
        ("InvalidVolume.SnapshotCreating", "state.passing"),
        ("CLUSTER_REBOOTING", "state.passing"),
        ("FILE_SHARING_VIOLATION", "state.passing"),
        ("JobNotFinished", "state.passing"),
        ("InvalidVolume", "invalid.name"),
        ("HeaderParsingError", "invalid.last"),
        # what the name says of itself
        ("ACCOUNT_NOT_FOUND_RETRYABLE", "said.retryable"),
        ("SQLNonTransientConnectionException", "said.final"),
        ("FLOOD_PREMIUM_WAIT", "rate.limited"),
        ("IMPORT_NOT_YET_UPLOADED", "wait.name"),
        ("MaxRetriesError", "unknown"),
        # locks, and what is merely called so
        ("TABLE_LOCKED_BY_EXPORT", "lock.name"),
        ("ACCESS_DENIED_ITEM_LOCKED", "account.locked"),
        ("OptimisticLockMismatch", "precondition"),
        ("OptimisticLockException", "precondition"),
        ("THREAD_LOCKED", "unknown"),
        # who is in charge moved
        ("NotALeader", "cluster.name"),
        ("ShardNotMember", "cluster.name"),
        # a person or a program stopped it, or a transaction met another
        ("ABORTED", "aborted.name"),
        ("ERR_ABORTED", "cancelled.name"),
        ("AbortError", "cancelled.name"),
        # credentials that ran out, that are missing, that were refused
        ("ACCESS_TOKEN_EXPIRED", "auth.expired"),
        ("LOGIN_REQUIRED", "auth.required"),
        ("InvalidAccessToken", "auth.token_refused"),
        ("AUTHENTICATION_FAILED", "auth.failed"),
        ("ProxyAuthError", "auth.failed_name"),
        # contents that are not there, and a service that is not
        ("PREVIEW_NOT_AVAILABLE", "not.there"),
        ("BROKER_NOT_AVAILABLE", "unavailable"),
        ("NO_BACKEND_AVAILABLE", "unavailable.all"),
        # lines
        ("ERR_NETWORK_CHANGED", "connection.lost"),
        ("CommunicationsException", "connection.lost"),
        ("WouldBlock", "overloaded"),
    ],
)
def test_verdict_decides_whatever_its_object(code: str, row: str) -> None:
    """Our promise: a new code that follows the naming is covered."""
    assert classify(code).id == row


@pytest.mark.parametrize(
    ("message", "row"),
    [
        ("Authentication failed for user 'shop'", "auth.failed"),
        ("Authentication failed: the token has expired", "auth.expired"),
        ("Authentication failed. Please log in again.", "auth.required"),
        ("Can't reach the order service at 10.0.0.7", "connection.refused"),
        ("There are no brokers available", "unavailable.all"),
        ("None of the options is available to you", "unknown"),
        ("The number of rows exceeds the allowed limit (500).", "too_large"),
        ("The request rate exceeds the allowed limit", "rate.limited"),
        ("The booking is already cancelled.", "precondition"),
        ("The run was cancelled by the user while work was in progress", "cancelled"),
        ("unknown job_id", "unknown.thing"),
        ("Multiple rows were found when exactly one was required", "invalid.words"),
        ("database or disk is full", "quota.message"),
        ("database disk image is malformed", "data.lost"),
        ("Error acquiring the state lock: ConditionalCheckFailedException", "lock.held"),
        (
            "The request failed. (Status Code: 403; Error Code: ExpiredToken; ID: c5)",
            "auth.expired",
        ),
        (
            "2 validation errors for CallToolResult\ncontent.0.text\n  Field required",
            "answer.invalid",
        ),
        ("The configured connection string is not valid.", "misconfigured"),
        ("You need to connect to a database before you can read it.", "not.ready"),
        ("This request must be retried", "unavailable"),
        ("The colour is missing, please try again", "invalid.words"),
        ("Every excursion wants a leader", "unknown"),
        ("This airport has no connection", "unknown"),
    ],
)
def test_message_is_read_for_what_it_complains_of(message: str, row: str) -> None:
    """Issue 4, item 4: texts without a code; boilerplate gives way to any reason."""
    assert classify(None, message).id == row
