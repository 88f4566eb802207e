"""Model Exchange as an importer does it, step by step: what is kept is kept to the last bit."""

from ctypes import c_double

import numpy as np
import pytest

import vbg
from tests.export.conftest import outputs
from tests.export.test_chart import triple_rocker
from tests.export.test_fmu import STOPPED, opened, start_of
from tests.tail import tail
from vbg.export.fmu import write_fmu
from vbg.io import toml

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Model  # noqa: E402
from fmpy.fmi3 import FMU3Model  # noqa: E402

STEP = 2e-3


class Importer:
    """Heun's method of fixed step; an event where an indicator changes its sign in a step, where
    the unit asks for one behind a step, and at its instants."""

    def __init__(self, path, version):
        described = fmpy.read_model_description(path)
        self.fmi3 = version == 3
        self.unit, names = opened(FMU3Model if self.fmi3 else FMU2Model, path)
        self.told = [names[n] for n in outputs(path)]
        self.x = (c_double * described.numberOfContinuousStates)()
        self.z = (c_double * described.numberOfEventIndicators)()
        self.t, self.events = 0.0, 0

    def begin(self):
        if not self.fmi3:
            self.unit.setupExperiment(startTime=0.0)
        self.unit.enterInitializationMode()
        self.unit.exitInitializationMode()
        self.settle()

    def settle(self):
        unit, more = self.unit, True
        while more:
            update = unit.updateDiscreteStates if self.fmi3 else unit.newDiscreteStates
            more, _, _, _, defined, at = update()
        self.next = at if defined else np.inf
        unit.enterContinuousTimeMode()
        unit.getContinuousStates(self.x, len(self.x))
        unit.getEventIndicators(self.z, len(self.z))

    def rates(self, t, x):
        unit, found = self.unit, (c_double * len(x))()
        unit.setTime(t)
        unit.setContinuousStates((c_double * len(x))(*x), len(x))
        (unit.getContinuousStateDerivatives if self.fmi3 else unit.getDerivatives)(found, len(x))
        return np.array(found)

    def step(self):
        x, h = np.array(self.x), min(STEP, self.next - self.t)
        first = self.rates(self.t, x)
        second = self.rates(self.t + h, x + h * first)
        self.t += h
        self.x[:] = x + h / 2 * (first + second)
        self.rates(self.t, self.x)
        before = np.sign(self.z)
        self.unit.getEventIndicators(self.z, len(self.z))
        wanted = self.unit.completedIntegratorStep()[0]
        if wanted or self.t >= self.next or (before != np.sign(self.z)).any():
            self.unit.enterEventMode()
            self.settle()
            self.events += 1

    def run(self, steps):
        """What is told at the end of each step, to the last bit."""
        rows = []
        read = self.unit.getFloat64 if self.fmi3 else self.unit.getReal
        for _ in range(steps):
            self.step()
            rows.append((self.t, *self.x, *read(self.told)))
        return np.array(rows).tobytes()

    def own(self):
        return self.t, list(self.x), list(self.z), self.next

    def take(self, own):
        self.t, self.x[:], self.z[:], self.next = own


def machine(name):
    if name == "stop":
        return vbg.start(toml.parse(STOPPED))
    return vbg.start(triple_rocker()) if name == "triple-rocker" else start_of(name)


@pytest.mark.parametrize(
    ("name", "version"),
    tail(
        [
            ("stop", 2),  # state events and instants of a sampled signal
            ("triple-rocker", 3),  # coordinates that change in events
            ("triple-rocker", 2),
            ("stop", 3),
            ("heavy-top", 3),  # states themselves, with drift
            ("bennett", 3),  # redundant rows
        ],
        0,
    ),
)
def test_a_kept_state_of_model_exchange_goes_on_bit_by_bit(tmp_path, name, version):
    """In its own instance and, as octets, in another one that has done nothing yet."""
    path = str(tmp_path / "machine.fmu")
    write_fmu(machine(name), path, version=version)
    one, other = Importer(path, version), Importer(path, version)
    one.begin()
    one.run(60)
    unit, own = one.unit, one.own()
    kept = unit.getFMUState() if one.fmi3 else unit.getFMUstate()
    octets = unit.serializeFMUState(kept) if one.fmi3 else unit.serializeFMUstate(kept)
    first = one.run(150)
    assert np.isfinite(np.frombuffer(first)).all() and (one.events > 0 or name == "bennett")
    for importer in (one, other):
        u = importer.unit
        if importer.fmi3:
            u.setFMUState(kept if importer is one else u.deserializeFMUState(octets))
        else:
            u.setFMUstate(kept if importer is one else u.deSerializeFMUstate(octets))
        importer.take(own)
        assert importer.run(150) == first
