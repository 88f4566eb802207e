"""Dry friction that sticks holds a bounded effort: it carries nothing of an impulse."""

from __future__ import annotations

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.errors import UsageError
from vbg.tmm_bridge import simulate as second

SOLVERS = [vbg.simulate, second]
START, END = 0.1, 0.3  # of a jump and of the run, in units of time


def chain(seed: int, ramp: float) -> tuple[vbg.Model, float]:
    """Three links in a plane on dry hinges, at rest, the first driven: its speed jumps, or grows
    within `ramp` units of time; one hinge carries a wheel behind a clutch.  And the unit of time.
    """
    draw = np.random.default_rng(seed)
    L, m, T = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    moment, w = m * L**2, float(draw.uniform(1.0, 3.0) * draw.choice([-1, 1])) / T
    rises = f"{w / (2 * ramp * T)!r}*(t - {START * T!r})^2" if ramp else "0"
    along = f"{w!r}*(t - {(START + 0.5 * ramp) * T!r})"
    ended = f"if(t < {(START + ramp) * T!r}, {rises}, {along})"
    bodies, joints, end = {}, {}, ["ground", ""]
    for n in "abc":
        near, far = draw.uniform(0.2, 0.6, 2) * L
        J = draw.uniform(0.02, 0.1) * moment
        bodies[n] = {
            "mass": draw.uniform(0.5, 2.0) * m,
            "inertia": {"xx": J, "yy": J, "zz": J},
            "points": {"near": [-near, 0, 0], "far": [far, 0, draw.uniform(-0.1, 0.1) * L]},
        }
        dry = {"friction": {"coulomb": draw.uniform(0.02, 0.05) * moment / T**2}}
        given = {"drive": f"if(t < {START * T!r}, 0, {ended})"}
        first = "ground" if end[0] == "ground" else ".".join(end)
        joints[n.upper()] = {"kind": "revolute", "between": [first, f"{n}.near"], "axis": [0, 1, 0]}
        joints[n.upper()] |= given if n == "a" else dry
        end = [n, "far"]
    on = str(draw.choice(["a", "c"]))
    model = vbg.Model(
        name="chain",
        gravity=[0, 0, 0],
        bodies=bodies,
        joints=joints,
        rotational={
            "clutch": {
                "kind": "clutch",
                "nodes": [f"joint:{on.upper()}", "w"],
                "capacity": 0.03 * moment / T**2,
            },
            "wheel": {"kind": "inertia", "nodes": ["w"], "J": 0.2 * moment},
        },
        simulate={"t_end": END * T, "output_step": END * T, "rtol": 1e-9},
    )
    return model, T


def ending(solve, seed: int, ramp: float) -> np.ndarray:
    """Angles and speeds of the hinges and the wheel's speed at the end, in units of time."""
    model, T = chain(seed, ramp)
    run = solve(model)
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    speeds = [run[name][-1] * T for name in ("B.speed", "C.speed", "wheel.speed")]
    return np.array([run["B.angle"][-1], run["C.angle"][-1], *speeds])


@pytest.mark.parametrize("seed", tail(range(8), 1))
@pytest.mark.parametrize("solve", SOLVERS)
def test_a_jump_of_speed_is_the_limit_of_ever_shorter_ramps(solve, seed):
    """Between dry hinges at rest and a clutch that holds, at random scales."""
    jump = ending(solve, seed, 0.0)
    long, short = (np.abs(ending(solve, seed, ramp) - jump).max() for ramp in (1e-2, 1e-4))
    assert 0.0 < short < 0.03 * long
    assert short < 1e-3 * np.abs(jump).max()


def test_bushings_refuse_an_impulse_beside_dry_friction():
    """They would hold what it sets slipping."""
    with pytest.raises(UsageError, match=r"joints\.A: .*jumps .* slipping.*auto"):
        vbg.simulate(chain(0, 0.0)[0], method="discrete-time")


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", tail(range(5), 1))
def test_a_dry_hinge_is_free_while_a_latch_closes(solve, balanced, seed):
    """Two bars that fly on with -v along z; the first (m, J) is caught at its centre.  The hinge,
    at p from it and at q from the centre of the second, passes on P with

        P (1/m2 + q^2/J2 + p^2/J1) = v,    the catch takes m1 v + P,

    whatever the hinge holds; `balanced`, with p/J1 = q/J2, it does not slip, and goes on to
    stick."""
    draw = np.random.default_rng(seed)
    L, m, v = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    m1, m2 = draw.uniform(0.5, 2.0, 2) * m
    J1, J2 = draw.uniform(0.02, 0.1, 2) * m * L**2
    p = draw.uniform(0.2, 0.4) * L
    q = p * J2 / J1 if balanced else draw.uniform(0.2, 0.4) * L
    P = v / (1.0 / m2 + q**2 / J2 + p**2 / J1)
    moments = [{"xx": J, "yy": J, "zz": J} for J in (J1, J2)]
    flies = {"velocity": [0, 0, -v]}
    model = vbg.Model(
        name="caught",
        gravity=[0, 0, 0],
        bodies={
            "a": {"mass": m1, "inertia": moments[0], "points": {"B": [p, 0, 0]}, **flies},
            "b": {
                "mass": m2,
                "inertia": moments[1],
                "points": {"B": [-q, 0, 0]},
                "position": [p + q, 0, 0],
                **flies,
            },
        },
        joints={
            "plane": {"kind": "planar", "between": ["ground", "a"], "axis": [0, 1, 0]},
            "B": {
                "kind": "revolute",
                "between": ["a.B", "b.B"],
                "axis": [0, 1, 0],
                "friction": {"coulomb": draw.uniform(0.02, 0.05) * m * v**2},
            },
            "catch": {
                "kind": "spherical",
                "between": [{"body": "ground", "at": [0, 0, -0.2 * L]}, "a"],
                "engage": f"a.position.z < {-0.2 * L!r}",
            },
        },
        simulate={"t_end": 0.25 * L / v, "output_step": 0.05 * L / v},
    )
    run = solve(model)
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    moving = p**2 * P**2 / J1 + (m2 * v - P) ** 2 / m2 + q**2 * P**2 / J2
    lost = 0.5 * ((m1 + m2) * v**2 - moving)
    assert run["catch.impulse"][-1] == pytest.approx([0, 0, m1 * v + P], rel=1e-9, abs=1e-9 * m * v)
    assert run["catch.lost"][-1] == pytest.approx(lost, rel=1e-9)
    slip = P * (q / J2 - p / J1)
    first, *behind = [e.where.removeprefix("joints.") for e in run.audit.events]
    assert first == "catch"  # the cause is told first
    assert all(one.startswith("B") for one in behind)
    if balanced:
        np.testing.assert_allclose(run["B.angle"], 0.0, atol=1e-9)
    else:
        assert run["B.angle"][-1] * slip > 0.0


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_what_has_just_stopped_slips_on_where_its_carrier_is_caught(scale, solve):
    """A block m on a sledge 2 m, which the block's friction drives until both have the speed v:
    there the sledge is caught, and the block slips on with v, whatever the root is rounded to."""
    v = 11.0 / 3.0 * scale  # behind 4/3 s, the sledge having gone from 3 to that at 1/2
    moments = {"xx": 1.0, "yy": 1.0, "zz": 1.0}
    rail = {"kind": "prismatic", "axis": [1, 0, 0]}
    model = vbg.Model(
        name="sledge",
        gravity=[0, 0, 0],
        bodies={"a": {"mass": 2.0, "inertia": moments}, "b": {"mass": 1.0, "inertia": moments}},
        joints={
            "A": {**rail, "between": ["ground", "a"], "initial": {"speed": 3.0 * scale}},
            "B": {
                **rail,
                "between": ["a", "b"],
                "initial": {"speed": 2.0 * scale},
                "friction": {"coulomb": scale},
            },
            "catch": {
                "kind": "fixed",
                "between": [{"body": "ground", "at": [40.0 / 9.0 * scale, 0, 0]}, "a"],
                "engage": "B.speed <= 0",
            },
        },
        simulate={"t_end": 2.0, "output_step": 0.5},
    )
    run = solve(model)
    assert run["catch.lost"][-1] == pytest.approx(v**2, rel=1e-9)
    assert run["B.speed"][-1] == pytest.approx(v - 2.0 / 3.0 * scale, rel=1e-9)
    assert not run.audit.failures


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("kind", ["friction", "clutch", "ahead"])
@pytest.mark.parametrize("seed", tail(range(8), 2))
def test_what_is_carried_along_does_not_jump_with_its_carrier(solve, kind, seed):
    """A wheel J that friction F takes along with a shaft whose given speed jumps from u to s keeps
    its own and gains F/J t, at most to s; `ahead`: the shaft, without inertia, runs ahead of
    another wheel J0 by s, which friction holds and F moves back."""
    draw = np.random.default_rng(seed)
    moment, T = (10.0 ** draw.uniform(-3, 3, 2)).tolist()
    J, J0 = (draw.uniform(0.5, 2.0, 2) * moment).tolist()
    u = 0.0 if kind == "ahead" else float(draw.choice([0.0, 0.5, -0.5])) / T
    s = float(draw.uniform(1.0, 2.0) * draw.choice([-1, 1])) / T
    way = np.sign(s - u)
    reaches = kind != "ahead" and bool(seed % 2)
    F = float(draw.uniform(20.0, 30.0) if reaches else draw.uniform(0.5, 2.0)) * moment / T**2
    held = 0.4 * F
    at, end = 0.4 * T, T
    law = {"capacity": F} if kind == "clutch" else {"coulomb": F}
    parts = {
        "motor": {"kind": "speed", "nodes": ["f"], "speed": f"if(t < {at!r}, {u!r}, {s!r})"},
        "dry": {"kind": "clutch" if kind == "clutch" else "friction", "nodes": ["f", "w"], **law},
        "wheel": {"kind": "inertia", "nodes": ["w"], "J": J, "speed": u},
    }
    if kind == "ahead":
        parts["motor"]["nodes"] = ["b", "f"]
        parts["base"] = {"kind": "inertia", "nodes": ["b"], "J": J0}
        parts["brake"] = {"kind": "friction", "nodes": ["b"], "coulomb": held}
    settings = {"t_end": end, "output_step": 0.05 * T, "rtol": 1e-9}
    model = vbg.Model(name="carried", gravity=[0, 0, 0], rotational=parts, simulate=settings)
    run = solve(model)
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    gained = F / J * np.clip(run.time - at, 0.0, None)
    back = -way * (F - held) / J0 * np.clip(run.time - at, 0.0, None) if kind == "ahead" else 0.0
    slip = np.abs(s - u) - gained - np.abs(back)
    slips = slip > 0.0
    expected = np.where(slips, u + way * gained, s)
    assert slips[-1] != reaches or kind == "ahead"
    close = {"rtol": 1e-7, "atol": 1e-8 / T}
    np.testing.assert_allclose(run["wheel.speed"][slips], expected[slips], **close)
    if kind == "ahead":
        np.testing.assert_allclose(run["base.speed"][slips], back[slips], **close)
    else:
        np.testing.assert_allclose(run["wheel.speed"], expected, **close)
        slid = (
            (s - u) ** 2 * J / 2
            if reaches
            else F * abs((s - u) * 0.6 * T) - (F * 0.6 * T) ** 2 / J / 2
        )
        assert run["energy.dissipated"][-1] == pytest.approx(slid, rel=1e-6)


CONDITIONS = ["B.speed <= 0", "-B.speed > 0", "B.speed^3 <= 0", "-B.speed*B.speed^4 > 0"]
CONDITIONS += ["B.speed*abs(B.speed)^1.5 <= 0", "-B.speed*sqrt(abs(B.speed)) > 0"]


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seed", tail(range(8), 2))
def test_a_joint_closes_where_friction_brings_its_body_to_rest(solve, condition, seed):
    """A block m at v that friction F stops behind m v / F; there another one M with u is coupled to
    it, whose speed goes on as M u / (m + M) - F / (m + M) t."""
    draw = np.random.default_rng(seed)
    L, mass, T = (10.0 ** draw.uniform(-3, 3, 3)).tolist()
    m, M = (mass * draw.uniform(0.5, 2.0, 2)).tolist()
    v, u = (draw.uniform(1.0, 2.0, 2) * L / T).tolist()
    F = m * v / T
    stops, gone = T, 0.5 * v * T
    moments = dict.fromkeys(("xx", "yy", "zz"), mass * L**2)
    rail = {"kind": "prismatic", "axis": [1, 0, 0]}
    points = {"P": [L, 0, 0]}
    model = vbg.Model(
        name="coupled",
        gravity=[0, 0, 0],
        bodies={
            "a": {"mass": M, "inertia": moments, "points": points},
            "b": {"mass": m, "inertia": moments, "points": points},
        },
        joints={
            "A": {
                **rail,
                "between": ["ground", "a"],
                "initial": {"slide": gone - u * stops, "speed": u},
            },
            "B": {
                **rail,
                "between": ["ground", "b"],
                "initial": {"speed": v},
                "friction": {"coulomb": F},
            },
            "catch": {"kind": "fixed", "between": ["a.P", "b.P"], "engage": condition},
        },
        simulate={"t_end": 1.2 * T, "output_step": 0.1 * T},
    )
    run = solve(model)
    assert run.status.code == "finished", run.status.sentence
    assert not run.audit.failures
    assert run["catch.impulse"][-1, 0] == pytest.approx(m * M * u / (m + M), rel=1e-8)
    assert run["catch.lost"][-1] == pytest.approx(0.5 * m * M * u**2 / (m + M), rel=1e-8)
    after = M * u / (m + M) - 0.2 * T * F / (m + M)
    assert run["B.speed"][-1] == pytest.approx(max(after, 0.0), rel=1e-7, abs=1e-9 * v)
