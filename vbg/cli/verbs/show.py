"""`vbg show`: what the model means, as text."""

from __future__ import annotations

from typing import Any

from vbg.cli.parser import add, register_modules

PLACE = 50


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "show",
        act=None,
        summary="show the bond graph, its causality and what follows from it",
        examples="vbg show graph crank.toml\nvbg show causal crank.toml --json",
    )
    views = parser.add_subparsers(title="views", metavar="VIEW", required=True)
    register_modules("vbg.cli.show", views)
