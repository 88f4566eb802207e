"""How long equations would be written out is told before: beams of any number of elements."""

import time
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.analysis.symbolic.block_matrices import written_matrices
from vbg.analysis.symbolic.loops.deriving import minimal_equations
from vbg.analysis.symbolic.size import written_length
from vbg.analysis.symbolic.symbolic import equations_of
from vbg.assemble.matrices.symbolic import SymbolicReader
from vbg.blocks import leaf, linear_solve, rotation
from vbg.errors import VbgError

pytest.importorskip("sympy")
EXAMPLES = Path(__file__).parents[3] / "examples"
DATA = Path(__file__).parents[2] / "data"


def symbols_in(matrix):
    """Symbols in the tree of every entry, each as often as it is written."""

    def count(x):
        return sum(map(count, x.args)) if x.args else int(x.is_Symbol)

    return sum(count(entry) for entry in matrix)


@pytest.mark.parametrize("factors", range(1, 9))
def test_length_of_a_chain_of_products(factors):
    """Of n full 3x3 of symbols every entry has a_n = 3 (1 + a_(n-1)), a_1 = 1."""
    block, entry = rotation(leaf("b1.quaternion", 4)), 1
    for n in range(1, factors):
        block, entry = block @ rotation(leaf(f"b{n + 1}.quaternion", 4)), 3 * (1 + entry)
    assert written_length([block]) == 9 * entry
    if factors < 5:
        assert symbols_in(SymbolicReader()(block)) == 9 * entry


def test_length_of_a_solution_by_elimination():
    """At most as long as told, and of the same order."""
    block = linear_solve(rotation(leaf("b.quaternion", 4)), leaf("c", 3))
    told = written_length([block])
    assert 0.3 * told < symbols_in(SymbolicReader()(block)) <= told


@pytest.mark.parametrize("name", ["slider-crank", "heavy-top", "pendulum", "servo-hydraulic"])
def test_written_equations_are_as_long_as_told_at_most(name):
    system = vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))
    e = system.equations
    known = [e.efforts, *(c.unknown for c in e.constraints)]
    kept = [s for s in system.slices if s.state.kind not in ("quadrature", "discrete")]
    told = written_length(
        [*(e.rates[s.state.leaf] for s in kept), e.residual], {k.key for k in known}
    )
    found = equations_of(system, "constraint", names=False)
    length = sum(symbols_in([x]) for x in (*found.rates.values(), *found.constraints))
    assert 0.05 * told < length <= told + 1


@pytest.mark.parametrize("elements", range(1, 13))
@pytest.mark.parametrize("form", ["auto", "constraint"])
def test_beams_of_many_elements_are_refused_at_once(elements, form, tmp_path):
    text = (DATA / "cantilever.toml").read_text(encoding="utf-8")
    text = text.replace("elements = 4", f"elements = {elements}").partition("[measures]")[0]
    file = tmp_path / "beam.toml"
    file.write_text(text, encoding="utf-8")
    system = vbg.assemble(vbg.read(file))
    before = time.process_time()
    with pytest.raises(VbgError, match=r"up to \d+ (operations )?are written out"):
        equations_of(system, form)
    assert time.process_time() - before < 2.0


@pytest.mark.parametrize("name", tail(["elastic-robot", "wind-rotor"], 1))
def test_minimal_equations_of_beams_are_refused_and_their_matrices_have_parts(name):
    """Two beams in a robot: minutes of work before they were; their matrices, 300 MB of text when
    they are multiplied out, by parts with names."""
    system = vbg.assemble(vbg.read(EXAMPLES / f"{name}.toml"))
    with pytest.raises(VbgError, match="are written"):
        minimal_equations(system)
    written = written_matrices(system, names=False)
    entries = [text for m in written.matrices.values() for *_, text in m.entries]
    assert written.parts and sum(map(len, [*entries, *written.parts.values()])) < 200_000


@pytest.mark.slow
def test_six_axes_about_skew_lines_are_refused_soon():
    """Each body's share is counted as it is written; the constraint form is short."""
    system = vbg.assemble(vbg.read(EXAMPLES / "geared-robot.toml"))
    begin = time.process_time()
    with pytest.raises(VbgError, match=r"up to 300000 are written out.*--form constraint"):
        equations_of(system)
    assert time.process_time() - begin < 60.0
    found = equations_of(system, "constraint")
    assert found.form == "constraint" and len(found.rates) > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["universal", "revolute"])
def test_chains_about_skew_axes_end_in_a_sentence(kind):
    """Five bodies on axes of which no two are parallel: minutes, if nobody counted."""
    rng, bodies, joints = np.random.default_rng(4), {}, {}
    for i in range(5):
        axis, other = rng.normal(size=(2, 3))
        two = {"axis2": np.cross(axis, other).tolist()} if kind == "universal" else {}
        points = {name: rng.uniform(-0.4, 0.4, 3).tolist() for name in "ab"}
        inertia = {"xx": 0.1, "yy": 0.2, "zz": 0.15}
        bodies[f"b{i}"] = {"mass": 1.0 + i, "inertia": inertia, "points": points}
        ends = ["ground" if i == 0 else f"b{i - 1}.b", f"b{i}.a"]
        joints[f"j{i}"] = {"kind": kind, "between": ends, "axis": axis.tolist(), **two}
    system = vbg.assemble(vbg.Model(name="snake", bodies=bodies, joints=joints))
    with pytest.raises(VbgError, match=r"equations of snake in minimal coordinates.*too long"):
        minimal_equations(system)
