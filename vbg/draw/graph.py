"""Pictures of bond graphs: SVG, PNG, PDF by Graphviz, or by matplotlib without it."""

from __future__ import annotations

import shutil
from pathlib import Path

from vbg.causality import CausalGraph
from vbg.draw.dot import CONFLICT, CONSTRAINT, LOOP, to_pydot
from vbg.draw.wrapped import fold
from vbg.errors import UsageError, not_installed
from vbg.platform.files import replacing, write_text

FORMATS = (".svg", ".png", ".pdf", ".dot")


def draw_graph(causal: CausalGraph, path: str | Path, level: str = "full") -> None:
    """Write the drawing at `level` (see `dot`) to `path`, whose ending is the format.

    Graphviz comes with the package pygraphviz, or is `dot` on the PATH; without it networkx
    and matplotlib draw a plainer picture.  Raises UsageError for another ending.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: a drawing's name must end in {', '.join(FORMATS)}.")
    graph = to_pydot(causal, level)
    if path.suffix == ".dot":
        write_text(path, graph.to_string())
        return
    try:
        import pygraphviz
    except ImportError:
        if shutil.which("dot") is None:
            _draw_plainly(causal, path)
        else:
            graph.write(str(path), format=path.suffix.removeprefix("."))
        return
    drawing = pygraphviz.AGraph(string=graph.to_string())
    drawing.layout("dot")
    if level == "word" and fold(drawing):
        drawing.draw(str(path), prog="neato")
    else:
        drawing.draw(str(path))


def _draw_plainly(causal: CausalGraph, path: Path) -> None:
    """All vertices and bonds, strokes as bars, by a deterministic spring layout."""
    try:
        import matplotlib
    except ImportError as error:
        otherwise = "A .dot file can be written without."
        raise not_installed("a drawing", "pygraphviz or matplotlib", "draw", otherwise) from error
    import networkx
    from matplotlib.figure import Figure

    graph = causal.graph
    whole: networkx.DiGraph = networkx.DiGraph()
    whole.add_nodes_from(graph.vertices)
    whole.add_edges_from((bond.tail, bond.head) for bond in graph.bonds.values())
    layout = networkx.kamada_kawai_layout(whole)
    size = 4.0 + 0.9 * len(whole) ** 0.6
    with matplotlib.rc_context({"svg.hashsalt": "vbg"}):
        figure = Figure(figsize=(size, size))
        axes = figure.add_subplot()
        axes.set_axis_off()
        loops = {name for loop in causal.loops for name in loop.vertices}
        conflicts = {conflict.bond for conflict in causal.conflicts}
        for bond in graph.bonds.values():
            colour = CONFLICT if bond.name in conflicts else "#444444"
            tail, head = layout[bond.tail], layout[bond.head]
            at_head = causal.strokes.get(bond.name) == "head"
            axes.annotate(
                "",
                head,
                tail,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": colour,
                    "lw": 2.0 if bond.size > 1 else 1.0,
                    "shrinkA": 9,
                    "shrinkB": 9,
                },
            )
            near = 0.75 if at_head else 0.25
            axes.annotate(
                "",
                (tail[0] + near * (head[0] - tail[0]), tail[1] + near * (head[1] - tail[1])),
                tail if at_head else head,
                arrowprops={"arrowstyle": "|-|,widthA=0,widthB=0.4", "color": colour, "lw": 0},
            )
        for vertex in graph.vertices.values():
            colour = CONSTRAINT if vertex.kind == "Sc" else "#000000"
            colour = LOOP if vertex.name in loops else colour
            axes.text(
                float(layout[vertex.name][0]),
                float(layout[vertex.name][1]),
                vertex.kind,
                color=colour,
                ha="center",
                va="center",
                size=8,
            )
        with replacing(path) as temporary:
            figure.savefig(temporary, bbox_inches="tight", metadata=_no_date(path))


def _no_date(path: Path) -> dict[str, None]:
    """Without the date two drawings of one graph are the same file."""
    return {"Date": None} if path.suffix == ".svg" else {}
