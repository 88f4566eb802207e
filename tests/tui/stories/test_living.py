"""An engineer's stories: numbers that are turned, a solver that dies, forces and energies told."""

from __future__ import annotations

import os
import signal

import pytest

from tests.tui.stories.telling import PENDULUM, go_to, started
from tests.tui.terminal import children_of

ENERGIES = PENDULUM + "\n[outputs]\nenergy = true\n"


def test_a_number_is_turned_and_each_run_says_what_changed(terminal):
    """`>` and `<` rerun at once; numbers that are turned on are one run and one undo step."""
    started(terminal)
    go_to(terminal, "L")
    terminal.keys("Escape", ">")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("<")
    terminal.wait("run 2 bond graph finished")
    terminal.keys("3")
    terminal.wait("L 0.51", "Runs: 1")
    terminal.keys("1", "u")
    terminal.wait("redo: ")
    terminal.quit()


@pytest.mark.slow
def test_a_solver_that_dies_costs_nothing(terminal):
    """Killed while it rests and while it runs: told, and the next run is as any other."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    for pid in children_of(terminal.process()):
        os.kill(pid, signal.SIGKILL)
    terminal.keys("r")
    terminal.wait("run 2 bond graph finished")
    terminal.keys("2")
    terminal.wait("causal: ")
    terminal.quit()


@pytest.mark.slow
def test_a_solver_that_dies_in_a_run(terminal):
    started(terminal, PENDULUM.replace("t_end = 1.0", "t_end = 2000.0"))
    terminal.keys("r")
    terminal.wait("ETA")
    for pid in children_of(terminal.process()):
        os.kill(pid, signal.SIGKILL)
    terminal.wait("failed")
    terminal.keys("r")
    terminal.wait("ETA")
    terminal.keys("x")
    terminal.wait("cancelled at t = ")
    terminal.quit()


@pytest.mark.slow
def test_sliders_turn_the_machine(terminal):
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4", "L")
    terminal.wait("left, right: run with it")
    terminal.keys("l")
    terminal.wait("run 2 bond graph: finished")
    terminal.keys("l")
    terminal.wait("run 3 bond graph: finished")
    terminal.quit()


@pytest.mark.slow
def test_a_force_is_walked_back_to_what_makes_it(terminal):
    """With numbers that add up, at the cursor of Plot."""
    started(terminal)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.keys("w")
    terminal.wait("Why hinge carries", "rod accelerates: 1 kg", "the weight of rod")
    terminal.keys("Escape")
    terminal.wait_gone("Why hinge carries")
    terminal.quit()


@pytest.mark.slow
def test_energies_flow_from_part_to_part(terminal):
    """Over the time in sight: what each part gave and took, its loss at the hinge among it."""
    started(terminal, ENERGIES)
    terminal.keys("r")
    terminal.wait("run 1 bond graph finished")
    terminal.keys("4")
    terminal.wait("run 1 bond graph: finished")
    terminal.keys("e")
    terminal.wait(" J", "hinge", "rod")
    terminal.keys("Escape")
    terminal.quit()
