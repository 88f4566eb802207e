"""Beams: exact statics, large rotations, frequencies and their order, momenta, both solvers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

import vbg
from vbg.errors import ModelError
from vbg.model.resolve.beams import stiffness_of
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.modes.passing import eliminate, respond
from vbg.tmm_bridge.solver import simulate
from vbg.validate.poses import matrix_of

STEEL = {"E": "210 GPa", "nu": 0.3, "density": 7850}


def model(beam, gravity=(0, 0, 0), **more):
    return vbg.Model(name="beam", gravity=list(gravity), beams={"boom": beam}, **more)


def cantilever(elements, **more):
    return {
        "between": ["ground", "free"],
        "length": 1.5,
        "axis": [1, 2, 2],
        "up": [0, 0, 1],
        "section": {"rectangle": {"y": 0.03, "z": 0.08}},
        "material": STEEL,
        "elements": elements,
    } | more


def tip_compliance(machine, n):
    """(6, 6): displacement and turn of node n under a unit force or torque there, W."""
    found = vibration(machine)
    small, mechanism = found.small, found.small.mechanism
    place = mechanism.bodies[f"boom_{n}"]
    R_WN = small.scratch.work[place.node, :9].reshape(3, 3)
    node = np.array(machine.bodies[f"boom_{n}"].points["N"])
    arm = R_WN @ (place.p_NB + place.R_NB @ node)
    lever = np.eye(6)  # motion of the point for that of the node's origin
    lever[:3, 3:] = -np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    e = np.zeros((len(small.M), 6, 6))
    e[place.node] = -lever.T
    passed = eliminate(small, 0.0)
    return lever @ respond(small, passed, np.zeros((small.n_v, 6)), e).nodes[place.node]


@pytest.mark.parametrize("elements", [1, 2, 5])
def test_statics_are_exact_for_any_number_of_elements(elements):
    machine = model(cantilever(elements))
    beam = machine.beams["boom"]
    s, L = stiffness_of(beam), beam.length
    x = np.array(beam.axis)
    z = np.array([0, 0, 1]) - x[2] * x
    z /= np.linalg.norm(z)
    R = np.kron(np.eye(2), np.column_stack([x, np.cross(z, x), z]))
    exact = np.diag(
        [
            L / s.EA,
            L**3 / (3 * s.EI_z) + L / s.GA_y,
            L**3 / (3 * s.EI_y) + L / s.GA_z,
            L / s.GJ,
            L / s.EI_y,
            L / s.EI_z,
        ]
    )
    exact[1, 5] = exact[5, 1] = L**2 / (2 * s.EI_z)
    exact[2, 4] = exact[4, 2] = -(L**2) / (2 * s.EI_y)
    found = R.T @ tip_compliance(machine, elements) @ R
    np.testing.assert_allclose(found, exact, atol=1e-9 * np.abs(exact).max())
    np.testing.assert_allclose(np.diag(found), np.diag(exact), rtol=1e-9)


def test_cantilever_rolls_up_to_a_circle():
    """An end moment 2 pi EI / L bends it to a full circle, whatever the number of elements."""
    n, L, EI = 7, 2.0, 30.0
    beam = {
        "between": ["ground", "free"],
        "length": L,
        "elements": n,
        "EA": 1e4,
        "GA_y": 4e3,
        "GA_z": 4e3,
        "GJ": 20.0,
        "EI_y": EI,
        "EI_z": EI,
        "mass_per_length": 1.0,
    }
    moment = {"kind": "torque", "on": f"boom.{n}", "torque": [0, 0, 2 * np.pi * EI / L]}
    found = vibration(model(beam, forces={"end": moment}))
    place = found.small.mechanism.bodies[f"boom_{n}"]
    work = found.small.scratch.work[place.node]
    R, p = work[:9].reshape(3, 3), work[9:12]
    tip = p + R @ (place.p_NB + place.R_NB @ np.array([L / n / 4, 0, 0]))
    np.testing.assert_allclose(tip, 0.0, atol=1e-9)
    np.testing.assert_allclose(R, np.eye(3), atol=1e-9)


def bathe(n, force):
    """Quarter of a right angle of radius 100 in the x-y plane, square section 1 x 1, E = 1e7,
    nu = 0, and a load along z at its end."""
    a = np.linspace(0.0, np.pi / 4, n + 1)
    line = 100.0 * np.column_stack([np.sin(a), 1.0 - np.cos(a), np.zeros(n + 1)])
    beam = {
        "between": ["ground", "free"],
        "line": line.tolist(),
        "section": {"rectangle": {"y": 1.0, "z": 1.0}},
        "material": {"E": 1e7, "nu": 0.0, "density": 1000},
    }
    load = {"kind": "force", "on": "boom.B", "force": [0, 0, force]}
    return model(beam, forces={"load": load})


def continuous_rod(machine, n_W, radius, angle):
    """Tip of the rod of Reissner and Simo under the end force n_W [N], clamped at the origin:

    r' = R (e_x + C_n^-1 R^T n),  R' = R skew(k_0 e_z + C_m^-1 R^T m),  m' = -r' x n,  m(L) = 0;

    the moment at the clamp is found by shooting, the force raised in steps."""
    s = stiffness_of(machine.beams["boom"])
    by_force, by_moment = np.array([s.EA, s.GA_y, s.GA_z]), np.array([s.GJ, s.EI_y, s.EI_z])

    def rate(_, y, n):
        R = y[3:12].reshape(3, 3)
        along = R @ (np.array([1.0, 0.0, 0.0]) + R.T @ n / by_force)
        k = np.array([0.0, 0.0, 1.0 / radius]) + R.T @ y[12:] / by_moment
        turn = R @ np.cross(np.eye(3), k)  # rows of cross(I, k) are those of skew(k)
        return np.concatenate([along, turn.ravel(), -np.cross(along, n)])

    def tip(m, n):
        y = np.concatenate([np.zeros(3), np.eye(3).ravel(), m])
        return solve_ivp(rate, (0.0, radius * angle), y, args=(n,), rtol=1e-8, atol=1e-6).y[:, -1]

    m = np.zeros(3)
    for part in (0.2, 0.6, 1.0):
        m = root(lambda m, n=part * n_W: tip(m, n)[12:], m, tol=1e-6).x
    return tip(m, n_W)[:3]


def bent_tip(n, force):
    machine = bathe(n, force)
    found = vibration(machine)
    place = found.small.mechanism.bodies[f"boom_{n}"]
    work = found.small.scratch.work[place.node]
    node = np.array(machine.bodies[f"boom_{n}"].points["N"])
    return work[9:12] + work[:9].reshape(3, 3) @ (place.p_NB + place.R_NB @ node)


@pytest.mark.parametrize(
    ("force", "published"), [(300.0, (58.84, 22.33, 40.08)), (600.0, (47.23, 15.79, 53.37))]
)
def test_bend_of_bathe(force, published):
    """Tip of the 45 degree bend, against the continuous rod, with the square of the element.

    Published with 8 elements: J. C. Simo, L. Vu-Quoc, Comput. Methods Appl. Mech. Eng. 58
    (1986) 79, where x and y are exchanged; elements of that time are a little stiffer."""
    exact = continuous_rod(bathe(8, force), np.array([0.0, 0.0, force]), 100.0, np.pi / 4)
    tips = [bent_tip(n, force) for n in (8, 16, 32)]
    errors = np.linalg.norm(np.array(tips) - exact, axis=1)
    assert errors[2] < 0.03
    np.testing.assert_allclose(np.log2(errors[:2] / errors[1:]), 2.0, atol=0.1)
    np.testing.assert_allclose(tips[0], published, atol=0.4)


def frequencies(elements):
    """First bending frequencies [rad/s] of a slender clamped-free beam, both planes."""
    beam = cantilever(elements, section={"rectangle": {"y": 0.01, "z": 0.012}})
    return np.abs(vibration(model(beam)).poles.imag)[:4]


def test_frequencies_converge_with_the_square_of_the_element():
    """Bernoulli and Euler: (1.87510407, 4.69409113)^2 / L^2 sqrt(EI / mu); shear and rotary
    inertia of so slender a beam are 2e-4 of it."""
    beam = model(cantilever(4, section={"rectangle": {"y": 0.01, "z": 0.012}})).beams["boom"]
    s = stiffness_of(beam)
    waves = np.array([1.87510407, 4.69409113]) ** 2 / beam.length**2
    exact = np.sort(np.outer(waves, np.sqrt([s.EI_y / s.mu, s.EI_z / s.mu])).ravel())
    found = [frequencies(n) for n in (4, 8, 16)]
    np.testing.assert_allclose(found[2], exact, rtol=5e-3)
    order = np.log2((found[1] - found[0]) / (found[2] - found[1]))
    np.testing.assert_allclose(order, 2.0, atol=0.25)


SPAGHETTI = {
    "between": ["free", "free"],
    "length": 10.0,
    "axis": [-6, 0, 8],
    "position": [6, 0, 0],
    "elements": 5,
    "EA": 1e4,
    "GA_y": 1e4,
    "GA_z": 1e4,
    "GJ": 500.0,
    "EI_y": 500.0,
    "EI_z": 500.0,
    "mass_per_length": 1.0,
    "rotary_inertia": [20, 10, 10],
}


def momenta(solution, machine):
    """Linear and angular momentum about the origin, (n, 6)."""
    total = 0.0
    for name, body in machine.bodies.items():
        xx, yy, zz, xy, yz, zx = body.inertia
        J = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
        q, w = solution[f"{name}.rotation"], solution[f"{name}.angular_velocity"]
        R = matrix_of
        h = np.array([R(a) @ J @ b for a, b in zip(q, w, strict=True)])
        p = body.mass * solution[f"{name}.velocity"]
        total = total + np.hstack([p, h + np.cross(solution[f"{name}.position"], p)])
    return total


def test_flying_spaghetti():
    """Simo and Vu-Quoc's free beam with their section and pulse (J. C. Simo, L. Vu-Quoc, Comp.
    Meth. Appl. Mech. Engng. 66 (1988) 125): a force that grows to 20 at t = 2.5 and ends at 5,
    torques of 200 and 100 on the same end; afterwards momenta and energy stay; both solvers
    agree, loads of every element too."""
    pulse = "20*max(0, 1 - abs(t - 2.5)/2.5)"
    forces = {
        "push": {"kind": "force", "on": "boom.A", "force": [pulse, 0, 0]},
        "turn": {
            "kind": "torque",
            "on": "boom.0",
            "torque": [0, f"-10*{pulse}", f"-5*{pulse}"],
        },
    }
    machine = model(SPAGHETTI, forces=forces)
    run = {"t_end": 7.0, "output_step": 0.5, "rtol": 1e-10, "atol": 1e-11}
    one, two = vbg.simulate(vbg.assemble(machine), **run), simulate(machine, **run)
    for solution in (one, two):
        late = momenta(solution, machine)[11:]
        assert np.abs(late - late[0]).max() < 1e-9 * np.abs(late).max()
        energy = solution["energy.stored"][11:]
        assert np.ptp(energy) < 1e-8 * energy[0]
    for k in range(1, 6):
        for what in ("force", "torque"):
            name = f"boom_e{k}.{what}"
            np.testing.assert_allclose(two[name], one[name], atol=1e-7 * np.abs(one[name]).max())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"length": None}, "needs either length or line"),
        ({"material": None}, "a section needs its material"),
        ({"section": {}}, "expected one of the sections"),
        ({"between": ["ground", "nowhere"]}, "unknown body"),
        ({"elements": 0}, "elements"),
        ({"frequency": 100.0}, "in the place of elements"),
        ({"elements": None, "frequency": 1e10}, "3000 are the most"),
        ({"length": None, "line": [[0, 0, 0], [1, 0, 0]], "axis": None}, "elements: follows from"),
        ({"length": None, "line": [[0, 0, 0], [1, 0, 0]], "elements": None}, "axis: follows from"),
        ({"up": [1, 2, 2]}, "is along the beam"),
        ({"position": [1, 0, 0]}, "that nothing holds"),
        ({"between": ["ground", "ground"]}, "would have to bridge"),
    ],
)
def test_mistakes_are_told(change, told):
    beam = {k: v for k, v in (cantilever(3) | change).items() if v is not None}
    with pytest.raises(ModelError, match=told):
        vbg.place(model(beam))


def test_nodes_of_a_line_differ():
    line = [[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]]
    beam = cantilever(None, length=None, line=line)
    beam = {k: v for k, v in beam.items() if k != "axis" and v is not None}
    with pytest.raises(ModelError, match="nodes 1 and 2 are at the same place"):
        model(beam)


def test_a_beam_on_a_beam_is_a_bent_one():
    """Two beams, one on the end of the other, and one along the same nodes; by both solvers."""
    section = {k: cantilever(2)[k] for k in ("section", "material")} | {"up": [0, 0, 1]}
    line = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [1, 0.4, 0], [1, 0.8, 0]]
    bent = model({"between": ["ground", "free"], "line": line} | section, (0, 0, -9.81))
    arm = {"between": ["ground", "free"], "length": 1, "elements": 2} | section
    hand = {"between": ["boom.B", "free"], "length": 0.8, "axis": [0, 1, 0], "elements": 2}
    both = vbg.Model(name="L", gravity=[0, 0, -9.81], beams={"boom": arm, "hand": hand | section})
    run = {"t_end": 0.005, "output_step": 0.001, "rtol": 1e-9, "atol": 1e-12}
    one, two = vbg.simulate(vbg.assemble(bent), **run), vbg.simulate(vbg.assemble(both), **run)
    three = simulate(both, **run)
    for solution in (two, three):
        tip = solution["hand_2.N.position"]
        np.testing.assert_allclose(tip, one["boom_4.N.position"], atol=1e-10)
    peak = np.abs(two["hand_A.torque"]).max()
    np.testing.assert_allclose(three["hand_A.torque"], two["hand_A.torque"], atol=1e-6 * peak)


def test_points_of_a_beam_are_its_nodes():
    with pytest.raises(ModelError, match=r"boom\.0 to boom\.3"):
        model(cantilever(3), forces={"f": {"kind": "force", "on": "boom.9", "force": [1, 0, 0]}})
    with pytest.raises(ModelError, match="makes a part called"):
        inertia = {"xx": 1, "yy": 1, "zz": 1}
        model(cantilever(3), bodies={"boom_2": {"mass": 1, "inertia": inertia}})
