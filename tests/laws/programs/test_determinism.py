"""The same file gives the same digits in every process, whatever seeds its hashes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys, vbg
system = vbg.assemble(vbg.read(sys.argv[1]))
x = vbg.start(system).state
print(system.state_names, vbg.start(system).rate(0.01, x).tobytes().hex())
"""


def digits(example: str, seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "examples" / f"{example}.toml")]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_hash_seeds_do_not_matter():
    for example in ("slider-crank", "motor-slider-crank"):
        assert digits(example, "0") == digits(example, "3")
