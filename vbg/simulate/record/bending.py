"""Flexible bodies beyond small deflections: what strains that are linear in them leave out.

A body of mass and stiffness matrices (`vbg.elements.flexible`) has no geometric stiffness: the
tension of a turning blade does not hold it straight, and what bends far shortens nowhere.  Nothing
in a run shows it, for energy and joints are those of the body as it is modelled, in both solvers.

Of a turn w about a point p that a joint holds, the places r of the mesh are pulled away from p by
w x (w x r); a beam of the length l that is clamped there, whose lowest frequency is c, has the
stiffness ratio

    |w x (w x r)| / (c^2 l)      (W^2 / c^2 of a blade: Southwell's share, but for a factor near 1),

and none if it turns about its own line, as a shaft does.  (R. Southwell, F. Gough, Aeronautical
Research Committee R & M 766, 1921.)  A force N that presses a point towards p at the distance d,
where the body yields by 1/k to the side, is beside that which buckles it

    N / (k d)      (of a clamped column N / (3 EI / l^2), Euler's force being 2.47 EI / l^2).

So it is of its own mass m on a side of p, whose weight and inertia m (a - g) press it where it is
accelerated along itself, with the 1/k by which that yields in mean (of a column that is clamped at
its end m a / (10 EI / l^2); what buckles under its weight has 7.84 EI / l^2: A. Greenhill,
Proceedings of the Cambridge Philosophical Society 4 (1881) 65).  What pulls stiffens as much; the
pull of a turn is the one above.

Such loads on one body act together.  With N_i the force along the line of the length d_i from p,
B_i the deflections across it by modal coordinates (2, n), and W the frequencies, they take from
the energy 1/2 q^T W^2 q as much as turns of these lines do, 1/2 sum N_i / d_i |B_i q|^2, so that
the share of the stiffness that is lost or won is at most the eigenvalue of

    W^-1 (sum N_i / d_i B_i^T B_i) W^-1

that is largest by its size.  One load has N / (k d); of a tip's load N and the weight m g of a
column it is N / (3 EI / l^2) + m g / (10 EI / l^2) but for 2 % (S. Dunkerley, Philosophical
Transactions of the Royal Society A 185 (1894) 279); what presses one limb and pulls another does
not cancel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.errors import Problem
from vbg.fields import attachments
from vbg.model import Model
from vbg.physics.craig_bampton import Modes
from vbg.spatial import skew

Array = NDArray[np.float64]

TURN = 0.1  # of the lowest frequency: Southwell's share is a hundredth of the stiffness
PRESS = 0.1  # of the force that buckles: as much of what holds the body straight is lost or won
FAR = 0.1  # of the length: slopes whose squares are a hundredth
ROWS = 200  # whose deflections are looked at at once
REMEDY = (
    "In the place of this body: [beams], which stiffen, shorten and buckle, or several flexible "
    "bodies one behind the other."
)


def beyond_linear(model: Model, time: Array, signals: Mapping[str, Array]) -> Iterator[Problem]:
    """A warning for each flexible body that turns or bends further than its matrices hold."""
    for name, body in model.bodies.items():
        if body.flexible is None or not body.flexible.modes.count:
            continue
        points = _held(model, name)
        modes = body.flexible.modes
        bent = signals.get(f"{name}.modal")
        yield from _turning(name, modes, points, time, signals)
        yield from _loaded(name, modes, points, np.asarray(model.gravity), time, signals)
        if bent is not None:
            yield from _bending(name, modes, points, time, np.reshape(bent, (len(time), -1)))


def _held(model: Model, name: str) -> tuple[str, ...]:
    """The points of a flexible body that joints hold, bushings or elements of beams; of one that
    has none, those between which and another body any force acts, and its mass centre."""
    forces = model.forces.values()
    firm = [*model.joints.values(), *(part for part in forces if _firm(part))]
    return _on(model, name, firm) or (*_on(model, name, forces), "")


def _firm(part: Any) -> bool:
    """Whether a force holds a point to all sides."""
    return part.kind == "beam_element" or (part.kind == "bushing" and bool(np.any(part.stiffness)))


def _on(model: Model, name: str, parts: Iterable[Any]) -> tuple[str, ...]:
    """The points of a flexible body that stand by these parts on another one."""
    pairs = ([end.body for end in attachments(part)] for part in parts)
    bodies = {body for pair in pairs if len(pair) > 1 for body in pair}
    return tuple(p for p in model.bodies[name].flexible.modes.interfaces if f"{name}_{p}" in bodies)


def _seen_from(modes: Modes, point: str) -> tuple[Array, Array, float]:
    """Of a body that is held at a point (a free one at its mass centre): places of the mesh from
    there (k, 3) [m], their displacements by modal coordinates (k, 3, n), and its lowest
    frequency [rad/s]."""
    mesh, n = modes.elements, modes.count
    moved = modes.shapes.reshape(len(mesh.X), mesh.per_node, n)[:, :3]
    if not point:
        return mesh.X, moved, float(modes.frequencies[0])
    place, S = modes.interfaces[point]
    arms = mesh.X - place
    # the frame moves by u and turns by a so that the point rests:  u + a x place + S_t q = 0
    a = -S[3:]
    u = skew(place) @ a - S[:3]
    xx, yy, zz, xy, yz, zx = modes.inertia
    J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
    M = np.eye(n) + modes.mass * u.T @ u + a.T @ J @ a
    # K = W^2 and M = L L^T: the frequencies are the singular values of L^-1 W
    rates = np.linalg.solve(np.linalg.cholesky(M), np.diag(modes.frequencies))
    back = u + np.array([skew(r).T @ a for r in mesh.X])
    return arms, moved + back, float(np.linalg.svd(rates, compute_uv=False)[-1])


def _turning(
    name: str,
    modes: Modes,
    points: Sequence[str],
    time: Array,
    signals: Mapping[str, Array],
) -> Iterator[Problem]:
    """Turns whose pull along the body is not small beside what bends it; the point that tells
    most is named.  A point's turn is that of the body there, without its bending elsewhere."""
    worst, where, lowest, fastest = np.zeros(len(time)), "", 0.0, 0.0
    for point in points:
        turning = signals.get(
            f"{name}_{point}.angular_velocity" if point else f"{name}.angular_velocity"
        )
        if turning is None:
            continue
        arms, _, frequency = _seen_from(modes, point)
        length = float(np.linalg.norm(arms, axis=1).max())
        # |w x (w x r)| is |w| |w x r|
        across = np.max(
            [np.linalg.norm(np.cross(turning, arm), axis=1) for arm in _hull(arms)], axis=0
        )
        share = np.linalg.norm(turning, axis=1) * across / (frequency**2 * length)
        if np.nanmax(share, initial=0.0) > np.nanmax(worst, initial=0.0):
            worst, where, lowest = share, point, frequency
            fastest = float(np.nanmax(np.linalg.norm(turning, axis=1)))
    over = worst > TURN**2
    if over.any():
        at = float(time[int(np.argmax(over))])
        held = f"with its point {where} held" if where else "with nothing that holds it"
        yield Problem(
            "warning",
            f"bodies.{name}",
            f"turns at up to {fastest:.4g} rad/s, and first at t = {at:.4g} s faster than its "
            f"stiffness holds for: {held} its lowest frequency is {lowest:.4g} rad/s, and the "
            f"tension by which a turn stiffens a body, up to about {100 * np.nanmax(worst):.2g} % "
            "of its stiffness here, is not in the matrices.",
            REMEDY,
        )


def _hull(arms: Array) -> Array:
    """Places that are farther from the first axes than all others, and the farthest of all: a turn
    about any axis moves one of them about as fast as it moves any."""
    far = {int(np.argmax(np.linalg.norm(arms, axis=1)))}
    for d in np.vstack([np.eye(3), *([1, s, 0] for s in (1, -1)), [0, 1, 1], [1, 0, 1]]):
        far |= {int(np.argmax(arms @ d)), int(np.argmin(arms @ d))}
    return arms[sorted(far)]


@dataclass(frozen=True, slots=True)
class _Load:
    """What presses a body towards a point that is held: in words, its force [N] of each row, and
    the deflections across its line, by coordinates of the energy 1/2 |q|^2, over the root of the
    line's length, (2, n) [N^-1/2]: (B W^-1) / sqrt(d)."""

    what: str
    pressing: Array
    across: Array

    @property
    def buckles(self) -> float:
        """k d [N]."""
        return float(np.linalg.norm(self.across, 2)) ** -2


def _loaded(
    name: str,
    modes: Modes,
    points: Sequence[str],
    gravity: Array,
    time: Array,
    signals: Mapping[str, Array],
) -> Iterator[Problem]:
    """Forces that press the body together or pull at it, beside what buckles it: as they act
    together seen from the point that is held where they are most."""
    if f"{name}.rotation" not in signals or f"{name}.angular_velocity" not in signals:
        return
    worst, told = np.zeros(len(time)), ""
    for held in points:
        loads = (
            *_at_points(name, modes, held, signals),
            *_by_mass(name, modes, held, gravity, signals),
        )
        share = _share(loads, len(time))
        if np.abs(share).max(initial=0.0) > np.abs(worst).max(initial=0.0):
            worst, told = share, _told(loads, share)
    over = np.abs(worst) > PRESS
    if over.any():
        first, most = int(np.argmax(over)), int(np.argmax(np.abs(worst)))
        pulled = worst[most] < 0.0
        yield Problem(
            "warning",
            f"bodies.{name}",
            f"is {'pulled' if pulled else 'pressed'} {told}, first at t = {float(time[first]):.4g} "
            f"s by more than a tenth, and by up to {100.0 * abs(worst[most]):.3g} % at t = "
            f"{float(time[most]):.4g} s, of what buckles a body so stiff: its matrices do not know "
            f"that {'tension stiffens' if pulled else 'pressure softens'} it.",
            REMEDY,
        )


def _share(loads: Sequence[_Load], rows: int) -> Array:
    """The share of the stiffness that loads take (+) or give (-) in each row, the largest of each
    alone and of all together; zero where no sum is more than PRESS.  Alone, for the inertia that
    takes from a load as the body rings along itself gives as much half a period later."""
    share = np.zeros(rows)
    if not loads:
        return share
    forces = np.array([load.pressing for load in loads])
    # eigenvalues of a sum are no more than the sum of the eigenvalues
    alone = forces.T / np.array([load.buckles for load in loads])
    bound = np.abs(alone).sum(axis=1)
    asked = np.flatnonzero(np.isfinite(bound) & (bound > PRESS))
    # of V^T D V those of R D R^T, V^T = Q R:  no larger than there are loads or modes
    R = np.linalg.qr(np.vstack([load.across for load in loads]).T, mode="r")
    each = np.array([part @ part.T for part in np.split(R, len(loads), axis=1)])
    for at in range(0, len(asked), ROWS):
        some = asked[at : at + ROWS]
        values = np.linalg.eigvalsh(np.tensordot(forces[:, some].T, each, 1))
        every = np.hstack([values[:, [0, -1]], alone[some]])
        share[some] = every[np.arange(len(some)), np.argmax(np.abs(every), axis=1)]
    return share


def _told(loads: Sequence[_Load], share: Array) -> str:
    """In words, the loads that make the largest share, with what each would buckle at."""
    row = int(np.argmax(np.abs(share)))
    parts = [np.sign(share[row]) * load.pressing[row] / load.buckles for load in loads]
    return " and ".join(
        f"{load.what} by {abs(load.pressing[row]):.4g} N (it alone buckles at about "
        f"{load.buckles:.4g} N)"
        for load, part in zip(loads, parts, strict=True)
        if part > 0.1 * max(parts)
    )


def _at_points(name: str, modes: Modes, held: str, signals: Mapping[str, Array]) -> Iterator[_Load]:
    """What presses between a point that is held and each other one."""
    for end in modes.interfaces:
        force = signals.get(f"{name}_{end}.force")
        if force is None or end == held:
            continue
        along, across = _column(modes, held, end)
        if across.any():
            told = f"between its points {held} and {end}" if held else f"at its point {end}"
            # what the body exerts away from `held` presses it
            out = _turned(signals[f"{name}.rotation"], along)
            yield _Load(told, np.sum(force * out, axis=1), across)


def _by_mass(
    name: str, modes: Modes, held: str, gravity: Array, signals: Mapping[str, Array]
) -> Iterator[_Load]:
    """The same of the mass on either side of a point that is held, by m (a - g); less that of
    m w x (w x r), which is the turn's."""
    acceleration = signals.get(f"{name}.acceleration")
    if acceleration is None or not held:
        return
    distance = float(np.linalg.norm(modes.interfaces[held][0]))
    for mass, along, across in _sides(modes, held):
        out = _turned(signals[f"{name}.rotation"], along)
        pressing = mass * np.sum((acceleration - gravity) * out, axis=1)
        turn = np.cross(signals[f"{name}.angular_velocity"], along)
        own = np.maximum(np.abs(pressing) - mass * distance * np.sum(turn**2, axis=1), 0.0)
        yield _Load(f"by its own mass at its point {held}", np.copysign(own, pressing), across)


def _sides(modes: Modes, held: str) -> Iterator[tuple[float, Array, Array]]:
    """Of what lies on either side of a point: its mass [kg], the direction to its mass centre, and
    its mean deflections across this as `_Load` has them (1/k is that under a load that is spread
    as the mass is)."""
    mesh = modes.elements
    arms, moved, _ = _seen_from(modes, held)
    masses = (mesh.M @ mesh.rigid(np.zeros(3))[:, 0]).reshape(len(arms), -1)[:, 0]
    beyond = arms @ arms[int(np.argmax(np.linalg.norm(arms, axis=1)))]
    for side in (beyond > 0.0, beyond < 0.0):
        mass = float(masses[side].sum())
        if mass <= 0.0:
            continue
        centre, mean = (np.tensordot(masses[side], each[side], 1) / mass for each in (arms, moved))
        along, across = _across(centre, mean, modes)
        if across.any():
            yield mass, along, across


def _turned(quaternions: Array, v: Array) -> Array:
    """R v of each row (w, u): v + 2 w u x v + 2 u x (u x v)."""
    w, u = quaternions[:, :1], quaternions[:, 1:]
    across = np.cross(u, v)
    return v + 2.0 * (w * across + np.cross(u, across))


def _column(modes: Modes, held: str, end: str) -> tuple[Array, Array]:
    """The direction from one point to another, in the axes of the body, and how the body yields
    across it; nothing where the points coincide."""
    place, shapes = modes.interfaces[end]
    if held:
        at, S = modes.interfaces[held]
        shapes = shapes[:3] - S[:3] - np.cross(S[3:], place - at, axisa=0, axisc=0)
        place = place - at
    return _across(place, shapes[:3], modes)


def _across(arm: Array, shapes: Array, modes: Modes) -> tuple[Array, Array]:
    """The direction of an arm, and the deflections of its end, which modal coordinates move by
    `shapes`, across it as `_Load` has them."""
    distance = float(np.linalg.norm(arm))
    if distance == 0.0:
        return arm, np.zeros((2, modes.count))
    along = arm / distance
    aside = np.linalg.svd(along[None])[2][1:]  # two directions across the arm
    return along, aside @ shapes / modes.frequencies / np.sqrt(distance)


def _bending(
    name: str, modes: Modes, points: Sequence[str], time: Array, bent: Array
) -> Iterator[Problem]:
    """Deflections, seen from a point that is held, that are not small beside the length."""
    most, first, where, length = 0.0, np.inf, "", 0.0
    for point in points:
        arms, moved, _ = _seen_from(modes, point)
        size = float(np.linalg.norm(arms, axis=1).max())
        reach = float(np.linalg.norm(moved, 2, axis=(1, 2)).max())  # [m] of coordinates of norm 1
        if np.nanmax(np.linalg.norm(bent, axis=1), initial=0.0) * reach <= FAR * size:
            continue
        for a, b in pairwise([*range(0, len(time), ROWS), len(time)]):
            far = np.linalg.norm(np.einsum("kin,tn->tki", moved, bent[a:b]), axis=2).max(axis=1)
            over = far > FAR * size
            if over.any():
                first = min(first, float(time[a + int(np.argmax(over))]))
                if np.nanmax(far) > most:
                    most, where, length = float(np.nanmax(far)), point, size
    if most > 0.0:
        seen = f"seen from its point {where}" if where else "from its undeformed shape"
        yield Problem(
            "warning",
            f"bodies.{name}",
            f"bends by up to {most:.4g} m, {seen}, first at t = {first:.4g} s by more than a tenth "
            f"of its length of {length:.4g} m: its matrices hold for small deflections.",
            REMEDY,
        )
