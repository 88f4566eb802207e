"""`vbg show transfer`: the overall transfer equation of the transfer-matrix solver."""

from __future__ import annotations

import argparse
from typing import Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_model

PLACE = 60


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "transfer",
        act=act,
        summary="the overall transfer equation",
        detail="What the transfer-matrix solver (MSTMM) solves at every instant, deduced from the\n"
        "topology by the automatic deduction theorem.",
        examples="vbg show transfer crank.toml",
    )
    add_model(parser)


def act(arguments: argparse.Namespace) -> int:
    from vbg.tmm_bridge.overall.deduction import transfer_text

    print(transfer_text(read_checked(arguments)))
    return 0
