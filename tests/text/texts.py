"""Strategies for texts that are hard to count in."""

from __future__ import annotations

from hypothesis import strategies as st

HARD = [
    "\t", "\n", "\r", "\r\n", "\f", "\v", "\x85", "\u2028", "\u2029", "\x1c", "\ufeff",  # breaks, real and false
    "a", "é", "e\u0301", "ﷺ", "漢", "🜁", "👩\u200d🚀", "\U0010ffff", " ",  # widths one to four, and what looks like one
]  # fmt: skip
HARD_TEXT = st.lists(st.sampled_from(HARD) | st.characters(), max_size=25).map("".join)
