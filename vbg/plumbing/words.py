"""Words of sentences that name what a file may hold."""

from __future__ import annotations

import re

# vowels as they are spoken: a universal joint, an R, an Se, an s-curve, an fmu
_SPOKEN = re.compile(r"[aeio]|u(?!ni)|[AEFHILMNORSX](?![a-z]{2})|[fhlmnrsx](?![a-z])|fmu\b")


def with_article(noun: str) -> str:
    """The noun behind "a" or "an"."""
    return f"{'an' if _SPOKEN.match(noun) else 'a'} {noun}"
