"""Flexible bodies from matrices of finite elements: reduction, statics, spin, both solvers."""

import numpy as np
import pytest
import scipy.linalg

import vbg
from tests.laws.meshes import STEEL, frame, lattice
from tests.tail import tail
from vbg.analysis import linearise
from vbg.errors import ModelError
from vbg.physics.craig_bampton import FiniteElements, reduce
from vbg.tmm_bridge import simulate

ENDS = {"A": [0, 1, 2, 3], "B": [12, 13, 14, 15]}  # of the lattice: both faces


def flexible(mesh, points, **more):
    M, K, X = (a.tolist() for a in mesh)
    return {"M": M, "K": K, "nodes": X, "points": points, **more}


def machine(body, gravity=(0, 0, 0), **tables):
    bodies = {"arm": body} | tables.pop("bodies", {})
    return vbg.Model(name="flexible", gravity=list(gravity), bodies=bodies, **tables)


def both(model, **run):
    run = {"rtol": 1e-9, "atol": 1e-12} | run
    return vbg.simulate(vbg.assemble(model), **run), simulate(model, **run)


def agree(one, two, names, tolerance):
    for name in names:
        peak = np.abs(one[name]).max()
        np.testing.assert_allclose(two[name], one[name], atol=tolerance * peak, err_msg=name)


def rotation(quaternion):
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize(
    ("mesh", "points"), [(frame(4, 1.0), {"A": [0], "B": [4]}), (lattice(), {"A": [3], "B": [9]})]
)
def test_frequencies_are_those_of_the_matrices(mesh, points):
    """All modes kept: the spectrum of (M, K) without its six zeros; few kept: bounds from above."""
    M, K, X = mesh
    if len(M) == 3 * len(X):
        points = ENDS  # rigid faces
    fe = FiniteElements(M, K, X)
    held = sum(map(len, points.values())) * fe.per_node
    every = reduce(fe, points, modes=len(M) - held, frequency=None)
    if len(M) == 6 * len(X):
        exact = np.sqrt(np.abs(scipy.linalg.eigh(K, M, eigvals_only=True)[6:]))
        np.testing.assert_allclose(every.frequencies, exact, rtol=1e-8)
    few = reduce(fe, points, modes=3, frequency=None)
    assert (few.frequencies[:3] >= every.frequencies[:3] * (1 - 1e-12)).all()
    np.testing.assert_allclose(few.frequencies[0], every.frequencies[0], rtol=0.01)
    for modes in (every, few):  # orthonormal, and against the rigid-body modes
        phi, T = modes.shapes, modes.elements.rigid(np.zeros(3))
        np.testing.assert_allclose(phi.T @ M @ phi, np.eye(modes.count), atol=1e-9)
        size = np.sqrt(np.diag(T.T @ M @ T))
        np.testing.assert_allclose(T.T @ M @ phi / size[:, None], 0, atol=1e-9)


def moved(p):
    """(6, 6): displacement and turn at p by those of the mass centre."""
    x, y, z = p
    return np.block(
        [[np.eye(3), np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])], [np.zeros((3, 3)), np.eye(3)]]
    )


@pytest.mark.parametrize("modes", [0, 5])
def test_statics_at_points_are_exact(modes):
    """Clamped at A, loads at B: the compliance of the full matrix with any number of modes."""
    M, K, X = frame(6, 1.2)
    found = reduce(FiniteElements(M, K, X), {"A": [0], "B": [6]}, modes=modes, frequency=None)
    exact = np.linalg.inv(K[6:, 6:])[-6:, -6:]
    (at, a), (end, b) = found.interfaces["A"], found.interfaces["B"]
    soft = [[x / found.frequencies**2 @ y.T for y in (a, b)] for x in (a, b)]
    carried = np.linalg.inv(moved(at)).T @ moved(end).T  # what the clamp takes of a load at B
    freely = np.linalg.solve(moved(at), soft[0][0] @ carried - soft[0][1])
    compliance = moved(end) @ freely - soft[1][0] @ carried + soft[1][1]
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    np.testing.assert_allclose(compliance / size, exact / size, atol=1e-8)


def test_kinetic_energy_is_that_of_the_mesh():
    """1/2 sum m |v + w x (x + phi q) + phi q'|^2, and momenta, at a start at random."""
    random = np.random.default_rng(1)
    modes = reduce(FiniteElements(*lattice()), ENDS, modes=3, frequency=None)
    q, speed = 0.003 * random.normal(size=modes.count), random.normal(size=modes.count)
    v, w = random.normal(size=3), 5.0 * random.normal(size=3)
    body = {
        "flexible": flexible(lattice(), ENDS, modes=3, start=list(q), start_speed=list(speed)),
        "velocity": list(v),
        "angular_velocity": list(w),
    }
    X = modes.elements.X + (modes.shapes @ q).reshape(-1, 3)
    V = v + np.cross(w, X) + (modes.shapes @ speed).reshape(-1, 3)
    masses = np.diag(modes.elements.M)[::3]
    exact = 0.5 * np.sum(masses * np.sum(V**2, axis=1))
    for solution in both(machine(body), t_end=1e-4, output_step=1e-4):
        np.testing.assert_allclose(solution["energy.kinetic"][0], exact, rtol=1e-9)
        bent = 0.5 * np.sum((modes.frequencies * q) ** 2)
        np.testing.assert_allclose(solution["energy.potential"][0], bent, rtol=1e-9)


def spun(**more):
    body = {
        "flexible": flexible(lattice(), ENDS, modes=2),
        "velocity": [0.1, 0.2, 0.3],
        "angular_velocity": [3.0, 20.0, 8.0],
    }
    blow = {"kind": "force", "on": "arm.B", "force": ["if(t < 0.01, 200, 0)", 0, 0]}
    return machine(body | more, forces={"blow": blow})


def test_free_flight_conserves_momenta_and_energy():
    """After a blow: momentum, energy, angular momentum R (J w + G q') about the mass centre; and
    both solvers agree."""
    model = spun()
    one, two = both(model, t_end=0.05, output_step=0.005)
    modes = model.bodies["arm"].flexible.modes
    X, masses = modes.elements.X, np.diag(modes.elements.M)[::3]
    for solution in (one, two):
        late = slice(3, None)
        np.testing.assert_allclose(np.ptp(solution["arm.velocity"][late], axis=0), 0, atol=1e-9)
        energy = solution["energy.stored"][late]
        assert np.ptp(energy) < 1e-8 * energy[0]
        turned = []
        for k in range(3, len(solution.time)):
            u = (modes.shapes @ solution["arm.modal"][k]).reshape(-1, 3)
            su = (modes.shapes @ solution["arm.modal_speed"][k]).reshape(-1, 3)
            V = np.cross(solution["arm.angular_velocity"][k], X + u) + su
            h = np.sum(masses[:, None] * np.cross(X + u, V), axis=0)
            turned.append(rotation(solution["arm.rotation"][k]) @ h)
        np.testing.assert_allclose(np.ptp(turned, axis=0), 0, atol=1e-8 * np.abs(turned).max())
    names = ["arm.modal", "arm.modal_speed", "arm.angular_velocity", "arm_B.position"]
    agree(one, two, [*names, "arm_B.rotation", "arm_A.velocity", "arm_A.displacement"], 1e-6)


def test_spin_stretches_as_the_mesh_has_it():
    """Steady spin about a principal axis: (K - W^2 P M) u = W^2 P M x, P across the axis."""
    _, K, X = frame(4, 1.0)
    rate = 150.0
    lumped = np.kron(np.diag(np.r_[0.5, 1, 1, 1, 0.5]), np.diag([1, 1, 1, 1e-4, 1e-4, 1e-4]))
    X = X - [0.5, 0, 0]
    across = np.kron(np.eye(5), np.diag([1.0, 1, 0, 0, 0, 0]))
    places = np.hstack([X, np.zeros((5, 3))]).ravel()
    pull = across @ lumped @ places
    K_spin = K - rate**2 * across @ lumped @ across
    u = np.linalg.lstsq(K_spin, rate**2 * pull, rcond=1e-12)[0]
    modes = reduce(FiniteElements(lumped, K, X), {"A": [0], "B": [4]}, modes=18, frequency=None)
    body = {
        "flexible": flexible(
            (lumped, K, X),
            {"A": 0, "B": 4},
            modes=18,
            start=list(modes.shapes.T @ lumped @ u),
        ),
        "angular_velocity": [0, 0, rate],
    }
    stretch = u[-6]
    assert stretch > 1e-6
    for solution in both(machine(body), t_end=0.002, output_step=0.0005, atol=1e-10):
        there = solution["arm_B.displacement"][:, 0]
        np.testing.assert_allclose(there, stretch, rtol=1e-6)


def test_clamped_it_rings_as_the_matrix_does():
    """Poles of the linearised machine: those of (M, K) with the clamped freedoms taken out."""
    M, K, X = frame(3, 1.0)
    body = {"flexible": flexible((M, K, X), {"A": 0, "B": 3}, modes=12)}
    clamp = {"clamp": {"kind": "fixed", "between": ["ground", "arm.A"]}}
    system = vbg.assemble(machine(body, joints=clamp))
    found = linearise(system, inputs=[]).eigenvalues
    poles = np.sort(found.imag[found.imag > 1.0])
    exact = np.sqrt(scipy.linalg.eigh(K[6:, 6:], M[6:, 6:], eigvals_only=True))
    np.testing.assert_allclose(poles[:8], exact[:8], rtol=1e-6)


def test_hinged_in_a_machine_by_both_solvers():
    """A driven flexible arm with a load on a hinge at its end: every joint force twice."""
    body = {"flexible": flexible(frame(3, 0.8), {"A": 0, "B": 3}, modes=2, damping=0.02)}
    load = {
        "mass": 2.0,
        "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02},
        "points": {"P": [-0.2, 0, 0]},
    }
    joints = {
        "motor": {
            "kind": "revolute",
            "between": ["ground", "arm.A"],
            "axis": [0, 1, 0],
            "drive": "0.5*(1 - cos(20*t))",
        },
        "elbow": {"kind": "revolute", "between": ["arm.B", "load.P"], "axis": [0, 1, 0]},
    }
    model = machine(body, (0, 0, -9.81), bodies={"load": load}, joints=joints)
    one, two = both(model, t_end=0.05, output_step=0.005)
    names = ["motor.force", "motor.torque", "motor.drive", "elbow.force", "elbow.angle"]
    agree(one, two, [*names, "arm.modal", "arm_B.force", "load.acceleration"], 1e-5)


def test_small_deflections_are_those_of_a_beam():
    """A blow at the tip of a clamped strip: matrices of finite elements and [beams]."""
    body = {"flexible": flexible(frame(4, 1.0), {"A": 0, "B": 4}, modes=4)}
    beam = {
        "between": ["ground", "free"],
        "length": 1.0,
        "section": {"rectangle": {"y": 0.02, "z": 0.03}},
        "material": STEEL,
        "elements": 6,
    }
    push = {"kind": "force", "force": [0, 0, "100*sin(50*t)"]}
    clamp = {"clamp": {"kind": "fixed", "between": ["ground", "arm.A"]}}
    bent = machine(body, joints=clamp, forces={"push": push | {"on": "arm.B"}})
    whole = vbg.Model(
        name="b", gravity=[0, 0, 0], beams={"arm": beam}, forces={"push": push | {"on": "arm.B"}}
    )
    run = {"t_end": 0.02, "output_step": 0.001, "rtol": 1e-5}
    one = vbg.simulate(vbg.assemble(bent), **run)["arm_B.position"][:, 2]
    two = vbg.simulate(vbg.assemble(whole), method="radau", **run)["arm_6.N.position"][:, 2]
    np.testing.assert_allclose(one, two, atol=0.02 * np.abs(two).max())


@pytest.mark.parametrize(
    ("load", "words"),
    tail([(10.0, {"PASS"}), (1.0, {"PASS", "INCONCLUSIVE"}), (100.0, {"PASS"})], 1),
)
def test_validate_passes_from_rest_under_load(load, words):
    """What bending makes along the arm, of second order and 3e-5 of the load, hangs on the last
    digits of places in one solver: beside the force whose component it is, that is nothing.  Of
    1 N rounding changes it by a thousandth or two, which either word may tell."""
    body = {"flexible": flexible(frame(3, 0.8), {"A": 0, "B": 3}, frequency="300 Hz", damping=0.05)}
    model = machine(
        body,
        (0, 0, -9.81),
        joints={"clamp": {"kind": "fixed", "between": ["ground", "arm.A"]}},
        forces={"push": {"kind": "force", "on": "arm.B", "force": [0, 0, f"{load}*sin(100*t)"]}},
        simulate={"t_end": 0.005, "output_step": 0.0005, "start": "equilibrium", "rtol": 1e-8},
    )
    verdict = vbg.validate(model).verdict
    assert verdict.result in words, verdict.sentence


def scaled(mesh, M=1.0, K=1.0):
    return (mesh[0] * M, mesh[1] * K, mesh[2])


def millimetres():
    M, K, X = lattice()
    return 1e-3 * M, 1e-3 * K, 1e3 * X


def supported():
    M, K, X = frame(3, 1.0)
    K = K.copy()
    K[0, 0] *= 2.0
    return M, K, X


def lopsided():
    M, K, X = frame(3, 1.0)
    M = M.copy()
    M[0, 6] *= 3.0
    return M, K, X


def apart():
    M, K, X = frame(3, 1.0)
    return M[6:, 6:], K[6:, 6:], X


def stacked():
    """Freedoms ordered by direction instead of by node."""
    M, K, X = frame(3, 1.0)
    order = np.arange(24).reshape(4, 6).T.ravel()
    return M[np.ix_(order, order)], K[np.ix_(order, order)], X


@pytest.mark.parametrize(
    ("mesh", "change", "told"),
    [
        (supported(), {}, "six rigid-body modes"),
        (lopsided(), {}, "M is not symmetric"),
        (apart(), {}, "4 nodes have 12 or 24 freedoms"),
        (stacked(), {}, "order"),
        (millimetres(), {"points": ENDS}, "Are they in kg, m, N"),
        (scaled(frame(3, 1.0), M=-1.0), {}, "weighs the same along each"),
        (frame(3, 1.0), {"points": {"A": 7}}, "there is no node 7"),
        (frame(3, 1.0), {"points": {"A": 0, "B": 0}}, "belongs to A already"),
        (frame(3, 1.0), {"points": {}}, "names no point"),
        (frame(3, 1.0), {"modes": 99}, "fixed-interface modes, not 99"),
        (frame(3, 1.0), {"frequency": 10.0}, "either modes or frequency"),
        (frame(3, 1.0), {"M": "none.npy"}, "cannot read none.npy"),
        (frame(3, 1.0), {"start": [1.0]}, "modal coordinates, found 1"),
        (lattice(), {"points": {"A": [0, 1], "B": [12, 13, 14]}}, "three of them"),
    ],
)
def test_mistakes_are_told(mesh, change, told):
    with pytest.raises(ModelError, match=told):
        machine({"flexible": flexible(mesh, {"A": 0, "B": 3}, modes=2) | change})


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("mass", 4710.0, "M weighs 4.71 kg"),
        ("inertia", {"xx": 1, "yy": 1, "zz": 1}, "follows from the matrices"),
        ("points", {"P": [0, 0, 0]}, "flexible.points"),
    ],
)
def test_what_matrices_tell_is_not_written(key, value, told):
    body = {"flexible": flexible(frame(3, 1.0), {"A": 0, "B": 3}, modes=2), key: value}
    with pytest.raises(ModelError, match=told):
        machine(body)


@pytest.mark.parametrize("end", ["arm", "arm.C", {"body": "arm", "at": [0, 0, 0]}])
def test_parts_hold_its_points_only(end):
    body = {"flexible": flexible(frame(3, 1.0), {"A": 0, "B": 3}, modes=2)}
    with pytest.raises(ModelError, match=r"arm\.A"):
        machine(body, joints={"j": {"kind": "fixed", "between": ["ground", end]}})
