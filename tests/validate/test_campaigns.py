"""The commands that seed faults and that judge machines without any: what they draw."""

from __future__ import annotations

import ast
import math
import random

import numpy as np
import pytest

import vbg
from benchmarks.robustness import forked
from benchmarks.verdict import false_alarms, seeded_faults, seeding, wrong_entries
from vbg.blocks import const
from vbg.physics import rotation_vector

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
    for place in range(len(seeding.changes_of(function))):
        (changed,) = ast.parse(SOURCE).body
        seeding.apply(seeding.changes_of(changed)[place])
        found.add(ast.unparse(ast.fix_missing_locations(changed)))
    assert len(found) == len(seeding.changes_of(function)) == 8
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
    table = false_alarms.campaign(false_alarms.drawn(4, 5, ("mechanisms", "starts")))
    assert sum(table.values()) == 4
    assert {result for _, result in table} <= {"PASS", "INCONCLUSIVE"}, table


def test_no_wrong_entry_of_a_random_mechanism_passes():
    for number, (_, _, make, _) in enumerate(false_alarms.drawn(3, 14, ("mechanisms", "starts"))):
        found = wrong_entries.judged(make, random.Random(number))
        assert found.keys() == wrong_entries.CHANGES.keys()
        for change, (asked, overlooked) in found.items():
            assert asked > 5 and not overlooked, (change, overlooked)


def test_a_case_that_hangs_or_crashes_is_told():
    def hang():
        while True:
            pass

    with pytest.raises(forked.Stuck):
        forked.forked(hang, 1.0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        forked.forked(lambda: 1 / 0, 1.0)
    assert forked.forked(lambda: [1.5], 1.0) == [1.5]


@pytest.mark.slow
def test_a_fault_is_put_into_the_function_that_others_have_imported():
    """Only in the child: here everything is sound before and after."""
    loaded = seeding.Loaded()
    called = {("vbg.physics.rotation_vector", "_half")}
    fault = next(f for f in seeding.candidates(called) if f.what.startswith("constant: times"))
    sound = rotation_vector._half(const(0.3)).data

    def faulty():
        loaded.put(fault)
        return rotation_vector._half(const(0.3)).data

    assert forked.forked(faulty, 5.0) != sound
    assert rotation_vector._half(const(0.3)).data == sound


def test_every_room_of_both_solvers_is_drawn_from():
    """Each has modules, each module of both solvers has a room, and the longest name wins."""
    modules = [
        ".".join(p.relative_to(seeding.ROOT).with_suffix("").parts)
        for room in ("assemble", "tmm_bridge", "junctions", "elements", "simulate", "graph")
        for p in (seeding.ROOT / "vbg" / room).rglob("*.py")
    ]
    found = {seeded_faults.room_of(module) for module in modules}
    assert None not in found
    assert seeded_faults.room_of("vbg.tmm_bridge.kernels.riccati") == "vbg.tmm_bridge.kernels"
    assert found >= {r for r in seeded_faults.ROOMS if r.count(".") > 1}


@pytest.mark.parametrize("host", [host for host in seeded_faults.HOSTS if host])
def test_the_kernels_that_the_interpreter_runs_are_files_that_are_there(host):
    """Of another folder's names no fault would ever be drawn."""
    found = seeded_faults.kernels_of(host)
    assert found
    for module in found:
        path = seeding.ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file()
        assert seeded_faults.room_of(module) is not None


def test_mathematics_of_interpreted_kernels_divides_as_machine_code_does():
    """No value is NaN and nothing is raised, where `math` raises; other values are those of
    `math`."""
    by_machine = seeded_faults.Mathematics()
    with np.errstate(all="ignore"):
        assert 1.0 / by_machine.sqrt(0.0) == math.inf
        assert np.isnan(by_machine.sqrt(-1.0))
        assert by_machine.pow(10.0, 400.0) == math.inf
    for name in ("sin", "tan", "acos", "atan", "exp", "expm1", "log", "isfinite"):
        assert getattr(by_machine, name)(0.3) == pytest.approx(getattr(math, name)(0.3), rel=1e-15)
    for name in ("atan2", "copysign", "pow"):
        expected = getattr(math, name)(0.3, -0.7)
        assert getattr(by_machine, name)(0.3, -0.7) == pytest.approx(expected, rel=1e-15)
