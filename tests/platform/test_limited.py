"""A child that serves: answers in order, and an end of whatever goes too far, with the next job
served as if nothing had been."""

import os
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from vbg.platform import limited
from vbg.platform.limited import Server, Unserved

POSIX = os.name == "posix"
LIMITS = {"seconds": 1.0, "memory": 4e8}


@pytest.fixture(scope="module")
def server():
    return Server("tests.platform.served")


def test_one_child_answers_one_job_after_another(server):
    first = server.ask("noise", **LIMITS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: server.ask(k, **LIMITS), range(20)))
    assert [one["job"] for one in found] == list(range(20))
    assert {one["pid"] for one in found} == {first["pid"]}


@pytest.mark.parametrize(
    ("job", "seconds", "why"),
    [
        ("die", 1.0, "ended by the signal SIGTERM, from outside" if POSIX else "ended with code"),
        ("spin", 1.0, "more than 1 s"),
        ("eat", 30.0, "GB of memory"),
    ],
)
def test_what_goes_too_far_ends_and_the_next_is_served(job, seconds, why, server):
    before = server.ask("x", **LIMITS)["pid"]
    with pytest.raises(Unserved, match=why):
        server.ask(job, seconds=seconds, memory=LIMITS["memory"])
    assert not psutil.pid_exists(before)
    assert server.ask("x", **LIMITS)["pid"] != before


def test_a_job_that_stands_still_is_ended(server, monkeypatch):
    monkeypatch.setattr(limited, "STILL", 0.3)
    with pytest.raises(Unserved, match="nothing has happened"):
        server.ask("still", **LIMITS)
