"""Error code and message in, one row of the table out. Pure, and never raises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple, Self

from ._index import Index, Words
from ._model import ErrorClass, Outcome, Rule, RuleError
from ._numbers import number_in_message, number_of_name
from ._prose import embedded_codes, is_path, parts_of, without_addresses, without_quotes
from ._rules import RULES, SIGN_IN_PHRASES, UNKNOWN_RULE
from ._tokens import MAX_MESSAGE, MAX_NAME, name_text, tokens_of

MAX_CACHED_NAMES = 2048

DecidedBy = Literal["sign-in message", "code", "number", "message", "none"]

_NAMED: tuple[DecidedBy, ...] = ("code", "number")
NO_SUCH_PATH = "not.found"
"""The row for a message that is nothing but a path, as ``str(NoSuchPathError(path))`` is."""

_UNAUTHENTICATED = ErrorClass.UNAUTHENTICATED  # a look-up in an enumeration costs 100 ns

_SAYS_NOTHING = frozenset(
    f" {words} "
    for words in (
        "unknown", "unknown error", "unknown exception", "error", "errors", "exception", "failed",
        "failure", "fault", "fail", "err", "tool error", "api error", "sdk error", "runtime error",
        "execution error", "generic error", "other", "none", "null", "undefined", "undefined error",
        "request failed", "operation failed", "tool failed", "unspecified", "general error",
        "unexpected", "client error", "base error", "os error", "http error", "unknown failure",
    )
)  # fmt: skip


_BUILT_IN = frozenset(row.id for row in RULES)
"""A row of a user's may know what such a code says."""


class Explanation(NamedTuple):
    """
    Why a failure was sorted as it was.

    Attributes:
        tokens: The words of the code, or of the message if that decided.

        rule: The row that won.

        shadowed: The other rows that match the same words, in the order of the table.

        decided_by: What the row was found in; ``"number"`` for the tables beside the rules.
    """

    tokens: tuple[str, ...]
    rule: Rule
    shadowed: tuple[Rule, ...]
    decided_by: DecidedBy


class _Decision(NamedTuple):
    """A row, what it was found in, and the words of a message it was found among."""

    rule: Rule
    decided_by: DecidedBy
    words: Words


_NO_WORDS = Words([])
"""Decisions on names are kept by the thousand, and words take ten times their memory."""
_NOTHING = _Decision(UNKNOWN_RULE, "none", _NO_WORDS)


_PLAIN_CHARS = 240
"""A message that is longer tells more than that the call was refused."""

_DONE_WORDS = frozenset(
    (
        "but", "although", "captured", "placed", "sent", "submitted", "finished", "committed",
        "saved", "booked", "charged", "partial", "partially", "webhook", "confirmation",
        "uploaded", "created", "completed", "processed", "delivered", "published",
    )
)  # fmt: skip
_OPEN_ENDS = frozenset((ErrorClass.TIMEOUT, ErrorClass.DISCONNECTED, ErrorClass.INTERNAL))


class RuleBook:
    """
    An ordered table of rules, indexed once; it does not change.

    Args:
        rows: The rows, the first match of which decides. Numbers (HTTP status, SQLSTATE, errno
            and the like) are looked up after them and lead to the built-in rows by id.

    Raises:
        RuleError: Two rows have one id.
    """

    __slots__ = ("_by_id", "_in_messages", "_in_names", "_name", "_order", "_sign_ins", "rows")

    rows: tuple[Rule, ...]

    def __init__(self, rows: Iterable[Rule]) -> None:
        self.rows = tuple(rows)
        self._by_id = {row.id: row for row in self.rows}
        self._order = {row.id: at for at, row in enumerate(self.rows)}
        if len(self._by_id) < len(self.rows):
            ids = [row.id for row in self.rows]
            twice = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise RuleError(f"Two rules have the id {twice!r}: rename one of them.")
        # In prose a row that says little comes after all others, wherever it stands.
        readers = sorted((row for row in self.rows if row.in_message), key=self._rank)
        self._in_names = Index(self.rows, keeps=True)
        self._in_messages = Index(readers)
        self._sign_ins = Index(filter(_tells_of_sign_in, readers))
        # Decisions on names are kept, on messages never: those may hold secrets.
        self._name = lru_cache(maxsize=MAX_CACHED_NAMES)(self._decide_name)

    def __repr__(self) -> str:
        return f"RuleBook({len(self.rows)} rows)"

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Rule, ...]]]:
        return type(self), (self.rows,)  # what is made of the rows is made anew

    def before(self, rows: Iterable[Rule]) -> Self:
        """A new book in which *rows* come first and so overrule the rows of this one."""
        return type(self)((*rows, *self.rows))

    def after(self, rows: Iterable[Rule]) -> Self:
        """A new book in which *rows* decide what the rows of this one leave open."""
        return type(self)((*self.rows, *rows))

    def row_of(self, name: str) -> Rule:
        """The row of a code alone, of which 128 characters are read. Nothing is kept."""
        decision = self._decide_name(name[:MAX_NAME])
        return UNKNOWN_RULE if decision is None else decision.rule

    def _decide(self, code: str | None, message: str, more_codes: Sequence[str]) -> _Decision:
        said, vague = self._decide_names((code, *more_codes) if more_codes else (code,))
        if not message:
            return said or vague or _NOTHING
        words = Words.of_prose(message)
        if said is not None and message.isascii() and not self._sign_ins.may_match(words.distinct):
            return said  # the common case, before more is made of the message
        if said is None or said.rule.error_class is not _UNAUTHENTICATED:
            sign_in = self._find_sign_in(message, words)
            if sign_in is not None:
                return sign_in
        if said is not None:
            return said
        found = self._decide_message(message, words)
        if found is None and vague is None and is_path(message):
            return _Decision(self._by_id.get(NO_SUCH_PATH, UNKNOWN_RULE), "message", words)
        if found is None or (vague is not None and _says_less(found.rule, vague.rule)):
            return vague or _NOTHING
        return found

    def _decide_names(
        self, names: Sequence[str | None]
    ) -> tuple[_Decision | None, _Decision | None]:
        """The first name that says something, and the first that says little."""
        vague = None
        for name in names:
            decision = self._name(name[:MAX_NAME]) if name else None
            if decision is None:
                continue
            if not decision.rule.vague:
                return decision, vague
            vague = vague or decision
        return None, vague

    def _decide_name(self, name: str) -> _Decision | None:
        text = name_text(name)
        words = Words(text.split(), text)
        row = self._in_names.first(words)
        if text in _SAYS_NOTHING and (row is None or row.id in _BUILT_IN):
            return None
        if row is not None:
            return _Decision(row, "code", _NO_WORDS)
        row = self._by_id.get(number_of_name(name, words.listed) or "")
        return None if row is None else _Decision(row, "number", _NO_WORDS)

    def _find_sign_in(self, message: str, words: Words) -> _Decision | None:
        """The row for a failed sign-in that *message* tells of; one pass when it tells of none."""
        if not message.isascii():
            lowered = message[:MAX_MESSAGE].lower()
            for identity, phrases in SIGN_IN_PHRASES.items():
                row = self._by_id.get(identity)
                if row is not None and any(phrase in lowered for phrase in phrases):
                    return _Decision(row, "sign-in message", words)
        if not self._sign_ins.may_match(words.distinct):
            return None
        for part in parts_of(message):
            text = without_quotes(without_addresses(part))
            read = words if text is message else Words.of_prose(text)
            row = self._sign_ins.first(read)
            if row is not None:
                return _Decision(row, "sign-in message", read)
        return None

    def _decide_message(self, message: str, words: Words) -> _Decision | None:
        vague = None
        for part in parts_of(message):
            plain = without_addresses(part)
            for text in dict.fromkeys((without_quotes(plain), plain)):
                decision = self._decide_text(
                    text, words if text is message else Words.of_prose(text)
                )
                if decision is not None and not decision.rule.vague:
                    return decision
                vague = vague or decision
        return vague

    def _decide_text(self, message: str, words: Words) -> _Decision | None:
        """A status, else the first row of the table that the words or a code among them match."""
        number = self._by_id.get(number_in_message(words, message) or "")
        if number is not None and not _gives_way(number):
            return _Decision(number, "message", words)
        rows = [number, self._in_messages.first(words)]
        told = any(row is not None and not _gives_way(row) for row in rows)
        for code in embedded_codes(message):
            if told and code.islower():
                continue  # where words say what is wrong, it is the name of an argument
            decision = self._decide_name(code)
            rows.append(decision and decision.rule)
        known = [row for row in rows if row is not None]
        if not known:
            return None
        return _Decision(min(known, key=self._rank), "message", words)

    def _doubts(self, message: str, words: Words) -> bool:
        """Whether the words also tell of work that was done, or of an end that leaves it open."""
        if len(message) > _PLAIN_CHARS or not _DONE_WORDS.isdisjoint(words.distinct):
            return True
        return any(
            row.outcome is Outcome.UNKNOWN and row.error_class in _OPEN_ENDS
            for row in self._in_messages.all(words)
        )

    def _rank(self, row: Rule) -> tuple[bool, int]:
        return _gives_way(row), self._order[row.id]

    def _indexes_of(self, row: Rule) -> tuple[Index, ...]:
        """Where *row* is found first: among names, and among messages if it reads them."""
        if not row.in_message:
            return (self._in_names,)
        return self._in_names, self._sign_ins if _tells_of_sign_in(row) else self._in_messages

    def _explain(self, code: str | None, message: str) -> Explanation:
        rule, decided_by, words = self._decide(code, message, ())
        by_name = decided_by in _NAMED
        if by_name:
            words = Words(name_text((code or "")[:MAX_NAME]).split())
        index = self._in_names if by_name else self._in_messages
        shadowed = tuple(row for row in index.all(words) if row is not rule)
        tokens = tokens_of(code or "") if by_name or not words.listed else tuple(words.listed)
        return Explanation(tokens, rule, shadowed, decided_by)


def _tells_of_sign_in(row: Rule) -> bool:
    """Whether *row*, found in a message, counts more than any code."""
    return row.error_class is _UNAUTHENTICATED and not row.vague


def _says_less(found: Rule, vague: Rule) -> bool:
    """Whether a message does not refine a vague code."""
    others = vague.refined_by and found.error_class not in vague.refined_by
    return found.vague or bool(others)


def _gives_way(row: Rule) -> bool:
    """Whether *row*, found in a message, counts less than any other; "unauthorized" does not."""
    return row.vague and row.error_class is not _UNAUTHENTICATED


@cache
def default_rules() -> RuleBook:
    """The built-in book, made on first use."""
    return RuleBook(RULES)


def classify(
    code: str | None,
    message: str = "",
    more_codes: Sequence[str] = (),
    *,
    rules: RuleBook | None = None,
) -> Rule:
    """
    Find the row of the table that a failure belongs to. Never raises.

    Args:
        code: As the tool wrote it; only 128 characters are read. Case and spelling are ignored.

        message: Reveals failed sign-ins, whatever the code says, and decides when the codes say
            nothing or little. Of its first 4,096 characters the first and the last 768 are read;
            nothing of it is kept.

        more_codes: Further codes and numbers, asked in order when *code* says nothing.

        rules: Another book than the built-in one.

    Returns:
        The row, or the row ``unknown`` (not retryable, no step, no sentence) if none matches.

    .. versionadded:: 0.1.0
    """
    return (rules or default_rules())._decide(code, message, more_codes).rule


def sort_out(
    code: str | None, message: str, more_codes: Sequence[str], *, rules: RuleBook | None = None
) -> tuple[Rule, bool]:
    """
    Classify, and say whether "nothing was done" is doubtful: prose says other things as well.

    "Payment captured, but the webhook failed: connection refused" names what was refused, and what
    was not. A code names one thing.
    """
    book = rules or default_rules()
    decision = book._decide(code, message, more_codes)
    rule, decided_by, words = decision
    if decided_by in _NAMED or rule.outcome is Outcome.UNKNOWN:
        return rule, False
    return rule, book._doubts(message, words)


def explain(code: str | None, message: str = "", *, rules: RuleBook | None = None) -> Explanation:
    """
    Say which row `classify` chose, why, and which rows it shadowed.

    .. versionadded:: 0.1.0
    """
    return (rules or default_rules())._explain(code, message)
