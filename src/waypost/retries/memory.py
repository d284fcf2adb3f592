"""Attempts of this process, in memory."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from threading import RLock
from typing import TypeVar

from ..core._model import LimitError
from ._chains import Chain, Trail
from ._store import Change

__all__ = ["MemoryAttemptStore"]

T = TypeVar("T")
S = TypeVar("S")


class MemoryAttemptStore:
    """
    Keeps the latest chains, and as many trails; exact under threads and tasks.

    A child that was forked begins with nothing: the calls in it are its own.

    Args:
        max_chains: How many are kept; those that were changed longest ago are forgotten first.

    .. versionadded:: 0.1.0
    """

    def __init__(self, max_chains: int = 4_096) -> None:
        if type(max_chains) is not int or max_chains < 1:
            raise LimitError(
                f"MemoryAttemptStore(max_chains={max_chains!r}): use an integer of 1 or more."
            )
        self._max_chains = max_chains
        self._start_empty()
        _stores.add(self)

    def _start_empty(self) -> None:
        self._chains: OrderedDict[bytes, Chain] = OrderedDict()
        self._trails: OrderedDict[bytes, Trail] = OrderedDict()
        # Reentrant: a signal handler, or the collector, may call a tool while the lock is held.
        self._lock = RLock()

    def __len__(self) -> int:
        """How many chains are kept."""
        return len(self._chains)

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        """Replace the states under two keys at once; see `AttemptStore`."""
        chains, trails = self._chains, self._trails
        with self._lock:
            trail_before = trails.get(trail_key)
            if chain_key is None:
                _, trail, answer = change(None, trail_before)
                if trail is trail_before:
                    return answer  # nobody wanted to change anything
            else:
                chain, trail, answer = change(chains.get(chain_key), trail_before)
                if chain is None:
                    chains.pop(chain_key, None)
                else:
                    _put(chains, chain_key, chain, self._max_chains)
            if trail is None:
                trails.pop(trail_key, None)
            else:
                _put(trails, trail_key, trail, self._max_chains)
            return answer


def _put(states: OrderedDict[bytes, S], key: bytes, state: S, most: int) -> None:
    """Put a state last, and drop the first when there are too many."""
    states[key] = state
    states.move_to_end(key)
    if len(states) > most:
        states.popitem(last=False)


_stores: weakref.WeakSet[MemoryAttemptStore] = weakref.WeakSet()


def _begin_child() -> None:  # pragma: no cover -- runs in forked children, which leave by os._exit
    """A lock that another thread held at the fork would stay locked in the child for ever."""
    for store in list(_stores):
        store._start_empty()


if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
    os.register_at_fork(after_in_child=_begin_child)
