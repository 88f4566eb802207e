"""What the shell offers after `vbg completion`."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from vbg.cli.main import main

bash_only = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.fixture
def offered(tmp_path, capsys):
    """The completions that bash offers for the last of the words."""
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "vbg.bash"
    script.write_text(capsys.readouterr().out)

    def complete(*words):
        listed = " ".join(f"'{word}'" for word in ("vbg", *words))
        command = (
            f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _vbg; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stderr == ""
        return done.stdout.split()

    (tmp_path / "crank.toml").write_text("")
    return complete


@bash_only
def test_verbs_views_options_choices_names_and_files(offered):
    assert {"run", "check", "show"} <= set(offered(""))
    assert offered("show", "gra") == ["graph"]
    assert offered("run", "crank.toml", "--t-") == ["--t-end"]
    assert offered("run", "--solver", "") == [
        "vbg",
        "mstmm",
        "pinocchio",
        "mujoco",
        "exudyn",
        "drake",
    ]
    assert offered("parts", "revol") == ["revolute"]
    assert offered("parts", "gro") == ["ground"]
    assert offered("new", "slider") == ["slider-crank"]
    assert offered("run", "cra") == ["crank.toml"]
    assert offered("show", "graph", "cra") == ["crank.toml"]


def test_the_other_shells_get_the_same_words(capsys):
    main(["completion", "zsh"])
    zsh = capsys.readouterr().out
    assert "bashcompinit" in zsh and "complete -o filenames -F _vbg vbg" in zsh
    main(["completion", "fish"])
    fish = capsys.readouterr().out
    assert "complete -c vbg -n '__fish_seen_subcommand_from run' -l t-end" in fish
    assert "-l solver -xa 'vbg mstmm pinocchio mujoco exudyn drake'" in fish
