"""Where guidance is written, as the host asked for it: DESIGN section 2."""

from __future__ import annotations

import json
from typing import Any

import pytest

import waypost
from tests.core.results import flagged, texts

TRACE = "0af7651916cd43dd8448eb211c80319c"
GONE = "Do not repeat this call. List what exists, then call again with one of those."
MEMBERS = f'"retryable": false, "next_action": "{GONE}"'
LINE = f"[waypost] retryable: false. Next action: {GONE}"
META = {
    "error_class": "not_found",
    "error_code": "tool_error",
    "retryable": False,
    "next_action": GONE,
    "next_step": "list_first",
    "actor": "model",
    "may_repeat": False,
    "rule": "not.found",
}
FAILED = {"error_code": "not_found", "message": "No such order."}
ADDED = {"retryable": False, "next_action": GONE}


def styled(result: Any, *, schema: object = None, **options: Any) -> Any:
    with waypost.Enricher((), **options).call("get_order", output_schema=schema) as call:
        return call.enrich(result)


SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    ("options", "schema", "changed"),
    [
        pytest.param({}, None, True, id="host"),
        pytest.param({}, SCHEMA, True, id="host, schema"),
        pytest.param({"side": "server"}, None, True, id="server"),
        pytest.param({"side": "server"}, SCHEMA, False, id="server, schema"),
        pytest.param({"side": "server", "structured": "always"}, SCHEMA, True, id="always"),
        pytest.param({"structured": "never"}, None, False, id="never"),
    ],
)
def test_structured_content_changes_only_where_no_strict_client_reads_it(
    options: dict[str, Any], schema: object, changed: bool
) -> None:
    """DESIGN section 2: a strict client raises on extra keys; then JSON text stays too."""
    text = json.dumps(FAILED)
    enriched = styled(flagged(text, structured_content=FAILED), schema=schema, **options)
    if changed:
        assert enriched.structured_content == {**FAILED, **ADDED}
        assert texts(enriched) == [f"{text[:-1]}, {MEMBERS}}}"]
    else:
        assert enriched.structured_content == FAILED
        assert texts(enriched) == [text, LINE]
    assert enriched.meta == {"waypost/guidance": {**META, "error_code": "not_found"}}


def test_structured_content_is_never_created() -> None:
    """DESIGN section 2: and is left alone where it is no mapping."""
    enriched = waypost.enrich_result(flagged(json.dumps(FAILED)))
    assert enriched.structured_content is None
    listed = {"content": [], "isError": True, "structuredContent": [1]}
    assert waypost.enrich_result(listed)["structuredContent"] == [1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"text": "append"}, ["no such order\n\n" + LINE]),
        ({"text": "block"}, ["no such order", LINE]),
        ({"text": "never"}, ["no such order"]),
        ({"text": "never", "structured": "never"}, ["no such order"]),
    ],
    ids=str,
)
def test_text_option_says_where_the_line_goes(options: dict[str, Any], expected: list[str]) -> None:
    """DESIGN section 2: text="append"|"block"|"never"; _meta has the guidance always."""
    enriched = styled(flagged("no such order"), **options)
    assert texts(enriched) == expected
    assert enriched.meta == {"waypost/guidance": META}


class Span:
    trace_id: str | None = TRACE
    span_id: str | None = "b7ad6b7169203331"
    sampled = False

    def end(self, observation: waypost.Observation) -> None: ...


class Tracer:
    """An observer whose scope has a trace, as OpenTelemetry's."""

    def begin(self, start: waypost.CallStart) -> Span:
        return Span()

    def __call__(self, observation: waypost.Observation) -> None: ...


@pytest.mark.parametrize(("text_trace", "tail"), [(True, f" (trace {TRACE})"), (False, "")])
def test_trace_stands_in_the_line_unless_it_is_turned_off(text_trace: bool, tail: str) -> None:
    """DESIGN section 2: text_trace=False; section 4: _meta says sampled: false."""
    with waypost.Enricher((Tracer(),), text_trace=text_trace).call("f") as call:
        enriched = call.enrich(flagged("no such order"))
    assert texts(enriched) == [f"no such order\n\n{LINE}{tail}"]
    assert enriched.meta == {"waypost/guidance": {**META, "trace_id": TRACE, "sampled": False}}
