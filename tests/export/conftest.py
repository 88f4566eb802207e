"""A driven arm as an FMU, which several files of tests look at."""

import pytest

import vbg
from vbg.export.fmu import write_fmu

DRIVEN = """
name = "driven arm"
[bodies.arm]
mass = 1.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }
[joints.A]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
[signals.command]
kind = "input"
start = 2.0
unit = "N*m"
[forces.motor]
kind = "torque"
on = "joints.A"
torque = ["command"]
[simulate]
t_end = 1.0
output_step = 0.01
"""


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    folder = tmp_path_factory.mktemp("driven")
    (folder / "arm.toml").write_text(DRIVEN)
    start = vbg.start(vbg.assemble(vbg.read(folder / "arm.toml")))
    for version in (2, 3):
        write_fmu(start, folder / f"arm{version}.fmu", version=version)
    return folder


def outputs(path):
    """Names of the outputs of a unit."""
    import fmpy

    described = fmpy.read_model_description(path)
    return [v.name for v in described.modelVariables if v.causality == "output"]
