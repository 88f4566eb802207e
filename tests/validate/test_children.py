"""A child of `validate` that dies: how, in a sentence."""

import os
import sys

import pytest

import vbg
from vbg.validate.child import Job
from vbg.validate.children import in_children

MODEL = vbg.Model(bodies={"a": {"mass": 1.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}})


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    ("ends", "said"),
    (
        ("kill -ABRT $$", "by the signal SIGABRT, a fault in compiled code. Its last words: none"),
        ("echo 'full of oil' >&2; kill -KILL $$", "perhaps for want of memory.*: full of oil"),
        ("exit 3", "its process ended with code 3"),
    ),
)
def test_a_child_that_dies_is_told_in_a_sentence(monkeypatch, tmp_path, ends, said):
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{ends}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    answer = in_children({"mstmm": Job("mstmm", MODEL, 1.0, 0.1, 1e-8, 1e-10)}, None)["mstmm"]
    with pytest.raises(vbg.errors.UsageError, match=said):
        raise answer.error
