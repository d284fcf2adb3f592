"""The calls of a server's tools, and what the server said about the tools when they were listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from inspect import Parameter, signature
from typing import Any, NamedTuple

from ..pipeline import Call, Enricher

__all__ = ["ToolCalls", "takes_meta", "with_trace"]

_TOOLS_REMEMBERED = 10_000


class _Listed(NamedTuple):
    annotations: object = None
    output_schema: object = ...
    """Not known: then it may bind structured content."""


_UNLISTED = _Listed()


class ToolCalls:
    """
    Opens the block around each call of a tool; knows up to 10,000 tools that were listed.

    Args:
        side_effects: By tool name, whether the tool changes something.

        server: The host's name for the server.

        session: Tells the client sessions with one server apart.
    """

    def __init__(
        self,
        enricher: Enricher,
        side_effects: Mapping[str, bool] | None,
        *,
        server: str | None = None,
        session: str | None = None,
    ) -> None:
        self._enricher = enricher
        self._side_effects = side_effects or {}
        self._server = server
        self._session = session
        self._listed: dict[str, _Listed] = {}
        self._coming: dict[str, _Listed] | None = None
        self._all_listed = False

    def open(self, name: object, arguments: Any) -> Call:
        """Return the block for a call of the tool *name*, as whoever calls it wrote it."""
        known = name if isinstance(name, str) else ""
        listed = self._listed.get(known, _UNLISTED)
        # A name that is on no list is the model's invention, and no metric attribute.
        invented = not known or (self._all_listed and listed is _UNLISTED)
        return self._enricher.call(
            None if invented else known,
            arguments={} if arguments is None else arguments,
            server=self._server,
            session=self._session,
            annotations=listed.annotations,
            side_effects=self._side_effects.get(known),
            output_schema=listed.output_schema,
        )

    def learn_page(self, listed: object, *, first: bool) -> None:
        """Remember a page of the list, as the SDK hands it on: its ``ListToolsResult``, or JSON."""
        tools = _member(listed, "tools")
        if isinstance(tools, Iterable):
            self.learn(tools, first=first, last=not _member(listed, "next_cursor", "nextCursor"))

    def learn(self, tools: Iterable[object], *, first: bool = True, last: bool = True) -> None:
        """
        Remember *tools*, given as objects of a framework or as JSON.

        Args:
            first: Whether a list begins here that tells which tools are gone: at its end those that
                are not on it. Never on the server side, where each client may be shown tools of its
                own, nor where a filter hides some.

            last: Whether the list ends here.
        """
        if first:
            self._coming = {}
        for tool in tools:
            name = _member(tool, "name")
            if not isinstance(name, str):
                continue
            schema = _member(tool, "output_schema", "outputSchema")
            known = _Listed(_member(tool, "annotations"), schema)
            for listed in (self._listed, self._coming):
                if listed is not None and (name in listed or len(listed) < _TOOLS_REMEMBERED):
                    listed[name] = known
        if last:
            if self._coming is not None:
                self._listed, self._coming = self._coming, None
            self._all_listed = True


def with_trace(meta: Mapping[str, Any] | None, call: Call) -> Mapping[str, Any] | None:
    """
    Return the ``_meta`` of a request, with the trace that *call* belongs to.

    Only with MCP's SDK 1.x: 2.x propagates it by itself. It is ``traceparent`` alone, never baggage
    (https://www.w3.org/TR/trace-context/).
    """
    if call.trace_id is None or call.span_id is None or _propagates():
        return meta
    flags = "01" if call.sampled else "00"
    return {"traceparent": f"00-{call.trace_id}-{call.span_id}-{flags}", **(meta or {})}


@cache
def _propagates() -> bool:
    return not version("mcp").startswith("1.")


def takes_meta(call_tool: Callable[..., object]) -> bool:
    """Whether a client's method takes the ``_meta`` of a request; one of a host's own may not."""
    try:
        parameters = signature(call_tool).parameters
    except (TypeError, ValueError):
        return False
    kinds = {parameter.kind for parameter in parameters.values()}
    return "meta" in parameters or Parameter.VAR_KEYWORD in kinds


def _member(tool: object, *names: str) -> object:
    """The first member that is there, of an object or of JSON; ``None`` if there is none."""
    for name in names:
        if isinstance(tool, Mapping):
            if name in tool:
                return tool[name]
        elif hasattr(tool, name):
            return getattr(tool, name)
    return None
