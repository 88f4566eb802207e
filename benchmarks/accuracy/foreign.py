"""Random files of other programs beside the engines that read them themselves.

    python -m benchmarks.accuracy.foreign [--count 100] [--seed 1]

MuJoCo's files (`tests/io/random_mjcf.py`) beside MuJoCo, robots (`tests/io/random_urdf.py`) beside
Pinocchio: accelerations of all mass centres, and drive torques of robots that are driven
throughout.  Errors are relative to the largest of each state.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.accuracy.robots import row
from tests.io.random_mjcf import acceleration_error, random_mjcf
from tests.io.random_urdf import random_urdf
from vbg.errors import VbgError
from vbg.io import mjcf

CLOSE = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for kind, error in (("MJCF", mjcf_error), ("URDF", urdf_error)):
        found, worst = Counter[str](), 0.0
        for seed in range(given.seed, given.seed + given.count):
            said = error(seed)
            if isinstance(said, str):
                found[said] += 1
                continue
            worst = max(worst, said)
            found["close" if said < CLOSE else "apart"] += 1
            if not said < CLOSE:
                print(f"{kind} {seed}: {said:.1e}", flush=True)
        told = ", ".join(f"{n} {what}" for what, n in found.most_common())
        print(f"{kind}: {told}; largest error {worst:.1e}")


def mjcf_error(seed: int) -> float | str:
    """The error of a file, or why there is none."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.xml"
        path.write_text(random_mjcf(seed))
        try:
            model, _ = mjcf.read(path)
        except VbgError as error:
            return "refused by MuJoCo" if "MuJoCo refuses" in str(error) else "refused by vbg"
        own = mujoco.MjModel.from_xml_path(str(path))
        return acceleration_error(own, model, seed) if own.nv else "cannot move"


def urdf_error(seed: int) -> float | str:
    """The larger one of accelerations and torques of a robot."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(random_urdf(seed))
        found = row(path, states=2, inverse=2, seed=seed)
    if math.isnan(found.error):
        return "singular in Pinocchio"
    return found.error


if __name__ == "__main__":
    main()
