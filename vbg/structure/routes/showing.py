"""The tree of routes as text, as plain values and as a picture."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.errors import counted
from vbg.structure.count.diagram import roman, write_drawing
from vbg.structure.routes.tree import Batch, Node, RouteTree
from vbg.structure.routes.tree import Path as Route

if TYPE_CHECKING:
    import pydot

MOST_WRITTEN = 5000  # nodes of a tree in JSON
MOST_DRAWN = 400  # nodes of a picture; of larger trees it has the best routes
DRAWN_ROUTES = 20
UNITS = {"operations": "estimated operations", "s": "measured processor time"}


def routes_text(tree: RouteTree, *, best: int) -> str:
    """How many routes there are, and the best ones, one a line: SG-I > SG-II + SG-III."""
    first = next(tree.ranked())
    alone = sum(tree.costs.values())
    lines = [
        f"{counted(tree.count, 'route')}, groups alike counted once, in a tree of {tree.nodes} "
        f"nodes; {counted(tree.workers, 'worker')}; cost in {UNITS[tree.unit]}",
        "groups: " + ", ".join(f"{_name(n)} {_cost(tree, c)}" for n, c in tree.costs.items()),
    ]
    if tree.handover:
        lines.append(f"handing a batch over to threads: {_cost(tree, tree.handover)}")
    lines.append(_verdict(tree, first, alone))
    lines.append("rank        cost   of one by one  route")
    for rank, route in enumerate(itertools.islice(tree.ranked(), best), 1):
        share = route.cost / alone if alone else 1.0
        lines.append(f"{rank:4}  {_cost(tree, route.cost):>10}  {share:14.3f}  {_written(route)}")
    return "\n".join(lines)


def _verdict(tree: RouteTree, first: Route, alone: float) -> str:
    if tree.workers == 1:
        return "one worker: nothing is solved at the same time, and all routes cost the same"
    if max(map(len, first.batches)) == 1:
        why = "no groups are independent"
        if any(len(batch) > 1 for route in _parallel(tree) for batch in route.batches):
            why = "handing over costs more than it saves"
        return f"solving in parallel does not pay: {why}"
    gain = alone / first.cost
    return f"solving in parallel pays: {gain:.2f} times as fast, if every worker has a core"


def _parallel(tree: RouteTree) -> list[Route]:
    """One route in which something runs at the same time, if there is any."""
    every = (route for route in tree.ranked() if len(route.batches) < len(tree.costs))
    return list(itertools.islice(every, 1))


def _cost(tree: RouteTree, cost: float) -> str:
    """Seconds as microseconds; operations as they are."""
    return f"{1e6 * cost:.4g} us" if tree.unit == "s" else f"{cost:.6g}"


def _name(number: int) -> str:
    return f"SG-{roman(number)}"


def _together(batch: Batch) -> str:
    return " + ".join(map(_name, batch))


def _written(route: Route) -> str:
    return " > ".join(map(_together, route.batches))


def routes_data(tree: RouteTree, *, best: int) -> dict[str, Any]:
    """All of it as plain values; the tree itself up to `MOST_WRITTEN` nodes, else None."""
    return {
        "routes": tree.count,
        "nodes": tree.nodes,
        "workers": tree.workers,
        "unit": tree.unit,
        "costs": {str(number): cost for number, cost in tree.costs.items()},
        "handover": tree.handover,
        "best": [
            {"cost": route.cost, "batches": [list(batch) for batch in route.batches]}
            for route in itertools.islice(tree.ranked(), best)
        ],
        "tree": _node_data(tree.root()) if tree.nodes <= MOST_WRITTEN else None,
    }


def _node_data(node: Node) -> dict[str, Any]:
    return {
        "batch": list(node.batch),
        "cost": node.cost,
        "total": node.total,
        "then": [_node_data(one) for one in node.then],
    }


def draw_tree(tree: RouteTree, path: str | Path) -> None:
    """Write the tree to `path` (.svg, .png, .pdf or .dot), its cheapest route bold; of a large tree
    its best routes."""
    write_drawing(tree_picture(tree), path)


def tree_picture(tree: RouteTree) -> pydot.Dot:
    """The tree from left to right, batches as nodes, at the end of a route its rank and cost."""
    import pydot

    drawing = pydot.Dot("routes", graph_type="digraph", rankdir="LR", ranksep="0.3")
    drawing.set_node_defaults(shape="box", fontsize="10", height="0.2")
    whole = tree.nodes <= MOST_DRAWN
    routes = list(tree.ranked() if whole else itertools.islice(tree.ranked(), DRAWN_ROUTES))
    drawing.add_node(pydot.Node("r", label=f'"{counted(tree.count, "route")}"'))
    placed: set[str] = set()
    for rank, route in enumerate(routes, 1):
        before = "r"
        bold = "3" if rank == 1 else "1"
        for batch in route.batches:
            here = f"{before}_{'p'.join(map(str, batch))}"
            if here not in placed:
                placed.add(here)
                drawing.add_node(pydot.Node(here, label=f'"{_together(batch)}"', penwidth=bold))
                drawing.add_edge(pydot.Edge(before, here, penwidth=bold))
            before = here
        label = f'"{rank}: {_cost(tree, route.cost)}"'
        drawing.add_node(pydot.Node(f"{before}_end", label=label, shape="plaintext"))
        drawing.add_edge(pydot.Edge(before, f"{before}_end", penwidth=bold, arrowhead="none"))
    return drawing
