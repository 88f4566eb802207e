"""The printed matrices of random machines are the matrices in numbers, and print no rounding."""

import re
from fractions import Fraction

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.assemble.matrices.matrices import matrices_of
from vbg.assemble.matrices.symbolic import beside
from vbg.simulate.state_at import state_at
from vbg.spatial import rotation_matrix

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic import block_matrices  # noqa: E402
from vbg.analysis.symbolic.block_matrices import written_matrices  # noqa: E402

NUMBER = r"\d+\.?\d*(?:e[+-]?\d+)?(?:/\d+)?"
TOKEN = re.compile(rf"\^T|\^-1|[\[\]();~+-]|{NUMBER}|(?:(?!\^T|\^-1)[^\s\[\]();~+])+")
SPELLED = {"TC1": "T_u1", "TC2": "T_u2", "TCu1": "T_uu"}


class Reader:
    """Formulas as numbers: an own reader of what is printed."""

    def __init__(self, values, rotations):
        self.values, self.rotations = values, rotations

    def __call__(self, text, shape=None):
        self.tokens, self.at = TOKEN.findall(text), 0
        found = self.total()
        assert self.at == len(self.tokens), (text, self.tokens[self.at :])
        if np.size(found) == 1:
            found = np.ravel(found)[0]
            return found * np.eye(shape[0]) if shape else found
        return found

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def total(self):
        sign = -1.0 if self.peek() == "-" and self.take() else 1.0
        found = sign * self.product()
        while self.peek() in ("+", "-") and self.peek():
            sign = 1.0 if self.take() == "+" else -1.0
            other = sign * self.product()
            if np.ndim(found) == 0 < np.ndim(other):  # a multiple of I
                found = found * np.eye(len(other))
            elif np.ndim(other) == 0 < np.ndim(found):
                other = other * np.eye(len(found))
            found = found + other
        return found

    def product(self):
        found = self.factor()
        while self.peek() and self.peek() not in ("+", "-", ")", "]", ";"):
            other = self.factor()
            plain = 0 in (np.ndim(found), np.ndim(other))
            found = found * other if plain else found @ other
        return found

    def factor(self):
        found = self.atom()
        while self.peek() in ("^T", "^-1"):
            found = found.T if self.take() == "^T" else np.linalg.inv(found)
        return found

    def atom(self):
        token = self.take()
        if token == "~":
            assert self.take() == "("
            x, y, z = np.ravel(self.total())
            assert self.take() == ")"
            return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        if token == "(":
            found = self.total()
            assert self.take() == ")"
            return found
        if token == "[":
            return self.matrix()
        if token.startswith("A_"):
            return self.rotations[token[2:]]
        if token == "I":
            return 1.0
        return self.values[token] if token in self.values else float(Fraction(token))

    def matrix(self):
        rows = [[]]
        while self.peek() != "]":
            if self.peek() == ";":
                self.take()
                rows.append([])
                continue
            sign = -1.0 if self.peek() == "-" and self.take() else 1.0
            rows[-1].append(sign * self.factor())
        self.take()
        return np.array(rows, dtype=float)


def machine(seed):
    """Three bodies on joints of any kind: points, axes and inertias of numbers of few digits and of
    all digits, bodies at special and at general angles, sizes of any unit."""
    rng = np.random.default_rng(seed)
    length, mass = 10.0 ** rng.uniform(-3, 2, 2)

    def point():
        few = rng.choice([0.0, 0.1, 0.2, -0.25, 0.3], 3)
        return (length * np.where(rng.random(3) < 0.7, few, rng.normal(size=3))).tolist()

    def axis():
        special = [[1, 0, 0], [0, 1, 0], [0, 0, -1], [0, 1, 1], [3, 0, 4]]
        one = special[rng.integers(5)] if rng.random() < 0.7 else rng.normal(size=3).tolist()
        return [float(v) for v in one]

    bodies, joints, before = {}, {}, "ground"
    for k in range(3):
        J = mass * length**2 * rng.uniform(1.0, 1.8, 3)
        angle = rng.choice([90.0, 45.0, 180.0, 30.0, float(rng.uniform(0, 360))])
        bodies[f"b{k}"] = {
            "mass": float(mass * rng.uniform(0.5, 2)),
            "inertia": dict(zip(("xx", "yy", "zz"), J.tolist(), strict=True)),
            "position": point(),
            "rotation": {"axis": axis(), "angle": f"{angle} deg"},
            "points": {"a": point(), "e": point()},
        }
        kind = str(rng.choice(["revolute", "spherical", "cylindrical", "universal"]))
        joint = {"kind": kind, "between": [before, f"b{k}.a"], "axis": axis()}
        if kind == "spherical":
            del joint["axis"]
        if kind == "universal":
            x, y, _ = joint["axis"]
            joint["axis2"] = [y, -x, 0.0] if x or y else [1.0, 0.0, 0.0]
        joints[f"J{k}"] = joint
        before = f"b{k}.e"
    return vbg.Model(bodies=bodies, joints=joints, simulate={"t_end": 1.0, "output_step": 0.1})


@pytest.mark.parametrize(
    ("seed", "readable"), tail([(seed, seed % 2 * 10**6) for seed in range(12)], first=4)
)
def test_what_is_printed_is_what_is_computed(seed, readable, monkeypatch):
    """Block by block, in one piece or by parts with names; and no number is printed that is 1e-10
    of those of its matrix."""
    monkeypatch.setattr(block_matrices, "READABLE", readable)
    model = machine(seed)
    system = vbg.assemble(model)
    x = state_at(vbg.start(system), 0.0)
    rng = np.random.default_rng(seed)
    values, rotations = {}, {}
    for s in system.slices:
        if s.state.kind == "store":
            x[s.first : s.last] = rng.normal(size=s.last - s.first)
        values[s.state.name] = x[s.first : s.last, None]
        if s.state.kind == "quaternion":
            rotations[s.state.name.rpartition(".")[0]] = rotation_matrix(x[s.first : s.last])
    written = written_matrices(system, digits=None)
    plain = matrices_of(system, 0.0, x).blocks
    read = Reader(values, rotations)
    for name, spin in written.spins.items():
        values[name] = read(spin, (3, 1))
    for name, part in written.parts.items():
        values[name] = read(part)
    assert bool(written.parts) == (readable == 0)
    compared = 0
    for name, matrix in written.matrices.items():
        expected = plain.get(SPELLED.get(name, name))
        if expected is None:
            continue
        sizes = {m.name: m.size for group in written.members.values() for m in group}
        rows, columns = (places(those, sizes) for those in (matrix.rows, matrix.columns))
        whole = np.zeros(expected.values.shape)
        for row, column, formula in matrix.entries:
            own = read(formula, (len(rows[row]), len(columns[column])))
            whole[np.ix_(rows[row], columns[column])] = own
        bound = beside(np.abs(expected.values))
        assert (np.abs(whole - expected.values) <= 1e-9 * bound).all(), name
        compared += 1
        for row, column, formula in matrix.entries:
            for constant in re.findall(r"\[([^\[\]]*)\]", formula):
                numbers = re.findall(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?", constant)
                found = np.array([float(n) for n in numbers if float(n) > 0.0])
                if len(found):
                    assert found.min() > 1e-10 * found.max(), (name, row, column, formula)
    assert compared > 8


def places(names, sizes):
    """Where the components of each vector stand."""
    ends = np.cumsum([0, *(sizes[name] for name in names)])
    return {name: range(ends[k], ends[k + 1]) for k, name in enumerate(names)}
