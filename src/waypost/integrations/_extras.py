"""Say which extra is missing, where a framework is not installed."""

from __future__ import annotations

from types import TracebackType

from ..core._model import WaypostError

__all__ = ["MissingExtraError", "extra"]


class MissingExtraError(WaypostError, ModuleNotFoundError):
    """A framework that an integration needs is not installed; the message names the extra."""


class extra:  # noqa: N801 -- reads as the statement it is: `with extra("mcp"):`
    """Import what the extra *name* installs; what is missing then is told by that name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(exception, ImportError):
            told = exception.name or str(exception)
            raise MissingExtraError(
                f"{told} is not installed, or too old for this integration."
                f' Run: pip install -U "waypost[{self._name}]"',
                name=exception.name,
                path=exception.path,
            ) from exception
