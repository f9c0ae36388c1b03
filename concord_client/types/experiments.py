"""What the API answers of experiments."""

from __future__ import annotations

from typing import Any, TypedDict


class Experiment(TypedDict):
    """A grid of scenarios, assistants and conditions, played by one user agent."""

    id: int
    name: str
    project: str
    state: str
    user_agent: str
    assistants: list[str]
    strategy: str
    user_information: str
    prompts: Any
    conditions: Any
    grid: Any
    seed: int
    single_turns: int
    multi_turns: int
    limit_unit: str
    passages: int
    budget_usd: str | None
    input_hash: str
    code_version: str
    stop_reason: str
    created_at: str
    finished_at: str | None
    stopped_at: str | None


class ComparedSetting(TypedDict):
    """A setting as published and here; `same` is None where one of the two is not known."""

    setting: str
    paper: str
    here: str
    same: bool | None


class ComparedSettings(TypedDict):
    """The settings of an experiment beside those of PersonaLens, and warnings where one model has several parts."""

    settings: list[ComparedSetting]
    warnings: list[str]


class Simulated(TypedDict):
    """One cell of an experiment; `dialogue` is the material that it became."""

    index: int
    assistant: str
    condition: str
    profile: int | None
    task: int | None
    ending: str
    error: str
    dialogue: int | None


class SimulatedWhole(TypedDict):
    """With its turns so far."""

    index: int
    assistant: str
    condition: str
    profile: int | None
    task: int | None
    ending: str
    error: str
    dialogue: int | None
    turns: list[SimulatedTurn]


class SimulatedTurn(TypedDict):
    """One turn, and what it took."""

    number: int
    side: str
    text: str
    thought: str
    raw_reply: str
    cut_off: Any
    ended: bool
    cut: bool
    problem: str
    retrieved: Any
    seed: int
    prompt: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: str | None
    created_at: str


class MadeStudy(TypedDict):
    """MadeStudy."""

    study: str


class ExperimentProgress(TypedDict):
    """An experiment, counted."""

    state: str
    total: int
    begun: int
    ended: int
    endings: list[Ended]
    turns: int
    cut: int
    cut_off: int
    rate: float | None
    workers: int
    needs_worker: bool
    can_resume: bool
    error: str
    spent_usd: str


class Ended(TypedDict):
    """Ended."""

    key: str
    name: str
    regular: bool
    n: int


class ExperimentEstimate(TypedDict):
    """What an experiment will take; null where it cannot be known."""

    dialogues: int
    turns: int
    input_tokens: int
    output_tokens: int
    usd: str | None
    seconds: float | None
    masked: int
    absent: int
    without_goal: int
