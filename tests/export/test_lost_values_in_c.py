"""A condition that has no value any more ends exported programs, as it ends a run: a mode that kept
its side would go on without a word."""

import re
import subprocess

import numpy as np
import pytest

import vbg
from tests.export.comparing import compiled
from tests.tail import tail
from vbg.export.fmu import write_fmu

SAID = r"at t = (\S+) s: what switches has no value.*: (S\.closed)"


def charged(seed):
    """A capacitor that charges by exp(-t/RC) until the root of what is left below a limit, which
    keeps a switch closed, has no value; and the time of that."""
    random = np.random.default_rng(seed)
    volts, ohms, farad = (10.0 ** random.uniform([0, 1, -6], [2, 4, -2])).tolist()
    share = float(random.uniform(0.3, 0.8))
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": volts},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": ohms},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": farad},
        "S": {"kind": "switch", "nodes": ["b", "c"]},
        "L": {"kind": "resistor", "nodes": ["c", "gnd"], "R": 1e9 * ohms},
    }
    parts["S"]["closed"] = f"sqrt({share * volts!r} - C.voltage) + 1"
    span = ohms * farad
    model = vbg.Model(
        name="charged", electric=parts, simulate={"t_end": 3.0 * span, "output_step": 0.01 * span}
    )
    return model, -span * np.log1p(-share)


@pytest.mark.parametrize("seed", tail(range(4), 1))
def test_programs_end_where_a_condition_has_no_value(seed, tmp_path):
    """Within a step of it: the times that are told are those up to which all was well."""
    model, at = charged(seed)
    run = vbg.simulate(model)
    assert run.status.code == "failed" and "S.closed" in run.status.sentence
    program = compiled(vbg.start(model), tmp_path, "-O0")
    step = model.simulate.output_step
    for given in ((), (model.simulate.t_end, step, "fixed")):
        done = subprocess.run([program, *map(str, given)], capture_output=True, text=True)
        assert done.returncode == 1
        time = float(re.search(SAID, done.stderr)[1])
        last = float(done.stdout.splitlines()[-1].partition(",")[0])
        assert last <= at and time < at + 1.001 * step


@pytest.mark.parametrize("version", tail([3, 2], 1))
def test_units_end_where_a_condition_has_no_value(version, tmp_path):
    import fmpy

    model, at = charged(7)
    write_fmu(vbg.start(model), tmp_path / "charged.fmu", version=version)
    for kind in ("CoSimulation", "ModelExchange"):
        said = []
        with pytest.raises(Exception, match="failed with status 3"):
            fmpy.simulate_fmu(
                str(tmp_path / "charged.fmu"),
                fmi_type=kind,
                stop_time=model.simulate.t_end,
                output_interval=model.simulate.output_step,
                logger=lambda *words, said=said: said.append(str(words[-1])),
            )
        (told,) = (found for found in (re.search(SAID, word) for word in said) if found)
        assert float(told[1]) < at + 1.001 * model.simulate.output_step


def test_modes_that_do_not_agree_are_warned_of(tmp_path):
    """A switch that shortens what it is closed by: a run ends there, an importer that locates its
    events itself hears of it."""
    import fmpy

    parts = {
        "V": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "5*t"},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": 10.0},
        "E": {"kind": "resistor", "nodes": ["b", "gnd"], "R": 10.0},
        "S": {"kind": "switch", "nodes": ["b", "gnd"], "closed": "E.voltage - 1"},
        "C": {"kind": "capacitor", "nodes": ["a", "d"], "C": 0.1},
        "Q": {"kind": "resistor", "nodes": ["d", "gnd"], "R": 10.0},
    }
    model = vbg.Model(electric=parts, simulate={"t_end": 1.0, "output_step": 0.1})
    assert "switches endlessly" in vbg.simulate(model).status.sentence
    write_fmu(vbg.start(model), tmp_path / "short.fmu")
    said = []
    fmpy.simulate_fmu(
        str(tmp_path / "short.fmu"),
        fmi_type="ModelExchange",
        stop_time=1.0,
        output_interval=0.1,
        logger=lambda *words: said.append(words),
    )
    found = [words for words in said if "no modes were found that agree" in str(words[-1])]
    assert found and all(1 in words for words in found)  # fmi3Warning
