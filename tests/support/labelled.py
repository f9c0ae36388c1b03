"""Studies full of labels, made in bulk: what the factories would make one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Model
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


def insert(alike: Model, **columns: Iterable[Any]) -> None:
    """Add rows like this one but for the given columns, each of which has one value a row.

    Tests write some hundred thousand rows, and `bulk_create` prepares each value of each.
    """
    fields = [field for field in alike._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{field.column}"' for field in fields)
    whole = f'INSERT INTO "{alike._meta.db_table}" ({names}) VALUES ({", ".join(["%s"] * len(fields))})'
    own = {field.attname: field.get_db_prep_save(field.pre_save(alike, add=True), connection) for field in fields}
    varying = [field for field in fields if field.attname in columns]
    assert len(varying) == len(columns), f"no column of {alike._meta.label}: {set(columns) - own.keys()}"
    rows = []
    for values in zip(*(columns[field.attname] for field in varying), strict=True):
        given = {f.attname: f.get_db_prep_save(v, connection) for f, v in zip(varying, values, strict=True)}
        rows.append(list({**own, **given}.values()))
    with connection.cursor() as cursor:
        cursor.executemany(whole, rows)


def with_items(n: int, *, kind: str = "dialogue", **study) -> Study:
    """A study of n new items."""
    made = StudyFactory(kind=kind, **study)
    sample = SampleFactory(study=made, frame_size=n, size=n)
    numbers, same = range(1, n + 1), {"source": "test", "content_hash": "0" * 64}
    model: type[ResponsePair | Dialogue] = ResponsePair if kind == "pair" else Dialogue
    names = [f"{made.slug}-{kind[0]}{k}" for k in numbers]
    insert(model(**same), external_id=names, **(_pairs if kind == "pair" else _dialogues)(numbers))
    subjects = dict(model.objects.filter(source="test", external_id__in=names).values_list("external_id", "pk"))
    alike = Item(study=made, sample=sample, inclusion_probability=1.0, content_hash="0" * 64)
    insert(alike, position=numbers, **{f"{kind}_id": [subjects[name] for name in names]})
    return made


def _dialogues(numbers: Iterable[int]) -> dict[str, list[Any]]:
    done = {"role": "assistant", "content": "Done."}
    return {"turns": [[{"role": "user", "content": f"Book table {k}."}, done] for k in numbers]}


def _pairs(numbers: Iterable[int]) -> dict[str, list[Any]]:
    texts = {"question": "Question {}?", "response_1": "First {}", "response_2": "Second {}"}
    return {name: [text.format(k) for k in numbers] for name, text in texts.items()}


def people_say(criterion: Criterion, answers: Mapping[str, Column], *, kind: str = "person") -> None:
    """Each person's submitted answers on the study's items, in their order."""
    for slot, (username, values) in enumerate(answers.items(), start=1):
        person, _ = User.objects.get_or_create(username=username, defaults={"kind": kind})
        _submit(criterion, person, slot, values)


def _submit(criterion: Criterion, person: User, slot: int, values: Column) -> None:
    study = criterion.study
    given = [(item, v) for item, v in zip(list_items(study), values, strict=True) if v is not None]
    there = Assignment.objects.filter(study=study, annotator=person)
    held = dict(there.values_list("item", "pk"))
    if new := [item for item, _ in given if item[0] not in held]:
        order = "" if study.kind != "pair" else "BA" if slot % 2 == 0 else "AB"
        alike = Assignment(study=study, slot=slot, annotator=person, state="submitted", order=order)
        alike.submitted_at = timezone.now()
        insert(alike, item_id=[pk for pk, _ in new], rank=[position for _, position in new])
        held = dict(there.values_list("item", "pk"))
    insert(
        Annotation(criterion=criterion),
        assignment_id=[held[pk] for (pk, _), _ in given],
        value=[value for _, value in given],
        unscored_reason=["" if value else "cannot judge" for _, value in given],
    )


def list_items(study: Study) -> list[tuple[int, int]]:
    """Primary key and position of each item, in their order."""
    return list(study.items.order_by("position").values_list("pk", "position"))


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
    each = zip(list_items(criterion.study), values, details or [{}] * len(values), strict=True)
    told = [(pk, value, detail) for (pk, _), value, detail in each if value is not None]
    insert(
        Judgment(run=run, criterion=criterion, order=order, repeat=repeat, **same),
        item_id=[pk for pk, _, _ in told],
        value=[value for _, value, _ in told],
        unscored_reason=["" if value else "no verdict in the reply" for _, value, _ in told],
        details=[dict(detail) for _, _, detail in told],
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
