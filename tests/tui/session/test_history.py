"""Runs as a history: a baseline, ghosts, notes, results of elsewhere, signals by difference."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tui.conftest import MODEL, put_run, recorded
from vbg.analysis.bonds import energy_handed, observed
from vbg.draw.text import axes
from vbg.io.runs import csv, hdf5
from vbg.solution import Solution
from vbg.tui import make_app
from vbg.tui.actions.results.energies import taken_up
from vbg.tui.content.results.plotting import differences
from vbg.tui.picturing import press, screen_text, settled, typed
from vbg.tui.session import runs as store
from vbg.tui.session.runs import bonds_file
from vbg.tui.state import results
from vbg.tui.state.powers import coloured, of_bonds, powers_now, short


def test_a_difference_is_a_part_of_the_larger_and_rounding_is_none():
    """Scaled by 1 + e: e / (1 + e); on another grid of a smooth curve: its square, small."""
    first = recorded(0.0, "vbg")
    scaled = {name: 1.25 * values for name, values in first.signals.items()}
    assert all(
        gap == pytest.approx(0.2) or gap == 0.0
        for gap in differences(first, replace(first, signals=scaled)).values()
    )
    t = np.linspace(-1.0, 3.0, 3001)
    noise = 1e-17 * np.random.default_rng(5).standard_normal(len(t))
    a = Solution(t[500:2500:3], {"y": np.sin(t[500:2500:3]), "z": noise[500:2500:3]})
    b = Solution(t, {"y": np.sin(t), "z": -noise, "other": t})
    found = differences(a, b)
    assert set(found) == {"y", "z"} and max(found.values()) < 1e-6
    residues = {"residual.position": noise, "energy.residual": noise, "energy.stored": t}
    left = differences(Solution(t, residues), Solution(t, {n: -v for n, v in residues.items()}))
    assert left == {"energy.stored": pytest.approx(2.0)}
    after = Solution(t + 10.0, {"y": t})
    assert differences(a, after) == {}, "no time in common"


EXAMPLES = Path(__file__).absolute().parents[3] / "examples"


async def test_signals_are_ranked_by_what_a_change_did(model):
    put_run(model, 1, "vbg")
    put_run(model, 2, "vbg", seed=0.25)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4", "D"])
        assert "o chooses a run" in screen_text(app)
        await press(app, pilot, ["o", "enter", "D"])
        assert app.main.panes["signals"].lines()[0].name == "hinge.force.x"
        assert "20 %" in screen_text(app) and "Difference" in screen_text(app)
        await press(app, pilot, ["o"])
        assert "20 %" not in screen_text(app)


async def test_a_baseline_and_a_note_are_kept(model, monkeypatch):
    monkeypatch.setattr(store, "KEPT", 2)
    for number in (1, 2, 3):
        put_run(model, number, "vbg", seed=0.1 * number)
    store.remember(replace(put_run(model, 1, "vbg"), pinned=True))
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert [run.number for run in app.work.runs] == [1, 2, 3], "the baseline is not aged out"
        await press(app, pilot, ["3", "n", *"soft spring", "enter"])
        assert "soft spring" in screen_text(app) and "baseline" in screen_text(app)
        assert results.behind(app.work, app.work.run(3)) == 1
        await press(app, pilot, ["b"])
        assert [run.pinned for run in app.work.runs] == [False, False, True]
    again = store.remembered(model)
    assert [(run.note, run.pinned) for run in again if run.number == 3] == [("soft spring", True)]


def test_the_ghost_is_the_run_before_a_change(model):
    app = make_app(str(model))
    work = app.work
    work.runs = tuple(put_run(model, n, solver) for n, solver in ((1, "vbg"), (2, "mstmm")))
    same = put_run(model, 3, "vbg")
    assert results.behind(work, same) == 0, "nothing changed: nothing to see"
    assert results.behind(work, replace(same, changed="L 0.5 → 0.6")) == 1, "of the same solver"


async def test_why_a_joint_carries_what_it_carries(model):
    """In Plot at the cursor, in 3D at the time shown."""
    run = put_run(model, 1, "vbg")
    hdf5.write(vbg.simulate(vbg.read(model), t_end=0.05), run.result)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["6", "w"])
        seen = screen_text(app)
        assert "Why hinge carries" in seen and "at t = 0 s" in seen
        assert "1: hinge on rod" in seen and "the weight of rod: 1 kg" in seen
        await press(app, pilot, ["1", "4", "end", "w"])
        assert app.work.selection == ("joints", "hinge")
        assert "at t = 0.05 s" in screen_text(app)


async def test_power_in_the_bond_graph(tmp_path):
    """A second rod is driven by the first: what leaves the one enters the other; every bond says
    its power, effort and flow, and they go on with the time."""
    file = tmp_path / "two.toml"
    elbow = '[joints.elbow]\nkind = "revolute"\nbetween = ["rod.B", "arm.A"]\naxis = [0, 1, 0]\n'
    arm = MODEL[MODEL.index("[bodies.rod]") : MODEL.index("[joints")].replace("rod]", "arm]")
    file.write_text(MODEL + "\n" + arm + elbow)
    run = put_run(file, 1, "vbg")
    system = vbg.assemble(observed(vbg.assign(vbg.expand(vbg.read(file)))))
    solution = vbg.simulate(system, t_end=0.1)
    hdf5.write(solution, run.result)
    hdf5.write(solution, bonds_file(run))
    app = make_app(str(file), marks="unicode")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        app.select(("joints", "elbow"))
        await press(app, pilot, ["4", "right", "2"])
        seen = screen_text(app)
        assert "power at t = 0.05 s" in seen and "the most passes in" in seen
        drawn = {b.key: b for b in coloured(app.work.graph, powers_now(app.work)).bonds}
        into_arm = drawn["elbow.dv_W -> arm.v,elbow.lever2 -> arm.w,elbow.turn -> arm.w"]
        assert into_arm.note.endswith("W") and f"{into_arm.note}" in seen
        assert {bond.style for bond in drawn.values()} & {"bar", "warn"}
        row = int(np.argmin(np.abs(solution.time - 0.05)))
        force = solution["elbow.dv_W -> arm.v.effort"][row]
        told = next(e for e in of_bonds(powers_now(app.work), ["elbow.dv_W -> arm.v"]))
        assert f"[{', '.join(map(axes.number, force))}] N" in told.pair
        assert told.watt == pytest.approx(force @ solution["elbow.dv_W -> arm.v.flow"][row])
        await press(app, pilot, [".", "."])
        later = app.work.plot.cursor
        assert later > 0.05 and f"power at t = {later:.5g} s" in screen_text(app)
        assert app.work.space.time == later and "3D" in screen_text(app), "the machine, with it"
        await press(app, pilot, ["4", "e"])
        seen = screen_text(app)
        gave = re.search(r"elbow gave (\S+) J", seen)
        assert "Energy from t = 0 s to 0.1 s" in seen and gave
        graph = app.work.graph.graph
        handed = energy_handed(graph, solution, 0.0, 0.1)
        wanted = sum(h.energy for h in handed if h.giver == "joints.elbow")
        assert float(gave[1]) == pytest.approx(wanted, rel=1e-3)
        assert all(" J" in line for line in seen.splitlines() if "\u21c1 arm" in line)
        await press(app, pilot, ["escape"])
        await press(app, pilot, ["1", "a", "p", "q", "enter", "1", "enter", "2"])
        assert "power at" not in screen_text(app), "the run is of another text"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (999.7, "1.00k"), (-0.04561, "-45.6m"), (12.345, "12.3"), (-2.5e6, "-2.50M"),
     (3e-7, "300n"), (-4.56e-11, "-45.6p"), (2e-17, "0.02f"), (1e-19, "0"),
     (999.4, "999"), (float("nan"), "?")],
)  # fmt: skip
def test_powers_in_six_cells(value, words):
    assert short(value) == words and len(words) <= 6


async def test_where_the_energy_went(model):
    """The swinging rod gives its height to motion and friction: the sums agree."""
    model.write_text(model.read_text() + "\n[outputs]\nenergy = true\n")
    run = put_run(model, 1, "vbg")
    solution = vbg.simulate(vbg.read(model), t_end=0.3)
    hdf5.write(solution, run.result)
    taken = taken_up(solution, 0.0, 0.3)
    lost = -sum(value for value in taken.values() if value < 0)
    assert sum(taken.values()) == pytest.approx(0.0, abs=1e-7) and lost > 0.1
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4", "e"])
        assert "Energy from t = 0 s to 0.3 s" in screen_text(app)
        sums = re.findall(r"(?:supplied|took up) (\S+) J", screen_text(app))
        assert len(sums) == 2 and float(sums[0]) == pytest.approx(float(sums[1]), rel=1e-3)


async def test_a_table_of_elsewhere_is_a_run_and_stays_where_it_is(model, tmp_path):
    put_run(model, 1, "vbg")
    bench = tmp_path / "bench.csv"
    csv.write(recorded(0.1, "bench"), bench)
    app = make_app(str(model), marks="unicode")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["3", "O", *"nothing.csv", "enter"])
        assert "there is no such file" in screen_text(app)
        await typed(app, *["backspace"] * 11, *"bench.csv", "enter")
        await settled(app, pilot)
        assert "run 2 file" in screen_text(app)
        await press(app, pilot, ["p"])
        assert "run 2 file: finished" in screen_text(app) and "changed since" not in screen_text(
            app
        )
        await press(app, pilot, ["3", "d", "enter"])
        assert [run.number for run in app.work.runs] == [1] and bench.exists()
    assert [run.number for run in store.remembered(model)] == [1]
