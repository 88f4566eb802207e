"""Names: what is one, and which was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable

from vbg.model.text.everyday import EVERYDAY, UNSPOKEN, UNSPOKEN_KEYS

NAME = re.compile(r"[^\W\d][\w-]*\Z")


def is_name(text: str) -> bool:
    """Whether `text` can name a part or a point: a letter, then letters, digits, _ or -."""
    return NAME.match(text) is not None and len(text) <= 100


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate most like `name`, or "" where none is like it."""
    folded = {candidate.lower(): candidate for candidate in candidates}
    name = name.lower()
    close = difflib.get_close_matches(name, folded, n=5, cutoff=0.6)
    return folded[max(close, key=lambda other: _likeness(name, other))] if close else ""


def _likeness(a: str, b: str) -> float:
    """Share of letters in common, and a little for each that agrees at the start:
    a slip is rarer there."""
    agreeing = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return difflib.SequenceMatcher(None, b, a).ratio() + 0.1 * min(agreeing, 4)


def everyday(name: str, candidates: Container[str]) -> str:
    """The candidate that engineers call `name`, or "" where none is called so."""
    return next((meant for meant in EVERYDAY.get(name.lower(), ()) if meant in candidates), "")


def suggestion(name: str, candidates: Iterable[str], what: str) -> str:
    """The remedy for the unknown `name`: the nearest candidate, or what there is.

    `what` is the plural of what the candidates are ("bodies").
    """
    candidates = list(candidates)
    if meant := everyday(name, candidates):
        return f"Did you mean {meant!r}?"
    if what == "kinds" and name.lower() in UNSPOKEN:
        return UNSPOKEN[name.lower()]
    if what == "keys" and name.lower() in UNSPOKEN_KEYS and "k" in candidates:
        return UNSPOKEN_KEYS[name.lower()]
    likely = nearest(name[:100], candidates[:5000])
    if likely:
        return f"Did you mean {likely!r}?"
    if not candidates:
        return f"There are no {what}."
    shown = ", ".join(candidates[:12]) + (", ..." if len(candidates) > 12 else "")
    return f"There are these {what}: {shown}."
