"""The same decisions as `waypost.retries._chains`, worked out anew from all that happened."""

from __future__ import annotations

from dataclasses import dataclass, field

from waypost.core._model import ErrorClass, NextStep


@dataclass(eq=False)
class Run:
    """One call: what it is compared by, and how it went."""

    chain: Life
    number: int
    began: float
    previous: Run | None = None
    repeats: bool = False
    seen: Run | None = None
    ending: str | None = None
    ended: float = 0.0
    order: int = 0
    error_class: ErrorClass | None = None
    step: NextStep | None = None
    delay: float | None = None
    key: bytes = b""
    words: bytes | None = None


@dataclass(eq=False)
class Life:
    """A chain from its first call to the success that ends it."""

    runs: list[Run] = field(default_factory=list)
    touched: float = 0.0
    stormed: bool = False

    @property
    def counted(self) -> list[Run]:
        return [run for run in self.runs if run.ending != "left"]


@dataclass(eq=False)
class Walk:
    """The calls of one tool in one scope, in order of what happened."""

    events: list[tuple[str, Run]] = field(default_factory=list)
    warned: set[ErrorClass] = field(default_factory=set)

    @property
    def latest(self) -> Run | None:
        return next((run for what, run in reversed(self.events) if what == "fail"), None)

    def begun_since(self, failure: Run) -> int:
        where = self.events.index(("fail", failure))
        return sum(what == "begin" and run.ending != "left" for what, run in self.events[where:])

    def row(self, error_class: ErrorClass) -> int:
        count = 0
        for what, run in reversed(self.events):
            if what == "work":
                break
            count += what == "fail" and run.error_class is error_class
        return count


class Reference:
    """A store that remembers everything but what it is told to forget."""

    def __init__(self, capacity: int, lifetime: float) -> None:
        self.capacity = capacity
        self.lifetime = lifetime
        self.lives: dict[bytes, Life] = {}
        self.walks: dict[bytes, Walk] = {}
        self.ends = 0

    def _touch(self, kept: dict[bytes, object], key: bytes) -> None:
        if key in kept:
            kept[key] = kept.pop(key)
        if len(kept) > self.capacity:
            del kept[next(iter(kept))]

    def _settle(self, key: bytes, tool: bytes) -> None:
        self._touch(self.lives, key)  # type: ignore[arg-type]
        self._touch(self.walks, tool)  # type: ignore[arg-type]

    def begin(self, key: bytes, tool: bytes, now: float) -> Run:
        life, walk = self.lives.get(key), self.walks.get(tool)
        if life is not None and (now - life.touched > self.lifetime or not life.counted):
            life = None
        if walk is not None and (failure := walk.latest) and now - failure.ended > self.lifetime:
            del self.walks[tool]
            walk = None
        latest = walk.latest if walk else None
        left = latest if latest and walk and not walk.begun_since(latest) else None
        life = self.lives[key] = life or Life()
        number = max((run.number for run in life.counted), default=1)
        peers = [run for run in life.counted if run.number == number]
        failed = [run for run in peers if run.ending == "fail"]
        run = Run(life, number, now, seen=latest, key=key)
        if failed:
            run.number, run.repeats = number + 1, True
            run.previous = max(failed, key=lambda one: one.order)
        elif not peers and left is not None and left.key != key:
            run.previous = left
        life.runs.append(run)
        life.touched = now
        if walk is not None:
            walk.events.append(("begin", run))
        self._settle(key, tool)
        return run

    def end(self, key: bytes, tool: bytes, run: Run, ending: str, now: float) -> dict[str, object]:
        run.ending, run.ended = ending, now
        self.ends += 1
        run.order = self.ends
        walk = self.walks.get(tool)
        facts: dict[str, object] = dict.fromkeys(("outcome", "advice", "stop"))
        facts["storm"] = False
        own = self.lives.get(key) is run.chain
        if ending == "fail":
            walk = self.walks.setdefault(tool, Walk())
            walk.events.append(("fail", run))
            facts |= self._judge(run, walk, own=own)
            if own:
                run.chain.touched = now
        elif own and (ending == "work" or not run.chain.counted):
            del self.lives[key]
        if ending == "work" and walk is not None:
            walk.events.append(("work", run))
            walk.warned.clear()
            if walk.latest is run.seen:
                del self.walks[tool]
        if run.previous is not None and ending != "left":
            facts |= {"outcome": _outcome(run), "advice": _advice(run)}
        self._settle(key, tool)
        return facts

    def _judge(self, run: Run, walk: Walk, *, own: bool) -> dict[str, object]:
        assert run.error_class is not None
        row = walk.row(run.error_class)
        storm = row >= 10 and run.error_class not in walk.warned
        if row >= 10:
            walk.warned.add(run.error_class)
        if own:
            storm = (storm or run.number >= 3) and not run.chain.stormed
            run.chain.stormed |= storm
        stop = _stop(run, row)
        if stop is not None:
            run.step = NextStep.REPORT
        return {"stop": stop, "storm": storm}


def _stop(run: Run, row: int) -> str | None:
    """Why waypost says to stop after *run*, which failed."""
    before = run.previous
    if row >= 10:
        return "row"
    if run.number >= 3:
        return "attempts"
    if before is None or not run.repeats or before.step is not NextStep.WAIT:
        return None
    same = before.words is not None and before.words == run.words
    return "waited" if same and _advice(run) == "followed" else None


def _outcome(run: Run) -> str:
    assert run.previous is not None
    if run.repeats:
        return "recovered" if run.ending == "work" else "failed"
    steps = ("fix_arguments", "list_first", "reduce_scope", "ask_user")
    return "corrected" if run.ending == "work" and run.previous.step in steps else "abandoned"


def _advice(run: Run) -> str:
    """The table of retries, row by row."""
    assert run.previous is not None
    delay = run.previous.delay
    long_enough = 1.0 if delay is None else 0.9 * delay
    waited = run.began - run.previous.ended >= long_enough
    if_it_works = "followed" if run.ending == "work" else "unknown"
    same, other = {
        "wait": ("followed" if waited else "too_early", "unknown"),
        "fix_arguments": ("ignored", "followed"),
        "list_first": ("ignored", "followed"),
        "reduce_scope": ("ignored", "followed"),
        "ask_permission": ("ignored", "unknown"),
        "use_other_tool": ("ignored", "unknown"),
        "report": ("ignored", "unknown"),
        "sign_in": (if_it_works, "unknown"),
        "reconnect": (if_it_works, "unknown"),
        "prepare": (if_it_works, "unknown"),
        "check_effect": (if_it_works, "unknown"),
        "ask_user": (if_it_works, "followed"),
        "none": ("unknown", "unknown"),
    }[str(run.previous.step)]
    return same if run.repeats else other
