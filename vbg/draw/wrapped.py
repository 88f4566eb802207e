"""Long word bond graphs folded into lines, read like text: left to right, then the next line."""

from __future__ import annotations

from typing import Any

STRIP = 4.0  # width by height from which a drawing is folded
WIDE = 1500.0  # points; a narrower one is left as it is
PAGE = 1.6  # width by height that is aimed at
GAP = 55.0  # points between two lines
MOST = 40  # lines

Places = dict[str, tuple[float, float]]


def fold(graph: Any) -> bool:
    """Pins the nodes of a laid-out `pygraphviz.AGraph` without clusters in lines, if it is a
    strip; whether it was.  The edges are then to be routed by the layout program neato."""
    places: Places = {}
    for node in graph.nodes():
        x, y = (float(word) for word in node.attr["pos"].split(","))
        places[str(node)] = (x, y)
    if not places:  # a model of signals alone
        return False
    width, height = (max(values) - min(values) for values in zip(*places.values(), strict=True))
    if width < WIDE or width < STRIP * (height + GAP):
        return False
    for name, (x, y) in folded(places).items():
        graph.get_node(name).attr["pos"] = f"{x:.1f},{y:.1f}!"
    for edge in graph.edges():
        edge.attr["pos"] = edge.attr["lp"] = ""
    graph.graph_attr.update(splines="true", inputscale="72", rankdir="")
    return True


def folded(places: Places) -> Places:
    """The places in as many lines as come nearest to the proportions of a page."""
    candidates = [_in_lines(places, lines) for lines in range(1, MOST + 1)]
    return min(candidates, key=lambda found: abs(_proportion(found) - PAGE))


def _proportion(places: Places) -> float:
    width, height = (max(values) - min(values) for values in zip(*places.values(), strict=True))
    return float((width + GAP) / (height + GAP))


def _in_lines(places: Places, lines: int) -> Places:
    left = min(x for x, _ in places.values())
    width = (max(x for x, _ in places.values()) - left) / lines + 1e-6
    result: Places = {}
    top = 0.0
    for line in range(lines):
        inside = {n: p for n, p in places.items() if int((p[0] - left) // width) == line}
        if not inside:
            continue
        highest = max(y for _, y in inside.values())
        for name, (x, y) in inside.items():
            result[name] = (x - left - line * width, y - highest + top)
        top -= highest - min(y for _, y in inside.values()) + GAP
    return result
