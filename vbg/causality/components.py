"""Strongly connected components and feedback sets of small directed graphs.

A graph is a mapping node -> nodes it uses; nodes that are not keys are ignored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Set
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def strong_components(uses: Mapping[T, Set[T]]) -> Iterator[list[T]]:
    """Components, those that are used before their users (R. Tarjan, SIAM J. Comput. 1,
    1972, without recursion)."""
    index: dict[T, int] = {}
    low: dict[T, int] = {}
    stack: list[T] = []
    on_stack: set[T] = set()
    for root in uses:
        if root in index:
            continue
        work: list[tuple[T, Iterator[T]]] = []
        _enter(root, uses, index, low, stack, on_stack, work)
        while work:
            node, following = work[-1]
            child = next(following, None)
            if child is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    yield _popped(node, stack, on_stack)
            elif child not in index:
                _enter(child, uses, index, low, stack, on_stack, work)
            elif child in on_stack:
                low[node] = min(low[node], index[child])


def _enter(
    node: T,
    uses: Mapping[T, Set[T]],
    index: dict[T, int],
    low: dict[T, int],
    stack: list[T],
    on_stack: set[T],
    work: list[tuple[T, Iterator[T]]],
) -> None:
    index[node] = low[node] = len(index)
    stack.append(node)
    on_stack.add(node)
    work.append((node, iter([n for n in _sorted(uses[node]) if n in uses])))


def _sorted(nodes: Set[T]) -> list[T]:
    """A fixed order, so that results do not depend on hashes."""
    return sorted(nodes, key=repr)


def _popped(node: T, stack: list[T], on_stack: set[T]) -> list[T]:
    component = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        component.append(member)
        if member == node:
            return component[::-1]


def acyclic_order(uses: Mapping[T, Set[T]]) -> list[T]:
    """Nodes of a graph without cycles, those that are used first."""
    return [component[0] for component in strong_components(uses)]


def feedback_set(uses: Mapping[T, Set[T]]) -> list[T]:
    """Nodes without which the graph has no cycle: none, one where one is enough, else by
    greed, the node with most paths through it first."""
    if _is_acyclic(uses):
        return []
    for node in uses:
        if _is_acyclic(_without(uses, node)):
            return [node]
    torn: list[T] = []
    left: dict[T, Set[T]] = dict(uses)
    while not _is_acyclic(left):
        cyclic = {n for c in strong_components(left) if len(c) > 1 or c[0] in left[c[0]] for n in c}
        users = {n: sum(n in left[m] for m in cyclic) for n in cyclic}
        best = max(_sorted(cyclic), key=lambda n: (n in left[n], users[n] * len(left[n] & cyclic)))
        torn.append(best)
        left = _without(left, best)
    return torn


def _without(uses: Mapping[T, Set[T]], node: T) -> dict[T, Set[T]]:
    return {n: others - {node} for n, others in uses.items() if n != node}


def _is_acyclic(uses: Mapping[T, Set[T]]) -> bool:
    return all(len(c) == 1 and c[0] not in uses[c[0]] for c in strong_components(uses))
