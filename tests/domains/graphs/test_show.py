"""`vbg show causal` and `vbg show matrices` on machines of several domains."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from vbg.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_causal_names_conserved_quantities_and_loops(capsys):
    assert main(["show", "causal", str(EXAMPLES / "half-car.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["conserved"]) == 2
    assert main(["show", "causal", str(EXAMPLES / "transistor-amplifier.toml")]) == 0
    text = capsys.readouterr().out
    assert text.count("Newton at every evaluation") == 2
    assert text.count("eliminated (linear)") == 1


def test_matrices_of_a_dependent_rotor(capsys):
    assert main(["show", "matrices", str(EXAMPLES / "dc-motor-start.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["blocks"]
    assert np.diag(found["F1"]["values"]) == pytest.approx([1 / 0.15, 1 / 1.5e-3])
    assert found["F2"]["values"] == [[pytest.approx(1 / 0.15)]]
    assert np.abs(found["JC1"]["values"]) == pytest.approx(np.array([[1.0, 0.0]]))
    assert np.abs(found["JC2"]["values"]) == pytest.approx(np.array([[1.0]]))
    assert found["H4"]["values"] == [[pytest.approx(2 / 0.15)]]
