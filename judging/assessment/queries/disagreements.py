"""What people and a judge wrote about some items: notes, evidence, reasons, explanations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion, Study
from judging.assessment.queries.ratings import list_judgments
from judging.runs.models.runs import JudgeRun


class WrittenTexts(TypedDict):
    """Notes and evidence by annotator, the newest adjudication's reason, the judge's explanation and its judgment."""

    external_id: str
    notes: dict[str, str]
    evidence: dict[str, list[str]]
    reason: str
    explanation: str
    judgment: int | None


Written = dict[tuple[int, int, str], WrittenTexts]
"""By position, turn or response (0 for the whole item) and criterion key."""


def load_written(
    study: Study, criteria: Iterable[Criterion], runs: Mapping[str, JudgeRun], rows: Iterable[tuple[int, int]]
) -> Written:
    """Of these rows, each a position and a turn, on these criteria. Four queries."""
    chosen, key_of = sorted(set(rows)), {criterion.pk: criterion.key for criterion in criteria}
    wanted = sorted({position for position, _ in chosen})
    ids = _ids(study, wanted)
    found: Written = {
        (position, turn, key): {
            "external_id": ids[position],
            "notes": {},
            "evidence": {},
            "reason": "",
            "explanation": "",
            "judgment": None,
        }
        for position, turn in chosen
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
    where = ("assignment__item__position", "turn", "criterion_id", "assignment__annotator__username")
    for position, turn, criterion, username, note, evidence in rows.order_by(*where).values_list(
        *where, "note", "evidence"
    ):
        place = found.get((position, turn, key_of[criterion]))
        if place is None:
            continue
        if note:
            place["notes"][username] = note
        if quotes := [str(mark.get("text", "")) for mark in evidence or () if mark.get("text")]:
            place["evidence"][username] = quotes


def _add_decisions(found: Written, key_of: Mapping[int, str], positions: list[int]) -> None:
    oldest_first = Adjudication.objects.filter(criterion__in=list(key_of), item__position__in=positions)
    fields = ("item__position", "turn", "criterion_id", "reason")
    for position, turn, criterion, reason in oldest_first.order_by("created_at", "pk").values_list(*fields):
        if place := found.get((position, turn, key_of[criterion])):
            place["reason"] = reason


def _add_judge(found: Written, key_of: Mapping[int, str], runs: Mapping[str, JudgeRun], positions: list[int]) -> None:
    pks = {run.pk for run in runs.values()}
    first = list_judgments(pks).filter(repeat=1, item__position__in=positions, criterion__in=list(key_of))
    fields = ("pk", "run_id", "item__position", "turn", "criterion_id", "explanation")
    for pk, run, position, turn, criterion, explanation in first.order_by("-order", "-pk").values_list(*fields):
        key = key_of[criterion]
        place = found.get((position, turn, key))
        if place is not None and key in runs and runs[key].pk == run:
            place |= {"explanation": explanation, "judgment": pk}
