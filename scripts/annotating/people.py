"""Virtual annotators: over HTTP they do what the script of the rating page does, one thread each."""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

from annotating.server import Meter
from annotating.study import CRITERIA, SLUG, Made

TOKEN = "b" * 32


def build_versions(answers: dict[str, str]) -> dict[str, str]:
    """Inputs that the page sends with every answer: the version of the guideline that was shown."""
    return {f"{name}-version": "1" for name in answers}


@dataclass
class Person:
    """One virtual annotator, and what was promised to them."""

    pk: int
    session: str
    port: int
    rng: random.Random
    saved: dict[int, dict[str, str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    draft_seconds: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    connection: HTTPConnection | None = None
    has_more: bool = True

    def choose_answers(self) -> dict[str, str]:
        """What they enter of the next item, by the names of the inputs."""
        return {key: self.rng.choice("123" if key != CRITERIA[0] else ["yes", "no"]) for key in CRITERIA}

    def post(self, path: str, data: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Cookie": f"sessionid={self.session}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            self.connection.request("POST", path, urlencode(data), headers)
            answer = self.connection.getresponse()
            body = answer.read()
        except (ConnectionError, OSError, RuntimeError):  # the server closed an idle connection: as a browser does
            self.connection.close()
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.request("POST", path, urlencode(data), headers)
            answer = self.connection.getresponse()
            body = answer.read()
        if answer.status != 200:
            self.problems[f"{answer.status} {path.rstrip('/').rsplit('/', 1)[-1]}"] += 1
            return answer.status, {}
        return answer.status, json.loads(body)

    def work(self, until: float, think: float, drafts: float) -> None:
        time.sleep(self.rng.uniform(0, think))
        item = self.post(f"/work/{SLUG}/ahead/", {})[1].get("next")
        ready = item and self.post(f"/work/{SLUG}/ahead/", {"holding": str(item["pk"])})[1].get("next")
        while item and time.monotonic() < until:
            time.sleep(self.rng.uniform(0.5 * think, 1.5 * think))
            answers = self.choose_answers()
            if self.rng.random() < drafts:
                self.draft(item, answers)
            ready_next = self.hand_in(item, answers, ready)
            item, ready = (ready, ready_next) if ready else (ready_next, None)

    def draft(self, item: dict[str, Any], answers: dict[str, str]) -> None:
        began = time.perf_counter()
        first = dict(list(answers.items())[:3])
        data = {**build_versions(answers), **first, "seen": item["seen"], "active": "1.5", "submitted": ""}
        self.post(f"/work/items/{item['pk']}/draft/", data)
        self.draft_seconds.append(time.perf_counter() - began)

    def hand_in(self, item: dict[str, Any], answers: dict[str, str], ready: dict[str, Any] | None) -> Any:
        from annotation.workbench.assignment_names import to_id

        began = time.perf_counter()
        holding = str(ready["pk"]) if ready else ""
        total = "" if self.has_more and len(self.saved) % 10 else "1"  # as the page does
        data = {
            **build_versions(answers),
            **{f"{name}{suffix}": "" for name in answers for suffix in ("-unscored", "-note", "-evidence")},
            **answers,
            "seen": item["seen"],
            "active": "2.5",
            "holding": holding,
            "total": total,
        }
        status, told = self.post(f"/work/items/{item['pk']}/save/", data)
        self.seconds.append(time.perf_counter() - began)
        if status == 200:
            self.saved[to_id(item["pk"]) or 0] = answers
        self.has_more = told.get("more", self.has_more)
        return told.get("next")


@dataclass(frozen=True)
class Worked:
    people: list[Person]
    veterans: frozenset[int]
    seconds: float
    used: dict[str, float]


def rated(given: argparse.Namespace, made: Made, port: int, meter: Meter, kind: type[Person] = Person) -> Worked:
    people = [kind(pk, key, port, random.Random(pk)) for pk, key in made.sessions.items()]  # noqa: S311
    for person in people[:16]:  # every worker has loaded its code and its templates
        person.post(f"/work/{SLUG}/ahead/", {})
    meter.start()
    began = time.monotonic()
    threads = [
        threading.Thread(target=person.work, args=(began + given.seconds, given.think, given.drafts))
        for person in people
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    meter.stop()
    return Worked(people, made.veterans, seconds, meter.used())
