"""Guidance on failed MCP tool calls: can the same call succeed, and what is the next step."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; typing would be half the cost of this import

if TYPE_CHECKING:
    from .core._classify import RuleBook, default_rules
    from .core._clean import Limits
    from .core._model import (
        Actor,
        ErrorClass,
        LimitError,
        NextStep,
        OptionError,
        Outcome,
        RetryAdvice,
        RetryOutcome,
        Rule,
        RuleError,
        Source,
        WaypostError,
    )
    from .core._observation import Attempt, CallStart, Observation, Observer, RetryOf, Scope
    from .core._row import rule
    from .guidance import (
        Guidance,
        enrich_error_payload,
        enrich_result,
        error_code_of,
        error_guidance,
        failure,
        guidance_of,
    )
    from .payloads import ToolFailure
    from .pipeline import Call, Enricher
    from .retries._store import AttemptStore
    from .retries.memory import MemoryAttemptStore
    from .rule_file import load_rules
    from .telemetry import setup_telemetry

__all__ = [
    "Actor",
    "Attempt",
    "AttemptStore",
    "Call",
    "CallStart",
    "Enricher",
    "ErrorClass",
    "Guidance",
    "LimitError",
    "Limits",
    "MemoryAttemptStore",
    "NextStep",
    "Observation",
    "Observer",
    "OptionError",
    "Outcome",
    "RetryAdvice",
    "RetryOf",
    "RetryOutcome",
    "Rule",
    "RuleBook",
    "RuleError",
    "Scope",
    "Source",
    "ToolFailure",
    "WaypostError",
    "default_rules",
    "enrich_error_payload",
    "enrich_result",
    "error_code_of",
    "error_guidance",
    "failure",
    "guidance_of",
    "load_rules",
    "rule",
    "setup_telemetry",
]

__version__ = "0.1.0"

_ROOMS = {
    "core._classify": ("RuleBook", "default_rules"),
    "core._clean": ("Limits",),
    "core._model": (
        "Actor", "ErrorClass", "LimitError", "NextStep", "OptionError", "Outcome", "RetryAdvice",
        "RetryOutcome", "Rule", "RuleError", "Source", "WaypostError",
    ),
    "core._row": ("rule",),
    "core._observation": (
        "Attempt", "CallStart", "Observation", "Observer", "RetryOf", "Scope",
    ),
    "guidance": (
        "Guidance", "enrich_error_payload", "enrich_result", "error_code_of", "error_guidance",
        "failure", "guidance_of",
    ),
    "payloads": ("ToolFailure",),
    "pipeline": ("Call", "Enricher"),
    "retries._store": ("AttemptStore",),
    "retries.memory": ("MemoryAttemptStore",),
    "rule_file": ("load_rules",),
    "telemetry": ("setup_telemetry",),
}  # fmt: skip
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 -- for those who use anything

    value: object = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
