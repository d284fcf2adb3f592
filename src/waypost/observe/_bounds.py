"""Keep the attribute sets of an instrument few, whatever names come in."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import RLock

from ._names import OTHER, SERVER, TOOL_NAME, Value

_lock = RLock()
"""Held for a look-up, never while anything foreign runs; a child process starts with a free one."""


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603 -- a forked child cannot wait for a thread that it does not have
    _lock = RLock()  # pragma: no cover -- runs in forked children, which leave by os._exit


if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
    os.register_at_fork(after_in_child=_renew_lock)

SPANS_REMEMBERED = 1_024
_RESERVED = 5
"""One in so many sets is kept for tools and servers that go by ``_OTHER``."""


class AttributeSets:
    """
    The attribute sets that one instrument has used.

    Past the limit a set is recorded with tool and server ``_OTHER``; if even those run out,
    everything else in it is ``_OTHER`` too, so that sums stay exact.

    Args:
        keys: The attributes of the instrument, in the order in which their values are given.
    """

    def __init__(self, keys: tuple[str, ...], limit: int) -> None:
        self._keys = keys
        self._limit = limit
        self._named = limit - limit // _RESERVED
        self._sets: dict[tuple[Value | None, ...], dict[str, Value]] = {}

    def of(self, *values: Value | None) -> dict[str, Value]:
        """Return the set for *values*, ``None`` for an absent one, or what stands in its place."""
        known = self._sets.get(values)
        return known if known is not None else self._new(values)

    def _new(self, values: tuple[Value | None, ...]) -> dict[str, Value]:
        others = tuple(
            OTHER if key in (TOOL_NAME, SERVER) and value is not None else value
            for key, value in zip(self._keys, values, strict=True)
        )
        none = tuple(None if value is None else OTHER for value in values)
        with _lock:
            for candidate, limit in ((values, self._named), (others, self._limit)):
                if candidate in self._sets or len(self._sets) < limit:
                    return self._sets.setdefault(candidate, self._named_values(candidate))
        return self._named_values(none)

    def _named_values(self, values: tuple[Value | None, ...]) -> dict[str, Value]:
        named = zip(self._keys, values, strict=True)
        return {key: value for key, value in named if value is not None}


class EventCounts:
    """How many events each of the latest spans has got from us."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: OrderedDict[int, int] = OrderedDict()

    def admits(self, span_id: int) -> bool:
        with _lock:
            count = self._counts.pop(span_id, 0)
            self._counts[span_id] = count + 1
            if len(self._counts) > SPANS_REMEMBERED:
                self._counts.popitem(last=False)
        return count < self._limit


class Marks:
    """Which chain the latest spans were marked for."""

    def __init__(self) -> None:
        self._chains: OrderedDict[int, str | None] = OrderedDict()

    def put(self, span_id: int, chain_id: str | None) -> None:
        with _lock:
            self._chains[span_id] = chain_id
            if len(self._chains) > SPANS_REMEMBERED:
                self._chains.popitem(last=False)

    def take(self, span_id: int, chain_id: str | None) -> bool:
        """Whether the span was marked for that chain; afterwards it is not."""
        with _lock:
            if chain_id is None or self._chains.get(span_id) != chain_id:
                return False
            del self._chains[span_id]
            return True
