"""Tool functions whose exceptions come back as failures with guidance."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast, overload

from ..core._model import OptionError
from ..pipeline import Call, Enricher

__all__ = ["guard"]

P = ParamSpec("P")
R = TypeVar("R")

_CONTEXTS = frozenset(("Context", "RunContext", "RunContextWrapper", "ToolContext", "ToolRuntime"))
"""What frameworks hand to a tool beside its arguments, by the names of their classes."""


@overload
def guard(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def guard(
    *,
    enricher: Enricher | None = None,
    tool_name: str | None = None,
    side_effects: bool | None = None,
    raises: type[Exception] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def guard(
    function: Callable[..., Any] | None = None,
    /,
    *,
    enricher: Enricher | None = None,
    tool_name: str | None = None,
    side_effects: bool | None = None,
    raises: type[Exception] | None = None,
) -> Any:
    """
    Return *function*, sync or async, with guidance on what it returns and raises.

    A failure that it returns is enriched, a success is the same object. An exception becomes a
    failure, ``{"status": "error", "error_code", "message", "retryable", ...}``, or, with *raises*,
    an exception of that class with the same as its text. Cancellation and other
    ``BaseException``\\ s pass, and so does MCP's question to the user (-32042).

    Put it under the decorator of the framework, which then sees the signature as it is. Where the
    framework checks results against the return annotation, pass *raises*: a failure is no ``str``.

    Args:
        enricher: By default one of side ``"server"``, which all guards share.

        tool_name: By default the name of the function.

        side_effects: Whether the tool changes something.

        raises: The framework's exception for failed tools, such as ``ToolError``.

    Raises:
        OptionError: If *function* is a generator, which has no single result.

    .. versionadded:: 0.1.0
    """
    if function is None:
        return functools.partial(
            _guarded,
            enricher=enricher,
            tool_name=tool_name,
            side_effects=side_effects,
            raises=raises,
        )
    return _guarded(function)


def _guarded(
    function: Callable[..., Any],
    *,
    enricher: Enricher | None = None,
    tool_name: str | None = None,
    side_effects: bool | None = None,
    raises: type[Exception] | None = None,
) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise OptionError(
            f"guard({function!r}): a generator has no single result; guard what calls it."
        )
    name = tool_name or getattr(function, "__name__", type(function).__name__)
    signature = inspect.signature(function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        arguments = _arguments_of(signature, args, kwargs)
        asked = enricher or _shared()
        return asked.call(name, arguments=arguments, side_effects=side_effects, nested="enrich")

    if _is_async(function):

        @functools.wraps(function)
        async def guarded_async(*args: Any, **kwargs: Any) -> Any:
            with begin(args, kwargs) as call:
                try:
                    return call.enrich(await cast("Awaitable[Any]", function(*args, **kwargs)))
                except Exception as exc:  # noqa: BLE001 -- whatever the tool raises
                    return _told(call, exc, raises)

        return guarded_async

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        with begin(args, kwargs) as call:
            try:
                return call.enrich(function(*args, **kwargs))
            except Exception as exc:  # noqa: BLE001 -- whatever the tool raises
                return _told(call, exc, raises)

    return guarded


def _told(call: Call, exception: Exception, raises: type[Exception] | None) -> object:
    """The failure that stands for *exception*, which is raised on where it is none."""
    failure: object = call.enrich(exception)
    if failure is exception:
        raise exception
    if raises is None:
        return failure
    raise raises(json.dumps(failure)) from exception


@functools.cache
def _shared() -> Enricher:
    return Enricher(side="server")


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 -- of an object that can be called
    )


def _arguments_of(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The arguments by name, without what the framework added; ``None`` if they do not fit."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    return {name: value for name, value in bound.arguments.items() if not _is_context(value)}


def _is_context(value: object) -> bool:
    return any(kind.__name__ in _CONTEXTS for kind in type(value).__mro__)
