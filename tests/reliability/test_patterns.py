"""RELIABILITY A13: no text makes a compiled pattern slow."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import waypost
from waypost.integrations._extras import MissingExtraError

SMALL, LARGE = 4_096, 16_384
ATTACKS = 40
TRIES = 3
ROOT = Path(waypost.__file__).parent


def compiled() -> Iterator[re.Pattern[str]]:
    """Every pattern of the package: constants of modules, and what functions make once."""
    for found in pkgutil.walk_packages(waypost.__path__, "waypost."):
        if found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except MissingExtraError:  # of a framework; it may have no pattern that is not seen here
            assert "re.compile" not in (
                ROOT.parent / f"{found.name.replace('.', '/')}.py"
            ).read_text(encoding="utf-8")
            continue
        for value in vars(module).values():
            if isinstance(value, re.Pattern):
                yield value
            elif getattr(value, "__annotations__", {}).get("return") == "re.Pattern[str]":
                yield value()


PATTERNS = sorted({pattern.pattern: pattern for pattern in compiled()}.items())


def literals(pattern: str) -> list[str]:
    """Characters and words that stand in *pattern*, and a few that part them."""
    words = re.findall(r"[a-z]{2,}", pattern)
    return [*dict.fromkeys([*words, *re.sub(r"[\w\\]", "", pattern), "a", "A", "1", " ", "\n"])]


def attacks(pattern: str, size: int) -> Iterator[str]:
    """Repetitions of one to three literals, the last of them cut off or replaced."""
    draw = random.Random(13)  # noqa: S311 -- the same attacks in every run
    parts = literals(pattern)
    for _ in range(ATTACKS):
        piece = "".join(draw.choices(parts, k=draw.randint(1, 3)))
        yield (piece * size)[: size - 1] + draw.choice(("\0", piece[0]))


def seconds(pattern: re.Pattern[str], text: str) -> float:
    """The quicker of three goes: a pause of the machine is no fault of the pattern."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        for _ in pattern.finditer(text):
            pass
        taken.append(time.thread_time() - started)
    return min(taken)


def test_a13_every_compiled_pattern_is_tried() -> None:
    """RELIABILITY A13: every pattern, also one that is added later."""
    calls = [
        node
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "compile"
        if ast.unparse(node.value) == "re"
    ]
    assert len(PATTERNS) == len(calls)


@pytest.mark.parametrize("source", [source for source, _ in PATTERNS])
def test_a13_no_pattern_repeats_without_end(source: str) -> None:
    """RELIABILITY A13: nested unbounded repeats and ``.*`` can be made to backtrack."""
    inside = r"(?:[^()\\]|\\.)*"
    assert not re.search(rf"\({inside}[*+]{inside}\)[*+]", source)
    assert not re.search(r"(?<!\\)\.[*+]", source)


@pytest.mark.ratio
@pytest.mark.parametrize(("source", "pattern"), PATTERNS, ids=range(len(PATTERNS)))
def test_a13_every_compiled_pattern_is_linear(source: str, pattern: re.Pattern[str]) -> None:
    """
    RELIABILITY A13: t(16 KiB) / t(4 KiB) <= 6, and <= 5 ms at 4 KiB, best of three.

    The slowest text of either size counts: where a bounded repeat takes 4 KiB at one bite, the
    same text may say nothing of the pattern.
    """
    seen = []
    for _ in range(TRIES):
        quick, slow = (
            max(seconds(pattern, text) for text in attacks(source, size)) for size in (SMALL, LARGE)
        )
        if slow <= 6 * quick and quick <= 0.005:
            return
        seen.append(f"{quick * 1e3:.2f} ms at 4 KiB, {slow * 1e3:.2f} ms at 16 KiB")
    pytest.fail("\n".join(seen))
