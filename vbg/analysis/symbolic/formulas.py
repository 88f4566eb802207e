"""Block expressions as formulas, in plain text and in LaTeX.

A_arm              direction cosine matrix R_WB of a body (A of the paper)
A_arm^T            transposed
~(a)               skew matrix of a vector, ~(a) b = a x b
[0 1 0; 0 0 1]     a constant matrix, rows after another
I, m I             identity, a multiple of it
arm.position       states and other symbols by their names
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbg.analysis.symbolic.spelling import latex_symbols, latex_writer
from vbg.assemble.matrices.symbolic import NEGLIGIBLE, beside
from vbg.blocks import Block, const, transpose

DIGITS = 6  # of a number without a name that is read by eye
ALL = 17  # digits that a number has
ROUNDING = 1e-15  # beside the numbers that were added: nothing
READABLE = 1000  # numerators of fractions; others are decimals


@dataclass(frozen=True, slots=True)
class Words:
    """How things are spelled."""

    transposed: str = "{}^T"
    skew: str = "~({})"
    inverse: str = "({})^-1"
    brackets: tuple[str, str] = ("(", ")")
    matrix: tuple[str, str, str, str] = ("[", " ", "; ", "]")
    latex: bool = False


PLAIN = Words()
LATEX = Words(
    "{}^{{\\mathsf T}}",
    "\\widetilde{{{}}}",
    "\\left({}\\right)^{{-1}}",
    ("\\left(", "\\right)"),
    ("\\begin{bmatrix}", " & ", " \\\\ ", "\\end{bmatrix}"),
    latex=True,
)


@dataclass(frozen=True, slots=True)
class _Term:
    """A number times factors: `number` a sympy expression, `factors` texts that hold together
    or constant matrices, none of them for a multiple of the identity."""

    number: Any
    factors: tuple[Any, ...]


class Formulas:
    """Writes blocks; `constants` and `coefficients` are the symbols of numbers that have names,
    `digits` how many others are written with, None for all."""

    def __init__(
        self,
        constants: Mapping[Block, Any],
        coefficients: Mapping[Block, Sequence[Any]],
        words: Words = PLAIN,
        digits: int | None = DIGITS,
    ):
        self._digits = digits
        self._constants, self._coefficients, self._words = constants, coefficients, words
        self._done: dict[Block, tuple[_Term, ...]] = {}
        self._rotations: set[str] = set()

    def __call__(self, block: Block) -> str:
        """The formula of a block."""
        text = ""
        for term in _collected(self._terms(block)):
            own = self._term(term, unit=block.shape == (1, 1))
            if own.startswith("-"):
                text += f" - {own[1:]}" if text else own
            else:
                text += f" + {own}" if text else own
        return text or "0"

    def _terms(self, block: Block) -> tuple[_Term, ...]:
        if block not in self._done:
            self._done[block] = tuple(self._read(block))
        return self._done[block]

    def _read(self, block: Block) -> Sequence[_Term]:
        import sympy

        one = sympy.Integer(1)
        match block.op:
            case "const":
                return [self._constant(block)]
            case "sum":
                numbers = self._coefficients.get(block) or block.data
                return [
                    _Term(self._exact(number) * term.number, term.factors)
                    for number, arg in zip(numbers, block.args, strict=True)
                    for term in self._terms(arg)
                ]
            case "mul" | "product" | "times":
                return [self._product(block.args)]
            case "transpose":
                return self._transposed(block.args[0])
            case "rows" if block.args[0].op == "lookup":
                first, last = block.data
                place = str(first) if last == first + 1 else f"{first}:{last}"
                return [_Term(one, (f"{self._atom(block.args[0])}[{place}]",))]
            case "rows":
                first, last = block.data
                cut = const(np.eye(block.args[0].rows)[first:last])
                return [self._product((cut, block.args[0]))]
            case "linear_solve":
                solved = self._words.inverse.format(self(block.args[0]))
                return [_Term(one, (solved, self._held(block.args[1])))]
            case _:
                return [_Term(one, (self._atom(block),))]

    def _atom(self, block: Block) -> str:
        match block.op:
            case "leaf":
                return self._name(str(block.data))
            case "rotation":
                body = str(block.args[0].data).rpartition(".")[0] or self(block.args[0])
                text = f"A_{{{self._name(body)}}}" if self._words.latex else f"A_{body}"
                self._rotations.add(text)
                return text
            case "skew":
                return self._words.skew.format(self(block.args[0]))
            case "lookup":  # its table is data: how many rows it has says what it is
                x, _, table = block.args
                return f"{self._name('lookup')}({self(x)}; {table.rows})"
            case "stack":
                return self._bracketed([self(arg) for arg in block.args])
            case _:
                name = str(block.data) if block.op == "call" else block.op
                return f"{self._name(name)}({', '.join(self(arg) for arg in block.args)})"

    def _product(self, args: Sequence[Block]) -> _Term:
        import sympy

        number: Any = sympy.Integer(1)
        factors: list[Any] = []
        for arg in args:
            terms = self._terms(arg)
            single = len(terms) == 1
            number *= terms[0].number if single else 1
            for factor in terms[0].factors if single else (self._held(arg),):
                number *= self._joined(factors, factor)
        return _Term(number, tuple(factors))

    def _joined(self, factors: list[Any], factor: Any) -> Any:
        """Append a factor: a rotation meets its transpose and both go, constant matrices
        become one; the number that this leaves in front."""
        import sympy

        before = factors[-1] if factors else None
        if isinstance(factor, str) and isinstance(before, str):
            turned = self._words.transposed.format
            if factor in self._rotations and before == turned(factor):
                factors.pop()
                return sympy.Integer(1)
            if before in self._rotations and factor == turned(before):
                factors.pop()
                return sympy.Integer(1)
        if before is None or isinstance(factor, str) or isinstance(before, str):
            factors.append(factor)
            return sympy.Integer(1)
        factors.pop()
        multiple, matrix = _scaled(before * factor)
        if matrix is not None:
            factors.append(matrix)
        return multiple

    def _transposed(self, block: Block) -> Sequence[_Term]:
        """Of a product the transposes in the other order."""
        if block.op in ("mul", "product"):
            return [self._product(tuple(transpose(arg) for arg in reversed(block.args)))]
        import sympy

        return [_Term(sympy.Integer(1), (self._words.transposed.format(self._held(block)),))]

    def _held(self, block: Block) -> str:
        """As a factor of a product."""
        terms = self._terms(block)
        if len(terms) == 1 and terms[0].number == 1 and len(terms[0].factors) == 1:
            return self._factor(terms[0].factors[0])
        left, right = self._words.brackets
        return f"{left}{self(block)}{right}"

    def _term(self, term: _Term, *, unit: bool) -> str:
        """A term as text; a bare number stands for a multiple of the identity unless `unit`."""
        factors = [self._factor(factor) for factor in term.factors] or ([] if unit else ["I"])
        number = self.number(term.number)
        if not factors:
            return number
        if number == "1":
            return " ".join(factors)
        return " ".join(["-" + factors[0], *factors[1:]] if number == "-1" else [number, *factors])

    def number(self, value: Any) -> str:
        """A number or an expression of parameters."""
        short = self._exact(value)
        if short.is_Float:
            return _told(short, self._digits)
        latex = latex_writer(latex_symbols(short.free_symbols))
        text = latex(short) if self._words.latex else str(short).replace("**", "^")
        if short.is_Add:
            left, right = self._words.brackets
            return f"{left}{text}{right}"
        return text

    def _factor(self, factor: Any) -> str:
        """A factor as text: constant matrices row by row."""
        if isinstance(factor, str):
            return factor
        _, beside, _, _ = self._words.matrix
        rows = [factor.row(i) for i in range(factor.rows)]
        return self._bracketed([beside.join(self.number(entry) for entry in row) for row in rows])

    def _constant(self, block: Block) -> _Term:
        import sympy

        symbols = self._constants.get(block)
        data = block.data if symbols is None else symbols
        rows, cols = block.shape
        least = NEGLIGIBLE * beside(np.abs(block.data))
        matrix = sympy.ImmutableMatrix(
            rows,
            cols,
            lambda i, j: self._exact(data[i, j]) if abs(block.data[i, j]) > least[i, j] else 0,
        )
        multiple, left = _scaled(matrix)
        return _Term(multiple, () if left is None else (left,))

    def _exact(self, value: Any) -> Any:
        """As sympy has it: whole numbers and usual fractions exact, others to a few digits; with
        all digits only what a number is to its last one."""
        import sympy

        from vbg.analysis.symbolic.entries import simple_fraction

        digits = self._digits

        def short(number: Any) -> Any:
            simple = simple_fraction(float(number))
            kept = simple is not None and (simple.q == 1 or abs(simple.p) < READABLE)
            if kept and (digits is not None or float(simple) == float(number)):
                return simple
            return sympy.Float(_told(number, digits), digits or ALL)

        written = sympy.sympify(value)
        if written.is_zero:
            return sympy.Integer(0)
        return written.xreplace({n: short(n) for n in written.atoms(sympy.Float)})

    def _bracketed(self, lines: Sequence[str]) -> str:
        left, _, below, right = self._words.matrix
        return f"{left}{below.join(lines)}{right}"

    def _name(self, name: str) -> str:
        return "\\text{" + name.replace("_", "\\_") + "}" if self._words.latex else name


def _scaled(matrix: Any) -> tuple[Any, Any]:
    """A matrix as number and matrix; None for the identity, the number 0 for zero."""
    import sympy

    if matrix.is_zero_matrix:
        return sympy.Integer(0), None
    if matrix.rows == matrix.cols and matrix == matrix[0, 0] * sympy.eye(matrix.rows):
        return matrix[0, 0], None
    return sympy.Integer(1), matrix


def _collected(terms: Sequence[_Term]) -> list[_Term]:
    """Terms of the same factors as one; none of what is left of numbers that cancel."""
    met: dict[tuple[Any, ...], list[Any]] = {}
    for term in terms:
        met.setdefault(term.factors, []).append(term.number)
    found = [(factors, sum(numbers), sum(map(abs, numbers))) for factors, numbers in met.items()]
    return [
        _Term(number, factors)
        for factors, number, size in found
        if not (number == 0 or (number.is_Float and abs(number) <= ROUNDING * size))
    ]


def _told(number: Any, digits: int | None) -> str:
    return repr(float(number)) if digits is None else f"{float(number):.{digits}g}"
