"""Kernels compiled ahead of the first run, for an installation to bring along.

    python -m vbg.precompiled FOLDER

writes them to FOLDER, as `vbg.plumbing.kernels.compiled.SHIPPED` is to hold them; the build hook
of the project, `hatch_build.py`, puts them there.  None are written where code would be made for
the processor at hand, which the one of another user may not equal.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from vbg.platform.files import write_bytes
from vbg.plumbing.kernels import drafts
from vbg.plumbing.kernels.compiled import SHIPPED
from vbg.plumbing.kernels.native import Family, Native

LISTS = (
    "vbg.assemble.program.machine.entries",
    "vbg.simulate.discrete.entries",
    "vbg.simulate.steppers.implicit.entries",
    "vbg.tmm_bridge.kernels.entries",
)
"""Modules that list kernels, each compiled by a process of its own."""


def families(module: str) -> list[Family]:
    """What a module lists, each once."""
    values = vars(import_module(module)).values()
    return list({value.family: None for value in values if isinstance(value, Native)})


def write(folder: Path, module: str) -> None:
    """The kernels of one module."""
    for family in families(module):
        if family.shipped is None or not drafts.known():
            continue
        file = folder / family.shipped.relative_to(SHIPPED)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, family.sealed())


def main(arguments: Sequence[str]) -> int:
    """Of all modules, or of one: FOLDER [MODULE]."""
    folder, *modules = arguments
    if modules:
        write(Path(folder), *modules)
        return 0
    command = [sys.executable, "-m", __spec__.name, folder]
    running = [subprocess.Popen([*command, module]) for module in LISTS]
    codes = [one.wait() for one in running]  # less than zero of one that was killed
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
