"""Ask the store which attempt a call is, and tell it how the call ended."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

from ..core._guide import Guided
from ..core._model import Failure, NextStep
from . import _chains as chains
from ._chains import Chain, Facts, Failed, Started, Trail
from ._fingerprint import keys_of, prints_of, share_one, words_print_of
from ._store import AttemptStore


class Tracked(NamedTuple):
    """
    A call that is followed, from its begin to its end.

    Attributes:
        chain_key: ``None`` where the call is like no other.
    """

    chain_key: bytes | None
    trail_key: bytes
    started: Started
    arguments: object


class Tracker:
    """
    Follows calls through their retries.

    Args:
        key: What fingerprints are made with; a store that several processes share needs one.
    """

    def __init__(self, store: AttemptStore, key: bytes) -> None:
        self._store = store
        self._key = key

    def begin(
        self,
        scope: str,
        server: str | None,
        tool_name: str,
        arguments: object,
        *,
        now: float,
        lifetime_seconds: float = chains.LIFETIME_SECONDS,
    ) -> Tracked:
        """
        Number a call that begins.

        Args:
            scope: What retries stay within, such as a run or a trace. No advice crosses it.

            arguments: ``None`` if nobody gave them: such a call is like no other.

            now: Seconds of a monotonic clock.
        """
        trail_key, chain_key = keys_of(scope, server, tool_name, arguments, self._key)

        def change(chain: Chain | None, trail: Trail | None) -> tuple[Chain, Trail | None, Started]:
            return chains.begin(
                chain,
                trail,
                now=now,
                key=chain_key,
                new_id=f"{random.getrandbits(64):016x}",
                lifetime_seconds=lifetime_seconds,
            )

        started = self._store.update(chain_key, trail_key, change)
        return Tracked(chain_key, trail_key, started, arguments)

    def succeed(self, call: Tracked) -> Facts:
        """End a call that worked."""
        started = call.started
        kept = not started.repeats and self._keeps_argument(call)
        return self._store.update(
            call.chain_key,
            call.trail_key,
            lambda chain, trail: chains.succeed(chain, trail, started, kept_argument=kept),
        )

    def fail(
        self,
        call: Tracked,
        failure: Failure,
        guided: Guided,
        *,
        now: float,
        trace_id: str | None = None,
        span_id: str | None = None,
        sampled: bool = True,
    ) -> Facts:
        """End a call that failed; a retry can be linked to its span."""
        started, key = call.started, self._key
        prints, words = b"", None
        if guided.step in chains.CORRECTING:
            prints = prints_of(call.arguments, key)
        elif guided.step is _WAIT and call.chain_key is not None:
            words = words_print_of(guided.error_code, failure.message, key)
        failed = Failed(
            now,
            started.chain_id,
            started.attempt,
            guided.advice.error_class,
            guided.step,
            guided.retryable,
            call.chain_key,
            words,
            guided.delay,
            prints,
            trace_id,
            span_id,
            sampled,
        )
        return self._store.update(
            call.chain_key,
            call.trail_key,
            lambda chain, trail: chains.fail(chain, trail, started, failed),
        )

    def leave(self, call: Tracked) -> None:
        """End a call of which nothing is known: all is as if it had not begun."""
        self._store.update(
            call.chain_key,
            call.trail_key,
            lambda chain, trail: (*chains.leave(chain, trail, call.started), None),
        )

    def _keeps_argument(self, call: Tracked) -> bool:
        """Whether it has an argument of the failure before it, or each of them has a single one."""
        failed, arguments = call.started.retry_of, call.arguments
        if failed is None or not isinstance(arguments, Mapping):
            return False
        prints = prints_of(arguments, self._key)
        return len(prints) == len(failed.arguments) == _ONE or share_one(prints, failed.arguments)


_WAIT = NextStep.WAIT  # a look-up in an enumeration costs 100 ns
_ONE = len(prints_of({"": None}, b""))
