"""Verdicts on machines where next to nothing moves, and on one that no integration follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from benchmarks.verdict.false_alarms import at_rest
from tests.laws.flexible.test_flexible_bodies import flexible
from tests.laws.meshes import frame
from tests.tail import tail
from vbg.solution import FINISHED, Audit, MadeBy, Solution
from vbg.validate import validate
from vbg.validate.compare import compare
from vbg.validate.comparison.elastic import PLACES, elastic_rounding
from vbg.validate.comparison.judging import Judge, channel_of
from vbg.validate.comparison.pairing import Pair

HERE = Path(__file__).parents[1] / "machines"


@pytest.mark.parametrize("name", ["rest2", "rest3", "rest-down"])
def test_a_machine_at_rest_passes(name):
    report = validate(vbg.read(HERE / f"{name}.toml"), t_end=0.2, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert any(c.result == "PASS" and ".force" in c.name for c in report.channels)


@pytest.mark.parametrize("mass", [1e-6, 1e6])
@pytest.mark.parametrize("gravity", [[1, 2, -9], [0, 0, 0]])
def test_a_machine_at_rest_never_fails_whatever_its_mass(mass, gravity):
    document = vbg.read(HERE / "rest3.toml").document
    rod = {**document["bodies"]["rod"], "mass": mass}
    rod["inertia"] = {key: mass * J for key, J in rod["inertia"].items()}
    model = vbg.Model(**{**document, "bodies": {"rod": rod}, "gravity": gravity})
    report = validate(model, t_end=0.05, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.slow
@pytest.mark.parametrize("EI", [0.3, 300.0])
def test_a_beam_that_rests_bent_to_a_circle_passes(EI):
    """Its end moment 2 pi EI / L balances: accelerations are the last digits of its moments over
    the inertia of an element, and its energy does not swing."""
    beam = {
        "between": ["ground", "free"],
        "length": 2.0,
        "elements": 5,
        **dict.fromkeys(("EA", "GA_y", "GA_z"), 300 * EI),
        **dict.fromkeys(("EI_y", "EI_z", "GJ"), EI),
        "mass_per_length": 1.0,
    }
    end = {"kind": "torque", "on": "boom.5", "torque": [0, 0, np.pi * EI]}
    machine = {"beams": {"boom": beam}, "forces": {"end": end}, "gravity": [0, 0, 0]}
    model = vbg.Model(vbg=1, name="circle", simulate={"start": "equilibrium"}, **machine)
    report = validate(model, t_end=0.05, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert max(report.verdict.audits.values()) < 1e-9
    assert not any("magnifies" in note for note in report.verdict.notes)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-11, None])
def test_beams_that_tremble_by_the_last_digit_are_at_rest(rtol):
    """Without drives an elastic robot stands: strains of 1e-15, accelerations that a step twice
    as long makes hundreds of times as large, and no energy but what these leave in the beams."""
    robot = vbg.read(Path(__file__).parents[3] / "examples" / "elastic-robot.toml")
    model = vbg.Model(**at_rest(robot.document))
    report = validate(model, rtol=rtol, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert max(report.verdict.audits.values()) == 0.0
    assert not any(note.startswith("Compared at the output rows") for note in report.verdict.notes)


@pytest.mark.slow
def test_a_chaotic_run_is_inconclusive_with_what_to_do():
    model = vbg.read(HERE / "chaos-20s.toml")
    report = validate(model, rtol=1e-9, in_children=False)
    assert report.result == "INCONCLUSIVE", report.verdict.sentence
    assert "shorten the run" in report.verdict.sentence
    assert "FAIL" not in {c.result for c in report.channels}
    at_once = validate(model, t_end=2.0, in_children=False)
    assert at_once.result == "PASS", at_once.verdict.sentence


@pytest.mark.parametrize("scale", tail((1e-9, 1e9, 1.0), 1))
@pytest.mark.parametrize("table", ("rotational", "translational"))
def test_what_friction_holds_moves_by_rounding_alone(table, scale):
    """A load below what sticks: angles of 1e-17 rad and their powers are no channels."""
    load, store, unit = (
        ("torque", {"kind": "inertia", "J": 0.04 * scale}, "c")
        if table == "rotational"
        else ("force", {"kind": "mass", "m": 0.04 * scale}, "c")
    )
    parts = {
        "held": {"nodes": ["n"], **store},
        "oil": {"kind": "damper", "nodes": ["n"], unit: 2.1 * scale},
        "load": {"kind": load, "nodes": ["n"], load: f"-{0.14 * scale}*sin(2*t)"},
        "brake": {"kind": "friction", "nodes": ["frame", "n"], "coulomb": 0.36 * scale},
    }
    model = vbg.Model(name="held", **{table: parts})
    report = validate(model, t_end=0.6, output_step=0.02)
    assert report.result == "PASS", report.verdict.sentence


def test_rounding_behind_a_stiff_part_is_that_of_places():
    """A spring k between m_A and m_B moves them by (1/m_A + 1/m_B) k e L; ground counts nothing,
    and a beam's shear counts at its arm."""
    J = {"xx": 1e-3, "yy": 2e-3, "zz": 2.5e-3}
    bodies = {"a": {"mass": 2.0, "inertia": J}, "b": {"mass": 0.5, "inertia": J}}
    bodies["b"]["position"] = [3.0, 0.0, 0.0]
    spring = {"kind": "spring", "between": ["a", "b"], "k": 1e9, "length": 3.0}
    between = vbg.Model(bodies=bodies, forces={"s": spring})
    found = elastic_rounding(between, length=3.0, speed=0.1)
    assert found["N"] == pytest.approx(PLACES * 1e9 * 3.0, rel=1e-12)
    assert found["m/s^2"] == pytest.approx(found["N"] * (1 / 2.0 + 1 / 0.5), rel=1e-12)
    assert found["W"] == pytest.approx(0.1 * found["N"], rel=1e-12)
    assert found["N*m"] == found["rad/s^2"] == 0.0
    reduced = 1.0 / (1 / 2.0 + 1 / 0.5)  # mass of the two against each other
    energy = 0.5 * 1e9 * (PLACES * 3.0) ** 2
    assert found["m/s"] == pytest.approx((2.0 * energy / reduced) ** 0.5, rel=1e-12)
    assert found["rad/s"] == pytest.approx((2.0 * energy * (1e3 + 1e3)) ** 0.5, rel=1e-12)
    many = elastic_rounding(between, length=3.0, speed=0.1, steps=10**6)
    assert many["N"] == found["N"]
    assert many["m/s"] == pytest.approx(found["m/s"] * 4e3 / 32.0, rel=1e-12)
    spring["between"] = ["ground", {"body": "b", "at": [0.0, 0.2, 0.0]}]
    held = elastic_rounding(vbg.Model(bodies=bodies, forces={"s": spring}), 3.0, 0.1)
    assert held["m/s^2"] == pytest.approx(found["N"] / 0.5, rel=1e-12)
    assert held["rad/s^2"] == pytest.approx(0.2 * found["N"] / 1e-3, rel=1e-12)
    assert elastic_rounding(vbg.Model(bodies=bodies), 3.0, 0.1) == {}


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_elastic_hinges_without_dampers_walk_by_the_last_digit(size):
    """Every step gives them k (eps L)^2 / 2 anew: 2e-11 m/s after 10 000 steps."""
    chain = vbg.read(Path(__file__).parents[2] / "tmm_bridge" / "reproduced" / "bush.toml")
    document = dict(chain.document)
    bodies = {}
    for name, body in document["bodies"].items():
        inertia = {key: J * size**2 for key, J in body["inertia"].items()}
        bodies[name] = body | {"inertia": inertia, "position": [x * size for x in body["position"]]}
    forces = {}
    for name, part in document["forces"].items():
        ends = [
            end if isinstance(end, str) else end | {"at": [x * size for x in end["at"]]}
            for end in part["between"]
        ]
        k = part["stiffness"]
        stiffness = [*k[:3], *(one * size**2 for one in k[3:])]
        forces[name] = part | {"between": ends, "stiffness": stiffness}
    model = vbg.Model(**{**document, "bodies": bodies, "forces": forces})
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


def components(across, along, error, step):
    """The force of a bar that bends: (along, 0, across) with an error along it, which a step twice
    as long changes by `step`; both solvers and the rougher run, as `compare` takes them."""
    time = np.linspace(0.0, 1.0, 11)

    def run(moved):
        force = np.column_stack([along * time**2 + moved, 0.0 * time, across * time])
        made = MadeBy("vbg", "bar", "hash", "dop853", 1e-11, 1e-13, {})
        return Solution(time, {"a.force": force}, Audit(), made, FINISHED, {"a.force": "N"})

    return compare(run(0.0), run(error), rougher=run(step), coarser=run(error))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_small_component_is_judged_beside_its_vector(scale):
    """One solver's own error, as its step shows it, is nothing where it is beside the vector; a
    difference that no step explains is a fault, as is one of a thousandth of the component."""

    def result(along, error, step):
        return components(scale, along * scale, error * scale, step * scale).result

    assert result(3e-5, 1e-9, 1e-9) == "PASS"
    assert result(3e-5, 1e-9, 0.0) == "FAIL"
    assert result(3e-5, 1e-7, 1e-7) == "INCONCLUSIVE"  # 3e-3 of the component
    assert result(0.5, 4e-6, 4e-6) == "INCONCLUSIVE"  # 4e-6 of the vector


def test_rounding_behind_a_beam_that_does_not_shear_is_that_of_its_length():
    """EA / l and, at the arms of its ends, EI / l against turning."""
    J = {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3}
    ends = [{"body": "a", "at": [0.25, 0, 0]}, {"body": "b", "at": [-0.25, 0, 0]}]
    beam = {"kind": "beam_element", "between": ends, "length": 0.5}
    beam |= {"EA": 2e6, "GJ": 10.0, "EI_y": 30.0, "EI_z": 20.0}
    bodies = {"a": {"mass": 1.0, "inertia": J}, "b": {"mass": 1.0, "inertia": J}}
    bodies["b"]["position"] = [1.0, 0, 0]
    found = elastic_rounding(vbg.Model(bodies=bodies, forces={"e": beam}), 1.0, 0.0)
    assert found["N"] == pytest.approx(PLACES * 4e6, rel=1e-12)
    assert found["N*m"] == pytest.approx(PLACES * (60.0 + 0.25 * 4e6), rel=1e-12)
    assert found["rad/s^2"] == pytest.approx(2e3 * found["N*m"], rel=1e-12)


def test_rounding_behind_modes_is_that_of_their_highest_frequency():
    """A place to e L is q = e L sqrt(m) of a mode, whose energy is the speed w e L sqrt(m)."""
    mesh = frame(3, 0.8)
    body = {"flexible": flexible(mesh, {"A": 0, "B": 3}, modes=4)}
    model = vbg.Model(bodies={"arm": body})
    arm = model.bodies["arm"]
    highest = arm.flexible.modes.frequencies.max()
    found = elastic_rounding(model, 2.0, 0.0)
    assert set(found) == {"1/s"}
    assert found["1/s"] == pytest.approx(PLACES * 2.0 * highest * np.sqrt(arm.mass), rel=1e-12)


@pytest.mark.parametrize(("period", "mass", "way"), [(1e-3, 1e3, 1e-5), (3600.0, 1e-6, 0.1)])
def test_what_stands_still_in_every_row_is_no_evidence(period, mass, way):
    """A body let go on its spring, a row in each turning point: its speeds there are errors of
    integration alone, which were compared with one another.  The force of the spring is judged."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), mass * way**2)
    model = vbg.Model(
        gravity=[0, 0, 0],
        bodies={"b": {"mass": mass, "inertia": inertia}},
        joints={
            "s": {"kind": "prismatic", "between": ["ground", "b"], "axis": [1, 0, 0]}
            | {"initial": {"slide": way}}
        },
        forces={"k": {"kind": "spring", "on": "joints.s", "k": mass * (2 * np.pi / period) ** 2}},
    )
    run = {"t_end": 10 * period, "output_step": period, "in_children": False}
    verdict = validate(model, **run).verdict
    assert verdict.result == "PASS", verdict.sentence
    marks = {c.name: c.result for c in verdict.channels}
    assert marks["s.speed"] == marks["b.velocity.x"] == "VACUOUS"
    assert marks["b.position.x"] == marks["energy.potential"] == "PASS"
    assert all(c.max_error <= 1e-6 * c.peak for c in verdict.channels if c.result == "PASS")


def test_agreement_by_rounding_alone_is_none():
    """Two rows of noise beside a machine's own noise of the same size; a hundred thousand times as
    much is evidence again, and a difference above noise a fault."""

    def judged(first, second):
        time = np.linspace(0.0, 1.0, len(first))
        pair = Pair("b.speed", "m/s", np.array(first), np.array(second))
        judge = Judge(None, 1e-6, 1e-3, {"m/s": 1e-9}, {"m/s": 1e-12}, np.zeros(len(time)))
        none = np.full(len(time), np.nan)
        return channel_of(judge, time, pair, none, none).result

    assert judged([1.1e-12, 0.0], [0.5e-12, 0.0]) == "VACUOUS"
    assert judged([1.1e-7, 0.0], [1.1e-7 + 0.5e-12, 0.0]) == "PASS"
    assert judged([1.1e-10, 0.0], [0.5e-10, 0.0]) == "FAIL"


def test_what_is_not_unique_says_nothing_of_the_motion():
    """Two weights balance on an arm in two bearings: what these carry is rounding of 100 N, a step
    twice as long makes other digits of it."""
    inertia = {"xx": 1e-3, "yy": 1e-3, "zz": 2e-3}
    arm = {
        "mass": 1.0,
        "inertia": inertia,
        "points": {"a": [0.03, 0.04, 0], "b": [-0.03, -0.04, 0]},
    }
    weights = {name: {"mass": 0.7, "inertia": inertia} for name in ("left", "right")}
    bearing = {"kind": "revolute", "between": ["ground", "arm"], "axis": [0, 0, 1]}
    joints = {"upper": bearing | {"initial": {"speed": 50.0}}, "lower": bearing} | {
        f"{name}_bolts": {"kind": "fixed", "between": [f"arm.{point}", name]}
        for name, point in zip(weights, "ab", strict=True)
    }
    drive = {"kind": "torque", "on": "joints.upper", "torque": "3*sin(7*t)"}
    parts = {"bodies": {"arm": arm, **weights}, "joints": joints, "forces": {"drive": drive}}
    model = vbg.Model(vbg=1, name="balanced", gravity=[0, 0, 0], **parts)
    report = validate(model, t_end=0.2, output_step=0.01, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
    assert any(c.result == "NOT UNIQUE" for c in report.verdict.channels)
    assert not any("magnifies" in note for note in report.verdict.notes)


@pytest.mark.parametrize("seed", tail(range(20), 3))
def test_a_loaded_piston_that_stands_beside_a_volume_passes(seed):
    """The flow between both is the last digits of the balance: the piston's would be A F T / m."""
    random = np.random.default_rng(seed)
    m, F, A, V = 10.0 ** random.uniform([-2, 0, -5, -5], [4, 5, -1, 0])
    oil = {"nodes": ["a", "tank"], "on": "translational.x", "kind": "cylinder", "area_a": A}
    model = vbg.Model(
        translational={
            "m": {"kind": "mass", "nodes": ["x"], "m": m},
            "f": {"kind": "force", "nodes": ["x"], "force": -F},
        },
        hydraulic={
            "cyl": {**oil, "stroke": 0.4, "length": -0.2, "pressure_a": F / A},
            "va": {"kind": "volume", "nodes": ["a"], "volume": V},
        },
    )
    report = validate(model, t_end=0.1, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


@pytest.mark.parametrize(
    ("mass", "size", "end"), tail([(1e-6, 1e-3, 0.1), (1e3, 10.0, 20.0), (2.0, 0.3, 1.0)], 2)
)
def test_what_joints_that_may_open_carry_moves_by_rounding_alone(mass, size, end):
    """Rods one behind the other, welded until long behind the end: what each falls by the last
    digit of its place is no energy that is lost, also where heights are counted from there."""
    rng = np.random.default_rng(5)
    level = {name: [*(size * rng.uniform(-1.0, 1.0, 2)).tolist(), 0.0] for name in "AB"}
    rod = {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), mass * size**2)}
    weld = {"kind": "fixed", "release": f"t > {2 * end}"}
    model = vbg.Model(
        name="welds",
        bodies={name: rod | {"points": level} for name in ("one", "two")},
        joints={
            "first": weld | {"between": ["ground", "one.A"]},
            "second": weld | {"between": ["one.B", "two.A"]},
        },
        gravity=[0.0, 0.0, -9.0],
    )
    report = validate(model, t_end=end, output_step=end / 20, in_children=False)
    assert report.result == "PASS", report.verdict.sentence
