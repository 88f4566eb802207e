"""The comparison that a condition is, apart from those inside of if()."""

from __future__ import annotations


def comparison(text: str) -> tuple[str, str, str] | None:
    """(left, sign, right) of the first <, >, <= or >= outside of all brackets; None for none."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in "<>":
            sign = text[i : i + 2] if text[i + 1 : i + 2] == "=" else letter
            return text[:i], sign, text[i + len(sign) :]
    return None
