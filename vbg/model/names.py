"""Names: what is one, and which was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

NAME = re.compile(r"[^\W\d][\w-]*\Z")


def is_name(text: str) -> bool:
    """Whether `text` can name a part or a point: a letter, then letters, digits, _ or -."""
    return NAME.match(text) is not None and len(text) <= 100


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate most like `name`, or "" where none is like it."""
    candidates = list(candidates)
    folded = {candidate.lower(): candidate for candidate in candidates}
    if name.lower() in folded:
        return folded[name.lower()]
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else ""


def suggestion(name: str, candidates: Iterable[str], what: str) -> str:
    """The remedy for the unknown `name`: the nearest candidate, or what there is.

    `what` is the plural of what the candidates are ("bodies").
    """
    candidates = list(candidates)
    likely = nearest(name[:100], candidates[:5000])
    if likely:
        return f"Did you mean {likely!r}?"
    if not candidates:
        return f"There are no {what}."
    shown = ", ".join(candidates[:12]) + (", ..." if len(candidates) > 12 else "")
    return f"There are these {what}: {shown}."
