"""Pictures in cells: nothing is lost, nothing overlaps, every character is one cell wide."""

from __future__ import annotations

import math
import unicodedata
from itertools import pairwise

import numpy as np
import pytest

from vbg.draw.text import axes, bonds, braille, layers, marks, rows, wire
from vbg.draw.text.curves import Curve, Frame, Range, plot

ALL_MARKS = [marks.choose(name) for name in ("unicode", "block", "ascii")]


def test_every_mark_is_one_cell_wide_and_no_emoji():
    for chosen in ALL_MARKS:
        text = "".join(str(getattr(chosen, name)) for name in chosen.__slots__)
        text += "".join(chosen.joints.values()) if chosen.joints else ""
        text += "".join("".join(chosen.harpoons) + "".join(chosen.strokes))
        for character in text:
            assert unicodedata.east_asian_width(character) not in "WF", character
            assert ord(character) < 0x1F000 and not 0xFE00 <= ord(character) <= 0xFE0F
    assert "".join(marks.ASCII.joints.values()).isascii()


@pytest.mark.parametrize("chosen", ALL_MARKS, ids=lambda m: m.name)
def test_a_single_high_sample_among_twenty_thousand_is_seen(chosen):
    x = np.linspace(0.0, 2.0, 20_000)
    y = np.sin(20 * x)
    y[12_345] = 50.0
    picture = plot((Curve(x, y),), 100, 30, Frame(), chosen)
    column = 1 + len("50") + round(x[12_345] / 2.0 * 95)
    top = rows.plain(picture)[1:4]
    assert any(line[column - 2 : column + 4].strip() for line in top)


@pytest.mark.parametrize("values", [[], [math.nan] * 4, [3.0] * 4, [1, math.nan, 2, math.inf, 0]])
@pytest.mark.parametrize("log", [False, True])
def test_odd_data_do_not_break_a_plot(values, log):
    y = np.array(values, dtype=float)
    picture = plot((Curve(np.arange(len(y)) * 1.0, y),), 40, 8, Frame(log=log), marks.UNICODE)
    assert len(picture) == 8
    assert all(rows.row_width(row) == 40 for row in picture)


@pytest.mark.parametrize("width", [1, 11, 12, 13, 40, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 20])
def test_plots_have_exactly_the_size_asked_for(width, height):
    x = np.linspace(-3, 9, 50)
    curves = (Curve(x, x**2), Curve(x, -x, axis=1, pattern="dashed"))
    frame = Frame(Range(-1, 4), ("N", "m"), cursor=2.0, level=3.0)
    picture = plot(curves, width, height, frame, marks.UNICODE)
    assert len(picture) == height
    assert all(rows.row_width(row) == width for row in picture)


def test_envelope_is_the_slow_twin_of_drawing_every_piece():
    """Against a loop that samples each straight piece of the polyline finely."""
    generator = np.random.default_rng(7)
    x = np.sort(generator.uniform(0, 60, 40))
    y = generator.uniform(2, 38, 40)
    fast = braille.Canvas.blank(30, 10)
    braille.envelope(fast, x, y, 1)
    low, high = np.full(60, np.inf), np.full(60, -np.inf)
    for k in range(len(x) - 1):
        for part in np.linspace(0, 1, 4000):
            column = int(x[k] + part * (x[k + 1] - x[k]))
            value = y[k] + part * (y[k + 1] - y[k])
            low[column], high[column] = min(low[column], value), max(high[column], value)
    for column in range(60):
        drawn = np.flatnonzero(fast.dots[:, column])
        if math.isfinite(low[column]):
            assert abs(drawn.min() - math.floor(low[column])) <= 1
            assert abs(drawn.max() - math.floor(high[column])) <= 1
        else:
            assert len(drawn) == 0


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.7, 12), (1e-9, 3e-9), (1e7, 1.2e7), (-1, 0)])
def test_ticks_are_round_and_inside(low, high):
    values = axes.ticks(low, high, 5)
    assert 2 <= len(values) <= 7
    assert all(low - 1e-9 * (high - low) <= v <= high + 1e-9 * (high - low) for v in values)
    labels = axes.tick_labels(values)
    assert len(set(labels)) == len(labels)
    assert [float(text) for text in labels] == pytest.approx(values, abs=1e-6 * (high - low))


@pytest.mark.parametrize("text", ["曲柄 rod", "a[b]", "e\u0301x", "\x1b[31mred\x07", "plain", ""])
@pytest.mark.parametrize("width", [1, 3, 8, 20])
def test_text_is_clipped_and_padded_by_cells(text, width):
    shown = rows.printable(text)
    assert "\x1b" not in shown
    assert rows.cells(rows.pad(shown, width)) == width
    assert rows.row_width(rows.fit(((shown, ""), (shown, "dim")), width)) == width
    assert all(rows.cells(line) <= max(width, 2) for line in rows.wrap(shown, width))


GRAPHS = {
    "chain": (4, ((0, 1), (1, 2), (2, 3))),
    "loop": (4, ((0, 1), (1, 2), (2, 3), (3, 0))),
    "both ways": (2, ((0, 1), (1, 0))),
    "apart": (4, ((0, 1), (2, 3))),
    "star": (6, ((0, 1), (0, 2), (0, 3), (4, 0), (5, 0))),
    "long": (5, ((0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 4))),
    "self": (2, ((0, 0), (0, 1))),
    "alone": (1, ()),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_layout_overlaps_nothing_and_joins_what_it_should(name):
    count, edges = GRAPHS[name]
    layout = layers.layered((8,) * count, edges, 7)
    taken = [
        (x, y)
        for box in layout.boxes
        for x in range(box.column, box.column + box.width)
        for y in range(box.row, box.row + box.height)
    ]
    assert len(taken) == len(set(taken))
    for (tail, head), path in zip(edges, layout.paths, strict=True):
        if tail == head:
            continue
        ends = [layout.boxes[tail], layout.boxes[head]]
        for (x, y), box in zip((path[0], path[-1]), ends, strict=True):
            assert box.row <= y < box.row + box.height
            assert x in (box.column - 1, box.column + box.width)
        assert not set(path) & set(taken)
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(path))
    starts = [p[0] for p in layout.paths if p] + [p[-1] for p in layout.paths if p]
    assert len(starts) == len(set(starts)), "marks at ends of bonds must not share a cell"
    assert layout == layers.layered((8,) * count, edges, 7)


def test_edges_do_not_run_along_one_another():
    """Horizontal and vertical runs of different edges share no run of two cells."""
    generator = np.random.default_rng(11)
    shared = 0
    for _ in range(60):
        count = int(generator.integers(3, 9))
        pairs = {(int(a), int(b)) for a, b in generator.integers(0, count, (count + 2, 2)) if a < b}
        edges = tuple(sorted(pairs))
        layout = layers.layered((6,) * count, edges, 7)
        owner: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}
        for number, path in enumerate(layout.paths):
            for (x0, y0), (x1, y1) in pairwise(path):
                cells = [
                    (x, y)
                    for x in range(min(x0, x1), max(x0, x1) + 1)
                    for y in range(min(y0, y1), max(y0, y1) + 1)
                ]
                for step in pairwise(cells):
                    shared += owner.setdefault(step, number) != number
    assert shared == 0


def test_stroke_and_half_arrow_are_where_convention_wants_them():
    vertices = (bonds.Vertex("Se"), bonds.Vertex("I"))
    for stroke, expected in (("head", "─⇁|"), ("tail", "|──"), ("", "──⇁")):
        drawing = bonds.laid_out(vertices, (bonds.Bond(0, 1, stroke),))
        text = rows.plain(bonds.draw(drawing, 30, 1, bonds.Look(), marks.UNICODE))[0]
        assert expected in text
    double = bonds.laid_out(vertices, (bonds.Bond(0, 1, "head", 3),))
    assert "═⇁|" in rows.plain(bonds.draw(double, 30, 1, bonds.Look(), marks.UNICODE))[0]
    assert rows.plain(bonds.draw(double, 30, 1, bonds.Look(), marks.ASCII))[0].isascii()


def test_walking_through_a_drawing_reaches_every_vertex_of_a_row():
    count, edges = GRAPHS["chain"]
    vertices = tuple(bonds.Vertex(f"v{i}") for i in range(count))
    drawing = bonds.laid_out(vertices, tuple(bonds.Bond(a, b) for a, b in edges))
    seen = [0]
    for _ in range(count - 1):
        seen.append(bonds.neighbour(drawing, seen[-1], "right"))
    assert seen == list(range(count))
    assert bonds.neighbour(drawing, 0, "left") == 0


def test_edges_behind_a_solid_are_hidden_and_before_it_are_not():
    """A small cube straight behind and straight before a large one, seen along x."""
    camera = wire.Camera(azimuth=0.0, elevation=0.0)
    large = wire.box((1.0, 1.0, 1.0))
    eye = np.eye(3)
    for shift, hidden in ((-2.0, True), (2.0, False)):
        small = wire.box((0.2, 0.2, 0.2)).placed(eye, np.array([shift, 0, 0]), 1)
        _, covered, _ = wire.edge_pieces(wire.Scene((large, small)), camera)
        own = covered[12 * 8 :]
        assert own.all() if hidden else not own.all()


def test_projection_keeps_lengths_across_the_view():
    """Parallel projection: a vector in the picture plane has its length times the scale."""
    camera = wire.Camera(0.7, 0.3, (0.1, -0.2, 0.3), 55.0)
    right, up, towards = camera.axes()
    assert np.cross(right, up) == pytest.approx(towards)
    flat = wire.project(np.array([camera.centre, camera.centre + 0.5 * right]), camera, 40, 10)
    assert flat[1] - flat[0] == pytest.approx([27.5, 0.0])


@pytest.mark.parametrize("solid", [wire.box((1, 2, 3)), wire.frustum(1, 0.5, 2), wire.sphere(1.5)])
def test_solids_are_closed_and_convex(solid):
    corners, faces = len(solid.corners), len(solid.normals)
    assert corners - len(solid.edges) + faces == 2, "Euler's formula"
    assert (solid.corners @ solid.normals.T <= solid.offsets + 1e-9).all()
    assert (solid.edges[:, 2] != solid.edges[:, 3]).all()


def test_lines_far_outside_are_cut_and_not_walked():
    canvas = braille.Canvas.blank(10, 5)
    braille.segments(canvas, np.array([[-1e12, 10.0, 1e12, 10.0], [np.nan, 0, 1, 1]]), 1)
    assert canvas.dots[10].all() and canvas.dots.sum() == 20
