"""Names and their values while a function, class or module runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import Function, Value

if TYPE_CHECKING:
    from .modules import ModuleFile

MISSING = object()


class Frame:
    """One scope. ``kind``: ``module``, ``function``, ``class`` or ``comprehension``; ``parent``: the lexically enclosing scope."""

    __slots__ = ("function", "globals", "kind", "module", "names", "nonlocals", "parent")

    def __init__(self, kind: str, module: ModuleFile, parent: Frame | None, function: Function | None = None) -> None:
        self.kind, self.module, self.parent, self.function = kind, module, parent, function
        self.names: dict[str, Value] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()

    def lookup(self, name: str) -> Value:
        """The value of ``name`` seen from here, or ``MISSING``; a class scope is invisible from its functions."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names and (frame is self or frame.kind != "class"):
                return frame.names[name]
            frame = frame.parent
        return MISSING

    def assign(self, name: str, value: Value) -> None:
        """Bind ``name`` where Python would: here, in the module, or in the enclosing function that has it."""
        self.owner_of(name).names[name] = value

    def owner_of(self, name: str) -> Frame:
        """The frame in which an assignment to ``name`` from here lands."""
        if name in self.globals:
            return self.module_frame()
        if name in self.nonlocals:
            frame = self.parent
            while frame is not None and frame.kind != "module":
                if name in frame.names and frame.kind != "class":
                    return frame
                frame = frame.parent
        return self

    def module_frame(self) -> Frame:
        """The outermost scope."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def function_frame(self) -> Frame:
        """The nearest scope that is no comprehension: where a walrus assigns."""
        frame = self
        while frame.kind == "comprehension" and frame.parent is not None:
            frame = frame.parent
        return frame
