"""`vbg show matrices`: the paper's blocks of the state equations, as numbers or symbols."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model, seconds
from vbg.cli.symbols import require_sympy
from vbg.cli.text import figure, table
from vbg.errors import UsageError

if TYPE_CHECKING:
    from vbg.assemble.matrices.forms import NamedMatrix
    from vbg.assemble.matrices.matrices import PaperMatrices
    from vbg.assemble.system import System

PLACE = 40
BY_NUMBERS = ("14 or mixed", "mixed rows")  # cases that symbols leave open
WIDEST = 8  # columns of a matrix that is printed whole; of others the entries not zero

CASES = {
    "": "no constraint sources",
    "14": "case (14): T_LE is regular, the constraint efforts follow without a derivative",
    "15": "case (15): T_LE = 0, the rows of the constraint sources are differentiated once",
    "mixed": "mixed case: T_LE is singular but not zero; the rows Q1^T give efforts directly, the\n"
    "rows Q2^T are differentiated once (H)",
    "mixed rows": "mixed case: rows of T_LE that vanish are differentiated once (in H), the\n"
    "others give efforts directly, as many as are independent (Q1, Q2: see the last lines)",
    "14 or mixed": "T_LE does not vanish: case (14) where it is regular, else the mixed case,\n"
    "which its numbers tell: see the last lines, with Q1, Q2 and H",
}


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "matrices",
        act=act,
        summary="J, F, R, R_E, T and H blocks at a state",
        detail="J: junction structure, what is received (row) of what is given (column) by 1\n"
        "independent stores, 2 dependent stores, D stores in derivative causality, L resistors,\n"
        "E Eulerian junction structures, u1 sources, u2 and C constraint sources.  F: Z = F X of\n"
        "the stores, springs of constant stiffness among them (NAME.displacement).  R, R_E: of\n"
        "the resistors and Eulerian junction structures.  T: X' = T_i1 X1 + T_i2 X2 + T_iu1 U1 +\n"
        "T_iu2 U2 + T_iD X_D', resistors eliminated.  H (case 15):\n"
        "H1 X1 + H2 X2 + H3 U1 + J_Cu1 U1' + H4 U2 + H_D X_D' = 0.  K (derivative causality):\n"
        "F_D X_D' = K1 X1 + K2 X2 + K3 U1 + J_Du1 U1' + K4 U2 + K_D X_D'.  Q1, Q2 (mixed case):\n"
        "the rows that give efforts directly, and those of H.  Zero blocks are named only.\n"
        "Components of a joint's efforts are in the axes of its first body.\n"
        "Machines with more than 12 components of stores or long formulas are written in symbols\n"
        "as blocks, one for two vector bonds: A_BODY is its direction cosine matrix,\n"
        "~(a) b = a x b.",
        examples="""vbg show matrices motor.toml
            vbg show matrices crank.toml --at '0.2 s' --json
            vbg show matrices motor.toml --symbolic
            vbg show matrices crank.toml --symbolic --blocks
            vbg show matrices crank.toml --latex > matrices.tex""",
    )
    add_model(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--at", metavar="TIME", type=seconds, help="default: the start")
    how.add_argument("--symbolic", action="store_true", help="in symbols")
    parser.add_argument("--latex", action="store_true", help="in symbols, as LaTeX")
    parser.add_argument(
        "--blocks", action="store_true", help="of --symbolic: a block for two bonds, any size"
    )
    parser.add_argument(
        "--numbers", action="store_true", help="of --symbolic: numbers instead of parameters"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble
    from vbg.assemble.matrices.forms import effort_axes
    from vbg.assemble.matrices.matrices import is_large, matrices_of, open_rows

    in_symbols = arguments.symbolic or arguments.latex
    if arguments.latex and arguments.at is not None:
        raise UsageError("--at TIME is of numbers, not of --latex.")
    if not in_symbols and (arguments.blocks or arguments.numbers):
        raise UsageError("--blocks and --numbers are of --symbolic or --latex.")
    system = assemble(read_checked(arguments))
    axes = effort_axes(system)
    parameters: dict[str, float] = {}
    remarks: list[str] = []
    numbered: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    if in_symbols:
        require_sympy("printing matrices in symbols")
        if arguments.blocks or arguments.latex or is_large(system):
            return _act_on_blocks(system, arguments, axes)
        from vbg.analysis.symbolic.named_matrices import DIGITS, named_matrices

        digits = None if arguments.json else DIGITS
        written = named_matrices(system, names=not arguments.numbers, digits=digits)
        found, parameters = written.matrices, written.parameters
        numbered, remarks = written.numbered.names, ["\n".join(written.numbered.remarks)]
    else:
        import vbg
        from vbg.simulate.state_at import state_at

        at = arguments.at or 0.0
        found = matrices_of(system, at, state_at(vbg.start(system), at))
        loose = open_rows(found)
    if arguments.json:
        told = {"effort_axes": axes, "open_rows": loose, "parameters": parameters}
        told["numbered"] = numbered
        print(json.dumps({**plain_matrices(found), **told}))
    else:
        ends = [*_told(axes), *_open(loose), *_values(parameters), *filter(None, remarks)]
        print("\n\n".join([*_as_blocks(found), *ends, *_derivative(system)]))
    return 0


def _derivative(system: System) -> list[str]:
    """That derivative causality changes nothing, where it was asked for."""
    from vbg.cli.show.causal import derivative_without_stores

    return derivative_without_stores(system.causal, system.causal.graph.causality)


def _open(rows: tuple[str, ...]) -> list[str]:
    """Which constraint sources do not hold."""
    what = "do not hold at this state (friction that slips, open clutches); their rows are zero"
    return [f"{', '.join(rows)}: {what}"] if rows else []


def _told(axes: dict[str, str]) -> list[str]:
    """Whose axes the efforts of joints stand in, where these are not the world's."""
    if not axes:
        return []
    listed = ", ".join(f"{joint} of {body}" for joint, body in axes.items())
    return [f"joint efforts are in the axes of their first body, not of the world: {listed}"]


def _act_on_blocks(system: System, arguments: argparse.Namespace, axes: dict[str, str]) -> int:
    from vbg.analysis.symbolic.block_matrices import as_latex, as_plain, as_text, written_matrices
    from vbg.analysis.symbolic.formulas import DIGITS
    from vbg.assemble.matrices.matrices import matrices_of

    digits = None if arguments.json else DIGITS
    names = not arguments.numbers
    written = written_matrices(system, names=names, latex=arguments.latex, digits=digits)
    found = matrices_of(system) if written.case in BY_NUMBERS else None
    if arguments.json:
        own = {} if found is None else {"at_start": plain_matrices(_split(found))}
        print(json.dumps({**as_plain(written), "effort_axes": axes, **own}))
    elif arguments.latex:
        print("\n".join([*(f"% {line}" for line in _told(axes)), as_latex(written)]))
    else:
        told = [*_told(axes), *_derivative(system)]
        at_start = [] if found is None else ["in numbers, at the start", *_as_blocks(_split(found))]
        print("\n\n".join([CASES[written.case], as_text(written), *told, *at_start]))
    return 0


def _split(found: PaperMatrices) -> PaperMatrices:
    """What numbers alone tell: the case, and in the mixed one how its rows are split."""
    own = {name: m for name, m in found.blocks.items() if name[0] in "QH" or name == "T_LE"}
    return replace(found, blocks=own if found.case == "mixed" else {})


def _values(parameters: dict[str, float]) -> list[str]:
    return [", ".join(f"{n} = {v:.7g}" for n, v in parameters.items())] if parameters else []


def plain_matrices(found: PaperMatrices) -> dict[str, Any]:
    return {
        "case": found.case,
        "linear": found.linear,
        "misfit": found.misfit,
        "blocks": {name: matrix.as_plain() for name, matrix in found.blocks.items()},
    }


def _as_blocks(found: PaperMatrices) -> list[str]:
    head = [CASES[found.case]]
    if found.misfit is not None:
        head.append(f"rates by these matrices and by the program differ by {found.misfit:.1e}")
    elif not found.linear:
        head.append("not all laws are proportional: their F and R are the slopes at this state")
    zero = [name for name, matrix in found.blocks.items() if matrix.is_zero]
    blocks = ["\n".join(head)]
    blocks += [_block(name, m) for name, m in found.blocks.items() if name not in zero]
    return blocks + ([f"zero: {', '.join(zero)}"] if zero else [])


def _block(name: str, matrix: NamedMatrix) -> str:
    """The matrix as a table, or where it is wide its entries that are not zero."""
    head = f"{name} ({len(matrix.rows)} x {len(matrix.columns)})"
    rows = matrix.table()
    if len(matrix.columns) <= WIDEST:
        cells = [("", *matrix.columns)]
        cells += [
            (row, *map(_shown, values)) for row, values in zip(matrix.rows, rows, strict=True)
        ]
        return f"{head}\n{table(cells, '<' + '>' * len(matrix.columns), '  ')}"
    entries = [
        (row, [f"{c} {_shown(v)}" for c, v in zip(matrix.columns, values) if v != 0])
        for row, values in zip(matrix.rows, rows, strict=True)
    ]
    return "\n".join([head, *(f"  {row}: {', '.join(found)}" for row, found in entries if found)])


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return figure(value, 6)
    from sympy import sstr

    return str(sstr(value, full_prec=False))  # 0.02, not 0.02000000000
