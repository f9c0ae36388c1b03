"""What the API answers of the site."""

from __future__ import annotations

from typing import TypedDict

from concord_client.types.experiments import Experiment
from concord_client.types.judges import Run


class System(TypedDict):
    """What waits, who works, and which runs and experiments need somebody."""

    checks: list[Check]
    queue: Queue
    processes: list[Process]
    runs: list[Run]
    experiments: list[Experiment]
    kept: list[Retention]


class Check(TypedDict):
    """One thing that the site needs; `problem` is empty where it is there."""

    name: str
    problem: str


class Queue(TypedDict):
    """Parts of running judge runs."""

    waiting: int
    held: int
    later: int
    oldest: str | None


class Process(TypedDict):
    """A living process, and the parts that it holds."""

    name: str
    slots: int
    parts: int
    started_at: str
    seen_at: str


class Retention(TypedDict):
    """A kind of data, how long it is kept, and how much of it is over that."""

    kind: str
    what: str
    days: int | None
    variable: str
    over: int
