"""The document: edits keep the user's text, undo and the journal lose nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tail import tail
from vbg.edit import source
from vbg.edit.commands import (
    AddTable,
    Remove,
    Rename,
    ReplaceText,
    SetValue,
    from_plain,
    to_plain,
)
from vbg.errors import UsageError
from vbg.tui.content.model import references, values
from vbg.tui.session.kept import files, journal, recovery
from vbg.tui.session.kept.document import Document

TEXT = '''# my machine
vbg = 1
name = "x" # the name

# lengths
[parameters]
L = 0.3  # m
d = { value = 3, unit = "mm" }

# the rod
[bodies.rod]
mass = "2 kg"   # weighed
note = """
[not.a.header]
"""
points = { A = [0,0,
  1] }

[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]

# drive
[forces.s]
kind = "spring"
on = "joints.hinge"
k = "2*L"
'''


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def at(data, path):
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("bodies", "rod", "mass"), 2.5),
        (("bodies", "rod", "points", "B"), [1, 0, "L"]),
        (("joints", "hinge", "initial", "angle"), "45 deg"),
        (("joints", "hinge", "axis", 1), -1),
        (("joints", "hinge", "drive"), "s1"),
        (("parameters", "d", "value"), 4),
        (("parameters", "new"), "2*L"),
        (("name",), "y"),
        (("gravity",), [0, 0, -9.81]),
        (("simulate", "t_end"), 2.0),
        (("bodies", "rod", "shape", "density"), 1.0),
    ],
)
def test_an_edit_changes_its_value_and_no_other_line(path, value):
    changed = source.with_value(TEXT, path, value)
    assert at(tomllib.loads(changed), path) == value
    kept = [line for line in TEXT.splitlines() if line in changed.splitlines()]
    assert len(kept) >= len(TEXT.splitlines()) - 1
    for comment in ("# my machine", "# the name", "# lengths", "# m", "# weighed", "# drive"):
        assert comment in changed


def test_tables_are_found_in_spite_of_strings_and_lists():
    found = source.chunks(TEXT)
    assert [chunk.keys for chunk in found] == [
        (),
        ("parameters",),
        ("bodies", "rod"),
        ("joints", "hinge"),
        ("forces", "s"),
    ]
    assert "".join(TEXT[c.start : c.stop] for c in found) == TEXT
    assert TEXT.splitlines()[source.line_of(TEXT, ("joints", "hinge", "axis")) - 1].startswith(
        "axis"
    )


def test_removing_and_adding_a_table():
    values_of = {"kind": "spring", "on": "joints.hinge", "k": 3.0}
    added = source.with_table(TEXT, ("joints", "a b"), values_of)
    assert tomllib.loads(added)["joints"]["a b"] == values_of
    assert added.index('[joints."a b"]') < added.index("[forces.s]")
    removed = source.without_value(added, ("joints", "a b"))
    assert tomllib.loads(removed) == tomllib.loads(TEXT)
    assert "# the rod" not in source.without_value(TEXT, ("bodies", "rod"))


LEAF = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(min_size=1, max_size=12),
)
NAME = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
VALUE = st.recursive(
    LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAME, inner, max_size=3)),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(VALUE)
def test_a_value_shown_in_a_field_reads_back_as_itself(value):
    assert values.typed(values.shown(value)) == value


@pytest.mark.parametrize("text", ["[1, 2", "{ a = 1", "[1,,2]", '"abc', "[1] 2", "{ 1 }"])
def test_wrong_brackets_are_refused_with_their_column(text):
    with pytest.raises(UsageError, match=r"col \d+"):
        values.typed(text)


COMMANDS = [
    SetValue(("bodies", "rod", "mass"), 3.0, "set mass"),
    AddTable(("bodies", "bar"), {"mass": 1}, "add bar"),
    Rename(("bodies", "rod"), "stick", ((("joints", "hinge", "between", 1), "stick.A"),), "rename"),
    Remove((("bodies", "bar"), ("forces", "s")), "delete"),
    ReplaceText(TEXT + "\n# more\n", "reload"),
]


def test_undo_and_redo_pass_through_the_same_texts():
    document = Document.opened(None, TEXT)
    texts = [TEXT]
    for command in COMMANDS:
        document.apply(command)
        texts.append(document.now.text)
    for expected in reversed(texts[:-1]):
        assert document.undo()
        assert document.now.text == expected
    assert not document.undo() and not document.dirty
    for expected in texts[1:]:
        assert document.redo()
        assert document.now.text == expected
    document.undo()
    document.apply(COMMANDS[0])
    assert not document.redo_label


def test_commands_survive_the_way_through_json():
    for command in COMMANDS:
        assert from_plain(to_plain(command)) == command
    with pytest.raises(UsageError):
        from_plain({"do": "format the disk"})


def test_an_edit_that_the_text_cannot_take_changes_nothing():
    document = Document.opened(None, TEXT.replace("[bodies.rod]", "[bodies.rod]\nmass = = 1"))
    assert document.now.broken is not None and document.now.broken.line == 12
    before = document.now
    with pytest.raises(UsageError):
        document.apply(COMMANDS[0])
    assert document.now is before


def test_renaming_follows_the_references():
    data = tomllib.loads(TEXT)
    assert references.users_of(data, ("bodies", "rod")) == (("joints", "hinge", "between", 1),)
    assert references.users_of(data, ("joints", "hinge")) == (("forces", "s", "on"),)
    changed = dict(references.renamed(data, ("joints", "hinge"), "pin"))
    assert changed == {("forces", "s", "on"): "joints.pin"}
    assert dict(references.renamed(data, ("parameters", "L"), "len")) == {
        ("forces", "s", "k"): "2*len"
    }


def test_saving_is_whole_or_not_at_all(tmp_path):
    file = tmp_path / "m.toml"
    file.write_text("old")
    file.chmod(0o640)
    (tmp_path / "link.toml").symlink_to(file)
    files.save(tmp_path / "link.toml", "new", keep_old=True)
    assert file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link.toml").is_symlink()
    assert (tmp_path / "m.toml.bak").read_text() == "old"
    with pytest.raises(OSError):
        files.save(tmp_path / "missing" / "m.toml", "new", keep_old=False)
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [
        "link.toml",
        "m.toml",
        "m.toml.bak",
    ]


def test_a_journal_that_cannot_be_replayed_is_met_three_times_and_kept(tmp_path):
    model = tmp_path / "m.toml"
    model.write_text(TEXT)
    opened = journal.Journal.start(model, TEXT)
    opened.note(
        {"do": "set", "path": ["bodies", "rod", "points", "A", "x"], "value": 1, "label": "?"}
    )
    opened.close()
    for _ in range(recovery.TRIES):
        (found,) = recovery.abandoned(model)
        with pytest.raises(UsageError):
            recovery.replay(found)
    assert recovery.abandoned(model) == ()
    assert found.file.exists()


def test_a_journal_that_was_not_answered_is_offered_again(tmp_path):
    """Left with Esc it is as new; killed while it was offered, it is offered again."""
    model = tmp_path / "m.toml"
    left = journal.Journal.start(model, TEXT)
    left.command(COMMANDS[0])
    left.close()
    for _ in range(2 * recovery.TRIES):
        (found,) = recovery.abandoned(model)
        assert found.unsaved == 1
        found.keep()
    assert len(recovery.abandoned(model)) == 1
    assert len(recovery.abandoned(model)) == 1, "as after a kill: nobody kept or dropped it"


def test_saved_under_another_name_the_journal_is_that_files(tmp_path):
    """And it counts what is unsaved since then, not what was ever done."""
    old, new = tmp_path / "m.toml", tmp_path / "n.toml"
    document = Document.opened(old, TEXT, journal.Journal.start(old, TEXT))
    for command in COMMANDS[:2]:
        document.apply(command)
    files.save(new, document.now.text, keep_old=False)
    document.mark_saved(new)
    document.undo()
    assert document.unsaved == 1
    document.journal.close()
    assert recovery.abandoned(old) == ()
    (found,) = recovery.abandoned(new)
    assert found.unsaved == 1 and found.model == str(new)
    back = recovery.replay(found)
    assert back.file == new and back.now.text == document.now.text and back.dirty


def test_a_journal_in_use_and_one_without_edits_are_left_alone(tmp_path):
    model = tmp_path / "m.toml"
    held = journal.Journal.start(model, TEXT)
    held.command(COMMANDS[0])
    assert recovery.abandoned(model) == ()
    held.close()
    other = tmp_path / "other.toml"
    journal.Journal.start(other, TEXT).close()
    assert recovery.abandoned(other) == ()
    assert len(recovery.abandoned(model)) == 1


SCRIPT = """
import sys
from pathlib import Path
from vbg.tui.session.kept import files
from vbg.edit.commands import SetValue
from vbg.tui.session.kept.document import Document
from vbg.tui.session.kept.journal import Journal
model = Path(sys.argv[1])
text = model.read_text()
document = Document.opened(model, text, Journal.start(model, text))
number = 0
while True:
    number += 1
    document.apply(SetValue(("parameters", "L"), number, f"set L {number}"))
    print(number, flush=True)
    if number % 7 == 0:
        files.save(model, document.now.text, keep_old=False)
        document.mark_saved(model)
    if number % 5 == 0:
        document.undo()
        document.redo()
"""


@pytest.mark.parametrize("moments", tail([8, 50], 1))
def test_killed_at_any_moment_no_edit_is_lost(tmp_path, moments):
    """Every edit that was told is in the file or in the journal; the file is always whole."""
    generator = random.Random(5)
    root = Path(__file__).absolute().parents[3]
    for trial in range(moments):
        model = tmp_path / f"m{trial}.toml"
        model.write_text(TEXT)
        child = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(model)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(root)},
        )
        assert child.stdout is not None
        first = int(child.stdout.readline())
        time.sleep(generator.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        told = [first, *(int(line) for line in child.stdout.read().split("\n")[:-1])]
        child.wait()
        on_disk = tomllib.loads(model.read_text())["parameters"]["L"]
        assert on_disk == 0.3 or on_disk % 7 == 0
        whole = TEXT if on_disk == 0.3 else source.with_value(TEXT, ("parameters", "L"), on_disk)
        assert model.read_text() == whole
        found = recovery.abandoned(model)
        known = recovery.replay(found[0]).now.data["parameters"]["L"] if found else on_disk
        undone = told[-1] % 5 == 0  # it may have ended between its undo and its redo
        assert known >= told[-1] - undone, (known, told[-1], on_disk)


def test_new_entries_of_a_line_are_spaced_and_the_others_keep_their_spelling():
    text = "[a]\npoints = {A=[1e-3,0], } # two\nempty = {}\nb = 1\n".replace(", }", " }")
    text = source.with_value(text, ("a", "points", "B"), ["L/2", 0])
    text = source.with_value(text, ("a", "empty", "x"), {"y": 1, "z w": "t"})
    assert text == (
        '[a]\npoints = {A=[1e-3,0], B = ["L/2", 0] } # two\n'
        'empty = { x = { y = 1, "z w" = "t" } }\nb = 1\n'
    )
