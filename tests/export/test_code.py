"""C code of machines: it computes what vbg computes, and its run is vbg's run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vbg
from benchmarks.machines import windows
from tests.export.comparing import compiled, family, family_peaks, table
from tests.export.tape_in_c import library, played, played_straight, straight_library
from tests.laws.circuits import Circuit, filled, unknowns
from tests.laws.machines import KINDS, random_loop, random_tree
from tests.laws.parts import loaded
from tests.tail import tail
from vbg.assemble.program.evaluator import Evaluator, all_rows
from vbg.assemble.program.reference import evaluate
from vbg.errors import ModelError
from vbg.export import exported
from vbg.export.code import sources
from vbg.export.directions import directions
from vbg.export.machine import TAPES, switching
from vbg.io import toml
from vbg.solution import components


@pytest.fixture(scope="module")
def tapes(tmp_path_factory):
    return library(tmp_path_factory.mktemp("tape"))


def agree_on_tapes(start, seed, play):
    """Every program of the machine at its start and beside it; play(name, program, filled
    workspace, kept rows) gives the workspace behind a run in C."""
    random = np.random.default_rng(seed)
    machine = exported(start)
    for what in TAPES:
        program = machine.programs[what]
        kept = start.kept if program.schedules else all_rows(program)
        evaluate = Evaluator(program, kept=kept)
        first = 1 + start.system.size
        others = sum(r * c for _, r, c in program.inputs.values()) - first
        for moved in (0.0, 1e-3):
            x = start.state + moved * random.normal(size=start.system.size)
            more = random.normal(size=others)
            filled = program.workspace.copy()
            filled[: first + others] = [*x, 0.3, *more]
            expected = evaluate(0.3, x, more).copy()
            work = play(what, program, filled, kept)
            if len(expected) == 0:
                continue
            at = next(iter(program.outputs.values()))[0]
            found = work[at : at + len(expected)]
            scale = max(np.nanmax(np.abs(expected)), 1.0)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale, nan_ok=True), what


def by_tables(tapes):
    return lambda name, program, filled, kept: played(tapes, program, filled, kept)


def by_lines(start, folder):
    programs = exported(start).programs
    code = straight_library(folder, programs)
    return lambda name, program, filled, kept: played_straight(code, name, program, filled, kept)


@pytest.mark.parametrize("seed", range(3))
def test_tapes_of_random_trees_and_loops_are_computed_alike(tapes, seed):
    tree = random_tree(seed, 3, KINDS)
    for machine in (loaded(tree, seed), random_loop(seed)):
        agree_on_tapes(vbg.start(vbg.assemble(machine.model())), seed, by_tables(tapes))


@pytest.mark.slow
def test_tapes_with_many_dependent_rows_are_computed_alike(tapes):
    """Loaded where these hold, thin rods: conjugate gradients do not converge."""
    model = windows(12, redundant=True).edited("gravity", [3.0, -9.0, 5.0])
    agree_on_tapes(vbg.start(model), 12, by_tables(tapes))


@pytest.mark.parametrize(
    "name",
    ["bennett", "excavator-arm", "stewart-platform", "servo-hydraulic", "motor-slider-crank"],
)
def test_tapes_of_examples_are_computed_alike(tapes, name):
    """With redundant rows, modes, sources, algebraic loops."""
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    agree_on_tapes(start, 1, by_tables(tapes))


def test_the_roots_of_algebraic_loops_are_found_alike(tapes):
    """From far away, also by the plain reader."""
    for seed in range(24):
        circuit = Circuit(seed)
        run, random = Evaluator(circuit.system.programs.rate), np.random.default_rng(seed)
        work, places = filled(run, circuit, random), unknowns(run)
        found = [played(tapes, run.program, work, all_rows(run.program))]
        if seed < 6:
            with np.errstate(all="ignore"):
                found.append(evaluate(run.program, work.copy()))
        size = circuit.system.size
        run.work[:] = work
        run(work[size], work[:size])
        for other in found:
            assert_allclose(
                other[places], run.work[places], rtol=1e-7, atol=1e-16 * circuit.sizes[1]
            )


@pytest.mark.parametrize("opening", [1.0, 1e-9])
def test_tapes_of_nodes_without_volume_are_computed_alike(tapes, opening):
    """Three valves behind each other and a pipe before them: loops that end where their
    residual is rounding."""
    parts = {
        "source": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 3.5e7},
        "pipe": {"kind": "pipe", "nodes": ["p", "v0"], "length": 2.0, "diameter": 0.01},
    }
    for i, end in enumerate(("v1", "v2", "tank")):
        valve = {"kind": "proportional_valve", "qn": 10.0 ** (i - 4), "opening": opening}
        parts[f"valve{i}"] = {**valve, "nodes": [f"v{i}", "tank", end, "tank"]}
    start = vbg.start(vbg.assemble(vbg.Model(name="line", hydraulic=parts)))
    agree_on_tapes(start, 1, by_tables(tapes))


@pytest.mark.parametrize("seed", tail(range(2), 1))
def test_straight_lines_of_random_machines_compute_the_same(tmp_path, seed):
    start = vbg.start(vbg.assemble(loaded(random_loop(seed), seed).model()))
    agree_on_tapes(start, seed, by_lines(start, tmp_path))


@pytest.mark.parametrize("name", tail(["bennett", "excavator-arm"], 1))
def test_straight_lines_of_examples_compute_the_same(tmp_path, name):
    """With redundant rows; with modes and cylinders."""
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    agree_on_tapes(start, 1, by_lines(start, tmp_path))


@pytest.mark.parametrize("seed", range(2))
def test_programs_of_directions_are_the_slopes_of_the_tapes(seed):
    """Rates and signals of random trees and loops with springs and controllers along random
    directions, beside central differences of order four."""
    for spec in (random_tree(seed, 3, KINDS), random_loop(seed)):
        start = vbg.start(vbg.assemble(loaded(spec, seed).model()))
        programs = directions(start, switching(start.system))
        dx = a_direction(start, np.random.default_rng(seed))
        slope = slopes(start, dx, 1e-4)
        found = Evaluator(programs["direction"])(0.1, start.state, dx)[: len(slope)]
        assert np.abs(found - slope).max() < 1e-8 * np.abs(slope).max()


def a_direction(start, random):
    """A direction of all states in which quaternions keep their length and modes stay."""
    x = start.state
    dx = random.normal(size=len(x)) * np.maximum(np.abs(x), 1e-3)
    for s in start.system.slices:
        part = slice(s.first, s.last)
        if s.state.kind == "quaternion":
            dx[part] -= x[part] * (x[part] @ dx[part])
        if s.state.kind == "discrete":
            dx[part] = 0.0
    return dx


def slopes(start, dx, h):
    """Of all rates and signals."""
    system = start.system
    n, efforts = system.size, len(system.constraint_names)
    rate, signals = Evaluator(start.rate_program), Evaluator(system.programs.output)

    def told(h):
        x = start.state + h * dx
        f = rate(0.1, x).copy()
        return np.concatenate([f[:n], signals(0.1, x, f[n : n + efforts])])

    return (told(-2 * h) - 8 * told(-h) + 8 * told(h) - told(2 * h)) / (12 * h)


RUNS = ["slider-crank", "rlc-ladder", "excavator-arm", "bennett", "servo-hydraulic"]


@pytest.mark.parametrize("name", tail(RUNS, 1))
def test_the_compiled_run_is_the_run(tmp_path, name):
    start = vbg.start(vbg.assemble(vbg.read(f"examples/{name}.toml")))
    found = table(compiled(start, tmp_path))
    solution = vbg.simulate(start)
    columns = dict(components(solution))
    assert found["time"] == pytest.approx(solution.time, abs=1e-12)
    peaks = family_peaks(columns)
    for signal, values in found.items():
        if signal != "time":
            assert np.abs(values - columns[signal]).max() < 1e-6 * peaks[family(signal)], signal
    assert set(columns) - set(found) <= {
        "energy.residual",
        "residual.position",
        "residual.velocity",
        "residual.dependent",
    }


@pytest.mark.slow
def test_random_machines_run_alike(tmp_path):
    for seed in range(2):
        start = vbg.start(vbg.assemble(random_loop(seed + 3).model()))
        folder = tmp_path / str(seed)
        found = table(compiled(start, folder), 0.3, 0.01)
        solution = vbg.simulate(start, t_end=0.3, output_step=0.01)
        for signal, values in dict(components(solution)).items():
            if signal in found and ".position" in signal:
                assert values == pytest.approx(found[signal], abs=1e-7)


def test_steps_of_fixed_length_are_of_order_four(tmp_path):
    start = vbg.start(vbg.assemble(vbg.read("examples/double-pendulum.toml")))
    program = compiled(start, tmp_path)
    exact = table(program, 0.5, 0.5)["lower.position.x"][-1]
    errors = [
        abs(table(program, 0.5, h, "fixed")["lower.position.x"][-1] - exact)
        for h in (0.01, 0.005, 0.0025)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.6).all(), (errors, orders)


def test_the_text_is_the_same_each_time():
    def once():
        return sources(exported(vbg.start(vbg.assemble(vbg.read("examples/excavator-arm.toml")))))

    assert once() == once()


@pytest.mark.parametrize(
    ("name", "method", "part", "what"),
    [
        ("ball-screw-axis", "auto", "translational.guide", "sticks"),
        ("pendulum", "discrete-time", "simulate.method", "discrete-time"),
    ],
)
def test_what_the_code_has_no_place_for_is_refused_by_name(name, method, part, what):
    model = vbg.read(f"examples/{name}.toml").edited(("simulate", "method"), method)
    start = vbg.start(vbg.assemble(model))
    with pytest.raises(ModelError) as refused:
        exported(start)
    assert [problem.where for problem in refused.value.problems] == [part]
    assert what in str(refused.value)


@pytest.mark.parametrize("name", tail(['vbg_tape "of" */ a %s ??/ Prüf\nstand', "tape"], 1))
def test_no_name_of_a_model_breaks_the_code(tmp_path, name):
    model = vbg.read("examples/free-body.toml").edited(("name",), name)
    start = vbg.start(vbg.assemble(model))
    found = table(compiled(start, tmp_path), 0.1, 0.1)
    assert len(found["time"]) == 2


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_titles_of_the_c_table_are_those_of_the_run(order, tmp_path):
    """Components by letter or number, whichever their count asks for."""
    model = toml.parse(f"""vbg = 1
[signals.slow]
kind = "transfer_function"
input = "sin(t)"
numerator = [1]
denominator = {[1.0] * (order + 1)}
[rotational.push]
kind = "torque"
nodes = ["a"]
torque = "slow"
[rotational.disc]
kind = "inertia"
nodes = ["a"]
J = 1
""")
    machine = exported(vbg.start(vbg.assemble(model)))
    vbg.simulate(model, t_end=0.1).to_csv(tmp_path / "run.csv")
    titles = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")[1:]
    own = [one for one in titles if not one.startswith(("energy.residual", "residual."))]
    assert [f"{one.name} [{one.unit}]" for one in machine.signals] == own
