"""Makes docs/tour.md from the real screens of one session: python docs/make_tour.py

The session runs in a terminal (tmux) of its own, with a home folder of its own;
what the page shows is what the terminal showed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
sys.path.insert(0, str(ROOT))

from tests.tui.terminal import Terminal  # noqa: E402

HEAD = """\
# A tour of the terminal interface

Made by `python docs/make_tour.py` from the screens of one session; {keys} key presses, detours
included, lead from nothing to a validated machine (straight on it is 40). `?` shows the keys
of the pane you are in, `ctrl+p` finds any command by name, `esc` goes back and never quits,
`u` takes any edit back.

| key | view | what it is for |
| --- | --- | --- |
| `1` | Edit | the model: parts, fields, problems |
| `2` | Graph | its bond graph, with half arrows and causal strokes; `w` says why |
| `3` | Run | simulations, while they run and afterwards |
| `4` | Plot | signals of any run, two axes, cursor, zoom, another run dashed |
| `5` | Validate | joint forces of both solvers, channel by channel, and the verdict |
| `6` | 3D | the machine in motion, joint forces as arrows |

A part that is marked in one view is marked in all of them.

"""

FOOT = """\
## If something goes wrong

- Every edit is in a journal as soon as it is made. After a crash or a lost connection,
  `vbg tui FILE` offers to bring the edits back, undo steps included.
- A killed program leaves the terminal in its own mode: type `reset`.
- `ctrl+s` writes the file in one step; it is the old or the new one at every moment. The text
  before the first save of a session stays beside it as `NAME.bak`.
- Over SSH the machine is drawn at 4 frames a second instead of 12. `NO_COLOR=1` and
  `--marks ascii` (or `block`) help where colours or braille do not work.
- `vbg tui --keys` lists all actions; `~/.config/vbg/keymap.toml` gives them other keys.
"""


class Tour:
    """A session, and the page that grows with it."""

    def __init__(self, home: Path):
        self.terminal = Terminal(home, (80, 24))
        self.page: list[str] = []
        self.count = 0

    def press(self, *names: str) -> None:
        self.count += len(names)
        self.terminal.keys(*names)

    def say(self, text: str) -> None:
        self.count += len(text)
        self.terminal.type(text)

    def show(self, heading: str, words: str, wanted: str) -> None:
        """Wait for a screen and put it on the page."""
        screen = self.terminal.wait(wanted)
        rows = "\n".join(line.rstrip() for line in screen.rstrip("\n").split("\n"))
        self.page.append(f"## {heading}\n\n{words}\n\n```text\n{rows}\n```\n\n")


def build(tour: Tour) -> None:
    """From an example to a changed machine that has run."""
    terminal = tour.terminal
    terminal.start()
    # the axes of the drawing, which comes a moment after the list
    tour.show("Start", "`vbg tui` without a file offers the examples, drawn.", "⠯⠥")
    tour.press("Enter")
    terminal.wait("File name")
    tour.press("Enter")
    terminal.wait("r runs it")
    tour.press("Down", "Down", "e")
    terminal.wait("parameters.L.value")
    tour.say("80 cmm")
    words = "`e` edits the marked field. Units and names are checked while you type."
    tour.show("Change a length", words, "cmm")
    for _ in "80 cmm":
        tour.press("BSpace")
    tour.say("0.8")
    tour.press("Enter")
    terminal.wait("undo: set parameters.L.value")
    tour.press("a", "m")
    words = "`a` adds; the list is made of the parts there are, and says what each one is."
    tour.show("Add a motor to a joint", words, "Add on a joint")
    tour.say("forces.torque")
    tour.press("Enter")
    terminal.wait("joints.hinge")
    tour.press("Enter")
    terminal.wait("torque: torque")
    tour.press("Enter")
    terminal.wait("Name of the new torque")
    tour.press("Enter")
    tour.show("Edit", "The line below the panes names what `u` takes back.", "undo: add forces")
    tour.press("t")
    words = (
        "`t` opens the text of the file, the cursor at the marked part. Type: `Tab` completes keys,"
        " kinds, names and units, problems are marked in the gutter, the tree follows. `esc` goes"
        " back to the tree, once more closes the text."
    )
    tour.show("The text of the file", words, "kind = ")
    tour.press("Escape", "Escape", "2")
    terminal.wait("3 of 3 vertices")
    tour.press("o")
    words = "`o` opens a part into its vertices; the pane below explains the marked one."
    tour.show("Graph", words, "because")
    tour.press("r")
    terminal.wait("finished at t = ")
    tour.press("3")
    tour.show("Run", "Runs are kept; `x` cancels one and keeps its result so far.", "finished at")


def look(tour: Tour) -> None:
    """At what has run: curves, why a force, both solvers, in space."""
    terminal = tour.terminal
    tour.press("4", "C", "Space", "Down", "Space", "Right")
    tour.show(
        "Plot", "`space` on a signal shows it; left and right move the cursor.", "Cursor  t ="
    )
    tour.press("P", "w")
    words = (
        "`P` puts the cursor at the peak; `w` says why a joint carries its force there: parts in"
        " newtons that add up, and on along the largest to where it comes from."
    )
    tour.show("Why a force is as large as it is", words, "they add up to it")
    tour.press("Escape", "C", "Down", "X", "Down", "Down", "Space")
    words = "`X` puts the marked signal on the x axis, and time again; the cursor is a spot."
    tour.show("One signal over another", words, "[x] rod.position.z")
    tour.press("5", "R")
    words = "`R` runs both solvers. A channel that stays zero is VACUOUS, not passed."
    tour.show("Validate", words, "PASS   ")
    tour.press("E")
    terminal.wait("the report (folder)")
    tour.press("Enter")
    terminal.wait("Write to")
    tour.press("Enter")
    terminal.wait("wrote pendulum-report")
    tour.press("6", ".", ".", ".", ".")
    tour.show("3D", "`space` plays, the arrows turn the view, `f` shows forces.", "oblique")
    terminal.quit()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tour = Tour(Path(folder))
        try:
            build(tour)
            look(tour)
        finally:
            tour.terminal.close()
    text = HEAD.format(keys=tour.count) + "".join(tour.page) + FOOT
    (ROOT / "docs" / "tour.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
