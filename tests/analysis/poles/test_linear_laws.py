"""Linear forms of unusual machines against laws, closed forms and their own motion."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from vbg.analysis import (
    frequency_response,
    linearise,
    operating_point,
    step_response,
    transfer_function,
)
from vbg.cli.main import main


def chain(seed, masses=4):
    """Masses, springs and dampers in a row to the frame, with their M, D, K."""
    rng = np.random.default_rng(seed)
    m, k, c = (
        rng.uniform(0.5, 2.0, masses),
        rng.uniform(50, 300, masses),
        rng.uniform(0.1, 3, masses),
    )
    parts, K, D = {}, np.zeros((masses, masses)), np.zeros((masses, masses))
    for i in range(masses):
        before = "frame" if i == 0 else f"n{i - 1}"
        parts[f"m{i}"] = {"kind": "mass", "nodes": [f"n{i}"], "m": m[i]}
        parts[f"k{i}"] = {"kind": "spring", "nodes": [before, f"n{i}"], "k": k[i]}
        parts[f"d{i}"] = {"kind": "damper", "nodes": [before, f"n{i}"], "c": c[i]}
        e = np.eye(masses)[i] - (np.eye(masses)[i - 1] if i else 0.0)
        K, D = K + k[i] * np.outer(e, e), D + c[i] * np.outer(e, e)
    parts["push"] = {"kind": "force", "nodes": ["n0"], "force": 0.0}
    return parts, np.diag(m), D, K


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_chain_has_the_poles_and_responses_of_its_matrices(seed):
    """det(M s^2 + D s + K) = 0; G(s) = e_j^T (M s^2 + D s + K)^-1 e_0."""
    parts, M, D, K = chain(seed)
    n = len(M)
    found = linearise(
        vbg.assemble(vbg.Model(name="chain", translational=parts)),
        inputs=["push"],
        outputs=[f"translational.n{n - 1}.position"],
    )
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
    assert_allclose(
        np.sort_complex(found.eigenvalues), np.sort_complex(np.linalg.eigvals(A)), rtol=1e-8
    )
    w = np.array([0.3, 4.0, 17.0])
    G = [np.linalg.inv(-M * v * v + 1j * v * D + K)[n - 1, 0] for v in w]
    assert_allclose(frequency_response(found, frequency=w).value, G, rtol=1e-8)
    assert_allclose([transfer_function(found).at(1j * v) for v in w], G, rtol=1e-5)


@pytest.mark.parametrize("seed", [4, 5])
def test_a_random_network_of_resistors_coils_and_capacitors_is_passive(seed):
    """No pole grows; at its terminals Re Z(i w) >= 0."""
    rng = np.random.default_rng(seed)
    parts = {"U": {"kind": "current_source", "nodes": ["gnd", "n0"], "current": 0.0}}
    for i in range(5):
        here, after = f"n{i}", f"n{i + 1}"
        parts[f"R{i}"] = {"kind": "resistor", "nodes": [here, after], "R": rng.uniform(1, 9)}
        parts[f"L{i}"] = {"kind": "inductor", "nodes": [after, "gnd"], "L": rng.uniform(0.1, 1)}
        parts[f"C{i}"] = {"kind": "capacitor", "nodes": [here, "gnd"], "C": rng.uniform(0.1, 1)}
    found = linearise(
        vbg.assemble(vbg.Model(name="network", electric=parts)),
        None,
        ["U"],
        ["electric.n0.voltage"],
    )
    assert np.all(found.eigenvalues.real <= 1e-9)
    Z = frequency_response(found, frequency=np.logspace(-2, 2, 40)).value
    assert np.all(Z.real * np.sign(Z.real[0]) >= -1e-12)


def test_a_mode_that_cancels_stays_a_pole_and_leaves_the_response():
    """Two equal masses on equal springs to the frame, tied by a third: a push on both moves the
    common mode only, G = 1 / (m s^2 + c s + k)."""
    parts = {"tie": {"kind": "spring", "nodes": ["a", "b"], "k": 70.0}}
    for node in "ab":
        parts[f"m{node}"] = {"kind": "mass", "nodes": [node], "m": 2.0}
        parts[f"k{node}"] = {"kind": "spring", "nodes": [node, "frame"], "k": 100.0}
        parts[f"c{node}"] = {"kind": "damper", "nodes": [node, "frame"], "c": 1.5}
        parts[f"f{node}"] = {"kind": "force", "nodes": [node], "force": 0.0}
    system = vbg.assemble(vbg.Model(name="twins", translational=parts))
    found = linearise(system, None, ["fa", "fb"], ["translational.a.position"])
    assert len(found.eigenvalues) == 4
    w = np.array([1.0, 7.0, 9.2, 30.0])
    both = sum(frequency_response(found, f, frequency=w).value for f in ("fa", "fb"))
    assert_allclose(both, 1.0 / (100.0 - 2.0 * w**2 + 1.5j * w), rtol=1e-9)
    reach = np.hstack(
        [np.linalg.matrix_power(found.A, k) @ found.B.sum(1)[:, None] for k in range(4)]
    )
    assert np.linalg.matrix_rank(reach, tol=1e-8 * np.abs(reach).max()) == 2


def swing(force):
    """A damped pendulum that hangs, with a torque on its hinge."""
    return vbg.Model(
        name="swing",
        gravity=[0, 0, -9.81],
        bodies={
            "rod": {
                "mass": 1.3,
                "inertia": {"xx": 0.01, "yy": 0.11, "zz": 0.11},
                "points": {"A": [0, 0, 0.5]},
            }
        },
        joints={
            "hinge": {
                "kind": "revolute",
                "between": ["ground", "rod.A"],
                "axis": [0, 1, 0],
                "friction": {"viscous": 0.4},
            }
        },
        forces={"motor": {"kind": "torque", "on": "joints.hinge", "torque": [force]}},
    )


def test_step_response_is_the_small_motion_of_the_machine():
    size = 1e-5
    system = vbg.assemble(swing(0.0))
    found = linearise(system, operating_point(system), ["motor"], ["hinge.angle"])
    _, expected = step_response(found, t_end=2.0, count=41)
    run = vbg.simulate(swing(size), t_end=2.0, output_step=0.05, rtol=1e-10, atol=1e-14)
    angle = np.ravel(run["hinge.angle"])
    assert_allclose(angle / size, expected, atol=1e-5 * np.abs(expected).max())


def test_frequency_response_is_the_steady_motion_of_the_machine():
    """After the start has died out, the amplitude and phase at 5 rad/s by projection."""
    size, w = 1e-5, 5.0
    system = vbg.assemble(swing(0.0))
    found = linearise(system, operating_point(system), ["motor"], ["hinge.angle"])
    (expected,) = frequency_response(found, frequency=[w]).value
    period = 2 * np.pi / w
    model = swing(f"{size}*sin({w}*t)")
    run = vbg.simulate(model, t_end=30 * period, output_step=period / 64, rtol=1e-10, atol=1e-14)
    angle = np.ravel(run["hinge.angle"])[-64:]
    t = period / 64 * (np.arange(64) + 1)
    value = 2.0 / 64 * np.sum(angle * np.exp(-1j * w * t)) * 1j / size
    assert_allclose(value, expected, rtol=2e-4)


def disc(spin, radius=0.3, mass=2.0):
    A, C = mass * radius**2 / 4, mass * radius**2 / 2
    return vbg.assemble(
        vbg.Model(
            name="disc",
            gravity=[0, 0, -9.81],
            bodies={
                "d": {
                    "mass": mass,
                    "inertia": {"xx": A, "yy": C, "zz": A},
                    "position": [0, 0, radius],
                    "velocity": [spin * radius, 0, 0],
                    "angular_velocity": [0, spin, 0],
                }
            },
            joints={
                "c": {
                    "kind": "rolling",
                    "between": ["ground", "d"],
                    "axis": [0, 0, 1],
                    "axis2": [0, 1, 0],
                    "radius": radius,
                }
            },
        )
    )


@pytest.mark.parametrize("spin", [0.0, 2.0, 3.2, 3.4, 6.0])
def test_a_rolling_disc_has_five_coordinates_and_three_speeds(spin):
    """Of 5 coordinates that contact leaves two speeds are tied by rolling: 8 poles.  All are zero
    but (A + m r^2) s^2 + C (C + m r^2) spin^2 / A - m g r = 0, so that it stays upright above
    spin^2 = g / (3 r) (J. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972)."""
    found = linearise(disc(spin), inputs=[])
    assert found.point.kind == ("steady motion" if spin else "equilibrium")
    r, m = 0.3, 2.0
    A, C = m * r**2 / 4, m * r**2 / 2
    square = (m * 9.81 * r - C * (C + m * r**2) * spin**2 / A) / (A + m * r**2)
    assert len(found.eigenvalues) == 8
    assert_allclose(found.eigenvalues[:6], 0.0, atol=1e-4)
    assert_allclose(found.eigenvalues[6:] ** 2, square, rtol=1e-6)
    assert found.stability.startswith("Unstable") == (spin**2 < 9.81 / (3 * r))


def parallelogram(cranks):
    """A bar of 2 kg that hangs on equal cranks of 0.4 m."""
    crank = {"mass": 0.1, "inertia": {"xx": 2e-3, "yy": 2e-3, "zz": 1e-4}}
    places = np.linspace(-0.5, 0.5, cranks)
    bodies = {
        "bar": {
            "mass": 2.0,
            "inertia": {"xx": 0.01, "yy": 0.2, "zz": 0.2},
            "position": [0, 0, -0.4],
            "points": {f"P{i}": [x, 0, 0] for i, x in enumerate(places)},
        }
    }
    joints = {}
    for i, x in enumerate(places):
        bodies[f"c{i}"] = crank | {
            "position": [x, 0, -0.2],
            "points": {"top": [0, 0, 0.2], "low": [0, 0, -0.2]},
        }
        top = {"body": "ground", "at": [x, 0, 0]}
        for name, between in ((f"t{i}", [top, f"c{i}.top"]), (f"l{i}", [f"c{i}.low", f"bar.P{i}"])):
            joints[name] = {"kind": "revolute", "between": between, "axis": [0, 1, 0]}
    return vbg.assemble(
        vbg.Model(name="parallelogram", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)
    )


@pytest.mark.parametrize("cranks", [2, 3, 4])
def test_redundant_loops_add_no_pole(cranks):
    (mode,) = linearise(parallelogram(cranks), inputs=[]).modes
    moment = 9.81 * (2.0 * 0.4 + cranks * 0.1 * 0.2)
    inertia = 2.0 * 0.4**2 + cranks * (0.1 * 0.2**2 + 2e-3)
    assert mode.frequency == pytest.approx(np.sqrt(moment / inertia), rel=1e-9)


def test_a_driven_joint_has_no_pole_of_its_own():
    """A driven hinge leaves the elbow's rod as a pendulum: w^2 = m g a / (J + m a^2)."""
    rod = {
        "mass": 1.0,
        "inertia": {"xx": 1e-4, "yy": 1 / 12, "zz": 1 / 12},
        "points": {"A": [0, 0, 0.5], "B": [0, 0, -0.5]},
    }
    hinge = {"kind": "revolute", "between": ["ground", "u.A"], "axis": [0, 1, 0]}
    model = vbg.Model(
        name="driven",
        gravity=[0, 0, -9.81],
        bodies={"u": rod, "l": rod},
        joints={
            "hinge": hinge | {"drive": 0.3},
            "elbow": {"kind": "revolute", "between": ["u.B", "l.A"], "axis": [0, 1, 0]},
        },
    )
    system = vbg.assemble(model)
    (mode,) = linearise(system, operating_point(system), inputs=[]).modes
    assert mode.frequency == pytest.approx(np.sqrt(9.81 * 0.5 / (1 / 12 + 0.25)), rel=1e-7)


def test_a_table_that_has_run_out_is_no_state():
    """A source from a table of time acts as a constant: its value shifts the rest alone."""
    parts = {
        "m": {"kind": "mass", "nodes": ["x"], "m": 1.0},
        "k": {"kind": "spring", "nodes": ["x", "frame"], "k": 9.0},
        "f": {"kind": "force", "nodes": ["x"], "force": "pull"},
    }
    signals = {"pull": {"kind": "table", "rows": [[0, 0], [1, 18]]}}
    system = vbg.assemble(vbg.Model(name="pulled", translational=parts, signals=signals))
    for t, rest in ((0.0, 0.0), (0.5, 1.0), (3.0, 2.0)):
        point = operating_point(system, t=t)
        found = vbg.start(system).outputs(t, point.x)["translational.x.position"]
        assert found == pytest.approx(rest)
        assert_allclose(linearise(system, point, []).eigenvalues.imag, [-3, 3], rtol=1e-12)


@pytest.mark.parametrize("gain", [0.9, 1.1])
def test_a_dead_time_in_a_loop_turns_unstable_where_it_should(gain):
    """v' = -k v(t - T) is stable below k T = pi / 2."""
    T = 0.2
    k = gain * np.pi / 2 / T
    model = vbg.Model(
        name="dead time",
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": 1.0},
            "f": {"kind": "force", "nodes": ["x"], "force": f"-{k}*late"},
        },
        signals={"late": {"kind": "delay", "input": "translational.x.speed", "time": T}},
    )
    growing = linearise(vbg.assemble(model), inputs=[]).eigenvalues.real.max() > 1e-6
    assert growing == (gain > 1.0)


def sampled(k, T=0.1, demand=0.0):
    """x'' + x' + 3 x = k (demand - h), h the sampled x."""
    return vbg.Model(
        name="sampled",
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": 1.0, "position": 1e-3},
            "d": {"kind": "damper", "nodes": ["x", "frame"], "c": 1.0},
            "s": {"kind": "spring", "nodes": ["x", "frame"], "k": 3.0},
            "f": {"kind": "force", "nodes": ["x"], "force": f"{k}*({demand} - h)"},
        },
        signals={
            "h": {"kind": "sample_and_hold", "input": "translational.x.position", "period": T}
        },
    )


@pytest.mark.parametrize("k", [5.0, 60.0])
def test_multipliers_of_a_sampled_loop_are_those_of_its_motion(k):
    """Position and speed at the instants follow the map z -> M z; its poles decide."""
    T = 0.1
    model = sampled(k)
    found = linearise(vbg.assemble(model), inputs=[])
    run = vbg.simulate(model, t_end=6 * T, output_step=T, rtol=1e-11, atol=1e-15)
    z = np.array([np.ravel(run[f"translational.x.{what}"]) for what in ("position", "speed")])
    M = z[:, 1:] @ np.linalg.pinv(z[:, :-1])
    moving = found.sampling.multipliers[np.abs(found.sampling.multipliers) > 1e-9]
    assert_allclose(np.sort_complex(moving), np.sort_complex(np.linalg.eigvals(M)), rtol=1e-6)
    assert ("unstable" in found.stability) == (np.abs(moving).max() > 1.0)


def test_a_sampled_loop_rests_where_it_reads_what_it_holds():
    """3 x = 5 (1 - x)."""
    system = vbg.assemble(sampled(5.0, demand=1.0))
    point = operating_point(system)
    assert point.kind == "equilibrium"
    found = vbg.start(system).outputs(0.0, point.x)["translational.x.position"]
    assert found == pytest.approx(5.0 / 8.0, rel=1e-9)


def test_modes_of_a_sampled_loop(tmp_path, capsys):
    path = tmp_path / "sampled.toml"
    path.write_text(
        "vbg = 1\n[translational]\nm = {kind = 'mass', nodes = ['x'], m = 1}\n"
        "d = {kind = 'damper', nodes = ['x', 'frame'], c = 1}\n"
        "f = {kind = 'force', nodes = ['x'], force = '-5*h'}\n[signals]\n"
        "h = {kind = 'sample_and_hold', input = 'translational.x.position', period = '0.1 s'}\n"
    )
    assert main(["show", "modes", str(path)]) == 0
    text = capsys.readouterr().out
    assert "Stable: With h sampled every 0.1 s" in text and "-0.37237 +- 2.195" in text
    assert main(["show", "modes", str(path), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["modes"] == [] and plain["sampling"]["period"] == 0.1
