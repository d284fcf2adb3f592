"""Options that all integrations have, checked when an integration is built."""

from __future__ import annotations

from ..core._model import OptionError, Side
from ..pipeline import Enricher

__all__ = ["enricher_of"]


def enricher_of(enricher: Enricher | None, side: Side) -> Enricher:
    """
    Return *enricher*, or a new one of *side*.

    Raises:
        OptionError: If it is of the other side, whose spans would stand where they do not belong.
    """
    if enricher is None:
        return Enricher(side=side)
    if enricher.side != side:
        raise OptionError(
            f"enricher=Enricher(side={enricher.side!r}): calls are seen from the side"
            f" {side!r} here; pass Enricher(side={side!r})."
        )
    return enricher
