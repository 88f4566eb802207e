"""The paper's matrices in the names of the parameters: as a textbook would, and with the values
of the numbers for other parameters, too."""

import json
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.analysis.symbolic.named_matrices import named_matrices
from vbg.assemble.matrices.matrices import matrices_of
from vbg.cli.main import main
from vbg.spatial import rotation_matrix

pytest.importorskip("sympy")
GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("name", ["pendulum", "dc-motor-start"])
def test_golden(name, capsys):
    assert main(["show", "matrices", "--symbolic", str(GOLDEN / f"{name}.toml")]) == 0
    expected = (GOLDEN / f"{name}.matrices.txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == expected


def somewhere(system):
    """A state off the start, with unit quaternions, and its values by the symbols' names."""
    rng = np.random.default_rng(11)
    x = vbg.start(system).state + 0.1 * rng.standard_normal(system.size)
    values = {}
    for s in system.slices:
        if s.state.kind == "quaternion":
            x[s.first : s.last] /= np.linalg.norm(x[s.first : s.last])
            body = s.state.name.rpartition(".")[0]
            R = rotation_matrix(x[s.first : s.last])
            values |= {f"R_{body}[{i},{j}]": R[i, j] for i in range(3) for j in range(3)}
    return x, values | dict(zip(system.state_names, x, strict=True))


@pytest.mark.parametrize(
    "path",
    [
        GOLDEN / "pendulum.toml",
        GOLDEN / "dc-motor-start.toml",
        EXAMPLES / "quarter-car.toml",
    ],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_other_parameters_give_the_matrices_of_the_other_machine(path):
    model = vbg.read(path)
    named = named_matrices(vbg.assemble(model))
    rng = np.random.default_rng(3)
    written = model.document.get("parameters", {})
    changed = {n: model.parameters[n] * rng.uniform(0.8, 1.2) for n in written}
    changed = {n: changed.get(n) for n in named.parameters}
    assert changed or not written
    other = vbg.assemble(model.with_parameters(**changed))
    x, values = somewhere(other)
    numbers = matrices_of(other, 0.0, x)
    assert numbers.case in named.matrices.case
    for name, matrix in named.matrices.blocks.items():
        known = {s: {**values, **changed}[str(s)] for s in matrix.values.free_symbols}
        found = np.array(matrix.values.subs(known).tolist(), dtype=float)
        expected = numbers.blocks[name].values
        assert np.abs(found - expected).max() <= 1e-8 * max(1.0, np.abs(expected).max()), name


def test_numbers_and_json(capsys):
    path = str(GOLDEN / "dc-motor-start.toml")
    assert main(["show", "matrices", "--symbolic", "--numbers", path]) == 0
    assert "K/L" not in capsys.readouterr().out
    assert main(["show", "matrices", "--symbolic", "--json", path]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["blocks"]["T11"]["values"] == [["0", "K/L"], ["-K/Jl", "-R/L"]]
    assert plain["parameters"]["L"] == pytest.approx(1.5e-3)
