"""Whether waypost sees a failure at all, leaves successes alone, and takes out the right code."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic

import waypost
from tests.corpus.forms import STEPS, forms_of

from ._corpora import FOLDER

PAYLOADS = "payloads.jsonl"
API = "api.jsonl"
SUCCESS = ""
"""Where a failure has what tells it."""

GROUPS = {
    (PAYLOADS, "structure"): "a structure that anyone can know",
    (PAYLOADS, "convention"): "prose, or the convention of one vendor",
    (API, "explicit"): "a marker beside or in the error",
    (API, "nested"): "an error inside of rows, or deeper",
    (API, "weak"): "nothing but a text or a bare code",
}
"""Failures by what tells them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One result and its label.

    Attributes:
        told_by: What tells the failure, or `SUCCESS`.

        codes: The right ones; empty if the label has none.

        retryable: ``None`` if the label leaves it open.

        steps: The right ones, in the words of the label; empty if the tool names its own step.
    """

    file: str
    result: Any
    told_by: str
    codes: frozenset[str] = frozenset()
    retryable: bool | None = None
    steps: frozenset[str] = frozenset()


def cases() -> Iterator[Case]:
    """Yield every result of both files, in each form in which a host sees it."""
    for row in _lines(PAYLOADS):
        if row["kind"] != "retry_chain":
            yield from _payload_cases(row)
    for row in _lines(API):
        code = row.get("error_code")
        yield Case(
            file=API,
            result=row["payload"],
            told_by=row.get("marker", "explicit") if row["is_error"] else SUCCESS,
            codes=frozenset(() if code is None else (code,)),
        )


def _lines(file: str) -> Iterator[Mapping[str, Any]]:
    return map(json.loads, (FOLDER / file).read_text(encoding="utf-8").splitlines())


def _payload_cases(row: Mapping[str, Any]) -> Iterator[Case]:
    tags = row.get("tags", ())
    told_by = "convention" if row.get("prose_only") or "convention" in tags else "structure"
    codes = (row.get("error_code") or "tool_error", *row.get("also_codes", ()))
    steps = () if "preset" in tags else (row.get("next_action_kind"), *row.get("also_actions", ()))
    for _, result in forms_of(row):
        if row["is_error"]:
            yield Case(
                file=PAYLOADS,
                result=result,
                told_by=told_by,
                codes=frozenset(codes if row["kind"] in ("dict", "model") else ()),
                retryable=row["retryable"],
                steps=frozenset(map(str, steps)),
            )
        else:
            yield Case(file=PAYLOADS, result=result, told_by=SUCCESS)


def count(given: Iterable[Case]) -> Counter[tuple[str, str, str]]:
    """Return how many cases there were: by file, by what tells the failure, by what was seen."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for case in given:
        for what in ("all", *(_of_failure(case) if case.told_by else _of_success(case))):
            seen[case.file, case.told_by, what] += 1
    return seen


def _of_success(case: Case) -> Iterator[str]:
    before = copy.deepcopy(case.result)
    same = waypost.enrich_result(case.result) is case.result
    if not same or waypost.guidance_of(case.result) or _plain(before) != _plain(case.result):
        yield "changed"


def _of_failure(case: Case) -> Iterator[str]:
    found = waypost.guidance_of(case.result)
    if found is None:
        yield "missed"
        return
    if case.codes:
        yield _verdict("code", found.error_code in case.codes)
    if case.retryable is not None:
        yield _verdict("retryable", found.retryable is case.retryable)
    if case.steps:
        yield _verdict("step", not STEPS[found.next_step].isdisjoint(case.steps))


def _verdict(what: str, right: bool) -> str:
    return f"{what} {'right' if right else 'wrong'}"


def _plain(result: Any) -> Any:
    if isinstance(result, pydantic.BaseModel):
        return result.model_dump(mode="json", by_alias=True)
    return str(result) if isinstance(result, Exception) else result
