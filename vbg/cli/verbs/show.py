"""`vbg show`: what the model means, as text."""

from __future__ import annotations

import argparse
from typing import Any

from vbg.cli.parser import add, register_modules

PLACE = 50


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "show",
        act=None,
        summary="show the bond graph, its causality and what follows from it",
        detail="`vbg show VIEW --help` explains one view with examples.",
        examples="vbg show graph crank.toml\nvbg show causal crank.toml --json\n"
        "vbg show bode servo.toml --break control",
    )

    def help_on_views(arguments: argparse.Namespace) -> int:
        parser.print_help()
        return 0

    parser.set_defaults(act=help_on_views)
    views = parser.add_subparsers(title="views", metavar="VIEW")
    register_modules("vbg.cli.show", views)
