"""Fingerprints: A48, and what counts as the same arguments."""

from __future__ import annotations

import datetime as dt
import decimal
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from pydantic import BaseModel

from waypost.retries import _fingerprint
from waypost.retries._fingerprint import (
    chain_key_of,
    fingerprint_of,
    prints_of,
    share_one,
    trail_key_of,
    words_print_of,
)

KEY = b"k" * 32
ASCII = st.characters(min_codepoint=0, max_codepoint=127)


class Color(Enum):
    RED = "red"


class Text(str):
    __slots__ = ()


class Number(int):
    __slots__ = ()


class Share(float):
    __slots__ = ()


@dataclass
class Point:
    x: int
    y: int = 0


class Order(BaseModel):
    id: int


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError


def of(*parts: object) -> bytes | None:
    return fingerprint_of(*parts, key=KEY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [1, "x"]}, {"b": [1, "x"], "a": 1}),
        ({"a": {"c": None, "b": 0.5}}, {"a": {"b": 0.5, "c": None}}),
        ([1, 2], (1, 2)),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, MappingProxyType({"a": 1})),
        ({1: "a", "b": 2}, {"b": 2, 1: "a"}),
        ("red", Color.RED),
        ("red", Text("red")),
        (7, Number(7)),
        (0.5, Share(0.5)),
        (b"abc", bytearray(b"abc")),
        ({"x": 1, "y": 0}, Point(1)),
        ({"id": 3}, Order(id=3)),
        (dt.date(2030, 1, 2), dt.date(2030, 1, 2)),
    ],
)
def test_same_arguments_have_one_fingerprint(one: object, other: object) -> None:
    assert of(one) == of(other) is not None


DIFFERENT: list[Any] = [
    *(1, 1.0, True, "1", b"1", None, "None", [1], {"1": 1}, {1: 1}, {1.0: 1}, [[1]], [], {}, ""),
    *([1, 2], [[1], 2], [12], ["1", "2"], ["1,2"], ["1'", "2"], ["1", "'2"], ["12"], "['1', '2']"),
    *({"a": "b"}, {"a": ["b"]}, ["a", "b"], {"a": {"b": 1}}, [{"a": 1}, {"b": 1}], {"a:1": 1}),
    *({"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": "1,'b':2"}, "\ud800", "\\ud800", "ä", "a\u0308"),
    *(decimal.Decimal(1), decimal.Decimal("1.0"), dt.date(2030, 1, 2), "2030-01-02"),
    *(float("nan"), float("inf"), -0.0, 0.0, 0, False),
    *("x" * 65_536, "x" * 65_537, "x" * 65_538, b"x" * 65_537),
    *("x" * 61_440 + "y", "x" * 61_440 + "z"),
]  # fmt: skip


def test_different_arguments_have_different_ones() -> None:
    """A48: framed, and told apart by kind; two texts that differ after 60 KiB differ."""
    seen = {of(value): value for value in DIFFERENT}
    assert None not in seen
    assert len(seen) == len(DIFFERENT)
    assert of("a", "bc") != of("ab", "c")
    assert of("a", {"b": 1}) != of({"a": 1}, "b")


def test_long_texts_are_told_apart_by_length_and_ends() -> None:
    middle = "x" * 40_000
    assert of(middle + "a" + middle) == of(middle + "b" + middle)
    assert of("a" + middle + middle) != of("b" + middle + middle)
    assert of(middle + middle + "a") != of(middle + middle + "b")
    assert of(b"a" + b"x" * 90_000) != of(b"b" + b"x" * 90_000)


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def _circle() -> object:
    circle: list[object] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "value",
    [
        object(),
        len,
        {"a": object()},
        Broken(),
        {1, 2},
        10**5_000,
        list(range(10_001)),
        [["x" * 64_000] for _ in range(20)],
        _nested(64),
        _circle(),
        {("a", "b"): 1},
        {Broken(): 1, "a": 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_compared_has_none(value: object) -> None:
    """A partial walk never raises an attempt number."""
    assert of(value) is None


def test_bounds_let_large_arguments_pass() -> None:
    assert of(list(range(9_999))) is not None
    assert of(_nested(63)) is not None
    assert of("x" * 10_000_000) is not None


def test_fingerprints_are_keyed() -> None:
    assert of({"a": 1}) != fingerprint_of({"a": 1}, key=b"other")


def test_a_million_inputs_have_a_million_fingerprints() -> None:
    """A48."""
    assert len({of("tool", {"id": number}) for number in range(1_000_000)}) == 1_000_000


@given(st.text(st.characters(max_codepoint=127), min_size=4))
def test_no_byte_of_an_argument_is_in_it(text: str) -> None:
    """A48: sixteen bytes of a hash, whatever went in."""
    made = of({"secret": text})
    assert made is not None
    assert len(made) == 16
    assert text.encode() not in made


class BrokenMapping(Mapping[str, object]):
    """A mapping whose pairs cannot be read."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


def test_calls_with_an_argument_in_common_are_found() -> None:
    one = prints_of({"a": 1, "b": [2], "c": object()}, KEY)
    assert len(one) == 8
    assert share_one(one, prints_of({"x": 1, "b": [2]}, KEY))
    assert not share_one(one, prints_of({"a": 2, "b": [1], "c": 1}, KEY))
    assert not share_one(one, prints_of({}, KEY))
    assert not share_one(b"", b"")


def test_arguments_that_are_none_have_nothing_in_common() -> None:
    assert prints_of(None, KEY) == prints_of([1], KEY) == prints_of(BrokenMapping(), KEY) == b""
    assert len(prints_of({str(number): number for number in range(99)}, KEY)) == 32 * 4


class Other(dict[str, object]):
    """A mapping that is walked."""


@given(
    st.dictionaries(
        st.text(ASCII, max_size=70),
        st.one_of(
            st.text(ASCII, max_size=70), st.integers(), st.floats(), st.booleans(), st.none()
        ),
        max_size=70,
    )
)
@example({"q": "x" * 65, "n": 1})
@example({"b": 1, "a": 2.0})
def test_usual_arguments_are_written_as_a_walk_would(arguments: dict[str, object]) -> None:
    """Our promise: which way is quicker is nobody's business."""
    trail_key = trail_key_of("run", "orders", "search", KEY)
    written = chain_key_of(trail_key, arguments, KEY)
    assert written is not None
    assert written == chain_key_of(trail_key, Other(arguments), KEY)
    turned = dict(reversed(arguments.items()))
    assert written == chain_key_of(trail_key, turned, KEY)


def test_names_that_are_no_texts_are_walked() -> None:
    """A48: they are kept apart, too, where they cannot be sorted."""
    trail_key = trail_key_of("run", "orders", "search", KEY)
    kinds: list[dict[object, object]] = [{1: 2}, {"1": 2}, {1: 2, "1": 2}, {True: 2}]
    assert len({chain_key_of(trail_key, kind, KEY) for kind in kinds}) == 4


def test_failures_that_differ_in_numbers_times_and_ids_are_the_same() -> None:
    """DESIGN section 5: of a failure the words count, and its code."""
    same = [
        "Rate limit exceeded. Retry after 42s. (req 9f3a-11)",
        "Rate limit exceeded. Retry after 1 minute. (req 77bc-02)",
        "Rate limit exceeded. Retry after Mon, 30 Nov 2026 10:01:02 GMT. (req 0001-aa1)",
    ]
    assert len({words_print_of("E1", message, KEY) for message in same}) == 1
    other = words_print_of("E1", "Rate limit of users exceeded. Retry after 42s.", KEY)
    assert len({other, words_print_of("E2", same[0], KEY), words_print_of("E1", same[0], KEY)}) == 3
    assert words_print_of("E1", same[0], KEY) != words_print_of("E1", same[0], b"other key" * 4)


def test_words_are_forgotten_before_they_are_too_many() -> None:
    """Our promise: memory is bounded, whatever tools say."""
    letters = str.maketrans("0123456789", "abcdefghij")
    seen = {words_print_of("E1", "q" + str(n).translate(letters), KEY) for n in range(2_100)}
    assert len(seen) == 2_100
    assert len(_fingerprint._prints_before) <= 1_024
