"""`vbg parts`: every key of every table and group, what ground and gnd are, samples that run."""

from __future__ import annotations

import json
import tomllib

import pytest

import vbg
from vbg.cli.main import main
from vbg.fields import declared
from vbg.io import toml
from vbg.model import catalogue
from vbg.model.resolve.resolve import TOP_LEVEL
from vbg.model.resolve.settings import Simulate
from vbg.model.samples import machine, sample
from vbg.model.topics import ALIASES, TOPICS

KINDS = [(table, kind) for table, kinds in catalogue().items() for kind in kinds]
ALONE = [(table, kind) for table, kind in KINDS if table != "fmu"]  # samples without other files


def printed(arguments, capsys):
    capsys.readouterr()
    code = main(["parts", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(("table", "kind"), ALONE, ids=lambda name: name)
def test_the_sample_of_every_part_is_a_machine_that_runs(table, kind):
    text = machine(table, kind)
    assert sample(table, kind).partition("\n\n")[2 if "bonds" in text else 0][:20] in text
    model = toml.parse(text, f"{kind}.toml")
    assert [p for p in vbg.check(model) if p.severity != "note"] == []
    parts = [part for part in getattr(model, table).values() if getattr(part, "kind", "") == kind]
    assert parts
    solution = vbg.simulate(vbg.assemble(model), t_end=0.01, output_step=1e-5)
    assert solution.status.code == "finished", solution.status
    assert not solution.notes


@pytest.mark.parametrize(("table", "kind"), KINDS, ids=lambda name: name)
def test_a_kind_is_shown_with_all_its_keys_and_those_of_its_groups(table, kind, capsys):
    code, out, _ = printed([f"{table}.{kind}"], capsys)
    assert code == 0
    shown = [line.split()[0] for line in out.splitlines() if line.strip()]
    part = catalogue()[table][kind]
    for name, field in declared(part).items():
        assert name in shown
        for inner in declared(field.of) if field.of is not None else ():
            assert f"{name}.{inner}" in shown
    assert f'kind = "{kind}"' in out or table == "bodies"
    assert f"Source: {part.__module__.replace('.', '/')}.py" in out


def test_keys_of_groups_and_their_parts(capsys):
    code, out, _ = printed(["initial"], capsys)
    assert code == 0 and "of joints.helical, joints.revolute" in out
    for key in ("initial.angle", "initial.slide_speed", "initial.angle2", "rad/s"):
        assert key in out
    _, out, _ = printed(["drive"], capsys)
    assert "joints.prismatic" in out and "joints.revolute" in out
    _, out, _ = printed(["stop"], capsys)
    assert "stop.lower" in out and "gap" in out, "the force and the key of joints"


@pytest.mark.parametrize("name", TOPICS)
def test_topics_have_a_sample_that_reads_as_toml(name, capsys):
    topic = TOPICS[name]
    assert tomllib.loads(topic.sample)
    code, out, _ = printed([name], capsys)
    assert code == 0 and topic.text in out
    listing = printed([], capsys)[1]
    assert f"  {name} " in listing


def test_what_is_always_there_and_the_settings_are_explained(capsys):
    for name, words in {
        "ground": "does not move",
        "gnd": "0 V",
        "tank": "Pressures count from it",
        "frame": "stands still",
        "cylinder": "radius, length, axis",
        "simulate": "output_step",
        "outputs": "keep",
        "parameters": "note",
    }.items():
        code, out, _ = printed([name], capsys)
        assert code == 0 and words in out, name
    everything = printed(["simulate"], capsys)[1]
    assert all(key in everything for key in declared(Simulate))


def test_every_key_at_the_head_of_a_file_has_a_topic():
    tables = set(catalogue())
    for key in TOP_LEVEL:
        assert key in tables or key in TOPICS or key in ALIASES, key


def test_an_example_is_a_whole_file_and_names_are_unambiguous(tmp_path, capsys):
    code, out, _ = printed(["joints.gear", "--example"], capsys)
    assert code == 0
    path = tmp_path / "gear.toml"
    path.write_text(out)
    assert main(["check", str(path)]) == 0
    code, _, err = printed(["gear", "--example"], capsys)
    assert code == 2 and "joints.gear, rotational.gear" in err
    code, _, err = printed(["--example"], capsys)
    assert code == 2 and "needs a kind" in err


def test_a_wrong_name_is_answered_with_the_nearest(capsys):
    for wrong, right in (("grund", "ground"), ("revolut", "revolute"), ("inital", "initial")):
        code, _, err = printed([wrong], capsys)
        assert code == 2 and f"Did you mean '{right}'?" in err


def test_facts_are_json_too(capsys):
    answers = [json.loads(line) for line in printed(["tank", "--json"], capsys)[1].splitlines()]
    assert [answer.get("kind", answer.get("topic")) for answer in answers] == ["tank", "tank"]
    (answer,) = [json.loads(line) for line in printed(["drive", "--json"], capsys)[1].splitlines()]
    assert {user["part"] for user in answer["of"]} == {
        "joints.guide",
        "joints.helical",
        "joints.prismatic",
        "joints.revolute",
    }
