"""The discrete-time method converges to the Riccati solution with order two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.solution import Solution
from vbg.tmm_bridge import simulate
from vbg.tmm_bridge.discrete import rotation_log
from vbg.tmm_bridge.discrete import simulate as discrete
from vbg.tmm_bridge.rotation import matrix_of

EXAMPLES = Path(__file__).parents[2] / "examples"
SPAN = {"t_end": 0.2, "output_step": 0.02}


def worst(found: Solution, reference: Solution, suffix: str) -> float:
    """Largest error of the signals of one kind, relative to the largest of them."""
    names = [name for name in reference.signals if name.endswith(suffix)]
    size = max(np.abs(reference[name]).max() for name in names)
    return max(np.abs(found[name] - reference[name]).max() for name in names) / size


@pytest.mark.parametrize("name", ["double-pendulum", "triple-pendulum", "slider-crank"])
@pytest.mark.parametrize("suffix", [".position", ".force"])
def test_second_order_in_the_step(name, suffix):
    model = vbg.read(EXAMPLES / f"{name}.toml")
    reference = simulate(model, rtol=1e-11, atol=1e-13, **SPAN)
    steps = (1e-3, 5e-4)
    errors = [worst(discrete(model, step=h, **SPAN), reference, suffix) for h in steps]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.35)


def test_driven_loops_close_at_every_step():
    model = vbg.read(EXAMPLES / "stewart-platform.toml")
    solution = discrete(model, step=2e-3, **SPAN)
    assert solution.audit.position_residual < 1e-7
    reference = simulate(model, rtol=1e-11, atol=1e-13, **SPAN)
    for leg in range(1, 7):
        drive = reference[f"leg{leg}.drive"]
        np.testing.assert_allclose(
            solution[f"leg{leg}.drive"], drive, atol=1e-4 * np.abs(drive).max()
        )


def test_rotation_vector_of_a_matrix():
    for seed in range(20):
        v = np.random.default_rng(seed).uniform(-1.5, 1.5, size=3)
        angle = np.linalg.norm(v)
        quaternion = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * v / angle])
        np.testing.assert_allclose(rotation_log(matrix_of(quaternion)), v, atol=1e-12)
