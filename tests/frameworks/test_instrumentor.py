"""Guidance without a change of code: issue 6, item 5."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.instrumentation", reason="make matrix ARGS='-s frameworks'")
pytest.importorskip("mcp", reason="make matrix ARGS='-s frameworks'")

import mcp
from mcp import ClientSession, types
from mcp.server.lowlevel import Server

from tests.frameworks.table import guided
from tests.otlp_receiver import Receiver
from tests.programs import ROOT
from tests.watching import Watcher
from waypost import Enricher, OptionError
from waypost.integrations.instrumentor import WaypostInstrumentor, _options_of

SDK = int(version("mcp").partition(".")[0])
if SDK == 1:
    from mcp.shared.memory import create_connected_server_and_client_session

SILENT = Enricher((), side="server", text="never")
REPLAY = ["-m", "tests.frameworks.office" if SDK == 2 else "tests.frameworks.replay_mcp1", "stdio"]


def instrumented(receiver: Receiver, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program as ``opentelemetry-instrument`` does."""
    program = Path(sys.executable).with_name("opentelemetry-instrument")
    return subprocess.run(
        [program, sys.executable, *args],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            "PYTHONPATH": str(ROOT),
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_SERVICE_NAME": "host",
            **env,
        },
    )


def test_program_that_does_not_import_waypost_gets_guidance_and_telemetry() -> None:
    """Issue 6, done when: spans with `waypost.*` at a receiver, the line in the model's text."""
    source = (ROOT / "tests/frameworks/plain_host.py").read_text(encoding="utf-8")
    assert "import waypost" not in source
    assert "from waypost" not in source
    with Receiver() as receiver:
        done = instrumented(receiver, "tests/frameworks/plain_host.py", sys.executable, *REPLAY)
    failed, worked = map(json.loads, done.stdout.splitlines())
    assert guided("\n".join(failed)) == 1
    assert worked == ["Open Monday to Friday, 9:00 to 18:00."]
    ours = [span for span in receiver.spans if span.attributes.get("waypost.side") == "host"]
    assert [(span.name, span.attributes.get("waypost.error.class")) for span in ours] == [
        ("execute_tool find_order", "not_found"),
        ("execute_tool store_hours", None),
    ]
    assert {"waypost.errors", "waypost.call.duration"} <= receiver.metrics.keys()


def test_server_that_does_not_import_waypost_gets_guidance_and_telemetry() -> None:
    """DESIGN section 7: the SDK's client and server, without a code change."""
    program = str(Path(sys.executable).with_name("opentelemetry-instrument"))
    host = "tests/frameworks/plain_host.py"
    with Receiver() as receiver:
        server = instrumented(receiver, host, program, sys.executable, *REPLAY)
        silent = instrumented(receiver, host, sys.executable, *REPLAY, WAYPOST_DISABLED="true")
    failed, worked = map(json.loads, server.stdout.splitlines())
    assert guided("\n".join(failed)) == 1
    assert worked == ["Open Monday to Friday, 9:00 to 18:00."]
    assert "waypost" not in silent.stdout
    sides = {span.attributes.get("waypost.side") for span in receiver.spans} - {None}
    assert sides == ({"host", "server"} if SDK == 2 else {"host"})


@pytest.fixture
def instrumentor() -> Iterator[WaypostInstrumentor]:
    made = WaypostInstrumentor()
    yield made
    if made.is_instrumented_by_opentelemetry:
        made.uninstrument()


async def find(*_: object) -> Any:
    """Fail, as a tool of either SDK."""
    payload = {"ok": False, "error": "not_found"}
    return types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": json.dumps(payload)}], "isError": True}
    )


HANDLERS: dict[str, Any] = {"on_call_tool": find}


def client_of(server: Any) -> Any:
    """A client in memory."""
    if SDK == 1:
        return create_connected_server_and_client_session(server)
    return mcp.Client(server)


def patched() -> list[object]:
    return [
        ClientSession.__dict__["call_tool"],
        ClientSession.__dict__["list_tools"],
        Server.__dict__["__init__"],
        Server.__dict__.get("call_tool"),
    ]


def test_uninstrument_restores_what_was_there(instrumentor: WaypostInstrumentor) -> None:
    """Issue 6, item 5: `uninstrument` restores."""
    before = patched()
    for _ in range(2):
        instrumentor.instrument()
        assert all(now is not then for now, then in zip(patched(), before, strict=True) if then)
        instrumentor.uninstrument()
        assert all(now is then for now, then in zip(patched(), before, strict=True))


async def test_servers_made_while_instrumented_fall_silent(
    instrumentor: WaypostInstrumentor,
) -> None:
    """Issue 6, item 5: after `uninstrument` nothing is left of it."""
    instrumentor.instrument(enricher=Enricher((), text="never"), server_enricher=SILENT)
    server: Any = Server("orders", **({} if SDK == 1 else HANDLERS))
    if SDK == 1:
        server.call_tool(validate_input=False)(find)
    placed = list(getattr(server, "middleware", ()))
    async with client_of(server) as session:
        seen = await session.call_tool("find", {})
        instrumentor.uninstrument()
        unseen = await session.call_tool("find", {})
    assert "waypost/guidance" in (seen.meta or {})
    assert "waypost/guidance" not in (unseen.meta or {})
    assert SDK == 1 or len(server.middleware) == len(placed) - 1


def test_wrapper_of_somebody_else_stays(instrumentor: WaypostInstrumentor) -> None:
    """Bug: `uninstrument` took away whatever was outermost, and left ours."""
    own = ClientSession.__dict__["call_tool"]
    instrumentor.instrument()
    ours = ClientSession.__dict__["call_tool"]

    async def other(*args: Any, **kwargs: Any) -> Any:
        return await ours(*args, **kwargs)

    ClientSession.call_tool = other  # type: ignore[method-assign, assignment]
    try:
        instrumentor.uninstrument()
        assert ClientSession.__dict__["call_tool"] is other
    finally:
        ClientSession.call_tool = own  # type: ignore[method-assign]


async def test_session_that_cannot_be_hashed_is_seen(instrumentor: WaypostInstrumentor) -> None:
    """Bug: it raised; issue 6, item 5: never raises."""

    class Session(ClientSession):
        __hash__ = None  # type: ignore[assignment]

        def __init__(self) -> None: ...

        def __eq__(self, other: object) -> bool:
            return True

    watcher = Watcher()
    instrumentor.instrument(enricher=Enricher((watcher,)), server_enricher=SILENT)
    with pytest.raises(AttributeError):  # it is connected to nothing
        await Session().call_tool("find", {})
    assert watcher.endings == [("find", "raised")]


if SDK == 1:

    async def test_order_of_the_handlers_does_not_matter(
        instrumentor: WaypostInstrumentor,
    ) -> None:
        """Bug: a list that was registered after the calls was not seen."""
        watcher = Watcher()
        own = Enricher((watcher,), side="server")
        instrumentor.instrument(enricher=Enricher(()), server_enricher=own)
        server: Any = Server("orders")
        server.call_tool(validate_input=False)(find)

        @server.list_tools()
        async def list_tools() -> list[types.Tool]:
            return [types.Tool(name="other", inputSchema={"type": "object"})]

        async with client_of(server) as session:
            await session.list_tools()
            await session.call_tool("find", {})
        assert watcher.endings == [(None, "failure")]  # on no list: it was seen
else:

    async def test_rounds_of_one_call_are_one_call(instrumentor: WaypostInstrumentor) -> None:
        """DESIGN section 5: `input_required` rounds are no attempts."""
        watcher = Watcher()
        instrumentor.instrument(enricher=Enricher((watcher,)), server_enricher=SILENT)
        rounds: list[Any] = []

        async def ask(_: Any, params: Any) -> Any:
            rounds.append(params)
            if len(rounds) == 1:
                return types.InputRequiredResult(request_state="1", result_type="input_required")
            return types.CallToolResult(content=[])

        async def list_tools(*_: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[])

        server = Server("orders", on_call_tool=ask, on_list_tools=list_tools)
        async with mcp.Client(server) as client:
            await client.call_tool("ask", {})
        assert len(rounds) == 2
        assert watcher.endings == [("ask", "success")]


def test_enricher_of_the_other_side_is_refused(instrumentor: WaypostInstrumentor) -> None:
    """STYLE rule 11."""
    with pytest.raises(OptionError, match="side='server'"):
        instrumentor.instrument(server_enricher=Enricher(()))


def test_options_come_from_the_environment_and_never_raise(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Issue 6, item 5: options by environment; never raises."""
    rules = tmp_path / "rules.toml"
    rules.write_text("[[before]]\nid = 7\n", encoding="utf-8")
    given = {
        "WAYPOST_TEXT": "Block",
        "WAYPOST_STRUCTURED": "perhaps",
        "WAYPOST_CHANGE_RESULTS": "false",
        "WAYPOST_TRUST_ANNOTATIONS": "yes please",
        "WAYPOST_RULES": str(rules),
    }
    with caplog.at_level(logging.WARNING, "waypost"):
        assert _options_of(given) == {"text": "block", "change_results": False}
    told = [record.getMessage() for record in caplog.records]
    assert [message.partition("=")[0] for message in told] == [
        "WAYPOST_STRUCTURED",
        "WAYPOST_TRUST_ANNOTATIONS",
        "WAYPOST_RULES",
    ]
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    instrumentor = WaypostInstrumentor()
    instrumentor.instrument()
    instrumentor.uninstrument()
