"""Objects that fight back: A3, A6."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pydantic
import pytest

import waypost

FAILED = {"status": "error", "error_code": "not_found", "message": "No such order."}
WORKED = {"name": "x", "rows": [1], "error": None}
TEXT = '{"status": "error", "error_code": "not_found"}'


class Endless(BaseException):
    """Raised by an iterator that nobody should have followed so far; no ``except`` hides it."""


class EndlessIterator:
    def __init__(self) -> None:
        self.steps = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self.steps += 1
        if self.steps > 100_000:
            raise Endless
        return ("status", "error")


def raising(*_: Any, **__: Any) -> Any:
    raise RuntimeError("hostile")


def wrong(*_: Any, **__: Any) -> Any:
    return object()


def endless(*_: Any, **__: Any) -> Any:
    return EndlessIterator()


def recursing(*_: Any, **__: Any) -> Any:
    return recursing()


BEHAVIORS: dict[str, Callable[..., Any]] = {
    "raises": raising,
    "wrong type": wrong,
    "endless": endless,
    "recursion": recursing,
}
DUNDERS = [
    *("__getitem__", "__len__", "__iter__", "__contains__", "__bool__", "__eq__", "__hash__"),
    *("__repr__", "__str__", "__format__", "__getattr__", "__getattribute__", "__class__"),
    *("__dict__", "__reduce_ex__", "__copy__", "__deepcopy__", "__sizeof__", "__dir__", "__or__"),
    *("__reversed__", "__lt__", "__ne__", "__iter__"),
]
MAPPING = [*DUNDERS, "get", "items", "keys", "values", "copy", "update"]
STR = [*DUNDERS, "startswith", "lstrip", "strip", "rindex", "encode", "partition", "__add__"]
MODEL = [
    *DUNDERS,
    *("model_dump", "model_copy", "model_fields_set", "model_extra", "__pydantic_extra__"),
    *("__pydantic_fields_set__", "__rich_repr__", "dict"),
]


ATTRIBUTES = [
    *("__class__", "__dict__", "model_fields_set", "model_extra", "args", "error", "response"),
]


class Foreign(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    def __getitem__(self, key: str) -> Any:
        return self.members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


class LostError(LookupError):
    error: Any = None
    code: Any = None


class Model(pydantic.BaseModel):
    status: str = "error"
    error_code: str = "not_found"
    message: str = "No such order."
    rows: Any = None


class Quiet(pydantic.BaseModel):
    name: str = "x"
    error: str | None = None


class Text(str):
    __slots__ = ()


class Dict(dict[str, Any]):
    """A dict of a class of its own: an instance can change its class afterwards."""


def twisted(value: Any, name: str, behavior: Callable[..., Any]) -> Any:
    """*value*, after its class has learned to misbehave: no constructor has to survive it."""
    hidden = name.startswith("__pydantic") or name in ATTRIBUTES
    members = {name: property(behavior) if hidden else behavior, "__slots__": ()}
    kind = type(value)
    metaclass: Any = type(kind)
    subclass = metaclass("Twisted", (kind,), members)
    object.__setattr__(value, "__class__", subclass)
    return value


def face(result: Any) -> None:
    """No exception; the original comes back, or a failure with its guidance."""
    waypost.error_code_of(result)
    waypost.guidance_of(result)
    waypost.enrich_error_payload(result)
    enriched = waypost.enrich_result(result, trace_id="t1")
    if enriched is not result:
        assert type(enriched) in (dict, str, list)
        assert "retryable" in (enriched[0] if type(enriched) is list else enriched) or (
            "_meta" in enriched
        )
    enricher = waypost.Enricher(())
    enricher.enrich_result(result)
    with enricher.call("f", annotations=result, output_schema=None) as call:
        call.enrich(result)
    assert call.payload is None or "retryable" in call.payload


@pytest.mark.parametrize("behavior", BEHAVIORS.values(), ids=BEHAVIORS.keys())
@pytest.mark.parametrize("name", dict.fromkeys(MAPPING))
def test_hostile_mapping_is_harmless(name: str, behavior: Callable[..., Any]) -> None:
    """A3: Mapping and dict subclasses, as a failure and as a success."""
    for base in (Foreign, Dict):
        for members in (FAILED, WORKED):
            face(twisted(base(members), name, behavior))


@pytest.mark.parametrize("behavior", BEHAVIORS.values(), ids=BEHAVIORS.keys())
@pytest.mark.parametrize("name", dict.fromkeys(STR))
def test_hostile_text_is_harmless(name: str, behavior: Callable[..., Any]) -> None:
    """A3: str subclasses, as a result and inside of one."""
    text, code, words = (
        twisted(Text(said), name, behavior) for said in (TEXT, "not_found", "No such order.")
    )
    face(text)
    face({"status": "error", "error_code": code, "message": words, "hint": words})
    face({"error": words, "retryable": code, "retry_after": code, "input_request": text})
    face({"content": [{"type": "text", "text": text}], "isError": True})


@pytest.mark.parametrize("behavior", BEHAVIORS.values(), ids=BEHAVIORS.keys())
@pytest.mark.parametrize("name", dict.fromkeys(MODEL))
def test_hostile_model_is_harmless(name: str, behavior: Callable[..., Any]) -> None:
    """A3: pydantic subclasses, as a failure, as a success and inside of one."""
    for base in (Model, Quiet):
        model = twisted(base(), name, behavior)
        face(model)
        face({"error": model, "details": [model]})
        face([model])


@pytest.mark.parametrize("behavior", BEHAVIORS.values(), ids=BEHAVIORS.keys())
@pytest.mark.parametrize("name", ["__getitem__", "__len__", "__iter__", "get", "items", "keys"])
def test_hostile_mapping_inside_of_a_failure_is_harmless(
    name: str, behavior: Callable[..., Any]
) -> None:
    """A3: where the error object, the details, the question or the content should be."""
    for base in (Foreign, Dict):
        inner = twisted(base(FAILED), name, behavior)
        for payload in (
            {"error": inner},
            {"status": "error", "details": inner, "data": inner},
            {"status": "error", "input_request": inner},
            {"status": "error", "input_request": {"argument": "city", "options": inner}},
            {"content": [inner], "isError": True, "structuredContent": inner, "_meta": inner},
            {"data": inner},
        ):
            before = dict(payload)
            face(payload.copy())
            waypost.enrich_result(payload)
            assert payload.keys() == before.keys()


@pytest.mark.parametrize("behavior", BEHAVIORS.values(), ids=BEHAVIORS.keys())
@pytest.mark.parametrize("name", ["__str__", "__repr__", "args", "error", "code", "response"])
def test_hostile_exception_is_still_a_failure(name: str, behavior: Callable[..., Any]) -> None:
    """A3: what an exception carries is read with care."""
    exception = twisted(LostError("No such order."), name, behavior)
    face(exception)
    assert waypost.error_code_of(exception) is not None


class Meta(type):
    """A metaclass whose classes cannot be hashed."""

    def __hash__(cls) -> int:
        raise RuntimeError("hostile")


def test_class_that_cannot_be_hashed_is_harmless() -> None:
    """A3: results are told apart by class."""

    class Unhashable(metaclass=Meta):
        pass

    face(Unhashable())


class Refusing(dict[str, Any]):
    """A dictionary that nobody may write to."""

    def __setitem__(self, key: str, value: Any) -> None:
        raise AssertionError(key)

    def update(self, *_: Any, **__: Any) -> None:
        raise AssertionError

    def setdefault(self, key: str, default: Any = None) -> Any:
        raise AssertionError(key)

    def pop(self, *_: Any) -> Any:
        raise AssertionError


def test_nothing_is_ever_written_to_a_result() -> None:
    """A4: 0 writes seen by a recording dict."""
    for members in (FAILED, WORKED):
        result = Refusing(members)
        enriched = waypost.enrich_result(result)
        assert (enriched is result) is (members is WORKED)
        assert dict(result) == members


@pytest.mark.parametrize(
    "kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit]
)
def test_interruption_out_of_a_result_passes_through(kind: type[BaseException]) -> None:
    """A6: only Exceptions are contained."""

    def interrupt(*_: Any) -> Any:
        raise kind

    result = twisted(Foreign(FAILED), "__contains__", interrupt)
    for function in (waypost.enrich_result, waypost.error_code_of, waypost.guidance_of):
        with pytest.raises(kind):
            function(result)


@pytest.mark.parametrize("kind", [Exception, RecursionError, MemoryError, KeyError, StopIteration])
def test_exception_out_of_a_result_is_contained(kind: type[Exception]) -> None:
    """A6: every Exception, RecursionError and MemoryError included."""

    def fail(*_: Any) -> Any:
        raise kind

    result = twisted(Foreign(FAILED), "__contains__", fail)
    assert waypost.enrich_result(result) is result
    assert waypost.error_code_of(result) is None
    assert waypost.guidance_of(result) is None
