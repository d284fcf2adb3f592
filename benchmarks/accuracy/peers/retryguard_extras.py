"""
retryguard with its extras also knows the exceptions of SDKs, so each row is handed over in two more
ways beside those of plain retryguard: as the `ClientError` that botocore raises with that code, and
as the exception of that name in any of the SDKs.

It is the generous reading: a code of any owner is asked as if AWS had answered it, and the names of
exceptions are looked for in every SDK and in every spelling.
"""

from __future__ import annotations

import re
from importlib import import_module

from botocore.exceptions import ClientError

from . import retryguard as plain
from ._rows import Answer, answer_rows, words_of

SDKS = tuple(
    import_module(name)
    for name in (
        "botocore.exceptions",
        "google.api_core.exceptions",
        "azure.core.exceptions",
        "redis.exceptions",
        "requests.exceptions",
        "httpx",
        "asyncpg.exceptions",
    )
)


def client_error(code: str, message: str) -> Answer:
    return plain.asked(ClientError({"Error": {"Code": code, "Message": message}}, "Call"))


def sdk_class(code: str, message: str) -> Answer | None:
    for sdk in SDKS:
        for name in names_of(code):
            cls = getattr(sdk, name, None)
            if isinstance(cls, type) and issubclass(cls, Exception):
                return plain.asked(built(cls, message))
    return None


def names_of(code: str) -> tuple[str, ...]:
    """Return how a class may be called: for ``DEADLINE_EXCEEDED`` also ``DeadlineExceeded``."""
    if re.search("[a-z][A-Z]|[.]", code):
        name = code.rpartition(".")[2]
    else:
        name = words_of(code).title().replace(" ", "")
    return name, f"{name}Error", f"{name}Exception"


def built(cls: type[Exception], message: str) -> Exception:
    try:
        return cls(message)
    except Exception:  # noqa: BLE001 -- a constructor that wants more, and may say so in any way
        return cls.__new__(cls)


AS_WRITTEN = (*plain.AS_WRITTEN, client_error)
READ = (*plain.READ, sdk_class)

if __name__ == "__main__":
    answer_rows((*AS_WRITTEN, *READ), as_written=AS_WRITTEN)
