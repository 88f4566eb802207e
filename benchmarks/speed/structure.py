"""Table 16 of Celdran, Saura and Dopico (2022) beside vbg, and the growth with size.

Run:  python -m benchmarks.speed.structure [largest number of bodies, default 100000]

The paper's pair counts for the ASSUR families fit the mobility formula with
revolutes for I-2 only; the families here have 2 + 2kn bodies and 1 + 3kn
pairs.  The paper joins its groups at random and does not print where: the
seeds below were chosen so that the "B" variants have as many groups as there.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np

from benchmarks import asked
from tests.structure.mechanisms import (
    nine_bar,
    platform_path,
    rotor,
    stewart_inverse,
    swings,
)
from vbg.structure import analyse_topology, from_pairs
from vbg.structure.kinematics.kinematics import group_program, run, whole_program
from vbg.structure.kinematics.measured import measured_sharing, sharing_text
from vbg.structure.kinematics.spans import SPAN
from vbg.structure.routes.schedule import routes, schedule_text
from vbg.structure.routes.synthesis import (
    TABLE_16,
    assur,
    assur_family,
    driven_at_the_end,
    dyads,
    primary,
    random_mechanism,
)
from vbg.structure.topology.topology import Topology

DATA = Path(__file__).parents[2] / "tests" / "data" / "structural_groups.json"

# (class, groups): (groups, seconds) of the paper and of its variant B; None: no answer.
FAMILIES = {
    (1, 2): ((3, 0.9049), (2, 0.84546)),
    (1, 4): ((5, 0.92285), (3, 0.92714)),
    (1, 8): ((9, 0.98798), (3, 4.65035)),
    (2, 2): ((3, 0.91421), (1, 0.9084)),
    (2, 4): ((5, 1.16003), (2, 5.3938)),
    (2, 8): ((9, 2.33128), (None, None)),
    (3, 2): ((3, 1.04206), (1, 1.39049)),
    (3, 4): ((5, 5.22487), (1, 70940.31)),
}
SPATIAL = (
    ("Rotor Control (Fig. 12)", "helicopter_rotor", 7, 1.1133),
    ("Rotor Control (Fig. 14)", "helicopter_rotor_transformed", 9, 1.20191),
    ("Micromanipulator", "micro_manipulator", 8, 1.15843),
    ("Stewart Platform (Fig. 16)", "stewart_platform", 1, 0.96645),
    ("Stewart Platform (Fig. 17)", "stewart_platform_inverse", 7, 0.80041),
)
DRIVEN = (
    ("nine-bar", nine_bar(), swings(4, 0.05)),
    ("rotor", rotor(), swings(3, 0.1)),
    ("Stewart inverse", stewart_inverse(), platform_path),
)


def seconds(topology: Topology, repeats: int = 5) -> float:
    """Best processor time of an analysis, result tables included [s]."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        analyse_topology(topology)
        best = min(best, time.process_time() - start)
    return best


def read_case(name: str) -> Topology:
    """A case of the paper from the test data."""
    case = json.loads(DATA.read_text(encoding="utf-8"))[name]
    bodies = [str(i + 1) for i in range(case["bodies"])]
    rows = [(*map(str, j["between"]), j["type"], j["driven"]) for j in case["joints"]]
    return from_pairs(case["B"], bodies, rows)


def print_row(name: str, topology: Topology, groups: int | None, paper: float | None) -> None:
    """One line of Table 16."""
    found = analyse_topology(topology)
    sizes = max(len(group.bodies) for group in found.groups)
    theirs = f"{groups or '-':>6} {paper or '-':>10}"
    print(
        f"{name:28}{len(topology.bodies):7}{len(topology.pairs):7} {theirs}"
        f"{len(found.groups):8}{sizes:9}{1e3 * seconds(topology):10.2f}"
    )


def print_table() -> None:
    """Table 16."""
    print(f"{'':43}{'paper':>13}{'vbg':>13}{'largest':>9}")
    print(
        f"{'case':28}{'bodies':>7}{'pairs':>7}{'groups':>7}{'s':>11}{'groups':>8}{'':9}{'ms':>10}"
    )
    for (order, groups), (plain, moved) in FAMILIES.items():
        name = f"ASSUR {'I' * order}-{groups}"
        topology = assur_family(order, groups, np.random.default_rng(TABLE_16[order, groups]))
        print_row(name, topology, *plain)
        print_row(name + "B", driven_at_the_end(topology), *moved)
    for title, name, groups_found, paper in SPATIAL:
        print_row(title, read_case(name), groups_found, paper)


def print_growth(largest: int) -> None:
    """Time against the number of bodies, and the exponent between the ends."""
    spatial = [primary(6), primary(6, "P"), *dyads(6, ["R", "P", "C", "U", "S"])]
    planar = [primary(3), assur(1), assur(2), assur(3)]
    sizes = [size for size in (1_000, 10_000, 100_000) if size <= largest]
    for title, templates in (("planar", planar), ("spatial", spatial)):
        for moved in ("", ", one drive moved to the end"):
            times = []
            for size in sizes:
                topology = random_mechanism(templates, size, np.random.default_rng(size))
                if moved:
                    topology = move_a_drive(topology)
                found = analyse_topology(topology)
                big = max(len(group.bodies) for group in found.groups)
                times.append(seconds(topology, repeats=2))
                print(
                    f"{title + moved:38}{len(topology.bodies):8} bodies {len(found.groups):7}"
                    f" groups (largest {big:6}) {len(found.levels):5} levels {times[-1]:8.3f} s"
                )
            if len(sizes) > 1:
                span = math.log(sizes[-1] / sizes[0])
                print(f"{'':38}exponent {math.log(times[-1] / times[0]) / span:.2f}")


def move_a_drive(topology: Topology) -> Topology:
    """The first driven freedom moved to the last pair that leaves the mechanism determined."""
    from vbg.structure.topology.topology import with_drives

    driven = [pair.driven for pair in topology.pairs]
    first = next(i for i, n in enumerate(driven) if n)
    driven[first] -= 1
    fixes = analyse_topology(with_drives(topology, driven)).under
    assert fixes is not None
    chosen = next(i for i in reversed(fixes.pairs) if topology.pairs[i].grade > driven[i])
    driven[chosen] += 1
    return with_drives(topology, driven)


def print_kinematics() -> None:
    """Position, velocity and acceleration at one instant: by groups and as a whole."""
    times = np.linspace(0.0, 2.0, 1001)
    print(f"{'kinematics, 1001 instants':28}{'groups us':>12}{'whole us':>12}{'ratio':>8}")
    for name, linkage, drives in DRIVEN:
        structure = analyse_topology(linkage.topology)
        spent = []
        for program in (group_program(linkage, structure), whole_program(linkage)):
            run(program, linkage, times[:2], drives)
            start = time.process_time()
            assert run(program, linkage, times, drives).status == "solved"
            spent.append(1e6 * (time.process_time() - start) / len(times))
        print(f"{name:28}{spent[0]:12.1f}{spent[1]:12.1f}{spent[1] / spent[0]:8.1f}")
    stewart = analyse_topology(stewart_inverse().topology)
    print("\n" + schedule_text(stewart, routes(stewart, workers=6)))


def print_threads() -> None:
    """What threads save, for a run of some length and for a single span."""
    for name, linkage, drives in DRIVEN:
        for count, workers in ((1001, 2), (1001, 4), (SPAN, 2)):
            times = np.linspace(0.0, 2.0, count).tolist()
            print(name, sharing_text(measured_sharing(linkage, drives, times, workers)), sep=": ")


if __name__ == "__main__":
    words = asked.parser(__doc__)
    words.add_argument("bodies", nargs="?", type=int, default=100_000, help="the most")
    largest = words.parse_args().bodies
    print_table()
    print()
    print_kinematics()
    print()
    print_threads()
    print()
    print_growth(largest)
