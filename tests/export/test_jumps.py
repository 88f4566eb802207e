"""Speeds that jump in exported programs: what of an impulse they do not have is refused or said
when they are written, as is all else that a run looks for and they do not."""

import numpy as np
import pytest

import vbg
from tests.export.comparing import compiled, table
from tests.laws.flexible.test_beyond_small import machine as strip
from tests.simulate.postures.test_half_turns import free, laws
from tests.tail import tail
from vbg.cli.main import main
from vbg.errors import ModelError
from vbg.export import exported, write_code
from vbg.export.fmu import write_fmu
from vbg.export.jumps import jumping

AT = 0.53
FILTER = {"kind": "transfer_function", "numerator": [1.0]}
CLOCK = {"kind": "sample_and_hold", "period": 0.25, "input": "X.length"}
SPEEDS = {  # by what makes it jump, None of what does not
    f"if(X.length > {AT}, 1.0, 0.2)": "chooses",
    "0.3*sign(X.length - 0.4)": "chooses",
    "0.3*held": "the sampled held",
    "0.3*u": "with u, an input that stands still between instants of communication",
    "0.3*lag": None,
    "0.3*sin(5*t)": None,
}


def carts(speed, law, seed=0, **signals):
    """A source moves one mass, another pushes a second by a law of the first's force; a third goes
    on by itself, which tells of the jump."""
    random = np.random.default_rng(seed)
    a, b, c = np.exp(random.uniform(-1.0, 1.0, 3)).tolist()
    parts = {
        "S": {"kind": "speed", "nodes": ["frame", "a"], "speed": speed},
        "A": {"kind": "mass", "nodes": ["a"], "m": a},
        "B": {"kind": "mass", "nodes": ["b"], "m": b, "speed": float(random.normal())},
        "P": {"kind": "force", "nodes": ["frame", "b"], "force": law},
        "C": {"kind": "mass", "nodes": ["c"], "m": c, "speed": 1.0},
        "X": {"kind": "spring", "nodes": ["frame", "c"], "k": 1e-3},
    }
    own = {
        "u": {"kind": "input", "start": 1.0, "unit": "m/s"},
        "lag": {**FILTER, "input": "u", "denominator": [0.1, 1.0]},
        "held": CLOCK,
    }
    used = {name: own[name] for name in own if name in speed or (name == "u" and "lag" in speed)}
    settings = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-9, "atol": 1e-11}
    return vbg.Model(translational=parts, signals={**used, **signals}, simulate=settings)


READING = {"read": {**FILTER, "input": "S.force", "denominator": [0.3, 1.0]}}


@pytest.mark.parametrize("speed", SPEEDS)
def test_impulses_that_act_otherwise_are_refused(speed):
    """Through laws that are not linear, and on what reads the force; a speed that is smooth is not,
    nor are laws that are linear, of which the work alone is not counted."""
    why = SPEEDS[speed]
    for law, more in (("0.4*abs(S.force)", {}), ("0.01*S.force^2", {}), ("0.0", READING)):
        start = vbg.start(carts(speed, law, **more))
        if why is None:
            assert not exported(start).unlooked
            continue
        with pytest.raises(ModelError, match=r"translational\.A: what is prescribed") as refused:
            exported(start)
        assert why in str(refused.value)
        assert ("read.state" if more else "not linear") in str(refused.value)
    said = exported(vbg.start(carts(speed, "0.4*S.force"))).unlooked
    assert len(said) == (why is not None)
    assert all("energy.supplied" in one and why in one for one in said)


V = "C.speed"
BY_CASES = (  # continuous where {0} is nothing, and jumping where it is something
    "if(X.length > 0.4, 0.3*(X.length-0.4) + {0}, 0)",
    "X.length*sign(X.length) + {0}*sign(X.length)",
    f"if({V} > 0, 2*{V} + {{0}}, {V})",
    f"if({V} > 0.1, {V}-0.1, if({V} < -0.1, {V}+0.1+{{0}}, 0))",
    f"if(abs({V}) > 0.1, {V}-0.1*sign({V}) + {{0}}, 0)",
    f"if({V} > t*X.length, exp({V}-t*X.length)-1, {{0}})",
    f"if({V} > 0, sin({V}) + max({{0}}*(X.length-9), 0), 0)",
    f"if({V} > 0, {V} + if(X.length > 9, {{0}}, 0), 0)",
    f"if({V} > 0, {V} + {{0}}*(sqrt((X.length - 9)^2) + X.length - 9), 0)",
    "if(X.length > 0.4, sqrt(X.length - 0.4) + {0}, 0)",
)


@pytest.mark.parametrize("function", BY_CASES)
def test_functions_by_cases_that_do_not_jump_are_no_jumps(function):
    """Be what they jump by as small as it may, and far from where the machine is."""
    for by in (0.0, 1.0, -1e-3, 1e-9):
        start = vbg.start(carts(function.format(by), "0.0", **READING))
        if by == 0.0:
            assert not exported(start).unlooked
            continue
        with pytest.raises(ModelError, match="with max, min or abs"):
            exported(start)


@pytest.mark.parametrize("seed", range(6))
def test_any_function_by_cases_is_known(seed):
    """p + c q and p agree where c = 0; beside that they jump, or surely do not agree everywhere
    that c = 0 (of two factors one alone)."""
    random = np.random.default_rng(seed)
    a, b, c, d = random.normal(size=4).round(3).tolist()
    condition = f"({a}*{V} + {b}*X.length^2 - {c})"
    p, q = f"{d}*sin(X.length*{V})", f"cos({b}*X.length)*({V} - {d})"
    other = f"(X.length - {b})"
    smooth = f"if({condition} > 0, {p} + {q}*{condition}, {p})"
    for written, jumps in (
        (smooth, False),
        (f"{condition}*sign{condition}*{other}", False),
        (f"if({condition} > 0, {p} + {q}, {p})", True),
        (f"if({condition}*{other} > 0, {p} + {condition}, {p})", True),
        (f"{smooth} + 1e-7*sign({other})", True),
    ):
        found = jumping(vbg.start(carts(written, "0.0")).system)
        assert bool(found) == jumps, written


def test_programs_by_cases_run_as_a_run_does(tmp_path):
    """With a filter that reads the force, through the kink."""
    import fmpy

    start = vbg.start(carts(f"if(X.length > {AT}, 0.3*(X.length-{AT}), 0)", "0.0", 3, **READING))
    names = ["S.force", "read"]
    run = vbg.simulate(start.system.model)
    rows = table(compiled(start, tmp_path / "c", "-O0"))
    write_fmu(start, tmp_path / "carts.fmu")
    exchanged = fmpy.simulate_fmu(
        str(tmp_path / "carts.fmu"), fmi_type="ModelExchange", output=names, stop_time=1.0
    )
    for name in names:
        assert abs(run[name][-1]) > 1e-3
        np.testing.assert_allclose(rows[name], run[name], rtol=1e-6, atol=1e-9)
        assert exchanged[name][-1] == pytest.approx(run[name][-1], rel=1e-4)


@pytest.mark.parametrize("seed", tail(range(2), 1))
def test_impulses_are_shared_as_in_a_run(seed, tmp_path):
    """m_b dv_b = c m_a dv_a, in the program and in both kinds of a unit."""
    import fmpy

    c = float(np.random.default_rng(seed).uniform(-1.0, 1.0))
    model = carts(f"if(X.length > {AT}, 1.0, 0.2)", f"{c!r}*S.force", seed)
    run, start = vbg.simulate(model), vbg.start(model)
    exact = run["B.speed"][0] + c * start.system.model.translational["A"].m * 0.8 / (
        start.system.model.translational["B"].m
    )
    assert run["B.speed"][-1] == pytest.approx(exact, rel=1e-9)
    found = [table(compiled(start, tmp_path / "c", "-O0"))["B.speed"][-1]]
    write_fmu(start, tmp_path / "carts.fmu")
    for kind in ("CoSimulation", "ModelExchange"):
        rows = fmpy.simulate_fmu(
            str(tmp_path / "carts.fmu"), fmi_type=kind, output=["B.speed"], stop_time=1.0
        )
        found.append(rows["B.speed"][-1])
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_programs_of_the_equations_say_that_they_wind_on(tmp_path, capsys):
    vbg.write(free(laws(1.0)["bushing"], [0.0, 0.0, 9.0]), tmp_path / "free.toml")
    given = ["export", str(tmp_path / "free.toml"), "--equations"]
    assert main([*given, "python", "-o", str(tmp_path / "free.py")]) == 0
    assert "forces.neck: its law has two opposite torques" in capsys.readouterr().err
    assert main([*given, "text", "-o", str(tmp_path / "free.txt")]) == 0
    assert "half a turn" not in capsys.readouterr().err


def test_what_is_not_looked_for_is_said(tmp_path):
    """When it is written and in what is written."""
    diode = {
        "V": {"kind": "voltage_source", "nodes": ["a", "gnd"], "voltage": "sin(t)"},
        "D": {"kind": "diode", "nodes": ["a", "b"], "law": "exponential"},
        "R": {"kind": "resistor", "nodes": ["b", "gnd"], "R": 10.0},
        "C": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": 1e-3},
    }
    oil = {
        "pump": {"kind": "flow_source", "nodes": ["tank", "p"], "flow": 1e-4},
        "room": {"kind": "volume", "nodes": ["p"], "volume": 1e-3},
    }
    machines = {
        "bodies.arm: the matrices": strip(1.0, 1e3, 1.2, {"kind": "revolute", "axis": [0, 0, 1]}),
        "electric.D": vbg.Model(electric=diode),
        "vapour pressure": vbg.Model(hydraulic=oil),
        "energy.supplied": carts("0.3*u", "0.4*S.force"),
    }
    for i, (words, model) in enumerate(machines.items()):
        said = []
        files = write_code(vbg.start(model), tmp_path / str(i), tell=said.append)
        assert [words in one for one in said if "stiff" not in one] == [True]
        assert words in next(f for f in files if f.suffix == ".h").read_text()
    write_fmu(
        vbg.start(machines["energy.supplied"]), tmp_path / "u.fmu", platforms=[], tell=said.append
    )
    assert "energy.supplied" in said[-1]
