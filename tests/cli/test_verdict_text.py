"""What `vbg validate` and `vbg run --solver mstmm` print: one name of the second solver, units
of one dimension, no empty table, a number of the step halving that says what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbg.cli.main import main
from vbg.validate import Report, text
from vbg.validate.comparison.values import Verdict
from vbg.validate.report import halving_sentence

EXAMPLES = Path(__file__).parents[2] / "examples"
FORCED = """
vbg = 1
[bodies.rod]
mass = 1
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
[joints.guide]
kind = "{kind}"
between = ["ground", {{ body = "rod", at = [-0.1, 0, 0] }}]
axis = [0, 0, 1]
friction = {{ viscous = 0.1 }}
stop = {{ lower = -0.01, upper = 1, k = 500 }}
{drive}
[forces.push]
kind = "torque"
on = "joints.guide"
torque = {effort}
[forces.spring]
kind = "spring"
on = "joints.guide"
k = 3
"""


@pytest.mark.parametrize(("kind", "unit"), [("revolute", "N*m"), ("prismatic", "N")])
def test_an_effort_has_the_unit_of_its_motion(kind, unit, tmp_path, capsys):
    path = tmp_path / "forced.toml"
    for drive, signals in (("", ("friction", "stop")), ('drive = "0.1*t"', ("drive",))):
        path.write_text(FORCED.format(kind=kind, drive=drive, effort=1))
        command = ["run", str(path), "--t-end", "10 ms", "--solver", "mstmm", "--all"]
        assert main(command) == 0
        out, _ = capsys.readouterr()
        rows = {line.split()[0]: line.split()[-1] for line in out.splitlines() if "." in line}
        what = "torque" if kind == "revolute" else "force"
        names = [f"guide.{name}" for name in signals] + [f"spring.{what}", "push.torque"]
        assert {name: rows[name] for name in names} == dict.fromkeys(names, unit)
        assert " or " not in out.split("residual.position")[0]
        assert "made by    transfer-matrix solver (MSTMM), riccati, dop853" in out


def test_nothing_to_compare_prints_no_empty_table(capsys, tmp_path):
    """A signal that is zero throughout, of a machine without power."""
    file = tmp_path / "still.toml"
    file.write_text("vbg = 1\n[signals.still]\nkind = 'gain'\ninput = '0*t'\nk = 2\n")
    assert main(["validate", str(file), "--t-end", "10 ms"]) == 1
    out, _ = capsys.readouterr()
    assert out.startswith("INCONCLUSIVE  ")
    assert "Nothing to compare" in out and "max error" not in out


@pytest.mark.parametrize(
    ("halving", "words"),
    [
        (662.0, "is 662 times as large; it comes from integration"),
        (1.0, "is 1 times as large; it hardly follows the step: rounding where it is small"),
    ],
)
def test_the_step_halving_says_what_it_means(halving, words):
    assert words in halving_sentence(halving)
    assert words in text(Report(Verdict("PASS", "All agree.", halving=halving), {}))
