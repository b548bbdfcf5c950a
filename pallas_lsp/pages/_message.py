"""How well a text agrees with a message of JAX in which some parts vary."""

from __future__ import annotations

import functools
import re

_HOLE = "\0"
_FEWEST_CHARACTERS = 4  # fewer are no quotation
_FEWEST_AFTER_A_COLON = 8  # of what is left when the text's beginning is dropped
_SMALLEST_SHARE = 0.5  # of a quotation must be the message's fixed words, the rest may be values


def agreement(message: str, text: str) -> int:
    """How many characters of ``message``'s fixed parts ``text`` quotes; 0 where it is no quotation of it.

    ``message`` has holes such as ``{shape}``. Either the whole message is found in ``text`` (a traceback, say), or ``text`` is a part
    of the message, with values in the holes; what stands before a colon, such as ``ValueError:``, may be something else.
    """
    template, (quoted, *after_colons) = _template(message), _readings(text)
    if _holds_in_order(quoted, template.split(_HOLE)):
        return len(template.replace(_HOLE, "")) + 1  # a whole message beats a longer one of which the text is only a part
    return max(_agreement_of_part(template, part) for part in (quoted, *after_colons))


def _agreement_of_part(template: str, part: str) -> int:
    if len(template) < _SMALLEST_SHARE * len(part):
        return 0  # spares walking through the whole of a traceback
    matched = _matched(template, part)
    return matched if matched >= max(_FEWEST_CHARACTERS, _SMALLEST_SHARE * len(part)) else 0


@functools.lru_cache(maxsize=1)  # one text is compared with every message
def _readings(text: str) -> tuple[str, ...]:
    """The text, and what is left of it after each colon."""
    quoted = _normal(text)
    rests = (quoted[colon.end() :] for colon in re.finditer(": ", quoted))
    return (quoted, *(rest for rest in rests if len(rest) >= _FEWEST_AFTER_A_COLON))


def _normal(text: str) -> str:
    """One case, no quotes, single spaces, no full stop at the end."""
    return re.sub(r"\s+", " ", re.sub(r"[`'\"]", "", text.casefold())).strip(" .")


@functools.cache
def _template(message: str) -> str:
    return _normal(re.sub(r"\{[^{}]*\}", _HOLE, message))


def _holds_in_order(text: str, pieces: list[str]) -> bool:
    place = 0
    for piece in pieces:
        found = text.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _matched(template: str, text: str) -> int:
    """The most fixed characters of ``template`` that ``text``, read as a part of it, can agree with; 0 where it is no part of it.

    Walks all readings at once: a reading is a place in the template with the number of characters agreed so far; a hole takes any text.
    """
    readings = dict.fromkeys(range(len(template)), 0)
    for character in text:
        later: dict[int, int] = {}
        for place, agreed in readings.items():
            while place < len(template) and template[place] == _HOLE:
                later[place] = max(later.get(place, 0), agreed)  # the hole takes the character
                place += 1
            if place < len(template) and template[place] == character:
                later[place + 1] = max(later.get(place + 1, 0), agreed + 1)
        readings = later
    return max(readings.values(), default=0)
