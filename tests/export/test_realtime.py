"""Code for a task with a period: what `vbg run --method rk4` computes, with a bounded work."""

import ctypes
import re
import subprocess

import numpy as np
import pytest

import vbg
from tests.export.comparing import WARNINGS, compiled, family, family_peaks, table
from tests.laws.machines import random_loop
from tests.tail import tail
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.export import write_code
from vbg.export.code import identifier
from vbg.export.compiler import compile_c, find_compiler
from vbg.export.tuning import Wish
from vbg.io import toml
from vbg.solution import components

SAMPLED = """
name = "sampled arm"
[parameters]
load = { value = 1.0, unit = "kg" }
[bodies.arm]
mass = "load"
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }
[joints.A]
kind = "revolute"
between = ["ground", "arm.A"]
axis = [0, 1, 0]
[signals.seen]
kind = "sample_and_hold"
input = "A.angle"
period = 0.003
[signals.jump]
kind = "step"
start = 0.05
height = 8.0
[signals.torque]
kind = "expression"
expression = "-40*seen - 2*A.speed + jump"
[forces.motor]
kind = "torque"
on = "joints.A"
torque = ["torque"]
[simulate]
t_end = 0.3
output_step = 0.001
"""


def example(name):
    return vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))


def ticking(start, folder, step, **given):
    """The program of steps of a fixed length, compiled without any warning."""
    return compiled(start, folder, "-O0", step=step, **given)


def worst(found, start, t_end, step):
    """The largest difference from `vbg run --method rk4`, of the peak of a kind of signals."""
    run = vbg.simulate(start, t_end=t_end, output_step=step, method="rk4")
    columns = dict(components(run))
    peaks = family_peaks(columns)
    assert found["time"] == pytest.approx(run.time, abs=1e-12)
    rounding = 1e-12 * max(peaks.values())
    return max(
        np.abs(values - columns[name]).max() / max(peaks[family(name)], rounding)
        for name, values in found.items()
        if name != "time"
    )


@pytest.mark.parametrize("name", tail(["slider-crank", "bennett", "stewart-platform"], 1))
def test_steps_are_those_of_rk4_to_rounding(tmp_path, name):
    """Posture and momenta are closed by one Newton step each in C, to a tolerance in vbg."""
    start = example(name)
    found = table(ticking(start, tmp_path, 1e-3), 0.3)
    assert worst(found, start, 0.3, 1e-3) < 1e-9


@pytest.mark.parametrize("seed", tail(range(3), 1))
def test_random_loops_move_alike(tmp_path, seed):
    start = vbg.start(vbg.assemble(random_loop(seed).model()))
    found = table(ticking(start, tmp_path, 1e-3), 0.1)
    assert worst(found, start, 0.1, 1e-3) < 1e-7


def test_samples_and_jumps_at_ends_of_steps_are_met_there_for_long(tmp_path):
    """The n-th step ends at n h: a sum of steps is beside a clock after some thousand."""
    start = vbg.start(vbg.assemble(toml.parse(SAMPLED, "sampled.toml")))
    program = ticking(start, tmp_path, 1e-3)
    assert worst(table(program, 0.3), start, 0.3, 1e-3) < 1e-9
    held = table(program, 15.0, 3)
    assert np.abs(held["seen"] - held["A.angle"])[1:].max() < 1e-12


def test_an_event_comes_at_the_end_of_its_step(tmp_path):
    """A jump at 50.0 ms in steps of 4 ms is felt from 52 ms on: of first order in the step."""
    model = toml.parse(SAMPLED.replace("period = 0.003", "period = 0.004"), "sampled.toml")
    start = vbg.start(vbg.assemble(model))
    exact = dict(components(vbg.simulate(start, rtol=1e-11, output_step=0.004)))["A.angle"][-1]
    errors = []
    for step in (4e-3, 4e-3 / 3.0):  # 50 ms is half, and a half, of a step behind an end
        folder = tmp_path / f"{step:.4f}"
        errors.append(table(ticking(start, folder, step), 0.3)["A.angle"][-1] - exact)
    assert 1e-7 < abs(errors[0]) < 1e-2 and 2.0 < errors[0] / errors[1] < 4.5


@pytest.mark.parametrize("name", tail(["excavator-arm", "bennett", "sampled"], 1))
def test_the_block_of_memory_has_the_size_that_the_header_says(tmp_path, name):
    """With modes; with redundant rows; with a clock and a parameter that stays."""
    sampled = name == "sampled"
    start = vbg.start(toml.parse(SAMPLED, "s.toml")) if sampled else example(name)
    wishes = [Wish("load", 0.5, 3.0)] if sampled else []
    written = write_code(start, tmp_path, wishes, step=1e-3)
    files = [p.name for p in written if p.suffix == ".c" and p.name != "main.c"]
    flags = ["-O0", "-shared", "-fPIC"]
    compile_c(find_compiler(), tmp_path, files, tmp_path / "machine.so", flags)
    code, own = ctypes.CDLL(str(tmp_path / "machine.so")), identifier(start.system.model.name)
    code.vbg_doubles.restype = ctypes.c_long
    model = ctypes.c_char.in_dll(code, f"machine_{own}")
    header = (tmp_path / f"{own}.h").read_text()
    said = re.search(rf"#define {own.upper()}_DOUBLES (\d+)", header)
    assert code.vbg_doubles(ctypes.byref(model)) == int(said[1])


def test_nothing_is_taken_and_nothing_is_global(tmp_path):
    for path in write_code(example("slider-crank"), tmp_path, step=1e-3):
        if path.suffix == ".c" and path.name != "main.c":
            text = path.read_text()
            assert not re.search(r"\b(malloc|calloc|realloc|free)\s*\(", text), path.name
            assert not re.search(r"^[ \t]*static (?!const|inline)[^(]*[=;]", text, re.M), path.name
            assert not re.search(r"^(int|long|double|vbg)\b[^(]*[=;]$", text, re.M), path.name


def test_the_text_is_the_same_each_time_and_smaller(tmp_path):
    start = example("slider-crank")
    texts = [
        {p.name: p.read_text() for p in write_code(start, tmp_path / f"{i}", step=1e-3)}
        for i in range(2)
    ]
    assert texts[0] == texts[1]
    assert not {"vbg_run.c", "vbg_step.c", "vbg_radau.c"} & set(texts[0])


def test_steps_and_clocks_that_do_not_go_together_are_told(tmp_path):
    start = vbg.start(toml.parse(SAMPLED, "sampled.toml"))
    with pytest.raises(UsageError, match="fall together"):
        write_code(start, tmp_path, step=4e-3)
    told = []
    write_code(start, tmp_path, tell=told.append, step=2e-3)
    assert len(told) == 1 and "up to a step late" in told[0]


def test_steps_that_are_too_long_for_the_machine_are_refused(tmp_path):
    with pytest.raises(UsageError, match="shorter"):
        write_code(example("servo-hydraulic"), tmp_path, step=0.02)


def test_the_command_writes_times_and_refuses(tmp_path, capsys):
    model = tmp_path / "arm.toml"
    model.write_text(SAMPLED)
    given = ["export", str(model), "--realtime", "--step", "1 ms", "-o", str(tmp_path / "arm")]
    assert main(given) == 0
    files = [p.name for p in (tmp_path / "arm").iterdir() if p.suffix == ".c"]
    compile_c(find_compiler(), tmp_path / "arm", files, tmp_path / "arm/arm", ["-O0", *WARNINGS])
    done = subprocess.run(
        [tmp_path / "arm/arm", "time"], capture_output=True, text=True, check=True
    )
    assert re.search(r"300 steps of 0.001 s: [\d.]+ us each, .* [\d.]+ kB", done.stdout)
    capsys.readouterr()
    for wrong, word in (
        (["--realtime"], "--step"),
        (["--step", "1e-3"], "--realtime"),
        (["--step", "--urdf"], "solids"),
    ):
        assert main(["export", str(model), *wrong, "-o", str(tmp_path / "x")]) == 2
        assert word in capsys.readouterr().err


@pytest.mark.parametrize(
    ("language", "ending", "word"),
    tail(
        [
            ("fortran", ".f90", "end program"),
            ("latex", ".tex", r"\begin{align}"),
            ("python", ".py", "def "),
            ("c", ".c", "int main("),
            ("text", ".txt", "hinge.angle' ="),
        ],
        2,
    ),
)
def test_equations_are_exported_in_each_language(tmp_path, language, ending, word, capsys):
    out = tmp_path / f"pendulum{ending}"
    given = ["export", "examples/pendulum.toml", "--equations", language, "-o"]
    assert main([*given, str(out)]) == 0
    assert word in out.read_text()
    assert main([*given, str(tmp_path / "pendulum.x")]) == 2
    assert ending in capsys.readouterr().err


def test_equations_of_circuits_are_functions_without_fortran(tmp_path, capsys):
    given = ["export", "examples/rlc-ladder.toml", "--equations"]
    assert main([*given, "python", "-o", str(tmp_path / "ladder.py")]) == 0
    assert "def rate(t, x" in (tmp_path / "ladder.py").read_text()
    assert main([*given, "fortran", "-o", str(tmp_path / "ladder.f90")]) == 2
    assert "--equations c or python" in capsys.readouterr().err
