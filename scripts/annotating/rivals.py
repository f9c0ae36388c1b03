"""Potato and Label Studio as servers of the same work: items, six questions of four grades, each item three times.

Each rival is started from an installation that the caller names; nothing of them is part of Concord.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Protocol

import requests

QUESTIONS = [f"q{k}" for k in range(6)]
GRADES = ["1", "2", "3", "4"]
OVERLAP = 3
IMPORTED_AT_ONCE = 2000
START_SECONDS = 300
PASSWORD = "bench-bench-1"  # noqa: S105 - of accounts that live as long as the measurement


def text_of(n: int) -> str:
    """An item's dialogue, of about 500 characters."""
    return f"User: Is there a table for {n} people?\nAssistant: There is one by the window, at eight.\n" * 6


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_answering(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"bench_rivals: the server at {address} ended while it started")
        try:
            requests.get(address, timeout=5)
        except requests.RequestException:
            time.sleep(0.5)
        else:
            return
    raise SystemExit(f"bench_rivals: {address} did not answer within {START_SECONDS} s")


class Seat(Protocol):
    """One signed-in annotator."""

    def save_and_next(self, grade: str) -> bool:
        """Save an answer to every question of the item at hand and get the next; False where there is none."""


class Potato:
    """`potato start`, its items in one file, people who sign in without a password."""

    name = "Potato"

    def __init__(self, program: Path, folder: Path, items: int) -> None:
        self.address = f"http://127.0.0.1:{(port := free_port())}"
        with (folder / "items.jsonl").open("w") as file:
            file.writelines(json.dumps({"id": f"i{n}", "text": text_of(n)}) + "\n" for n in range(items))
        scheme = {"annotation_type": "radio", "labels": GRADES}
        settings = {
            "annotation_task_name": "bench",
            "task_dir": ".",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "output_annotation_dir": "out",
            "output_annotation_format": "json",
            "max_annotations_per_item": OVERLAP,
            "assignment_strategy": "fixed_order",
            "require_password": False,
            "user_config": {"allow_all_users": True, "users": []},
            "annotation_schemes": [{**scheme, "name": name, "description": name} for name in QUESTIONS],
            "site_dir": "default",
        }
        (folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
        with (folder / "server.log").open("wb") as log:
            self.process = subprocess.Popen(
                [str(program), "start", "config.yaml", "-p", str(port)], cwd=folder, stdout=log, stderr=log
            )
        wait_until_answering(self.address, self.process)

    def seat(self, number: int) -> Seat:
        return PotatoSeat(self.address, f"person{number}")


class PotatoSeat:
    def __init__(self, address: str, name: str) -> None:
        self.address, self.session = address, requests.Session()
        self.session.post(f"{address}/auth", data={"email": name, "pass": ""}, timeout=120).raise_for_status()
        self.item = self.current()

    def current(self) -> str:
        told = self.session.get(f"{self.address}/api/current_instance", timeout=120)
        told.raise_for_status()
        return str(told.json().get("instance_id") or "")

    def save_and_next(self, grade: str) -> bool:
        answers = {f"{name}:{grade}": grade for name in QUESTIONS}
        given: dict[str, Any] = {"instance_id": self.item, "annotations": answers, "span_annotations": []}
        self.session.post(f"{self.address}/updateinstance", json=given, timeout=120).raise_for_status()
        step = {"action": "next_instance", "instance_id": self.item}
        page = self.session.post(f"{self.address}/annotate", json=step, timeout=120)
        page.raise_for_status()
        before, self.item = self.item, self.current()
        return self.item not in ("", before)


class LabelStudio:
    """`label-studio start` on SQLite, people who sign up in it."""

    name = "Label Studio"

    def __init__(self, program: Path, folder: Path, items: int) -> None:
        self.address = f"http://127.0.0.1:{(port := free_port())}"
        settings = {**os.environ, "LABEL_STUDIO_BASE_DATA_DIR": str(folder), "SENTRY_DSN": "", "COLLECT_ANALYTICS": "0"}
        given = ["start", "--no-browser", "--port", str(port), "--data-dir", str(folder)]
        account = ["--username", "owner@example.org", "--password", PASSWORD]
        with (folder / "server.log").open("wb") as log:
            self.process = subprocess.Popen(
                [str(program), *given, *account], cwd=folder, stdout=log, stderr=log, env=settings
            )
        wait_until_answering(f"{self.address}/health", self.process)
        owner = signed_in(self.address, "login", "owner@example.org")
        choices = "".join(f'<Choice value="{grade}"/>' for grade in GRADES)
        config = "".join(f'<Choices name="{name}" toName="text">{choices}</Choices>' for name in QUESTIONS)
        project = {
            "title": "bench",
            "label_config": f'<View><Text name="text" value="$text"/>{config}</View>',
            "maximum_annotations": OVERLAP,
        }
        made = called(owner, "POST", f"{self.address}/api/projects", project)
        self.project = int(made["id"])
        for start in range(0, items, IMPORTED_AT_ONCE):
            tasks = [{"data": {"text": text_of(n)}} for n in range(start, min(start + IMPORTED_AT_ONCE, items))]
            called(owner, "POST", f"{self.address}/api/projects/{self.project}/import", tasks)

    def seat(self, number: int) -> Seat:
        return LabelStudioSeat(self.address, self.project, f"person{number}@example.org")


class LabelStudioSeat:
    def __init__(self, address: str, project: int, email: str) -> None:
        self.address, self.project = address, project
        self.session = signed_in(address, "signup", email)
        self.task = self.next_task()

    def next_task(self) -> int:
        told = self.session.get(f"{self.address}/api/projects/{self.project}/next", timeout=120)
        if told.status_code == 404:
            return 0
        told.raise_for_status()
        return int(told.json()["id"])

    def save_and_next(self, grade: str) -> bool:
        result = [
            {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [grade]}}
            for name in QUESTIONS
        ]
        address = f"{self.address}/api/tasks/{self.task}/annotations/?project={self.project}"
        called(self.session, "POST", address, {"result": result, "lead_time": 3.0})
        self.task = self.next_task()
        return self.task != 0


def signed_in(address: str, how: str, email: str) -> requests.Session:
    """A session of Label Studio: `how` is login or signup."""
    session = requests.Session()
    page = session.get(f"{address}/user/{how}/", timeout=120)
    hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    form = {"email": email, "password": PASSWORD, "csrfmiddlewaretoken": hidden.group(1) if hidden else ""}
    headers = {"Referer": f"{address}/user/{how}/"}
    session.post(f"{address}/user/{how}/", data=form, headers=headers, timeout=120).raise_for_status()
    if "sessionid" not in session.cookies:
        raise SystemExit(f"bench_rivals: Label Studio let {email} not in")
    return session


def called(session: requests.Session, method: str, address: str, body: Any) -> Any:
    headers = {"X-CSRFToken": session.cookies.get("csrftoken") or "", "Referer": address}
    answer = session.request(method, address, json=body, headers=headers, timeout=600)
    answer.raise_for_status()
    return answer.json()
