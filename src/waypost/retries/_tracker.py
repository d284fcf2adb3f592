"""Ask the store which attempt a call is, and tell it how the call ended."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from typing import TypeVar

from ..core._guide import Guided
from ..core._model import Failure, NextStep
from . import _chains as chains
from ._chains import FIRST, Chain, Facts, Failed, Started, Trail
from ._fingerprint import (
    chain_key_of,
    copy_of,
    prints_of,
    share_one,
    trail_key_of,
    words_print_of,
)
from ._store import AttemptStore


class Tracked:
    """
    A call that is followed, from its begin to its end.

    Attributes:
        began_at: Seconds of a monotonic clock.

        chain_key: ``None`` where the call is like no other, and while nobody needs to know.

        compared: Whether *chain_key* has been worked out.

        facts: What is known at its end; ``None`` before, and for one that was left.
    """

    __slots__ = (
        "arguments", "began_at", "chain_key", "compared", "facts", "started", "trail_key",
    )  # fmt: skip

    def __init__(self, trail_key: bytes, arguments: object, began_at: float) -> None:
        self.trail_key = trail_key
        self.arguments = arguments
        self.began_at = began_at
        self.started = FIRST
        self.chain_key: bytes | None = None
        self.compared = False
        self.facts: Facts | None = None


class Tracker:
    """
    Follows calls through their retries.

    Most calls work, and most tools have not failed: then nothing is kept of a call, and its
    arguments, copied while it runs, are compared with nothing.

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
        trail_key = trail_key_of(scope, server, tool_name, self._key)
        if not self._store.update(None, trail_key, _failed_before):
            copied = copy_of(arguments)
            if copied is not None:
                return Tracked(trail_key, copied, now)
        call = Tracked(trail_key, arguments, now)
        chain_key = self._compare(call)

        def change(
            chain: Chain | None, trail: Trail | None
        ) -> tuple[Chain | None, Trail | None, Started]:
            return chains.begin(
                chain, trail, now=now, key=chain_key, lifetime_seconds=lifetime_seconds
            )

        call.started = _answer(self._store.update(chain_key, trail_key, change), Started)
        return call

    def succeed(self, call: Tracked) -> Facts:
        """End a call that worked."""
        if not call.compared:
            if not self._store.update(None, call.trail_key, _failed_before):
                call.facts = _WORKED
                return _WORKED
            self._compare(call)
        started = call.started
        kept = not started.repeats and self._keeps_argument(call)
        told = self._store.update(
            call.chain_key,
            call.trail_key,
            lambda chain, trail: chains.succeed(chain, trail, started, kept_argument=kept),
        )
        call.facts = _answer(told, Facts)
        return call.facts

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
        if not call.compared:
            self._compare(call)
        started, key = call.started, self._key
        prints, words = b"", None
        if guided.step in chains.CORRECTING:
            prints = prints_of(call.arguments, key)
        elif guided.step is _WAIT and call.chain_key is not None:
            words = words_print_of(guided.error_code, failure.message, key)
        failed = Failed(
            now,
            started.chain_id or f"{_ids.getrandbits(64):016x}",
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
        told = self._store.update(
            call.chain_key,
            call.trail_key,
            lambda chain, trail: chains.fail(chain, trail, started, failed),
        )
        call.facts = _answer(told, Facts)
        return call.facts

    def leave(self, call: Tracked) -> None:
        """End a call of which nothing is known: all is as if it had not begun."""
        if call.compared:
            self._store.update(
                call.chain_key,
                call.trail_key,
                lambda chain, trail: (*chains.leave(chain, trail, call.started), None),
            )

    def _compare(self, call: Tracked) -> bytes | None:
        call.chain_key = chain_key_of(call.trail_key, call.arguments, self._key)
        call.compared = True
        return call.chain_key

    def _keeps_argument(self, call: Tracked) -> bool:
        """
        Whether it has an argument of the failure before it, or the tool takes a single one.

        It does if this call has one, and that before had no more.
        """
        failed, arguments = call.started.retry_of, call.arguments
        if failed is None or not isinstance(arguments, Mapping):
            return False
        prints = prints_of(arguments, self._key)
        single = len(prints) == _ONE and len(failed.arguments) <= _ONE
        return single or share_one(prints, failed.arguments)


def _failed_before(_: Chain | None, trail: Trail | None) -> tuple[None, Trail | None, bool]:
    """Whether a failure of the tool is known; changes nothing."""
    return None, trail, trail is not None


def _answer(answer: T, kind: type[T]) -> T:
    """What a store hands back is what a change said, or the store is broken."""
    if type(answer) is not kind:
        raise TypeError(f"update returned a {type(answer).__name__}, not the answer of the change")
    return answer


T = TypeVar("T")
_ids = random.Random()  # noqa: S311 -- ids of chains; hosts may seed the one that all share
if hasattr(os, "register_at_fork"):  # pragma: no branch -- absent on Windows only
    os.register_at_fork(after_in_child=_ids.seed)

_WORKED = Facts()
_WAIT = NextStep.WAIT  # a look-up in an enumeration costs 100 ns
_ONE = len(prints_of({"": None}, b""))
