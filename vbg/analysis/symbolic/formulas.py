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
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from vbg.analysis.symbolic.constants import Constant, constant_of
from vbg.analysis.symbolic.spelling import latex_symbols, latex_writer
from vbg.blocks import Block, const

DIGITS = 6  # of a number without a name that is read by eye
ALL = 17  # digits that a number has
GUARD = 6  # digits more in products, so that none of those that are read is lost
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
class _Text:
    """A factor that holds together: a name, a matrix of formulas, a sum in brackets; a `rotation`
    meets its transpose and both go, a `skew` matrix is the opposite of its own."""

    text: str
    transposed: bool = False
    rotation: bool = False
    skew: bool = False


@dataclass(frozen=True, slots=True)
class _Term:
    """A number times factors: `number` a sympy expression, `factors` texts or constant matrices,
    none of them for a multiple of the identity."""

    number: Any
    factors: tuple[_Text | Constant, ...]


class Formulas:
    """Writes blocks; `constants` and `coefficients` are the symbols of numbers that have names,
    `digits` how many others are written with, None for all; `parts` are blocks with names of
    their own, which `definition` writes out."""

    def __init__(
        self,
        constants: Mapping[Block, Any],
        coefficients: Mapping[Block, Sequence[Any]],
        words: Words = PLAIN,
        digits: int | None = DIGITS,
        parts: Mapping[Block, str] = MappingProxyType({}),
    ):
        self._digits, self._parts = digits, parts
        self._constants, self._coefficients, self._words = constants, coefficients, words
        self._done: dict[Block, tuple[_Term, ...]] = {}

    def __call__(self, block: Block) -> str:
        """The formula of a block."""
        return self._sum(self._terms(block), block)

    def definition(self, block: Block) -> str:
        """What the name of one of the `parts` stands for."""
        return self._sum(_collected(self._read(block)), block)

    def _sum(self, terms: Sequence[_Term], block: Block) -> str:
        text = ""
        for term in terms:
            own = self._term(term, unit=block.shape == (1, 1))
            if own.startswith("-"):
                text += f" - {own[1:]}" if text else own
            else:
                text += f" + {own}" if text else own
        return text or "0"

    def _terms(self, block: Block) -> tuple[_Term, ...]:
        """Its terms, none for what vanishes."""
        if block not in self._done:
            if block in self._parts:
                self._done[block] = (_of_text(_Text(self._name(self._parts[block]))),)
            else:
                self._done[block] = tuple(_collected(self._read(block)))
        return self._done[block]

    def _read(self, block: Block) -> Sequence[_Term]:
        match block.op:
            case "const":
                return [self._constant(block)]
            case "sum":
                numbers = self._coefficients.get(block) or block.data
                return [
                    _Term(self._worked(number) * term.number, term.factors)
                    for number, arg in zip(numbers, block.args, strict=True)
                    for term in self._terms(arg)
                ]
            case "mul" | "product" | "times":
                return [self._product(block.args)]
            case "transpose":
                return [_transposed(term) for term in self._terms(block.args[0])]
            case "rows" if block.args[0].op == "lookup":
                first, last = block.data
                place = str(first) if last == first + 1 else f"{first}:{last}"
                return [_of_text(_Text(f"{self._atom(block.args[0]).text}[{place}]"))]
            case "rows":
                first, last = block.data
                cut = const(np.eye(block.args[0].rows)[first:last])
                return [self._product((cut, block.args[0]))]
            case "stack":
                return self._stacked(block)
            case "linear_solve":
                solved = _Text(self._words.inverse.format(self(block.args[0])))
                return [_joined([solved, *self._held(block.args[1])])]
            case _:
                return [_of_text(self._atom(block))]

    def _stacked(self, block: Block) -> Sequence[_Term]:
        """Parts below one another; where all but one vanish, a product: [0; X] = [0; I] X."""
        filled = [k for k, arg in enumerate(block.args) if self._terms(arg)]
        if len(filled) > 1:
            return [_of_text(_Text(self._bracketed([self(arg) for arg in block.args])))]
        first = 0
        for k, arg in enumerate(block.args):
            if k in filled:
                place = np.eye(block.rows)[:, first : first + arg.rows]
                return [self._product((const(place), arg))]
            first += arg.rows
        return []

    def _atom(self, block: Block) -> _Text:
        match block.op:
            case "leaf":
                return _Text(self._name(str(block.data)))
            case "rotation":
                body = str(block.args[0].data).rpartition(".")[0] or self(block.args[0])
                latex = self._words.latex
                return _Text(f"A_{{{self._name(body)}}}" if latex else f"A_{body}", rotation=True)
            case "skew":
                return _Text(self._words.skew.format(self(block.args[0])), skew=True)
            case "lookup":  # its table is data: how many rows it has says what it is
                x, _, table = block.args
                return _Text(f"{self._name('lookup')}({self(x)}; {table.rows})")
            case _:
                name = str(block.data) if block.op == "call" else block.op
                return _Text(f"{self._name(name)}({', '.join(self(arg) for arg in block.args)})")

    def _product(self, args: Sequence[Block]) -> _Term:
        import sympy

        number: Any = sympy.Integer(1)
        factors: list[_Text | Constant] = []
        for arg in args:
            terms = self._terms(arg)
            if len(terms) == 1:
                number *= terms[0].number
                factors += terms[0].factors
            else:
                factors += self._held(arg)
                number *= 1 if terms else 0
        joined = _joined(factors)
        return _Term(number * joined.number, joined.factors)

    def _held(self, block: Block) -> Sequence[_Text | Constant]:
        """As a factor of a product."""
        terms = self._terms(block)
        if len(terms) == 1 and terms[0].number == 1 and len(terms[0].factors) == 1:
            return terms[0].factors
        left, right = self._words.brackets
        return [_Text(f"{left}{self(block)}{right}")]

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
        short = self._exact(value, self._digits)
        if short.is_Float:
            return _told(short, self._digits)
        latex = latex_writer(latex_symbols(short.free_symbols))
        text = latex(short) if self._words.latex else str(short).replace("**", "^")
        if short.is_Add:
            left, right = self._words.brackets
            return f"{left}{text}{right}"
        return text

    def _factor(self, factor: _Text | Constant) -> str:
        """A factor as text: constant matrices row by row."""
        if isinstance(factor, _Text):
            turned = self._words.transposed.format
            return turned(factor.text) if factor.transposed else factor.text
        _, between, _, _ = self._words.matrix
        rows = [factor.values.row(i) for i in range(factor.values.rows)]
        return self._bracketed([between.join(self.number(entry) for entry in row) for row in rows])

    def _constant(self, block: Block) -> _Term:
        multiple, left = constant_of(block, self._constants.get(block), self._worked).scaled()
        return _Term(multiple, () if left is None else (left,))

    def _worked(self, value: Any) -> Any:
        """A number to be multiplied with others."""
        return self._exact(value, None if self._digits is None else self._digits + GUARD)

    def _exact(self, value: Any, digits: int | None) -> Any:
        """As sympy has it: whole numbers and usual fractions exact, others to `digits`; with
        all digits only what a number is to its last one."""
        import sympy

        from vbg.analysis.symbolic.entries import simple_fraction

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


def _of_text(text: _Text) -> _Term:
    import sympy

    return _Term(sympy.Integer(1), (text,))


def _joined(factors: Sequence[_Text | Constant]) -> _Term:
    """A product: a rotation meets its transpose and both go, constant matrices become one."""
    import sympy

    number: Any = sympy.Integer(1)
    found: list[_Text | Constant] = []
    for factor in factors:
        before = found[-1] if found else None
        if isinstance(before, Constant) and isinstance(factor, Constant):
            found.pop()
            multiple, matrix = (before @ factor).scaled()
            number *= multiple
            found += [] if matrix is None else [matrix]
        elif isinstance(factor, _Text) and factor.rotation and before == _turned(factor):
            found.pop()
        else:
            found.append(factor)
    return _Term(number, tuple(found))


def _transposed(term: _Term) -> _Term:
    """Factors in the other order, each transposed."""
    number = term.number
    factors: list[_Text | Constant] = []
    for factor in reversed(term.factors):
        if isinstance(factor, Constant):
            factors.append(factor.transposed)
        elif factor.skew:
            number = -number
            factors.append(factor)
        else:
            factors.append(_turned(factor))
    return _Term(number, tuple(factors))


def _turned(factor: _Text) -> _Text:
    return replace(factor, transposed=not factor.transposed)


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
