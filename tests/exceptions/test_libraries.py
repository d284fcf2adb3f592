"""Exceptions that libraries really raise are sorted by their names and numbers: issue 4, item 3."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import ssl
from collections.abc import Callable
from typing import Any

import pytest

import waypost

if os.environ.get("WAYPOST_LIBRARIES") != "1":
    pytest.skip("runs with the libraries: make matrix ARGS='-s libraries'", allow_module_level=True)

import aiohttp
import anthropic
import botocore.exceptions
import google.api_core.exceptions
import grpc
import httpx
import openai
import psycopg
import psycopg.errors
import pydantic
import pymongo.errors
import redis
import redis.exceptions
import requests
import sqlalchemy.exc
import urllib3.exceptions

REQUEST = httpx.Request("GET", "https://shop.example/orders")


def answered(status: int, body: object = None) -> httpx.Response:
    return httpx.Response(status, request=REQUEST, json=body)


def raised(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- whatever the library raises
        call()
    return caught.value


def of_requests(status: int) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.url = "https://shop.example/orders"
    return response


def of_botocore(code: str) -> Exception:
    error = {"Error": {"Code": code, "Message": "It failed."}, "ResponseMetadata": {}}
    return botocore.exceptions.ClientError(error, "GetOrder")


def of_openai(kind: str, status: int, body: dict[str, Any]) -> Exception:
    return getattr(openai, kind)("It failed.", response=answered(status, body), body=body["error"])


def of_anthropic(kind: str, status: int, error_type: str) -> Exception:
    body = {"type": "error", "error": {"type": error_type, "message": "It failed."}}
    return getattr(anthropic, kind)("It failed.", response=answered(status, body), body=body)


class CallFailed(grpc.RpcError):
    """What a stub raises is private; its text and its methods are these."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def __str__(self) -> str:
        return f"<_InactiveRpcError of RPC that terminated with:\n\tstatus = {self._code}\n>"


class Order(pydantic.BaseModel):
    amount: int


def caused(cause: Exception) -> Exception:
    error = RuntimeError("Could not fetch the order")
    error.__cause__ = cause
    return error


RAISED: dict[str, tuple[Exception, str, bool]] = {
    "httpx connect": (httpx.ConnectError("x", request=REQUEST), "unavailable", True),
    "httpx read": (httpx.ReadTimeout("x", request=REQUEST), "timeout", True),
    "httpx pool": (httpx.PoolTimeout("x", request=REQUEST), "unavailable", True),
    "httpx protocol": (httpx.RemoteProtocolError("x", request=REQUEST), "disconnected", True),
    "httpx scheme": (httpx.UnsupportedProtocol("x", request=REQUEST), "unsupported", False),
    "httpx redirects": (httpx.TooManyRedirects("x", request=REQUEST), "misconfigured", False),
    "httpx url": (httpx.InvalidURL("x"), "invalid", False),
    "httpx 401": (raised(answered(401).raise_for_status), "unauthenticated", True),
    "httpx 403": (raised(answered(403).raise_for_status), "forbidden", False),
    "httpx 404": (raised(answered(404).raise_for_status), "not_found", False),
    "httpx 409": (raised(answered(409).raise_for_status), "precondition", False),
    "httpx 413": (raised(answered(413).raise_for_status), "too_large", False),
    "httpx 422": (raised(answered(422).raise_for_status), "invalid", False),
    "httpx 429": (raised(answered(429).raise_for_status), "rate_limited", True),
    "httpx 500": (raised(answered(500).raise_for_status), "internal", True),
    "httpx 503": (raised(answered(503).raise_for_status), "unavailable", True),
    "requests connection": (requests.ConnectionError("x"), "disconnected", True),
    "requests timeout": (requests.Timeout("x"), "timeout", True),
    "requests ssl": (requests.exceptions.SSLError("x"), "misconfigured", False),
    "requests schema": (requests.exceptions.MissingSchema("x"), "invalid", False),
    "requests 404": (raised(of_requests(404).raise_for_status), "not_found", False),
    "requests 503": (raised(of_requests(503).raise_for_status), "unavailable", True),
    "urllib3 refused": (
        urllib3.exceptions.MaxRetryError(
            None,  # the pool is not asked
            "/",
            OSError(111, "Connection refused"),
        ),
        "unavailable",
        True,
    ),
    "urllib3 protocol": (
        urllib3.exceptions.ProtocolError("Connection aborted.", ConnectionResetError(104, "x")),
        "disconnected",
        True,
    ),
    "aiohttp disconnected": (aiohttp.ServerDisconnectedError(), "disconnected", True),
    "aiohttp timeout": (aiohttp.ServerTimeoutError("x"), "timeout", True),
    "aiohttp payload": (
        aiohttp.ClientPayloadError("Response payload is not completed"),
        "disconnected",
        True,
    ),
    "asyncio timeout": (TimeoutError(), "timeout", True),
    "asyncio queue": (asyncio.QueueFull(), "unavailable", True),
    "asyncio state": (asyncio.InvalidStateError("x"), "precondition", False),
    "botocore throttled": (of_botocore("ThrottlingException"), "rate_limited", True),
    "botocore missing": (of_botocore("NoSuchKey"), "not_found", False),
    "botocore expired": (of_botocore("ExpiredToken"), "unauthenticated", True),
    "botocore denied": (of_botocore("AccessDenied"), "forbidden", False),
    "botocore condition": (
        of_botocore("ConditionalCheckFailedException"),
        "precondition",
        False,
    ),
    "botocore credentials": (
        botocore.exceptions.NoCredentialsError(),
        "unauthenticated",
        True,
    ),
    "botocore region": (botocore.exceptions.NoRegionError(), "misconfigured", False),
    "botocore endpoint": (
        botocore.exceptions.EndpointConnectionError(endpoint_url="https://shop.example"),
        "disconnected",
        True,
    ),
    "google exhausted": (
        google.api_core.exceptions.ResourceExhausted("x"),
        "rate_limited",
        True,
    ),
    "google aborted": (google.api_core.exceptions.Aborted("x"), "conflict", True),
    "google unavailable": (
        google.api_core.exceptions.ServiceUnavailable("x"),
        "unavailable",
        True,
    ),
    "google precondition": (
        google.api_core.exceptions.FailedPrecondition("x"),
        "precondition",
        False,
    ),
    "google deadline": (google.api_core.exceptions.DeadlineExceeded("x"), "timeout", True),
    "google argument": (google.api_core.exceptions.InvalidArgument("x"), "invalid", False),
    "grpc unavailable": (CallFailed(grpc.StatusCode.UNAVAILABLE), "unavailable", True),
    "grpc exists": (CallFailed(grpc.StatusCode.ALREADY_EXISTS), "already_exists", False),
    "grpc unimplemented": (CallFailed(grpc.StatusCode.UNIMPLEMENTED), "unsupported", False),
    "openai rate": (
        of_openai("RateLimitError", 429, {"error": {"code": "rate_limit_exceeded"}}),
        "rate_limited",
        True,
    ),
    "openai quota": (
        of_openai("RateLimitError", 429, {"error": {"code": "insufficient_quota"}}),
        "quota_exhausted",
        False,
    ),
    "openai key": (
        of_openai("AuthenticationError", 401, {"error": {"code": "invalid_api_key"}}),
        "unauthenticated",
        False,
    ),
    "openai length": (
        of_openai("BadRequestError", 400, {"error": {"code": "context_length_exceeded"}}),
        "too_large",
        False,
    ),
    "openai connection": (openai.APIConnectionError(request=REQUEST), "disconnected", True),
    "openai timeout": (openai.APITimeoutError(request=REQUEST), "timeout", True),
    "anthropic rate": (
        of_anthropic("RateLimitError", 429, "rate_limit_error"),
        "rate_limited",
        True,
    ),
    "anthropic overloaded": (
        of_anthropic("APIStatusError", 529, "overloaded_error"),
        "unavailable",
        True,
    ),
    "redis connection": (redis.exceptions.ConnectionError("x"), "disconnected", True),
    "redis loading": (redis.exceptions.BusyLoadingError("x"), "unavailable", True),
    "redis permission": (redis.exceptions.NoPermissionError("x"), "forbidden", False),
    "redis type": (
        redis.exceptions.ResponseError(
            "WRONGTYPE Operation against a key holding the wrong kind of value"
        ),
        "invalid",
        False,
    ),
    "psycopg serialization": (psycopg.errors.SerializationFailure("x"), "conflict", True),
    "psycopg deadlock": (psycopg.errors.DeadlockDetected("x"), "conflict", True),
    "psycopg unique": (psycopg.errors.UniqueViolation("x"), "already_exists", False),
    "psycopg null": (psycopg.errors.NotNullViolation("x"), "invalid", False),
    "psycopg table": (psycopg.errors.UndefinedTable("x"), "not_found", False),
    "psycopg password": (psycopg.errors.InvalidPassword("x"), "unauthenticated", False),
    "psycopg shutdown": (psycopg.errors.AdminShutdown("x"), "unavailable", True),
    "psycopg refused": (
        psycopg.OperationalError("connection failed: Connection refused"),
        "unavailable",
        True,
    ),
    "sqlalchemy serialization": (
        sqlalchemy.exc.OperationalError(
            "SELECT 1", {}, psycopg.errors.SerializationFailure("could not serialize access")
        ),
        "conflict",
        True,
    ),
    "sqlalchemy locked": (
        sqlalchemy.exc.OperationalError(
            "SELECT 1", {}, sqlite3.OperationalError("database is locked")
        ),
        "conflict",
        True,
    ),
    "sqlalchemy pool": (
        sqlalchemy.exc.TimeoutError("QueuePool limit of size 5 reached, connection timed out"),
        "timeout",
        True,
    ),
    "sqlalchemy none": (sqlalchemy.exc.NoResultFound("No row was found"), "not_found", False),
    "sqlalchemy many": (
        sqlalchemy.exc.MultipleResultsFound("Multiple rows were found"),
        "invalid",
        False,
    ),
    "pymongo reconnect": (pymongo.errors.AutoReconnect("x"), "disconnected", True),
    "pymongo selection": (
        pymongo.errors.ServerSelectionTimeoutError("x"),
        "unavailable",
        True,
    ),
    "pymongo duplicate": (pymongo.errors.DuplicateKeyError("x"), "already_exists", False),
    "pymongo conflict": (
        pymongo.errors.OperationFailure(
            "WriteConflict error", 112, {"code": 112, "codeName": "WriteConflict"}
        ),
        "conflict",
        True,
    ),
    "pymongo size": (pymongo.errors.DocumentTooLarge("x"), "too_large", False),
    "pydantic": (raised(lambda: Order(amount="x")), "invalid", False),
    "errno": (OSError(28, "No space left on device"), "quota_exhausted", False),
    "dns": (socket.gaierror(-3, "Temporary failure in name resolution"), "unavailable", True),
    "certificate": (
        ssl.SSLCertVerificationError(1, "certificate verify failed"),
        "misconfigured",
        False,
    ),
    "sqlite": (sqlite3.OperationalError("no such table: orders"), "not_found", False),
    "sqlite full": (
        sqlite3.OperationalError("database or disk is full"),
        "quota_exhausted",
        False,
    ),
    "cause": (caused(ConnectionRefusedError(111, "Connection refused")), "unavailable", True),
    "cause of a library": (caused(psycopg.errors.DeadlockDetected("x")), "conflict", True),
}


@pytest.mark.parametrize(("error", "error_class", "retryable"), RAISED.values(), ids=RAISED)
def test_exception_of_a_library_is_sorted(
    error: Exception, error_class: str, retryable: bool
) -> None:
    """Issue 4, item 3: by class name, its bases, its numbers and what it was raised from."""
    guidance = waypost.guidance_of(error)
    assert guidance is not None
    assert (guidance.error_class.value, guidance.retryable) == (error_class, retryable)
