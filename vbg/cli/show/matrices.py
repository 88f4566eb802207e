"""`vbg show matrices`: the blocks of the state equations at the start, as numbers."""

from __future__ import annotations

import argparse
import json
from typing import Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model

PLACE = 40


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "matrices",
        act=act,
        summary="F, J, T and H blocks at the start",
        detail="F: d co-energy / d state of the stores.  T: d rate / d state of the stores, "
        "constraint efforts eliminated.  JC: rows of the constraint sources on the co-energies; "
        "H4 = JC F JC^T.",
        examples="""vbg show matrices motor.toml
            vbg show matrices motor.toml --json""",
    )
    add_model(parser)
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.assemble import assemble
    from vbg.assemble.matrices import matrices_of

    found = matrices_of(assemble(read_checked(arguments)))
    if arguments.json:
        print(json.dumps({name: m.as_plain() for name, m in found.items()}))
        return 0
    print("\n\n".join(f"{name} {m}" for name, m in found.items()))
    return 0
