"""An object that stands in for a framework's client, and sees the tool calls that go through it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Self, cast

from ..core._model import OptionError
from ..pipeline import Enricher
from ._options import enricher_of
from ._tool_calls import ToolCalls, takes_meta

__all__ = ["StandIn"]


class StandIn:
    """
    Hands everything on to a client; a subclass adds the methods that call and list tools.

    Raises:
        OptionError: If the client has no ``call_tool``.
    """

    _wanted: ClassVar[str]
    """What to pass instead of an object without ``call_tool``."""

    def __init__(
        self,
        client: object,
        enricher: Enricher | None,
        server: str | None,
        side_effects: Mapping[str, bool] | None,
    ) -> None:
        call_tool = getattr(client, "call_tool", None)
        if not callable(call_tool):
            raise OptionError(f"{type(client).__name__} has no call_tool: pass {self._wanted}.")
        self._client: Any = client
        self._takes_meta = takes_meta(call_tool)
        self._calls = ToolCalls(
            enricher_of(enricher, "host"),
            side_effects,
            server=server,
            session=secrets.token_hex(8),
        )

    def __getattr__(self, name: str) -> Any:
        if name == "_client":  # while copied: there is none yet
            raise AttributeError(name)
        return getattr(self._client, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._client, name, value)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return cast("bool | None", await self._client.__aexit__(kind, exception, traceback))


_OWN = frozenset(("_calls", "_client", "_takes_meta"))
