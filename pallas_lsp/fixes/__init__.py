"""Fixes: for a rule's event, edits that make its finding go away, best first.

A module a family. Its functions make *candidates*: they may guess, for each is offered only after it was applied in memory and the
edited texts were analysed again (`verification`). So a candidate is cheap to write, and a wrong one costs a little time.
"""

from .registry import candidates

__all__ = ["candidates"]
