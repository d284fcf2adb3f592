"""Hostile results, exceptions, names and arguments: nothing raises into the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.watching import (
    BUSY_ADVICE,
    Watcher,
    busy,
)
from waypost import Enricher, ToolFailure

BROKEN = (RuntimeError("broken \x1b[31m"), RecursionError(), MemoryError())


class _HostileMapping(Mapping[str, object]):
    def __init__(self, fault: BaseException) -> None:
        self._fault = fault

    def __getitem__(self, key: str) -> object:
        raise self._fault

    def __iter__(self) -> Iterator[str]:
        raise self._fault

    def __len__(self) -> int:
        raise self._fault


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: type(fault).__name__)
def test_hostile_result_comes_back_and_is_counted_once(fault: Exception) -> None:
    """Issue 2, bad input: the original object comes back, one `waypost.internal_errors`."""
    watcher = Watcher()
    hostile = _HostileMapping(fault)
    with Enricher((watcher,)).call("search") as call:
        assert call.enrich(hostile) is hostile
    assert (watcher.endings, len(watcher.faults)) == ([("search", "success")], 1)
    assert Enricher((watcher,)).enrich_result(hostile) is hostile
    assert len(watcher.faults) == 2


class _Undumped(ToolFailure):
    """A model that was recognized, and then cannot be written down."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        raise RuntimeError("broken")


def test_model_that_cannot_be_dumped_comes_back_with_its_guidance_beside_it() -> None:
    """Issue 2, bad input: the original object comes back; the guidance is known all the same."""
    watcher, model = Watcher(), _Undumped(error_code="rate_limited", message="m")
    with Enricher((watcher,)).call("search") as call:
        assert call.enrich(model) is model
    assert watcher.endings == [("search", "failure")]
    assert watcher.faults == ["enrich"]
    assert call.guidance is not None
    assert call.guidance.error_class == "rate_limited"
    assert call.payload is not None
    assert call.payload.items() >= {"error_code": "rate_limited", "retryable": True}.items()


def test_base_exception_of_a_result_passes() -> None:
    """RELIABILITY A6: raised in a payload, it passes through."""
    watcher, passing = Watcher(), KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as caught, Enricher((watcher,)).call("search") as call:
        call.enrich(_HostileMapping(passing))
    assert caught.value is passing
    assert len(watcher.seen) == 1
    with pytest.raises(KeyboardInterrupt):
        Enricher((watcher,)).enrich_result(_HostileMapping(passing))


class _Truthless:
    def __bool__(self) -> bool:
        raise RuntimeError("broken")


class _RudeError(Exception):
    """An exception none of whose sides can be looked at."""

    def __str__(self) -> str:
        raise RuntimeError("broken")

    __repr__ = __str__

    @property
    def error(self) -> object:
        raise RuntimeError("broken")


def test_hostile_exception_passes_as_the_same_object() -> None:
    """RELIABILITY A7: whatever our own code makes of it."""
    watcher, rude = Watcher(), _RudeError()
    with pytest.raises(_RudeError) as caught, Enricher((watcher,)).call("search"):
        raise rude
    assert caught.value is rude
    assert rude.__context__ is None
    assert watcher.endings == [("search", "raised")]


class _MappingError(Exception, Mapping[str, object]):
    """An exception that is a mapping as well, and says nothing in it."""

    def __getitem__(self, key: str) -> object:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_exception_that_is_a_mapping_is_a_failure_like_any_other() -> None:
    """DESIGN section 2: any `Exception` is a failure."""
    watcher, own = Watcher(), _MappingError("timeout")
    with pytest.raises(_MappingError) as caught, Enricher((watcher,)).call("search") as call:
        raise own
    assert caught.value is own
    assert watcher.endings == [("search", "raised")]
    assert call.guidance is not None
    assert call.payload is not None
    assert call.payload["message"] == "timeout"


def test_name_of_an_exception_class_is_cleaned_and_capped() -> None:
    """DESIGN section 6: text is cleaned of format characters and capped."""
    watcher = Watcher()
    kind = type("Nasty\u202e" * 5_000, (Exception,), {"__module__": "evil\n"})
    with pytest.raises(kind), Enricher((watcher,)).call("search"):
        raise kind("x")
    error_type = watcher.seen[0].error_type
    assert error_type is not None
    assert error_type.isprintable()
    assert error_type.startswith("evil")
    assert "NastyNasty" in error_type
    assert len(error_type) <= 256


class _Name(str):
    """A text of a host that thinks differently of it."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("broken")

    __len__ = __hash__ = __str__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("name", "seen_as"),
    [
        ("x" * 10_000_000, "x" * 128),
        ("tool\x00\u202e\ud800\nname", "tool name"),
        (_Name("search"), "search"),
        (5, None),
        (None, None),
        (b"search", None),
        (["search"], None),
    ],
    ids=["10 MB", "nasty", "subclass", "int", "None", "bytes", "list"],
)
def test_hostile_name_is_cleaned_and_capped(name: Any, seen_as: str | None) -> None:
    """DESIGN section 6 and RELIABILITY A10: only capped built-in text leaves us."""
    watcher = Watcher()
    with Enricher((watcher,)).call(name, server=name) as call:
        assert call.enrich(busy()) == {**busy(), **BUSY_ADVICE}
    (seen,) = watcher.seen
    assert (seen.tool_name, seen.server) == (seen_as, seen_as)
    assert type(seen.tool_name) in (str, type(None))


@pytest.mark.parametrize(
    "arguments",
    [
        {"annotations": _HostileMapping(RuntimeError())},
        {"annotations": 5},
        {"annotations": {"readOnlyHint": "yes"}},
        {"output_schema": _Truthless()},
        {"timeout_seconds": "5"},
        {"arguments": _HostileMapping(RuntimeError())},
        {"side_effects": "maybe"},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_wrong_argument_never_raises_while_a_tool_is_called(arguments: dict[str, Any]) -> None:
    """STYLE rule 11: fail early for the programmer, never for the host."""
    watcher = Watcher()
    for run in (_returns, _raises, _is_cancelled):
        run(Enricher((watcher,)), arguments)
    assert len(watcher.seen) == 3
    assert watcher.seen[0].ending == "failure"


def _returns(enricher: Enricher, arguments: dict[str, Any]) -> None:
    with enricher.call("search", **arguments) as call:
        assert call.enrich(busy()).keys() >= {"retryable"}


def _raises(enricher: Enricher, arguments: dict[str, Any]) -> None:
    with pytest.raises(KeyError), enricher.call("search", **arguments):
        raise KeyError


def _is_cancelled(enricher: Enricher, arguments: dict[str, Any]) -> None:
    with pytest.raises(GeneratorExit), enricher.call("search", **arguments):
        raise GeneratorExit
