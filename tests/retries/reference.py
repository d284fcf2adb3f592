"""The same decisions as `waypost.retries._chains`, worked out anew from all that happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from waypost.core._model import ErrorClass, NextStep


@dataclass(eq=False)
class Run:
    """One call: what it is compared by, and how it went."""

    name: str
    key: str
    tool: str
    began: float
    number: int = 1
    compared: bool = False
    chain: Life | None = None
    previous: Run | None = None
    repeats: bool = False
    seen: Run | None = None
    ending: str | None = None
    ended: float = 0.0
    order: int = 0
    error_class: ErrorClass | None = None
    step: NextStep | None = None
    delay: float | None = None
    words: str | None = None


@dataclass(eq=False)
class Life:
    """A chain from its first failure to the success that ends it."""

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
        self.lives: dict[str, Life] = {}
        self.walks: dict[str, Walk] = {}
        self.begins = self.ends = 0

    def _touch(self, kept: dict[str, Any], key: str) -> None:
        if key in kept:
            kept[key] = kept.pop(key)
        if len(kept) > self.capacity:
            del kept[next(iter(kept))]

    def _settle(self, run: Run) -> None:
        self._touch(self.lives, run.key)
        self._touch(self.walks, run.tool)

    def begin(self, key: str, tool: str, now: float) -> Run:
        self.begins += 1
        run = Run(f"{self.begins:016x}", key, tool, now)
        life, walk = self.lives.get(key), self.walks.get(tool)
        if walk is None:
            return run
        run.compared = True
        if life is not None and now - life.touched > self.lifetime:
            del self.lives[key]
            life = None
        if (failure := walk.latest) and now - failure.ended > self.lifetime:
            del self.walks[tool]
            walk = None
        run.seen = walk.latest if walk else None
        if life is not None:
            self._join(run, life)
        elif walk and run.seen and not walk.begun_since(run.seen) and run.seen.key != key:
            run.previous = run.seen
        if walk is not None:
            walk.events.append(("begin", run))
        self._settle(run)
        return run

    def _join(self, run: Run, life: Life) -> None:
        run.number = max(other.number for other in life.counted)
        failed = [
            other for other in life.counted if other.number == run.number and other.ending == "fail"
        ]
        if failed:
            run.number, run.repeats = run.number + 1, True
            run.previous = max(failed, key=lambda other: other.order)
        run.chain, life.touched = life, run.began
        life.runs.append(run)

    def end(self, run: Run, ending: str, now: float) -> dict[str, object]:
        run.ending, run.ended = ending, now
        self.ends += 1
        run.order = self.ends
        facts: dict[str, object] = dict.fromkeys(("outcome", "advice", "stop"))
        facts["storm"] = False
        life = self.lives.get(run.key)
        own = life if life is not None and run.chain in (None, life) else None
        if ending == "fail":
            facts |= self._fail(run, own)
        elif ending == "work" and (run.compared or run.tool in self.walks):
            self._work(run, own)
        if run.previous is not None and ending != "left":
            facts |= {"outcome": _outcome(run), "advice": _advice(run)}
        if run.compared or (ending != "left" and run.tool in self.walks):
            self._settle(run)
        return facts

    def _fail(self, run: Run, own: Life | None) -> dict[str, object]:
        if run.chain is None and (own is None or run.tool not in self.walks):
            own = self.lives[run.key] = Life()
        walk = self.walks.setdefault(run.tool, Walk())
        walk.events.append(("fail", run))
        return self._judge(run, walk, own)

    def _work(self, run: Run, own: Life | None) -> None:
        if own is not None:
            del self.lives[run.key]
        if (walk := self.walks.get(run.tool)) is not None:
            walk.events.append(("work", run))
            walk.warned.clear()

    def _judge(self, run: Run, walk: Walk, life: Life | None) -> dict[str, object]:
        assert run.error_class is not None
        row = walk.row(run.error_class)
        storm = row >= 10 and run.error_class not in walk.warned
        if row >= 10:
            walk.warned.add(run.error_class)
        if life is not None:
            if run.chain is None:
                life.runs.append(run)
            run.chain, life.touched = life, run.ended
            storm = (storm or run.number >= 3) and not life.stormed
            life.stormed |= storm
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
    same = run.step is NextStep.WAIT and before.words == run.words
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
    long_enough = 0.9 * delay if delay else 1.0
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
