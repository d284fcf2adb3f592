"""
The servers: which there are, and how each is started.

``<name>`` stands for a place of the run (tests/servers/places.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """
    A public server, and how it is started.

    Attributes:
        package: The distribution that the requirement file of *environment* pins.
    """

    package: str
    environment: str
    command: tuple[str, ...]
    env: Mapping[str, str]


def _server(package: str, environment: str, *command: str, **env: str) -> Server:
    return Server(package=package, environment=environment, command=command, env=env)


SERVERS: Mapping[str, Server] = {
    "time": _server("mcp-server-time", "mcp2", "mcp-server-time", "--local-timezone", "UTC"),
    "git": _server("mcp-server-git", "mcp2", "mcp-server-git"),
    "git-confined": _server(
        "mcp-server-git", "mcp2", "mcp-server-git", "--repository", "<repository>"
    ),
    "git-dead": _server("mcp-server-git", "mcp2", "mcp-server-git", "--repository", "<plain>"),
    "fetch": _server("mcp-server-fetch", "mcp2", "mcp-server-fetch", "--allow-private-ips"),
    "fetch-public": _server("mcp-server-fetch", "mcp2", "mcp-server-fetch"),
    "fetch-unasked": _server(
        "mcp-server-fetch", "mcp2", "mcp-server-fetch", "--allow-private-ips", "--ignore-robots-txt"
    ),
    "motherduck": _server(
        "mcp-server-motherduck",
        "mcp2",
        "mcp-server-motherduck",
        *("--db-path", "<database>", "--allow-switch-databases"),
        FASTMCP_CHECK_FOR_UPDATES="off",
    ),
    "excel": _server(
        "excel-mcp-server", "mcp2", "excel-mcp-server", "stdio", EXCEL_FILES_PATH="<books>"
    ),
    "memcached": _server(
        "awslabs.memcached-mcp-server",
        "mcp2",
        "awslabs.memcached-mcp-server",
        MEMCACHED_HOST="127.0.0.1",
        MEMCACHED_PORT="<closed port>",
    ),
    "sqlite": _server(
        "mcp-server-sqlite", "mcp1", "mcp-server-sqlite", "--db-path", "<folder>/sqlite.db"
    ),
    "redis": _server("redis-mcp-server", "mcp1", "redis-mcp-server", "--url", "redis://<closed>/0"),
    "shell": _server("mcp-shell-server", "mcp1", "mcp-shell-server", ALLOW_COMMANDS="ls,tail"),
}
