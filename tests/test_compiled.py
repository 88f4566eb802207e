"""Compiled kernels and their cache on disk, used by several processes at once."""

import importlib.util
import os
import subprocess
import sys
import threading
import time

import filelock
import pytest

from vbg.plumbing.kernels.compiled import UNUSED, Kernels

SOURCE = """
import sys
from pathlib import Path
import numpy as np
from vbg.plumbing.kernels.compiled import Kernels

KERNELS = Kernels("trial", [Path(__file__)])

def double(x):
    for i in range(len(x)):
        x[i] = x[i] * x[i] + 1.0

double = KERNELS.compiled(double)

if __name__ == "__main__":
    kind = np.dtype(sys.argv[1])
    x = np.full(3, 3.0, dtype=kind) + (0.5j if kind.kind == "c" else 0.0)
    wanted = x * x + 1.0
    double(x)
    assert (x == wanted).all(), (x, wanted)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("VBG_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "trial.py"
    file.write_text(SOURCE)
    return file


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def test_equal_sources_elsewhere_share_what_is_compiled(place, tmp_path):
    """Another clone or environment does not compile anew; other sources do."""
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "trial.py"
    twin.write_text(SOURCE)
    first = loaded(place)
    first.double(first.np.zeros(2))
    again = loaded(twin)
    again.double(again.np.zeros(2))
    assert again.KERNELS.folder == first.KERNELS.folder
    assert sum(again.double.stats.cache_hits.values()) == 1
    twin.write_text(SOURCE.replace("+ 1.0", "+ 2.0"))
    other, x = loaded(twin), first.np.full(2, 3.0)
    other.double(x)
    assert (x == 11.0).all() and other.KERNELS.folder != first.KERNELS.folder


def test_a_kernel_of_a_file_that_is_no_source_is_refused(place):
    """A change of that file would leave the set's name, and old code would run."""
    with pytest.raises(ValueError, match="not a source"):
        Kernels("trial", []).compiled(loaded(place).double.py_func)


def test_entries_are_read_and_written_under_the_lock(place):
    trial = loaded(place)
    folder = trial.KERNELS.folder
    x = trial.np.full(2, 3.0)
    with filelock.FileLock(folder / "entries.lock"):
        thread = threading.Thread(target=trial.double, args=(x,))
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        assert not list(folder.rglob("*.nb[ic]"))
    thread.join()
    assert (x == 10.0).all()
    assert len(list(folder.rglob("*.nbc"))) == 1


@pytest.mark.slow
def test_many_processes_compile_for_two_dtypes_at_once(place):
    """Without the lock one of them may be handed the code of the other dtype."""
    for _ in range(2):  # the second time from what the first has written
        runs = [
            subprocess.Popen([sys.executable, str(place), kind])
            for kind in ("float64", "complex128", "float64", "complex128")
        ]
        assert [run.wait() for run in runs] == [0, 0, 0, 0]


def test_a_set_is_compiled_once_and_told_done(place):
    trial = loaded(place)
    trial.KERNELS.ensure("float64", lambda: trial.double(trial.np.zeros(0)))
    assert (trial.KERNELS.folder / "float64.done").exists()
    again = loaded(place)
    again.KERNELS.ensure("float64", lambda: again.double(again.np.zeros(0)))
    assert sum(again.double.stats.cache_hits.values()) == 1


def test_code_for_another_processor_is_another_set(place, monkeypatch):
    """numba compiles for the one that it is told; object files of both would have one name."""
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    host = Kernels("trial", [place]).folder
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert Kernels("trial", [place]).folder != host


def test_folders_of_other_versions_go_when_nobody_has_used_them_for_long(place):
    root = Kernels("trial", [place]).folder.parent
    for age, name in ((UNUSED + 1.0, "trial-old"), (UNUSED - 1.0, "trial-new"), (99.0, "other-x")):
        (root / name).mkdir(parents=True)
        mark = root / name / "float64.done"
        mark.touch()
        os.utime(mark, (time.time() - age * 86400.0,) * 2)
    trial = loaded(place)
    trial.KERNELS.ensure("float64", lambda: trial.double(trial.np.zeros(0)))
    names = {folder.name for folder in root.iterdir()}
    assert "trial-old" not in names
    assert {"trial-new", "other-x", trial.KERNELS.folder.name} <= names


FACTORY = """
import sys
from pathlib import Path
import numpy as np
from vbg.plumbing.kernels.compiled import Kernels

KERNELS = Kernels("factory", [Path(__file__)])

def power_kernel(n):
    def kernel(x):
        for i in range(len(x)):
            x[i] = x[i] ** n
    return KERNELS.compiled(kernel)

kernels = {"2": power_kernel(2), "3": power_kernel(3)}

if __name__ == "__main__":
    for n in sys.argv[1:]:
        x = np.full(2, 2.0)
        kernels[n](x)
        assert (x == 2.0 ** int(n)).all(), (n, x)
"""


@pytest.mark.slow
def test_kernels_of_one_factory_keep_apart_though_other_processes_compiled_them(tmp_path, place):
    """As after a first run that was stopped while it compiled."""
    file = tmp_path / "factory.py"
    file.write_text(FACTORY)
    for powers in (["2"], ["3"], ["2", "3"], ["3", "2"]):
        assert subprocess.run([sys.executable, str(file), *powers]).returncode == 0, powers
    names = {kernel.py_func.__qualname__ for kernel in loaded(file).kernels.values()}
    assert len(names) == 2


def test_what_was_left_half_compiled_is_compiled_by_one_process(place):
    trial = loaded(place)
    trial.double(trial.np.zeros(0))  # a process that came to no "done"
    again = loaded(place)
    again.KERNELS.ensure("float64", lambda: again.double(again.np.zeros(0)))
    assert sum(again.double.stats.cache_hits.values()) == 0


def test_a_folder_that_cannot_be_made_costs_the_cache_and_not_the_run(place, capsys):
    trial = loaded(place)
    trial.KERNELS.folder.parent.mkdir(parents=True, exist_ok=True)
    trial.KERNELS.folder.write_text("a file in its place")
    x = trial.np.full(2, 3.0)
    trial.KERNELS.ensure("float64", lambda: trial.double(trial.np.zeros(0)))
    trial.double(x)
    assert (x == 10.0).all()
    assert "Compiled kernels are not kept." in capsys.readouterr().err
