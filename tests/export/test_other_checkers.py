"""Exported units by a second checker than FMPy's: the schemas, and the rules that no schema says
(initial values, dependencies, causality and variability), of fmu_manipulation_toolbox."""

from __future__ import annotations

import logging
import zipfile

import pytest

import vbg
from tests.tail import only
from vbg.export.fmu import write_fmu

pytest.importorskip("fmu_manipulation_toolbox")
from fmu_manipulation_toolbox.checker import (
    OperationGenericCheck,
    OperationSemanticCheck,
)
from fmu_manipulation_toolbox.operations import FMU

MACHINES = ("slider-crank", "motor-slider-crank", "excavator-arm", "pwm-drive", "pick-and-place")
CASES = [(name, version) for name in MACHINES for version in (2, 3)]


def faults(path, caplog) -> list[str]:
    """What the checks call errors."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "fmu_manipulation_toolbox"):
        unit = FMU(str(path))
        for check in (OperationGenericCheck(), OperationSemanticCheck()):
            unit.apply_operation(check)
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


@pytest.mark.parametrize(("name", "version"), only(CASES[:3], CASES))
def test_another_checker_finds_nothing(name, version, tmp_path, caplog):
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    path = tmp_path / "machine.fmu"
    write_fmu(start, path, version=version, platforms=[])
    assert faults(path, caplog) == []


@pytest.mark.parametrize("version", [2, 3])
def test_nor_in_a_unit_of_fixed_steps(version, tmp_path, caplog):
    path = tmp_path / "machine.fmu"
    start = vbg.start(vbg.read("examples/slider-crank.toml"))
    write_fmu(start, path, version=version, platforms=[], step=1e-3)
    assert faults(path, caplog) == []


def test_the_checker_is_asked(tmp_path, caplog):
    """A parameter that changes and has no value is one that it finds."""
    sound, broken = tmp_path / "sound.fmu", tmp_path / "broken.fmu"
    write_fmu(vbg.start(vbg.assemble(vbg.read("examples/pendulum.toml"))), sound, platforms=[])
    with zipfile.ZipFile(sound) as sound, zipfile.ZipFile(broken, "w") as other:
        for entry in sound.infolist():
            content = sound.read(entry)
            if entry.filename == "modelDescription.xml":
                assert b'causality="output"' in content
                content = content.replace(b'causality="output"', b'causality="parameter"', 1)
            other.writestr(entry, content)
    assert faults(broken, caplog) != []
