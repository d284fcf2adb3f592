"""Types of the public API as a type checker infers them: checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, assert_type

from mcp import Client, ClientSession
from mcp.types import CallToolResult

import waypost
from waypost import (
    Actor,
    Call,
    CallStart,
    Enricher,
    ErrorClass,
    Guidance,
    LimitError,
    Limits,
    NextStep,
    Observation,
    Observer,
    RuleBook,
    RuleError,
    Scope,
    Source,
    ToolFailure,
    WaypostError,
)
from waypost.integrations.mcp import enrich_client
from waypost.observe import default_observers
from waypost.observe.memory import MemoryObserver
from waypost.observe.otel import OpenTelemetryObserver
from waypost.observe.stdlib import LoggingObserver
from waypost.observe.structlog import StructlogObserver


def pure_functions(payload: dict[str, Any], result: object) -> None:
    assert_type(waypost.error_guidance("locked"), tuple[bool, str | None])
    assert_type(waypost.error_guidance("locked", "m"), tuple[bool, str | None])
    assert_type(waypost.error_code_of(result), str | None)
    assert_type(waypost.enrich_error_payload(payload), bool)
    assert_type(waypost.enrich_result(result), Any)
    assert_type(waypost.enrich_result(result, trace_id="a"), Any)
    assert_type(waypost.guidance_of(result), Guidance | None)
    assert_type(waypost.guidance_of(result, side_effects=False), Guidance | None)
    assert_type(waypost.failure("locked", "m", retry_after_seconds=2.5), dict[str, Any])
    assert_type(ToolFailure(error_code="locked", message="m").retryable, bool | None)


def values(guidance: Guidance, observation: Observation, start: CallStart) -> None:
    assert_type(guidance.error_class, ErrorClass)
    assert_type(guidance.error_code, str)
    assert_type(guidance.retryable, bool)
    assert_type(guidance.next_action, str | None)
    assert_type(guidance.next_step, NextStep)
    assert_type(guidance.actor, Actor)
    assert_type(guidance.may_repeat, bool)
    assert_type(guidance.wait_seconds, float | None)
    assert_type(guidance.retry_after_seconds, float | None)
    assert_type(guidance.rule, str)
    assert_type(guidance.retryable_source, Source)
    assert_type(guidance.next_action_source, Source)
    assert_type(observation.ending, Literal["success", "failure", "raised", "cancelled", "unseen"])
    assert_type(observation.side, Literal["host", "server"])
    assert_type(observation.guidance, Guidance | None)
    assert_type(observation.duration_seconds, float | None)
    assert_type(observation.trace_id, str | None)
    assert_type(start.tool_name, str | None)
    assert_type(start.one_shot, bool)
    assert_type(Limits().attribute_sets, int)


def pipeline(enricher: Enricher, failed: CallToolResult, payload: dict[str, int]) -> None:
    assert_type(enricher.enrich_result(failed), CallToolResult)
    assert_type(enricher.enrich_result(payload), dict[str, int])
    with enricher.call("search", arguments={"q": 1}, server="shop", timeout_seconds=5) as call:
        assert_type(call, Call)
        assert_type(call.enrich(failed), CallToolResult)
        assert_type(call.enrich("text"), str)
    assert_type(call.guidance, Guidance | None)
    assert_type(call.payload, dict[str, Any] | None)
    assert_type(call.trace_id, str | None)


class _Span:
    trace_id: str | None = None
    span_id: str | None = None
    sampled: bool = True

    def end(self, observation: Observation) -> None: ...


class _Observer:
    def begin(self, start: CallStart) -> Scope | None:
        return _Span()

    def __call__(self, observation: Observation) -> None: ...


def observers(seen: list[Observation], clock: Callable[[], float]) -> None:
    plain: Observer = seen.append
    Enricher()
    Enricher((plain, _Observer(), MemoryObserver(), LoggingObserver(), StructlogObserver()))
    Enricher([OpenTelemetryObserver(span="current", limits=Limits(span_events=1))], clock=clock)
    Enricher(default_observers(span="own"), side="server", text="block", structured="never")
    assert_type(default_observers(), tuple[Observer, ...])
    assert_type(MemoryObserver().observations, tuple[Observation, ...])


def rules(path: Path) -> None:
    assert_type(waypost.load_rules("rules.toml"), RuleBook)
    assert_type(waypost.load_rules(path), RuleBook)
    Enricher(rules="rules.toml")
    Enricher(rules=path)


async def integrations(client: Client, session: ClientSession) -> None:
    assert_type(enrich_client(client), Client)
    assert_type(enrich_client(session, server="shop", enricher=Enricher(())), ClientSession)
    async with enrich_client(client, side_effects={"search": False}) as entered:
        assert_type(entered, Client)


def errors(wrong: RuleError | LimitError) -> WaypostError:
    assert_type(wrong, RuleError | LimitError)
    value: ValueError = wrong
    del value
    return wrong
