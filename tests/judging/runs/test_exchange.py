"""A study written for another tool and read back into an empty database is the same study."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone

from annotation.corpus.exchange.dataset import ExchangedAnswer
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Assignment, Item, Study
from core.files.input_files import InputFile
from judging.judges.models.judges import Judge
from judging.runs.imports import study_packages as reading
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import tool_files
from tests.factories import CriterionFactory, JudgeRunFactory
from tests.labelled import add_verdicts, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db

WRITTEN = [key for key, one in EXCHANGES.items() if one.files]


def pairs() -> Study:
    study = with_items(3, kind="pair", name="Pilot")
    criterion = CriterionFactory(study=study, preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie"], "eve": ["2", "2", ""]})
    Assignment.objects.filter(annotator__username="bob").update(order="BA", active_seconds=12.5)
    first = Annotation.objects.filter(value="2").order_by("pk").first()
    Annotation.objects.filter(pk=first.pk).update(
        note="Because, „so“.", strength="much", evidence=[{"part": "a", "start": 0, "end": 5, "text": "First"}]
    )
    run = judge_says(criterion, "gpt", ["1", "", "2"], order="AB")
    again = JudgeRunFactory(study=study, judge=run.judge, criteria=[criterion], finished_at=timezone.now())
    add_verdicts(again, criterion, ["2", "2", "2"], order="AB")
    ResponsePair.objects.filter(external_id__endswith="p1").update(extra={"topic": "خبز"}, model_1="m 1")
    return study


def dialogues() -> Study:
    study = with_items(3, name="Pilot")
    people_say(
        CriterionFactory(study=study, key="natural", position=1), {"bob": ["4", "3", "1"], "eve": ["", "2", "3"]}
    )
    yes = [{"value": "yes", "label": "Yes", "guideline": "It is."}, {"value": "no", "label": "No", "guideline": ""}]
    done = CriterionFactory(study=study, key="done", position=2, level="nominal", categories=yes)
    people_say(done, {"bob": ["yes", "no", "no"]})
    turned = CriterionFactory(study=study, key="turned", position=3, unit="assistant_turn")
    people_say(turned, {"eve": ["4", "4", "4"]})
    Annotation.objects.filter(criterion=turned).update(turn=2)
    judge_says(done, "gpt", ["yes", "", "no"])
    return study


def everything(study: Study) -> list[tuple]:
    """All that an export says of the study, but for when a judge answered: an import is a run of its own."""
    source = tool_files.Source(study)
    return [source.head, *((dict(one.record), dict(one.facts), set(map(timeless, one.answers))) for one in source())]


def timeless(answer: ExchangedAnswer) -> tuple:
    kept = replace(answer, submitted_at="") if answer.of_judge else answer
    return tuple(sorted((name, repr(value)) for name, value in kept.to_extras().items()))


def forget() -> None:
    for model in (Judgment, JudgeRun, Judge, Annotation, Assignment, Item, Study, Dialogue, ResponsePair):
        model.objects.all().delete()


def read(key: str, folder, **told):
    first = next(iter(EXCHANGES[key].files))
    path = folder if key == "potato" else folder / first
    return reading.load(by=None, file=InputFile.from_path(path), format=key, study="Pilot", **told)


@pytest.mark.parametrize("key", WRITTEN)
@pytest.mark.parametrize("make", [pairs, dialogues])
def test_there_and_back(key, make, tmp_path):
    if make is dialogues and "dialogue" not in EXCHANGES[key].kinds:
        return
    study = make()
    before = everything(study)
    tool_files.write(study, EXCHANGES[key], tmp_path / "out")
    forget()

    outcome = read(key, tmp_path / "out")
    assert sum(outcome.created.values()) > 0
    after = everything(Study.objects.get())
    assert after[0] == before[0]
    assert after[1:] == before[1:]


@pytest.mark.parametrize("key", WRITTEN)
def test_read_twice_changes_nothing(key, tmp_path):
    study = pairs()
    tool_files.write(study, EXCHANGES[key], tmp_path / "out")
    forget()
    read(key, tmp_path / "out")
    again = read(key, tmp_path / "out")
    assert not sum(again.created.values())
    assert not sum(again.updated.values())
