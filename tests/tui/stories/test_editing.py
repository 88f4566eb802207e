"""An engineer's stories: a model is made and mended."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.tui.conftest import CLASH
from tests.tui.stories.telling import PENDULUM, go_to, started
from tests.tui.terminal import ROOT


def test_new_from_template_in_four_keys(terminal):
    shutil.copy(ROOT / "examples" / "pendulum.toml", terminal.home / "other.toml")
    terminal.start()
    terminal.wait("New from template")
    terminal.keys("Enter")
    terminal.wait("File name")
    terminal.keys("Enter")
    terminal.wait("r runs it, ? helps")  # panes say "r runs it", too, before there is a file
    assert (terminal.home / "pendulum.toml").exists()
    terminal.keys("r")
    terminal.wait("finished at t = 2 s")
    terminal.quit()


@pytest.mark.slow
def test_a_bad_unit_stays_in_the_field(terminal):
    started(terminal)
    go_to(terminal, "rod")
    terminal.keys("Tab", "e")
    if terminal.size[0] >= 120:
        terminal.keys("Escape", "Tab", "e")
    terminal.wait("bodies.rod.mass")
    terminal.type("2 kgg")
    terminal.wait("kgg")
    terminal.keys("Enter")
    terminal.wait("Enter accepts", "bodies.rod.mass")
    terminal.keys("BSpace")
    terminal.wait_gone("kgg")
    terminal.keys("Enter")
    terminal.wait("undo: set bodies.rod.mass")
    terminal.keys("C-s")
    terminal.wait("saved demo.toml")
    text = (terminal.home / "demo.toml").read_text()
    assert 'mass = "2 kg"' in text and "# the only joint" in text and "# metres" in text
    terminal.quit()


@pytest.mark.slow
def test_add_a_joint(terminal):
    started(terminal)
    terminal.keys("a", "b")
    for expected in ("body: mass", "body: inertia", "Name of the new body"):
        terminal.wait(expected)
        terminal.keys("Enter")
    terminal.wait("undo: add bodies.body1")
    terminal.keys("a", "j")
    terminal.wait("Add a joint")
    terminal.type("coincide")
    terminal.wait("Removes 3 of 6 freedoms")
    terminal.keys("Enter")
    terminal.wait("first body and point")
    terminal.type("rod.B")
    terminal.keys("Enter")
    terminal.wait("second body and point")
    terminal.type("body1")
    terminal.keys("Enter")
    terminal.wait("Name of the new spherical")
    terminal.keys("Enter")
    terminal.wait("undo: add joints.J1")
    terminal.wait("0 errors")
    terminal.quit()


@pytest.mark.slow
def test_deleted_parts_come_back(terminal):
    text = PENDULUM + "".join(f"\n[parameters.p{i}]\nvalue = {i}\n" for i in range(5))
    started(terminal, text)
    go_to(terminal, "p0")
    terminal.keys("Escape")
    for i in range(5):
        terminal.keys("d")
        terminal.wait(f"undo: delete parameters.p{i}")
        go_to(terminal, f"p{i + 1}" if i < 4 else "L")
        terminal.keys("Escape")
    for i in reversed(range(5)):
        terminal.keys("u")
        terminal.wait(f"redo: delete parameters.p{i}")
    terminal.keys("C-q")
    terminal.wait("EXIT=0")
    assert (terminal.home / "demo.toml").read_text() == text


def test_a_conflict_is_explained_and_fixed(terminal):
    (terminal.home / "demo.toml").write_text(CLASH)
    terminal.start("demo.toml")
    terminal.wait("1 error")
    terminal.keys("w")
    terminal.wait("Why: conflict 1 of 1")
    terminal.keys("1")
    terminal.wait("Model", "1 error")  # a digit is a view, never a fix
    terminal.keys("w", "Enter")
    terminal.wait("Conflict 1 of 1")
    terminal.keys("1")
    terminal.wait("0 errors")
    terminal.wait("causal: ")
    terminal.keys("1")
    terminal.wait("Model")
    terminal.keys("u")
    terminal.wait("1 error")
    terminal.quit()


@pytest.mark.slow
def test_brackets_and_wide_names_are_only_text(terminal):
    text = PENDULUM.replace(
        '"pendulum"   # the smallest machine', '"[bold]曲柄[/bold] [red]連桿"'
    ).replace("[bodies.rod]\n", '[bodies."J[1]"]\nmass = "[N]"\n\n[bodies.rod]\n')
    (terminal.home / "a[b].toml").write_text(text, encoding="utf-8")
    terminal.start("a[b].toml")
    terminal.wait("[bold]曲柄[/bold] [red]連桿")
    terminal.wait("a[b].toml")
    terminal.wait("error")
    for key in ("Down", "]", "]", "2", "3", "4", "5", "6", "1", "?"):
        terminal.keys(key)
    terminal.wait("Help")
    terminal.keys("Escape")
    terminal.quit()


@pytest.mark.slow
def test_ten_thousand_parts(terminal):
    bodies = "".join(
        f"\n[bodies.b{i}]\nmass = 1\ninertia = {{ xx = 1, yy = 1, zz = 1 }}\n" for i in range(10000)
    )
    (terminal.home / "demo.toml").write_text(PENDULUM + bodies)
    terminal.start("demo.toml")
    terminal.wait("Bodies  10001")
    terminal.keys("G", "Up", "Up")
    terminal.wait("b9999")
    terminal.quit()


@pytest.mark.slow
def test_an_external_editor(terminal):
    script = terminal.home / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read(); open(p, 'w').write(t + '# hi')"
    )
    terminal.extra["EDITOR"] = f"{sys.executable} {script}"
    started(terminal)
    terminal.keys("C-e")
    terminal.wait("undo: edit in the editor")
    terminal.quit()


@pytest.mark.slow
def test_the_file_changes_while_edited(terminal):
    started(terminal)
    file = terminal.home / "demo.toml"
    file.write_text(PENDULUM.replace("L = 0.5", "L = 0.7"))
    terminal.wait("changed on disk: reloaded")
    go_to(terminal, "rod")
    terminal.keys("Escape", "c")
    terminal.wait("undo: copy rod")
    file.write_text(PENDULUM.replace("L = 0.5", "L = 0.9"))
    terminal.wait("was changed by another program")
    terminal.type("differ")
    terminal.keys("Enter")
    terminal.wait("-L = 0.9")
    terminal.keys("Escape")
    terminal.wait("keep mine")
    terminal.type("theirs")
    terminal.keys("Enter")
    terminal.wait("reload from disk")
    assert "L = 0.9" in file.read_text()
    terminal.keys("u")
    terminal.wait("redo: reload from disk")
    terminal.quit()
