"""Names of the components of vectors, one spelling for tables, files, plots and expressions.

Letters where a vector has three components (``A.force.z``) or is a quaternion, scalar first
(``rod.rotation.w``); numbers for all others (``field.effort[5]``).  Whoever reads a name takes
numbers for letters, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LETTERS = {3: "xyz", 4: "wxyz"}
_INDEXED = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")


def component(name: str, k: int, count: int) -> str:
    """The name of component k of `count`; of one alone `name` itself."""
    if count == 1:
        return name
    return f"{name}.{LETTERS[count][k]}" if count in LETTERS else f"{name}[{k}]"


def component_names(name: str, count: int) -> tuple[str, ...]:
    """The names of all components."""
    return tuple(component(name, k, count) for k in range(count))


def split_component(name: str) -> tuple[str, str]:
    """The vector and the component that `name` may mean: a number, a letter, or "" for none."""
    indexed = _INDEXED.fullmatch(name)
    if indexed:
        return indexed["name"], indexed["index"]
    base, _, letter = name.rpartition(".")
    return (base, letter) if base and letter in ("w", "x", "y", "z") else (name, "")


def vector_of(name: str) -> str:
    """The vector that `name` may be a component of; `name` itself where it is of none."""
    return split_component(name)[0]


def place_of(part: str, count: int) -> int:
    """Where the component `part` (a number or a letter) of `count` stands; -1 for none."""
    k = int(part) if part.isdigit() else LETTERS.get(count, "").find(part)
    return k if part and k < count else -1


def gathered(names: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Vectors and scalars among `names`, with the places of their components: all letters of a
    vector or all its numbers, in order and side by side; what is not so is a scalar."""
    k = 0
    while k < len(names):
        base, part = split_component(names[k])
        count = next((n for n in LETTERS if part and _stands(names, k, base, n)), 0)
        if not count and part == "0":
            count = 1
            while names[k + count : k + count + 1] == [f"{base}[{count}]"]:
                count += 1
        yield (base, [*range(k, k + count)]) if count else (names[k], [k])
        k += max(count, 1)


def _stands(names: Sequence[str], k: int, base: str, count: int) -> bool:
    return tuple(names[k : k + count]) == component_names(base, count)


def spellings(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Every name with all that may be meant by it: itself, its vector, its number there."""
    return {
        names[k]: (names[k], base, f"{base}[{n}]")
        for base, places in gathered(names)
        for n, k in enumerate(places)
    }
