"""Studies full of labels, made in bulk: what the factories would make one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item, Study
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.services.hold_out import hold_out
from judging.judges.models import HoldOut
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.factories import CriterionFactory, JudgeFactory, JudgeRunFactory, SampleFactory, StudyFactory

Column = Sequence[str | None]
"""One value per item; "" for a rater who could not judge, None where the item was not given to them."""


def hold_some_out(study: Study) -> HoldOut:
    """Hold out about half of a study of few clusters. Primary keys decide which: a seed may hold out nothing."""
    for seed in range(100):
        with suppress(InputError):
            return hold_out(by=None, study=study, share=0.5, seed=seed)
    raise AssertionError("no seed splits this study")


def with_items(n: int, *, kind: str = "dialogue", **study) -> Study:
    """A study of n new items."""
    made = StudyFactory(kind=kind, **study)
    sample = SampleFactory(study=made, frame_size=n, size=n)
    if kind == "pair":
        subjects = ResponsePair.objects.bulk_create(_pair(made, k) for k in range(1, n + 1))
    else:
        subjects = Dialogue.objects.bulk_create(_dialogue(made, k) for k in range(1, n + 1))
    Item.objects.bulk_create(
        Item(study=made, sample=sample, position=k, inclusion_probability=1.0, content_hash="0" * 64, **{kind: subject})
        for k, subject in enumerate(subjects, start=1)
    )
    return made


def _dialogue(study: Study, k: int) -> Dialogue:
    turns = [{"role": "user", "content": f"Book table {k}."}, {"role": "assistant", "content": "Done."}]
    return Dialogue(source="test", external_id=f"{study.slug}-d{k}", content_hash="0" * 64, turns=turns)


def _pair(study: Study, k: int) -> ResponsePair:
    texts = {"question": f"Question {k}?", "response_1": f"First {k}", "response_2": f"Second {k}"}
    return ResponsePair(source="test", external_id=f"{study.slug}-p{k}", content_hash="0" * 64, **texts)


def people_say(criterion: Criterion, answers: Mapping[str, Column], *, kind: str = "person") -> None:
    """Each person's submitted answers on the study's items, in their order."""
    for slot, (username, values) in enumerate(answers.items(), start=1):
        person, _ = User.objects.get_or_create(username=username, defaults={"kind": kind})
        _submit(criterion, person, slot, values)


def _submit(criterion: Criterion, person: User, slot: int, values: Column) -> None:
    study, now = criterion.study, timezone.now()
    given = [(item, v) for item, v in zip(study.items.order_by("position"), values, strict=True) if v is not None]
    held = {a.item_id: a for a in Assignment.objects.filter(study=study, annotator=person)}
    new = [
        Assignment(
            study=study,
            item=item,
            slot=slot,
            rank=item.position,
            annotator=person,
            state="submitted",
            submitted_at=now,
            order="BA" if study.kind == "pair" and slot % 2 == 0 else "AB" if study.kind == "pair" else "",
        )
        for item, _ in given
        if item.pk not in held
    ]
    held |= {a.item_id: a for a in Assignment.objects.bulk_create(new)}
    Annotation.objects.bulk_create(
        Annotation(
            assignment=held[item.pk], criterion=criterion, value=value, unscored_reason="" if value else "cannot judge"
        )
        for item, value in given
    )


def judge_says(
    criterion: Criterion, name: str, values: Column, *, provider: str = "imported", order: str = "", repeat: int = 1
) -> JudgeRun:
    """A finished run of a new judge with these verdicts on the study's items, in their order."""
    run = JudgeRunFactory(
        study=criterion.study,
        judge=JudgeFactory(name=name, provider=provider),
        criteria=[criterion],
        finished_at=timezone.now(),
    )
    add_verdicts(run, criterion, values, order=order, repeat=repeat)
    return run


def add_verdicts(
    run: JudgeRun,
    criterion: Criterion,
    values: Column,
    *,
    order: str = "",
    repeat: int = 1,
    details: Sequence[Mapping[str, Any]] | None = None,
    **same: Any,
) -> None:
    """Verdicts on the study's items, in their order; `details` has one for each item, `same` is that of all."""
    items = criterion.study.items.order_by("position")
    Judgment.objects.bulk_create(
        Judgment(
            run=run,
            item=item,
            criterion=criterion,
            order=order,
            repeat=repeat,
            value=value,
            unscored_reason="" if value else "no verdict in the reply",
            details=dict(detail),
            **same,
        )
        for item, value, detail in zip(items, values, details or [{}] * len(values), strict=True)
        if value is not None
    )


PANDALM_VALUE = {0: "tie", 1: "1", 2: "2", "1": "1", "2": "2", "Tie": "tie", "garbage": ""}


def pandalm_columns(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """PandaLM's test set v1: the values of its three annotators and of its two judges ("" unparsable)."""
    people, gpt, own = (
        json.loads((folder / f"{name}testset-v1.json").read_text()) for name in ("", "gpt-3.5-turbo-", "pandalm-7b-")
    )
    return (
        {f"annotator{k}": [PANDALM_VALUE[row[f"annotator{k}"]] for row in people] for k in (1, 2, 3)},
        {
            "gpt-3.5-turbo": [PANDALM_VALUE[row["gpt_result"]] for row in gpt],
            "pandalm-7b": [PANDALM_VALUE[row["pandalm_result"]] for row in own],
        },
    )


def pandalm_study(folder: Path) -> Study:
    """PandaLM's labels and verdicts on pairs without their texts."""
    people, judges = pandalm_columns(folder)
    study = with_items(999, kind="pair", name="PandaLM", slug="pandalm")
    criterion = CriterionFactory(study=study, preference=True, key="preference", name="Preference")
    people_say(criterion, people, kind="imported")
    for name, values in judges.items():
        judge_says(criterion, name, values, order="AB")
    return study
