"""Makes docs/parts.md from the declarations of the parts: python docs/make_parts.py

Each kind with its equations, keys and a sample; what `vbg parts KIND` prints.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
sys.path.insert(0, str(ROOT))

from vbg.cli.verbs.parts import HEAD, first_line, keys_of, rows_of  # noqa: E402
from vbg.model import catalogue  # noqa: E402
from vbg.model.samples import sample  # noqa: E402

TITLE = """\
# Parts

Made by `python docs/make_parts.py` from the declarations; `vbg parts KIND` says the same, with
the signals that a part gives, and `vbg parts KIND --example` prints a whole small machine around
it. Bare numbers are SI; every number may be an expression or carry a unit. A current or flow is
positive from the first node to the second, a torque or force on the second; `force` and `torque`
of a joint are what the first body exerts on the second, in world axes. `power` of an electric or
hydraulic part is what it takes: voltage * current, pressure * flow, negative where it supplies. Of
what acts on a motion (torque, force, speed, friction, clutch, dc_motor, solenoid, cylinder) it is
what the part gives the motion: torque or force * speed, negative where it brakes; of a pump it is
what it gives the oil.
"""


def page() -> str:
    """The whole page."""
    blocks = [TITLE]
    for table, kinds in catalogue().items():
        if kinds:
            blocks.append(f"## [{table}.NAME]\n")
            blocks += [_part(part) for part in kinds.values()]
    return "\n".join(blocks)


def _part(part) -> str:
    doc = inspect.getdoc(part) or ""
    rows = [
        f"| `{key}` | {what} | {unit} | {default} | {meaning} |".replace(" | | ", " |  | ")
        for key, what, unit, default, meaning in (_escaped(row) for row in rows_of(keys_of(part)))
    ]
    lines = [f"### {part.kind}", "", first_line(part), ""]
    if doc.splitlines()[0] != first_line(part):
        lines += ["```text", doc, "```", ""]
    lines += [f"| {' | '.join(HEAD)} |", "|---|---|---|---|---|", *rows, ""]
    return "\n".join([*lines, "```toml", sample(part.table, part.kind), "```", ""])


def _escaped(row: tuple[str, ...]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in row]


if __name__ == "__main__":
    (ROOT / "docs" / "parts.md").write_text(page(), encoding="utf-8")
