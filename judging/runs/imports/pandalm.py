"""PandaLM's test set with its two judges: pairs, people's choices, and the judges' verdicts beside them."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from annotation.corpus.parsing import pandalm as parsing
from annotation.studies.imports import pandalm
from annotation.studies.models.studies import Criterion, Item, Study
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome
from judging.runs.imports import judgments

UNPARSABLE = "unparsable"


@audited("labels.import", says=("folder", "on_error"))
def load(*, by: User | None, folder: Path, on_error: OnError = "stop", project: Project | None = None) -> Outcome:
    """Import the folder. A judge's file may be absent."""
    place, problems = InputFile.from_path(folder), Problems(on_error)
    with transaction.atomic():
        outcome = pandalm.load(by=by, folder=place, problems=problems, project=project)
        outcome.kinds += ("judges", "judgments")
        study = Study.objects.get(name=pandalm.STUDY)
        for judge, name in parsing.JUDGES.items():
            if (folder / name).exists():
                save_judge(by, study, judge, parsing.inside(place, name), problems, outcome)
    outcome.set_aside(problems, beside=folder)
    return outcome


def save_judge(
    by: User | None, study: Study, judge: str, file: InputFile, problems: Problems, outcome: Outcome
) -> None:
    items = dict(Item.objects.filter(study=study).values_list("pair__external_id", "pk"))
    criterion = study.criteria.get(key="preference")
    found = [
        to_judgment(verdict, items[str(verdict.idx)], criterion)
        for verdict in parsing.read_verdicts(file, set(items), problems)
    ]
    judgments.save(by=by, study=study, judge=judge, judgments=found, outcome=outcome)


def to_judgment(verdict: parsing.Verdict, item: int, criterion: Criterion) -> judgments.ImportedJudgment:
    value = verdict.value
    return judgments.ImportedJudgment(
        item=item,
        criterion=criterion.pk,
        value=value or "",
        unscored_reason="" if value else UNPARSABLE,
        explanation=verdict.reason,
        details={"result": verdict.result, "reference": verdict.reference},
    )
