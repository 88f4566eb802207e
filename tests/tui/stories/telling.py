"""What the stories begin with: a machine, and ways through the interface."""

from __future__ import annotations

import time

from tests.tui.terminal import PATIENCE, Terminal, alive

PENDULUM = """\
vbg = 1
name = "pendulum"   # the smallest machine

[parameters]
L = 0.5   # metres

[bodies.rod]
mass = 1.0
inertia = { xx = 1e-3, yy = "L**2/12", zz = "L**2/12" }
points = { A = ["-L/2", 0, 0], B = ["L/2", 0, 0] }

# the only joint
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]
friction = { viscous = 0.05 }

[simulate]
t_end = 1.0
output_step = 0.005
"""


def started(terminal: Terminal, text: str = PENDULUM, name: str = "demo.toml") -> None:
    (terminal.home / name).write_text(text, encoding="utf-8")
    terminal.start(name)
    terminal.filled("0 errors")


def wait_for_end(children: list[int]) -> None:
    """The child processes there were must be gone soon."""
    end = time.monotonic() + PATIENCE
    while any(alive(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert children and not any(alive(pid) for pid in children)


def go_to(terminal: Terminal, name: str) -> None:
    """Mark a part by the filter, and leave the filter."""
    terminal.keys("/")
    terminal.wait("Filter")
    terminal.type(name)
    terminal.keys("Enter")
    terminal.wait(f"Model: {name}")


def click(terminal: Terminal, text: str, *, drag: tuple[int, int] = (0, 0)) -> None:
    """Press the left button on `text`, and let it go so many columns and rows farther."""
    rows = terminal.filled(text).splitlines()
    y = next(i for i, row in enumerate(rows, 1) if text in row)
    x = rows[y - 1].index(text) + 1
    terminal.type(f"\x1b[<0;{x};{y}M")
    if drag != (0, 0):
        terminal.type(f"\x1b[<32;{x + drag[0]};{y + drag[1]}M")
    terminal.type(f"\x1b[<0;{x + drag[0]};{y + drag[1]}m")


def differs(terminal: Terminal, before: str) -> str:
    """Wait until the screen is another one."""
    end = time.monotonic() + PATIENCE
    while (shown := terminal.screen()) == before:
        assert time.monotonic() < end, f"the screen stayed as it was:\n{before}"
        time.sleep(0.05)
    return shown
