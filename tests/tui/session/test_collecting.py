"""Export of the lot: what there is of all runs, in one folder or archive."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from tests.tail import tail
from vbg.io.runs import hdf5, results
from vbg.tui.picturing import press, screen_text, settled, typed


@pytest.mark.parametrize("name", tail(["lot.zip", "lot"], 1))
async def test_the_lot_is_written_whole(app_with_runs, model, name):
    """Models, results, tables, curves, verdicts and notes of all runs, in a folder or archive."""
    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, ["4", "E", "a", "l", "l", "enter"])
        assert "demo-runs" in screen_text(app)
        await typed(app, "ctrl+u", *name, "enter")
        await settled(app, pilot)
        assert "wrote 2 runs" in screen_text(app), screen_text(app)
    folder = model.parent / "lot"
    if name.endswith(".zip"):
        shutil.unpack_archive(model.parent / name, model.parent)
    assert (folder / "model.toml").read_text() == model.read_text()
    for run in app.work.runs:
        there = folder / f"run-{run.number}"
        kept = hdf5.read(there / "result.h5")
        assert np.array_equal(kept["hinge.angle"], app.work.solutions[run.number]["hinge.angle"])
        table = results.read(there / "result.csv")
        assert np.allclose(table["hinge.angle"], kept["hinge.angle"], rtol=1e-12)
        assert "hinge" in (there / "curves.svg").read_text()
        assert "reached its end" in (there / "log.txt").read_text()
    rows = list(csv.reader((folder / "runs.csv").open()))
    assert [row[0] for row in rows] == ["run", "1", "2"]
    assert "MSTMM" in (folder / "runs.md").read_text()
    assert json.loads((folder / "validation-1.json").read_text())["result"] == "PASS"
    assert not list(model.parent.glob(".vbg-*"))
