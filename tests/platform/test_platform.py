"""Files whole or not at all, one writer, folders of one's own, output nobody can break."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vbg.errors import Problem, UsageError, VbgError
from vbg.platform import folders
from vbg.platform.files import replacing, write_text
from vbg.platform.locks import Hold, OneWriter, one_writer
from vbg.platform.processes import end_tree, is_alive
from vbg.platform.text import escaped


def names(folder):
    return sorted(file.name for file in folder.iterdir())


# --- files


def test_a_file_that_could_not_be_written_is_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    for error in (OSError(28, "No space left on device"), RuntimeError(), KeyboardInterrupt()):
        with pytest.raises((VbgError, RuntimeError, KeyboardInterrupt)), replacing(path) as part:
            part.write_text("half")
            raise error
        assert path.read_text() == "old"
        assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_no_misuse_and_a_missing_folder_is(tmp_path):
    with pytest.raises(VbgError, match="No space") as error, replacing(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert not isinstance(error.value, UsageError)
    with pytest.raises(UsageError, match="No such file"):
        write_text(tmp_path / "none" / "a", "x")


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    """As root, a file renamed to /dev/null would take its place."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(UsageError, match="cannot be written: it is a"):
            write_text(tmp_path / name, "x")
    assert stat.S_ISFIFO(os.stat(tmp_path / "link").st_mode)
    assert {file.name for file in tmp_path.iterdir()} == {"pipe", "link", "folder"}


def test_permissions_and_links_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


KILLED = """
import os, signal, sys
from vbg.platform.files import replacing
with replacing(sys.argv[1]) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_kill_leaves_goes_with_the_next_writing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.read_text() == "old" and len(names(tmp_path)) == 2
    write_text(path, "new")
    assert path.read_text() == "new" and names(tmp_path) == ["a.txt"]


# --- locks

HOLDER = """
import sys, time
from vbg.platform.locks import OneWriter
writer = OneWriter(sys.argv[1])
writer.take()
print("held", flush=True)
time.sleep(60)
"""


def test_the_second_writer_is_told_the_first(tmp_path):
    path = tmp_path / "run.h5"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=rf"process {child.pid} on \S+ \(since"):
            OneWriter(path).take()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    with one_writer(path):  # a killed one hinders nobody
        pass
    assert names(tmp_path) == []


def test_a_lock_is_free_after_it_was_given_back(tmp_path):
    first, second = Hold(tmp_path / "j"), Hold(tmp_path / "j")
    assert first.take() and not second.take()
    first.give_back()
    assert second.take()
    second.give_back()
    assert names(tmp_path) == []


# --- folders


def test_a_new_folder_is_the_users_own(tmp_path):
    assert folders.is_private(tmp_path / "new" / "cache")
    assert stat.S_IMODE((tmp_path / "new" / "cache").stat().st_mode) == 0o700


def test_a_folder_that_others_can_read_is_closed_and_one_they_can_write_refused(tmp_path):
    readable, writable = tmp_path / "readable", tmp_path / "writable"
    readable.mkdir()
    readable.chmod(0o755)
    writable.mkdir()
    writable.chmod(0o777)
    assert folders.is_private(readable)
    assert stat.S_IMODE(readable.stat().st_mode) == 0o700
    assert not folders.is_private(writable)


def test_a_link_is_no_folder_of_ones_own(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert not folders.is_private(tmp_path / "link")


def test_a_folder_where_others_can_put_another_is_refused(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    assert not folders.is_private(tmp_path / "shared" / "cache")
    (tmp_path / "shared").chmod(0o1777)  # sticky, as /tmp
    assert folders.is_private(tmp_path / "shared" / "mine")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give away")
def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o700)
    os.chown(tmp_path / "theirs", 12345, 12345)
    assert not folders.is_private(tmp_path / "theirs")


def test_without_a_home_there_is_a_temporary_folder():
    code = (
        "import pwd\ndef unknown(*_): raise KeyError\npwd.getpwuid = unknown\n"
        "from vbg.platform import folders as f; print(f.cache_folder(), f.state_folder())"
    )
    kept = {k: v for k, v in os.environ.items() if k != "HOME" and not k.startswith("XDG_")}
    said = subprocess.run(
        [sys.executable, "-c", code], env=kept, capture_output=True, text=True, check=True
    )
    for folder in said.stdout.split():
        assert os.path.isabs(folder)


# --- text


def test_controls_are_shown_as_what_they_are():
    assert escaped("a\x1b[31m\u202e\ud800\x9b\tb\n") == r"a\x1b[31m\u202e\ud800\x9b" + "\tb\n"
    problem = Problem("error", "bodies.\x1b[2J", "what\x07", file="a\rb")
    assert str(problem).isprintable()
    assert str(VbgError("\x1b[2J")).isprintable()


# --- processes

FAMILY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_process_ends_with_what_it_started():
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_alive(child)
    end_tree(parent.pid, kill=True)
    assert parent.wait() == -signal.SIGKILL
    parent.stdout.close()
    for _ in range(100):
        if not is_alive(child):
            break
        time.sleep(0.05)
    assert not is_alive(child)
    end_tree(parent.pid, kill=True)  # twice is no error


# --- streams


def vbg(arguments, **how):
    return subprocess.run(
        [sys.executable, "-m", "vbg.cli", *arguments], stderr=subprocess.PIPE, text=True, **how
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_a_full_device_is_one_sentence():
    with open("/dev/full", "w") as full:
        said = vbg(["parts", "--json"], stdout=full)
    assert said.returncode == 1
    assert said.stderr == "vbg: standard output: cannot be written: No space left on device.\n"


@pytest.mark.slow
def test_closed_streams_are_no_traceback(tmp_path):
    shell = f"{sys.executable} -m vbg.cli parts revolute"
    for closed, said in ((">&-", "standard output"), ("2>&-", ""), ("<&-", "")):
        ran = subprocess.run(["sh", "-c", f"{shell} {closed}"], capture_output=True, text=True)
        assert ran.returncode == (1 if said else 0)
        assert said in ran.stderr and "Traceback" not in ran.stderr


def test_the_exit_code_does_not_hang_on_the_reader(tmp_path):
    (tmp_path / "bad.toml").write_text("vbg = 2\n")
    shell = f"{sys.executable} -m vbg.cli check {tmp_path}/bad.toml --json"
    ran = subprocess.run(
        ["bash", "-c", f"{shell} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert ran.returncode == 1 and ran.stderr == ""


def test_names_that_the_terminal_cannot_show():
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    said = vbg(["check", "größe.toml"], env=ascii_only, stdout=subprocess.PIPE)
    assert said.returncode == 2 and r"gr\xf6\xdfe.toml" in said.stderr


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder in use stays")
def test_a_folder_that_is_not_there_any_more_is_one_sentence(tmp_path):
    model = Path(__file__).parents[2] / "examples" / "pendulum.toml"
    paths = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    for words in (f"run {model} --t-end 0.01 -o a.h5", "new pendulum -o a.toml"):
        (tmp_path / "gone").mkdir()
        shell = f"cd {tmp_path}/gone && rmdir ../gone && {sys.executable} -m vbg.cli {words}"
        ran = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env=paths)
        assert ran.returncode == 2 and "Traceback" not in ran.stderr
        assert "folder" in ran.stderr or "No such file" in ran.stderr
