"""Parquet files, archives, encodings and texts of XML from strangers: refused in one sentence."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import vbg
from tests.io.refusals import BODY, refused
from vbg.errors import ModelError
from vbg.io.runs.results import read


def _parquet(path, columns, metadata=None):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    arrays = [pyarrow.array(values) for _, values in columns]
    table = pyarrow.Table.from_arrays(arrays, names=[name for name, _ in columns])
    if metadata is not None:
        table = table.replace_schema_metadata({b"vbg": metadata})
    parquet.write_table(table, path, compression="zstd")


TIME = ("time", [0.0, 1.0])
COLUMNAR = {
    "a list where the ending is": ([TIME], b"[]"),
    "a number where the ending is": ([TIME], b"0"),
    "half an ending": ([TIME], b'{"units": {"a": 1}}'),
    "units that are a list": ([TIME], b'{"units": [1]}'),
    "an ending nested deeply": ([TIME], b"[" * 100_000),
    "no time": ([("a", [1.0])], None),
    "time twice": ([TIME, TIME], None),
    "tables in a cell": ([TIME, ("a", [{"x": 1}, {"x": 2}])], None),
    "lists in a cell": ([TIME, ("a", [[1.0], [2.0, 3.0]])], None),
    "names that are one when shown": ([TIME, ("a\x1b", [1.0, 2.0]), (r"a\x1b", [1.0, 2.0])], None),
}


@pytest.mark.parametrize("what", COLUMNAR)
def test_a_forged_parquet_file_is_refused(what, tmp_path):
    path = tmp_path / "run.parquet"
    _parquet(path, *COLUMNAR[what])
    assert str(path) in refused(read, path)


def test_a_parquet_file_of_nothing_is_not_unpacked(tmp_path):
    path = tmp_path / "run.parquet"
    nothing = np.zeros(8_000_000)
    _parquet(path, [("time", nothing), ("a", nothing)])
    assert path.stat().st_size < 100_000
    assert "bytes of numbers" in refused(read, path)


def test_the_name_of_its_folder_is_no_column(tmp_path):
    (tmp_path / "speed=7").mkdir()
    _parquet(tmp_path / "speed=7" / "run.parquet", [TIME, ("a", [1.0, 2.0])])
    assert list(read(tmp_path / "speed=7" / "run.parquet").signals) == ["a"]


def test_a_table_that_ended_before_its_first_row_is_read_without_a_word(tmp_path, recwarn):
    path = tmp_path / "run.csv"
    path.write_text("time [s],a [m]\n")
    assert len(read(path).time) == 0 and not recwarn.list


@pytest.mark.parametrize("encoding", ["utf-7", "cp037x", "zlib", "shift_jis"])
def test_encodings_that_no_reader_of_xml_has_are_one_sentence(encoding, tmp_path):
    from vbg.fmi.description import read_description
    from vbg.io.mjcf.files import require_own_files

    text = f'<?xml version="1.0" encoding="{encoding}"?><mujoco/>'
    path = tmp_path / "m.xml"
    path.write_text(text)
    refused(lambda file: require_own_files(str(file), str(file), set()), path)
    with zipfile.ZipFile(tmp_path / "u.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", text)
    refused(lambda file: read_description(str(file)), tmp_path / "u.fmu")


def test_damaged_archives_are_one_sentence(tmp_path):
    from vbg.fmi.description import read_description

    path = tmp_path / "u.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", "<fmiModelDescription/>" * 50)
    sound = path.read_bytes()
    draw = np.random.default_rng(5)
    for _ in range(300):
        content = bytearray(sound)
        for at in draw.integers(0, len(content), 3):
            content[at] = draw.integers(256)
        path.write_bytes(content)
        refused(lambda file: read_description(str(file)), path)


def test_very_many_problems_are_counted(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        f"{BODY}\n[translational.k]\nkind = 'spring'\nk = 1\nnodes = [{'0, ' * 9000}]\n"
    )
    with pytest.raises(ModelError) as error:
        vbg.read(path)
    assert len(str(error.value).splitlines()) == 201 and "8800 more." in str(error.value)
    assert len(error.value.problems) == 9000


@pytest.mark.parametrize("closed", [True, False])
def test_elements_within_each_other_are_not_kept(closed, tmp_path):
    from vbg.fmi.description import read_description
    from vbg.io.mjcf.files import require_own_files
    from vbg.io.urdf.robot import read_robot

    text = "<a>" * 500_000 + "</a>" * (500_000 if closed else 0)
    path = tmp_path / "m.xml"
    path.write_text(text)
    with zipfile.ZipFile(tmp_path / "u.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", text)
    for reader in (
        lambda file: require_own_files(str(file), str(file), set()),
        lambda file: read_robot(file.read_text(), str(file)),
        lambda file: read_description(str(tmp_path / "u.fmu")),
    ):
        assert "nested more than 600 deep" in refused(reader, path)
