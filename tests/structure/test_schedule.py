"""Routes: every group once, never before what it needs, and bounds of their lengths."""

import numpy as np
import pytest

from tests.structure.test_groups import CASES, read
from vbg.errors import UsageError
from vbg.structure import analyse_topology
from vbg.structure.routes.schedule import estimated_costs, routes, schedule_text


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("workers", [1, 2, 6])
def test_routes_are_possible(name, workers):
    structure = analyse_topology(read(CASES[name]))
    rng = np.random.default_rng(len(name) + workers)
    costs = {group.number: float(rng.uniform(1.0, 5.0)) for group in structure.groups}
    found = routes(structure, costs, workers=workers)
    for route in found:
        by_group = {task.group: task for task in route.tasks}
        assert sorted(by_group) == [group.number for group in structure.groups]
        for group in structure.groups:
            task = by_group[group.number]
            assert task.end - task.start == pytest.approx(costs[group.number])
            assert all(by_group[n].end <= task.start + 1e-12 for n in group.needs)
        for one in route.tasks:
            for other in route.tasks:
                apart = one.end <= other.start + 1e-12 or other.end <= one.start + 1e-12
                assert one is other or one.worker != other.worker or apart
        assert max(costs.values()) <= route.length + 1e-12
        assert route.length <= found[0].length + 1e-12
    assert found[0].length == pytest.approx(sum(costs.values()))


def test_stewart_legs_run_together():
    """Route 23 of Fig. 7: the terminal, then the six legs at once."""
    structure = analyse_topology(read(CASES["stewart_platform_inverse"]))
    costs = {group.number: 1.0 for group in structure.groups}
    sequential, levels, ready = routes(structure, costs, workers=6)
    assert (sequential.length, levels.length, ready.length) == (7.0, 2.0, 2.0)
    text = schedule_text(structure, routes(structure, workers=6))
    assert text.count("1P1U1S3D") == 18
    assert estimated_costs(structure)[2] > estimated_costs(structure)[1]


def test_misuse():
    structure = analyse_topology(read(CASES["nine_bar_planar"]))
    with pytest.raises(UsageError, match="one worker"):
        routes(structure, workers=0)
