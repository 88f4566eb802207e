"""Sizes of symbolic equations of motion beside Kane's by sympy.physics.mechanics.

    python -m benchmarks.accuracy.kane

The same machines with the same parameters and coordinates, written by hand for KanesMethod: plane
chains, three links on ball joints, the shaft, arm and slider of vector-bond-graph.txt (section IV),
a slider-crank and a four-bar whose loops are configuration constraints.  Counted are operations
with common parts named (sympy.cse): mass matrix and right side; with loops also what determines
the dependent coordinates, speeds and accelerations.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sympy
from sympy.physics import mechanics as me

import vbg
from benchmarks import asked
from vbg.analysis.symbolic.loops.deriving import minimal_equations
from vbg.analysis.symbolic.loops.reduced import size_of

EXAMPLES = Path(__file__).parents[2] / "examples"
Y = [0, 1, 0]
LINK = {"mass": "m", "inertia": {"xx": "J", "yy": "J", "zz": "J"}}
PARAMETERS = {"l": 0.7, "m": 1.3, "J": 0.11}
m, J, l, g = sympy.symbols("m J l g", positive=True)


def chain(count: int, *, closed: str = "") -> vbg.Model:
    """Links of length l that hang on each other by pins about y; `closed`: "slide" or "pin"."""
    bodies = {
        f"b{i}": LINK | {"points": {"A": ["-l/2", 0, 0], "B": ["l/2", 0, 0]}} for i in range(count)
    }
    joints: dict[str, Any] = {}
    starts = {"": (0.3, 0.5, -0.4), "slide": (0.6, -1.2), "pin": (1.2, -1.1, -1.2)}[closed]
    for i in range(count):
        before = "ground" if i == 0 else f"b{i - 1}.B"
        joints[f"P{i}"] = {
            "kind": "revolute",
            "between": [before, f"b{i}.A"],
            "axis": [0, -1, 0],
            "initial": {"angle": starts[i]} if not closed or i == 0 else {},
        }
        if closed and i:
            joints[f"P{i}"].pop("initial")
            bodies[f"b{i}"]["rotation"] = {"axis": [0, -1, 0], "angle": sum(starts[: i + 1])}
    if closed == "slide":
        joints["S"] = {"kind": "point_on_plane", "between": ["ground", "b1.B"], "axis": [0, 0, 1]}
    if closed == "pin":
        end = {"body": "ground", "at": ["1.2*l", 0, "0.1*l"]}
        joints["S"] = {"kind": "point_on_line", "between": [end, "b2.B"], "axis": Y}
    return vbg.Model(name="chain", parameters=PARAMETERS, bodies=bodies, joints=joints)


def kane(count: int, closed: str = "") -> tuple[Any, list[Any]]:
    """KanesMethod of the same machine, and its constraints."""
    q, u = me.dynamicsymbols(f"q:{count}"), me.dynamicsymbols(f"u:{count}")
    N = me.ReferenceFrame("N")
    end = me.Point("O")
    end.set_vel(N, 0)
    before, bodies, loads, spot = N, [], [], 0 * N.x
    origin = end
    for i in range(count):
        frame = before.orientnew(f"F{i}", "Axis", [q[i], -N.y])
        frame.set_ang_vel(before, -u[i] * N.y)
        centre, tip = end.locatenew(f"C{i}", l / 2 * frame.x), end.locatenew(f"T{i}", l * frame.x)
        centre.v2pt_theory(end, N, frame)
        tip.v2pt_theory(end, N, frame)
        inertia = me.inertia(frame, J, J, J)
        bodies.append(me.RigidBody(f"B{i}", centre, frame, m, (inertia, centre)))
        loads.append((centre, -m * g * N.z))
        before, end = frame, tip
    spot = end.pos_from(origin)
    conditions = {
        "": [],
        "slide": [spot.dot(N.z)],
        "pin": [spot.dot(N.x) - sympy.Rational(6, 5) * l, spot.dot(N.z) - l / 10],
    }[closed]
    rates = [one.diff() - speed for one, speed in zip(q, u, strict=True)]
    free = count - len(conditions)
    method = me.KanesMethod(
        N,
        q[:free],
        u[:free],
        kd_eqs=rates,
        q_dependent=q[free:],
        u_dependent=u[free:],
        configuration_constraints=conditions,
        velocity_constraints=[
            c.diff(me.dynamicsymbols._t).subs({one.diff(): s for one, s in zip(q, u, strict=True)})
            for c in conditions
        ],
    )
    method.kanes_equations(bodies, loads)
    return method, conditions


def operations(expressions: list[Any]) -> int:
    """Operations with common parts named."""
    parts, rest = sympy.cse(expressions, order="none")
    return int(sum(e.count_ops() for _, e in parts) + sum(e.count_ops() for e in rest))


def size_of_kane(count: int, closed: str = "") -> int:
    """Mass matrix, right side, and the constraints with their slopes."""
    method, conditions = kane(count, closed)
    slopes = [c.diff(q) for c in conditions for q in method.q]
    return operations([*method.mass_matrix, *method.forcing, *conditions, *slopes])


def paper() -> tuple[vbg.Model, Any]:
    """The paper's shaft, arm and slider, and its KanesMethod."""
    q, u = me.dynamicsymbols("q:3"), me.dynamicsymbols("u:3")
    M, K, a, c, side = sympy.symbols("M K a c side", positive=True)
    N, O = me.ReferenceFrame("N"), me.Point("O")
    shaft = N.orientnew("S", "Axis", [q[0], N.z])
    arm = shaft.orientnew("A", "Axis", [q[1], shaft.y])
    O.set_vel(N, 0)
    shaft.set_ang_vel(N, u[0] * N.z)
    arm.set_ang_vel(shaft, u[1] * shaft.y)
    hub, slider = O.locatenew("P", a * shaft.x), me.Point("Q")
    slider.set_pos(hub, q[2] * arm.x)
    hub.v2pt_theory(O, N, shaft)
    slider.set_vel(arm, u[2] * arm.x)
    slider.v1pt_theory(hub, N, arm)
    light, cube, tenth = sympy.Rational(1, 10000), m * side**2 / 6, sympy.Rational(1, 10)
    parts = [(shaft, O, tenth, light), (arm, hub, m, cube), (arm, slider, m, cube)]
    bodies = [
        me.RigidBody(f"B{i}", at, frame, mass, (me.inertia(frame, own, own, own), at))
        for i, (frame, at, mass, own) in enumerate(parts)
    ]
    pull = K * (q[2] - c) * arm.x
    weights = [-mass * g * N.z for _, _, mass, _ in parts]
    loads = [(O, weights[0]), (hub, weights[1] + pull), (slider, weights[2] - pull)]
    method = _method(N, q, u, bodies, [*loads, (shaft, M * N.z)])
    return vbg.read(EXAMPLES / "shaft-arm-slider.toml"), method


def balls(count: int = 3) -> tuple[vbg.Model, Any]:
    """Links on ball joints, each by Cardan angles against the world, and their KanesMethod."""
    q, u = me.dynamicsymbols(f"q:{3 * count}"), me.dynamicsymbols(f"u:{3 * count}")
    N, end, J1 = me.ReferenceFrame("N"), me.Point("O"), sympy.Symbol("J1", positive=True)
    end.set_vel(N, 0)
    bodies, loads = [], []
    speeds = {one.diff(): speed for one, speed in zip(q, u, strict=True)}
    for i in range(count):
        frame = N.orientnew(f"F{i}", "Body", q[3 * i : 3 * i + 3], "XYZ")
        frame.set_ang_vel(N, frame.ang_vel_in(N).subs(speeds))
        centre, tip = end.locatenew(f"C{i}", l / 2 * frame.x), end.locatenew(f"T{i}", l * frame.x)
        centre.v2pt_theory(end, N, frame)
        tip.v2pt_theory(end, N, frame)
        bodies.append(
            me.RigidBody(f"B{i}", centre, frame, m, (me.inertia(frame, J1, J, J), centre))
        )
        loads.append((centre, -m * g * N.z))
        end = tip
    link = LINK | {"inertia": {"xx": "J1", "yy": "J", "zz": "J"}}
    points = {"A": ["-l/2", 0, 0], "B": ["l/2", 0, 0]}
    own = {f"b{i}": link | {"points": points} for i in range(count)}
    joints = {
        f"S{i}": {
            "kind": "spherical",
            "between": [f"b{i - 1}.B" if i else "ground", f"b{i}.A"],
        }
        for i in range(count)
    }
    given = PARAMETERS | {"J1": 0.02}
    model = vbg.Model(name="links on balls", parameters=given, bodies=own, joints=joints)
    return model, _method(N, q, u, bodies, loads)


def _method(N: Any, q: Any, u: Any, bodies: list[Any], loads: list[Any]) -> Any:
    rates = [one.diff() - speed for one, speed in zip(q, u, strict=True)]
    method = me.KanesMethod(N, q, u, kd_eqs=rates)
    method.kanes_equations(bodies, loads)
    return method


def _sized(model: vbg.Model, method: Any) -> tuple[vbg.Model, int]:
    return model, operations([*method.mass_matrix, *method.forcing])


MACHINES: dict[str, Callable[[], tuple[vbg.Model, int]]] = {
    "chain of two links": lambda: (chain(2), size_of_kane(2)),
    "chain of three links": lambda: (chain(3), size_of_kane(3)),
    "three links on balls": lambda: _sized(*balls()),
    "shaft, arm and slider": lambda: _sized(*paper()),
    "slider-crank": lambda: (chain(2, closed="slide"), size_of_kane(2, "slide")),
    "four-bar": lambda: (chain(3, closed="pin"), size_of_kane(3, "pin")),
}


def main() -> None:
    print(f"{'machine':24}{'vbg':>8}{'Kane':>8}   operations, common parts named")
    for name, make in MACHINES.items():
        model, size = make()
        own = size_of(minimal_equations(vbg.assemble(model), forces=False))
        print(f"{name:24}{own:8}{size:8}")


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
