"""Layered layout of a graph in character cells, always the same for the same graph.

Sugiyama's method: break cycles, put vertices in layers by longest path, add a
place on every layer that an edge passes, order the layers by barycentres, and
route edges at right angles, each in its own column where they would overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

Place = tuple[int, int]  # layer, number of the place


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex in cells: its left end and first row, the cells its label takes
    and the rows its edges take."""

    column: int
    row: int
    width: int
    height: int = 1


@dataclass(frozen=True)
class Layout:
    """Where everything goes: boxes by vertex, paths of (column, row) corners by
    edge number, from tail to head, and the whole size in cells."""

    boxes: tuple[Box, ...]
    paths: tuple[tuple[tuple[int, int], ...], ...]
    width: int
    height: int


@dataclass(frozen=True)
class Ports:
    """Rows of edge ends by (place, edge), and rows that each place takes."""

    leaving: dict[tuple[Place, int], int]
    entering: dict[tuple[Place, int], int]
    height: dict[Place, int]


def layered(widths: tuple[int, ...], edges: tuple[tuple[int, int], ...], gap: int) -> Layout:
    """Lay out vertices 0 ... n-1 whose labels take `widths` cells.

    edges : (tail, head) pairs;  gap : least cells between layers, for the
    marks on the edges.  Parts that are not connected are stacked.
    """
    if not widths:
        return Layout((), (), 0, 0)
    forward = _acyclic(len(widths), edges)
    layer = _layers(len(widths), forward)
    chains, places = _chains(layer, forward)
    order = _ordered(places, chains)
    ports = _ports(order, chains)
    rows = _rows(order, chains, ports)
    turned = tuple(a != b for a, b in zip(edges, forward, strict=True))
    return _routed(widths, turned, layer, chains, rows, ports, gap)


def _acyclic(n: int, edges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The edges, those turned round that would close a cycle (iterative depth first)."""
    after: list[list[int]] = [[] for _ in range(n)]
    for tail, head in edges:
        after[tail].append(head)
    number = [0] * n  # 0 unseen, 1 on the path, 2 finished
    back: set[tuple[int, int]] = set()
    entered = {head for _, head in edges}
    starts = [v for v in range(n) if v not in entered] + list(range(n))
    for start in starts:
        if number[start]:
            continue
        stack = [(start, iter(after[start]))]
        number[start] = 1
        while stack:
            vertex, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                number[vertex] = 2
                stack.pop()
            elif number[following] == 1:
                back.add((vertex, following))
            elif number[following] == 0:
                number[following] = 1
                stack.append((following, iter(after[following])))
    return tuple((h, t) if (t, h) in back else (t, h) for t, h in edges)


def _layers(n: int, edges: tuple[tuple[int, int], ...]) -> list[int]:
    """Layer of each vertex: longest path from a source, then pulled to its successors."""
    after: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for tail, head in edges:
        if tail != head:
            after[tail].append(head)
            waiting[head] += 1
    layer = [0] * n
    ready = [v for v in range(n) if not waiting[v]]
    order = []
    while ready:
        vertex = ready.pop()
        order.append(vertex)
        for head in after[vertex]:
            layer[head] = max(layer[head], layer[vertex] + 1)
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    for vertex in reversed(order):
        if after[vertex]:
            layer[vertex] = min(layer[head] for head in after[vertex]) - 1
    return layer


def _chains(
    layer: list[int], edges: tuple[tuple[int, int], ...]
) -> tuple[list[list[Place]], list[list[Place]]]:
    """For each edge its places on all layers it touches, and the places of each layer."""
    places: list[list[Place]] = [[] for _ in range(max(layer) + 1)]
    for vertex, at in enumerate(layer):
        places[at].append((at, vertex))
    extra = len(layer)
    chains = []
    for tail, head in edges:
        chain = [(layer[tail], tail)]
        for between in range(layer[tail] + 1, layer[head]):
            chain.append((between, extra))
            places[between].append((between, extra))
            extra += 1
        if head != tail:
            chain.append((layer[head], head))
        chains.append(chain)
    return chains, places


def _neighbours(chains: list[list[Place]]) -> tuple[dict[Place, list[Place]], ...]:
    """Places before and after each place."""
    before: dict[Place, list[Place]] = {}
    after: dict[Place, list[Place]] = {}
    for chain in chains:
        for a, b in pairwise(chain):
            after.setdefault(a, []).append(b)
            before.setdefault(b, []).append(a)
    return before, after


def _ordered(places: list[list[Place]], chains: list[list[Place]]) -> list[list[Place]]:
    """The places of each layer from top to bottom, after eight barycentre sweeps."""
    before, after = _neighbours(chains)
    order = [list(layer) for layer in places]
    rank = {place: i for layer in order for i, place in enumerate(layer)}
    best, fewest = order, _crossings(order, after, rank)
    for sweep in range(8):
        sides, layers = (before, order) if sweep % 2 == 0 else (after, order[::-1])
        for layer in layers:
            middle = {
                p: _mean([rank[q] for q in sides[p]]) if sides.get(p) else float(rank[p])
                for p in layer
            }
            layer.sort(key=lambda p: (middle[p], rank[p]))
            rank.update({place: i for i, place in enumerate(layer)})
        count = _crossings(order, after, rank)
        if count < fewest:
            best, fewest = [list(layer) for layer in order], count
    return [list(layer) for layer in best]


def _crossings(
    order: list[list[Place]], after: dict[Place, list[Place]], rank: dict[Place, int]
) -> int:
    """Crossings between neighbouring layers, by counting inversions."""
    total = 0
    for layer in order:
        heads = [r for p in layer for r in sorted(rank[q] for q in after.get(p, ()))]
        total += sum(1 for i, a in enumerate(heads) for b in heads[i + 1 : i + 200] if a > b)
    return total


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def _ports(order: list[list[Place]], chains: list[list[Place]]) -> Ports:
    """Row of each edge's ends on its places, counted from the place's first row.

    Every edge has its own row on each side of a vertex, so that marks at its
    ends are never shared; they are in the order of the places opposite.
    """
    rank = {place: i for layer in order for i, place in enumerate(layer)}
    leaving: dict[Place, list[tuple[int, int]]] = {}
    entering: dict[Place, list[tuple[int, int]]] = {}
    for number, chain in enumerate(chains):
        for a, b in pairwise(chain):
            leaving.setdefault(a, []).append((rank[b], number))
            entering.setdefault(b, []).append((rank[a], number))
    out: dict[tuple[Place, int], int] = {}
    into: dict[tuple[Place, int], int] = {}
    height: dict[Place, int] = {}
    for place in rank:
        outs, ins = sorted(leaving.get(place, ())), sorted(entering.get(place, ()))
        height[place] = max(len(outs), len(ins), 1)
        for found, ports in ((outs, out), (ins, into)):
            for k, (_, number) in enumerate(found):
                ports[place, number] = k + (height[place] - len(found)) // 2
    return Ports(out, into, height)


def _rows(order: list[list[Place]], chains: list[list[Place]], ports: Ports) -> dict[Place, int]:
    """First row of each place: in order, one row free between, near its neighbours."""
    before: dict[Place, list[tuple[Place, int]]] = {}
    after: dict[Place, list[tuple[Place, int]]] = {}
    for number, chain in enumerate(chains):
        for a, b in pairwise(chain):
            shift = ports.leaving[a, number] - ports.entering[b, number]
            before.setdefault(b, []).append((a, shift))
            after.setdefault(a, []).append((b, -shift))
    row: dict[Place, int] = {}
    for layer in order:
        at = 0
        for place in layer:
            row[place] = at
            at += ports.height[place] + 1
    for sweep in range(6):
        sides, layers = (before, order) if sweep % 2 == 0 else (after, order[::-1])
        for layer in layers:
            _settle(layer, sides, row, ports)
    top = min(row.values())
    return {place: at - top for place, at in row.items()}


def _settle(
    layer: list[Place],
    sides: dict[Place, list[tuple[Place, int]]],
    row: dict[Place, int],
    ports: Ports,
) -> None:
    """Move the places of `layer` to the rows their neighbours wish, keeping order."""
    room = [ports.height[place] + 1 for place in layer]
    wish = []
    for place in layer:
        near = sorted(row[q] + shift for q, shift in sides.get(place, ()))
        wish.append(near[len(near) // 2] if near else row[place])
    down: list[int] = []
    for i, w in enumerate(wish):
        down.append(max(w, down[-1] + room[i - 1]) if down else w)
    up: list[int] = []
    for i in reversed(range(len(wish))):
        up.append(min(wish[i], up[-1] - room[i]) if up else wish[i])
    up.reverse()
    for i, place in enumerate(layer):
        middle = (down[i] + up[i]) // 2
        row[place] = max(middle, row[layer[i - 1]] + room[i - 1]) if i else middle


def _routed(
    widths: tuple[int, ...],
    turned: tuple[bool, ...],
    layer: list[int],
    chains: list[list[Place]],
    rows: dict[Place, int],
    ports: Ports,
    gap: int,
) -> Layout:
    """Columns of layers and corners of paths."""
    count = max(layer) + 1
    pieces = [_pieces(i, chains, rows, ports) for i in range(count - 1)]
    widest = [max(widths[v] for v, at in enumerate(layer) if at == i) for i in range(count)]
    tracks = [_tracks(piece) for piece in pieces]
    left, start = 0, []
    for i in range(count):
        start.append(left)
        used = 1 + max(tracks[i].values(), default=0) if i < count - 1 else 0
        left += widest[i] + gap + max(used - 1, 0)
    boxes = tuple(
        Box(start[at], rows[at, v], widths[v], ports.height[at, v]) for v, at in enumerate(layer)
    )
    paths = []
    for number, chain in enumerate(chains):
        path: list[tuple[int, int]] = []
        for a, _ in pairwise(chain):
            i = a[0]
            y0, y1 = pieces[i][number]
            if not path:
                path.append((start[i] + widths[a[1]], y0))
            if y0 != y1:
                middle = start[i] + widest[i] + gap // 2 + tracks[i][number]
                path += [(middle, y0), (middle, y1)]
            path.append((start[i + 1] - 1, y1))
        paths.append(tuple(reversed(path)) if turned[number] else tuple(path))
    height = max(box.row + box.height for box in boxes)
    width = max(box.column + box.width for box in boxes)
    return Layout(boxes, tuple(paths), width, height)


def _pieces(
    i: int, chains: list[list[Place]], rows: dict[Place, int], ports: Ports
) -> dict[int, tuple[int, int]]:
    """Rows at which each edge leaves layer i and enters layer i + 1."""
    return {
        number: (rows[a] + ports.leaving[a, number], rows[b] + ports.entering[b, number])
        for number, chain in enumerate(chains)
        for a, b in pairwise(chain)
        if a[0] == i
    }


def _tracks(pieces: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Track of each bent edge between two layers, so that no two lie on one another.

    Verticals on one track have no row in common.  An edge that arrives on a row
    which another one leaves must turn after that one has turned away; where two
    edges change rows with one another no order does that.
    """
    waiting = sorted(
        (n for n, (y0, y1) in pieces.items() if y0 != y1), key=lambda n: (pieces[n], n)
    )
    leaves = {pieces[number][0]: number for number in waiting}
    taken: list[list[tuple[int, int]]] = []
    out: dict[int, int] = {}
    while waiting:
        ready = (n for n in waiting if leaves.get(pieces[n][1]) not in waiting)
        number = next(ready, waiting[0])
        waiting.remove(number)
        before = leaves.get(pieces[number][1])
        first = out[before] + 1 if before in out else 0
        low, high = sorted(pieces[number])
        taken += [[] for _ in range(first + 1 - len(taken))]
        free = (
            t for t in range(first, len(taken)) if all(high < a or low > b for a, b in taken[t])
        )
        track = next(free, len(taken))
        if track == len(taken):
            taken.append([])
        taken[track].append((low, high))
        out[number] = track
    return out
