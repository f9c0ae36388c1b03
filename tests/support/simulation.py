"""Short ways to an experiment: users with tasks, scripted sides, and what came of it."""

from __future__ import annotations

from typing import Any

from annotation.corpus.models import Scenario
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.experiments.models import Experiment
from simulation.experiments.services import experiments, worker_sessions
from simulation.experiments.services.grids import grid
from tests.support import factories

USER_LINES = ["Book me a table.", "At eight, please.", "Thanks, that is all. [END]"]
ASSISTANT_LINES = ["For when?", "Booked at eight.", "You are welcome."]


def people(n_users: int = 2, tasks: int = 2, **interests: int) -> list[Scenario]:
    """Users user0, user1, … each with tasks task0 (Restaurants) and so on; the last task is of two domains."""
    made = [
        factories.TaskFactory(
            external_id=f"task{n}",
            intent=f"Do thing {n}.",
            domains=["Restaurants", "Books"] if n == tasks - 1 and tasks > 1 else ["Restaurants"],
            is_multi_domain=n == tasks - 1 and tasks > 1,
            preference_types=["Cuisine"],
        )
        for n in range(tasks)
    ]
    found = []
    for n in range(n_users):
        profile = factories.ProfileFactory(
            external_id=f"user{n}",
            interests={"Restaurants": 1, "Books": 1} | interests,
            interactions={"Restaurants": "She likes Thai. She always books for eight.", "Books": "She reads late."},
        )
        found += [factories.ScenarioFactory(profile=profile, task=task) for task in made]
    return found


def scripted(side: str = "user", **parameters: Any) -> Agent:
    lines = USER_LINES if side == "user" else ASSISTANT_LINES
    return agents_services.build_agent(
        side=side, provider="scripted", model=f"scripted {side}", parameters={"lines": lines} | parameters
    )


def begun(*, user: Agent | None = None, assistant: Agent | None = None, **options: Any) -> Experiment:
    given = {
        "name": "Trial",
        "user_agent": user or scripted("user"),
        "assistants": [assistant or scripted("assistant")],
        "conditions": ["base"],
        "grid": grid(users=options.pop("users", "all"), tasks=options.pop("tasks", "all"), seed=options.get("seed", 0)),
    }
    return experiments.make(by=None, plan=experiments.plan(**(given | options)), queue=False)


def finished(experiment: Experiment) -> Experiment:
    """Worked through in this process."""
    for _ in worker_sessions.work_through(experiment):
        pass
    experiment.refresh_from_db()
    return experiment


def played(**options: Any) -> Experiment:
    return finished(begun(**options))


def texts(experiment: Experiment) -> list[list[str]]:
    """What was said, dialogue by dialogue."""
    return [
        [turn.text for turn in dialogue.turns.order_by("number")] for dialogue in experiment.dialogues.order_by("index")
    ]
