"""The commands that seed faults and that judge machines without any: what they draw."""

from __future__ import annotations

import ast
import random

import pytest

import vbg
from benchmarks import false_alarms, seeded_faults

SOURCE = """
def law(x, y):
    if x < 1.5:
        return -x + 2.0 * y
    raise ValueError(f"{x + y}")
"""


def test_a_fault_is_one_change_of_what_is_computed():
    """Sign, operators, comparison, constants and terms; not what an error says."""
    (function,) = ast.parse(SOURCE).body
    sound = ast.unparse(function)
    found = set()
    for place in range(len(seeded_faults.changes_of(function))):
        (changed,) = ast.parse(SOURCE).body
        seeded_faults.apply(seeded_faults.changes_of(changed)[place])
        found.add(ast.unparse(ast.fix_missing_locations(changed)))
    assert len(found) == len(seeded_faults.changes_of(function)) == 8
    assert sound not in found
    assert all("raise ValueError(f'{x + y}')" in text for text in found)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_mechanisms_are_models_without_a_fault(seed):
    document = false_alarms.mechanism(random.Random(seed))
    model = vbg.Model(**document)
    assert model.bodies and model.joints
    assert document == false_alarms.mechanism(random.Random(seed))


def test_a_machine_at_rest_has_no_speed_and_variations_change_it():
    model = vbg.read(false_alarms.ROOT / "examples" / "heavy-top.toml")
    still = vbg.Model(**false_alarms.at_rest(model.document))
    assert still.bodies["top"].velocity is None
    varied = vbg.Model(**false_alarms.varied(model.document, random.Random(1)))
    assert varied.bodies["top"].mass != model.bodies["top"].mass


def test_random_mechanisms_raise_no_false_alarm():
    table = false_alarms.campaign(3, 5, ("mechanisms",))
    assert not any(result == "FAIL" for _, result in table), table
