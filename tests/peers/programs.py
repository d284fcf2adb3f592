"""Real Jaeger, Prometheus and Collector, as `make peers` builds them, each as a process."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from tests.programs import ROOT

__all__ = ["BUILT", "Stack", "missing", "running_stack"]

BUILT = ROOT / "build/programs"
_NAMES = ("jaeger", "otelcol", "prometheus", "promtool")


def missing() -> list[str]:
    """The programs that are not built."""
    return [name for name in _NAMES if not (BUILT / name).exists()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Where the programs of one run answer."""

    otlp: str
    prometheus: str
    jaeger: str

    def ask_prometheus(self, path: str, **parameters: object) -> Any:
        """Return the data of an answer of Prometheus' HTTP API."""
        answer = _get(f"{self.prometheus}/api/v1/{path}?{urlencode(parameters)}")
        assert answer["status"] == "success", answer
        return answer["data"]

    def ask_jaeger(self, path: str, **parameters: object) -> list[dict[str, Any]]:
        """Return the data of an answer of the HTTP API that Jaeger's page uses; [] for a 404."""
        try:
            answer = _get(f"{self.jaeger}/api/{path}?{urlencode(parameters)}")
        except HTTPError as error:
            if error.code == 404:
                return []
            raise
        data: list[dict[str, Any]] = answer["data"] or []
        return data


def _get(url: str) -> Any:
    with urlopen(url, timeout=10) as answer:  # noqa: S310 -- of this machine
        return json.load(answer)


@contextmanager
def running_stack(folder: Path) -> Iterator[Stack]:
    """Run the three programs, with the configuration that ships, on free ports of loopback."""
    otlp, jaeger_otlp, page, rpc, prometheus = (_free_port() for _ in range(5))
    with ExitStack() as programs:
        programs.enter_context(
            _running(
                folder,
                "jaeger",
                f"--config={_jaeger_config(folder)}",
                f"--set=receivers.otlp.protocols.http.endpoint=127.0.0.1:{jaeger_otlp}",
                f"--set=receivers.otlp.protocols.grpc.endpoint=127.0.0.1:{_free_port()}",
                f"--set=extensions.jaeger_query.http.endpoint=127.0.0.1:{page}",
                f"--set=extensions.jaeger_query.grpc.endpoint=127.0.0.1:{rpc}",
                "--set=service.telemetry.metrics.level=none",
                answers=f"http://127.0.0.1:{page}/api/services",
            )
        )
        programs.enter_context(
            _running(
                folder,
                "prometheus",
                f"--config.file={_prometheus_config(folder)}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{prometheus}",
                "--web.enable-otlp-receiver",
                "--enable-feature=exemplar-storage,created-timestamp-zero-ingestion",
                answers=f"http://127.0.0.1:{prometheus}/-/ready",
            )
        )
        programs.enter_context(
            _running(
                folder,
                "otelcol",
                f"--config={ROOT / 'dashboards/compose/collector.yaml'}",
                f"--set=receivers.otlp.protocols.http.endpoint=127.0.0.1:{otlp}",
                f"--set=receivers.otlp.protocols.grpc.endpoint=127.0.0.1:{_free_port()}",
                f"--set=exporters.otlphttp/traces.endpoint=http://127.0.0.1:{jaeger_otlp}",
                f"--set=exporters.otlphttp/metrics.endpoint=http://127.0.0.1:{prometheus}/api/v1/otlp",
                # There is no Loki here: the records go to where they are refused, and are dropped.
                f"--set=exporters.otlphttp/logs.endpoint=http://127.0.0.1:{jaeger_otlp}",
                "--set=service.telemetry.metrics.level=none",
                answers=f"http://127.0.0.1:{otlp}/",
            )
        )
        yield Stack(
            otlp=f"http://127.0.0.1:{otlp}",
            prometheus=f"http://127.0.0.1:{prometheus}",
            jaeger=f"http://127.0.0.1:{page}",
        )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def _jaeger_config(folder: Path) -> Path:
    return _changed(
        folder / "jaeger.yaml",
        ROOT / "dashboards/jaeger/config.yaml",
        {"/etc/jaeger/ui.json": str(ROOT / "dashboards/jaeger/ui.json")},
    )


def _prometheus_config(folder: Path) -> Path:
    rules = str(ROOT / "dashboards/generated/prometheus/*.yml")
    source = ROOT / "dashboards/compose/prometheus.yaml"
    path = _changed(folder / "prometheus.yaml", source, {"/etc/prometheus/rules/*.yml": rules})
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["rule_files"] == [rules]
    return path


def _changed(path: Path, source: Path, changes: Mapping[str, str]) -> Path:
    text = source.read_text(encoding="utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def _running(folder: Path, name: str, *arguments: str, answers: str) -> Iterator[None]:
    """Run a program until the block ends; it has a minute to answer at *answers*."""
    log = folder / f"{name}.log"
    with log.open("w", encoding="utf-8") as output:
        program = subprocess.Popen(
            [BUILT / name, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
        )
    try:
        for _ in range(600):
            if _answers(answers):
                break
            assert program.poll() is None, log.read_text(encoding="utf-8")[-3_000:]
            time.sleep(0.1)
        else:
            raise AssertionError(log.read_text(encoding="utf-8")[-3_000:])
        yield
    finally:
        program.terminate()
        try:
            program.wait(timeout=20)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait(timeout=20)
        shutil.rmtree(folder / "tsdb", ignore_errors=True)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):  # noqa: S310 -- of this machine
            return True
    except URLError as error:
        return getattr(error, "code", None) == 404  # it is there, and has no such page
    except OSError:
        return False
