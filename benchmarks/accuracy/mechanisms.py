"""Random mechanisms against a dense oracle.

``python -m benchmarks.accuracy.mechanisms [COUNT] [SEED] [--corner | --scattered]``

Trees, spatial and planar loops, redundant and rigid ones, light links, postures near a singular
one.  Each is assembled by vbg, and its accelerations and joint forces at the start are compared
with those of `benchmarks.accuracy.oracle` at the very state vbg starts from.  Printed are all whose
error exceeds max(1e-9, 1e-16 condition^2) and all that vbg refuses though they can move.
`--corner`: those only that lie nearest to a singular posture and have the lightest links, by the
first power of their condition.  `--scattered`: trees of bodies between 1e-12 and 1e9 kg, which may
err by 1e-9.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import vbg
from benchmarks import asked
from benchmarks.accuracy.oracle import (
    Body,
    Joint,
    Mechanism,
    Truth,
    across,
    exact,
    rows_of,
    truth,
)
from vbg.errors import AssemblyError
from vbg.spatial import quaternion_from_matrix, rotation_matrix

Array = np.ndarray

AXIAL = ("revolute", "prismatic", "cylindrical", "helical", "planar", "point_on_line")
KINDS = (*AXIAL, "universal", "spherical", "point_on_plane", "distance", "fixed")
ROWS = {"revolute": 5, "prismatic": 5, "cylindrical": 4, "helical": 5, "universal": 4}
LEAST = 1e-9  # error that is always allowed
ROUNDING = 1e-16  # times the square of the condition of the independent rows
AWAY = (-4.0, -1.0)  # powers of ten: angle from a singular posture [rad]
PARTS = (-8.0, -1.0)  # the same: a light body, of what it would be
GROUND = -1


# -- making them ----------------------------------------------------------------------


def unit(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_rotation(rng: np.random.Generator) -> Array:
    q = rng.normal(size=4)
    return rotation_matrix(q / np.linalg.norm(q))


def random_body(rng: np.random.Generator, p: Array, size: float = 0.2) -> Body:
    """A body of a random cloud of points, at rest."""
    mass = 10.0 ** rng.uniform(-0.5, 0.5)
    cloud = rng.normal(scale=size, size=(8, 3))
    cloud -= cloud.mean(axis=0)
    inertia = mass / 8 * (np.sum(cloud**2) * np.eye(3) - cloud.T @ cloud)
    return Body(mass, inertia, p, random_rotation(rng), np.zeros(3), np.zeros(3))


def joined(
    rng: np.random.Generator, bodies: list[Body], kind: str, first: int, second: int,
    place: Array, axis: Array,
) -> Joint:  # fmt: skip
    """A joint of `kind` at `place` about `axis` (world) as the bodies stand."""
    slid = np.zeros(3)
    if kind in ("cylindrical", "prismatic", "point_on_line"):
        slid = rng.uniform(-0.3, 0.3) * axis
    elif kind in ("planar", "point_on_plane"):
        slid = rng.uniform(0.1, 0.4) * across(axis)[0]
    elif kind == "distance":
        slid = rng.uniform(0.2, 0.6) * unit(rng)
    p_a, R_a = _pose(bodies, first)
    p_b, R_b = _pose(bodies, second)
    square = np.cross(axis, unit(rng))
    return Joint(
        kind, first, second, R_a.T @ (place - slid - p_a), R_b.T @ (place - p_b),
        R_a.T @ axis, R_b.T @ (square / np.linalg.norm(square)),
        lead=rng.uniform(0.05, 0.2) if kind == "helical" else 0.0,
    )  # fmt: skip


def _pose(bodies: list[Body], i: int) -> tuple[Array, Array]:
    return (np.zeros(3), np.eye(3)) if i == GROUND else (bodies[i].p, bodies[i].R)


def tree(rng: np.random.Generator, n: int, kinds: tuple[str, ...] = KINDS) -> Mechanism:
    bodies = [random_body(rng, rng.uniform(-1.0, 1.0, 3)) for _ in range(n)]
    joints = []
    for k in range(n):
        before = int(rng.integers(-1, k))
        kind = kinds[int(rng.integers(len(kinds)))]
        place = bodies[k].p + rng.uniform(-0.5, 0.5, 3)
        joints.append(joined(rng, bodies, kind, before, k, place, unit(rng)))
    return Mechanism("tree", rng.uniform(-10, 10, 3), bodies, joints)


def spatial(rng: np.random.Generator, n: int) -> Mechanism:
    """A tree whose bodies are joined once more at random: determinate, rigid or redundant."""
    made = tree(rng, n)
    bodies, joints = list(made.bodies), list(made.joints)
    for _ in range(int(rng.integers(1, 2 + n // 3))):
        first, second = (int(i) for i in rng.choice(np.arange(-1, n), 2, replace=False))
        kind = KINDS[int(rng.integers(len(KINDS)))]
        place = rng.uniform(-1.0, 1.0, 3)
        joints.append(joined(rng, bodies, kind, first, second, place, unit(rng)))
    return replace(made, name="spatial", joints=joints)


def doubled(rng: np.random.Generator, n: int) -> Mechanism:
    """A tree with every second hinge, slide or weld made twice: redundant, and moving."""
    made = tree(rng, n, ("revolute", "prismatic", "cylindrical", "fixed", "spherical"))
    bodies, joints = list(made.bodies), list(made.joints)
    for j in made.joints[::2]:
        R = _pose(bodies, j.first)[1]
        axis = R @ j.axis
        p_b, R_b = _pose(bodies, j.second)
        along = axis if j.kind in ("revolute", "cylindrical") else unit(rng)
        if j.kind == "spherical":
            continue
        place = p_b + R_b @ j.at_second + rng.uniform(0.2, 0.6) * along
        joints.append(joined(rng, bodies, j.kind, j.first, j.second, place, axis))
    return replace(made, name="doubled", joints=joints)


def polygon(
    rng: np.random.Generator, corners: Array, turned: Array, origin: Array, kinds: tuple[str, ...]
) -> Mechanism:
    """A closed chain of links in a plane, its hinges' axes square to it."""
    axis = turned @ np.array([0.0, 1.0, 0.0])
    places = np.array([[x, 0.0, z] for x, z in corners]) @ turned.T + origin
    bodies = []
    for a, b in pairwise(places):
        middle = 0.5 * (a + b) + 0.05 * rng.normal(size=3)
        bodies.append(random_body(rng, middle, 0.3 * float(np.linalg.norm(b - a))))
    last = len(places) - 1
    joints = [
        joined(rng, bodies, kinds[i % len(kinds)], i - 1, i if i < last else GROUND, place, axis)
        for i, place in enumerate(places)
    ]
    return Mechanism("polygon", turned @ np.array([0.7, 1.3, -9.8]), bodies, joints)


def planar(rng: np.random.Generator, n: int) -> Mechanism:
    """A loop of hinges in a tilted plane: three rows too many."""
    angle = np.linspace(np.pi, 0.0, n + 1) + rng.uniform(-0.12, 0.12, n + 1)
    corners = (1.0 + rng.uniform(-0.3, 0.3, (n + 1, 1))) * np.c_[np.cos(angle), np.sin(angle)]
    made = polygon(rng, corners, random_rotation(rng), rng.uniform(-1, 1, 3), ("revolute",))
    return replace(made, name="planar")


def windows(rng: np.random.Generator, n: int) -> Mechanism:
    """Parallelograms in a row in a tilted plane: (n + 1) verticals, n couplers, one freedom."""
    turned, origin = random_rotation(rng), rng.uniform(-1, 1, 3)
    axis = turned @ np.array([0.0, 1.0, 0.0])
    tilt = rng.uniform(0.2, 1.2)
    up = turned @ np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    feet = [origin + k * rng.uniform(0.99, 1.0) * (turned @ [1.0, 0.0, 0.0]) for k in range(n + 1)]
    bodies = [random_body(rng, foot + 0.5 * up) for foot in feet]
    bodies += [random_body(rng, 0.5 * (a + b) + up) for a, b in pairwise(feet)]
    joints = [joined(rng, bodies, "revolute", GROUND, k, foot, axis) for k, foot in enumerate(feet)]
    for k in range(n):
        for upright in (k, k + 1):
            place = feet[upright] + up
            joints.append(joined(rng, bodies, "revolute", upright, n + 1 + k, place, axis))
    return Mechanism("windows", turned @ np.array([2.0, 0.5, -9.0]), bodies, joints)


def bennett(rng: np.random.Generator, _: int) -> Mechanism:
    """Four hinges on twisted links, a sin b' = a' sin b: mobile though it ought not."""
    a, twist, other = 0.5, rng.uniform(0.5, 0.9), rng.uniform(1.0, 1.4)
    b = a * np.sin(other) / np.sin(twist)
    theta = rng.uniform(0.7, 2.2)
    k = np.sin(0.5 * (other + twist)) / np.sin(0.5 * (other - twist))
    phi = 2.0 * np.arctan2(k, np.tan(0.5 * theta))
    frames = [(np.zeros(3), np.eye(3))]
    for turn, length, angle in ((theta, a, twist), (phi, b, other), (-theta, a, twist)):
        p, R = frames[-1]
        R = R @ _about(2, turn)
        p = p + length * R[:, 0]
        frames.append((p, R @ _about(0, angle)))
    turned = random_rotation(rng)
    places, axes = [turned @ p for p, _ in frames], [turned @ R[:, 2] for _, R in frames]
    bodies = [random_body(rng, 0.5 * (p + q)) for p, q in pairwise(places)]
    joints = [
        joined(rng, bodies, "revolute", i - 1, i if i < 3 else GROUND, place, axis)
        for i, (place, axis) in enumerate(zip(places, axes, strict=True))
    ]
    return Mechanism("bennett", rng.uniform(-9, 9, 3), bodies, joints)


def _about(axis: int, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def near_dead_centre(
    rng: np.random.Generator, _: int, away_by: tuple[float, float] = AWAY
) -> Mechanism:
    """A four-bar driven at its rocker, crank and coupler 1e-1 to 1e-4 rad from one line."""
    away = 10.0 ** rng.uniform(*away_by) * rng.choice([-1, 1])
    start, crank, coupler = rng.uniform(0.6, 1.2), rng.uniform(0.3, 0.6), rng.uniform(0.9, 1.4)
    B = crank * np.array([np.cos(start), np.sin(start)])
    C = B + coupler * np.array([np.cos(start + away), np.sin(start + away)])
    D = C + rng.uniform(0.7, 1.1) * np.array([np.cos(-0.6), np.sin(-0.6)])
    kinds = ("revolute",) if rng.uniform() < 0.7 else ("revolute", "spherical", "cylindrical")
    corners = np.array([np.zeros(2), B, C, D])
    made = polygon(rng, corners, random_rotation(rng), rng.uniform(-1, 1, 3), kinds)
    joints = list(made.joints)
    place = 0 if rng.uniform() < 0.3 else 3
    if joints[place].kind == "revolute":
        joints[place] = replace(joints[place], drive=(rng.uniform(-1, 1) * abs(away), 0.2))
    return replace(made, name="near dead centre", joints=joints)


def near_flat(rng: np.random.Generator, _: int, away_by: tuple[float, float] = AWAY) -> Mechanism:
    """A parallelogram 1e-1 to 1e-4 rad from flat."""
    angle = 10.0 ** rng.uniform(*away_by)
    length, width = rng.uniform(0.3, 0.8), rng.uniform(0.9, 1.4)
    up = length * np.array([np.cos(angle), np.sin(angle)])
    base = np.array([width, 0.0])
    kinds = ("revolute",) if rng.uniform() < 0.6 else ("revolute", "universal", "spherical")
    corners = np.array([np.zeros(2), up, up + base, base])
    made = polygon(rng, corners, random_rotation(rng), rng.uniform(-1, 1, 3), kinds)
    return replace(made, name="near flat")


FAMILIES = (
    tree, spatial, spatial, doubled, planar, planar, windows, bennett, near_dead_centre, near_flat,
)  # fmt: skip


def random_mechanism(seed: int, largest: int = 15) -> Mechanism:
    """One of the families, some of its bodies light; moving where it can."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[int(rng.integers(len(FAMILIES)))]
    n = int(np.clip(rng.geometric(0.2) + 2, 3, largest))
    if family is windows:
        n = max(1, min(n, largest) // 2)
    made = family(rng, n)
    if rng.uniform() < 0.4:
        made = lightened(rng, made)
    return moving(rng, replace(made, name=f"{made.name} {seed}"))


def corner(seed: int) -> Mechanism:
    """Some 1e-4 rad beside a singular posture, with links of 1e-8 to 1e-6 of their mass: conditions
    up to 2e8, of whose square sixteen digits leave nothing."""
    rng = np.random.default_rng(seed)
    family = near_flat if seed % 2 else near_dead_centre
    made = lightened(rng, family(rng, 3, (-4.0, -3.0)), (-8.0, -6.0))
    return moving(rng, replace(made, name=f"{made.name} {seed}"))


def scattered(seed: int, powers: tuple[float, float] = (-12.0, 9.0)) -> Mechanism:
    """A tree of two to five bodies of 10^`powers` of their mass and inertia."""
    rng = np.random.default_rng(seed)
    made = tree(rng, int(rng.integers(2, 6)))
    bodies = []
    for body in made.bodies:
        part = 10.0 ** rng.uniform(*powers)
        bodies.append(replace(body, mass=part * body.mass, inertia=part * body.inertia))
    return moving(rng, replace(made, bodies=bodies, name=f"scattered {seed}"))


def lightened(
    rng: np.random.Generator, made: Mechanism, parts: tuple[float, float] = PARTS
) -> Mechanism:
    """Some bodies, not all, with 1e-1 to 1e-8 of their mass and inertia."""
    bodies = list(made.bodies)
    for k in range(1, len(bodies)):
        if rng.uniform() < 0.4:
            part = 10.0 ** rng.uniform(*parts)
            body = bodies[k]
            bodies[k] = replace(body, mass=part * body.mass, inertia=part * body.inertia)
    return replace(made, bodies=bodies)


def moving(rng: np.random.Generator, made: Mechanism) -> Mechanism:
    """With velocities that its joints allow, and its drives ask for."""
    p = np.array([b.p for b in made.bodies] + [np.zeros(3)])
    R = np.array([b.R for b in made.bodies] + [np.eye(3)])
    J = rows_of(made.joints, p, R)
    wanted = np.zeros(len(J))
    at = 0
    for j in made.joints:
        at += len(rows_of([j], p, R))
        if j.drive is not None:
            wanted[at - 1] = j.drive[0]
    U, S, Vt = np.linalg.svd(J)
    rank = int(np.count_nonzero(1e-9 * S[0] < S))
    velocity = Vt[:rank].T @ ((U[:, :rank].T @ wanted) / S[:rank])
    free = Vt[rank:].T @ (Vt[rank:] @ rng.normal(size=J.shape[1]))
    velocity += free / max(1.0, float(np.abs(free).max(initial=0.0)))
    bodies = [
        replace(b, v=v[:3], w=b.R.T @ v[3:])
        for b, v in zip(made.bodies, velocity.reshape(-1, 6), strict=True)
    ]
    return replace(made, bodies=bodies)


# -- as vbg reads them ----------------------------------------------------------------


def model_of(made: Mechanism, release: Mapping[int, str] | None = None) -> vbg.Model:
    """`release`: when joints open, by their numbers."""
    bodies: dict[str, Any] = {}
    for k, b in enumerate(made.bodies):
        names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}
        bodies[f"b{k}"] = {
            "mass": b.mass,
            "inertia": {name: b.inertia[place] for name, place in names.items()},
            "position": list(b.p),
            "rotation": {"quaternion": list(quaternion_from_matrix(b.R))},
            "velocity": list(b.v),
            "angular_velocity": list(b.w),
        }
    joints: dict[str, Any] = {}
    for k, j in enumerate(made.joints):
        joints[f"j{k}"] = _entry(made, j)
        if release and k in release:
            joints[f"j{k}"]["release"] = release[k]
    return vbg.Model(name=made.name, gravity=list(made.gravity), bodies=bodies, joints=joints)


def _entry(made: Mechanism, j: Joint) -> dict[str, Any]:
    def end(body: int, at: Array) -> dict[str, Any]:
        return {"body": "ground" if body == GROUND else f"b{body}", "at": list(at)}

    entry: dict[str, Any] = {"kind": j.kind}
    entry["between"] = [end(j.first, j.at_first), end(j.second, j.at_second)]
    if j.kind not in ("spherical", "distance", "fixed"):
        entry["axis"] = list(j.axis)
    if j.kind in ("revolute", "prismatic", "cylindrical", "planar"):
        R_a, R_b = _pose(list(made.bodies), j.first)[1], _pose(list(made.bodies), j.second)[1]
        if j.kind == "revolute":
            entry["axis_on_second"] = list(R_b.T @ R_a @ j.axis)
    if j.kind == "universal":
        entry["axis2"] = list(j.axis2)
    if j.kind == "helical":
        entry["lead"] = j.lead
    if j.drive is not None:
        speed, half = (float(value) for value in j.drive)
        entry["drive"] = f"({speed!r})*t + ({half!r})*t^2"
    return entry


def at_state(made: Mechanism, system: vbg.System, x: Array) -> Mechanism:
    """The mechanism where vbg starts it."""
    state = {s.state.name: x[s.first : s.last] for s in system.slices}
    bodies = []
    for k, b in enumerate(made.bodies):
        R = rotation_matrix(state[f"b{k}.quaternion"])
        w = np.linalg.solve(b.inertia, state[f"b{k}.angular_momentum"])
        v = state[f"b{k}.momentum"] / b.mass
        bodies.append(replace(b, p=state[f"b{k}.position"], R=R, v=v, w=w))
    return replace(made, bodies=bodies)


# -- comparison -----------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """`error` of the accelerations, `of_forces` that of the joint forces' balance, both
    relative to the largest; `refused`: vbg's words."""

    name: str
    error: float
    of_forces: float
    allowed: float
    truth: Truth
    dependent: int = -1
    refused: str = ""

    @property
    def passed(self) -> bool:
        return not self.refused and max(self.error, self.of_forces) <= self.allowed


def compared(
    made: Mechanism, truth_of: Callable[[Mechanism], Truth] = truth, power: int = 2
) -> Verdict:
    """`power`: of the condition, with which the error may grow."""
    try:
        start = vbg.start(model_of(made))
    except AssemblyError as error:
        return Verdict(made.name, np.inf, np.inf, 0.0, truth_of(made), refused=str(error))
    system, x = start.system, start.state
    here = at_state(made, system, x)
    right = truth_of(here)
    rate = dict(zip(system.state_names, start.rate(0.0, x), strict=True))
    found = []
    for k, b in enumerate(here.bodies):
        a = [rate[f"b{k}.momentum.{i}"] / b.mass for i in "xyz"]
        turning = [rate[f"b{k}.angular_momentum.{i}"] for i in "xyz"]
        found += [*a, *(b.R @ np.linalg.solve(b.inertia, turning))]
    error = float(np.abs(found - right.acceleration).max()) / right.largest
    loads = joint_loads(here, start.outputs(0.0, x))
    scale = max(float(np.abs(right.loads).max()), 1e-12)
    of_forces = float(np.abs(loads - right.loads).max()) / scale
    allowed = max(LEAST, ROUNDING * right.condition**power)
    return Verdict(made.name, error, of_forces, allowed, right, start.dependent)


def joint_loads(here: Mechanism, values: dict[str, Array]) -> Array:
    """Forces and torques about the mass centres that the reported joint forces make."""
    loads = np.zeros((len(here.bodies) + 1, 6))
    for k, j in enumerate(here.joints):
        force, torque = values[f"j{k}.force"], values[f"j{k}.torque"]
        p, R = _pose(list(here.bodies), j.second)
        where = p + R @ j.at_second
        for body, sign in ((j.first, -1.0), (j.second, 1.0)):
            arm = where - _pose(list(here.bodies), body)[0]
            loads[body] += sign * np.concatenate([force, torque + np.cross(arm, force)])
    return loads[:-1].ravel()


def wrongly_refused(verdict: Verdict) -> bool:
    """Whether the mechanism could have been assembled: it has a freedom or a drive, and its
    rows are no nearer to losing rank than 1e-6."""
    return bool(verdict.refused) and verdict.truth.freedoms > 0 and verdict.truth.last > 1e-6


def main(count: int, seed: int, judged: Callable[[int], Verdict]) -> int:
    worst, refused, failed, errors = 0.0, 0, 0, []
    for k in range(seed, seed + count):
        verdict = judged(k)
        if verdict.refused:
            refused += 1
            if wrongly_refused(verdict):
                failed += 1
                print(f"{verdict.name}: refused: {verdict.refused[:160]}", flush=True)
            continue
        errors.append(max(verdict.error, verdict.of_forces))
        worst = max(worst, errors[-1] / verdict.allowed)
        right = verdict.truth
        if not verdict.passed:
            failed += 1
            print(
                f"{verdict.name}: error {verdict.error:.1e}, of forces {verdict.of_forces:.1e}, "
                f"allowed {verdict.allowed:.1e}; condition {right.condition:.1e}, last kept "
                f"{right.last:.1e}, next {right.next:.1e}, dependent {verdict.dependent}",
                flush=True,
            )
    above = sum(not error <= LEAST for error in errors)
    print(f"{count} mechanisms: {failed} failed, {refused} refused (rightly or not); worst error "
          f"{worst:.2g} of what is allowed; {above} above {LEAST:.0e}, the largest "
          f"{max(errors, default=0.0):.1e}")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    words = asked.parser(__doc__)
    words.add_argument("count", nargs="?", type=int, default=1000)
    words.add_argument("seed", nargs="?", type=int, default=0, help="of the first one")
    kinds = words.add_mutually_exclusive_group()
    kinds.add_argument("--corner", action="store_true", help="the worst postures and light links")
    kinds.add_argument("--scattered", action="store_true", help="trees of masses of all sizes")
    given = words.parse_args()

    def judged(k: int) -> Verdict:
        if given.corner:
            return compared(corner(k), power=1)
        return compared(scattered(k), exact) if given.scattered else compared(random_mechanism(k))

    sys.exit(main(given.count, given.seed, judged))
