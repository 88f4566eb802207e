"""Entries of matrices in numbers that are rounding are zero, judged by their own terms."""

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.assemble.matrices.matrices import matrices_of
from vbg.assemble.matrices.rounding import Sized, inverse
from vbg.assemble.matrices.symbolic import beside, without_rounding
from vbg.blocks import const, rows, skew, stack, transpose
from vbg.blocks import inverse as inverse_of
from vbg.simulate.state_at import state_at
from vbg.spatial import rotation_matrix

EXAMPLES = Path(__file__).parents[3] / "examples"


def turned(rng):
    q = rng.normal(size=4)
    return rotation_matrix(q / np.linalg.norm(q))


@pytest.mark.parametrize("seed", range(10))
def test_what_cancels_goes_and_what_is_small_stays_at_any_units(seed):
    """D1 R^T R D2 and D1 (R^T C^-1 R)^-1 D2 with diagonal C have nothing beside their diagonals;
    an entry of 1e-13 that is added to one of these stays where it was put."""
    rng = np.random.default_rng(seed)
    left, right = (np.diag(10.0 ** rng.uniform(-12, 12, 3)) for _ in range(2))
    R, C = turned(rng), np.diag(rng.uniform(1.0, 3.0, 3))
    unit = Sized.of(left @ R.T) @ (R @ right)
    assert np.count_nonzero(unit.value) > 3 or seed  # there is something to be seen
    assert np.array_equal(unit.kept != 0.0, np.eye(3, dtype=bool))
    other = Sized.of(R) @ inverse(Sized.of(R.T) @ C @ R) @ R.T
    whole = left @ other @ right
    assert np.array_equal(whole.kept != 0.0, np.eye(3, dtype=bool))
    np.testing.assert_allclose(np.diag(whole.kept), np.diag(left) / np.diag(C) * np.diag(right))
    small = np.zeros((3, 3))
    small[0, 2] = 1e-13 * left[0, 0] * right[2, 2]
    found = (whole + small - Sized.of(whole.kept)).kept
    assert found[0, 2] == pytest.approx(small[0, 2], rel=0.05)
    assert np.count_nonzero(found) == 1


@pytest.mark.parametrize("seed", range(10))
def test_constants_know_what_cancelled_in_them(seed):
    """The same, folded into one constant before anybody looks at it: by products, sums, parts,
    columns and an inverse, from which their rounding is taken apart when they are read."""
    rng = np.random.default_rng(seed)
    left, right = (const(np.diag(10.0 ** rng.uniform(-12, 12, 3))) for _ in range(2))
    R, C = const(turned(rng)), const(np.diag(rng.uniform(1.0, 3.0, 3)))
    around = inverse_of(transpose(R) @ C @ R)
    diagonal = (left @ transpose(R)) @ (R @ right), left @ (R @ around @ transpose(R)) @ right
    for whole in diagonal:
        seen = without_rounding(whole)
        assert np.array_equal(seen != 0.0, np.eye(3, dtype=bool))
        parts = stack(rows(whole, 0, 1), 2.0 * rows(whole, 1, 3))
        assert np.array_equal(without_rounding(parts) != 0.0, np.eye(3, dtype=bool))
        small = np.zeros((3, 3))
        small[0, 2] = 1e-13 * left.data[0, 0] * right.data[2, 2]
        found = without_rounding(whole + const(small) - const(seen))
        assert found[0, 2] == pytest.approx(small[0, 2], rel=0.05)
        assert np.count_nonzero(found) == 1
    a = const(rng.normal(size=3))
    turn = transpose(R) @ (R @ a) - a
    assert not without_rounding(skew(turn)).any()


@pytest.mark.parametrize("name", ["two-link-robot", "spatial-four-bar", "triple-pendulum"])
def test_matrices_of_machines_have_no_entries_of_rounding(name):
    """Of momenta that are not: no entry is 1e-13 beside its row and column.  Rates are those of
    the run."""
    system = vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))
    x = state_at(vbg.start(system), 0.02)
    assert matrices_of(system, 0.02, x).misfit < 1e-12
    rng = np.random.default_rng(1)
    for s in system.slices:
        if s.state.name.endswith("momentum"):
            x[s.first : s.last] = rng.normal(size=s.last - s.first)
    for label, matrix in matrices_of(system, 0.02, x).blocks.items():
        sizes = np.abs(matrix.values)
        faint = (sizes > 0.0) & (sizes < 1e-13 * beside(sizes))
        assert not faint.any(), (label, np.argwhere(faint))


@pytest.mark.parametrize("name", ["slider-crank", "wishbone-corner"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_momenta_that_are_last_digits_of_others_are_none(name, scale):
    """At the start a piston slides and does not turn, a suspension rests: no entry is 1e-24; a body
    that turns a thousand times slower than another keeps its momentum."""
    system = vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))
    x = vbg.start(system).state.copy()
    momenta = [s for s in system.slices if s.state.name.endswith("momentum")]
    for s in momenta:
        x[s.first : s.last] *= scale
    for matrix in matrices_of(system, 0.0, x).blocks.values():
        sizes = np.abs(matrix.values)
        assert not ((sizes > 0.0) & (sizes < 1e-24)).any()
    rng = np.random.default_rng(2)
    for s in momenta:
        x[s.first : s.last] = rng.choice([1.0, 1e-3]) * rng.normal(size=s.last - s.first)
    R_E = matrices_of(system, 0.0, x).blocks["R_E"].values
    turning = sum(s.state.name.endswith("angular_momentum") for s in momenta)
    assert np.count_nonzero(R_E) == 6 * turning
