"""A small made-up copy of PersonaLens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BOOK = {
    "Task Description": "The user wants a book.",
    "User Intent": "Find a book.",
    "Task Goal": "A book is found.",
    "Relevant Affinity Types": ["Genre"],
    "Relevant Domains": ["Books"],
}
TRIP = {**BOOK, "Task Description": "A trip.", "Relevant Domains": ["Hotels", "Train"], "Source": "made up"}


def scenario(task_id: str, wording: dict[str, Any], **situation: str) -> dict[str, Any]:
    return {**wording, "task_id": task_id, "situations": {"Location": "Oslo", **situation}}


def write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=4), encoding="utf-8")


def make_copy(folder: Path) -> Path:
    """Two users: user2 has a task of one domain, user10 also one of several."""
    for user in ("user2", "user10"):
        profile = {
            "demographics": {"user_id": user, "birth_country": "中国"},
            "affinities": {"Books": {"Genre": ["history"]}},
            "interests": {"Books": 1},
            "interactions": {"Books": "Reads at night."},
            "mood": "calm",
        }
        write(folder / "profile" / user / "profile.json", profile)
        write(folder / "profile" / user / "tasks.json", {"Task 1": scenario("SD-Books-task-1", BOOK, Device=user)})
    write(folder / "profile" / "user10" / "tasks_md.json", {"Task 1": scenario("MD-task-1", TRIP)})
    return folder
