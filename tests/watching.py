"""Observers, scopes and clocks of hosts, as tests of the pipeline use them: a public protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

from waypost import CallStart, Observation

BUSY: Mapping[str, Any] = MappingProxyType(
    {
        "status": "error",
        "error_code": "rate_limited",
        "message": "Slow down.",
        "retry_after_seconds": 20,
    }
)
BUSY_ADVICE = {"retryable": True, "next_action": "Wait 20 s, then make the same call."}
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def busy() -> dict[str, Any]:
    """A failure of its own: the tool names a delay, so nothing was done."""
    return dict(BUSY)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def fail_after(self, seconds: float, exception: BaseException) -> NoReturn:
        """Be a tool that takes *seconds* and raises."""
        self.now += seconds
        raise exception


@dataclass
class Held:
    """A scope that writes down how it ended."""

    trace_id: str | None = TRACE
    span_id: str | None = SPAN
    sampled: bool = True
    ended: list[Observation] = field(default_factory=list)

    def end(self, observation: Observation) -> None:
        self.ended.append(observation)


class Watcher:
    """Keeps all that an observer is told; its scope is *scope*."""

    def __init__(self, scope: Held | None = None) -> None:
        self.scope = scope
        self.starts: list[CallStart] = []
        self.seen: list[Observation] = []
        self.faults: list[str] = []

    def begin(self, start: CallStart) -> Held | None:
        self.starts.append(start)
        return self.scope

    def __call__(self, observation: Observation) -> None:
        self.seen.append(observation)

    def fault(self, where: str) -> None:
        self.faults.append(where)

    @property
    def endings(self) -> list[tuple[str | None, str]]:
        return [(observation.tool_name, observation.ending) for observation in self.seen]


class Guest:
    """An observer that does what it is told to at each of its four doors."""

    def __init__(
        self,
        *,
        begin: Callable[[], object] | None = None,
        end: Callable[[], object] | None = None,
        call: Callable[[], object] | None = None,
        fault: Callable[[], object] | None = None,
    ) -> None:
        self._begin, self._call, self._fault = begin, call, fault
        self._end = end

    def begin(self, start: CallStart) -> Any:
        if self._begin is not None:
            return self._begin()
        return self

    trace_id = None
    span_id = None
    sampled = True

    def end(self, observation: Observation) -> None:
        if self._end is not None:
            self._end()

    def __call__(self, observation: Observation) -> None:
        if self._call is not None:
            self._call()

    def fault(self, where: str) -> None:
        if self._fault is not None:
            self._fault()


def raising(exception: BaseException) -> Callable[[], object]:
    """Return a function that raises *exception*."""

    def fail() -> object:
        raise exception

    return fail
