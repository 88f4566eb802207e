"""Compiles the kernels into the wheel, so that nobody's first run has to.

For x86-64 processors of level 3; others, and sources that were changed since, compile at their
first run, as a checkout does.  `VBG_PURE_WHEEL=1` leaves them out: one wheel for all systems.
So does an environment that lacks what compiles them (pip's `--no-build-isolation`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("numpy", "numba", "platformdirs", "threadpoolctl", "filelock")


class Kernels(BuildHookInterface[Any]):
    """The build hook of `pyproject.toml`."""

    _folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the kernels, and names the system that they are for."""
        if version == "editable" or os.environ.get("VBG_PURE_WHEEL"):
            return
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            self.app.display_warning(f"no kernels are compiled: {', '.join(missing)} not installed")
            return
        self._folder = Path(tempfile.mkdtemp())
        command = [sys.executable, "-m", "vbg.precompiled", str(self._folder)]
        # what numba's variables wish is for this machine
        told = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        subprocess.run(command, cwd=self.root, env=told, check=True)
        if any(self._folder.iterdir()):
            system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["force_include"][str(self._folder)] = "vbg/plumbing/kernels/shipped"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{system}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Takes the folder away that they were compiled into."""
        if self._folder:
            shutil.rmtree(self._folder)
