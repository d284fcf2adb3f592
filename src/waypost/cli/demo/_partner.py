"""The other companies the order office talks to, on loopback: real sockets, no canned results."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import cast

DEMO_SECRET = "EXAMPLE-NOT-A-REAL-SECRET-7f3a91c2d4e8"  # noqa: S105 -- made up, and long enough to search for
"""What must never be shown."""

_LOOPBACK = "127.0.0.1"
_PATIENCE_SECONDS = 5.0


class _PartnerServer(ThreadingTCPServer):
    # Not HTTPServer: that asks the name service for the name of this machine, which may be slow.
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((_LOOPBACK, 0), _PartnerHandler)
        self.charges: list[dict[str, object]] = []


class _PartnerHandler(BaseHTTPRequestHandler):
    # "Only": send_response also logs to stderr, which belongs to whoever started the server.

    def do_GET(self) -> None:
        # The catalog: the key that the office holds was revoked.
        self.send_response_only(HTTPStatus.UNAUTHORIZED)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        # The payments: books the charge, but for the first one the line breaks before the answer.
        charge = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        charges = cast("_PartnerServer", self.server).charges
        charges.append(charge)
        if len(charges) > 1:
            self.send_response_only(HTTPStatus.CREATED)
            self.send_header("Content-Length", "0")
            self.end_headers()


class Partner:
    """A client of the partners; each method raises what the connection raised."""

    def __init__(self, server: _PartnerServer, deaf_port: int) -> None:
        self._server = server
        self._deaf_port = deaf_port

    @property
    def charges(self) -> list[dict[str, object]]:
        """What was really booked, whatever the caller was told."""
        return list(self._server.charges)

    def ask_carrier(self) -> None:
        """Connect to the carrier, who does not listen. Raises: ConnectionRefusedError."""
        socket.create_connection((_LOOPBACK, self._deaf_port), timeout=_PATIENCE_SECONDS).close()

    def fetch_catalog(self) -> bytes:
        """Ask for the catalog; as careless clients do, quote the request when it is refused."""
        headers = {"Authorization": f"Bearer {DEMO_SECRET}"}
        with self._connected() as connection:
            connection.request("GET", "/catalog", headers=headers)
            with connection.getresponse() as answer:
                if answer.status == HTTPStatus.OK:  # pragma: no cover -- the key stays revoked
                    return answer.read()
                quoted = "; ".join(f"{name}: {value}" for name, value in headers.items())
                raise http.client.HTTPException(
                    f"{answer.status} {answer.reason} for GET /catalog, sent {quoted}"
                )

    def charge(self, order_id: str, amount_cents: int) -> None:
        """
        Book a charge. The first one is booked and never answered.

        Raises:
            http.client.RemoteDisconnected: The line was closed; whether the charge was booked
                cannot be known from this.
        """
        body = json.dumps({"order_id": order_id, "amount_cents": amount_cents})
        with self._connected() as connection:
            connection.request("POST", "/charges", body=body)
            connection.getresponse().close()

    @contextmanager
    def _connected(self) -> Iterator[http.client.HTTPConnection]:
        port = self._server.server_address[1]
        with closing(
            http.client.HTTPConnection(_LOOPBACK, port, timeout=_PATIENCE_SECONDS)
        ) as connection:
            yield connection


@contextmanager
def open_partner() -> Iterator[Partner]:
    """Start the partners on free ports of loopback; stop them at the end."""
    with _PartnerServer() as server, socket.socket() as deaf:
        # Bound and never listening: refuses, and nobody else can take the port meanwhile.
        deaf.bind((_LOOPBACK, 0))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield Partner(server, deaf.getsockname()[1])
        finally:
            server.shutdown()
            thread.join()
