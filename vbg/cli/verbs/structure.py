"""`vbg structure`: structural analysis of a bare topology; synthesis of new ones."""

from __future__ import annotations

from typing import Any

from vbg.cli.parser import add, register_modules

PLACE = 55


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "structure",
        act=None,
        summary="structural groups of a bare topology; the best drives; synthesis",
        detail="`vbg structure FILE` is `vbg structure analyse FILE`.",
        examples="""vbg structure rotor.m
            vbg structure rotor.m --transform --library 1P3D,1R3D --order library,groups
            vbg structure synthesise --planar --mobility 1 --bodies 8 --pairs R""",
    )
    parser.implied = "analyse"
    below = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    register_modules("vbg.cli.structure", below)
