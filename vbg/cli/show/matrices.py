"""`vbg show matrices`: the paper's blocks of the state equations, as numbers or symbols."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model, seconds
from vbg.cli.text import figure, table
from vbg.errors import not_installed

if TYPE_CHECKING:
    from vbg.assemble.matrices.matrices import NamedMatrix, PaperMatrices
    from vbg.assemble.system import System

PLACE = 40
WIDEST = 8  # columns of a matrix that is printed whole; of others the entries not zero

CASES = {
    "": "no constraint sources",
    "14": "case (14): T_LE is regular, the constraint efforts follow without a derivative",
    "15": "case (15): T_LE = 0, the rows of the constraint sources are differentiated once",
    "mixed": "mixed case: T_LE is singular but not zero, its rows are split by rank",
    "14 or mixed": "T_LE does not vanish: case (14) where it is regular, else the mixed case",
}


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "matrices",
        act=act,
        summary="J, F, R, R_E, T and H blocks at a state",
        detail="J: junction structure, what is received (row) of what is given (column) by 1\n"
        "independent stores, 2 dependent stores, L resistors, E Eulerian junction structures,\n"
        "u1 sources, u2 and C constraint sources.  F: Z = F X of the stores.  R, R_E: of the\n"
        "resistors and Eulerian junction structures.  T: X' = T_i1 X1 + T_i2 X2 + T_iu1 U1 +\n"
        "T_iu2 U2, resistors eliminated.  H (case 15): H1 X1 + H2 X2 + H3 U1 + J_Cu1 U1' +\n"
        "H4 U2 = 0.  Blocks that are zero are named only.\n"
        "Machines with more than 12 components of stores are written in symbols as blocks, one\n"
        "for two vector bonds: A_BODY is its direction cosine matrix, ~(a) b = a x b.",
        examples="""vbg show matrices motor.toml
            vbg show matrices crank.toml --at '0.2 s' --json
            vbg show matrices motor.toml --symbolic
            vbg show matrices crank.toml --symbolic --blocks
            vbg show matrices crank.toml --latex > matrices.tex""",
    )
    add_model(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--at", metavar="TIME", type=seconds, default=0.0, help="default: the start")
    how.add_argument("--symbolic", action="store_true", help="in symbols")
    how.add_argument("--latex", action="store_true", help="in symbols, as LaTeX")
    parser.add_argument(
        "--blocks", action="store_true", help="of --symbolic: a block for two bonds, any size"
    )
    parser.add_argument(
        "--numbers", action="store_true", help="of --symbolic: numbers instead of parameters"
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble
    from vbg.assemble.matrices.matrices import is_large, matrices_of

    system = assemble(read_checked(arguments))
    parameters: dict[str, float] = {}
    if arguments.symbolic or arguments.latex:
        try:
            import sympy  # noqa: F401
        except ImportError as error:
            raise not_installed("printing matrices in symbols", "sympy", "symbolic") from error
        if arguments.blocks or arguments.latex or is_large(system):
            return _act_on_blocks(system, arguments)
        from vbg.analysis.symbolic.named_matrices import named_matrices

        written = named_matrices(system, names=not arguments.numbers)
        found, parameters = written.matrices, written.parameters
    else:
        import vbg
        from vbg.simulate.state_at import state_at

        found = matrices_of(system, arguments.at, state_at(vbg.start(system), arguments.at))
    if arguments.json:
        print(json.dumps({**as_plain(found), "parameters": parameters}))
    else:
        print("\n\n".join([*_as_blocks(found), *_values(parameters)]))
    return 0


def _act_on_blocks(system: System, arguments: argparse.Namespace) -> int:
    from vbg.analysis.symbolic.block_matrices import as_latex, as_plain, as_text, written_matrices

    written = written_matrices(system, names=not arguments.numbers, latex=arguments.latex)
    if arguments.json:
        print(json.dumps(as_plain(written)))
    else:
        print(
            as_latex(written) if arguments.latex else f"{CASES[written.case]}\n\n{as_text(written)}"
        )
    return 0


def _values(parameters: dict[str, float]) -> list[str]:
    return [", ".join(f"{n} = {v:.7g}" for n, v in parameters.items())] if parameters else []


def as_plain(found: PaperMatrices) -> dict[str, Any]:
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
    return figure(float(value), 6) if isinstance(value, float) else str(value)
