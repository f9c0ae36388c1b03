"""Studies whose criteria are asked of responses or turns, with people and a judge of known quality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.units import to_position, to_turn, unit
from annotation.workbench.services import simulated_annotators
from annotation.workbench.services.simulated_annotators import SimulatedAnnotator
from core.accounts.models.users import User
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.factories import (
    CriterionFactory,
    DialogueFactory,
    JudgeRunFactory,
    ResponsePairFactory,
    SampleFactory,
    StudyFactory,
)
from tests.support.people import OpenStudy

N = 60
LABELLED = 45
NUMBERS = {"response": (1, 2), "assistant_turn": (2, 4), "user_turn": (1, 3)}
Values = Mapping[str, str]
"""A value by the name of what it is of, an item or a part of one: "17.2"."""


def names(numbers: tuple[int, ...], n: int = N) -> list[str]:
    return [unit(position, number) for position in range(1, n + 1) for number in numbers]


def draw_values(rows: list[str], noise: float, seed: int) -> dict[str, str]:
    """Levels from 1 to 4, the same truth for each seed with its own noise; parts of an item are alike."""
    rng = np.random.default_rng(3)
    of_item = rng.uniform(1.0, 4.0, N + 1)
    truth = np.array([of_item[to_position(name)] for name in rows]) + rng.uniform(-0.9, 0.9, len(rows))
    said = truth + np.random.default_rng(seed).normal(0, noise, len(rows))
    return {name: str(int(v)) for name, v in zip(rows, np.clip(np.round(said), 1, 4), strict=True)}


def text_of(name: str) -> str:
    return f"Answer {name}" + "." * (7 * to_position(name) % 31 + to_turn(name))


def add_items(study: Study, n: int, numbers: tuple[int, ...]) -> None:
    """Items that were drawn with one of two probabilities."""
    sample = SampleFactory(study=study, frame_size=n, size=n)
    subjects: Any
    if study.kind == "pair":
        subjects = ResponsePair.objects.bulk_create(
            ResponsePair(
                source="test",
                external_id=f"{study.slug}-{k}",
                content_hash=f"{k:064}",
                question=f"Question {k}?",
                model_1="m1",
                model_2="m2",
                response_1=text_of(unit(k, 1)),
                response_2=text_of(unit(k, 2)),
            )
            for k in range(1, n + 1)
        )
    else:
        subjects = Dialogue.objects.bulk_create(
            Dialogue(
                source="test",
                external_id=f"{study.slug}-{k}",
                content_hash=f"{k:064}",
                turns=[
                    {"role": "user" if number % 2 else "assistant", "content": text_of(unit(k, number))}
                    for number in range(1, max(numbers) + 1)
                ],
            )
            for k in range(1, n + 1)
        )
    create_items(study, sample, subjects)


def create_items(study: Study, sample: Any, subjects: Any) -> None:
    Item.objects.bulk_create(
        Item(
            study=study,
            sample=sample,
            position=k,
            inclusion_probability=0.5 if find_whole(study, k) % 3 else 0.25,
            content_hash="0" * 64,
            **{study.kind: subject},
        )
        for k, subject in enumerate(subjects, start=1)
    )


def find_whole(study: Study, position: int) -> int:
    """The item whose response a position is, in a study of single responses; else the position."""
    return (position + 1) // 2 if study.clustering else position


def add_labels(criterion: Criterion, who: str, slot: int, values: Values) -> None:
    """What a person handed in."""
    study, person = criterion.study, User.objects.get_or_create(username=who)[0]
    study.annotators.add(person)
    of_item: dict[int, dict[int, str]] = {}
    for name, value in values.items():
        of_item.setdefault(to_position(name), {})[to_turn(name)] = value
    items = list(study.items.filter(position__in=list(of_item)).select_related("pair"))
    made = Assignment.objects.bulk_create(
        Assignment(
            study=study,
            item=item,
            slot=slot,
            rank=item.position,
            annotator=person,
            state="submitted",
            submitted_at=timezone.now(),
            order=find_order(item, slot),
        )
        for item in items
    )
    Annotation.objects.bulk_create(
        Annotation(assignment=assignment, criterion=criterion, turn=turn, value=value)
        for assignment in made
        for turn, value in of_item[assignment.item.position].items()
    )


def find_order(item: Item, slot: int) -> str:
    """The order in which the person of a slot sees the responses, if there are any."""
    if item.pair is None:
        return ""
    if item.pair.n_responses != 2:
        return "A"
    return "BA" if slot % 2 else "AB"


def add_run(criterion: Criterion, judge: Judge, values: Values, *, of: str, sure: Mapping[str, float]) -> JudgeRun:
    """A finished run of the judge, which is as sure of each verdict as is said."""
    run = JudgeRunFactory(study=criterion.study, judge=judge, criteria=[criterion], unit=of, finished_at=timezone.now())
    items = dict(criterion.study.items.values_list("position", "pk"))
    Judgment.objects.bulk_create(
        Judgment(
            run=run,
            item_id=items[to_position(name)],
            turn=to_turn(name),
            criterion=criterion,
            value=value,
            cost_usd="0.01",
            details={"distribution": {value: sure[name]}},
        )
        for name, value in values.items()
    )
    return run


def build_study(of: str, judge: Judge, **more: Any) -> Criterion:
    """N items, of each of which two parts are rated: by three people on the first `LABELLED`, by the judge on all.

    The judge is sure, and right, where its verdict is what the first person says without noise.
    """
    kind = "pair" if of == "response" else "dialogue"
    study = StudyFactory(kind=kind, name="Parts", slug="parts", state="closed", **more)
    add_items(study, N, NUMBERS[of])
    criterion = CriterionFactory(study=study, key="helpful", name="Helpful", unit=of)
    fill(criterion, judge, names(NUMBERS[of]), of="turn" if kind == "dialogue" else "response")
    return criterion


def fill(
    criterion: Criterion, judge: Judge, rows: list[str], *, of: str, rename: Mapping[str, str] | None = None
) -> None:
    """What people and the judge say of the rows, which the study calls by other names where these are given."""
    called = rename or {name: name for name in rows}
    for slot, who in enumerate(("ada", "ben", "cleo"), start=1):
        said = draw_values(rows, 0.3, slot)
        labelled = {called[name]: value for name, value in said.items() if to_position(name) <= LABELLED}
        add_labels(criterion, who, slot, labelled)
    said, truth = draw_values(rows, 0.35, 9), draw_values(rows, 0.0, 0)
    sure = {called[name]: 0.95 if said[name] == truth[name] else 0.55 for name in rows}
    add_run(criterion, judge, {called[name]: value for name, value in said.items()}, of=of, sure=sure)


def build_single_responses(judge: Judge) -> Criterion:
    """The same data as `build_study("response", judge)`, one item for each response and the items as clusters."""
    study = StudyFactory(kind="pair", name="Single", slug="single", state="closed", clustering="whole")
    rows = names(NUMBERS["response"])
    sample = SampleFactory(study=study, frame_size=len(rows), size=len(rows))
    subjects = ResponsePair.objects.bulk_create(
        ResponsePair(
            source="test",
            external_id=f"single-{name}",
            content_hash="0" * 64,
            question=f"Question {to_position(name)}?",
            response_1=text_of(name),
            model_1=f"m{to_turn(name)}",
            n_responses=1,
            extra={"whole": f"item {to_position(name)}"},
        )
        for name in rows
    )
    create_items(study, sample, subjects)
    criterion = CriterionFactory(study=study, key="helpful", name="Helpful")
    fill(criterion, judge, rows, of="item", rename={name: str(k) for k, name in enumerate(rows, start=1)})
    return criterion


RUBRIC = {"key": "helpful", "type": "ordinal", "question": "Helpful?", "category": list("1234")}


def open_rated_study(open_study: OpenStudy, of: str) -> tuple[Study, dict[str, str]]:
    """30 items of two parts, rated by three simulated annotators but for the last ten; and the levels by the texts.

    Both turns of a dialogue have one level: the scripted judge looks for a text in all of it.
    """
    kind = "pair" if of == "response" else "dialogue"
    for k in range(1, 31):
        if kind == "pair":
            ResponsePairFactory(
                external_id=f"i{k}", question=f"Ask {k}?", response_1=f"One {k}.", response_2=f"Two {k}.", profile=None
            )
        else:
            talk = [f"Ask {k}.", f"One {k}.", f"Go on {k}.", f"Two {k}."]
            turns = [{"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(talk)]
            DialogueFactory(external_id=f"i{k}", turns=turns)
    rubric = {"kind": kind, "criterion": [{**RUBRIC, "unit": of}]}
    study = open_study([], items=0, kind=kind, overlap=3, criteria=None, rubric=rubric)
    first, second = NUMBERS[of]
    levels = {f"i{k}": (str(k % 4 + 1), str((k % 3 if kind == "pair" else k % 4) + 1)) for k in range(1, 31)}
    truth = {name: {f"helpful.{first}": one, f"helpful.{second}": two} for name, (one, two) in levels.items()}
    crowd = [SimulatedAnnotator(name, 0.9) for name in ("one", "two", "three")]
    simulated_annotators.rate(
        by=None, study=study, truth=truth, annotators=crowd, seed=2, but=[f"i{k}" for k in range(21, 31)]
    )
    texts = {f"{word} {k}.": levels[f"i{k}"][at] for at, word in enumerate(("One", "Two")) for k in range(1, 31)}
    return study, texts
