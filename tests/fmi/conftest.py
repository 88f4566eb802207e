"""FMUs to be parts: of an arm and of its controller, made by vbg, and of Python code."""

import shutil
import subprocess
import sys

import pytest

import vbg
from vbg.export.fmu import write_fmu
from vbg.fmi.permission import ALLOWED

ARM = """
[bodies.arm]
mass = 1.0
inertia = { xx = 0.01, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }
[joints.hinge]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
initial = { angle = "30 deg" }
[forces.motor]
kind = "torque"
on = "joints.hinge"
torque = ["TORQUE"]
"""
CONTROLLER = """
name = "controller"
[signals.angle]
kind = "input"
unit = "rad"
[signals.speed]
kind = "input"
unit = "rad/s"
[signals.u]
kind = "expression"
expression = "5*sin(3*t) - 8*angle - 2*speed"
"""
PLANT = 'name = "plant"\n[signals.u]\nkind = "input"\nunit = "N*m"\n' + ARM.replace("TORQUE", "u")

SLAVE = '''
import math, os, time
from pythonfmu3 import (Boolean, Fmi3Causality, Fmi3Slave, Fmi3Variability, Float64, Int32)

class Gain(Fmi3Slave):
    """y = k u, a step late; it goes wrong as asked behind 5 ms."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time = self.u = self.y = 0.0
        self.k, self.fault, self.on = 2.0, 0, True
        fixed, going = Fmi3Variability.fixed, Fmi3Variability.continuous
        parameter = dict(causality=Fmi3Causality.parameter, variability=fixed)
        for v in (
            Float64("time", causality=Fmi3Causality.independent, variability=going),
            Float64("u", causality=Fmi3Causality.input, variability=going, start=0.0),
            Float64("y", causality=Fmi3Causality.output, variability=going),
            Float64("k", start=2.0, **parameter),
            Int32("fault", start=0, **parameter),
            Boolean("on", start=True, **parameter),
        ):
            self.register_variable(v)

    def do_step(self, t, h):
        fault = self.fault if t > 0.0045 else 0
        if fault == 1:
            os.kill(os.getpid(), 11)
        if fault == 2:
            raise RuntimeError("the bearing is gone")
        if fault == 4:
            time.sleep(100.0)
        self.y = math.nan if fault == 3 else self.k * self.u * self.on
        return True
'''


@pytest.fixture(scope="session")
def units(tmp_path_factory):
    """The folder with plant.fmu (FMI 3), controller.fmu (FMI 2) and Gain.fmu (pythonfmu3)."""
    pytest.importorskip("fmpy")
    if not any(map(shutil.which, ("gcc", "cc", "clang"))):
        pytest.importorskip("ziglang")
    folder = tmp_path_factory.mktemp("units")
    for version, text in ((3, PLANT), (2, CONTROLLER)):
        path = folder / "model.toml"
        path.write_text(text)
        model = vbg.read(path)
        start = vbg.start(vbg.assemble(model))
        write_fmu(start, folder / f"{model.name}.fmu", version=version)
    return folder


@pytest.fixture(scope="session")
def gain(units):
    """The same folder, with Gain.fmu."""
    pytest.importorskip("pythonfmu3")
    (units / "gain.py").write_text(SLAVE)
    command = [sys.executable, "-m", "pythonfmu3", "build", "-f", "gain.py"]
    subprocess.run(command, cwd=units, check=True, capture_output=True)
    return units


@pytest.fixture
def allowed(units, monkeypatch):
    """The folder, all of whose FMUs may run."""
    monkeypatch.setenv(ALLOWED, str(units))
    return units


DEVICE = """
name = "device"
[signals.v]
kind = "input"
unit = "V"
[signals.i]
kind = "input"
unit = "A"
[electric.feed]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = "v"
[electric.draw]
kind = "current_source"
nodes = ["gnd", "c"]
current = "i"
LOADS
"""
LOADS = """
[electric.L]
kind = "inductor"
nodes = ["a", "b"]
L = 0.05
[electric.R]
kind = "resistor"
nodes = ["b", "gnd"]
R = 3.0
[electric.C]
kind = "capacitor"
nodes = ["c", "gnd"]
C = 2e-3
[electric.leak]
kind = "resistor"
nodes = ["c", "gnd"]
R = 20.0
"""


@pytest.fixture(scope="session")
def device(tmp_path_factory):
    """The folder with device.fmu: a coil that tells its current, a capacitor that tells its
    voltage."""
    pytest.importorskip("fmpy")
    folder = tmp_path_factory.mktemp("device")
    (folder / "model.toml").write_text(DEVICE.replace("LOADS", LOADS))
    start = vbg.start(vbg.assemble(vbg.read(folder / "model.toml")))
    write_fmu(start, folder / "device.fmu", version=2)
    return folder
