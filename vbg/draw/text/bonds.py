"""A bond graph in cells: half arrows, causal strokes, double lines for vector bonds.

The half arrow is at the head of each bond, where positive power flows to.  The
causal stroke is at the end that receives effort.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from vbg.draw.text.braille import merge
from vbg.draw.text.layers import Box, Layout, layered
from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows, cells

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex as shown; `key` says which object of the model it belongs to."""

    label: str
    style: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond between vertices by number; `stroke` at its tail, head or none;
    `size` components; drawn in `style`, with `note` on its line where there is room, and heavy;
    `arrow` "" leaves a plain line."""

    tail: int
    head: int
    stroke: Literal["tail", "head", ""] = ""
    size: int = 1
    style: str = "dim"
    key: str = ""
    note: str = ""
    heavy: bool = False
    arrow: Literal["half", ""] = "half"


@dataclass(frozen=True)
class Drawing:
    """A laid out graph, ready to be looked at through a window."""

    vertices: tuple[Vertex, ...]
    bonds: tuple[Bond, ...]
    layout: Layout


@dataclass(frozen=True, slots=True)
class Look:
    """The window: its left and top cell in the drawing, and what is marked."""

    left: int = 0
    top: int = 0
    vertex: int = -1
    bond: int = -1


def laid_out(vertices: tuple[Vertex, ...], bonds: tuple[Bond, ...], gap: int = 7) -> Drawing:
    """The graph with its places in cells."""
    widths = tuple(cells(vertex.label) + 2 for vertex in vertices)
    edges = tuple((bond.tail, bond.head) for bond in bonds)
    return Drawing(vertices, bonds, layered(widths, edges, gap))


def draw(drawing: Drawing, width: int, height: int, look: Look, marks: Marks) -> Rows:
    """What a window of `width` x `height` cells shows of `drawing`."""
    grid: dict[Cell, tuple[str, str]] = {}
    _lines(grid, drawing, look, marks)
    for number, bond in enumerate(drawing.bonds):
        style = "cursor" if number == look.bond else bond.style
        _ends(grid, drawing, number, style, marks)
        _note(grid, drawing.layout.paths[number], bond.note, style)
    for number, vertex in enumerate(drawing.vertices):
        style = "cursor" if number == look.vertex else vertex.style
        left = marks.cursor if number == look.vertex else " "
        _label(grid, drawing.layout.boxes[number], f"{left}{vertex.label} ", style, marks)
    blank = (" ", "")
    return tuple(
        merge([grid.get((x + look.left, y + look.top), blank) for x in range(width)])
        for y in range(height)
    )


def _label(
    grid: dict[Cell, tuple[str, str]], box: Box, text: str, style: str, marks: Marks
) -> None:
    """The text of a vertex, on the middle of its rows, with a bar along the others."""
    middle = box.row + (box.height - 1) // 2
    for row in range(box.row, box.row + box.height):
        if row != middle:
            for x in (box.column, box.column + box.width - 1):
                grid[x, row] = (marks.down, "dim")
    column = box.column
    for character in text:
        grid[column, middle] = (character, style)
        if cells(character) == 2:
            grid[column + 1, middle] = ("", style)
        column += cells(character)


def _lines(grid: dict[Cell, tuple[str, str]], drawing: Drawing, look: Look, marks: Marks) -> None:
    """The lines of all bonds; where bonds cross or branch the sides add up."""
    sides: dict[Cell, set[str]] = {}
    double: set[Cell] = set()
    heavy: set[Cell] = set()
    styles: dict[Cell, str] = {}
    for number, path in enumerate(drawing.layout.paths):
        bond = drawing.bonds[number]
        style = "cursor" if number == look.bond else bond.style
        for start, end in pairwise(path):
            for cell, side in _along(start, end):
                sides.setdefault(cell, set()).update(side)
                if styles.get(cell, "dim") == "dim":
                    styles[cell] = style
                if bond.size > 1:
                    double.add(cell)
                if bond.heavy:
                    heavy.add(cell)
    for cell, joined in sides.items():
        name = "".join(side for side in "lrud" if side in joined)
        name = {"l": "lr", "r": "lr", "u": "ud", "d": "ud"}.get(name, name)
        character = marks.joints[name]
        if cell in heavy and name in marks.heavy:
            character = marks.heavy[name]
        elif cell in double and name == "lr":
            character = marks.double
        grid[cell] = (character, styles[cell])


def _along(start: Cell, end: Cell) -> list[tuple[Cell, str]]:
    """Cells of a straight piece and the sides on which the line leaves them."""
    (x0, y0), (x1, y1) = start, end
    if y0 == y1:
        low, high = sorted((x0, x1))
        return [
            ((x, y0), ("l" if x > low else "") + ("r" if x < high else ""))
            for x in range(low, high + 1)
        ]
    low, high = sorted((y0, y1))
    return [
        ((x0, y), ("u" if y > low else "") + ("d" if y < high else ""))
        for y in range(low, high + 1)
    ]


def _ends(
    grid: dict[Cell, tuple[str, str]], drawing: Drawing, number: int, style: str, marks: Marks
) -> None:
    """Half arrow and stroke of one bond."""
    path = drawing.layout.paths[number]
    bond = drawing.bonds[number]
    if len(path) < 2 or not bond.arrow:
        return
    stroke = marks.strokes[0]
    inward = 1 if path[0][0] < path[-1][0] else -1
    arrow = marks.harpoons[0 if inward == 1 else 1]
    x, y = path[-1]
    if bond.stroke == "head":
        grid[x, y] = (stroke, style)
        x -= inward
    grid[x, y] = (arrow, style)
    if bond.stroke == "tail":
        grid[path[0]] = (stroke, style)


def _note(grid: dict[Cell, tuple[str, str]], path: tuple[Cell, ...], note: str, style: str) -> None:
    """The words of a bond in the middle of its longest level piece, its ends left free."""
    level = [(abs(b[0] - a[0]), a, b) for a, b in pairwise(path) if a[1] == b[1]]
    if not note or not level:
        return
    length, a, b = max(level, key=lambda piece: piece[0])
    # at a tail one cell for a stroke, at a head two, for stroke and arrow
    if length - 3 < len(note):
        return
    low, high = min(a[0], b[0]), max(a[0], b[0])
    column = low + (high - low - len(note) + (1 if b[0] > a[0] else 3)) // 2
    for offset, character in enumerate(note):
        grid[column + offset, a[1]] = (character, style)


def centred(drawing: Drawing, vertex: int, width: int, height: int) -> Look:
    """The window that has `vertex` in its middle, kept to the drawing's extent."""
    if not 0 <= vertex < len(drawing.layout.boxes):
        return Look()
    box = drawing.layout.boxes[vertex]
    left = box.column + box.width // 2 - width // 2
    top = box.row + box.height // 2 - height // 2
    return kept(drawing, Look(left, top, vertex), width, height)


def kept(drawing: Drawing, look: Look, width: int, height: int) -> Look:
    """`look` moved so that no more than a margin beyond the drawing is shown."""
    layout = drawing.layout
    if layout.width <= width:
        left = -((width - layout.width) // 2)
    else:
        left = min(max(look.left, -1), layout.width + 1 - width)
    if layout.height <= height:
        top = -((height - layout.height) // 2)
    else:
        top = min(max(look.top, -1), layout.height + 1 - height)
    return Look(left, top, look.vertex, look.bond)


def neighbour(drawing: Drawing, vertex: int, direction: str) -> int:
    """The vertex next to `vertex` to the left, right, up or down; itself if none."""
    boxes = drawing.layout.boxes
    if not 0 <= vertex < len(boxes):
        return 0 if boxes else -1
    here = boxes[vertex]

    def distance(number: int) -> float:
        dx = _middle(boxes[number]) - _middle(here)
        dy = 2 * (_centre(boxes[number]) - _centre(here))
        ahead, aside = {
            "left": (-dx, dy),
            "right": (dx, dy),
            "up": (-dy, dx),
            "down": (dy, dx),
        }[direction]
        return ahead + 3 * abs(aside) if ahead > 0 else float("inf")

    best = min(range(len(boxes)), key=lambda n: (distance(n), n))
    return best if distance(best) < float("inf") else vertex


def _middle(box: Box) -> float:
    return box.column + box.width / 2


def _centre(box: Box) -> int:
    return box.row + (box.height - 1) // 2
