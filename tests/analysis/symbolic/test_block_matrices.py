"""The paper's matrices block by block: equal to those in numbers, complete, readable."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.analysis.symbolic.block_matrices import as_text, written_matrices
from vbg.analysis.symbolic.formulas import Formulas
from vbg.assemble.matrices.matrices import is_large, matrices_of
from vbg.assemble.matrices.numbers import Numbers
from vbg.assemble.matrices.partitioned import dense, partitioned_matrices
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.assemble.start.start import assemble_start
from vbg.blocks import Substitution, const, leaf, mul, rotation, skew, transpose
from vbg.cli.main import main
from vbg.simulate.state_at import state_at

EXAMPLES = Path(__file__).parents[3] / "examples"
PAPER = EXAMPLES / "shaft-arm-slider.toml"


def numbers_of(system):
    """The values of blocks in a state of the motion, where little is zero."""
    x = state_at(vbg.start(system), 0.05)
    return x, Numbers(assemble_start(system), 0.05, x)


@pytest.mark.parametrize("name", ["shaft-arm-slider", "wishbone-corner", "motor-slider-crank"])
def test_the_blocks_are_the_matrices_in_numbers(name):
    system = vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))
    x, numbers = numbers_of(system)
    found, plain = partitioned_matrices(system), matrices_of(system, 0.05, x)
    spins = Substitution(dict(found.spins))
    compared = 0
    for name, grid in found.matrices.items():
        spelled = {"TC1": "T_u1", "TC2": "T_u2", "TCu1": "T_uu"}.get(name, name)
        if spelled not in plain.blocks or not grid.blocks:
            continue
        expected = plain.blocks[spelled].values
        block = spins(dense(grid))
        value = numbers([[block]], *block.shape)
        assert_allclose(value, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
        compared += 1
    assert compared > 6


@pytest.mark.parametrize("inductors", [1, 2])
def test_rows_that_vanish_are_differentiated_in_the_mixed_case(inductors):
    """A hinge beside inductors behind one conductance: Q2 H of the numbers has the same rows for
    the hinge, whatever the others are."""
    stores = {f"I{i}": {"kind": "I", "value": 2.0 + i, "initial": [0.0]} for i in range(inductors)}
    graph = {"U": {"kind": "Se", "effort": "3*cos(2*t)"}, "a": {"kind": "1"}}
    model = vbg.Model(
        bondgraph={**graph, "R": {"kind": "R", "flow": "e/4"}, **stores},
        bonds=["U -> a", "a -> R", *(f"a -> {name}" for name in stores)],
        bodies={
            "arm": {
                "mass": 1.3,
                "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15},
                "points": {"top": [0.1, 0.6, 0.2]},
            }
        },
        joints={
            "A": {"kind": "revolute", "between": ["ground", "arm.top"], "axis": [0.1, 0.2, 1.0]}
        },
        simulate={"t_end": 1.0, "output_step": 0.05},
    )
    system = vbg.assemble(model)
    x, numbers = numbers_of(system)
    found, plain = partitioned_matrices(system), matrices_of(system, 0.05, x)
    assert (found.case, plain.case) == ("mixed rows", "mixed")
    spins, compared = Substitution(dict(found.spins)), 0
    names = [f"A.{label}" for m in found.members["u2"] if m.name[:2] == "A." for label in m.labels]
    own = [plain.blocks["T_LE"].rows.index(name) for name in names]
    assert len(own) == 5
    Q2 = plain.blocks["Q2"].values
    for name in ("H1", "H3", "H4"):
        block = spins(dense(found.matrices[name]))
        expected = (Q2 @ plain.blocks[name].values)[own]
        value = numbers([[block]], *block.shape)
        assert_allclose(value[own], expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
        assert not np.delete(value, own, axis=0).any()
        compared += bool(expected.any())
    assert compared == 3


def test_the_rates_of_the_papers_machine_follow_from_its_blocks():
    """X1' = T_11 X1 + T_1u1 U1 + T_1u2 U2 with the spring as a store, and
    H1 X1 + H3 U1 + H4 U2 = 0: eq. 15 of the paper, at any posture."""
    system = vbg.assemble(vbg.read(PAPER))
    start = assemble_start(system)
    x, numbers = numbers_of(system)
    found = partitioned_matrices(system)
    spins = Substitution(dict(found.spins))

    def value(name):
        block = spins(dense(found.matrices[name]))
        return numbers([[block]], *block.shape)

    places = {s.state.name: slice(s.first, s.last) for s in system.slices}
    slide = x[places["J3.slide"]][0]
    stores = [m.name for m in found.members["1"]]
    springs = {"spring.displacement": np.array([slide - 0.15])}
    X = np.concatenate([springs[n] if n in springs else x[places[n]] for n in stores])
    U1 = np.concatenate([numbers([[b]], *b.shape)[:, 0] for b in found.sources.values()])
    U2 = start.constraint_efforts(0.05, x)
    rate = value("T11") @ X + value("T1u1") @ U1 + value("T1u2") @ U2
    expected = start.rate(0.05, x)
    for name, size in zip(stores[:-1], (3,) * 6, strict=True):
        at = 3 * stores.index(name)
        assert_allclose(rate[at : at + size], expected[places[name]], atol=1e-8)
    assert rate[-1] == pytest.approx(expected[places["J3.slide"]][0], rel=1e-9)
    row = value("H1") @ X + value("H3") @ U1 + value("H4") @ U2
    assert_allclose(row, 0.0, atol=1e-7 * np.abs(value("H4") @ U2).max())


def test_the_papers_machine_as_the_paper_prints_it():
    written = written_matrices(vbg.assemble(vbg.read(PAPER)))
    assert written.case == "15"
    entries = {(r, c): f for r, c, f in written.matrices["J1u2"].entries}
    assert entries["shaft.momentum", "J1.force"] == "I"
    assert entries["shaft.momentum", "J2.force"] == "-A_shaft"
    assert entries["shaft.angular_momentum", "J2.force"] == "[0 0 0; 0 0 a; 0 -a 0]"
    assert entries["slider.angular_momentum", "J3.torque"] == "A_slider^T A_arm"
    stores = {(r, c): f for r, c, f in written.matrices["F1"].entries}
    assert stores["arm.momentum", "arm.momentum"] == "1/m I"
    assert stores["spring.displacement", "spring.displacement"] == "K"
    euler = {(r, c): f for r, c, f in written.matrices["R_E"].entries}
    assert euler["arm.EJS", "arm.EJS"] == "-~(arm.angular_momentum)"
    assert {"J11", "T11", "T1u1", "T1u2", "H1", "H3", "H4", "TC1"} <= set(written.matrices)
    assert "T_LE" in written.zero
    assert written.sources["motor.Se"] == "M"
    assert written.parameters["K"] == 500.0
    text = as_text(written)
    assert not re.search(r"\d\.\d{7,}|e-\d\d", text)  # nothing but readable numbers
    assert max(map(len, text.splitlines())) < 330


def test_formulas():
    A, B = (rotation(leaf(f"{name}.quaternion", 4)) for name in "ab")
    v, write = leaf("v", 3), Formulas({}, {})
    half = const(0.5 * np.eye(3))
    assert write(transpose(mul(A, mul(half, B)))) == "1/2 A_b^T A_a^T"
    assert write(mul(transpose(A), mul(half, mul(A, B)))) == "1/2 A_b"
    assert write(mul(skew(v), transpose(A)) - mul(skew(v), transpose(A))) == "0"
    assert write(skew(v) + skew(v)) == "2 ~(v)"
    assert write(const([[0.0, -1.25], [1.0 / 3.0, 1e-20]])) == "[0 -5/4; 1/3 0]"


@pytest.mark.parametrize("seed", range(5))
def test_entries_of_any_units_stay_and_rounding_goes(seed):
    """D A E with units of rows and columns: sparse A keeps its pattern, whatever the sizes; noise
    of 1e-16 beside its like goes."""
    rng = np.random.default_rng(seed)
    n = 4
    units = 10.0 ** rng.uniform(-9, 9, (2, n))
    pattern = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.3)
    A = np.where(pattern, rng.uniform(0.4, 2.3, (n, n)), 0.0) * np.outer(*units)
    text = Formulas({}, {})(const(A))
    rows = [row.split() for row in text.strip("[]").split(";")]
    assert [[entry != "0" for entry in row] for row in rows] == pattern.tolist()
    read = np.array(SymbolicReader()(const(A)).tolist(), dtype=float)
    assert_allclose(read, A, rtol=1e-15)
    full = rng.uniform(0.4, 2.3, (n, n))
    full[0, 1] *= 1e-16
    read = np.array(SymbolicReader()(const(full)).tolist(), dtype=float)
    assert read[0, 1] == 0.0 and np.count_nonzero(read) == n * n - 1


@pytest.mark.parametrize(
    "name", tail(["elastic-robot", "transistor-amplifier", "stewart-platform"], first=2)
)
def test_every_machine_is_written(name, capsys):
    arguments = ["show", "matrices", str(EXAMPLES / f"{name}.toml"), "--symbolic", "--blocks"]
    assert main([*arguments, "--numbers", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["blocks"]
    formulas = [entry[2] for matrix in told["blocks"].values() for entry in matrix["entries"]]
    assert max(map(len, [*formulas, *told["parts"].values()])) < 4000  # of numbers with all digits


@pytest.mark.parametrize("name", tail(["servo-hydraulic", "double-pendulum"], first=1))
def test_long_formulas_are_not_multiplied_out(name, capsys):
    """Few stores, but entries of a thousand terms whose simplification would not end."""
    path = EXAMPLES / f"{name}.toml"
    assert is_large(vbg.assemble(vbg.read(path)))
    assert main(["show", "matrices", str(path), "--symbolic", "--numbers", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["groups"]["1"] and told["blocks"]


def test_json_has_all_digits(capsys, tmp_path):
    """Of a flywheel on a spring: blocks, entries in symbols, numbers."""
    k, J = 123.45678901234567, 0.012345678901234567
    path = tmp_path / "wheel.toml"
    path.write_text(
        f"[bodies.a]\nmass = 1\ninertia = {{ xx = {J!r}, yy = {J!r}, zz = {J!r} }}\n"
        '[joints.A]\nkind = "revolute"\nbetween = ["ground", "a"]\naxis = [0, 0, 1]\n'
        f'[forces.s]\nkind = "torsion_spring"\non = "joints.A"\nk = {k!r}\n',
        "utf-8",
    )
    told = {}
    for how in ("--symbolic --numbers --blocks", "--symbolic --numbers", ""):
        assert main(["show", "matrices", str(path), *how.split(), "--json"]) == 0
        told[how] = json.loads(capsys.readouterr().out)["blocks"]["F1"]
    (blocks, *others) = told.values()
    entries = {row: formula for row, _, formula in blocks["entries"]}
    assert float(entries["s.displacement"]) == k
    assert float(entries["a.angular_momentum"].removesuffix(" I")) == pytest.approx(
        1 / J, rel=3e-16
    )
    for found in others:
        assert float(found["values"][-1][-1]) == k
        assert float(found["values"][5][5]) == pytest.approx(1 / J, rel=3e-16)


def test_latex_and_text_on_the_command_line(capsys):
    assert main(["show", "matrices", str(PAPER), "--symbolic", "--latex", "--numbers"]) == 0
    tex = capsys.readouterr().out
    assert tex.count("\\begin{array}") == tex.count("\\end{array}") > 10
    assert tex.count("\\left(") == tex.count("\\right)")
    assert "\\boldsymbol{H}_{4} =" in tex
    assert "\\dot{\\boldsymbol{J}}_{C i_1} =" in tex
    assert main(["show", "matrices", str(PAPER), "--symbolic", "--numbers"]) == 0
    assert "w_arm = 2400 arm.angular_momentum" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--latex", "--at", "0.1"], ["--blocks"], ["--numbers"]])
def test_options_of_symbols_beside_numbers_are_refused(options, capsys):
    assert main(["show", "matrices", str(PAPER), *options]) == 2
    assert "--latex" in capsys.readouterr().err


def test_what_ties_a_dependent_vector_store_is_one_vector():
    stores = {f"I{i}": {"kind": "I", "size": 2, "value": 2.0 + i} for i in range(2)}
    graph = {"U": {"kind": "Se", "effort": [1.0, 2.0]}, "a": {"kind": "1", "size": 2}}
    model = vbg.Model(bondgraph=graph | stores, bonds=["U -> a", "a -> I0", "a -> I1"])
    members = partitioned_matrices(vbg.assemble(model)).members["u2"]
    assert [(m.name, m.size) for m in members] == [("I1.dependent", 2)]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_rounded_once_where_they_are_read(seed):
    """1/J (r/2)^2 of a lever, a product of three numbers, to the digits that are told."""
    inertia = np.round(np.random.default_rng(seed).uniform(1e-4, 9e-4, 3), 7) + 2e-3
    model = vbg.Model(
        parameters={"r": 0.3},
        bodies={
            "arm": {
                "mass": 1.0,
                "inertia": dict(zip(("xx", "yy", "zz"), inertia.tolist(), strict=True)),
                "points": {"A": ["-r/2", 0.0, 0.0]},
            }
        },
        joints={"A": {"kind": "spherical", "between": ["ground", "arm.A"]}},
    )
    entries = written_matrices(vbg.assemble(model)).matrices["H4"].entries
    (formula,) = [f for r, c, f in entries if r == c == "A.force"]
    told = sorted(float(n) for n in re.findall(r"([\d.]+)\*r\^2", formula))
    expected = sorted(0.25 / inertia[1:])
    assert told == [float(f"{x:.6g}") for x in expected]
