"""Whether a repeat can do the work twice: what is known of a tool's effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ._recognize import mapping_of


class Effects(NamedTuple):
    """
    What is known about the effects of a tool.

    Attributes:
        writes: ``False`` if a repeat changes nothing more, ``True`` if it does, ``None`` if nobody
            says.

        trusted: Whether a ``False`` comes from the host, or from a server that the host trusts.
    """

    writes: bool | None = None
    trusted: bool = True


UNKNOWN_EFFECTS = Effects()


def effects_of(annotations: object, side_effects: bool | None, *, trusted: bool = False) -> Effects:
    """
    Weigh the host's word against MCP tool annotations: a model, a mapping or ``None``.

    Only explicit hints count; a hint that is absent is unknown, not MCP's default.
    """
    if side_effects is not None:
        return Effects(side_effects)
    hints = mapping_of(annotations)
    if not hints:
        return UNKNOWN_EFFECTS
    read_only = _hint(hints, "readOnlyHint", "read_only_hint")
    if read_only is True or _hint(hints, "idempotentHint", "idempotent_hint") is True:
        return Effects(writes=False, trusted=trusted)
    return Effects(True) if read_only is False else UNKNOWN_EFFECTS


def _hint(hints: Mapping[str, object], wire: str, attribute: str) -> object:
    return hints[wire] if wire in hints else hints.get(attribute)
