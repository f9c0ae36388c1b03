from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from core import processes
from core.processes import Process

pytestmark = pytest.mark.skipif(not processes.machine(), reason="this system does not tell processes apart")


@pytest.fixture
def other():
    """Another process, and how it is known."""
    running = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    found = processes.status(running.pid)
    yield running, Process(processes.machine(), running.pid, found[1])
    running.kill()
    running.wait()


def test_a_process_that_runs_is_not_gone(other):
    assert not other[1].is_gone
    assert not Process.current().is_gone


def test_one_that_was_killed_is_gone_before_and_after_its_parent_has_looked(other):
    running, known = other
    running.kill()
    os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
    assert processes.status(running.pid)[0] == "Z"
    assert known.is_gone
    running.wait()
    assert known.is_gone


def test_another_process_of_the_same_id_is_not_the_one_that_was_meant(other):
    assert replace(other[1], started=other[1].started - 1).is_gone


@pytest.mark.parametrize("machine", ["", "another boot/1/2", "another-namespace"])
def test_nobody_elsewhere_is_known_to_be_gone(other, machine):
    running, known = other
    running.kill()
    running.wait()

    assert not replace(known, machine=machine).is_gone


def test_one_that_cannot_be_looked_at_is_not_known_to_be_gone(other, monkeypatch):
    """The ids are hidden from other accounts, or the process belongs to one."""

    def refused(*_: int) -> None:
        raise PermissionError

    with monkeypatch.context() as hidden:
        hidden.setattr(processes, "PROC", processes.Path("/nowhere"))
        hidden.setattr(processes.os, "kill", refused)
        assert not other[1].is_gone


def test_where_the_system_does_not_tell_a_process_has_no_machine(monkeypatch):
    monkeypatch.setattr(processes, "PROC", processes.Path("/nowhere"))

    assert Process.current().machine == ""
