"""How many elements a file of MuJoCo's stands for: `replicate`, `composite`, `flexcomp` and
`attach` make copies, within each other too, so that a few lines ask for a million million bodies.
They are counted before MuJoCo makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from vbg.errors import UsageError

COPYING = ("replicate", "composite", "flexcomp")
MOST = 200_000
"""Elements; a machine of 10 000 bodies with joints, geoms and inertias has a quarter of them."""


def multiplied(root: Element, factor: float) -> Iterator[tuple[Element, float]]:
    """Every element with the number of times that it is made, where the file is `factor` times.

    Of another model, an `asset`, as many are made as are attached."""
    attached: dict[str | None, float] = {}
    models = []
    waiting = [(root, factor)]
    while waiting:
        element, times = waiting.pop()
        if element.tag == "attach":
            name = element.get("model")
            attached[name] = attached.get(name, 0.0) + times
        if element.tag == "model":
            models.append(element)
        else:
            yield element, times * (1.0 if element.tag == "replicate" else _copies(element))
        waiting += [(one, times * _copies(element)) for one in element]
    for element in models:
        named = {element.get("name"), element.get("file", "").rpartition("/")[2]}
        yield element, max(sum(attached.get(name, 0.0) for name in named), 1.0)


def _copies(element: Element) -> float:
    """The product of the numbers in `count`; what is none MuJoCo refuses."""
    if element.tag not in COPYING:
        return 1.0
    try:
        counts = [float(word) for word in element.get("count", "1").split()]
    except ValueError:
        return 1.0
    return math.prod(max(count, 1.0) for count in counts)


def require_few(path: str, count: float) -> None:
    """Raises UsageError where `count` elements are more than are made."""
    if not count <= MOST:
        raise UsageError(
            f"{path}: its copies (count of <replicate>, <composite>, <flexcomp>; <attach>) stand"
            f" for {count:.3g} elements; at most {MOST} are made. Take a smaller count."
        )
