"""What springs and dampers of any sizes make of poles, also where their sums keep no digit of the
soft ones."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import eig, matrix, mp, mpf, workdps
from scipy.optimize import linear_sum_assignment

import vbg
from tests.tail import tail
from vbg.analysis.linear.linear import linearise
from vbg.analysis.linear.modes import Mode, find_modes
from vbg.cli.main import main
from vbg.tmm_bridge.modes.modal import vibration
from vbg.tmm_bridge.modes.roots.decimal_form import Chain

DIGITS = 200
NOTHING = 1e-30  # 1/s


def exact_poles(masses, elements):
    """Of M x'' + C x' + K x = 0, elements (a, b, k, c) between masses a < b, -1 the frame."""
    n = len(masses)
    with workdps(DIGITS):
        S = mp.zeros(2 * n)
        for i in range(n):
            S[i, n + i] = mpf(1)
        for a, b, k, c in elements:
            for i, along in ((a, -1), (b, 1)):
                for j, by in ((a, -1), (b, 1)):
                    if i >= 0 and j >= 0:
                        S[n + i, j] -= along * by * mpf(k) / mpf(masses[i])
                        S[n + i, n + j] -= along * by * mpf(c) / mpf(masses[i])
        values = eig(S, left=False, right=False)
        largest = max(abs(value) for value in values)
        return [mp.mpc(0) if abs(v) < largest * mpf(10) ** -60 else v for v in values]


def sizes(rng, count, decades):
    return [float(value) for value in 10.0 ** rng.uniform(-decades, decades, count)]


def chain_or_net(seed, decades):
    """Masses, elements and the model of a chain, a tree or a net of springs and dampers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    edges = [(int(rng.integers(i)) if seed % 3 else i - 1, i) for i in range(1, n)]
    if seed % 3 == 2:
        pairs = (sorted(rng.choice(n, 2, replace=False)) for _ in range(int(rng.integers(1, n))))
        edges += [(int(a), int(b)) for a, b in pairs]
    if rng.random() < 0.4:
        edges.append((-1, int(rng.integers(n))))
    masses, elements = sizes(rng, n, 0.4 * decades), []
    parts = {f"m{i}": {"kind": "mass", "nodes": [f"n{i}"], "m": m} for i, m in enumerate(masses)}
    for j, (a, b) in enumerate(edges):
        nodes, chosen = ["frame" if a < 0 else f"n{a}", f"n{b}"], rng.random()
        k, c = sizes(rng, 2, decades)
        if chosen < 0.75:
            parts[f"k{j}"] = {"kind": "spring", "nodes": nodes, "k": k}
            elements.append((a, b, k, 0.0))
        if chosen > 0.6:
            parts[f"c{j}"] = {"kind": "damper", "nodes": nodes, "c": c}
            elements.append((a, b, 0.0, c))
    return masses, elements, vbg.Model(translational=parts)


def told(modes: tuple[Mode, ...]):
    """All poles with what they are known to."""
    found = []
    for mode in modes:
        found.append((mode.eigenvalue, mode.error))
        if mode.oscillates:
            found.append((mode.eigenvalue.conjugate(), mode.error))
    return found


def told_by_transfer(model):
    """The same by the second solver, none of them known to less than a millionth of itself, zeros
    to nothing."""
    found, poles = [], vibration(model)
    for value, known in zip(poles.poles, poles.known, strict=True):
        assert known <= 1e-6 * abs(value) + NOTHING
        found += [(value, known), (value.conjugate(), known)][: 2 if value.imag else 1]
    return found


def beyond(found, right):
    """By how much, relative, the poles lie apart beyond what they are known to, paired best."""
    assert len(found) == len(right)
    cost = np.zeros((len(found), len(right)))
    with workdps(DIGITS):
        for i, (value, known) in enumerate(found):
            for j, pole in enumerate(right):
                over = float(abs(mp.mpc(value) - pole) - 3.0 * known)
                cost[i, j] = max(over, 0.0) / max(abs(value), float(abs(pole)), 1e-300)
    return cost[linear_sum_assignment(cost)].max()


@pytest.mark.parametrize("seed", tail(range(60), 8))
def test_poles_of_masses_springs_and_dampers_over_twenty_decades(seed):
    """Those of two hundred digits, as far as they are told to be known; zero where none is."""
    masses, elements, model = chain_or_net(seed, 10.0)
    modes = linearise(vbg.assemble(model)).modes
    right = exact_poles(masses, elements)
    assert beyond(told(modes), right) < 1e-9
    assert beyond(told_by_transfer(model), right) < 1e-9


@pytest.mark.parametrize("first", tail(range(108, 60, -6), 1))
def test_what_is_taken_for_zero_counts_whole_among_what_poles_are_known_to(first):
    """Of sums that rounding has left as a matrix, nothing else known: its poles in sixty digits are
    no farther off than told, those that are found beside what it cannot tell from zero, too."""
    for seed in range(first, first + 6):
        masses, elements, _ = chain_or_net(seed, 10.0)
        n = len(masses)
        A = np.eye(2 * n, k=n)
        for a, b, k, c in elements:
            for i, along in ((a, -1), (b, 1)):
                for j, by in ((a, -1), (b, 1)):
                    if i >= 0 and j >= 0:
                        A[n + i, j] -= along * by * k / masses[i]
                        A[n + i, n + j] -= along * by * c / masses[i]
        names = tuple(f"z{i}" for i in range(2 * n))
        with workdps(60):
            exact = np.array(eig(matrix(A.tolist()), left=False, right=False), dtype=complex)
        for mode in find_modes(A, names, np.eye(2 * n), names):
            value = mode.eigenvalue
            off = np.abs(exact - value).min()
            assert value == 0.0 or off <= mode.error + 1e-9 * abs(value)


def stiff_pairs(seed, soft, off=0.0):
    """Two pairs on stiff springs, a soft one between them, all sizes `off` by about that, and the
    frequency of the pairs against one another [rad/s]."""
    rng = np.random.default_rng(seed)
    m, stiff = sizes(rng, 4, 3.0), sizes(rng, 2, 0.3)
    springs = [1e8 * stiff[0], soft * float(rng.uniform(1.0, 2.0)), 1e8 * stiff[1]]
    if off:
        m, springs = (
            [float(one * (1.0 + off * rng.standard_normal())) for one in all_of]
            for all_of in (m, springs)
        )
    parts = {f"m{i}": {"kind": "mass", "nodes": [f"n{i}"], "m": m[i]} for i in range(4)}
    for i, k in enumerate(springs):
        parts[f"k{i}"] = {"kind": "spring", "nodes": [f"n{i}", f"n{i + 1}"], "k": k}
    slow = np.sqrt(springs[1] * (1.0 / (m[0] + m[1]) + 1.0 / (m[2] + m[3])))
    return vbg.Model(translational=parts), slow


def require_slow_pair(modes, slow):
    """Two poles at zero, then that pair, known to a millionth and 10 (eps fastest / slow)^2."""
    assert [mode.eigenvalue == 0.0 for mode in modes] == [True, True, False, False, False]
    assert abs(modes[2].eigenvalue.imag - slow) <= 1e-9 * slow + modes[2].error
    assert modes[2].eigenvalue.real == 0.0
    rounding = np.finfo(float).eps * modes[-1].frequency / slow
    assert modes[2].error <= (1e-6 + 10.0 * rounding**2) * slow


@pytest.mark.parametrize("soft", [1e-6, 1e-8, 1e-12, 1e-17])
@pytest.mark.parametrize("seed", tail(range(5), 2))
def test_a_soft_spring_between_stiff_pairs_is_no_free_motion(seed, soft, tmp_path, capsys):
    """Two pairs on stiff springs, a soft one between them: two poles at zero, a slow pair of
    w^2 = k (1/(m0 + m1) + 1/(m2 + m3)), but for k / stiff, known to six digits but for the square
    of what rounding makes of the fastest pole."""
    model, slow = stiff_pairs(seed, soft)
    modes = linearise(vbg.assemble(model)).modes
    require_slow_pair(modes, slow)
    file = str(tmp_path / "m.toml")
    vbg.write(model, file)
    assert main(["show", "modes", file]) == 0
    out = capsys.readouterr().out
    found = vibration(model)
    assert [pole == 0.0 for pole in found.poles] == [True, True, False, False, False]
    assert abs(found.poles[2].imag - slow) <= 1e-9 * slow
    assert found.known[2] <= 1e-12 * slow
    assert "2 poles at zero, 3 undamped" in out
    assert ("Known only" in out) == (modes[2].error > 1e-6 * slow)


@pytest.mark.parametrize("seed", tail(range(3, 28), 1))
def test_a_soft_spring_is_found_whatever_the_last_digits_are(seed):
    """The same for ten machines that differ by some 1e-13 of their sizes: rounding of what is left
    by elimination does not decide what is known."""
    for nth in range(10):
        model, slow = stiff_pairs(seed, 1e-17, 1e-13 * nth)
        require_slow_pair(linearise(vbg.assemble(model)).modes, slow)


@pytest.mark.parametrize("seed", range(6))
def test_a_leak_beside_a_conductance_that_hides_it(seed):
    """Two capacitors on a resistor, one behind a leak of 1e-18 to 1e-30 of its conductance: the
    charge leaks away with (C1 + C2) R."""
    rng = np.random.default_rng(seed)
    C = [float(c) for c in 10.0 ** rng.uniform(-9, -3, 2)]
    R, leak = 10.0 ** rng.uniform(-6, 0), 10.0 ** rng.uniform(18, 24)
    parts = {
        "C1": {"kind": "capacitor", "nodes": ["a", "gnd"], "C": C[0]},
        "C2": {"kind": "capacitor", "nodes": ["b", "gnd"], "C": C[1]},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "R": float(R)},
        "leak": {"kind": "resistor", "nodes": ["b", "gnd"], "R": float(leak)},
    }
    mode = linearise(vbg.assemble(vbg.Model(electric=parts))).modes[0]
    slow = -1.0 / (sum(C) * leak)
    assert mode.eigenvalue.real == pytest.approx(slow, rel=1e-9)
    assert mode.error <= 0.05 * abs(slow)
    found = vibration(vbg.Model(electric=parts))
    assert found.poles[0] == pytest.approx(slow, rel=1e-9)
    assert found.known[0] <= 1e-9 * abs(slow)


def test_parts_that_do_not_touch_have_poles_of_their_own():
    """A machine whose poles are 1e26 times slower than those beside it."""
    parts = {}
    for name, k in (("fast", 1e26), ("slow", 1e-26)):
        parts[f"m_{name}"] = {"kind": "mass", "nodes": [name], "m": 1.0}
        parts[f"k_{name}"] = {"kind": "spring", "nodes": ["frame", name], "k": k}
    modes = linearise(vbg.assemble(vbg.Model(translational=parts))).modes
    assert [mode.eigenvalue for mode in modes] == pytest.approx([1e-13j, 1e13j], rel=1e-12)


@pytest.mark.parametrize("seed", tail(range(12), 2))
@pytest.mark.parametrize("slip", ["a pass is missing", "slopes of another machine"])
def test_decimals_of_another_form_are_not_used(seed, slip, monkeypatch):
    """Where the way along the tape in decimals slips, poles are as vague as doubles leave them, and
    right as far as they are known."""
    whole = Chain.steps.func

    def steps(chain):
        found = whole(chain)
        if slip == "a pass is missing":
            return found[: len(found) // 4]
        return [(out, [(at, 1.001 * k) for at, k in slopes]) for out, slopes in found]

    masses, elements, model = chain_or_net(seed, 10.0)
    right, poles = exact_poles(masses, elements), vibration(model)
    monkeypatch.setattr(Chain, "steps", property(steps))
    slipped = vibration(model)
    for one in (poles, slipped):
        found = []
        for value, known in zip(one.poles, one.known, strict=True):
            found += [(value, known), (value.conjugate(), known)][: 2 if value.imag else 1]
        assert beyond(found, right) < 1e-9
