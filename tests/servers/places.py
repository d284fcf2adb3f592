"""What the servers are pointed at: a folder, a site on loopback, a port with no listener."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from tests.servers.environments import python_of

VARYING = (
    (re.compile(r"errors\.pydantic\.dev/[\d.]+/"), "errors.pydantic.dev/<version>/"),
    (re.compile(r"input_value='[^']*\.\.\.[^']*'"), "input_value='...'"),
    (re.compile(r"Error \d+ connecting"), "Error <number> connecting"),
    (re.compile(r"held in \S+ \(PID \d+\)"), "held in <program> (PID <number>)"),
)
"""What differs between machines or versions and is no place."""

MAKE_DATABASES = """
import sys, duckdb
duckdb.connect(sys.argv[1]).execute("create table orders (id integer)").close()
held = duckdb.connect(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What stands for ``<name>`` in the table of calls, on this machine and in this run."""

    folder: Path
    values: Mapping[str, str]

    def fill(self, template: Any) -> Any:
        """Return *template* with every ``<name>`` replaced by its place."""
        if isinstance(template, Mapping):
            return {key: self.fill(value) for key, value in template.items()}
        if isinstance(template, list):
            return [self.fill(item) for item in template]
        if isinstance(template, str):
            for name, value in self.values.items():
                template = template.replace(name, value)
        return template

    def veil(self, text: str) -> str:
        """Return *text* as it would read on any machine."""
        for name, value in sorted(self.values.items(), key=lambda item: -len(item[1])):
            if not value.isdigit():  # a port alone may be part of any other number
                text = text.replace(value, name)
        for pattern, replacement in VARYING:
            text = pattern.sub(replacement, text)
        return text


@contextmanager
def open_places(folder: Path) -> Generator[Places]:
    """Make everything in *folder*, an empty one; site and lock last as long as the block."""
    folder = folder.resolve()
    for name in ("plain", "books"):
        (folder / name).mkdir()
    for name in ("repository", "busy"):
        _make_repository(folder / name)
    (folder / "busy" / ".git" / "index.lock").touch()
    with _site() as site, _port_without_listener() as port, _databases(folder):
        named = {
            f"<{path.name.partition('.')[0]}>": str(path)
            for path in sorted(folder.iterdir())
            if path.suffix in {"", ".duckdb"}
        }
        yield Places(
            folder=folder,
            values={
                **named,
                "<folder>": str(folder),
                "<site>": site,
                "<closed>": f"127.0.0.1:{port}",
                "<closed port>": str(port),
            },
        )


def _make_repository(path: Path) -> None:
    """A repository with one file on the branch ``main``, whatever the user's settings."""
    path.mkdir()
    (path / "notes.txt").write_text("One line.\n", encoding="utf-8")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    somebody = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        (*somebody, "commit", "--quiet", "--message=First"),
    ):
        subprocess.run(["git", *arguments], cwd=path, env=env, check=True, capture_output=True)


@contextmanager
def _databases(folder: Path) -> Generator[None]:
    """One database with an empty table, and one that another process has open for writing."""
    command = [
        str(python_of("mcp2")),
        "-I",
        "-c",
        MAKE_DATABASES,
        str(folder / "database.duckdb"),
        str(folder / "locked.duckdb"),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield  # leaving the block closes its standard input, and it ends


@contextmanager
def _port_without_listener() -> Generator[int]:
    """A port of ours on which nobody listens: connections are refused, also by chance."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


class _Pages(BaseHTTPRequestHandler):
    """A site with a page for each way in which a page cannot be read."""

    PAGES: ClassVar[Mapping[str, tuple[int, str]]] = {
        "/robots.txt": (200, "User-agent: *\nDisallow: /private\n"),
        "/page": (200, "A page.\n"),
        "/members": (401, ""),
        "/busy": (429, ""),
        "/broken": (500, ""),
        "/closed": (503, ""),
        "/round": (302, ""),
    }
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/silent":
            self.server.closing.wait()
        if self.path in {"/silent", "/hung-up"}:
            return  # without a word
        status, body = self.PAGES.get(self.path, (404, ""))
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        if status == 302:
            self.send_header("Location", self.path)
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: stderr is for what goes wrong."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for every handler, so that no socket is left open

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)
        self.closing = threading.Event()


@contextmanager
def _site() -> Generator[str]:
    """The address of the site."""
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
