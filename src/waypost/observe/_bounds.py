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
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._named = limit - limit // _RESERVED
        self._seen: set[tuple[Value, ...]] = set()

    def bound(self, attributes: dict[str, Value]) -> dict[str, Value]:
        """Return *attributes*, or what is recorded in their place."""
        if self._admits(attributes, self._named):
            return attributes
        others = {
            key: OTHER if key in (TOOL_NAME, SERVER) else value for key, value in attributes.items()
        }
        if self._admits(others, self._limit):
            return others
        return dict.fromkeys(attributes, OTHER)

    def _admits(self, attributes: dict[str, Value], limit: int) -> bool:
        # The keys belong to the set: without a server it has as many values as without a tool.
        key = (*attributes, *attributes.values())
        if key in self._seen:
            return True
        with _lock:
            if len(self._seen) >= limit:
                return False
            self._seen.add(key)
        return True


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
