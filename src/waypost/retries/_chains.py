"""
Which attempt is this, was the advice followed, is the budget spent: the only place that decides.

State, event and time go in, state and facts come out; nothing is kept here. Two states belong to a
call: the `Chain` of its arguments and the `Trail` of its tool, both within one scope.
"""

from __future__ import annotations

from typing import NamedTuple

from ..core._model import ErrorClass, NextStep, RetryAdvice, RetryOutcome, Stop

CHAIN_ATTEMPTS = 3
"""Attempts of one chain before waypost says to stop."""
ROW_FAILURES = 10
"""Failures of one class in a row, whatever the arguments, before it does."""
LIFETIME_SECONDS = 3_600.0
"""So long after its last call a chain is forgotten, and a trail with it."""
_SHORTEST_WAIT_SECONDS = 1.0
"""What counts as waiting where no delay was named."""
_WAITED_SHARE = 0.9
"""So much of a named delay is enough: clocks differ."""

CORRECTING = frozenset(
    (NextStep.FIX_ARGUMENTS, NextStep.LIST_FIRST, NextStep.REDUCE_SCOPE, NextStep.ASK_USER)
)
"""Steps after which a call with other arguments is what was asked for."""


class Failed(NamedTuple):
    """
    A failed attempt, as the next call is compared with it.

    Attributes:
        ended_at: Seconds of a monotonic clock.

        step: The step that was advised at its end.

        delay_seconds: The delay that the tool named, or ``None``.

        key: The fingerprint of the call, or ``None`` where it could not be told.

        words: The fingerprint of what the tool said, but for its numbers, times and ids; or
            ``None``.

        arguments: Four bytes of a fingerprint of each argument, if its step asks to correct them.

        trace_id: 32 hexadecimal digits, or ``None``.

        span_id: 16 hexadecimal digits, or ``None``.
    """

    ended_at: float
    chain_id: str
    attempt: int
    error_class: ErrorClass
    step: NextStep
    retryable: bool
    key: bytes | None = None
    words: bytes | None = None
    delay_seconds: float | None = None
    arguments: bytes = b""
    trace_id: str | None = None
    span_id: str | None = None
    sampled: bool = True


class Chain(NamedTuple):
    """
    The attempts of one call, from its first failure on.

    Attributes:
        attempt: The number of the latest.

        open_calls: Calls under that number that run, counted until the first of them fails.

        failed: The latest failure.

        stormed: Its storm has been reported.

        seen_at: When a call of it last began or ended, in seconds.
    """

    id: str
    attempt: int
    open_calls: int
    failed: Failed
    stormed: bool
    seen_at: float


class Trail(NamedTuple):
    """
    What one scope saw of one tool since it first failed there.

    Attributes:
        failed: The latest failure.

        later_calls: Calls of the tool that began after it.

        rows: How many failures of each class there were since the tool last worked.

        stormed: The classes whose storm has been reported since.

        seen_at: When a call of the tool last ended in a failure, in seconds.
    """

    failed: Failed
    later_calls: int
    rows: tuple[tuple[ErrorClass, int], ...]
    stormed: frozenset[ErrorClass]
    seen_at: float


class Started(NamedTuple):
    """
    A call that runs.

    Attributes:
        chain_id: ``None`` for a first attempt: its chain begins when it fails.

        retry_of: The failure that came before it, or ``None``.

        repeats: Whether it has the arguments of that failure.

        gap_seconds: If it does, from the end of that failure to its own begin; never below zero.

        after: The latest failure of its tool when it began.
    """

    chain_id: str | None = None
    attempt: int = 1
    after: Failed | None = None
    retry_of: Failed | None = None
    repeats: bool = False
    gap_seconds: float = 0.0


class Facts(NamedTuple):
    """
    What is known at the end of a call.

    Attributes:
        chain_id: That which the outcome is about; ``None`` for a first call that works.

        outcome: ``None`` unless a failure came before.

        advice: The same.

        stop: Why waypost says to stop, or ``None``.

        storm: This is to be reported as a storm; once a chain, and once a row.
    """

    chain_id: str | None = None
    outcome: RetryOutcome | None = None
    advice: RetryAdvice | None = None
    stop: Stop | None = None
    storm: bool = False

    @property
    def exhausted(self) -> bool:
        """Whether a budget is spent."""
        return self.stop is not None and self.stop is not Stop.WAITED


States = tuple[Chain | None, Trail | None]

FIRST = Started()
"""A call of a tool of which no failure is known."""


def begin(
    chain: Chain | None,
    trail: Trail | None,
    *,
    now: float,
    key: bytes | None,
    lifetime_seconds: float = LIFETIME_SECONDS,
) -> tuple[Chain | None, Trail | None, Started]:
    """
    Number a call that begins.

    It is the next attempt if the one before has ended in a failure; beside an identical call that
    still runs it has the same number, and is no retry.

    Args:
        key: The fingerprint of the call; ``None`` is like no other, and follows nothing.
    """
    if chain is not None and now - chain.seen_at > lifetime_seconds:
        chain = None
    if trail is not None and now - trail.seen_at > lifetime_seconds:
        trail = None
    after = None
    left = None
    if trail is not None:
        after, later_calls, rows, stormed, seen_at = trail
        if not later_calls and key is not None and after.key not in (key, None):
            left = after
        trail = Trail(after, later_calls + 1, rows, stormed, seen_at)
    if chain is None:
        return None, trail, Started(None, 1, after, left)
    chain_id, attempt, open_calls, failed, stormed_chain, _ = chain
    if failed.attempt != attempt:
        chain = Chain(chain_id, attempt, open_calls + 1, failed, stormed_chain, now)
        return chain, trail, Started(chain_id, attempt, after)
    attempt += 1
    chain = Chain(chain_id, attempt, 1, failed, stormed_chain, now)
    gap = max(0.0, now - failed.ended_at)
    return chain, trail, Started(chain_id, attempt, after, failed, True, gap)


def succeed(
    chain: Chain | None, trail: Trail | None, started: Started, *, kept_argument: bool
) -> tuple[Chain | None, Trail | None, Facts]:
    """
    End a call that worked: its chain is over, and so is every row of its tool.

    A failure that ended while this call ran still waits for the call that corrects it.

    Args:
        kept_argument: Whether it has an argument in common with the failure before it, or the tool
            takes a single one.
    """
    if _own(chain, started):
        chain = None
    if trail is not None and trail.rows:
        trail = Trail(trail.failed, trail.later_calls, (), _NOBODY, trail.seen_at)
    failed = started.retry_of
    if failed is None:
        return chain, trail, Facts(started.chain_id)
    if started.repeats:
        outcome = RetryOutcome.RECOVERED
    elif failed.step in CORRECTING and kept_argument:
        outcome = RetryOutcome.CORRECTED
    else:
        outcome = RetryOutcome.ABANDONED
    advice = _advice(started, failed, worked=True)
    return chain, trail, Facts(failed.chain_id, outcome, advice)


def _own(chain: Chain | None, started: Started) -> bool:
    """Whether *chain* is that of the call; one that began beside a first attempt is."""
    return chain is not None and started.chain_id in (None, chain.id)


def fail(
    chain: Chain | None, trail: Trail | None, started: Started, failed: Failed
) -> tuple[Chain | None, Trail, Facts]:
    """
    End a call that failed.

    If its chain is over meanwhile, or forgotten, it stays so: the next call is a first attempt.

    Args:
        failed: Its `attempt` is that of *started*, and so is its chain, or a new one that begins
            with it; its step is what is advised unless waypost says to stop.
    """
    if trail is None and started.chain_id is None:
        if started.retry_of is None:
            return _first_failure(failed)
        chain = None  # without the trail of its tool a chain is forgotten, too
    rows, row = _lengthened(trail.rows if trail is not None else (), failed.error_class)
    warned = trail.stormed if trail is not None else _NOBODY
    before = started.retry_of
    advice = outcome = None
    if before is not None:
        advice = _advice(started, before, worked=False)
        outcome = RetryOutcome.FAILED if started.repeats else RetryOutcome.ABANDONED
    stop = _stop_of(started, failed, row, advice)
    if stop is not None:
        failed = failed._replace(step=NextStep.REPORT)
    storm = row >= ROW_FAILURES and failed.error_class not in warned
    if storm:
        warned |= {failed.error_class}
    if chain is not None and _own(chain, started):
        failed = failed._replace(chain_id=chain.id)
        storm = (storm or started.attempt >= CHAIN_ATTEMPTS) and not chain.stormed
        chain = _failed_again(chain, failed, storm=storm)
    elif started.chain_id is None:
        chain = Chain(failed.chain_id, 1, 0, failed, storm, failed.ended_at)
    facts = Facts(failed.chain_id, outcome, advice, stop, storm)
    return chain, Trail(failed, 0, rows, warned, failed.ended_at), facts


def _first_failure(failed: Failed) -> tuple[Chain, Trail, Facts]:
    """What a call comes to of whose tool nothing was known: the most common case, in short."""
    chain_id, now = failed.chain_id, failed.ended_at
    chain = Chain(chain_id, 1, 0, failed, False, now)
    return chain, Trail(failed, 0, ((failed.error_class, 1),), _NOBODY, now), Facts(chain_id)


_NOBODY: frozenset[ErrorClass] = frozenset()

_Rows = tuple[tuple[ErrorClass, int], ...]


def _lengthened(rows: _Rows, error_class: ErrorClass) -> tuple[_Rows, int]:
    """Return *rows* with one failure more, and how long that row is now."""
    if not rows:
        return ((error_class, 1),), 1
    lengths = dict(rows)
    length = lengths[error_class] = lengths.get(error_class, 0) + 1
    return tuple(lengths.items()), length


def _failed_again(chain: Chain, failed: Failed, *, storm: bool) -> Chain:
    """The chain after one more failure; that of an earlier attempt comes too late to count."""
    latest = failed if failed.attempt in (chain.attempt, chain.failed.attempt) else chain.failed
    stormed = chain.stormed or storm
    return Chain(chain.id, chain.attempt, chain.open_calls, latest, stormed, failed.ended_at)


def leave(chain: Chain | None, trail: Trail | None, started: Started) -> States:
    """End a call of which nothing is known, such as one that was cancelled: all is as it was."""
    if trail is not None and trail.failed == started.after and trail.later_calls:
        trail = trail._replace(later_calls=trail.later_calls - 1)
    if chain is None or chain.id != started.chain_id or chain.attempt != started.attempt:
        return chain, trail
    failed = chain.failed
    if failed.attempt == chain.attempt:
        return chain, trail
    if chain.open_calls > 1:
        return chain._replace(open_calls=chain.open_calls - 1), trail
    return chain._replace(attempt=failed.attempt), trail


def _stop_of(started: Started, failed: Failed, row: int, advice: RetryAdvice | None) -> Stop | None:
    """Why no repeat is advised after *failed*: the widest reason there is."""
    if row >= ROW_FAILURES:
        return Stop.ROW
    if started.attempt >= CHAIN_ATTEMPTS:
        return Stop.ATTEMPTS
    before = started.retry_of
    waited = (
        before is not None
        and before.step is NextStep.WAIT
        and advice is RetryAdvice.FOLLOWED
        and before.words is not None
        and before.words == failed.words
    )
    return Stop.WAITED if waited else None


_IGNORED_BY_REPEATING = frozenset(
    (
        NextStep.FIX_ARGUMENTS,
        NextStep.LIST_FIRST,
        NextStep.REDUCE_SCOPE,
        NextStep.ASK_PERMISSION,
        NextStep.USE_OTHER_TOOL,
        NextStep.REPORT,
    )
)
"""Steps that the same call with the same arguments does not take."""


def _advice(started: Started, failed: Failed, *, worked: bool) -> RetryAdvice:
    """What *started* made of the step that *failed* advised."""
    step = failed.step
    if not started.repeats:
        return RetryAdvice.FOLLOWED if step in CORRECTING else RetryAdvice.UNKNOWN
    if step is NextStep.WAIT:
        wanted = _SHORTEST_WAIT_SECONDS  # also where the tool says 0: it was told a few seconds
        if failed.delay_seconds is not None and failed.delay_seconds > 0:
            wanted = _WAITED_SHARE * failed.delay_seconds
        return RetryAdvice.FOLLOWED if started.gap_seconds >= wanted else RetryAdvice.TOO_EARLY
    if step in _IGNORED_BY_REPEATING:
        return RetryAdvice.IGNORED
    # The other steps happen elsewhere, with the user or in the host: that it works is the proof.
    return RetryAdvice.FOLLOWED if worked and step is not NextStep.NONE else RetryAdvice.UNKNOWN
