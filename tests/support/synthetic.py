"""An experiment of any size with its turns and a judge's verdicts, written in bulk: for benches and large tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.corpus.models import Dialogue, Profile, Scenario, Task
from annotation.studies.models.studies import Item
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from simulation.experiments.models import Experiment, PreferenceType, SimulatedDialogue, Turn
from simulation.experiments.services.studies import CRITERIA
from tests.support import factories

DOMAINS = [f"Domain {n}" for n in range(20)]
CUISINES = [f"choice {n}" for n in range(12)]
PEOPLE: dict[str, list[str]] = {
    "age": ["25-34", "18-24", "25-34", "35-44", "45-54"],
    "gender": ["Female", "Male", "Female"],
    "religion": ["Agnostic", "", "Christian", "Buddhist"],
    "education": ["Vocational", "Some Secondary"],
    "birth_country": ["Norway", "China", "N/A", "Mexico", "Canada", "Korea, Republic of", "Poland"],
}
"""What the profiles hold in turn; an empty value is none."""
LIKELY = {"task_completion": ["yes", "no"]}
BATCH = 2000


def synthetic(
    *,
    users: int,
    tasks: int,
    conditions: Sequence[str] = ("base",),
    assistants: int = 1,
    seed: int = 0,
    exchanges: int = 5,
    words: int = 40,
    turns_judged: bool = False,
) -> tuple[Experiment, Judge]:
    """Make the experiment and its judge. Every fifth task is of three domains; one reply in fifty has no verdict."""
    rng = np.random.default_rng(seed)
    with transaction.atomic():
        experiment = _grid(users, tasks, conditions, assistants)
        rows = list(experiment.dialogues.order_by("index"))
        _play(experiment, rows, rng, exchanges, words)
        return experiment, _judge(experiment, rng, exchanges if turns_judged else 0)


def scenarios(users: int, tasks: int) -> list[Scenario]:
    """Every user with every task, in one situation."""
    source = "synthetic"
    PreferenceType.objects.bulk_create(
        [
            *(
                PreferenceType(source=source, domain=domain, name="Kind", possible_values=CUISINES, is_categorical=True)
                for domain in DOMAINS
            ),
            PreferenceType(
                source=source, domain="Weather", name="Sky", possible_values=["blue", "grey"], is_categorical=True
            ),
            PreferenceType(source=source, domain="Weather", name="Wind", possible_values=["calm"]),
        ]
    )
    made_tasks = Task.objects.bulk_create(
        Task(
            source=source,
            external_id=f"task{n}",
            content_hash=str(n),
            description=f"The user does thing {n}.",
            intent=f"Do thing {n}.",
            goal=f"Thing {n} is done.",
            domains=[DOMAINS[(n + k) % 20] for k in range(3 if n % 5 == 4 else 1)],
            preference_types=["Kind"],
            is_multi_domain=n % 5 == 4,
        )
        for n in range(tasks)
    )
    people = Profile.objects.bulk_create(
        Profile(
            source=source,
            external_id=f"user{n}",
            content_hash=str(n),
            demographics={field: held[n % len(held)] for field, held in PEOPLE.items()} | {"user_id": f"user{n}"},
            preferences={
                **{domain: {"Kind": [CUISINES[(n + k) % 12]]} for k, domain in enumerate(DOMAINS)},
                "Weather": {"Sky": [["blue"], ["grey", "blue"], ["pink", "pink"]][n % 3], "Wind": f"force {n % 4}"},
            },
            interests=dict.fromkeys(DOMAINS, 1),
            interactions=dict.fromkeys(DOMAINS, f"The user asked for {CUISINES[n % 12]} before. " * 20),
        )
        for n in range(users)
    )
    return Scenario.objects.bulk_create(
        (Scenario(profile=person, task=task, situation={"Time": "noon"}) for person in people for task in made_tasks),
        batch_size=BATCH,
    )


def _grid(users: int, tasks: int, conditions: Sequence[str], assistants: int) -> Experiment:
    agents = [factories.AgentFactory(model=f"assistant {n}") for n in range(assistants)]
    experiment: Experiment = factories.ExperimentFactory(
        name="Synthetic", conditions=list(conditions), assistants=agents
    )
    cells = ((one, agent, key) for one in scenarios(users, tasks) for agent in agents for key in conditions)
    SimulatedDialogue.objects.bulk_create(
        (
            SimulatedDialogue(experiment=experiment, index=index, scenario=one, assistant=agent, condition=key)
            for index, (one, agent, key) in enumerate(cells, start=1)
        ),
        batch_size=BATCH,
    )
    return experiment


def _play(
    experiment: Experiment, rows: list[SimulatedDialogue], rng: np.random.Generator, exchanges: int, words: int
) -> None:
    """Turns for all; one dialogue in forty ends as it should not, and is no dialogue of the corpus."""
    vocabulary = np.array([f"word{n}" for n in range(3000)])
    likely = 1 / np.arange(1, 3001)
    likely /= likely.sum()
    now = timezone.now()
    for batch in _batched(rows):
        turns, dialogues = [], []
        for row in batch:
            n = 2 * int(rng.integers(1, exchanges + 1)) + 1
            texts = [" ".join(said) for said in rng.choice(vocabulary, size=(n, words), p=likely)]
            texts[0] = f"{texts[0]} {CUISINES[row.index % 12]}."
            sides = ["assistant" if number % 2 else "user" for number in range(n)]
            turns += [
                Turn(simulated=row, number=number, side=side, text=text, output_tokens=len(text) // 4)
                for number, (side, text) in enumerate(zip(sides, texts, strict=True), start=1)
            ]
            row.ending, row.ended_at = ("user_refusal" if rng.random() < 1 / 40 else "done"), now
            if row.ending == "done":
                said = [{"role": side, "content": text} for side, text in zip(sides, texts, strict=True)]
                name = f"{experiment.pk}/{row.index}"
                dialogues.append(
                    Dialogue(
                        source=experiment.source,
                        external_id=name,
                        content_hash=name,
                        turns=said,
                        scenario_id=row.scenario_id,
                    )
                )
        Turn.objects.bulk_create(turns, batch_size=BATCH)
        made = iter(Dialogue.objects.bulk_create(dialogues, batch_size=BATCH))
        for row in batch:
            row.dialogue = next(made) if row.ending == "done" else None
        SimulatedDialogue.objects.bulk_update(batch, ["ending", "ended_at", "dialogue"], batch_size=200)


def _judge(experiment: Experiment, rng: np.random.Generator, exchanges: int) -> Judge:
    """Verdicts on every criterion, and on personalization of each of so many turns of the assistant."""
    run = factories.JudgeRunFactory(study=factories.StudyFactory(project=experiment.project))
    criteria = [factories.CriterionFactory(study=run.study, key=key) for key in CRITERIA]
    sample = factories.SampleFactory(study=run.study)
    spoken = experiment.dialogues.exclude(dialogue=None).order_by("index").values_list("dialogue", flat=True)
    items = Item.objects.bulk_create(
        (
            Item(
                study=run.study,
                sample=sample,
                dialogue_id=dialogue,
                position=place,
                inclusion_probability=1,
                content_hash=str(dialogue),
            )
            for place, dialogue in enumerate(spoken, start=1)
        ),
        batch_size=BATCH,
    )

    def said(item: Item, criterion: object, turn: int = 0) -> Judgment:
        scale = LIKELY.get(criterion.key, ["1", "2", "3", "4"])  # type: ignore[attr-defined]
        value = "" if rng.random() < 1 / 50 else scale[int(rng.integers(len(scale)))]
        reason = "" if value else "no_verdict"
        return Judgment(run=run, item=item, criterion=criterion, turn=turn, value=value, unscored_reason=reason)

    def every() -> Iterator[Judgment]:
        for item in items:
            for criterion in criteria:
                yield said(item, criterion)
            for exchange in range(1, exchanges + 1):
                yield said(item, criteria[1], 2 * exchange)

    Judgment.objects.bulk_create(every(), batch_size=BATCH)
    judge: Judge = run.judge
    return judge


def _batched(rows: list[SimulatedDialogue]) -> Iterator[list[SimulatedDialogue]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH)):
        yield batch
