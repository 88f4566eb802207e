"""BLAS computes on one thread within a run, whenever its libraries are loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vbg

SCRIPT = """
import sys, importlib
from threadpoolctl import threadpool_info
from vbg.plumbing.one_thread import load_scipy_on_one_thread, one_thread

def threads():
    return sorted(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas")

with one_thread():
    if sys.argv[1:]:
        importlib.import_module(sys.argv[1])  # as a search for an event does
    load_scipy_on_one_thread()
    load_scipy_on_one_thread()
    print(*threads())
print(*threads())
"""


@pytest.mark.parametrize("before", [[], ["scipy.optimize"]])
def test_scipy_is_on_one_thread_whoever_loads_it(before):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *before],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={
            **os.environ,
            "OPENBLAS_NUM_THREADS": "2",
            "PYTHONPATH": str(Path(vbg.__file__).parent.parent),
        },
    )
    within, behind = (set(line.split()) for line in done.stdout.splitlines())
    assert within == {"1"}
    assert behind == {"2"}
