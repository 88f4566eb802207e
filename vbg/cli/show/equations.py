"""`vbg show equations`: the state equations in symbols."""

from __future__ import annotations

import argparse
from typing import Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_model
from vbg.errors import not_installed

PLACE = 30
FORMS = ("auto", "minimal", "constraint")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "equations",
        act=act,
        summary="state equations of small models in symbols",
        detail="minimal: joint coordinates and speeds (chains and trees of simple joints);\n"
        "constraint: all states with the constraint efforts, and what vanishes.\n"
        "Parameters of the file are written by name; --numbers puts their values.\n"
        "Exit code 1 if the equations would be too long to be read.",
        examples="""vbg show equations pendulum.toml
            vbg show equations crank.toml --form constraint --latex
            vbg show equations pendulum.toml --python""",
    )
    add_model(parser)
    parser.add_argument("--form", choices=FORMS, default="auto")
    parser.add_argument("--numbers", action="store_true", help="numbers instead of parameters")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--latex", action="store_true", help="as a LaTeX align environment")
    kind.add_argument("--python", action="store_true", help="as a Python function")
    kind.add_argument("--c", action="store_true", help="as a C function")


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble

    try:
        import sympy  # noqa: F401
    except ImportError as error:
        raise not_installed("printing equations", "sympy", "symbolic") from error
    from vbg.analysis.symbolic.symbolic import equations_of
    from vbg.analysis.symbolic.written import as_c, as_latex, as_python, as_text

    system = assemble(read_checked(arguments))
    found = equations_of(system, arguments.form, names=not arguments.numbers)
    if arguments.latex:
        print(as_latex(found))
    elif arguments.python:
        print(as_python(found))
    elif arguments.c:
        print(as_c(found))
    else:
        print(as_text(found))
    return 0
