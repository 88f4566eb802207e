"""The C compiler: the system's, or that of the package `ziglang` (extra `fmu`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from vbg.errors import UsageError

OPTIMISATION = "-O3"  # of an evaluation 0.7 of what -O1 takes; compiled in thrice its time


def find_compiler() -> list[str]:
    """The command of a C compiler for this machine.

    Raises UsageError where there is none.
    """
    for name in ("cc", "gcc", "clang"):
        found = shutil.which(name)
        if found:
            return [found]
    return zig()


def zig() -> list[str]:
    """The command of the compiler in the package `ziglang`, which compiles for every platform.

    Raises UsageError where it is not installed.
    """
    if find_spec("ziglang") is None:
        raise UsageError(
            "there is no C compiler: install one (cc), or pip install 'vbg[fmu]', which brings one."
        )
    return [sys.executable, "-m", "ziglang", "cc"]


def compile_c(
    command: Sequence[str], folder: Path, sources: Sequence[str], output: Path, flags: Sequence[str]
) -> None:
    """Compiles `sources` in `folder` to `output`.

    Raises UsageError with the compiler's words where it fails.
    """
    whole = [*command, "-std=c99", OPTIMISATION, *flags, *sources, "-o", str(output), "-lm"]
    done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"the C compiler failed:\n{done.stderr[-2000:]}")
