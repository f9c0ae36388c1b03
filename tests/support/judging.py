"""Short ways to a study that judges can work on."""

from __future__ import annotations

from typing import Any

from annotation.studies.models.studies import Study
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun
from judging.runs.services import runs, work
from tests.support import factories


def dialogue_study(n_items: int = 3, **options: Any) -> Study:
    """Dialogues with one ordinal and one yes/no criterion."""
    study = factories.StudyFactory(**options)
    factories.CriterionFactory(study=study, key="personalization")
    factories.CriterionFactory(study=study, key="task_completion", yes_no=True)
    factories.ItemFactory.create_batch(n_items, study=study)
    return study


def pair_study(n_items: int = 3, **options: Any) -> Study:
    study = factories.StudyFactory(kind="pair", **options)
    factories.CriterionFactory(study=study, key="preference", preference=True)
    factories.ItemFactory.create_batch(n_items, study=study)
    return study


def response_study(n_items: int = 3, **options: Any) -> Study:
    """Items of three responses, with one ordinal and one yes/no criterion that are asked of each."""
    study = factories.StudyFactory(kind="pair", **options)
    factories.CriterionFactory(study=study, key="helpful", unit="response")
    factories.CriterionFactory(study=study, key="correct", yes_no=True, unit="response")
    for n in range(1, n_items + 1):
        third = [{"text": f"Third {n}", "model": "m3"}]
        pair = factories.ResponsePairFactory(
            response_1=f"First {n}", response_2=f"Second {n}", further=third, n_responses=3
        )
        factories.ItemFactory(study=study, pair=pair)
    return study


def scripted(**parameters: Any) -> Judge:
    """A scripted judge that answers several requests at once, which are then saved together."""
    given = {"otherwise": "1", "concurrency": 16, **parameters}
    return factories.JudgeFactory(provider="scripted", parameters=given)


def judged(study: Study, judge: Judge, **options: Any) -> JudgeRun:
    """A run begun and worked through in this process."""
    run = runs.make(by=None, plan=runs.plan(study=study, judge=judge, **options), queue=False)
    for _ in work.work_through(run):
        pass
    run.refresh_from_db()
    return run
