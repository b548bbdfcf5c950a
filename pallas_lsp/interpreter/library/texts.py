"""Regular expressions: programs read the kind of a device with them."""

from __future__ import annotations

from ..machine import Arguments
from ..values import ABSENT, Builtin, Opaque, Unknown, Value
from .registry import Call, models

_SEARCHES = ("match", "search", "fullmatch")


@models("re.compile")
def _compile(call: Call) -> Value:
    pattern = call.get(0, "pattern")
    if not isinstance(pattern, str) or len(call.args) + len(call.kwargs) != 1:
        return call.unknown()

    def method(name: str) -> Builtin:
        return Builtin(name, lambda machine, given, node, frame: _searched(name, pattern, given))

    return Opaque("re.Pattern", (pattern,), {name: method(name) for name in _SEARCHES})


@models(*(f"re.{name}" for name in _SEARCHES))
def _search(call: Call) -> Value:
    pattern = call.get(0, "pattern")
    if not isinstance(pattern, str) or len(call.args) != 2:
        return call.unknown()
    return _searched(call.name.removeprefix("re."), pattern, Arguments(call.args[1:]))


def _searched(name: str, pattern: str, given: Arguments) -> Value:
    """No search is made, for it might take for ever: all that is known is that the same text gives the same match, and that programs expect
    one of what they ask of their surroundings."""
    text = given.get(0, "string")
    key = f"re.{name}({pattern!r}, {text.key})" if isinstance(text, Unknown) and text.key is not None else None
    expected = isinstance(text, Unknown) and isinstance(text.declared, str)
    return Unknown("a match of a regular expression", key, host=True, declared=Opaque("re.Match", (), {}) if expected else ABSENT)
