"""Audit, operating point and modes of every example, by the code of an older commit and by
today's.  ``python -m benchmarks.accuracy.before COMMIT [NAME ...]``

Both read the files of that commit; each works in a process of its own, in a folder that is
removed behind it.  residual: the largest |stored + dissipated - supplied - start| over the
largest energy of the run; joints: the largest gap left in them; poles: the largest difference of
a pole from the nearest of the other code's, over the largest pole; place: how far the points
lie apart, in m, rad or shares of what is more than 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.asked import parser

HERE = Path(__file__).resolve().parents[2]
ASKED = """
import contextlib, io, json, sys
import numpy as np
import vbg
from vbg.cli.main import main

for path in sys.argv[1:]:
    run = vbg.simulate(vbg.assemble(vbg.read(path)))
    largest = max(
        np.abs(run["energy.kinetic"]).max(), np.ptp(run["energy.potential"]),
        np.abs(run["energy.supplied"]).max(), np.abs(run["energy.dissipated"]).max(),
    )
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = main(["show", "modes", path, "--json"])
    print(json.dumps({
        "file": path, "status": run.status.code,
        "residual": float(np.abs(run["energy.residual"]).max() / largest),
        "joints": float(run.audit.position_residual),
        "modes": json.loads(said.getvalue()) if code == 0 else None,
    }), flush=True)
"""


def unpacked(commit: str, folder: Path) -> None:
    packed = subprocess.run(
        ["git", "archive", commit], cwd=HERE, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def asked(tree: Path, files: list[str]) -> subprocess.Popen[str]:
    """A process that says what the code of `tree` finds of each file, a line each."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", ASKED, *files]
    return subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True)


def poles(modes: dict[str, Any] | None) -> np.ndarray:
    """All poles, complex, of what `show modes --json` says."""
    if modes is None:
        return np.zeros(0, dtype=complex)
    return np.array([complex(*mode["eigenvalue"]) for mode in modes["modes"]])


def apart(one: np.ndarray, other: np.ndarray) -> str:
    if len(one) != len(other):
        return f"{len(one)} -> {len(other)}"
    if not len(one):
        return "none"
    far = max(np.abs(other - pole).min() for pole in one) / max(np.abs(one).max(), 1e-300)
    return f"{far:.1e}"


def point(modes: dict[str, Any] | None) -> str:
    return "none" if modes is None else str(modes["point"])


def moved(one: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    """The largest difference of a coordinate at the point, m or rad; of its size where that is
    more than 1 (pressures, voltages)."""
    if one is None or other is None:
        return "none"
    here = {c["name"]: c["value"] for c in other["coordinates"]}
    found = [
        abs(c["value"] - here[c["name"]]) / max(1.0, abs(c["value"]))
        for c in one["coordinates"]
        if c["name"] in here
    ]
    return f"{max(found, default=0.0):.1e}"


def main(commit: str, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder)
        unpacked(commit, before)
        files = sorted(str(p) for p in (before / "examples").glob("*.toml"))
        files = [f for f in files if not names or Path(f).stem in names]
        heads = ("example", "residual", "today", "joints", "today", "poles", "place", "point")
        print("{:22}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}  {}, today".format(*heads))
        with asked(before, files) as old, asked(HERE, files) as new:
            assert old.stdout is not None and new.stdout is not None
            for one, other in zip(old.stdout, new.stdout, strict=True):
                line(json.loads(one), json.loads(other))
    if old.returncode or new.returncode:
        raise SystemExit("one of the two ended with an error: see above")


def line(a: dict[str, Any], b: dict[str, Any]) -> None:
    """Both answers of one example."""
    print(
        f"{Path(a['file']).stem:22}{a['residual']:9.1e}{b['residual']:9.1e}{a['joints']:9.1e}"
        f"{b['joints']:9.1e}{apart(poles(a['modes']), poles(b['modes'])):>9}"
        f"{moved(a['modes'], b['modes']):>9}  {point(a['modes'])}, {point(b['modes'])}",
        *(f"{s['status']}" for s in (a, b) if s["status"] != "finished"),
        flush=True,
    )


if __name__ == "__main__":
    words = parser(__doc__)
    words.add_argument("commit")
    words.add_argument("names", nargs="*", metavar="NAME")
    given = words.parse_args()
    main(given.commit, given.names)
