"""What keeps the attempts of calls between one call and the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ._chains import Chain, Trail

T = TypeVar("T")

Change = Callable[[Chain | None, Trail | None], tuple[Chain | None, Trail | None, T]]
"""A pure function of the states before, to those after and an answer."""


class AttemptStore(Protocol):
    """
    Keeps a state for each chain and one for each tool, by opaque keys.

    Times in them are those of the clock of the `Enricher`. The default one is that of the machine,
    so enrichers that share a store over machines need another, ``Enricher(clock=time.time)``.

    A state is a ``NamedTuple`` of texts, numbers, bytes and enumerations, so it can be pickled.

    A store may forget: the next call is then a first attempt. It must not mix: a change sees the
    states that the change before it left, from whatever thread, task or process.

    .. versionadded:: 0.1.0
    """

    def update(self, chain_key: bytes | None, trail_key: bytes, change: Change[T], /) -> T:
        """
        Replace the states under two keys by what *change* makes of them, at once.

        Args:
            chain_key: 16 bytes; ``None`` where the call is like no other: its chain is not kept.

            trail_key: 16 bytes.

            change: Called with ``None`` for a state that is not known, and returns ``None`` for one
                to forget. May be called again if others changed the states meanwhile.

        Returns:
            The answer of *change*.
        """
        ...
