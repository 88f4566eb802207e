"""`vbg show equations`: the state equations in symbols."""

from __future__ import annotations

import argparse
from typing import Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_model, names
from vbg.cli.symbols import require_sympy
from vbg.errors import UsageError

PLACE = 30
PROGRAMS = ("python", "c", "fortran")
ENDINGS = {"python": ".py", "c": ".c", "fortran": ".f90", "latex": ".tex", "text": ".txt"}
FORMS = ("auto", "minimal", "constraint")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "equations",
        act=act,
        summary="state equations of small models in symbols",
        detail="minimal: joint coordinates and speeds; of closed loops with what the dependent\n"
        "ones follow from, of which --independent chooses the others;\n"
        "constraint: all states with the constraint efforts, and what vanishes.\n"
        "--program writes a program that runs by itself (NAME T STEPS): minimal coordinates,\n"
        "loops closed by Newton's method, joint forces.\n"
        "Parameters of the file are written by name; --numbers puts their values.\n"
        "Exit code 1 if the equations would be too long to be read.",
        examples="""vbg show equations pendulum.toml
            vbg show equations crank.toml --form constraint --latex
            vbg show equations pendulum.toml --python
            vbg show equations slider-crank.toml --form minimal --forces
            vbg show equations slider-crank.toml --form minimal --masses --latex
            vbg show equations slider-crank.toml --program fortran > crank.f90""",
    )
    add_model(parser)
    parser.add_argument("--form", choices=FORMS, default="auto")
    parser.add_argument("--numbers", action="store_true", help="numbers instead of parameters")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--latex", action="store_true", help="as a LaTeX align environment")
    kind.add_argument("--python", action="store_true", help="as a Python function")
    kind.add_argument("--c", action="store_true", help="as a C function")
    kind.add_argument("--program", choices=PROGRAMS, help="a program of its own, with joint forces")
    parser.add_argument("--forces", action="store_true", help="joint forces, too (form minimal)")
    parser.add_argument(
        "--masses",
        action="store_true",
        help="m_BODY, J_BODY_xx for masses and moments of inertia (form minimal)",
    )
    parser.add_argument(
        "--independent",
        type=names,
        action="extend",
        default=[],
        metavar="JOINT.angle",
        help="a coordinate of a loop that is to be independent; again for others",
    )


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble

    require_sympy("printing equations")
    from vbg.analysis.symbolic.size import TooLong
    from vbg.analysis.symbolic.symbolic import equations_of
    from vbg.analysis.symbolic.written import as_c, as_latex, as_python, as_text

    system = assemble(read_checked(arguments))
    if (
        arguments.program
        or arguments.forces
        or arguments.masses
        or arguments.independent
        or _has_loops(arguments, system)
    ):
        print(_minimal(arguments, system))
        return 0
    try:
        found = equations_of(system, arguments.form, names=not arguments.numbers)
    except TooLong:  # along a tree, with common parts, they are shorter
        function = arguments.python or arguments.c
        if arguments.form != "minimal" or function or not system.model.bodies:
            raise
        print(_minimal(arguments, system))
        return 0
    if arguments.latex:
        print(as_latex(found))
    elif arguments.python:
        print(as_python(found))
    elif arguments.c:
        print(as_c(found))
    else:
        print(as_text(found))
    return 0


def exported_equations(system: Any, language: str) -> str:
    """The equations as a file of `language` (a key of ENDINGS), parameters by name: of machines
    with bodies a program that runs by itself in Python, C or Fortran; of others the rates as a
    function in Python or C.

    Raises UsageError for a function in Fortran; VbgError where they would be too long to be read.
    """
    require_sympy("printing equations")
    from vbg.analysis.symbolic.symbolic import equations_of
    from vbg.analysis.symbolic.written import as_c, as_latex, as_python, as_text

    if language in PROGRAMS and system.model.bodies:
        return _program(system, language, names=True, chosen=())
    if language == "fortran":
        raise UsageError(
            "equations in Fortran are programs of machines with bodies, and this one has none: "
            "take --equations c or python."
        )
    writers = {"python": as_python, "c": as_c, "latex": as_latex, "text": as_text}
    return writers[language](equations_of(system, "auto"))


def _program(
    system: Any, language: str, *, names: bool, chosen: tuple[str, ...], masses: bool = False
) -> str:
    from vbg.analysis.symbolic.loops.code import c, fortran, python
    from vbg.analysis.symbolic.loops.code.coding import code_of
    from vbg.analysis.symbolic.loops.deriving import minimal_equations
    from vbg.starting import start

    begin = start(system)  # as [simulate] says, such as the equilibrium
    equations = minimal_equations(
        system, names=names, independent=chosen, start=begin, masses=masses
    )
    writers = {"python": python.as_python, "c": c.as_c, "fortran": fortran.as_fortran}
    return writers[language](code_of(equations)).rstrip("\n")


def _has_loops(arguments: argparse.Namespace, system: Any) -> bool:
    """Whether a minimal form is asked for that the joint coordinates do not give directly."""
    from vbg.analysis.symbolic.symbolic import why_not_minimal

    asked = arguments.form == "minimal" and bool(system.model.bodies)
    return asked and bool(why_not_minimal(system))


def _minimal(arguments: argparse.Namespace, system: Any) -> str:
    """Minimal coordinates with closed loops and joint forces: as text, or as a program."""
    from vbg.analysis.symbolic.loops import text
    from vbg.analysis.symbolic.loops.deriving import minimal_equations
    from vbg.starting import start

    if arguments.python or arguments.c:
        raise UsageError(
            "closed loops and joint forces are solved by a program, not by one function: take "
            f"--program {'c' if arguments.c else 'python'}."
        )
    if arguments.form == "constraint":
        raise UsageError("--program, --forces, --masses and --independent are of the minimal form.")
    names, chosen = not arguments.numbers, tuple(arguments.independent)
    if arguments.masses and not names:
        raise UsageError("--masses names what --numbers would write as numbers; give one.")
    if arguments.program:
        masses = arguments.masses
        return _program(system, arguments.program, names=names, chosen=chosen, masses=masses)
    begin = start(system)  # as [simulate] says, such as the equilibrium
    equations = minimal_equations(
        system,
        names=names,
        independent=chosen,
        start=begin,
        forces=arguments.forces,
        masses=arguments.masses,
    )
    writer = text.as_latex if arguments.latex else text.as_text
    return writer(equations, forces=arguments.forces)
