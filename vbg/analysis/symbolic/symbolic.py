"""State equations of small models in symbols: with constraint efforts, or in minimal form.

Constraint form, of every model:

    X' = f(X, U2, t),   0 = r(X, t)     U2: constraint efforts, r: flows that vanish

Minimal form, of trees of revolute, prismatic, cylindrical and fixed joints: positions and
velocities of all bodies follow from the joint coordinates q,

    v = V q',  w_B = W q':
    sum (V^T m V + W^T J W) q'' = sum V^T (F - m V' q') + W^T (T - J W' q')

with F and T the efforts on the body's two 1-junctions, -w x h among them, constraint
efforts left out (they do no work along V and W).

Parameters of the model file stay symbols where its numbers come from them, see
`vbg.analysis.symbolic.named`.

Networks without bodies have a minimal form of their own, see `vbg.analysis.symbolic.network`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vbg.analysis.symbolic.data import frame_of, gravity_of, inertia_of, mass_of, of_unit_bodies
from vbg.analysis.symbolic.equations import SymbolicEquations
from vbg.analysis.symbolic.named import Named, named, unnamed
from vbg.analysis.symbolic.network import network_form, why_not_linear
from vbg.analysis.symbolic.rewriting.angles import simplified
from vbg.analysis.symbolic.rewriting.clearing import cleared_balances
from vbg.analysis.symbolic.rewriting.counting import Operations
from vbg.analysis.symbolic.rewriting.sums import Exhausted, Sums
from vbg.analysis.symbolic.rewriting.tidy import Tidy
from vbg.analysis.symbolic.size import LENGTH, require_length, too_long
from vbg.assemble.matrices.products import product
from vbg.assemble.matrices.symbolic import SymbolicReader, symbols_of
from vbg.assemble.system import System
from vbg.blocks import dependencies, leaf, rotation
from vbg.errors import VbgError
from vbg.plumbing.paused_collection import paused_collection

if TYPE_CHECKING:
    from vbg.model import Model

LIMIT = 1000  # operations of the blocks that are still written out
SIMPLIFIED = 1500  # operations of a minimal form that are still simplified by trigonometry
UNSOLVED = "They are short in --form constraint, in all states with the constraint efforts."
TREE_JOINTS = ("revolute", "prismatic", "cylindrical", "fixed")


@paused_collection()
def equations_of(system: System, form: str = "auto", *, names: bool = True) -> SymbolicEquations:
    """The equations of `system`; form "minimal", "constraint" or "auto" (minimal if it exists).
    With `names`, parameters are written by name where that is possible.

    Raises VbgError if they would be too long, or have no minimal form and one was asked for.
    """
    for name, body in system.model.bodies.items():
        if body.flexible is not None:
            raise VbgError(f"bodies.{name} is flexible: equations of modes are not written out.")
    size = len(dependencies(system.equations.rates.values()))
    if size > LIMIT:
        raise VbgError(
            f"the equations of {system.model.name} have about {size} block operations, some "
            f"{20 * size} terms; up to {LIMIT} operations are written out. Ask for a smaller "
            "model, or use `vbg show graph` and the matrices."
        )
    require_length(system)
    obstacle = why_not_minimal(system)
    if form == "minimal" and obstacle:
        raise VbgError(f"{system.model.name} has no minimal form in closed form: {obstacle}.")
    if form == "constraint" or obstacle:
        return _with_parameters(_constraint_form, system, (), None, names=names)
    if not system.model.bodies:
        return _with_parameters(network_form, system, (), None, names=names)
    needed = _data_of(system.model)
    return _with_parameters(_minimal_form, system, needed, of_unit_bodies, names=names)


def _with_parameters(
    make: Callable[[Named], SymbolicEquations],
    system: System,
    needed: Sequence[Callable[[Model], Any]],
    change: Callable[[Model], Model] | None,
    *,
    names: bool,
) -> SymbolicEquations:
    """What `make` makes, and of the parameters those that occur in it."""
    numbers = named(system, needed, change) if names else unnamed(system, change)
    found = make(numbers)
    matrices = [m for m in (found.mass, found.right) if m is not None]
    written = (*found.rates.values(), *found.constraints, *found.definitions.values(), *matrices)
    symbols = set().union(*(one.free_symbols for one in written))
    occurring = {s: v for s, v in numbers.parameters.items() if s in symbols}
    discrete = (s.state for s in system.slices if s.state.kind == "discrete")
    modes = [one for state in discrete for one in symbols_of(state.leaf) if one in symbols]
    told = found.numbered if found.numbered.names else numbers.numbered
    return replace(found, parameters=occurring, modes=tuple(modes), numbered=told)


def why_not_minimal(system: System) -> str:
    """Why the joint coordinates do not give the posture directly; empty if they do."""
    model = system.model
    if not model.bodies:
        return why_not_linear(system)
    reached = {"ground"}
    waiting = dict(model.joints)
    for name, joint in model.joints.items():
        if type(joint).kind not in TREE_JOINTS or getattr(joint, "drive", None) is not None:
            return f"joint {name} is {type(joint).kind}" + (
                ", driven" if getattr(joint, "drive", None) is not None else ""
            )
    while True:
        ready = [n for n, j in waiting.items() if j.between[0].body in reached]
        if not ready:
            break
        for name in ready:
            body = waiting.pop(name).between[1].body
            if body in reached:
                return f"joint {name} closes a loop"
            reached.add(body)
    free = set(model.bodies) - reached
    if free:
        return f"{', '.join(sorted(free))} hangs on no chain of joints from the ground"
    if waiting:
        return f"joint {next(iter(waiting))} closes a loop"
    joints = {c.part.partition(".")[2] or c.part for c in system.equations.constraints}
    others = joints - set(model.joints)
    return f"{', '.join(sorted(others))} is a constraint of its own" if others else ""


def _constraint_form(numbers: Named) -> SymbolicEquations:
    import sympy

    system = numbers.base
    e = system.equations
    names = system.constraint_names
    efforts = sympy.Matrix([sympy.Symbol(name, real=True) for name in names])
    known = dict(numbers.constants)
    if len(names):
        known[e.efforts] = efforts
    at = 0
    for c in e.constraints:
        known[c.unknown] = efforts[at : at + c.unknown.rows, :]
        at += c.unknown.rows
    reader = SymbolicReader(known, numbers.factors)
    rates: dict[Any, Any] = {}
    for s in system.slices:
        if s.state.kind in ("quadrature", "discrete"):
            continue
        values = reader(e.rates[s.state.leaf])
        rates |= dict(zip(symbols_of(s.state.leaf), values, strict=True))
    constraints = tuple(reader(e.residual)) if names else ()
    return SymbolicEquations(
        "constraint", reader.definitions, rates, tuple(efforts) if len(names) else (), constraints
    )


@dataclass(frozen=True, eq=False)
class _Kinematics:
    """p_WB and R_WB of every body in the joint coordinates."""

    coordinates: dict[str, Any]
    positions: dict[str, Any]
    rotations: dict[str, Any]


def _data_of(model: Model) -> list[Callable[[Model], Any]]:
    """All that the minimal form takes from the model itself."""
    frames = [frame_of(j, a) for j in model.joints for a in ("p_AF_A", "R_AF", "p_BM_B", "R_BM")]
    return [gravity_of, *frames, *map(mass_of, model.bodies), *map(inertia_of, model.bodies)]


def _kinematics(numbers: Named) -> _Kinematics:
    """Forward kinematics along the tree, joint after joint."""
    import sympy

    system = numbers.base
    frames = system.causal.graph.placed.frames
    q: dict[str, Any] = {}
    p = {"ground": sympy.zeros(3, 1)}
    R = {"ground": sympy.eye(3)}
    waiting = list(frames)
    while waiting:
        name = next(n for n in waiting if frames[n].first in p)
        waiting.remove(name)
        frame, kind = frames[name], type(system.model.joints[name]).kind
        p_AF_A, R_AF, p_BM_B, R_BM = (
            numbers.matrix(frame_of(name, one)) for one in ("p_AF_A", "R_AF", "p_BM_B", "R_BM")
        )
        R_WF = R[frame.first] * R_AF
        p_WM = p[frame.first] + R[frame.first] * p_AF_A
        turn = sympy.eye(3)
        if kind in ("revolute", "cylindrical"):
            angle = q.setdefault(f"{name}.angle", sympy.Symbol(f"{name}.angle", real=True))
            c, s = sympy.cos(angle), sympy.sin(angle)
            turn = sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        if kind in ("prismatic", "cylindrical"):
            slide = q.setdefault(f"{name}.slide", sympy.Symbol(f"{name}.slide", real=True))
            p_WM = p_WM + slide * R_WF[:, 2]
        R_WB = R_WF * turn * R_BM.T
        R[frame.second] = R_WB
        p[frame.second] = p_WM - R_WB * p_BM_B
    return _Kinematics(q, p, R)


def _speed_name(coordinate: str) -> str:
    joint, _, name = coordinate.rpartition(".")
    return f"{joint}.{ {'angle': 'speed', 'slide': 'slide_speed'}[name] }"


def _minimal_form(numbers: Named) -> SymbolicEquations:
    import sympy

    system = numbers.base
    e, model = system.equations, system.model
    k = _kinematics(numbers)
    q = list(k.coordinates.values())
    cylindrical = {n for n, j in model.joints.items() if type(j).kind == "cylindrical"}
    names = []
    for name in k.coordinates:
        own = _speed_name(name)
        joint = name.rpartition(".")[0]
        names.append(own if joint in cylindrical else f"{joint}.speed")
    u = [sympy.Symbol(name, real=True) for name in names]
    known: dict[Any, Any] = {**numbers.constants, e.efforts: sympy.zeros(e.efforts.rows, 1)}
    known |= {c.unknown: sympy.zeros(c.unknown.rows, 1) for c in e.constraints}
    columns: dict[str, tuple[Any, Any]] = {}
    speeds, tidy = sympy.Matrix(u), Tidy()
    for name in model.bodies:
        R, p = k.rotations[name], k.positions[name]
        V = p.jacobian(q) if q else sympy.zeros(3, 0)
        W = sympy.Matrix.hstack(*[_axial(R, one, tidy) for one in q]) if q else sympy.zeros(3, 0)
        columns[name] = (V, W)
        known[rotation(leaf(f"{name}.quaternion", 4))] = R
        known[leaf(f"{name}.position", 3)] = p
        known[leaf(f"{name}.momentum", 3)] = V * speeds
        known[leaf(f"{name}.angular_momentum", 3)] = W * speeds
    reader = SymbolicReader(known, numbers.factors)
    mass, right = _projected(numbers, reader, columns, q, u)
    rates = dict(zip(q, u, strict=True))
    bodies = set(model.bodies)
    for s in system.slices:
        if s.state.name in k.coordinates or s.state.name.rpartition(".")[0] in bodies:
            continue
        if s.state.kind in ("store", "signal", "displacement"):
            values = reader(e.rates[s.state.leaf])
            rates |= dict(zip(symbols_of(s.state.leaf), values, strict=True))
    if len(u) == 1 and not mass[0, 0].free_symbols & {*q, *u} and not mass[0, 0].is_Add:
        rates[u[0]] = sympy.expand(right[0] / mass[0, 0])
    return SymbolicEquations("minimal", {}, rates, (), (), tuple(u), mass, right)


def _projected(
    numbers: Named,
    reader: SymbolicReader,
    columns: Mapping[str, tuple[Any, Any]],
    q: list[Any],
    u: list[Any],
) -> tuple[Any, Any]:
    """Mass matrix and right-hand side along the columns V and W."""
    import sympy

    e = numbers.base.equations
    n = len(q)
    mass, right = sympy.zeros(n, n), sympy.zeros(n, 1)
    speeds, gravity = sympy.Matrix(u), numbers.matrix(gravity_of)
    operations, size = Operations(), 0
    for name, (V, W) in columns.items():
        m, J = numbers.matrix(mass_of(name))[0, 0], numbers.matrix(inertia_of(name))
        force = reader(e.rates[leaf(f"{name}.momentum", 3)])
        torque = reader(e.rates[leaf(f"{name}.angular_momentum", 3)])
        force += (m - 1) * gravity  # of unit bodies so far, and their w x w is zero
        w = product(W, speeds)
        torque -= w.cross(product(J, w))
        V_rate, W_rate = _along(V, q, u), _along(W, q, u)
        mass += product(m * V.T, V) + product(W.T, J, W)
        turning = product(W.T, torque - product(J, W_rate, speeds))
        right += product(V.T, force - product(m * V_rate, speeds)) + turning
        size = sum(map(operations, (*mass, *right)))
        if size > LENGTH:
            raise too_long(numbers.base, size, remedy=UNSOLVED)
    whole = (*mass, *right)
    if size >= SIMPLIFIED or sum(entry.count_ops() for entry in whole) >= SIMPLIFIED:
        return mass, right
    try:
        short = mass.applyfunc(simplified), [simplified(load) for load in right]
        cleared, loads = cleared_balances(*short, tuple(u), Sums(), lambda _: False)
    except Exhausted:  # they are right as they are
        return mass, right
    return cleared, sympy.Matrix(loads)


def _axial(R: Any, q: Any, tidy: Tidy) -> Any:
    """W with skew(W) = R^T dR/dq: the angular velocity in body axes per unit of q'."""
    import sympy

    S = product(R.T, R.diff(q))
    return sympy.Matrix([S[2, 1], S[0, 2], S[1, 0]]).applyfunc(tidy)


def _along(matrix: Any, q: list[Any], u: list[Any]) -> Any:
    """Rate of a matrix of q at the speeds u."""
    import sympy

    rate = sympy.zeros(*matrix.shape)
    for one, speed in zip(q, u, strict=True):
        rate += matrix.diff(one) * speed
    return rate
