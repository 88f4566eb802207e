"""Every file in tests/bad_models/ is refused with exactly the messages at its end."""

from pathlib import Path

import pytest

from vbg.errors import ModelError
from vbg.io import toml

FILES = sorted((Path(__file__).parents[1] / "bad_models").glob("*.toml"))


def test_there_are_enough():
    assert len(FILES) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_refused_with_its_message(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = [line.removeprefix("# expect: ") for line in lines if line.startswith("# expect: ")]
    assert expected, "the file does not say what it expects"
    with pytest.raises(ModelError) as refused:
        toml.read(path)
    found = [str(problem).removeprefix(f"{path}:") for problem in refused.value.problems]
    assert found == expected


def test_text_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes('vbg = 1\nname = "Größe"\n'.encode("latin-1"))
    with pytest.raises(ModelError, match=r":2:1: error: file: byte 19 is not UTF-8"):
        toml.read(path)
