"""The Enricher: what a host makes once and asks for every call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Literal, TypeVar

from ..core._classify import RuleBook
from ..core._clean import CODE_CHARS, clean_text
from ..core._enrich import Style
from ..core._model import OptionError, Side
from ..core._observation import CallStart, Observer
from ..core._recognize import recognize
from ..core._safety import UNKNOWN_EFFECTS, Effects, effects_of
from ..retries._store import AttemptStore
from ..retries._tracker import Tracker
from ..retries.memory import MemoryAttemptStore
from ._call import Call, Settings
from ._faults import Faults
from ._retries import Retries, run

T = TypeVar("T")


class Enricher:
    """
    Adds guidance to the failures of tool calls and tells observers about every call.

    One is enough for a program; it is safe to share between threads and tasks. Nothing in it ever
    raises into the host while a tool is called.

    Args:
        observers: Told about every finished call; ``()`` for none. By default OpenTelemetry and
            structlog.

        side: ``"host"`` if this program calls tools, ``"server"`` if it offers them.

        rules: The table that sorts error codes, or the path of a TOML file of your own rules, which
            is loaded now; by default the built-in table.

        change_results: ``False`` observes only: every result comes back as it is.

        text: Where an MCP result gets the line that a model reads: under its first text
            (``"append"``), in a block of its own (``"block"``), or nowhere (``"never"``).

        text_trace: Whether that line names the trace.

        structured: Whether structured content gets the new keys: ``"auto"`` unless a strict client
            would reject them, ``"always"`` or ``"never"``.

        trust_annotations: Whether a server's ``readOnlyHint`` and ``idempotentHint`` may make a
            repeat safe.

        capture_message: Whether what the tool said is exported, with the argument and the option
            values that it asks for, redacted as far as patterns can tell.

        strict: Raise faults instead of containing them. For tests of your own observers.

        clock: Monotonic seconds.

        attempts: Where it keeps which attempt a call is; by default in memory, the latest 4,096
            chains for an hour.

        attempts_key: 16 to 64 bytes that fingerprints of arguments are made with; by default
            random. Needed where several processes share what is kept.

    Setting the environment variable ``WAYPOST_DISABLED=true`` turns a new enricher off.

    .. versionadded:: 0.1.0
    """

    def __init__(
        self,
        observers: Iterable[Observer] | None = None,
        *,
        side: Side = "host",
        rules: RuleBook | str | os.PathLike[str] | None = None,
        change_results: bool = True,
        text: Literal["append", "block", "never"] = "append",
        text_trace: bool = True,
        structured: Literal["auto", "always", "never"] = "auto",
        trust_annotations: bool = False,
        capture_message: bool = False,
        strict: bool = False,
        clock: Callable[[], float] = time.perf_counter,
        attempts: AttemptStore | None = None,
        attempts_key: bytes | None = None,
    ) -> None:
        _one_of("side", side, "host", "server")
        _one_of("text", text, "append", "block", "never")
        _one_of("structured", structured, "auto", "always", "never")
        if observers is None:
            from ..observe import default_observers  # noqa: PLC0415 -- loads OpenTelemetry

            observers = default_observers()
        told = _told(observers)
        if not callable(clock):
            raise OptionError(f"Enricher(clock={clock!r}): pass a function that returns seconds.")
        if attempts is not None and not callable(getattr(attempts, "update", None)):
            raise OptionError(
                f"Enricher(attempts={attempts!r}): pass an AttemptStore, or None for the default."
            )
        book = _book(rules)
        tracker = Tracker(
            MemoryAttemptStore() if attempts is None else attempts,
            os.urandom(_KEY_BYTES) if attempts_key is None else _key(attempts_key),
        )
        faults = Faults(told, strict=strict)
        begins = tuple(begin for observer in told if (begin := getattr(observer, "begin", None)))
        idles = tuple(idle for observer in told if (idle := getattr(observer, "idle", None)))
        self._settings = Settings(
            observers=told,
            begins=begins,
            idles=idles if len(idles) == len(told) else None,
            faults=faults,
            retries=Retries(tracker, faults),
            rules=book,
            change_results=change_results,
            capture_message=capture_message,
            disabled=disabled(),
            clock=clock,
        )
        self._side: Side = side
        self._trust_annotations = trust_annotations
        self._style = Style(text, text_trace, structured != "never")
        # A strict client checks what it gets from a server against the tool's output schema.
        strict_client = side == "server" and structured == "auto"
        self._strict_style = self._style._replace(
            structured=self._style.structured and not strict_client
        )

    @property
    def side(self) -> Side:
        """``"host"`` or ``"server"``, as it was made."""
        return self._side

    @property
    def changes_results(self) -> bool:
        """Whether failures get guidance, which they do not where it is off or observes only."""
        return self._settings.change_results and not self._settings.disabled

    def call(
        self,
        tool_name: str | None,
        *,
        arguments: Mapping[str, Any] | None = None,
        server: str | None = None,
        run: str | None = None,
        session: str | None = None,
        annotations: object = None,
        side_effects: bool | None = None,
        output_schema: object = None,
        timeout_seconds: float | None = None,
        nested: Literal["skip", "enrich"] = "skip",
    ) -> Call:
        """
        Open the block in which one tool call runs; one block is one attempt.

        Args:
            tool_name: The name under which the tool is called; ``None`` for one that no server
                has, as a model may invent it.

            arguments: What the tool is called with; compared with those of the next call by a keyed
                hash, and not kept. ``{}`` for a tool that takes none; without them a call is not
                followed through its retries.

            server: Your name for the server; it becomes a metric attribute, so keep the names few.

            run: The run that the call belongs to, such as a conversation, where no block of
                `Enricher.run` around it names one.

            session: Tells the client sessions with one server apart, where calls belong to no run,
                conversation or trace.

            annotations: The tool's MCP annotations, as object or mapping.

            side_effects: Whether the tool changes something, if you know better than its
                annotations.

            output_schema: The tool's output schema, if it declares one; on the server side
                structured content then stays as it is.

            timeout_seconds: A limit that is enforced around the block; a cancellation past it is a
                timeout.

            nested: What to do where an outer layer has this very call, and reports it: nothing, or
                add guidance, for layers that make failures of exceptions.
        """
        start = _start_of(self._side, _name(tool_name), _name(server))
        effects = UNKNOWN_EFFECTS
        if annotations is not None or side_effects is not None:
            effects = self._effects_of(annotations, side_effects)
        style = self._strict_style if output_schema is not None else self._style
        return Call(
            self._settings,
            start,
            effects,
            style,
            timeout_seconds=timeout_seconds,
            arguments=arguments,
            named=(run or None, session),
            enriches_nested=nested == "enrich",
        )

    def run(self, name: str) -> AbstractContextManager[None]:
        """
        Name the run that the calls of a block belong to, such as a conversation.

        Retries are followed within it, also where each call is a trace of its own, and in the
        tasks that the block starts; nothing that is learned in one run is told in another. Enter
        it anew in every turn of the conversation, and in every thread.

        Args:
            name: Compared by a keyed hash, and not exported.

        Raises:
            OptionError: If *name* is no text, or an empty one.
        """
        return run(name)

    def enrich_result(self, result: T) -> T:
        """
        Add guidance to *result* if it failed, and report it on the current span.

        For places without a block around the call: the failure is not timed, and the span gets an
        event. A success costs a look. Inside of a block it is another failure than the block's,
        whose own result goes through `Call.enrich`.
        """
        if self._settings.disabled:
            return result
        try:
            failure = recognize(result)
        except Exception as fault:  # noqa: BLE001 -- hostile results never raise into the host
            self._settings.faults.take("recognize", fault)
            return result
        if failure is None:
            return result
        start = CallStart(side=self._side, tool_name=None, server=None, one_shot=True)
        with Call(self._settings, start, UNKNOWN_EFFECTS, self._style) as call:
            return call.enrich(result)

    def _effects_of(self, annotations: object, side_effects: bool | None) -> Effects:
        try:
            return effects_of(annotations, side_effects, trusted=self._trust_annotations)
        except Exception as fault:  # noqa: BLE001 -- annotations come from the server
            self._settings.faults.take("annotations", fault)
            return UNKNOWN_EFFECTS


def _told(observers: Iterable[Observer]) -> tuple[Observer, ...]:
    """Observers that cannot be called are a mistake to name now, not at the first failure."""
    if not isinstance(observers, Iterable):
        raise OptionError(
            f"Enricher(observers={observers!r}): pass a list of observers, or () for none."
        )
    told = tuple(observers)
    for observer in told:
        if not callable(observer):
            raise OptionError(
                f"Enricher(observers=...): {observer!r} cannot be called;"
                " an observer takes an Observation."
            )
    return told


_KEY_BYTES = 32
_KEY_SIZES = range(16, 65)


def _key(key: object) -> bytes:
    if isinstance(key, bytes) and len(key) in _KEY_SIZES:
        return key
    raise OptionError(
        "Enricher(attempts_key=...): pass 16 to 64 random bytes, such as secrets.token_bytes(32)."
    )


def _book(rules: object) -> RuleBook | None:
    """A file is loaded when the enricher is built, so that its mistakes show then."""
    if rules is None or isinstance(rules, RuleBook):
        return rules
    if isinstance(rules, str | os.PathLike):
        from ..rule_file import load_rules  # noqa: PLC0415 -- loads pydantic

        return load_rules(rules)
    raise OptionError(
        f"Enricher(rules={rules!r}): pass a RuleBook, the path of a TOML file, or None for the"
        " default."
    )


def disabled() -> bool:
    """Whether the environment turns waypost off."""
    return os.environ.get("WAYPOST_DISABLED", "").strip().lower() in ("1", "true", "yes", "on")


def _name(name: str | None) -> str | None:
    """A name as it may leave us; what is no text has no name."""
    if type(name) is str and len(name) <= CODE_CHARS and name.isprintable():
        return name
    return clean_text(str.__str__(name), CODE_CHARS) if isinstance(name, str) else None


@lru_cache(maxsize=1_024)
def _start_of(side: Side, tool_name: str | None, server: str | None) -> CallStart:
    """The calls of one tool begin alike, and share the frozen record of it; names are capped."""
    return CallStart(side=side, tool_name=tool_name, server=server)


def _one_of(option: str, value: object, *allowed: str) -> None:
    if value not in allowed:
        raise OptionError(
            f"Enricher({option}={value!r}): use one of {', '.join(map(repr, allowed))}."
        )
