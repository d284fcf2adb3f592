"""Servers that an exporter must survive: each answers every request in one wrong way."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
BOMB_BYTES = 600 * 1024 * 1024

_Answer = Callable[[socket.socket, threading.Event], None]


def _reply(status: str, *headers: str, body: bytes = b"") -> _Answer:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    data = "\r\n".join(lines).encode("latin-1") + body

    def answer(client: socket.socket, _stop: threading.Event) -> None:
        client.sendall(data)

    return answer


def _black_hole(_client: socket.socket, stop: threading.Event) -> None:
    stop.wait()


def _drip(data: Callable[[], Iterator[bytes]]) -> _Answer:
    def answer(client: socket.socket, stop: threading.Event) -> None:
        for byte in data():
            client.sendall(byte)
            if stop.wait(1.0):
                return

    return answer


def _dripped_headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nx: "
    for _ in count():
        yield b"y"


def _dripped_body() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"
    for _ in count():
        yield b"y"


def _endless(client: socket.socket, stop: threading.Event) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not stop.is_set():
        client.sendall(bytes(65_536))


def _endless_headers(client: socket.socket, stop: threading.Event) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\n")
    while not stop.is_set():
        client.sendall(b"x: " + b"y" * 60_000 + b"\r\n")


@cache
def bomb() -> bytes:
    """600 MB of zeros as gzip, which browsers and libraries inflate without being asked."""
    return gzip.compress(bytes(BOMB_BYTES // 60)) * 60


def _bomb(client: socket.socket, _stop: threading.Event) -> None:
    body = bomb()
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)


ANSWERS: dict[str, _Answer] = {
    "black hole": _black_hole,
    "dripped headers": _drip(_dripped_headers),
    "dripped body": _drip(_dripped_body),
    "endless body": _endless,
    "endless headers": _endless_headers,
    "bomb": _bomb,
    "500": _reply("500 \x1b[31mBroken\x1b[0m"),
    "503": _reply("503 Busy", "retry-after: 99999"),
    "429": _reply("429 Slow", "retry-after: Fri, 31 Dec 9999 23:59:59 GMT"),
    "307": _reply("307 Moved", "location: http://127.0.0.1:9/"),
    "garbage": _reply("\x00\x01 garbage"),
}
"""By name; ``refused`` and ``tls`` need no answer, see ``faulty``."""

NAMES = (*ANSWERS, "refused", "tls")


@contextmanager
def faulty(name: str, *, good_first: int = 0) -> Iterator[str]:
    """
    Run the server *name* on a free port and yield its base URL.

    Args:
        name: One of ``NAMES``.

        good_first: How many requests to answer properly before it turns bad.
    """
    stop = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    if name == "refused":
        listener.close()
        yield f"http://127.0.0.1:{port}"
        return
    good = count()
    answer = ANSWERS["garbage" if name == "tls" else name]

    def serve(client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:  # the exporter may hang up
            while _read_request(client):
                if next(good) < good_first:
                    client.sendall(OK)
                else:
                    answer(client, stop)

    def accept() -> None:
        while not stop.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"{'https' if name == 'tls' else 'http'}://127.0.0.1:{port}"
    finally:
        stop.set()
        listener.close()


def _read_request(client: socket.socket) -> bool:
    """Read one request; false at the end, and for what is none (a TLS greeting)."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = client.recv(65_536)
        if not part:
            return False
        head += part
        if not head.startswith(b"POST"[: len(head)]):
            return True
    head, _, body = head.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    left = int(lengths[0].partition(b":")[2]) - len(body)
    while left > 0:
        left -= len(client.recv(65_536)) or left
    return True
