"""Kernels as machine code without numba: what they are given, and what they refuse."""

import copy
import importlib.util
import operator
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.assemble.program.machine import Reader, evaluate_each, normalise, run
from vbg.assemble.program.machine.plans import NOTHING
from vbg.errors import VbgError
from vbg.plumbing.groups import joined
from vbg.plumbing.kernels import compiled, processors
from vbg.plumbing.kernels.machine_code import MachineCode
from vbg.plumbing.kernels.operators import remembered_operators

ROOT = Path(__file__).resolve().parent.parent
NO_PLACES = np.zeros(0, dtype=np.int64)
WISHES = processors.wishes


def test_a_call_does_what_the_kernel_does_in_python():
    x = np.arange(1.0, 9.0)
    wanted = x.copy()
    wanted[2:6] /= np.linalg.norm(wanted[2:6])
    normalise(np.array([2]), x)
    np.testing.assert_allclose(x, wanted, rtol=1e-15)


@pytest.mark.parametrize(
    ("places", "x"),
    [
        (np.array([0], dtype=np.int32), np.ones(4)),
        (np.array([0]), np.ones(4, dtype=np.float32)),
        (np.array([0]), np.ones((4, 1))),
        (np.array([0]), np.ones(8)[::2]),
        (np.array([0]), np.frombuffer(bytes(32))),  # read-only
        (np.array([0]), np.frombuffer(bytearray(33), offset=1)),  # between two words
    ],
)
def test_arrays_of_another_kind_are_refused(places, x):
    with pytest.raises(TypeError):
        normalise(places, x)


def test_tuples_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="Reader"):
        evaluate_each(0, tuple(NOTHING), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))


@pytest.mark.parametrize(
    "other",
    [
        {"work": np.zeros(8, dtype=np.complex128)},
        {"operands": np.zeros(0, dtype=np.int64)},
        {"segments": np.zeros(0, dtype=np.int64)},
        {"first": 0.0},
    ],
)
def test_tuples_of_other_arrays_are_refused(other):
    """They are packed as what they are and would be read as what the kernel was compiled for."""
    rows = np.zeros((0, 0))
    with pytest.raises(TypeError, match=r"Reader\(.* is wanted"):
        evaluate_each(0, NOTHING._replace(**other), np.zeros(0), rows, rows)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copied_plan_leads_to_its_own_arrays(copied):
    plan = NOTHING._replace(work=np.zeros(8))
    packed, other = plan.packed, copied(plan)
    assert other.packed != packed and other.packed == Reader(*other).packed


@pytest.mark.parametrize("shape", [(3, 1), (3, 6), (2, 2), (6,)])
def test_states_of_another_length_are_refused(shape):
    """A longer one would overwrite what the program computes with."""
    model = vbg.read(ROOT / "examples" / "pendulum.toml")
    rate = vbg.start(vbg.assemble(model)).evaluator("rate")
    with pytest.raises(ValueError, match="states of shape"):
        rate.each(np.zeros(3), np.zeros(shape))


def test_a_bound_call_keeps_what_it_reads():
    """Its arrays are nobody else's any more."""
    again = run.bound(np.zeros(8), *(a.copy() for a in NOTHING[1:6]))
    assert [again() for _ in range(3)] == [0, 0, 0]
    assert isinstance(NOTHING, Reader)


def test_a_run_needs_neither_numba_nor_scipy():
    """Half of the time of a process was their loading; kernels are compiled before."""
    vbg.simulate(vbg.read(ROOT / "examples" / "pendulum.toml"), t_end=0.1)
    code = (
        "import sys, vbg;"
        "vbg.simulate(vbg.read('examples/pendulum.toml'), t_end=0.1);"
        "slow = {'numba', 'scipy.linalg', 'h5py', 'pandas'};"
        "sys.exit(', '.join(slow & {*sys.modules}) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_remembered_of_operators_is_what_numba_finds():
    from numba import types
    from numba.core.registry import cpu_target

    found = cpu_target.typing_context.resolve_function_type
    numbers = types.int64, types.float64, types.literal(3), types.boolean, types.float64[::1]
    asked = [(operator.add, (a, b)) for a in numbers[:4] for b in numbers[:4]] + [
        (operator.getitem, (numbers[4], b)) for b in (types.int64, types.literal(3))
    ]
    plain = [found(f, kinds, {}) for f, kinds in asked]
    with remembered_operators():
        for _ in range(2):
            assert [found(f, kinds, {}) for f, kinds in asked] == plain


def test_who_only_compares_loads_no_solver():
    """Each of a verdict's three processes loaded both: a third of its time."""
    code = (
        "import sys, vbg.validate.both;"
        "rooms = ('llvmlite', 'vbg.assemble', 'vbg.simulate.run', 'vbg.tmm_bridge.solver');"
        "sys.exit(', '.join({*rooms} & {*sys.modules}) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TRIAL = """
from pathlib import Path
from typing import Any, NamedTuple
import numpy as np
from vbg.plumbing.kernels.compiled import Kernels
from vbg.plumbing.kernels.native import Family, Native, Table

KERNELS = Kernels("trial", [Path(__file__)])
PLAIN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}

def inner(x):
    return x * x

inner = KERNELS.compiled(inner, **PLAIN)

def squares(x):
    for i in range(x.shape[0]):
        x[i] = inner(x[i])

squares = KERNELS.compiled(squares, **PLAIN)

def raising(n):
    if n > 3:
        raise ValueError
    return n

raising = KERNELS.compiled(raising, **PLAIN)

class _Pair(NamedTuple):
    places: Any
    values: Any

class Pair(_Pair, Table):
    pass

def entry_at(t, i, k):
    return t.values[t.places[i], k, 0, 1]

entry_at = KERNELS.compiled(entry_at, **PLAIN)

def gather(t, out):
    for i in range(out.shape[0]):
        out[i] = entry_at(t, i, 1) + entry_at(t, i, 2)

gather = KERNELS.compiled(gather, **PLAIN)

def twice(t, out):
    gather(t, out)
    squares(out)
    return out.shape[0]

twice = KERNELS.compiled(twice, **PLAIN)
"""


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """A module of kernels; each call of `trial()` is as another process has it."""
    monkeypatch.setenv("VBG_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "trial.py").write_text(TRIAL)

    def loaded():
        spec = importlib.util.spec_from_file_location("trial", tmp_path / "trial.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "trial", module)
        spec.loader.exec_module(module)
        return module

    return loaded


def squared(module, name="squares"):
    x = np.array([1.0, 2.0, 3.0])
    module.Native(module.KERNELS, f"trial:{name}", np.zeros(0))(x)
    return x.tolist()


def test_a_file_that_is_not_whole_is_made_anew(trial):
    """Cut by a full disk, changed on the way, or of another form: it would be run as code."""
    assert squared(trial()) == [1.0, 4.0, 9.0]
    file = trial().KERNELS.folder / "squares.native"
    whole = file.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for broken in (b"", whole[:20], whole[:-1], changed, b"ELF" + whole):
        assert MachineCode.opened(broken) is None
        file.write_bytes(broken)
    assert squared(trial()) == [1.0, 4.0, 9.0]
    assert MachineCode.opened(file.read_bytes()) is not None


@pytest.fixture
def shipped(trial, tmp_path, monkeypatch):
    """The file of `squares` as it came with vbg, where the processor has a level."""
    monkeypatch.setattr(processors, "wishes", lambda: "")
    if processors.level() is None:
        pytest.skip("code is made for this processor alone")
    monkeypatch.setattr(compiled, "SHIPPED", tmp_path / "shipped")
    module = trial()
    family = module.Native(module.KERNELS, "trial:squares", np.zeros(0)).family
    family.shipped.parent.mkdir(parents=True)
    family.shipped.write_bytes(family.sealed())
    shutil.rmtree(module.KERNELS.folder)
    return family.shipped


def test_kernels_that_came_with_vbg_are_taken(trial, shipped):
    module = trial()
    assert squared(module) == [1.0, 4.0, 9.0]
    assert not module.KERNELS.folder.exists()


def test_no_others_are_taken_for_them(trial, shipped, tmp_path, monkeypatch):
    """Broken ones, those of other sources, and those that numba is not wished to make so."""
    whole = shipped.read_bytes()
    shipped.write_bytes(whole[:-1])
    module = trial()
    assert squared(module) == [1.0, 4.0, 9.0] and module.KERNELS.folder.exists()
    shipped.write_bytes(whole)
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    monkeypatch.setattr(processors, "wishes", WISHES)
    assert trial().KERNELS.shipped is None
    monkeypatch.delenv("NUMBA_CPU_NAME")
    source = tmp_path / "trial.py"
    source.write_text(source.read_text().replace("return x * x", "return x + x"))
    assert squared(trial()) == [2.0, 4.0, 6.0]


def test_a_full_disk_costs_the_file_and_not_the_run(trial, monkeypatch, capsys):
    def full(path, content):
        raise VbgError(f"{path}: cannot be written: No space left on device.")

    monkeypatch.setattr(compiled, "write_bytes", full)
    module = trial()
    assert squared(module) == [1.0, 4.0, 9.0]
    assert "No space left on device. Compiled kernels are not kept." in capsys.readouterr().err
    assert not list(module.KERNELS.folder.glob("*.native"))


def test_kernels_are_compiled_where_numba_is_told_to_compile_nothing(trial, monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert squared(trial()) == [1.0, 4.0, 9.0]


def test_what_numba_is_told_about_machine_code_makes_another_set(trial, monkeypatch):
    plain = trial().KERNELS.folder
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert trial().KERNELS.folder == plain
    monkeypatch.setenv("NUMBA_OPT", "0")
    assert trial().KERNELS.folder != plain


def test_a_kernel_that_raises_is_heard(trial):
    module = trial()
    call = module.Native(module.KERNELS, "trial:raising", 0)
    assert call(2) == 2 == call.bound(2)()
    for wrong in (lambda: call(4), call.bound(4)):
        with pytest.raises(RuntimeError, match="raising raised"):
            wrong()


def test_groups_are_what_pairs_connect():
    pairs = [("a", "c"), ("d", "e"), ("c", "f")]
    assert joined("abcdef", pairs) == [["a", "c", "f"], ["b"], ["d", "e"]]
    assert joined([], []) == []


def test_a_family_is_one_file_and_reads_tables_by_their_address(trial):
    """Also of four axes; integers that a kernel is called with make no kernel of their own."""
    module = trial()
    family = module.Family(module.KERNELS, "pair")
    nothing = module.Pair(np.zeros(0, dtype=np.int64), np.zeros((0, 0, 0, 0)))
    example = nothing, np.zeros(0)
    gather, twice = (family.kernel(f"trial:{name}", *example) for name in ("gather", "twice"))
    values = np.random.default_rng(3).normal(size=(5, 3, 2, 2))
    table = module.Pair(np.array([4, 0, 2]), values)
    wanted = values[[4, 0, 2], 1, 0, 1] + values[[4, 0, 2], 2, 0, 1]
    out = np.zeros(3)
    assert gather(table, out) == 0
    np.testing.assert_array_equal(out, wanted)
    assert twice(copy.deepcopy(table), out) == 3
    np.testing.assert_array_equal(out, wanted * wanted)
    assert [file.name for file in module.KERNELS.folder.glob("*.native")] == ["pair.native"]
    assert len(module.entry_at.overloads) == 0  # not by numba's own way
    assert len(module.entry_at._draft.overloads) == 1
    for wrong in (table._replace(places=np.zeros(3)), tuple(table), nothing._replace(values=out)):
        with pytest.raises(TypeError, match="is wanted"):
            gather(wrong, out)
