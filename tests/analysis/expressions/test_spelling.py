"""Equations as they are read: LaTeX names that are no products, numbers of a few digits."""

import re
from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.tail import tail
from vbg.cli.main import main

sympy = pytest.importorskip("sympy")

from vbg.analysis.symbolic.spelling import (  # noqa: E402
    DIGITS,
    latex_symbol,
    latex_symbols,
    latex_writer,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
LOOPS = ("slider-crank", "spatial-four-bar", "andrews-squeezer")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("m", "m"),
        ("L1", "L_{1}"),
        ("omega0", r"\omega_{0}"),
        ("side", r"\mathrm{side}"),
        ("twist2", r"\mathrm{twist}_{2}"),
        ("k_spring", r"k_{\mathrm{spring}}"),
        ("J_1_max", r"J_{1,\mathrm{max}}"),
        ("x1y", r"\mathrm{x1y}"),
        ("m_", r"\mathrm{m\_}"),
        ("xdot", r"\mathrm{xdot}"),
    ],
)
def test_a_parameter_of_more_than_one_letter_is_upright(name, spelled):
    assert latex_symbol(name) == spelled
    squared = latex_writer(latex_symbols([sympy.Symbol(name)]))(sympy.Symbol(name) ** 2)
    assert squared == spelled + "^{2}"


@pytest.mark.parametrize("seed", range(5))
def test_no_two_parameters_are_spelled_alike(seed):
    rng = np.random.default_rng(seed)
    letters = ["m", "a", "1", "12", "_", "_2", "side", "omega", "x"]
    names = {"".join(rng.choice(letters, size=rng.integers(1, 4))) for _ in range(200)}
    symbols = [sympy.Symbol(n) for n in names if n.isidentifier()]
    spelled = latex_symbols(symbols)
    assert len(set(spelled.values())) == len(symbols) > 50
    for text in spelled.values():  # letters side by side stand in a command or in \mathrm{}
        bare = re.sub(r"\\mathrm\{[^{}]*\}|\\[A-Za-z]+", "", text)
        assert not re.search(r"[^\W\d_]{2}", bare), text


@pytest.mark.parametrize("name", tail(LOOPS, 1))
def test_closed_loops_in_latex_have_the_equations_of_the_text(name, capsys):
    """Line by line, forces among them; no number has more digits than are meant."""
    command = ["show", "equations", str(EXAMPLES / f"{name}.toml"), "--form", "minimal", "--forces"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert main([*command, "--latex"]) == 0
    latex = capsys.readouterr().out
    equations = [line for line in text.splitlines() if " = " in line and line[0] != "#"]
    parameters = vbg.read(EXAMPLES / f"{name}.toml").document.get("parameters", {})
    assert latex.count(" &= ") == len(equations) - bool(parameters)
    assert latex.count(r"\begin{align}") == latex.count(r"\end{align}")
    assert r"\text{dependent}" in latex and r"\dot{\mathrm{" in latex
    for number in re.findall(r"(?<![\w.])\d+\.\d+", text):
        assert len(number.replace(".", "").lstrip("0")) <= DIGITS, number
    for parameter in parameters:
        if len(parameter) > 1:
            assert not re.search(rf"(?<![\\\w{{.]){parameter}(?![\w}}])", latex.split("% ")[0])


@pytest.mark.slow
def test_a_tree_that_is_long_entry_by_entry_is_written_with_common_parts(capsys):
    """Six bodies in a chain: refused in form auto, in minimal form as with its joint forces."""
    path = str(EXAMPLES / "geared-robot.toml")
    assert main(["show", "equations", path]) == 1
    capsys.readouterr()
    for options in ([], ["--latex"]):
        assert main(["show", "equations", path, "--form", "minimal", *options]) == 0
        assert "common parts" in capsys.readouterr().out


def test_numbers_of_matrices_have_no_zeros_behind(capsys):
    path = str(EXAMPLES / "ball-screw-axis.toml")
    assert main(["show", "matrices", path, "--symbolic"]) == 0
    assert not re.search(r"\.\d*00+(?![\d.])", capsys.readouterr().out.partition("lead =")[0])
