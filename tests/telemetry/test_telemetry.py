"""``setup_telemetry`` against a real receiver, each host in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.otlp_receiver import Log, Receiver
from tests.telemetry.programs import Run, run
from waypost.telemetry import TelemetryError, setup_telemetry

SETUP = 'telemetry = setup_telemetry(service_name="shop", service_version="1.2")\n'


def _to(receiver: Receiver, **env: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint, **env}


def test_all_three_signals_arrive_and_agree_on_their_ids() -> None:
    """DESIGN section 4: one line sets up traces, metrics and logs that can be followed by id."""
    with Receiver() as receiver:
        done = run(SETUP + "record()", env=_to(receiver))
    (span,) = receiver.spans
    (log,) = receiver.logs
    assert (done.exit_code, done.stdout) == (0, "")
    assert log == Log(
        event_name="waypost.error",
        body="waypost.error",
        attributes={"waypost.error.class": "timeout"},
        trace_id=span.trace_id,
        span_id=span.span_id,
        sampled=True,
        severity_text="WARN",
        severity_number=13,
        resource=span.resource,
        scope="waypost",
    )
    (point,) = receiver.points("calls")
    assert (point.value, point.attributes) == (1, {"tool": "search"})
    line = json.loads(done.stderr)
    assert (line["trace_id"], line["span_id"]) == (span.trace_id, span.span_id)
    assert list(line)[:3] == ["timestamp", "level", "event"]
    assert span.resource["service.name"] == "shop"
    assert span.resource["service.version"] == "1.2"
    assert span.resource["telemetry.distro.name"] == "waypost"


def test_flush_delivers_and_says_so() -> None:
    """DESIGN section 4: a host can know that what it recorded has arrived."""
    with Receiver() as receiver:
        done = run(SETUP + "record(); print(telemetry.flush()); os._exit(0)", env=_to(receiver))
    assert done.stdout == "True\n"
    assert (len(receiver.spans), len(receiver.logs), len(receiver.points("calls"))) == (1, 1, 1)


def test_event_keeps_the_ids_that_it_names() -> None:
    """DESIGN section 4: the tool's span may have ended, and another one be current."""
    source = """
with trace.get_tracer("host").start_as_current_span("other"):
    log.info("waypost.recovered", trace_id="ab" * 16, span_id="cd" * 8)
    log.info("half", trace_id="ab" * 16)
    log.info("broken", trace_id="x", span_id="y")
"""
    with Receiver() as receiver:
        run(SETUP + source, env=_to(receiver))
    (span,) = receiver.spans
    named, half, broken = receiver.logs
    assert (named.event_name, named.trace_id, named.span_id) == (
        "waypost.recovered",
        "ab" * 16,
        "cd" * 8,
    )
    assert named.sampled
    assert half.span_id == broken.span_id == span.span_id
    assert half.attributes == broken.attributes == {}


def test_unsampled_span_makes_an_unsampled_record() -> None:
    """OpenTelemetry's log data model: the flags of a record are those of its span."""
    with Receiver() as receiver:
        run(SETUP + "record()", env=_to(receiver, OTEL_TRACES_SAMPLER="always_off"))
    (log,) = receiver.logs
    assert (len(log.trace_id), log.sampled, receiver.spans) == (32, False, [])


def test_plain_event_of_the_host_is_exported_without_an_event_name() -> None:
    """DESIGN section 4: the host's own lines go the same way; only ours are named events."""
    source = """
structlog.contextvars.bind_contextvars(user="u1")
log.info("order placed", count=3, ratio=0.5, done=True, nothing=None, parts=[1], big=2**64)
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    (log,) = receiver.logs
    assert (log.event_name, log.body, log.severity_text) == ("", "order placed", "INFO")
    assert log.attributes == {"user": "u1", "count": 3, "ratio": 0.5, "done": True}
    assert json.loads(done.stderr)["parts"] == [1]


def test_exception_goes_out_in_the_fields_of_the_convention_and_without_locals() -> None:
    """RELIABILITY A43: what a local variable held is nobody's business."""
    source = """
def charge():
    password = "hunter2-" + "local"
    raise ValueError("no\\nfunds")
try:
    charge()
except ValueError as exc:
    log.exception("charge failed")
    log.error("again", exc_info=exc)
    log.error("tuple", exc_info=sys.exc_info())
log.error("none", exc_info=True)
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    assert [log.body for log in receiver.logs] == ["charge failed", "again", "tuple", "none"]
    for log, line in zip(receiver.logs[:3], done.lines, strict=False):
        assert log.severity_text == "ERROR"
        assert log.attributes["exception.type"] == "ValueError"
        assert log.attributes["exception.message"] == "no funds"
        assert "in charge" in str(log.attributes["exception.stacktrace"])
        assert "in charge\n" in json.loads(line)["exception.stacktrace"]
    assert receiver.logs[3].attributes == {}
    assert "hunter2-local" not in done.stderr
    assert len(done.lines) == 4


def test_headers_and_compression_come_from_the_environment() -> None:
    """OpenTelemetry's exporter specification, which an operator expects to hold here."""
    env = {"OTEL_EXPORTER_OTLP_HEADERS": "x-team=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}
    with Receiver() as receiver:
        run(SETUP + "record()", env=_to(receiver, **env))
    sent = [
        (request.headers["x-team"], request.headers["content-encoding"])
        for request in receiver.requests
    ]
    assert sent == [("a b", "gzip")] * 3
    assert len(receiver.spans) == 1


def test_argument_wins_over_the_environment_and_a_signal_can_be_turned_off() -> None:
    """OpenTelemetry's configuration specification: code over environment; ``none`` turns off."""
    source = """
setup_telemetry(service_name="shop", endpoint=os.environ["HERE"] + "/")
record()
"""
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_SERVICE_NAME": "ignored",
        "OTEL_RESOURCE_ATTRIBUTES": "team=a",
    }
    with Receiver() as receiver:
        run(source, env={**env, "HERE": receiver.endpoint})
    (span,) = receiver.spans
    assert (span.resource["service.name"], span.resource["team"]) == ("shop", "a")
    assert len(receiver.logs) == 1
    assert receiver.exports == []


def test_endpoint_of_one_signal_is_used_as_it_is() -> None:
    """OpenTelemetry's exporter specification: a per-signal endpoint gets no path added."""
    with Receiver() as receiver:
        env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{receiver.endpoint}/v1/traces?tenant=1"}
        off = {"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
        run(SETUP + "record()", env={**env, **off})
    assert [request.path for request in receiver.requests] == ["/v1/traces?tenant=1"]


def test_proxy_and_netrc_stay_out_of_the_way_to_this_machine(tmp_path: Path) -> None:
    """Our promise: loopback means loopback, and the user's header is the one that is sent."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login other password other\n", encoding="ascii")
    env = {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NETRC": str(netrc),
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20mine",
    }
    with Receiver() as receiver:
        run(SETUP + "record()", env=_to(receiver, **env))
    assert {request.headers["authorization"] for request in receiver.requests} == {"Bearer mine"}


def test_proxy_is_used_on_the_way_to_another_machine() -> None:
    """What the stock exporter does: behind a corporate proxy there is no other way out."""
    source = """
setup_telemetry(service_name="shop", endpoint="http://collector.example", allow_insecure=True)
record()
"""
    with Receiver() as receiver:
        run(source, env={"HTTP_PROXY": receiver.endpoint})
    assert {request.path for request in receiver.requests} == {
        f"http://collector.example/v1/{signal}" for signal in ("traces", "metrics", "logs")
    }


def test_https_needs_a_certificate_that_the_user_trusts(tmp_path: Path) -> None:
    """OpenTelemetry's exporter specification: ``OTEL_EXPORTER_OTLP_CERTIFICATE``."""
    certificate = tmp_path / "loopback.pem"
    certificate.write_bytes(_self_signed())
    with Receiver(certificate) as receiver:
        trusting = _to(receiver, OTEL_EXPORTER_OTLP_CERTIFICATE=str(certificate))
        trusted = run(SETUP + "record(); print(telemetry.flush())", env=trusting)
        source = SETUP + "record(); print(telemetry.flush(1.0), flush=True); os._exit(0)"
        refused = run(source, env=_to(receiver))
    assert (trusted.stdout, refused.stdout) == ("True\n", "False\n")
    assert (len(receiver.spans), len(receiver.logs)) == (1, 1)
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr


def _self_signed() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)


def test_user_and_password_of_the_endpoint_are_sent_as_basic_authentication() -> None:
    """What the stock exporter does, so what a user expects."""
    with Receiver() as receiver:
        with_user = receiver.endpoint.replace("://", "://aladdin:opensesame@")
        run(SETUP + "record()", env={"OTEL_EXPORTER_OTLP_ENDPOINT": with_user})
    assert {request.headers["authorization"] for request in receiver.requests} == {
        "Basic YWxhZGRpbjpvcGVuc2VzYW1l"
    }


def test_memory_can_stand_beside_the_exporter_or_in_its_place() -> None:
    """The demo summarizes what it recorded, with and without a receiver."""
    source = """
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans, logs, reader = InMemorySpanExporter(), InMemoryLogRecordExporter(), InMemoryMetricReader()
telemetry = setup_telemetry(
    service_name="shop",
    otlp="OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ,
    span_processors=[SimpleSpanProcessor(spans)],
    metric_readers=[reader],
    log_processors=[SimpleLogRecordProcessor(logs)],
)
record()
print(len(spans.get_finished_spans()), len(logs.get_finished_logs()),
      len(reader.get_metrics_data().resource_metrics), telemetry.flush())
"""
    with Receiver() as receiver:
        beside = run(source, env=_to(receiver))
    alone = run(source)
    assert (beside.stdout, alone.stdout) == ("1 1 1 True\n", "1 1 1 True\n")
    assert (len(receiver.spans), len(receiver.logs)) == (1, 1)


def test_second_call_returns_the_same_telemetry_and_warns_if_it_asked_for_something_else() -> None:
    """Our promise: idempotent, so that two libraries of one host may both call it."""
    source = """
logging.basicConfig(format="%(name)s: %(message)s")
same = setup_telemetry(service_name="shop", service_version="1.2")
other = setup_telemetry(service_name="other", endpoint="http://user:s3cr3t@elsewhere:1")
print(telemetry is same is other)
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    assert done.stdout == "True\n"
    assert done.stderr == (
        "waypost: setup_telemetry was called again with another service_name, service_version,"
        " endpoint; the first call holds.\n"
    )


def test_shutdown_twice_is_fine_and_nothing_after_it_raises() -> None:
    """RELIABILITY A25: the SDK shut down before, during and after calls."""
    source = """
record()
telemetry.shutdown(); telemetry.shutdown()
record(); log.info("still printed")
print(telemetry.flush(), setup_telemetry(service_name="shop", service_version="1.2") is telemetry)
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    assert (done.exit_code, done.stdout) == (0, "False True\n")
    assert [json.loads(line)["event"] for line in done.lines] == [
        "waypost.error",
        "waypost.error",
        "still printed",
    ]
    assert (len(receiver.spans), len(receiver.logs)) == (1, 1)


@pytest.mark.parametrize(
    ("source", "signal"),
    [
        pytest.param(
            "from opentelemetry.sdk.trace import TracerProvider\n"
            "trace.set_tracer_provider(TracerProvider())",
            "opentelemetry.sdk.trace.TracerProvider handles traces",
            id="traces",
        ),
        pytest.param(
            "from opentelemetry.sdk.metrics import MeterProvider\n"
            "metrics.set_meter_provider(MeterProvider())",
            "opentelemetry.sdk.metrics._internal.MeterProvider handles metrics",
            id="metrics",
        ),
        pytest.param(
            "trace.set_tracer_provider(trace.NoOpTracerProvider())",
            "another provider was set first",
            id="none on purpose",
        ),
    ],
)
def test_providers_of_the_host_are_never_replaced(source: str, signal: str) -> None:
    """STYLE section 4: what the host has set up is the host's; the error says what to do."""
    attempt = """
try:
    setup_telemetry(service_name="shop", otlp=False)
except TelemetryError as exc:
    print(exc)
"""
    done = run(source + attempt)
    assert f"Telemetry is already set up: {signal}, and" in done.stdout
    assert "Leave setup_telemetry out" in done.stdout


def test_missing_exporter_names_the_extra() -> None:
    """STYLE rule 11: a message shows the way out."""
    source = """
sys.modules["opentelemetry.exporter.otlp.proto.http.trace_exporter"] = None
try:
    setup_telemetry(service_name="shop")
except TelemetryError as exc:
    print(exc)
setup_telemetry(service_name="shop", otlp=False)
"""
    done = run(source)
    assert done.exit_code == 0
    assert 'pip install "waypost[otlp]"' in done.stdout


def test_setting_that_the_sdk_refuses_is_a_telemetry_error() -> None:
    """STYLE rule 11: fail when built, under one name."""
    source = """
try:
    setup_telemetry(service_name="shop")
except TelemetryError as exc:
    print(exc)
"""
    done = run(source, env={"OTEL_BSP_MAX_QUEUE_SIZE": "0"})
    assert done.stdout == (
        "OpenTelemetry refused the set-up: max_queue_size must be a positive integer. Check the"
        " OTEL_* variables, and that no reader or processor is in use elsewhere.\n"
    )


def test_disabled_sdk_sends_nothing_and_raises_nothing() -> None:
    """RELIABILITY A8: ``OTEL_SDK_DISABLED=true`` turns telemetry off, and nothing else."""
    with Receiver() as receiver:
        env = _to(receiver, OTEL_SDK_DISABLED="true")
        done = run(SETUP + "record(); print(telemetry.flush())", env=env)
    assert (done.exit_code, done.stdout, len(done.lines)) == (0, "True\n", 1)
    assert receiver.requests == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://collector.example:4318",
        "http://user:s3cr3t@collector.example/s3cr3t?key=s3cr3t",
        "http://127.0.0.1@collector.example",
        "http://collector.example\\@127.0.0.1",
        "http://0.0.0.0:4318",
        "http://[2001:db8::1]:4318",
        "http://localhost.example",
        "ftp://127.0.0.1/s3cr3t",
        "collector:4318",
        "http://",
        "http://127.0.0.1:s3cr3t",
    ],
)
def test_insecure_or_broken_endpoint_is_refused_without_its_secrets(endpoint: str) -> None:
    """RELIABILITY, how to build it: https or loopback unless told otherwise."""
    with pytest.raises(TelemetryError) as caught:
        setup_telemetry(service_name="shop", endpoint=endpoint)
    assert isinstance(caught.value, ValueError)
    assert "endpoint is " in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_refusal_names_variable_endpoint_and_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """STYLE rule 11: a message shows the value and the way out."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs.example:1/v1/logs")
    with pytest.raises(TelemetryError) as caught:
        setup_telemetry(service_name="shop")
    assert str(caught.value) == (
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is http://logs.example:1: plain http to another"
        " machine, so whoever is on the way could read the telemetry and its credentials. Use"
        " https, send to a collector on this machine, or pass allow_insecure=True to"
        " setup_telemetry."
    )


@pytest.mark.parametrize(
    "endpoint",
    ["https://collector.example", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9:1"],
)
def test_https_and_loopback_are_fine(endpoint: str) -> None:
    """The other side of the rule; the process is left before it sends anything."""
    done = run(
        SETUP + "print('fine', flush=True); os._exit(0)",
        env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
    )
    assert done.stdout == "fine\n"


def test_insecure_endpoint_can_be_allowed() -> None:
    """Inside a cluster plain http to a collector is what everyone does."""
    source = """
setup_telemetry(service_name="shop", endpoint="http://192.0.2.1:4318", allow_insecure=True)
print("fine", flush=True); os._exit(0)
"""
    assert run(source).stdout == "fine\n"


def test_structlog_of_the_host_keeps_its_renderer_and_gains_ids_and_records() -> None:
    """STYLE section 4: what the host has configured is the host's."""
    source = """
structlog.configure(
    processors=[structlog.processors.KeyValueRenderer(key_order=["event"])],
    logger_factory=structlog.PrintLoggerFactory(),
)
"""
    with Receiver() as receiver:
        done = run(source + SETUP + "record()", env=_to(receiver))
    (log,) = receiver.logs
    assert done.stdout.startswith("event='waypost.error' waypost.error.class='timeout'")
    assert f"trace_id='{log.trace_id}'" in done.stdout
    assert (log.severity_text, done.stderr) == ("WARN", "")


def test_forked_child_sends_its_own_and_ends() -> None:
    """RELIABILITY A28: a fork leaves neither side hung, and no connection shared."""
    source = """
record("before"); telemetry.flush()
child = os.fork()
record("child" if child == 0 else "parent")
ok = telemetry.flush()
if child:
    print(ok, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    sys.exit(0 if ok else 1)
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    assert (done.exit_code, done.stdout) == (0, "True 0\n")
    assert sorted(span.name for span in receiver.spans) == ["before", "child", "parent"]


def test_faulty_processor_costs_neither_line_nor_host() -> None:
    """RELIABILITY A23: whatever is hung into the pipeline, the log line is written."""
    source = """
class Bad:
    def on_emit(self, record): raise RuntimeError("emit")
    def force_flush(self, timeout_millis=0): raise RuntimeError("flush")
    def shutdown(self): raise RuntimeError("shutdown")
telemetry = setup_telemetry(service_name="shop", otlp=False, log_processors=[Bad()])
log.info("still here")
print(telemetry.flush(), telemetry.shutdown())
"""
    done = run(source)
    assert (done.exit_code, done.stdout) == (0, "False None\n")
    assert [json.loads(line)["event"] for line in done.lines] == ["still here"]


NASTY = (
    "\ud800", "\udfff", "a\udc80b", "\x00", "\x01\x02", "\x1b[31mred", "\x1b]0;title\x07",
    "\x7f", "\x80\x9f", "\x9b31m", "line\nfeed", "carriage\rreturn", "tab\tbed", "\x0b\x0c",
    "\u2028", "\u2029", "\u202edesrever", "\u2066\u2069", "\u200b\u200d", "\ufeff", "\ufffe",
    "\uffff", "\U000e0041\U000e0042", "\U000f0000", "\U0010ffff", "\ue000", "\u0378", "😀" * 300,
    '"quotes"', "\\back\\slash", "{}[],:", "%s %d %n", "${jndi:ldap://x}", "<script>", "'; --",
    "x" * 10_000_000, "é" * 5_000, "\u0301" * 50, "", " ", "null", "NaN", "Infinity", "-0",
    "waypost.error\ud800", "[waypost] forged", "\N{ZERO WIDTH NO-BREAK SPACE}", "\xad", "\u061c",
    "\u180e", "\u0600", "\U000110bd", "\U0001d173", "\ufff9", "\u206a", "\u200e", "\x85", "\xa0",
    "\u3000", "\U0001f468\u200d\U0001f469",
)  # fmt: skip


def test_hundred_records_with_nasty_strings_all_arrive() -> None:
    """RELIABILITY A27: one lone surrogate must not lose a batch."""
    source = f"""
nasty = json.loads({json.dumps(json.dumps(NASTY[:35] + NASTY[36:]))}) + ["x" * 10_000_000]
for index in range(100):
    text = nasty[index % len(nasty)]
    with trace.get_tracer("host").start_as_current_span("work"):
        log.info(text, **{{"key": text, text or "empty": text, "index": index}})
print(telemetry.flush())
"""
    with Receiver() as receiver:
        done = run(SETUP + source, env=_to(receiver))
    assert (done.exit_code, done.stdout) == (0, "True\n")
    assert sorted(str(log.attributes["index"]) for log in receiver.logs) == sorted(
        str(index) for index in range(100)
    )
    assert len(receiver.spans) == 100
    _assert_clean_lines(done)


def _assert_clean_lines(done: Run) -> None:
    assert len(done.lines) == 100  # splitlines knows every line break of Unicode
    for line in done.lines:
        assert len(line.encode()) < 8_192
        assert line.isprintable()
        json.loads(line, parse_constant=pytest.fail)


def test_bytes_of_the_environment_cannot_lose_a_batch() -> None:
    """RELIABILITY A27: Python decodes a foreign byte of the environment as a lone surrogate."""
    foreign = os.fsdecode(b"\xff")
    with Receiver() as receiver:
        env = _to(receiver, OTEL_RESOURCE_ATTRIBUTES=f"team=a{foreign}")
        run('setup_telemetry(service_name="sh\\udcffop")\nrecord()', env=env)
    (span,) = receiver.spans
    assert (span.resource["service.name"], span.resource["team"]) == ("shop", "a")


def test_no_secret_of_the_configuration_is_ever_printed() -> None:
    """RELIABILITY A43: no header value, password, path or query in any log line, also at DEBUG."""
    source = """
logging.basicConfig(level=logging.DEBUG)
setup_telemetry(service_name="shop")
record()
"""
    headers = (
        "authorization=Bearer%20s3cr3t",  # fine
        "x-bad=s3cr3t%0As3cr3t,s3cr3t without a name",  # refused by requests, and by the SDK
    )
    for value in headers:
        with Receiver() as receiver:
            where = receiver.endpoint.replace("://", "://user:s3cr3t@")
            done = run(
                source,
                env={
                    "OTEL_EXPORTER_OTLP_ENDPOINT": where,
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{where}/s3cr3t?key=s3cr3t",
                    "OTEL_EXPORTER_OTLP_HEADERS": value,
                },
            )
        assert done.lines, value
        assert "s3cr3t" not in done.stderr
        assert "s3cr3t" not in done.stdout


def test_waypost_telemetry_leaves_a_host_without_stderr_alone() -> None:
    """RELIABILITY A24: a daemon may have no stderr at all."""
    source = """
sys.stderr = None
"""
    with Receiver() as receiver:
        done = run(source + SETUP + "record(); sys.stderr = sys.__stderr__", env=_to(receiver))
    assert (done.exit_code, done.stderr, len(receiver.logs)) == (0, "", 1)


def test_interpreter_of_these_tests_has_no_global_telemetry() -> None:
    """The tests above that run in this process must all have been refused."""
    assert "opentelemetry.sdk.trace" in sys.modules
    from opentelemetry import trace

    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
