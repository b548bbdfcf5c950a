"""Which operations give an array. (Placeholder until the table is generated.)"""

from __future__ import annotations


def gives_array(name: str) -> bool:
    """Whether the function certainly returns one array."""
    return False
