"""One evaluation of the rates, with all joint forces, by the code of an older commit and by
today's.  ``python -m benchmarks.speed.rates [COMMIT] [--turns N]``

160 windows, determinate and of revolutes only, as a loop runs them (`benchmarks.speed.loops`), and
a chain of 100 as a run at default tolerance has it (`benchmarks.speed.chain`).  Each code works in
processes of its own, by turns, with machines as that commit has them, in a folder that is removed
behind it; processor time, the least of all turns, and the ratio.  cde986f: the commit that issue
19 holds today's against.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.accuracy.before import HERE, unpacked
from benchmarks.asked import parser

ISSUE = "cde986f"
ASKED = """
import json
from dataclasses import replace
import vbg
from benchmarks.machines import chain, windows
from benchmarks.timing import best_seconds

def rate(model, smooth):
    system = vbg.assemble(model)
    if hasattr(system, "evaluator"):  # before there was a Start
        return system.evaluator("rate"), system.initial_state
    from vbg.assemble.program.evaluator import Evaluator
    start = vbg.start(system)
    start = replace(start, bearable=1e-8) if smooth else start
    return Evaluator(start.rate_program, kept=start.kept), start.state

found = {}
for name, model in (
    ("160 windows, determinate", windows(160, redundant=False, tilt=0.3)),
    ("160 windows of revolutes", windows(160, redundant=True, tilt=0.3)),
    ("chain of 100", chain(100)),
):
    evaluate, x = rate(model, name.startswith("chain"))
    found[name] = best_seconds(lambda: evaluate(0.0, x), 25)
print(json.dumps(found))
"""


def seconds(tree: Path) -> dict[str, float]:
    """Of each machine, by the code of `tree`."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", ASKED]
    told = subprocess.run(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return dict(json.loads(told))


def main(commit: str, turns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder)
        unpacked(commit, before)
        pairs = [(seconds(before), seconds(HERE)) for _ in range(turns)]
    print(f"{'one rate':26}{commit[:9] + ' us':>14}{'today us':>10}{'ratio':>7}")
    for name in pairs[0][0]:
        old, new = (1e6 * min(pair[k][name] for pair in pairs) for k in (0, 1))
        print(f"{name:26}{old:14.1f}{new:10.1f}{new / old:7.2f}")


if __name__ == "__main__":
    words = parser(__doc__)
    words.add_argument("commit", nargs="?", default=ISSUE)
    words.add_argument("--turns", type=int, default=3, help="processes of each code")
    given = words.parse_args()
    main(given.commit, given.turns)
