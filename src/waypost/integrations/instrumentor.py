"""Guidance without a change of code: ``opentelemetry-instrument python host.py`` finds this."""

from __future__ import annotations

import logging
import os
import secrets
import weakref
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

from ..core._model import WaypostError
from ..pipeline import Enricher
from ._extras import extra
from ._options import enricher_of
from ._tool_calls import ToolCalls, with_trace

with extra("instrument"):
    import wrapt
    from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # no __all__
        BaseInstrumentor,
    )

__all__ = ["WaypostInstrumentor"]

_log = logging.getLogger("waypost")


class WaypostInstrumentor(BaseInstrumentor):
    """
    Puts waypost into the clients and servers of MCP's SDK, 1.x and 2.x, and into FastMCP's servers.

    ``opentelemetry-instrument`` finds it by its entry point; a program calls
    ``WaypostInstrumentor().instrument()``, before it makes servers. Every ``ClientSession`` is
    instrumented, and so is what stands on it: FastMCP's client, langchain-mcp-adapters, the OpenAI
    Agents SDK, Pydantic AI. After ``uninstrument()`` all of them, and the servers that were made in
    between, behave as if they had never been instrumented.

    ``instrument()`` takes ``enricher``, for clients, and ``server_enricher``; by default they are
    made with the options that the environment names: ``WAYPOST_TEXT``, ``WAYPOST_STRUCTURED`` and
    ``WAYPOST_RULES`` with a value as `waypost.Enricher` takes it; ``WAYPOST_TEXT_TRACE``,
    ``WAYPOST_CHANGE_RESULTS``, ``WAYPOST_TRUST_ANNOTATIONS`` and ``WAYPOST_CAPTURE_MESSAGE`` with
    ``true`` or ``false``. One that cannot be used is told on the logger ``waypost``, and left out.

    .. versionadded:: 0.1.0
    """

    _patches: _Patches | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Name what has to be installed for it to do anything."""
        return ("mcp >= 1.24",)

    def _instrument(self, **kwargs: Any) -> None:
        options = _options_of(os.environ)
        host, server = kwargs.get("enricher"), kwargs.get("server_enricher")
        self._patches = _Patches(
            Enricher(**options) if host is None else enricher_of(host, "host"),
            Enricher(side="server", **options) if server is None else enricher_of(server, "server"),
        )

    def _uninstrument(self, **kwargs: Any) -> None:  # noqa: ARG002 -- as its base class calls it
        if self._patches is not None:
            self._patches.take_back()
            self._patches = None


class _Patches:
    """What stands in the SDK between ``instrument`` and ``uninstrument``."""

    def __init__(self, host: Enricher, server: Enricher) -> None:
        self._active = True
        self._host = host
        self._server = server
        self._placed: list[tuple[Any, str, Any]] = []
        # By id: a host's own class may not be hashable.
        self._sessions: dict[int, ToolCalls] = {}
        self._servers: dict[int, Any] = {}
        self._added: dict[int, tuple[weakref.ref[Any], list[Any]]] = {}
        self._place("mcp", "Client", "call_tool", self._call_tool)
        self._place("mcp", "ClientSession", "call_tool", self._call_tool)
        self._place("mcp", "Client", "list_tools", self._list_tools)
        self._place("mcp", "ClientSession", "list_tools", self._list_tools)
        self._place("mcp.server.lowlevel", "Server", "__init__", self._init)
        self._place("mcp.server.lowlevel", "Server", "call_tool", self._register)
        self._place("mcp.server.lowlevel", "Server", "list_tools", self._register)
        wrapt.register_post_import_hook(self._see_fastmcp, "fastmcp")

    def _place(self, module: str, owner: str, name: str, wrapper: Callable[..., Any]) -> None:
        """Put *wrapper* around a method, if this generation of the SDK has it."""
        kind = getattr(import_module(module), owner, None)
        if kind is not None and hasattr(kind, name):
            wrapt.wrap_function_wrapper(kind, name, wrapper)
            self._placed.append((kind, name, vars(kind)[name]))

    def take_back(self) -> None:
        """Restore every method that nobody else has wrapped meanwhile; the others do nothing."""
        self._active = False
        for kind, name, placed in self._placed:
            if vars(kind).get(name) is placed:
                setattr(kind, name, placed.__wrapped__)
        for calls in self._servers.values():
            calls.active = False
        for reference, added in self._added.values():
            server = reference()
            if server is not None:
                server.middleware[:] = [one for one in server.middleware if one not in added]

    # Clients

    def _calls_of(self, session: Any) -> ToolCalls:
        calls = self._sessions.get(id(session))
        if calls is None:
            calls = ToolCalls(self._host, None, session=secrets.token_hex(8))
            self._sessions[id(session)] = calls
            weakref.finalize(session, self._sessions.pop, id(session), None)
        return calls

    async def _call_tool(self, wrapped: Any, session: Any, args: Any, kwargs: Any) -> Any:
        if not self._active:
            return await wrapped(*args, **kwargs)
        name = args[0] if args else kwargs.get("name")
        arguments = args[1] if len(args) > 1 else kwargs.get("arguments")
        with self._calls_of(session).open(name, arguments) as call:
            meta = kwargs.get("meta")
            if (traced := with_trace(meta, call)) is not meta:
                kwargs = {**kwargs, "meta": traced}
            return call.enrich(await wrapped(*args, **kwargs))

    async def _list_tools(self, wrapped: Any, session: Any, args: Any, kwargs: Any) -> Any:
        listed = await wrapped(*args, **kwargs)
        first = not args and not any(kwargs.values())
        self._calls_of(session).learn_page(listed, first=first)
        return listed

    # Servers

    def _init(self, wrapped: Any, server: Any, args: Any, kwargs: Any) -> None:
        """SDK 2.x: every server has a list of middleware; FastMCP's has a place of its own."""
        wrapped(*args, **kwargs)
        own = type(server).__module__.partition(".")[0] != "fastmcp"
        if own and self._active and isinstance(getattr(server, "middleware", None), list):
            calls = self._calls_in(server)
            server.middleware.append(calls.middleware)
            self._remember(server, [calls.middleware])

    def _remember(self, server: Any, added: list[Any]) -> None:
        self._added[id(server)] = weakref.ref(server), added
        weakref.finalize(server, self._added.pop, id(server), None)

    def _register(self, wrapped: Any, server: Any, args: Any, kwargs: Any) -> Any:
        """SDK 1.x: what registers a handler is made by a method of the server."""
        register = wrapped(*args, **kwargs)

        def registered(function: Any) -> Any:
            before = dict(server.request_handlers)
            kept = register(function)
            for kind, stand_around in self._calls_in(server).handlers.items():
                handle = server.request_handlers.get(kind)
                if self._active and handle is not None and handle is not before.get(kind):
                    server.request_handlers[kind] = stand_around(handle)
            return kept

        return registered

    def _calls_in(self, server: Any) -> Any:
        from .mcp import ServerCalls  # noqa: PLC0415 -- only where the SDK is

        calls = self._servers.get(id(server))
        if calls is None:
            calls = self._servers[id(server)] = ServerCalls(self._server, None)
            weakref.finalize(server, self._servers.pop, id(server), None)
        return calls

    def _see_fastmcp(self, module: Any) -> None:
        if self._active and hasattr(module, "FastMCP"):
            self._place("fastmcp", "FastMCP", "__init__", self._init_fastmcp)

    def _init_fastmcp(self, wrapped: Any, server: Any, args: Any, kwargs: Any) -> None:
        wrapped(*args, **kwargs)
        if not self._active:
            return
        before = list(getattr(server, "middleware", ()))
        try:
            from .fastmcp import enrich_server  # noqa: PLC0415 -- only where it is

            enrich_server(server, enricher=self._server)
        except WaypostError as fault:  # an older generation
            _log.warning("waypost does not see the calls of %r: %s", server, fault)
        else:
            self._remember(server, [one for one in server.middleware if one not in before])


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
