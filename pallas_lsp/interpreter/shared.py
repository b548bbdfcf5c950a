"""What the runs of one document have in common: the kernels that were run, and the outcomes of conditions in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

NOTHING = object()


class Shared(MutableMapping[Any, Any]):
    """A mapping that knows what was asked of it and what was added since ``start``.

    A run that would be given the same answers again would go the same way.
    """

    __slots__ = ("_values", "added", "asked")

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self.asked: dict[Any, Any] = {}
        self.added: dict[Any, Any] = {}

    def start(self) -> None:
        """From here on another run asks and adds."""
        self.asked, self.added = {}, {}

    def agrees(self, asked: Mapping[Any, Any]) -> bool:
        """Whether these questions have the same answers now, the very same: what is equal may stand for other events."""
        return all(self._values.get(key, NOTHING) is answer for key, answer in asked.items())

    def adopt(self, added: Mapping[Any, Any]) -> None:
        """Take what an earlier run added."""
        self._values.update(added)

    def add(self, key: Any) -> None:
        """Take a key alone, as a set does."""
        self[key] = True

    def __contains__(self, key: object) -> bool:
        answer = self._values.get(key, NOTHING)
        if key not in self.added:
            self.asked.setdefault(key, answer)
        return answer is not NOTHING

    def __getitem__(self, key: Any) -> Any:
        return self._values[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[key] = self.added[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
