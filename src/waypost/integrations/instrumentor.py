"""Guidance without a change of code: ``opentelemetry-instrument python host.py`` finds this."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from ..core._model import WaypostError
from ..pipeline import Enricher
from ._extras import extra
from ._tool_calls import ToolCalls, with_trace

with extra("instrument"):
    from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # no __all__
        BaseInstrumentor,
    )
    from opentelemetry.instrumentation.utils import unwrap
    from wrapt import wrap_function_wrapper

__all__ = ["WaypostInstrumentor"]

_log = logging.getLogger("waypost")

_SESSION = "mcp.client.session"
_SERVER = "mcp.server.lowlevel.server"


class WaypostInstrumentor(BaseInstrumentor):
    """
    Puts waypost into the clients and servers of MCP's SDK, 1.x and 2.x.

    ``opentelemetry-instrument`` finds it by its entry point; a program calls
    ``WaypostInstrumentor().instrument()``, before it makes servers. Every ``ClientSession`` is
    instrumented, and so is what stands on it: FastMCP's client, langchain-mcp-adapters, the OpenAI
    Agents SDK, Pydantic AI. ``uninstrument()`` restores all of it, and servers that were made in
    between answer as if they had never been instrumented.

    ``instrument()`` takes ``enricher``, for clients, and ``server_enricher``; by default they are
    made with the options that the environment names: ``WAYPOST_TEXT``, ``WAYPOST_STRUCTURED`` and
    ``WAYPOST_RULES`` with a value as `waypost.Enricher` takes it; ``WAYPOST_TEXT_TRACE``,
    ``WAYPOST_CHANGE_RESULTS``, ``WAYPOST_TRUST_ANNOTATIONS`` and ``WAYPOST_CAPTURE_MESSAGE`` with
    ``true`` or ``false``. One that cannot be used is told on the logger ``waypost``, and left out.

    .. versionadded:: 0.1.0
    """

    _sessions: WeakKeyDictionary[Any, ToolCalls]
    _servers: WeakSet[Any]

    def instrumentation_dependencies(self) -> Collection[str]:
        """Name what has to be installed for it to do anything."""
        return ("mcp >= 1.24",)

    def _instrument(self, **kwargs: Any) -> None:
        options = _options_of(os.environ)
        host = kwargs.get("enricher") or Enricher(**options)
        server = kwargs.get("server_enricher") or Enricher(side="server", **options)
        self._sessions = WeakKeyDictionary()
        self._servers = WeakSet()
        _wrap(_SESSION, "ClientSession.call_tool", self._call_tool_with(host))
        _wrap(_SESSION, "ClientSession.list_tools", self._list_tools_with(host))
        _wrap(_SERVER, "Server.__init__", self._init_with(server))
        _wrap(_SERVER, "Server.call_tool", self._register_with(server))

    def _uninstrument(self, **kwargs: Any) -> None:  # noqa: ARG002 -- as its base class calls it
        for module, names in (
            (_SESSION, ("ClientSession.call_tool", "ClientSession.list_tools")),
            (_SERVER, ("Server.__init__", "Server.call_tool")),
        ):
            for name in names:
                _unwrap(module, name)
        for calls in self._servers:
            calls.active = False

    # Clients

    def _calls_of(self, session: Any, enricher: Enricher) -> ToolCalls:
        calls = self._sessions.get(session)
        if calls is None:
            calls = ToolCalls(enricher, None, session=secrets.token_hex(8))
            self._sessions[session] = calls
        return calls

    def _call_tool_with(self, enricher: Enricher) -> Callable[..., Any]:
        async def call_tool(wrapped: Any, session: Any, args: Any, kwargs: Any) -> Any:
            name = args[0] if args else kwargs.get("name")
            arguments = args[1] if len(args) > 1 else kwargs.get("arguments")
            with self._calls_of(session, enricher).open(name, arguments) as call:
                if not _propagates():
                    kwargs = {**kwargs, "meta": with_trace(kwargs.get("meta"), call)}
                return call.enrich(await wrapped(*args, **kwargs))

        return call_tool

    def _list_tools_with(self, enricher: Enricher) -> Callable[..., Any]:
        async def list_tools(wrapped: Any, session: Any, args: Any, kwargs: Any) -> Any:
            listed = await wrapped(*args, **kwargs)
            first = not args and not any(kwargs.values())
            self._calls_of(session, enricher).learn_page(listed, first=first)
            return listed

        return list_tools

    # Servers

    def _init_with(self, enricher: Enricher) -> Callable[..., Any]:
        def init(wrapped: Any, server: Any, args: Any, kwargs: Any) -> None:
            wrapped(*args, **kwargs)
            if isinstance(getattr(server, "middleware", None), list):  # SDK 2.x
                self._attach(server, enricher)

        return init

    def _register_with(self, enricher: Enricher) -> Callable[..., Any]:
        def call_tool(wrapped: Any, server: Any, args: Any, kwargs: Any) -> Any:
            register = wrapped(*args, **kwargs)

            def registered(function: Any) -> Any:
                kept = register(function)
                self._attach(server, enricher)
                return kept

            return registered

        return call_tool

    def _attach(self, server: Any, enricher: Enricher) -> None:
        from .mcp import ServerCalls, attach  # noqa: PLC0415 -- only where the SDK is

        calls = ServerCalls(enricher, None)
        try:
            attach(server, calls)
        except WaypostError as fault:
            _log.warning("waypost does not see the calls of %r: %s", server, fault)
            return
        self._servers.add(calls)


def _propagates() -> bool:
    from .mcp import PROPAGATES  # noqa: PLC0415 -- only where the SDK is

    return PROPAGATES


def _wrap(module: str, name: str, wrapper: Callable[..., Any]) -> None:
    try:
        wrap_function_wrapper(module, name, wrapper)
    except (ImportError, AttributeError) as fault:  # of the other generation of the SDK
        _log.debug("waypost does not instrument %s.%s: %s", module, name, fault)


def _unwrap(module: str, name: str) -> None:
    owner, method = name.split(".")
    try:
        unwrap(f"{module}.{owner}", method)
    except (ImportError, AttributeError) as fault:
        _log.debug("waypost has nothing to restore in %s.%s: %s", module, name, fault)


_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_WORDS: Mapping[str, Collection[str]] = {
    "text": ("append", "block", "never"),
    "structured": ("auto", "always", "never"),
}


def _options_of(environ: Mapping[str, str]) -> dict[str, Any]:
    """The options that the environment names, but those that an `Enricher` would refuse."""
    options: dict[str, Any] = {}
    for name in (*_WORDS, "text_trace", "change_results", "trust_annotations", "capture_message"):
        variable = f"WAYPOST_{name.upper()}"
        given = environ.get(variable, "").strip().lower()
        allowed: Mapping[str, object] = {word: word for word in _WORDS.get(name, ())} or _FLAGS
        if given in allowed:
            options[name] = allowed[given]
        elif given:
            _log.warning("%s=%s is left out: use one of %s.", variable, given, ", ".join(allowed))
    if path := environ.get("WAYPOST_RULES"):
        try:
            Enricher((), rules=path)
        except (WaypostError, OSError) as fault:
            _log.warning("WAYPOST_RULES=%s is left out: %s", path, fault)
        else:
            options["rules"] = path
    return options
