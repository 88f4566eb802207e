"""Groups of things that pairs connect."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def joined(items: Iterable[Item], pairs: Iterable[tuple[Item, Item]]) -> list[list[Item]]:
    """The groups of `items` that `pairs` connect, in their order (B. Galler, M. Fischer,
    Comm. ACM 7, 1964, 301); scipy has this, too, but takes longer to load than a small run."""
    above = {item: item for item in items}

    def first(item: Item) -> Item:
        while above[item] != item:
            above[item] = item = above[above[item]]
        return item

    for a, b in pairs:
        above[first(b)] = first(a)
    groups: dict[Item, list[Item]] = {}
    for item in above:
        groups.setdefault(first(item), []).append(item)
    return list(groups.values())
