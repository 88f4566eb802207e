"""A structure made a machine: dimensions that close, and drives that keep it regular.

The pairs are spread out by a spring model of the structure, so that bodies are
about as long as one another; a few random variations are compared, and the one
whose drives reach farthest without a singular posture is taken.  The machine is
written down as it stands assembled, so that every loop closes at once.

In the plane the pins that close the loops are made in-line joints (a pin in a
long hole along its own axis): with revolutes everywhere three reactions of
every loop could not be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import UsageError
from vbg.model import Model
from vbg.plumbing.one_thread import one_thread
from vbg.spatial import frame_of_axis
from vbg.structure.kinematics.kinematics import Motion, solve_whole
from vbg.structure.synthesis.chains import Chain
from vbg.structure.synthesis.generic import chords, equations, loop_signs, screws
from vbg.structure.topology.models import linkage_of
from vbg.structure.topology.pairs import PLANAR
from vbg.structure.topology.topology import Topology

Array = NDArray[np.float64]

LENGTH = 0.2  # mean distance of the pairs of a body [m]
LEAD = 0.01  # of screws [m/rad]
MOST = {"R": np.pi / 3.0, "P": 0.5 * LENGTH, "H": np.pi / 3.0}  # largest stroke of a drive
KINDS = {
    "R": "revolute",
    "P": "prismatic",
    "H": "helical",
    "C": "cylindrical",
    "U": "universal",
    "S": "spherical",
    "PL": "planar",
    "SC": "point_on_line",
    "SP": "point_on_plane",
    "SPSP": "distance",
}
_TRIALS, _STARTS = 24, 4


@dataclass(frozen=True, slots=True)
class _Layout:
    """points : (P, 3) of the pairs in world [m]; R : (P, 3, 3), z along the axis of each."""

    points: Array
    R: Array


@one_thread()
def machine(topology: Topology, *, seed: int = 0, name: str = "synthesised") -> Model:
    """A machine with the structure of `topology`, at rest but for its drives.

    Bodies are steel rods of 12 mm between their pairs.  Each driven pair swings
    as a sine of 1 Hz by parameter `stroke`, seven tenths of what it can reach
    both ways.  Raises `UsageError` where a pair cannot be driven.
    """
    _require(topology)
    chain = Chain(len(topology.bodies), tuple(_ends(topology)))
    rng = np.random.default_rng(seed)
    layouts = [_layout(topology, chain, rng) for _ in range(_TRIALS)]
    layouts.sort(key=lambda layout: -_regularity(topology, chain, layout))
    found = [(_stroke(topology, chain, layout), layout) for layout in layouts[:_STARTS]]
    stroke, layout = max(found, key=lambda pair: pair[0])
    return Model(**_document(topology, chain, layout, 0.7 * stroke, name))


def _ends(topology: Topology) -> list[tuple[int, int]]:
    return [(min(pair.ends), max(pair.ends)) for pair in topology.pairs]


def _require(topology: Topology) -> None:
    wrong = [pair for pair in topology.pairs if pair.code not in KINDS or len(pair.ends) != 2]
    driven = [pair for pair in topology.pairs if pair.driven and pair.code not in MOST]
    for pair in (*wrong, *driven):
        what = "is driven" if pair in driven else "has no part in a model file"
        raise UsageError(
            f"{pair.name} of kind {pair.code} {what}: machines are made of pairs "
            f"{', '.join(KINDS)}, driven at {', '.join(MOST)}."
        )


def _layout(topology: Topology, chain: Chain, rng: np.random.Generator) -> _Layout:
    """The pairs spread out by springs between those of a body, then moved a little."""
    import networkx

    plane = topology.dimension == PLANAR
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(chain.pairs)))
    for body in range(chain.bodies):
        own = [n for n, ends in enumerate(chain.pairs) if body in ends]
        graph.add_edges_from((a, b) for i, a in enumerate(own) for b in own[:i])
    across = 2 if plane else 3
    start = {n: rng.normal(size=across) for n in graph}
    spread = networkx.kamada_kawai_layout(graph, pos=start, dim=across)
    points = np.zeros((len(chain.pairs), 3))
    points[:, :across] = np.array([spread[n] for n in sorted(graph)])
    mean = np.mean([np.linalg.norm(points[a] - points[b]) for a, b in graph.edges])
    points[:, :across] += rng.normal(scale=0.2 * mean, size=(len(points), across))
    points = np.round(points * LENGTH / mean, 3)
    angles = np.deg2rad(5.0 * rng.integers(0, 36, size=len(points)))
    axes = np.round(rng.normal(size=(len(points), 3)), 1) + np.array([0.0, 0.0, 0.05])
    if plane:
        axes = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        for n, pair in enumerate(topology.pairs):
            if pair.code == "P":
                axes[n] = [np.cos(angles[n]), np.sin(angles[n]), 0.0]
    R = np.array([frame_of_axis(axis / np.linalg.norm(axis)) for axis in axes])
    return _Layout(points, R)


def _regularity(topology: Topology, chain: Chain, layout: _Layout) -> float:
    """The smallest singular value of the loop equations with the drives held, length 1."""
    scaled = layout.points / LENGTH
    columns = []
    for n, pair in enumerate(topology.pairs):
        R = layout.R[n]
        if topology.dimension == PLANAR:
            R = np.column_stack([R[:, 2], np.zeros(3), np.zeros(3)])  # a slide goes along x
        column = screws(topology.dimension, pair.code, scaled[n], R)
        columns.append(column[:, :0] if pair.driven else column)
    sizes = np.linalg.svd(equations(loop_signs(chain), columns), compute_uv=False)
    return float(sizes[-1]) if len(sizes) else 1.0


def _stroke(topology: Topology, chain: Chain, layout: _Layout) -> float:
    """How far all drives go to both sides as a share of `MOST` before the machine jams."""
    if not any(pair.driven for pair in topology.pairs):
        return 1.0
    held = tuple(  # what the spin of a rod between two balls is does not matter
        replace(pair, code="U", grade=2, dropped=0) if pair.dropped < 0 else pair
        for pair in topology.pairs
    )
    trial = replace(topology, pairs=held)
    linkage = linkage_of(Model(**_document(trial, chain, layout, 1.0, "trial")))
    most = np.array([MOST[pair.code] for pair in topology.pairs if pair.driven])
    times = np.linspace(0.0, 1.0, 161)

    def reach(sign: float) -> float:
        def drives(t: float) -> tuple[Array, Array, Array]:
            return sign * t * most, sign * most, 0.0 * most

        return _regular_until(solve_whole(linkage, times.tolist(), drives))

    return max(min(reach(1.0), reach(-1.0)), float(times[1]))


def _regular_until(motion: Motion) -> float:
    """When a body first runs ten times as fast as any did at first, or leaps to another branch."""
    if len(motion.time) < 2:
        return 0.0
    velocity = motion.V_WB_W[:, :, 3:]
    speed = np.linalg.norm(velocity, axis=2).max(axis=1)
    step = np.diff(motion.time)[:, None, None]
    off = np.diff(motion.p_WB, axis=0) - 0.5 * step * (velocity[1:] + velocity[:-1])
    leaps = np.linalg.norm(off, axis=2).max(axis=1) > 0.05 * LENGTH
    odd = np.flatnonzero(leaps | (speed[1:] > 10.0 * speed[0]))
    return float(motion.time[odd[0]] if len(odd) else motion.time[-1])


def _joint(number: int) -> str:
    return f"J{number + 1}"


def _body(topology: Topology, number: int) -> str:
    return "ground" if number == 0 else f"B{topology.bodies[number]}"


def _document(
    topology: Topology, chain: Chain, layout: _Layout, stroke: float, name: str
) -> dict[str, Any]:
    """The model file as plain data, `stroke` as a share of `MOST`."""
    plane = topology.dimension == PLANAR
    sliding = [n for n, pair in enumerate(topology.pairs) if pair.code == "P" or pair.driven]
    closing = set(chords(chain, sliding)) if plane else set()
    centres: list[Array] = [
        np.round(layout.points[_of_body(chain, b)].mean(axis=0), 3) for b in range(chain.bodies)
    ]
    centres[0] = np.zeros(3)
    bodies = {
        _body(topology, b): _rods(topology, chain, layout, centres[b], b)
        for b in range(1, chain.bodies)
    }
    joints = {}
    for n, pair in enumerate(topology.pairs):
        kind = "point_on_line" if n in closing else KINDS[pair.code]
        joints[_joint(n)] = _joint_table(topology, chain, layout, n, kind, pair.driven)
    strokes = {
        f"stroke{n + 1}": _stroke_entry(pair.code, stroke)
        for n, pair in enumerate(topology.pairs)
        if pair.driven
    }
    return {
        "vbg": 1,
        "name": name,
        "description": _described(topology),
        "gravity": [0.0, -9.81, 0.0] if plane else [0.0, 0.0, -9.81],
        **({"parameters": strokes} if strokes else {}),
        "bodies": bodies,
        "joints": joints,
        "simulate": {"t_end": 1.0, "output_step": 0.002},
    }


def _described(topology: Topology) -> str:
    """Its pairs in one line, as 'R 1-2 driven, S 2-3, ...'; body 1 is the ground."""
    return ", ".join(
        f"{pair.code} {'-'.join(topology.bodies[body] for body in pair.ends)}"
        f"{' driven' if pair.driven else ''}"
        for pair in topology.pairs
    )


def _stroke_entry(code: str, share: float) -> dict[str, Any]:
    note = "stroke of the drive to both sides"
    if code == "P":
        return {"value": round(1000.0 * share * MOST[code], 1), "unit": "mm", "note": note}
    return {"value": round(float(np.rad2deg(share * MOST[code])), 1), "unit": "deg", "note": note}


def _of_body(chain: Chain, body: int) -> list[int]:
    return [n for n, ends in enumerate(chain.pairs) if body in ends]


def _rods(
    topology: Topology, chain: Chain, layout: _Layout, centre: Array, body: int
) -> dict[str, Any]:
    """A body: a rod between two pairs, or one from the middle to each of more."""
    own = _of_body(chain, body)
    at = {n: _far(topology, chain, layout, n, body) - centre for n in own}
    spokes = [(at[own[0]], at[own[1]])] if len(own) == 2 else [(0 * at[n], at[n]) for n in own]
    shape = [_rod(first, second) for first, second in spokes]
    points = {_joint(n): _plain(point) for n, point in at.items()}
    return {"shape": shape if len(shape) > 1 else shape[0], "points": points}


def _rod(first: Array, second: Array) -> dict[str, Any]:
    along = second - first
    length = max(float(np.linalg.norm(along)), 1e-3)
    cylinder = {"radius": 0.006, "length": round(length, 6), "axis": _plain(along)}
    if not np.any(along):
        cylinder["axis"] = [1.0, 0.0, 0.0]
    return {
        "cylinder": cylinder,
        "density": 7850.0,
        "position": _plain(0.5 * (first + second)),
    }


def _far(topology: Topology, chain: Chain, layout: _Layout, n: int, body: int) -> Array:
    """Where pair `n` is attached to `body`: a distance has its second end off the first."""
    point = layout.points[n]
    if topology.pairs[n].code == "SPSP" and body == chain.pairs[n][1]:
        return np.asarray(point + 0.5 * LENGTH * layout.R[n][:, 2])
    return np.asarray(point)


def _joint_table(
    topology: Topology, chain: Chain, layout: _Layout, n: int, kind: str, driven: int
) -> dict[str, Any]:
    first, second = chain.pairs[n]

    def end(body: int) -> Any:
        if body == 0:
            return {"body": "ground", "at": _plain(layout.points[n])}
        return f"{_body(topology, body)}.{_joint(n)}"

    table: dict[str, Any] = {"kind": kind, "between": [end(first), end(second)]}
    if kind not in ("spherical", "distance"):
        table["axis"] = _plain(layout.R[n][:, 2])
    if kind == "universal":
        table["axis2"] = _plain(layout.R[n][:, 0])
    if kind == "helical":
        table["lead"] = LEAD
    if driven:
        table["drive"] = f"stroke{n + 1}*sin(2*pi*t)"
    return table


def _plain(vector: Sequence[float] | Array) -> list[float]:
    return [round(float(x), 9) + 0.0 for x in vector]
