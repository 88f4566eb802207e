"""Kernels as machine code without numba: what they are given, and what they refuse."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.assemble.program.machine import Reader, evaluate_each, normalise, run
from vbg.assemble.program.machine.plans import NOTHING
from vbg.plumbing.groups import joined

ROOT = Path(__file__).resolve().parent.parent
NO_PLACES = np.zeros(0, dtype=np.int64)


def test_a_call_does_what_the_kernel_does_in_python():
    x = np.arange(1.0, 9.0)
    wanted = x.copy()
    wanted[2:6] /= np.linalg.norm(wanted[2:6])
    normalise(np.array([2]), x)
    np.testing.assert_allclose(x, wanted, rtol=1e-15)


@pytest.mark.parametrize(
    ("places", "x"),
    [
        (np.array([0], dtype=np.int32), np.ones(4)),
        (np.array([0]), np.ones(4, dtype=np.float32)),
        (np.array([0]), np.ones((4, 1))),
        (np.array([0]), np.ones(8)[::2]),
    ],
)
def test_arrays_of_another_kind_are_refused(places, x):
    with pytest.raises(TypeError):
        normalise(places, x)


def test_tuples_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="Reader"):
        evaluate_each(0, tuple(NOTHING), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))


def test_a_bound_call_keeps_what_it_reads():
    """Its arrays are nobody else's any more."""
    again = run.bound(np.zeros(8), *(a.copy() for a in NOTHING[1:6]))
    assert [again() for _ in range(3)] == [0, 0, 0]
    assert isinstance(NOTHING, Reader)


def test_a_run_needs_neither_numba_nor_scipy():
    """Half of the time of a process was their loading; kernels are compiled before."""
    vbg.simulate(vbg.read(ROOT / "examples" / "pendulum.toml"), t_end=0.1)
    code = (
        "import sys, vbg;"
        "vbg.simulate(vbg.read('examples/pendulum.toml'), t_end=0.1);"
        "slow = {'numba', 'scipy.linalg', 'h5py', 'pandas'};"
        "sys.exit(', '.join(slow & {*sys.modules}) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_groups_are_what_pairs_connect():
    pairs = [("a", "c"), ("d", "e"), ("c", "f")]
    assert joined("abcdef", pairs) == [["a", "c", "f"], ["b"], ["d", "e"]]
    assert joined([], []) == []
