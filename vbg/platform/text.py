"""Text of strangers on a terminal."""

from __future__ import annotations

import re

# C0 and C1 controls but line feed and tab, marks that turn the direction of writing,
# line and paragraph separators, halves of surrogate pairs (bytes that are no text)
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONG = re.compile(r"\S{201,}")


def escaped(text: str) -> str:
    r"""`text` with control characters written as what they are: \x1b, \u202e.

    A name or a message from a file can then neither move the cursor, nor change colours,
    nor show other words than it has.
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def shortened(text: str) -> str:
    """`text` with its words of more than 200 letters cut in their middle.

    A name of 10 000 letters would push what is wrong with it off the screen.
    """
    return _LONG.sub(lambda match: f"{match[0][:120]}...{match[0][-40:]}", text)
