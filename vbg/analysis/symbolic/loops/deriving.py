"""The minimal equations of a machine, derived along its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from vbg.analysis.symbolic.data import (
    frame_of,
    gravity_of,
    inertia_of,
    mass_of,
    number_of,
    of_unit_bodies,
)
from vbg.analysis.symbolic.loops.closures import DRIVE, Row, frames_of, rows_of
from vbg.analysis.symbolic.loops.equations import MinimalEquations
from vbg.analysis.symbolic.loops.inertias import Inertias, inertias_of
from vbg.analysis.symbolic.loops.kinematics import Kinematics, kinematics_of
from vbg.analysis.symbolic.loops.pivots import pivots
from vbg.analysis.symbolic.loops.rates import Arguments, arguments_of, second_rate
from vbg.analysis.symbolic.loops.tree import GROUND, Tree, cardan_angles, tree_of
from vbg.analysis.symbolic.loops.wrenches import Needs, wrenches_of
from vbg.analysis.symbolic.named import Named, named, unnamed
from vbg.analysis.symbolic.rewriting.algebra import Algebra
from vbg.analysis.symbolic.rewriting.clearing import cleared_balances
from vbg.analysis.symbolic.rewriting.sharing import replaced
from vbg.analysis.symbolic.rewriting.sums import MOST as MOST_PRODUCTS
from vbg.analysis.symbolic.rewriting.sums import Exhausted
from vbg.analysis.symbolic.rewriting.tidy import between_jumps, exact
from vbg.analysis.symbolic.size import require_length
from vbg.assemble.derive.equations import Constraint
from vbg.assemble.matrices.products import product
from vbg.assemble.matrices.symbolic import SymbolicReader, symbols_of
from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.blocks import Block, dependencies, leaf, rotation
from vbg.errors import UsageError, VbgError
from vbg.model.placing.placed import place
from vbg.plumbing.paused_collection import paused_collection
from vbg.spatial import rotation_matrix

RANK = 1e-8  # of the closures' Jacobian at the start
NOTHING = 1e-13  # a slope of a closure, m/rad or less, that is rounding
MOST = 40  # coordinates that are still written out


@paused_collection()
def minimal_equations(
    system: System,
    *,
    names: bool = True,
    independent: tuple[str, ...] = (),
    start: Start | None = None,
    forces: bool = True,
    masses: bool = False,
) -> MinimalEquations:
    """The equations of motion of `system` in minimal coordinates, also with closed loops.

    independent : coordinates to be taken as such (``A.angle``); by default those in which the
        closures are best conditioned at the start, angles of joints that are driven or stand on
        the ground before others.
    start : where programs begin; by default the machine as it is written, loops closed.
    forces : with the joint forces; without them `outputs` is empty.
    masses : masses and moments of inertia by symbols of their own, m_BODY and J_BODY_xx.

    Raises VbgError for machines that have none in symbols, UsageError for `independent` that
    the closures do not leave free.
    """
    model = system.model
    tree = tree_of(model)
    if not tree.motions:
        raise VbgError(
            f"{model.name} has no body that moves on a joint or freely, so no minimal coordinates: "
            "`vbg show equations` without --program, --forces and --masses tells its rates."
        )
    if len(tree.motions) > MOST:
        raise VbgError(
            f"{model.name} has {len(tree.motions)} coordinates in its tree; up to {MOST} are "
            "written in symbols. vbg export --c writes the program."
        )
    _require_smooth(system)
    require_length(system)
    numbers = unnamed(system, of_unit_bodies)
    if names:
        own = frozenset(motion.name for motion in tree.motions)
        further = partial(_besides, own=own)
        numbers = named(system, _needed(system), of_unit_bodies, further=further)
    begin = start or assemble_start(system)
    try:
        inertias = inertias_of(numbers, by_name=masses)
        return _derived(numbers, tree, inertias, independent, begin, forces=forces)
    except Exhausted:
        raise VbgError(
            f"the equations of {model.name} in minimal coordinates would be too long: they are made"
            f" of more than {MOST_PRODUCTS:,} products, as turns about axes that are not parallel"
            " multiply. --form constraint is short; vbg export --c writes the program."
        ) from None


def _require_smooth(system: System) -> None:
    e = system.equations
    joints = {f"joints.{name}" for name in system.model.joints}
    for c in e.constraints:
        if c.active is not None:
            raise VbgError(
                f"{system.model.name} has no minimal form in symbols: {c.name} holds at times only "
                "(dry friction, contact). --form constraint has one."
            )
        if c.part not in joints:
            raise VbgError(
                f"{system.model.name} has no minimal form in symbols: {c.part} is a constraint of "
                "its own (a rotor tied to a joint, a stiff node). --form constraint has one."
            )


def _besides(system: System, own: frozenset[str]) -> list[Block]:
    """Blocks read besides rates and flows: what drives prescribe, coordinates of cut joints."""
    positions = [c.position for c in _driven(system) if c.position is not None]
    return positions + [block for _, block in _measured(system, own)]


def _driven(system: System) -> list[Constraint]:
    return [c for c in system.equations.constraints if c.name.endswith(".drive")]


def _measured(system: System, own: frozenset[str]) -> list[tuple[Block, Block]]:
    """Coordinates that are none of the tree's and that some rate reads: leaf and value."""
    e = system.equations
    rates = [e.rates[s.state.leaf] for s in system.slices if s.state.measured is None]
    read = set(dependencies(rates, {e.efforts.key, *(c.unknown.key for c in e.constraints)}))
    states = [s.state for s in system.slices if s.state.measured is not None]
    return [
        (s.leaf, s.measured)
        for s in states
        if s.measured is not None and s.name not in own and s.leaf in read
    ]


def _needed(system: System) -> list[Callable[[Any], Any]]:
    model = system.model
    arrays = ("p_AF_A", "R_AF", "p_BM_B", "R_BM")
    found: list[Callable[[Any], Any]] = [gravity_of]
    found += [frame_of(joint, name) for joint in model.joints for name in arrays]
    found += [mass_of(b) for b in model.bodies] + [inertia_of(b) for b in model.bodies]
    return found + [number_of(j, k) for j, k in _numbers_of(model)]


def _numbers_of(model: Any) -> list[tuple[str, str]]:
    keys = {"helical": "lead", "distance": "length"}
    return [(n, keys[j.kind]) for n, j in model.joints.items() if j.kind in keys]


def _derived(
    numbers: Named,
    tree: Tree,
    inertias: Inertias,
    independent: tuple[str, ...],
    begin: Start,
    *,
    forces: bool,
) -> MinimalEquations:
    import sympy

    model = numbers.system.model

    def of(joint: str, name: str) -> Any:
        return exact(numbers.matrix(frame_of(joint, name)))

    scalars = {j: exact(numbers.matrix(number_of(j, k)))[0, 0] for j, k in _numbers_of(model)}
    algebra, t = Algebra(), sympy.Symbol("t", real=True)
    k = kinematics_of(tree, of, scalars, numbers.parameters, algebra)
    reader, speeds = _reader(numbers, k)
    rows = [*_cuts(model, tree, k, of, scalars), *_drives(numbers, reader, k)]
    mass, loads, needs = _balances(numbers, inertias, reader, k, speeds)
    start = _start(begin, tree, k)
    parameters = {**numbers.parameters, **inertias.parameters}
    values = {**start, **parameters, t: 0.0}
    rows, idle = _felt(rows, k, values)
    places, shared = _independent(rows, k, values, model, independent)
    closures, J, driven, bias, known = _rates_of(rows, k)
    sums = {**k.speeds, **known.speeds}
    accelerations = tuple(sympy.Symbol(f"d_{u}", real=True) for u in k.u)
    outputs = wrenches_of(model, tree, k, rows, needs, accelerations, of) if forces else {}
    states, rates = _other_states(numbers, reader, k)
    found = [*closures, *J, *driven, *bias, *mass, *loads, *rates, *chain(*outputs.values())]
    met = set().union(*(e.free_symbols for e in found)) if found else set()
    told = partial(_told, algebra, sums, dict[Any, Any]())
    return MinimalEquations(
        model.name,
        k.q,
        k.u,
        places,
        told(closures),
        J.applyfunc(algebra.decimals),
        told(driven),
        told(bias),
        mass.applyfunc(algebra.decimals),
        told(loads),
        states,
        told(rates),
        accelerations,
        tuple(row.effort for row in rows),
        {name: told(three) for name, three in outputs.items()},
        start,
        {s: v for s, v in parameters.items() if s in met},
        shared,
        idle,
        numbers.numbered,
    )


def _told(algebra: Algebra, sums: Any, done: dict[Any, Any], values: Any) -> tuple[Any, ...]:
    """Expressions with their sums written in, in decimals; `done`: those that are."""
    return tuple(algebra.decimals(replaced(value, sums, done)) for value in values)


def _rates_of(
    rows: Sequence[Row], k: Kinematics
) -> tuple[list[Any], Any, list[Any], list[Any], Arguments]:
    """Closures g(q, t) = 0, their Jacobian J, -dg/dt, the right side gamma of J q'' = gamma, and
    the arguments that stand in it."""
    import sympy

    t, slope, tidy = sympy.Symbol("t", real=True), k.algebra.slope, k.algebra.tidy
    closures = [tidy(row.value) for row in rows]
    J = sympy.Matrix(len(rows), len(k.q), lambda i, j: tidy(slope(closures[i], k.q[j])))
    driven = [between_jumps(-slope(c, t)) for c in closures]
    known = arguments_of(closures, k.q, k.u, mark="c")
    return closures, J, driven, [between_jumps(_second(c, k, known, t)) for c in closures], known


def _cuts(model: Any, tree: Tree, k: Kinematics, of: Any, scalars: Any) -> Iterator[Any]:
    """The closures of the joints at which loops are cut."""
    for name in tree.cuts:
        joint = model.joints[name]
        yield from rows_of(name, joint, frames_of(k, joint, name, of), scalars.get(name))


def _second(closure: Any, k: Kinematics, known: Arguments, t: Any) -> Any:
    """gamma of one closure, J q'' = gamma: its second rate less J q'', with the other sign."""
    slope = k.algebra.slope
    total = -second_rate(closure, known, slope) - slope(slope(closure, t), t)
    for q, u in zip(k.q, k.u, strict=True):
        total -= 2 * slope(slope(closure, q), t) * u
    return k.algebra.tidy(total)


def _reader(numbers: Named, k: Kinematics) -> tuple[SymbolicReader, Any]:
    """The reader of the machine's laws with its motion in q and u, and the column of u."""
    import sympy

    e, model = numbers.base.equations, numbers.system.model
    speeds, tidy = sympy.Matrix(k.u), k.algebra.tidy
    known: dict[Any, Any] = {**numbers.constants, e.efforts: sympy.zeros(e.efforts.rows, 1)}
    known |= {c.unknown: sympy.zeros(c.unknown.rows, 1) for c in e.constraints}
    for name in model.bodies:
        known[rotation(leaf(f"{name}.quaternion", 4))] = k.R[name]
        known[leaf(f"{name}.position", 3)] = k.p[name]
        known[leaf(f"{name}.momentum", 3)] = product(k.V[name], speeds).applyfunc(tidy)
        known[leaf(f"{name}.angular_momentum", 3)] = product(k.W[name], speeds).applyfunc(tidy)
    reader = SymbolicReader(known, numbers.factors)
    for leaf_of, value in _measured(numbers.base, frozenset(map(str, k.q))):
        known[leaf_of] = reader(value)
    return SymbolicReader(known, numbers.factors), speeds


def _drives(numbers: Named, reader: SymbolicReader, k: Kinematics) -> list[Row]:
    """Rows of the drives: a coordinate less what it is to be."""
    import sympy

    found = []
    t, own = sympy.Symbol("t", real=True), set(k.q)
    for c in _driven(numbers.base):
        if c.position is None:
            raise VbgError(f"{c.name} prescribes no position, which has no symbolic form.")
        joint = c.name.removesuffix(".drive")
        value = exact(reader(c.position))[0, 0]
        others = value.free_symbols - own - {t} - set(numbers.parameters)
        if others:
            what = ", ".join(sorted(map(str, others)))
            raise VbgError(f"the drive of {joint} depends on {what}, not on the time alone.")
        found.append(Row(joint, DRIVE, value, None, sympy.Symbol(c.name, real=True)))
    return found


def _balances(
    numbers: Named, inertias: Inertias, reader: SymbolicReader, k: Kinematics, speeds: Any
) -> tuple[Any, list[Any], dict[str, Needs]]:
    """M and h in all coordinates of the tree, and by body m, J and the force (world axes) and
    torque (body axes) that parts, weight and spin exert on it."""
    import sympy

    e, n, tidy = numbers.base.equations, len(k.q), k.algebra.tidy
    mass, right = sympy.zeros(n, n), sympy.zeros(n, 1)
    gravity = exact(numbers.matrix(gravity_of))
    needs = {}
    for name in numbers.system.model.bodies:
        m, J = inertias.of[name]
        V, W = k.V[name], k.W[name]
        force = exact(reader(e.rates[leaf(f"{name}.momentum", 3)])) + (m - 1) * gravity
        torque = exact(reader(e.rates[leaf(f"{name}.angular_momentum", 3)]))
        w = product(W, speeds).applyfunc(tidy)
        torque = (torque - w.cross(product(J, w))).applyfunc(tidy)
        needs[name] = Needs(m, J, force, torque)
        mass += product(m * V.T, V) + product(W.T, J, W)
        turning = product(W.T, (torque - product(J, k.alpha0[name])).applyfunc(tidy))
        right += product(V.T, force - m * k.a0[name]) + turning
    upper = sympy.Matrix(n, n, lambda i, j: tidy(mass[i, j]) if i <= j else 0)
    whole = sympy.Matrix(n, n, lambda i, j: upper[min(i, j), max(i, j)])
    loads = [tidy(entry) for entry in right]
    return *cleared_balances(whole, loads, k.u, tidy.sums, tidy.grows), needs


def _start(start: Start, tree: Tree, k: Kinematics) -> dict[Any, float]:
    """Numbers of coordinates, rates and other states at the start."""
    system = start.system
    shown = start.outputs(0.0, start.state)
    found: dict[Any, float] = {}
    at = 0
    poses = {
        b: (np.ravel(shown[f"{b}.position"]), rotation_matrix(np.ravel(shown[f"{b}.rotation"])))
        for b in system.model.bodies
    }
    poses[GROUND] = (np.zeros(3), np.eye(3))
    for carrier in tree.carriers:
        for motion in carrier.motions:
            q, u = k.q[at], k.u[at]
            at += 1
            if motion.name in shown and motion.rate in shown:
                found[q], found[u] = (
                    float(np.ravel(shown[n])[0]) for n in (motion.name, motion.rate)
                )
            else:
                found[q] = _coordinate(system, carrier, motion, poses)
                found[u] = np.nan
    missing = [u for u in k.u if np.isnan(found[u])]
    if missing:
        found |= _rates_at_start(system, tree, k, shown, found)
    names, state = system.state_names, start.state
    for name, value in zip(names, state, strict=True):
        found.setdefault(_symbol(name), float(value))
    return found


def _symbol(name: str) -> Any:
    import sympy

    return sympy.Symbol(name, real=True)


def _coordinate(system: System, carrier: Any, motion: Any, poses: Mapping[str, Any]) -> float:
    """A coordinate that is no signal, from the poses at the start."""
    p_B, R_B = poses[carrier.body]
    which = motion.name.rpartition(".")[2]
    if carrier.absolute and which in ("alpha", "beta", "gamma"):
        return cardan_angles(R_B)[("alpha", "beta", "gamma").index(which)]
    if not carrier.joint:
        return float(p_B["xyz".index(which)])
    frame = place(system.model).frames[carrier.joint]
    (p_A, R_A), (p_2, R_2) = poses[frame.first], poses[frame.second]
    R_F = R_A @ frame.R_AF
    if which in "xyz":
        return float(
            R_F[:, "xyz".index(which)] @ (p_2 + R_2 @ frame.p_BM_B - p_A - R_A @ frame.p_AF_A)
        )
    R_FM = R_F.T @ R_2 @ frame.R_BM
    return float(np.arctan2(R_FM[1, 0], R_FM[0, 0]))


def _rates_at_start(
    system: System, tree: Tree, k: Kinematics, shown: Mapping[str, Any], found: Mapping[Any, float]
) -> dict[Any, float]:
    """All rates u from the bodies' velocities: V u = v, W u = w_B, by least squares."""
    import sympy

    where = {q: v for q, v in found.items() if q in k.q}
    where |= {_symbol(n): v for n, v in system.model.parameters.items()}
    lines, right = [], []
    for name in system.model.bodies:
        both = sympy.Matrix.vstack(k.V[name], k.W[name]).xreplace(where)
        lines.append(np.array(both.tolist(), dtype=float))
        right += [np.ravel(shown[f"{name}.velocity"]), np.ravel(shown[f"{name}.angular_velocity"])]
    u, *_ = np.linalg.lstsq(np.vstack(lines), np.concatenate(right), rcond=None)
    return dict(zip(k.u, map(float, u), strict=True))


def _independent(
    rows: list[Row], k: Kinematics, values: Mapping[Any, float], model: Any, asked: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The places of the coordinates that closures leave free, chosen at the start, and the efforts
    of those that follow from others there."""
    n = len(k.q)
    names = [str(q) for q in k.q]
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise UsageError(f"no coordinate {unknown[0]!r}; there are: {', '.join(names)}.")
    if not rows:
        return tuple(range(n)), ()
    J = np.array(
        [[float(k.algebra.slope(r.value, q).xreplace(dict(values))) for q in k.q] for r in rows]
    )
    height = np.linalg.norm(J, axis=1)
    order, sizes = pivots((J / np.where(height > 0.0, height, 1.0)[:, None]).T)
    rank = int(np.count_nonzero(sizes > RANK * sizes.max(initial=0.0)))
    kept = sorted(order[:rank])
    wish = np.array([_wish(name, model, asked) for name in names])
    scale = np.linalg.norm(J[kept], axis=0)
    columns, _ = pivots(J[kept] / np.where(scale > 0.0, scale, 1.0) * wish)
    free = tuple(sorted(columns[rank:]))
    if set(asked) - {names[i] for i in free}:
        left = ", ".join(names[i] for i in free)
        told = f"{len(free)} free, such as {left}" if free else "none free: all is driven"
        raise UsageError(f"{', '.join(asked)}: the closures and drives leave {told}.")
    shared = tuple(str(rows[i].effort) for i in range(len(rows)) if i not in kept)
    return free, shared


def _felt(
    rows: list[Row], k: Kinematics, values: Mapping[Any, float]
) -> tuple[list[Row], tuple[str, ...]]:
    """The closures that some motion changes, and the efforts of the others."""
    holds = [_always_holds(row, k, values) for row in rows]
    felt = [row for row, always in zip(rows, holds, strict=True) if not always]
    return felt, tuple(str(row.effort) for row, always in zip(rows, holds, strict=True) if always)


def _always_holds(row: Row, k: Kinematics, values: Mapping[Any, float]) -> bool:
    """Whether no coordinate changes the closure, at the start and elsewhere: of a plane loop's
    hinge those out of the plane."""
    draw = np.random.default_rng(1)
    postures = [dict(values)]
    postures += [{**values, **{q: draw.uniform(-1, 1) for q in k.q}} for _ in range(2)]
    slopes = [k.algebra.slope(row.value, q) for q in k.q]
    return all(abs(float(s.xreplace(at))) < NOTHING for at in postures for s in slopes)


def _wish(name: str, model: Any, asked: tuple[str, ...]) -> float:
    """How gladly a coordinate is made a dependent one: least those that are asked for, then
    angles of joints on the ground, then other angles."""
    if name in asked:
        return 1e-6
    joint, _, what = name.rpartition(".")
    part = model.joints.get(joint)
    on_ground = part is not None and GROUND in [end.body for end in part.between]
    if what == "angle" and on_ground:
        return 0.05
    return 0.5 if what == "angle" else 1.0


def _other_states(
    numbers: Named, reader: SymbolicReader, k: Kinematics
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """States of circuits, oil, controllers and springs, and their rates."""
    e, own = numbers.base.equations, {str(q) for q in k.q}
    bodies = set(numbers.system.model.bodies)
    states: list[Any] = []
    rates: list[Any] = []
    for s in numbers.base.slices:
        state = s.state
        measured = state.measured is not None or state.name in own
        if measured or state.name.rpartition(".")[0] in bodies:
            continue
        if state.kind in ("store", "signal", "displacement"):
            states += list(symbols_of(state.leaf))
            rates += [k.algebra.tidy(r) for r in exact(reader(e.rates[state.leaf]))]
    return tuple(states), tuple(rates)
