"""The discrete-time method converges to the Riccati solution with its schemes' order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from tests.tmm_bridge.machines import arm
from vbg.errors import UsageError
from vbg.solution import Solution
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.discrete.houbolt import rotation_log
from vbg.tmm_bridge.discrete.method import SCHEMES
from vbg.tmm_bridge.discrete.method import simulate as discrete
from vbg.tmm_bridge.kernels.motion.rotation import matrix_of
from vbg.tmm_bridge.mechanism.layout import lay_out
from vbg.validate import Evidence, text, validate
from vbg.validate.child import Answer
from vbg.validate.columns import column_of

EXAMPLES = Path(__file__).parents[3] / "examples"
SPAN = {"t_end": 0.06, "output_step": 0.01}


def worst(found: Solution, reference: Solution, suffix: str) -> float:
    """Largest error of the signals of one kind, relative to the largest of them."""
    names = [name for name in reference.signals if name.endswith(suffix)]
    size = max(np.abs(reference[name]).max() for name in names)
    return max(np.abs(found[name] - reference[name]).max() for name in names) / size


SYSTEMS = {
    "double-pendulum": lambda: vbg.read(EXAMPLES / "double-pendulum.toml"),
    "slider-crank": lambda: vbg.read(EXAMPLES / "slider-crank.toml"),
    "spatial-four-bar": lambda: vbg.read(EXAMPLES / "spatial-four-bar.toml"),
    "tree of all parts": arm,
}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request):
    """A chain, loops in the plane and in space, a tree with balls, springs, loads and a gear."""
    model = SYSTEMS[request.param]()
    return model, simulate(model, rtol=1e-11, atol=1e-13, **SPAN)


@pytest.mark.parametrize("scheme", tail(SCHEMES, 1))
def test_every_scheme_has_its_order_in_the_step(system, scheme):
    """Motion and joint forces converge to those of the Riccati solution."""
    model, reference = system
    order = SCHEMES[scheme][2]
    runs = [discrete(model, step=h, scheme=scheme, **SPAN) for h in (5e-4, 2.5e-4)]
    for suffix in (".position", ".velocity", ".force"):
        errors = [worst(run, reference, suffix) for run in runs]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3), suffix


@pytest.mark.parametrize("scheme", SCHEMES)
def test_driven_loops_close_at_every_step(scheme):
    model = vbg.read(EXAMPLES / "stewart-platform.toml")
    solution = discrete(model, step=2e-3, scheme=scheme, **SPAN)
    assert solution.audit.position_residual < 1e-7
    reference = simulate(model, rtol=1e-11, atol=1e-13, **SPAN)
    for leg in range(1, 7):
        drive = reference[f"leg{leg}.drive"]
        np.testing.assert_allclose(
            solution[f"leg{leg}.drive"], drive, atol=1e-4 * np.abs(drive).max()
        )


def crank_and_rocker() -> vbg.Model:
    """A crank that turns through; the joint that closes its loop turns with it."""

    def bar(a: list[float], b: list[float]) -> dict[str, object]:
        half = [0.5 * (y - x) for x, y in zip(a, b, strict=True)]
        return {
            "mass": 1.0,
            "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.02},
            "position": [0.5 * (x + y) for x, y in zip(a, b, strict=True)],
            "points": {"A": [-h for h in half], "B": half},
        }

    A, B, C, D = [0, 0, 0], [0.1, 0, 0], [0.4, 0, 0.3], [0.4, 0, 0]
    hinge = {"kind": "revolute", "axis": [0, 1, 0]}
    return vbg.Model(
        name="crank and rocker",
        bodies={"crank": bar(A, B), "rod": bar(B, C), "rocker": bar(C, D)},
        joints={
            "D": hinge | {"between": [{"body": "ground", "at": D}, "rocker.B"]},
            "C": hinge | {"between": ["rocker.A", "rod.B"]},
            "A": hinge | {"between": ["ground", "crank.A"], "drive": "30*t"},
            "B": hinge | {"kind": "cylindrical", "between": ["crank.B", "rod.A"]},
        },
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_angles_across_cut_joints_count_their_turns(scheme):
    model = crank_and_rocker()
    (cut,) = lay_out(model).cut
    span = {"t_end": 0.4, "output_step": 0.02}
    reference = simulate(model, **span)
    assert np.abs(reference[f"{cut}.angle"]).max() > 3.5
    found = discrete(model, step=1e-3, scheme=scheme, **span)
    np.testing.assert_allclose(found[f"{cut}.angle"], reference[f"{cut}.angle"], atol=1e-3)


def test_unknown_scheme_is_refused():
    with pytest.raises(UsageError, match="houbolt, newmark, wilson"):
        discrete(crank_and_rocker(), scheme="euler")


def test_rotation_vector_of_a_matrix():
    for seed in range(20):
        v = np.random.default_rng(seed).uniform(-1.5, 1.5, size=3)
        angle = np.linalg.norm(v)
        quaternion = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * v / angle])
        np.testing.assert_allclose(rotation_log(matrix_of(quaternion)), v, atol=1e-12)


def test_further_columns_of_a_validation_tell_step_and_order():
    model = vbg.read(EXAMPLES / "double-pendulum.toml")
    names = ("dt", "dt-houbolt", "dt-wilson")
    report = validate(model, also=names, in_children=False, t_end=0.06, output_step=0.01)
    assert report.result == "PASS"
    for name in names:
        assert report.also[name].result == "PASS"
        assert np.log2(report.also[name].halving) == pytest.approx(2.0, abs=0.3)
        assert "(order 2), h = 0.0005 s" in report.solutions[name].made_by.method
        assert f"{name}: ms-dt-tmm" in text(report)


def test_a_column_that_cannot_run_does_not_spoil_the_verdict():
    model = vbg.read(EXAMPLES / "double-pendulum.toml")
    answer = Answer(error=UsageError("no twin of this part"))
    solution = simulate(model, **SPAN)
    column = column_of(Evidence(solution, solution), answer, None, ())
    assert column.result == "INCONCLUSIVE"
    assert "no twin" in column.sentence


@pytest.mark.slow
def test_too_long_a_step_is_no_verdict():
    """Andrews' squeezer turns a thousand radians a second: half a millisecond cannot follow."""
    model = vbg.read(EXAMPLES / "andrews-squeezer.toml")
    long = validate(model, also=("dt",), in_children=False, t_end=0.03, output_step=0.01)
    assert long.result == "PASS"
    assert long.also["dt"].result != "PASS"
    assert "step" in text(long).split("dt: ", 1)[1]
    span = {"in_children": False, "t_end": 0.002, "output_step": 0.001}
    short = validate(model, also=("dt",), dt_step=5e-6, **span)
    assert short.also["dt"].result == "PASS"
    assert np.log2(short.also["dt"].halving) == pytest.approx(2.0, abs=0.2)
