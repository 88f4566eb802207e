"""Fixes: each is tried before it is offered, keeps the rest of the text, and mends what it says."""

from __future__ import annotations

import random
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vbg.edit.fixes import fixes, mended, problems_in
from vbg.edit.mechanism import start_problems
from vbg.edit.source import with_key
from vbg.errors import Problem

ROOT = Path(__file__).absolute().parents[2]
GOOD = """\
vbg = 1
name = "pendulum"

[parameters]
length = 0.5   # metres

[bodies.rod]
mass = 1.0   # without the pin
inertia = { xx = 1e-3, yy = "length**2/12", zz = "length**2/12" }
points = { upper = ["-length/2", 0, 0], lower = ["length/2", 0, 0] }

# the only joint
[joints.hinge]
kind = "revolute"
between = ["ground", "rod.upper"]
axis = [0, 1, 0]

[forces.spring]
kind = "spring"
between = ["ground", "rod.lower"]
k = 30
length = "2 cm"

[simulate]
t_end = 2.0
output_step = 0.01
"""
CIRCUIT = """\
vbg = 1
name = "circuit"

[electric.U]
kind = "voltage_source"
nodes = ["plus", "minus"]
voltage = 10

[electric.R]
kind = "resistor"
nodes = ["plus", "minus"]
R = 5
"""
# words of the good model that only one thing can be meant by
WORDS = ("mass", "inertia", "points", "revolute", "between", "axis", "simulate", "output_step")


def slip(word: str, generator: random.Random) -> str:
    """`word` with a letter doubled, left out, or two exchanged."""
    at = generator.randrange(1, len(word) - 1)
    return generator.choice(
        (
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )


def test_the_models_are_good():
    assert not problems_in(GOOD, "a.toml")


@pytest.mark.parametrize("seed", range(12))
def test_slips_of_the_pen_are_mended_and_all_else_stays(seed):
    """One to three words misspelled at random: the text is the good one again, byte by byte."""
    generator = random.Random(seed)
    text = GOOD
    for word in generator.sample(WORDS, generator.randint(1, 3)):
        wrong = slip(word, generator)
        if wrong not in (word, *WORDS):
            text = text.replace(word, wrong, 1)
    better, done = mended(text, "a.toml")
    assert better == GOOD, (text, done)
    assert bool(done) == (text != GOOD)


def test_keys_beside_the_table_that_they_belong_into_are_moved_into_it():
    text = (ROOT / "tests/bad_models/keys_beside_their_table.toml").read_text("utf-8")
    better, done = mended(text, "a.toml")
    pin = tomllib.loads(better)["joints"]["pin"]
    assert pin["initial"] == {"angle": "5 deg"}
    assert pin["stop"] == {"lower": "-80 deg", "k": 100, "upper": "80 deg"}
    assert not {"angle", "upper"} & {*pin} and len(done) == 2
    assert not [p for p in problems_in(better, "a.toml") if p.severity == "error"]


def test_a_choice_is_offered_and_not_made():
    """Two points there are: which one is meant is the engineer's to say."""
    # without free length: at a hinge in the ground's origin it would push nowhere
    text = GOOD.replace('"rod.upper"', '"rod.x"').replace('length = "2 cm"', "length = 0")
    assert mended(text, "a.toml") == (text, ())
    (problem,) = (p for p in problems_in(text, "a.toml") if p.severity == "error")
    found = fixes(problem, text, tomllib.loads(text))
    assert [f.commands[0].value for f in found] == ["rod.upper", "rod.lower"]
    for fix in found:
        after = problems_in(fix.as_one(text).change_text(text), "a.toml")
        assert not [p for p in after if p.severity == "error"]


def test_a_floating_circuit_is_grounded_at_either_end():
    (problem,) = (p for p in problems_in(CIRCUIT, "c.toml") if p.severity == "error")
    found = fixes(problem, CIRCUIT, tomllib.loads(CIRCUIT))
    assert [f.label for f in found] == ["name node minus gnd", "name node plus gnd"]
    for fix in found:
        after = fix.as_one(CIRCUIT).change_text(CIRCUIT)
        assert not [p for p in problems_in(after, "c.toml") if p.severity == "error"]


def test_what_nothing_uses_can_be_taken_out():
    text = GOOD.replace("[bodies.rod]", "spare = 3\n\n[bodies.rod]")
    (note,) = problems_in(text, "a.toml")
    (fix,) = fixes(note, text, tomllib.loads(text))
    assert tomllib.loads(fix.as_one(text).change_text(text)) == tomllib.loads(GOOD)


# What only the engineer can say: a number, a unit's sense, which of many kinds; or what no edit
# of the file mends.
_ENGINEERS = """\
axis_of_two beam_thinner_than_rounding bushing_not_symmetric constant_of_output
constant_of_time damper_on_spherical density_of_some description_number drive_in_metres
euler_sequence
expression_code expression_divides_by_zero expression_root_of_negative expression_too_large
expression_unfinished force_of_two function_unknown gear_with_itself gravity_in_metres
gravity_of_two ground_to_ground inertia_incomplete inertia_missing inertia_not_positive
inertia_triangle kind_missing many_at_once mass_date mass_infinite mass_missing mass_nan
mass_true name_with_dot newer_format parameter_circle parameter_of_other_dimension
part_not_a_table rotation_of_both_kinds shape_size_missing shape_two_at_once
spring_unit_of_other_motion spring_without_ends three_ends torque_of_three_on_joint
unit_of_other_dimension unknown_table_far zero_mass_from_expression
"""


def _same(one: Problem, other: Problem) -> bool:
    """Whether both say the same; of mistakes of syntax, which have one name, on the same line."""
    line = one.line == other.line or one.where != "file"
    return line and (one.where, one.what) == (other.where, other.what)


def test_every_problem_has_a_fix_or_is_the_engineers():
    """All bad models on record: each fix that is offered is tried here, too; nothing else changes
    than what it says."""
    left = set()
    for file in sorted((ROOT / "tests" / "bad_models").glob("*.toml")):
        text = file.read_text("utf-8")
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            data = {}
        for problem in problems_in(text, str(file)):
            found = fixes(problem, text, data, str(file))
            if not found and (data or problem.where == "file"):
                left.add(file.stem)
            for fix in found:
                command = fix.as_one(text)
                after = command.change_text(text)
                same = [p for p in problems_in(after, str(file)) if _same(p, problem)]
                assert not same, (file.stem, fix.label)
                changed = set(after.splitlines()) ^ set(text.splitlines())
                assert 0 < len(changed) <= 12, (file.stem, fix.label)
    assert left == set(_ENGINEERS.split())


@pytest.mark.parametrize(
    ("line", "path", "better"),
    [
        ("s = { cylindre = { cylindre = 1 }, d = 2 } # c", ("t", "s", "cylindre"),
         "s = { cylinder = { cylindre = 1 }, d = 2 } # c"),
        ("s = { d = { cylindre = 1 }, cylindre = 2 }", ("t", "s", "cylindre"),
         "s = { d = { cylindre = 1 }, cylinder = 2 }"),
        ("s = { d = { cylindre = 1 }, e = 'cylindre = 3' }", ("t", "s", "d", "cylindre"),
         "s = { d = { cylinder = 1 }, e = 'cylindre = 3' }"),
        ("s = { 'cylindre' = 1, cylindres = 2, cylindre-x = 3 }", ("t", "s", "cylindre"),
         "s = { cylinder = 1, cylindres = 2, cylindre-x = 3 }"),
    ],
)  # fmt: skip
def test_a_key_in_a_line_is_spelled_anew_and_no_other(line, path, better):
    text = f"a = 1\n\n[t]\n{line}\nx = 2\n"
    after = with_key(text, path, "cylinder")
    assert after == text.replace(line, better)


def test_no_number_is_invented():
    """What is missing has no fix: what it should be, only the engineer knows."""
    text = GOOD.replace("k = 30\n", "").replace("mass = 1.0   # without the pin\n", "")
    assert mended(text, "a.toml") == (text, ())
    for problem in problems_in(text, "a.toml"):
        assert fixes(problem, text, tomllib.loads(text)) == ()


def test_check_fix_writes_the_file_and_keeps_the_old_one(tmp_path):
    file = tmp_path / "a.toml"
    bad = GOOD.replace("mass", "mas").replace("rod.lower", "rod.x")
    file.write_text(bad)
    command = [sys.executable, "-m", "vbg.cli", "check", "--fix", "--quick", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1, "one error is left to choose"
    assert "fixed: rename bodies.rod.mas to mass" in done.stderr
    assert "choice 2" in done.stderr
    assert file.read_text() == GOOD.replace("rod.lower", "rod.x")
    assert (tmp_path / "a.toml.bak").read_text() == bad


BARE = ("mass = 1.0", "k = 30", 'length = "2 cm"')


@pytest.mark.parametrize("seed", range(6))
def test_values_without_quotes_get_them(seed):
    """Any value with a unit, an expression, any number of them at once."""
    generator = random.Random(seed)
    text = wanted = GOOD
    for line in generator.sample(BARE, generator.randint(1, 3)):
        key = line.split(" = ")[0]
        value = generator.choice({"mass": ("3 kg", "2*length"), "k": ("30 N/m", "3e4*length")}.get(
            key, ("2 cm", "length/2")))  # fmt: skip
        text = text.replace(line, f"{key} = {value}", 1)
        wanted = wanted.replace(line, f'{key} = "{value}"', 1)
    better, done = mended(text, "a.toml")
    assert better == wanted and done, (text, done)


@pytest.mark.parametrize(
    ("old", "new", "better"),
    [
        ('name = "pendulum"', 'name = "pendulum', ['name = "pendulum"']),
        ("axis = [0, 1, 0]", "axis = [0, 1, 0", ["axis = [0, 1, 0]"]),
        ("k = 30", "k = 30\nk = 40", ["k = 30"]),
        ("points = { upper", "points = {{ upper", []),
    ],
)
def test_broken_text_is_mended_by_choice(old, new, better):
    text = GOOD.replace(old, new)
    (problem,) = (p for p in problems_in(text, "a.toml") if p.where == "file")
    found = [fix.as_one(text).change_text(text) for fix in fixes(problem, text, {}, "a.toml")]
    assert found == [GOOD.replace(old, right) for right in better]
    assert mended(text, "a.toml") == (text, ())


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ("2 + 3 mm", ["2 mm + 3 mm", "2 m + 3 mm"]),
        ("length + 0.1 mm + 3", ["length + 0.1 mm + 3 mm", "length + 0.1 mm + 3 m"]),
        ("0.2 m + 3", ["0.2 m + 3 m"]),
        ("2*length + 1 cm - 0.5", ["2*length + 1 cm - 0.5 cm", "2*length + 1 cm - 0.5 m"]),
    ],
)
def test_a_number_without_unit_gets_one_by_choice(written, better):
    text = GOOD.replace('"2 cm"', f'"{written}"')
    (problem,) = (p for p in problems_in(text, "a.toml") if p.severity == "error")
    found = fixes(problem, text, tomllib.loads(text), "a.toml")
    assert [fix.commands[0].value for fix in found] == better
    assert mended(text, "a.toml") == (text, ())


TWICE = (
    CIRCUIT.replace('"minus"', '"gnd"')
    + """
[electric.V]
kind = "voltage_source"
nodes = ["plus", "gnd"]
voltage = 12
"""
)


def test_a_voltage_that_is_fixed_twice_is_mended_as_the_graph_does():
    """What the bond graph says against a model that reads well has fixes, too, each tried."""
    assert not problems_in(TWICE, "c.toml")
    (problem,) = start_problems(TWICE, "c.toml")
    found = fixes(problem, TWICE, tomllib.loads(TWICE), "c.toml")
    labels = {fix.label for fix in found}
    assert {"delete electric.U", "delete electric.V"} <= labels
    assert any("in series" in label for label in labels)
    for fix in found:
        after = fix.as_one(TWICE).change_text(TWICE)
        assert not problems_in(after, "c.toml") and not start_problems(after, "c.toml")
