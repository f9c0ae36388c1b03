"""What people and a judge wrote about some items: notes, evidence, reasons, explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion, Study
from judging.assessment.queries.ratings import list_judgments
from judging.runs.models.runs import JudgeRun

Written = dict[tuple[int, str], dict[str, Any]]
"""By position and criterion key."""


def load_written(
    study: Study, criteria: Iterable[Criterion], runs: Mapping[str, JudgeRun], positions: Iterable[int]
) -> Written:
    """Of the items at these positions, on these criteria. Three queries.

    Each holds ``external_id``, ``notes`` and ``evidence`` by annotator, the ``reason`` of the newest adjudication, and
    the judge's ``explanation`` with the ``judgment`` it stands in.
    """
    wanted, key_of = sorted(set(positions)), {criterion.pk: criterion.key for criterion in criteria}
    ids = _ids(study, wanted)
    found: Written = {
        (position, key): {
            "external_id": ids[position],
            "notes": {},
            "evidence": {},
            "reason": "",
            "explanation": "",
            "judgment": None,
        }
        for position in wanted
        for key in key_of.values()
    }
    _add_people(found, study, key_of, wanted)
    _add_decisions(found, key_of, wanted)
    _add_judge(found, key_of, runs, wanted)
    return found


def _ids(study: Study, positions: list[int]) -> dict[int, str]:
    name = f"{study.kind}__external_id"
    return dict(study.items.filter(position__in=positions).values_list("position", name))


def _add_people(found: Written, study: Study, key_of: Mapping[int, str], positions: list[int]) -> None:
    rows = Annotation.objects.only_counting().filter(
        assignment__study=study, assignment__item__position__in=positions, criterion__in=list(key_of)
    )
    fields = ("assignment__item__position", "criterion_id", "assignment__annotator__username", "note", "evidence")
    for position, criterion, username, note, evidence in rows.order_by(*fields[:3]).values_list(*fields):
        place = found[position, key_of[criterion]]
        if note:
            place["notes"][username] = note
        if quotes := [str(mark.get("text", "")) for mark in evidence or () if mark.get("text")]:
            place["evidence"][username] = quotes


def _add_decisions(found: Written, key_of: Mapping[int, str], positions: list[int]) -> None:
    oldest_first = Adjudication.objects.filter(criterion__in=list(key_of), item__position__in=positions)
    fields = ("item__position", "criterion_id", "reason")
    for position, criterion, reason in oldest_first.order_by("created_at", "pk").values_list(*fields):
        found[position, key_of[criterion]]["reason"] = reason


def _add_judge(found: Written, key_of: Mapping[int, str], runs: Mapping[str, JudgeRun], positions: list[int]) -> None:
    pks = {run.pk for run in runs.values()}
    first = list_judgments(pks).filter(repeat=1, turn=0, item__position__in=positions, criterion__in=list(key_of))
    fields = ("pk", "run_id", "item__position", "criterion_id", "explanation")
    for pk, run, position, criterion, explanation in first.order_by("-order", "-pk").values_list(*fields):
        key = key_of[criterion]
        if key in runs and runs[key].pk == run:
            found[position, key] |= {"explanation": explanation, "judgment": pk}
