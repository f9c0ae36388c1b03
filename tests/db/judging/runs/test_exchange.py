"""A study written for another tool and read back into an empty database is the same study."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.utils import timezone

from annotation.corpus.exchange.dataset import ExchangedAnswer
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Item, Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from core.files.input_files import InputFile
from judging.judges.models import Judge
from judging.runs.imports import study_packages as reading
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import hf_dataset, tool_files
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.factories import (
    CriterionFactory,
    DialogueFactory,
    JudgeRunFactory,
    ResearcherFactory,
    ResponsePairFactory,
    UserFactory,
)
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items

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


def typed(kind: str) -> Study:
    """A study of every type of answer, as an annotator hands it in."""
    rubric = {"dialogue": DIALOGUE, "pair": PAIR}[kind]
    bob, alice = UserFactory(username="bob"), ResearcherFactory()
    (DialogueFactory if kind == "dialogue" else ResponsePairFactory).create_batch(2)
    study = studies.create(by=alice, name="Pilot", kind=kind, rubric=rubric, overlap=1)
    samples.draw(by=alice, study=study)
    assignments.add_annotators(by=alice, study=study, annotators=[bob])
    studies.open(by=alice, study=study)
    for answers in GIVEN[kind]:
        annotations.submit(by=bob, assignment=assignments.lease_next(by=bob, study=study), values=answers)
    User.objects.filter(pk=bob.pk).update(username="bob@pilot", kind=User.Kind.IMPORTED)
    return study


SPAN = {"start": 1, "end": 5, "category": "rude"}
SPANS = json.dumps([SPAN | {"part": "turn-2", "severity": "minor"}])
GIVEN = {
    "dialogue": [
        {"done": "no", "faults": "time|size", "share": "35", "errors": SPANS, "critique": "Wörd\n2", "better.2": "So."},
        {"done": "no", "faults": "-", "share": "0", "errors": "[]"},
    ],
    "pair": [
        {
            "preference": "tie",
            "helpful.A": "1",
            "helpful.B": "3",
            "order": "A=B",
            "ends": "B>A",
            "errors.A": json.dumps([SPAN | {"part": "A"}]),
            "errors.B": "[]",
            "better.B": "So, „so“.",
        },
    ],
}


def typed_dialogues() -> Study:
    return typed("dialogue")


def typed_pairs() -> Study:
    return typed("pair")


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
@pytest.mark.parametrize("make", [pairs, dialogues, typed_pairs, typed_dialogues])
def test_there_and_back(key, make, tmp_path):
    if make in (dialogues, typed_dialogues) and "dialogue" not in EXCHANGES[key].kinds:
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


@pytest.mark.parametrize("make", [pairs, dialogues])
def test_there_and_back_as_a_dataset(make, tmp_path):
    study = make()
    before = everything(study)
    hf_dataset.write(study, tmp_path / "out")
    forget()
    file = InputFile.from_path(tmp_path / "out")
    outcome = reading.load(by=None, file=file, format="hf", study="Pilot")
    assert sum(outcome.created.values()) > 0
    after = everything(Study.objects.get())
    assert after == before
    again = reading.load(by=None, file=file, format="hf", study="Pilot")
    assert not sum(again.created.values())


def test_a_picture_that_is_not_here_is_named(tmp_path):
    study, sha256 = with_items(1, kind="pair", name="Pilot"), "0" * 63 + "1"
    picture = {"kind": "image", "start": 0, "end": 1, "sha256": sha256, "type": "image/png", "name": "cat.png"}
    ResponsePair.objects.update(parts={"question": [picture]})
    hf_dataset.write(study, tmp_path / "out")
    forget()
    with pytest.raises(InputError, match=r"line 1.*cat\.png is not on this site"):
        reading.load(by=None, file=InputFile.from_path(tmp_path / "out"), format="hf", study="Pilot")
    assert not ResponsePair.objects.exists()


@pytest.mark.parametrize("key", WRITTEN)
def test_read_twice_changes_nothing(key, tmp_path):
    study = pairs()
    tool_files.write(study, EXCHANGES[key], tmp_path / "out")
    forget()
    read(key, tmp_path / "out")
    again = read(key, tmp_path / "out")
    assert not sum(again.created.values())
    assert not sum(again.updated.values())
