"""Every example in the page on the model file reads without a complaint."""

import re
from pathlib import Path

from vbg import expressions, units
from vbg.io import toml
from vbg.model import check

PAGE = (Path(__file__).parents[2] / "docs" / "model-file.md").read_text(encoding="utf-8")


def test_examples_read():
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        assert check(toml.parse(block)) == ()


def test_functions_and_units_are_those_there_are():
    functions = re.search(r"`(sin cos [a-z0-9 ]*)`", PAGE)[1].split()
    assert set(functions) == set(expressions.FUNCTIONS)
    listed = re.search(r"Known are (.*?)\.", PAGE, re.DOTALL)[1].split()
    assert set(listed) <= set(units.symbols())
