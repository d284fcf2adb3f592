"""
Numbers and fixed short names beside the rules: what a code of a standard means, as a row's id.

A number is believed where it is known whose it is. A bare ``14`` is no gRPC status and ``40017``
is no SQLSTATE; ``grpc-status: 14`` and ``40P01`` are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ._index import Words

# A table of numbers reads better in columns.
# fmt: off
HTTP_STATUS = {
    "400": "request.vague", "401": "unauthorized", "402": "quota.used_up", "403": "http.forbidden",
    "404": "not.found", "405": "unsupported", "406": "unsupported", "407": "unauthorized",
    "408": "timed.out", "409": "http.conflict", "410": "not.found", "411": "invalid.words",
    "412": "precondition", "413": "too_large", "414": "too_large", "415": "unsupported",
    "416": "invalid.words", "417": "invalid.words", "418": "unsupported", "421": "cluster.moved",
    "422": "invalid.words", "423": "lock.held", "424": "precondition", "425": "unavailable",
    "426": "unsupported", "428": "precondition", "429": "rate.limited", "431": "too_large",
    "440": "auth.expired", "451": "legal.block", "498": "auth.expired", "499": "cancelled",
    "500": "http.internal", "501": "unsupported", "502": "unavailable", "503": "unavailable",
    "504": "timed.out", "505": "unsupported", "507": "quota.used_up", "508": "invalid.words",
    "509": "rate.limited", "511": "unauthorized", "520": "unavailable", "521": "connection.refused",
    "522": "timed.out", "523": "host.unresolved", "524": "timed.out", "529": "overloaded",
    "530": "unavailable", "598": "timed.out", "599": "timed.out",
}

REASONS = {
    "400": "bad", "401": "unauthorized", "402": "payment", "403": "forbidden", "404": "not",
    "405": "method", "406": "not", "408": "request", "409": "conflict", "410": "gone",
    "412": "precondition", "413": "payload", "415": "unsupported", "422": "unprocessable",
    "423": "locked", "429": "too", "500": "internal", "501": "not", "502": "bad",
    "503": "service", "504": "gateway",
}
"""The first word of the reason phrase: "404 Not Found" is a status, "404 rows" is none."""

JSON_RPC = {
    "-32700": "invalid.words", "-32600": "request.vague", "-32601": "tool.unknown",
    "-32602": "rpc.arguments", "-32603": "rpc.internal", "-32001": "rpc.timeout",
    "-32002": "rpc.not_found", "-32020": "invalid.words", "-32021": "unsupported",
    "-32022": "unsupported", "-32042": "input.required", "-32800": "cancelled",
    "-32801": "precondition", "-32802": "unavailable",
}

GRPC = {
    "1": "cancelled", "3": "invalid.words", "4": "timed.out", "5": "not.found", "6": "exists",
    "7": "forbidden", "8": "rate.limited", "9": "precondition", "10": "transaction.aborted",
    "11": "invalid.words", "12": "unsupported", "13": "internal", "14": "unavailable",
    "15": "data.lost", "16": "auth.required",
}

SQLSTATE_CLASSES = {
    "08": "connection.lost", "0A": "unsupported", "21": "invalid.words", "22": "invalid.words",
    "23": "invalid.words", "25": "precondition", "26": "invalid.words", "28": "auth.refused",
    "2D": "precondition", "34": "not.found", "3D": "not.found", "3F": "not.found",
    "40": "transaction.aborted", "42": "invalid.words", "44": "invalid.words", "53": "overloaded",
    "54": "too_large", "55": "precondition", "57": "going.down", "58": "unavailable",
    "XX": "internal",
}

SQLSTATES = {
    "08001": "connection.refused", "08004": "connection.refused", "22001": "too_large",
    "22003": "invalid.words", "22007": "invalid.words", "22008": "invalid.words",
    "22012": "invalid.words", "22023": "invalid.words", "23000": "invalid.words",
    "23502": "invalid.words", "23503": "invalid.words", "23505": "exists",
    "23514": "invalid.words", "25006": "forbidden", "28000": "auth.refused",
    "3D000": "not.found", "40001": "transaction.aborted", "40002": "invalid.words",
    "42501": "forbidden", "42601": "invalid.words", "42703": "argument.unknown",
    "42883": "not.found", "42P01": "not.found", "42P04": "exists", "42P07": "exists",
    "42710": "exists", "53100": "quota.used_up", "53300": "overloaded", "55006": "lock.held",
    "55P03": "lock.held", "57014": "cancelled",
}
"""Exceptions to their class, and the codes of five digits that no vendor number is taken for."""

ERRNO = {
    "eacces": "forbidden", "eperm": "forbidden", "erofs": "forbidden", "eaccess": "forbidden",
    "eagain": "unavailable", "ewouldblock": "unavailable", "eintr": "unavailable",
    "ebusy": "lock.held", "etxtbsy": "lock.held", "edeadlk": "lock.held", "elocked": "lock.held",
    "enolck": "overloaded", "enobufs": "overloaded", "emfile": "overloaded",
    "enfile": "overloaded", "enomem": "overloaded", "econnrefused": "connection.refused",
    "econnreset": "connection.lost", "econnaborted": "connection.lost", "epipe": "connection.lost",
    "enotconn": "connection.lost", "eshutdown": "connection.lost", "enetreset": "connection.lost",
    "enetdown": "host.unresolved", "enetunreach": "host.unresolved",
    "ehostdown": "host.unresolved", "ehostunreach": "host.unresolved",
    "enotfound": "host.unresolved", "etimedout": "timed.out",
    "etimeout": "timed.out", "esockettimedout": "timed.out", "etime": "timed.out",
    "enoent": "not.found", "enodev": "not.found", "enxio": "not.found", "esrch": "not.found",
    "enoattr": "not.found", "enodata": "not.found", "estale": "not.found", "eexist": "exists",
    "eaddrinuse": "exists", "ealready": "exists", "eisconn": "exists", "enotempty": "precondition",
    "einval": "invalid.words", "ebadf": "invalid.words", "edom": "invalid.words",
    "erange": "invalid.words", "eisdir": "invalid.words", "enotdir": "invalid.words",
    "enotsock": "invalid.words", "enotty": "invalid.words", "eloop": "invalid.words",
    "eilseq": "invalid.words", "edestaddrreq": "invalid.words", "eprototype": "invalid.words",
    "exdev": "invalid.words", "efault": "invalid.words", "eaddrnotavail": "invalid.words",
    "enametoolong": "too_large", "efbig": "too_large", "emsgsize": "too_large",
    "e2big": "too_large", "eoverflow": "too_large", "emlink": "too_large",
    "enospc": "quota.used_up",
    "edquot": "quota.used_up", "enosys": "unsupported", "enotsup": "unsupported",
    "eopnotsupp": "unsupported", "eafnosupport": "unsupported", "eprotonosupport": "unsupported",
    "enoprotoopt": "unsupported", "ecanceled": "cancelled", "eio": "unavailable",
    "edelay": "unavailable", "egrace": "unavailable",
}

SHORT_NAMES = {
    # DNS response codes
    "formerr": "invalid.words", "servfail": "unavailable", "nxdomain": "not.found",
    "notimp": "unsupported", "refused": "forbidden", "yxdomain": "exists", "yxrrset": "exists",
    "nxrrset": "not.found", "notauth": "forbidden", "notzone": "invalid.words",
    "badvers": "unsupported", "badsig": "auth.refused", "badkey": "auth.refused",
    "badtime": "auth.refused", "badmode": "unsupported", "badname": "invalid.words",
    "badalg": "unsupported", "badtrunc": "invalid.words", "badcookie": "invalid.words",
    # Python's EINTR; elsewhere "interrupted" is a thread or a person that stopped it
    "interruptederror": "unavailable",
    # the name of SQLSTATE 40001: "failure" tells it from a value that cannot be written as text
    "serialization_failure": "transaction.aborted", "serializationfailure": "transaction.aborted",
    # Redis error prefixes
    "busykey": "exists", "busygroup": "exists", "nogroup": "not.found", "noscript": "not.found",
    "noperm": "forbidden", "noproto": "unsupported", "wrongtype": "invalid.words",
    "wrongpass": "auth.refused", "noauth": "auth.failed", "masterdown": "cluster.moved",
    "clusterdown": "cluster.moved", "tryagain": "cluster.moved", "moved": "cluster.moved",
    "ask": "cluster.moved", "readonly": "cluster.moved", "noreplicas": "cluster.moved",
    "execabort": "invalid.words", "oom": "overloaded", "misconf": "misconfigured",
    # ZooKeeper
    "nonode": "not.found", "nodeexists": "exists", "badversion": "precondition",
    "notempty": "precondition", "connectionloss": "connection.lost", "authfailed": "auth.failed",
    "operationtimeout": "timed.out", "sessionexpired": "auth.expired",
    "sessionmoved": "connection.lost", "invalidacl": "invalid.words",
    "badarguments": "invalid.words", "systemerror": "internal", "throttledop": "rate.limited",
    "quotaexceeded": "quota.used_up", "reconfiginprogress": "lock.held",
    "nochildrenforephemerals": "invalid.words", "nowatcher": "not.found",
}
"""Names without a joint between their words, read only where they are the whole code."""

MYSQL = {
    "1040": "overloaded", "1044": "forbidden", "1045": "auth.refused", "1046": "invalid.words",
    "1049": "not.found", "1053": "maintenance", "1054": "argument.unknown", "1062": "exists",
    "1064": "invalid.words", "1142": "forbidden", "1146": "not.found", "1203": "overloaded",
    "1205": "lock.held", "1213": "lock.held", "1226": "quota.used_up", "1290": "forbidden",
    "1317": "cancelled", "1451": "invalid.words", "1452": "invalid.words", "3024": "timed.out",
    "2002": "connection.refused", "2003": "connection.refused", "2006": "connection.lost",
    "2013": "connection.lost",
}

ORACLE = {
    "1": "exists", "18": "overloaded", "20": "overloaded", "54": "lock.held", "60": "lock.held",
    "904": "argument.unknown", "942": "not.found", "1013": "cancelled", "1017": "auth.refused",
    "1031": "forbidden", "1033": "maintenance", "1034": "unavailable", "1089": "maintenance",
    "1090": "maintenance", "1400": "invalid.words", "1722": "invalid.words",
    "1012": "connection.lost", "3113": "connection.lost", "3114": "connection.lost",
    "3135": "connection.lost",
    "4021": "lock.held", "8177": "transaction.aborted", "12154": "misconfigured",
    "12170": "timed.out", "12514": "unavailable", "12519": "overloaded", "12520": "overloaded",
    "12537": "connection.lost", "12541": "connection.refused", "28000": "account.locked",
    "28001": "auth.refused",
}

FAMILIES = {"grpc": GRPC, "mysql": MYSQL, "ora": ORACLE, "oracle": ORACLE}
# fmt: on

_STATUS_WORDS = frozenset(("http", "status", "code", "error", "err", "e", "response", "https"))
_BEFORE_STATUS = frozenset((
    "http", "status", "code", "error", "returned", "returns", "response", "got", "received",
    "with", "statuscode", "err", "responded",
))  # fmt: skip
_UNITS = frozenset((
    "ms", "s", "sec", "seconds", "second", "minutes", "rows", "row", "bytes", "tokens", "items",
    "records", "lines", "files", "times", "results", "characters", "chars", "requests", "errors",
    "entries", "retries", "attempts", "kb", "mb", "gb", "px", "percent", "users", "documents",
))  # fmt: skip


def number_of_name(name: str, tokens: Sequence[str]) -> str | None:
    """The id of the row that a numeric or standard code stands for, or ``None``."""
    text = name.strip()
    if text.startswith(("32", "-32")):  # some servers lose the sign
        known = JSON_RPC.get("-" + text.removeprefix("-"))
        if known:
            return known
    return (
        _sqlstate(text.upper())
        or SHORT_NAMES.get(text.lower())
        or _errno(text.lower(), tokens)
        or _family(tokens)
        or _status(text, tokens)
    )


def _sqlstate(text: str) -> str | None:
    text = text.removeprefix("SQLSTATE").strip(" :_-[]")
    if len(text) != 5 or not (text.isascii() and text.isalnum() and text[0] in "0123456789X"):
        return None
    if text in SQLSTATES:
        return SQLSTATES[text]
    if text.isdigit() and not text.startswith("08"):
        return None
    return SQLSTATE_CLASSES.get(text[:2])


def _errno(text: str, tokens: Sequence[str]) -> str | None:
    if text in ERRNO:
        return ERRNO[text]
    for token in tokens:
        if token in ERRNO:
            return ERRNO[token]
    if tokens and tokens[0] == "nfs" and "err" in tokens:
        return ERRNO.get(f"e{tokens[-1]}")
    return None


def _family(tokens: Sequence[str]) -> str | None:
    for owner, table in FAMILIES.items():
        if owner in tokens and tokens[-1].isdigit():
            return table.get(tokens[-1].lstrip("0"))
    return None


def _status(text: str, tokens: Sequence[str]) -> str | None:
    """An HTTP status: the whole code, or a number that words such as ``HTTP`` stand before."""
    if text in HTTP_STATUS:
        return HTTP_STATUS[text]
    for before, token in pairwise(tokens):
        if token in HTTP_STATUS and before in _STATUS_WORDS:
            return HTTP_STATUS[token]
    return None


def number_in_message(words: Words, message: str) -> str | None:
    """
    The id of the row for a status, SQLSTATE or errno name in prose, or ``None``.

    Args:
        words: The words of the message; one without a number costs next to nothing.

        message: The message as written: a status may stand in brackets.
    """
    distinct = words.distinct
    if not ERRNO.keys().isdisjoint(distinct):
        return next(ERRNO[word] for word in words.listed if word in ERRNO)
    if not HTTP_STATUS.keys().isdisjoint(distinct):
        listed = words.listed
        for at, word in enumerate(listed):
            if word in HTTP_STATUS and (f"({word})" in message or _in_status_position(listed, at)):
                return HTTP_STATUS[word]
    if "sqlstate" in distinct:
        return _sqlstate(words.text.partition(" sqlstate ")[2][:5].upper())
    return None


def _in_status_position(words: Sequence[str], at: int) -> bool:
    after = words[at + 1] if at + 1 < len(words) else ""
    if after in _UNITS:
        return False
    before = words[max(0, at - 3) : at]
    if before and (before[-1] in _BEFORE_STATUS or "http" in before):
        return True
    return after == REASONS.get(words[at])
