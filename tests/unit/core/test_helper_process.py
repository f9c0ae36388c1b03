"""A helper process: what it holds, and what becomes of it when it, its work or its owner fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import Pipe

import pytest

from core import helper_process
from core.helper_process import HelperError, HelperProcess, call, to_request
from core.processes import status
from tests.support.paths import ROOT


@pytest.fixture
def helper():
    made = HelperProcess(most_seconds=60)
    yield made
    made.close()


def wait_until_gone(pid: int) -> None:
    """Return once nothing is left of the process, not even a zombie."""
    deadline = time.monotonic() + 60
    while status(pid) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_work_is_done_in_another_process_and_the_same_one_each_time(helper):
    first = helper.run(to_request(os.getpid))
    assert first == helper.process.pid != os.getpid()
    assert helper.run(to_request(os.getpid)) == first
    assert call(divmod, 7, 2) == (3, 1)


def test_equal_arguments_are_the_same_request_whether_or_not_they_are_one_object():
    name = "task completion"
    again = "".join(["task ", "completion"])
    assert to_request(os.getpid, [name, name], {"by": (name, 1.5)}) == to_request(
        os.getpid, [name, again], {"by": (again, 1.5)}
    )


def test_an_error_is_told_and_the_helper_goes_on(helper):
    pid = helper.run(to_request(os.getpid))
    with pytest.raises(HelperError, match=r"^ValueError: invalid literal"):
        helper.run(to_request(int, "x"))
    assert helper.run(to_request(os.getpid)) == pid


def test_one_that_was_killed_is_replaced_and_leaves_no_zombie(helper):
    pid = helper.run(to_request(os.getpid))
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert helper.run(to_request(os.getpid)) != pid


def test_work_that_ends_the_helper_is_tried_twice_and_then_an_error(helper):
    with pytest.raises(HelperError, match="ended over this work"):
        helper.run(to_request(os._exit, 3))
    helper.run(to_request(os.getpid))
    with pytest.raises(HelperError, match="ended over this work"):
        helper.run(to_request(os._exit, 3))
    assert helper.run(to_request(divmod, 7, 2)) == (3, 1)


def test_work_that_takes_too_long_ends_with_its_helper(helper):
    pid = helper.run(to_request(os.getpid))
    helper.most_seconds = 0.3
    with pytest.raises(HelperError, match=r"did not answer within 0\.3 s"):
        helper.run(to_request(time.sleep, 600))
    wait_until_gone(pid)


def test_it_ends_when_there_is_nothing_to_do():
    ours, theirs = Pipe()
    with ours, theirs:
        helper_process.serve(theirs, 0.01)
        assert not ours.poll()


OWNER = """
import os, sys, time
from core import helper_process
pid = helper_process.call(os.getpid)
child = os.fork()
if child == 0:
    os._exit(0 if helper_process.call(os.getpid) != pid else 1)
print(pid, os.waitpid(child, 0)[1], flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_it_ends_with_its_owner_and_a_forked_process_has_its_own():
    with subprocess.Popen([sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        pid, code = map(int, owner.stdout.readline().split())
        owner.kill()
    assert code == 0
    wait_until_gone(pid)
