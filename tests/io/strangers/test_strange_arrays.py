"""Matrices of strangers: .npy files that are not what numpy.save writes of real numbers are
refused in one sentence, before anything that they claim is allocated, and none is unpickled."""

from __future__ import annotations

import io
import os
import pickle
import tracemalloc

import numpy as np
import pytest

from tests.laws.meshes import frame
from vbg.errors import ModelError
from vbg.io import toml
from vbg.model.text.npy import read_npy

M, K, X = frame(3, 1.0)
N = len(M)
MODEL = """vbg = 1
[bodies.arm]
flexible = {{ M = "{M}", K = "{K}", nodes = "{X}", points = {{ {points} }}, modes = 2 }}
"""


class _Opener:
    """What makes a file if it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def saved(array, pickled=False) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def raw(header: str, content: bytes = b"", version=b"\x01\x00") -> bytes:
    length = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + length + header.encode("latin-1") + content


def claimed(shape: str, kind="'<f8'") -> bytes:
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n"
    return raw(header, M.tobytes())


def zipped() -> bytes:
    out = io.BytesIO()
    np.savez(out, M=M)
    return out.getvalue()


ATTACKS = {
    "a million squared": claimed("(1000000, 1000000)"),
    "a product that overflows": claimed("(4294967296, 4294967296, 16)"),
    "negative": claimed(f"(-{N}, -{N})"),
    "negative once": claimed(f"(-1, {N})"),
    "true": claimed("(True, True)"),
    "a power": claimed("(10**30, 1)"),
    "digits": claimed("(" + "9" * 5000 + ", 1)"),
    "a list": claimed(f"[{N}, {N}]"),
    "kinds in lists": claimed(f"({N}, {N})", "[" * 400 + "]" * 400),
    "kinds in rows": claimed(f"({N},)", f"('<f8', ({N},))"),
    "bytes": claimed(f"({N}, {N})", "'|V8'"),
    "objects": claimed(f"({N}, {N})", "'|O'"),
    "brackets": raw("(" * 900),
    "more brackets": raw("(" * 60_000),
    "code": raw("__import__('os').getpid()"),
    "half a header": raw("{'descr': '<f8', "),
    "other words": raw("{'descr': '<f8', 'shape': (1, 1)}"),
    "a header of 4 GB": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
    "version 9": raw("{}", version=b"\x09\x00"),
    "nothing": b"",
    "its first letters": b"\x93NUMPY",
    "cut off": saved(M)[:-8],
    "more behind it": saved(M) + b"\0",
    "an archive": zipped(),
    "structures": saved(np.zeros((N, N), [("a", "f8"), ("b", "f8")])),
    "complex numbers": saved(M + 0j),
    "truths": saved(M > 0),
    "texts": saved(np.full((N, N), "a")),
    "times": saved(np.zeros((N, N), "M8[s]")),
    "one dimension": saved(M.ravel()),
    "three dimensions": saved(M[None]),
    "no dimension": saved(np.float64(1.0)),
    "no entries": saved(np.zeros((0, 0))),
    "NaN": saved(np.where(np.eye(N) > 0, np.nan, M)),
    "infinity": saved(M + np.inf),
    "beyond all machines": saved(M * 1e308),
    "not square": saved(M[1:]),
    "another size": saved(M[1:, 1:]),
    "not symmetric": saved(M + np.triu(np.ones((N, N)), 1)),
    "negative numbers": saved(-M),
    "zeros": saved(0.0 * M),
}


def told_of(tmp_path, points="A = 0", **written) -> str:
    """What the model with these matrices is refused with, and that it costs nothing."""
    for name, array in (("M", M), ("K", K), ("X", X)):
        np.save(tmp_path / f"{name}.npy", array)
    files = {"M": "M.npy", "K": "K.npy", "X": "X.npy"} | written
    (tmp_path / "m.toml").write_text(MODEL.format(points=points, **files))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as error:
            toml.read(tmp_path / "m.toml")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000_000
    told = str(error.value)
    assert told.replace("\n", "").isprintable() and len(told) < 1000, told
    assert "allow_pickle" not in told
    return told


@pytest.mark.parametrize("place", ["M", "K", "X"])
@pytest.mark.parametrize("what", ATTACKS)
def test_a_strange_array_is_refused(what, place, tmp_path):
    (tmp_path / "evil.npy").write_bytes(ATTACKS[what])
    assert "bodies.arm.flexible" in told_of(tmp_path, **{place: "evil.npy"})


@pytest.mark.parametrize("wrapped", [False, True])
def test_nothing_is_unpickled(wrapped, tmp_path):
    made = _Opener(tmp_path / "made")
    content = saved(np.array([[made]], dtype=object), True) if wrapped else pickle.dumps(made)
    (tmp_path / "evil.npy").write_bytes(content)
    told_of(tmp_path, M="evil.npy")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["pipe.npy", "link.npy", "folder", "/dev/zero", "../M.npy", ""])
def test_only_files_of_the_models_folder_are_opened(name, tmp_path):
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "link.npy").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    assert "flexible.M" in told_of(tmp_path, M=name)


@pytest.mark.parametrize("name", ["a.b", "", "a\\u001b[2J", "a b", "\\u202e"])
def test_points_have_names_of_points(name, tmp_path):
    assert "cannot name a point" in told_of(tmp_path, points=f'"{name}" = 0')


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "|u1", "<i8", ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_all_real_kinds_are_read(kind, order, tmp_path):
    table = np.array([[1, 2, 3], [4, 5, 60]], dtype=kind, order=order)
    np.save(tmp_path / "a.npy", table)
    found = read_npy(str(tmp_path / "a.npy"), 3)
    assert found.dtype == float and (found == table).all()
