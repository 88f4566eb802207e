"""Tables of one-dimensional parts, signals and raw bonds, with stand-ins for their parts:
a kind of part needs nothing but its declaration."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import pytest

from vbg.errors import ModelError
from vbg.fields import declare, quantity
from vbg.io import toml
from vbg.model import catalogue, check
from vbg.model.resolve import resolve as resolving


@dataclass(frozen=True)
class Source:
    """A voltage source."""

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "voltage_source"
    nodes: tuple[str, str] = declare("nodes", "plus, minus", size=2)
    voltage: float | str = declare("signal", "voltage", unit="V")


@dataclass(frozen=True)
class Motor:
    """A motor between a circuit and a coordinate."""

    table: ClassVar[str] = "electric"
    kind: ClassVar[str] = "dc_motor"
    nodes: tuple[str, str] = declare("nodes", "plus, minus", size=2)
    on: str = declare("coordinate", "what it drives")
    K: float = quantity("N*m/A", "constant")
    R: float = quantity("ohm", "resistance", above=0.0)


@dataclass(frozen=True)
class Inertia:
    """An inertia on a shaft."""

    table: ClassVar[str] = "rotational"
    kind: ClassVar[str] = "inertia"
    nodes: tuple[str] = declare("nodes", "shaft", size=1)
    J: float = quantity("kg*m^2", "moment of inertia", above=0.0)


@dataclass(frozen=True)
class Points:
    """A signal through points."""

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "table"
    rows: tuple[tuple[float, ...], ...] = declare("table", "t and value", unit="", size=2)


@dataclass(frozen=True)
class Formula:
    """A signal by its formula."""

    table: ClassVar[str] = "signals"
    kind: ClassVar[str] = "formula"
    value: str = declare("expression", "of t, signals and outputs", variables=("t",))


@dataclass(frozen=True)
class Store:
    """A raw capacitor."""

    table: ClassVar[str] = "bondgraph"
    kind: ClassVar[str] = "C"
    law: str = declare("expression", "effort of the displacement", variables=("displacement",))


TEXT = """
bonds = ["M.shaft -> spring"]
[parameters]
U0 = "12 V"
[electric.U]
kind = "voltage_source"
nodes = ["a", "gnd"]
voltage = "U0*sin(3*t) + ramp"
[electric.M]
kind = "dc_motor"
nodes = ["a", "gnd"]
on = "rotational.shaft1"
K = "80 mN*m/A"
R = "1.2 ohm"
[rotational.flywheel]
kind = "inertia"
nodes = ["shaft1"]
J = "3 kg*cm^2"
[signals.ramp]
kind = "table"
rows = [[0, 0], [1, "U0"]]
[signals.feedback]
kind = "formula"
value = "2*(ramp - M.current) + U0*t"
[bondgraph.spring]
kind = "C"
law = "U0*displacement**3"
[outputs]
keep = ["M.current", "ramp"]
"""


@pytest.fixture(autouse=True)
def parts(monkeypatch):
    tables = {table: dict(kinds) for table, kinds in catalogue().items()}
    for part in (Source, Motor, Inertia, Points, Formula, Store):
        tables[part.table] = {**tables[part.table], part.kind: part}
    monkeypatch.setattr(resolving, "catalogue", lambda: MappingProxyType(tables))


def test_read_in_si_with_references():
    model = toml.parse(TEXT)
    assert model.electric["U"] == Source(nodes=("a", "gnd"), voltage="12*sin(3*t) + ramp")
    assert model.electric["M"].on == "rotational.shaft1"
    assert pytest.approx(0.08) == model.electric["M"].K
    assert pytest.approx(3e-4) == model.rotational["flywheel"].J
    assert model.signals["ramp"].rows == ((0.0, 0.0), (1.0, 12.0))
    assert model.signals["feedback"].value == "2*(ramp - M.current) + 12*t"
    assert model.bondgraph["spring"].law == "12*displacement**3"
    assert model.bonds == ("M.shaft -> spring",)
    assert check(model) == ()
    assert toml.parse(toml.updated("", model.document)).hash == model.hash


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('K = "80 mN*m/A"', 'K = "80 V"', r"\[V\] is a voltage, expected"),
        ('["a", "gnd"]\non', '["a", "a"]\non', "connected to itself"),
        ("rotational.shaft1", "rotational.shaft2", "unknown rotational node 'shaft2'. Did you"),
        ("+ ramp", "+ rmp", "unknown name 'rmp'"),
        ("- M.current", "- N.current", "unknown name 'N.current'"),
        ("displacement**3", "momentum", "unknown name 'momentum'"),
        ('[1, "U0"]', "[1]", "expected 2 numbers, found 1"),
        ('kind = "dc_motor"', 'kind = "dcmotor"', "Did you mean 'dc_motor'"),
        ("[signals.ramp]", "[signals.U0]", "also that of a parameter"),
        ("[signals.ramp]", "[signals.t]", "also that of a function, pi or the time"),
        ("[signals.ramp]", "[signals.M]", "is taken by electric.M"),
        ("M.shaft -> spring", "spring -> spring", "bonded to itself"),
    ],
)
def test_refused(old, new, message):
    assert old in TEXT
    with pytest.raises(ModelError, match=message):
        toml.parse(TEXT.replace(old, new))


def test_a_circuit_without_ground():
    model = toml.parse(TEXT.replace('"gnd"', '"g"'))
    (problem,) = check(model)
    assert (problem.severity, problem.where) == ("error", "electric.U")
    assert "floating island" in problem.what
