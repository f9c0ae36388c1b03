"""The way of PersonaLens from scenarios to tables, with a server that answers by script for every model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256

from annotation.studies.models.studies import Study
from judging.judges.models import Judge
from simulation.agents import services as agents_services
from simulation.agents.parsing.endings import MESSAGES, Limits
from simulation.agents.prompts import MARK
from simulation.experiments.models import Experiment
from simulation.experiments.services import experiments, studies
from simulation.experiments.services.grids import grid
from tests.support import factories
from tests.support.judging import judged
from tests.support.labelled import people_say
from tests.support.model_server import Answer, ModelServer, Request, verdict
from tests.support.simulation import finished
from tests.support.synthetic import scenarios

USER, JUDGE = "the-user-agent", "the-judge"
WORDS = ["book", "find", "play", "a", "an", "the", "quiet", "cheap", "table", "train", "song", "for", "me", "tonight"]
MOST_TURNS = 6


def reply(request: Request) -> Answer:
    """Something that depends on the whole request and on nothing else, so that every run is told the same."""
    body = json.dumps(request.body, sort_keys=True)
    digest = sha256(body.encode()).digest()
    if request.body["model"] == JUDGE:
        values = json.loads(re.search(r'"enum": (\[.*?\])', body)[1])  # type: ignore[index]
        return Answer(text="I cannot say." if digest[0] < 8 else verdict(values[digest[1] % len(values)]))
    said = " ".join(WORDS[byte % len(WORDS)] for byte in digest[: 6 + digest[31] % 8])
    ends = request.body["model"] == USER and not digest[30] % 4
    return Answer(text=f"{said.capitalize()}.{f' {MARK}' if ends else ''}")


def names(assistants: int) -> list[str]:
    return [f"assistant-{n}" for n in range(assistants)]


def flow(
    server: ModelServer, *, users: int, tasks: int, conditions: Sequence[str], assistants: int
) -> tuple[Experiment, Judge]:
    """Plan, play and judge: every criterion of every dialogue, and personalization of every reply of an assistant."""
    server.by_default, server.keep_requests = reply, False
    server.models = [USER, JUDGE, *names(assistants)]
    scenarios(users, tasks)
    experiment = experiments.make(
        by=None,
        plan=experiments.plan(
            name="Flow",
            user_agent=agents_services.build_agent(side="user", provider="openai_compatible", model=USER),
            assistants=[
                agents_services.build_agent(side="assistant", provider="openai_compatible", model=name)
                for name in names(assistants)
            ],
            conditions=conditions,
            grid=grid(users="all", tasks="all"),
            limits=Limits(MOST_TURNS, MOST_TURNS, MESSAGES),
        ),
        queue=False,
    )
    finished(experiment)
    study = studies.create_judge_study(by=None, experiment=experiment)
    judge = factories.JudgeFactory(provider="openai_compatible", model=JUDGE)
    judged(study, judge)
    judged(study, judge, every_turn=True, criteria=["personalization"])
    return experiment, judge


def human_check(experiment: Experiment, judge: Judge, n: int) -> Study:
    """Let three people rate a random sample by script, half of the time as the judge does, and the judge too."""
    study = studies.create_human_check(by=None, experiment=experiment, n=n)
    run = judged(study, judge)
    for criterion in study.criteria.all():
        scale = [str(one["value"]) for one in criterion.categories]
        said = dict(run.judgments.filter(criterion=criterion).values_list("item", "value"))
        items = list(study.items.order_by("position").values_list("pk", flat=True))
        people_say(criterion, {who: [vote(who, said[item], scale, item) for item in items] for who in PEOPLE})
    return study


PEOPLE = ("ann", "bob", "cho")


def vote(who: str, said: str, scale: Sequence[str], item: int) -> str:
    digest = sha256(f"{who} {item} {len(scale)}".encode()).digest()
    return said if said and digest[0] % 2 else scale[digest[1] % len(scale)]
