"""A sample of every kind of part, as it is written in a model file.

One text per table: contexts, ``## context NAME``, and samples,
``## KIND: CONTEXT CONTEXT``, whose lines with those of the contexts named are
a small machine.  A test reads, assembles and runs all of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HEAD = re.compile(r"^## (.*)\n", re.MULTILINE)


@cache
def _texts(table: str) -> tuple[dict[str, str], dict[str, tuple[str, tuple[str, ...]]]]:
    """Contexts by name, and samples by kind with the names of their contexts."""
    text = (Path(__file__).parent / f"{table}.txt").read_text("utf-8")
    _, *pieces = _HEAD.split(text)
    contexts: dict[str, str] = {}
    samples: dict[str, tuple[str, tuple[str, ...]]] = {}
    for head, body in zip(pieces[::2], pieces[1::2], strict=True):
        if head.startswith("context "):
            contexts[head.removeprefix("context ")] = body.strip()
        else:
            kind, _, needed = head.partition(":")
            samples[kind] = (body.strip(), tuple(needed.split()))
    return contexts, samples


def sample(table: str, kind: str) -> str:
    """The lines that write one part of this kind."""
    return _texts(table)[1][kind][0]


def machine(table: str, kind: str) -> str:
    """A whole model file around the sample."""
    contexts, samples = _texts(table)
    body, needed = samples[kind]
    bonds, _, rest = body.partition("\n\n") if body.startswith("bonds") else ("", "", body)
    head = f'vbg = 1\nname = "{kind}"' + (f"\n{bonds}" if bonds else "")
    return "\n\n".join([head, *(contexts[name] for name in needed), rest]) + "\n"
