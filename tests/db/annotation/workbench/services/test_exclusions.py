"""An excluded annotator's labels stay, and nothing is computed from them until they count again."""

import pytest

from annotation.quality.queries import quality
from annotation.studies.models.labels import Annotation, Exclusion
from annotation.studies.queries import labels, ratings
from annotation.workbench.queries import adjudication
from annotation.workbench.services import assignments, exclusions
from core.errors import InputError
from tests.support.factories import CriterionFactory, ResearcherFactory, StudyFactory, UserFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    found = CriterionFactory(study=with_items(4), key="personalization")
    people_say(found, {"bob": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "4"], "erin": ["4", "1", "2", "1"]})
    found.study.annotators.set(person(found, name) for name in ("bob", "dana", "erin"))
    return found


def person(criterion, name):
    return criterion.study.assignments.filter(annotator__username=name).first().annotator


def raters(criterion) -> tuple[str, ...]:
    return ratings.load_criterion(criterion).table.raters


def test_everything_computed_leaves_the_labels_out_and_the_labels_stay(criterion):
    alice = ResearcherFactory()
    exclusions.exclude(by=alice, study=criterion.study, annotator=person(criterion, "erin"), reason="careless")
    assert raters(criterion) == ("bob", "dana")
    assert len(adjudication.disputes(criterion)) == 0
    assert [row.annotator for row in quality.load_study(criterion.study, bootstrap=0)] == ["bob", "dana"]
    assert Annotation.objects.count() == 12
    rows = list(labels.load_people(criterion.study))
    assert {row.rater for row in rows if row.excluded} == {"erin"}
    assert len(rows) == 12


def test_taken_in_again_they_count_again_and_both_decisions_are_on_record(criterion):
    alice, carol, erin = ResearcherFactory(username="alice"), ResearcherFactory(), person(criterion, "erin")
    exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason="careless")
    exclusions.readmit(by=carol, study=criterion.study, annotator=erin, reason="it was the guideline")
    assert raters(criterion) == ("bob", "dana", "erin")
    one = Exclusion.objects.get()
    assert (one.reason, one.decided_by, one.end_reason, one.ended_by) == (
        "careless",
        alice,
        "it was the guideline",
        carol,
    )
    exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason="careless again")
    assert raters(criterion) == ("bob", "dana")


def test_only_in_this_study(criterion):
    other = CriterionFactory(study=with_items(4), key="personalization")
    people_say(other, {"finn": ["1", "2", "3", "4"]})
    finn = person(other, "finn")
    criterion.study.annotators.add(finn)
    exclusions.exclude(by=ResearcherFactory(), study=criterion.study, annotator=finn, reason="knows the material")
    assert raters(other) == ("finn",)


def test_no_more_items_are_handed_out(open_study):
    bob = UserFactory(username="bob")
    study = open_study([bob], items=2, overlap=1, criteria=["personalization"])
    held = assignments.lease_next(by=bob, study=study)
    exclusions.exclude(by=ResearcherFactory(), study=study, annotator=bob, reason="careless")
    held.refresh_from_db()
    assert (held.state, held.annotator) == ("open", None)
    with pytest.raises(InputError, match="No more items"):
        assignments.lease_next(by=bob, study=study)
    exclusions.readmit(by=ResearcherFactory(), study=study, annotator=bob, reason="explained")
    assert assignments.lease_next(by=bob, study=study) is not None


def test_what_is_refused(criterion):
    alice, erin = ResearcherFactory(), person(criterion, "erin")
    with pytest.raises(InputError, match="Say why"):
        exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason=" ")
    with pytest.raises(InputError, match="is not excluded"):
        exclusions.readmit(by=alice, study=criterion.study, annotator=erin, reason="so")
    with pytest.raises(InputError, match="is not an annotator"):
        exclusions.exclude(by=alice, study=StudyFactory(), annotator=erin, reason="so")
    exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason="so")
    with pytest.raises(InputError, match="excluded already"):
        exclusions.exclude(by=alice, study=criterion.study, annotator=erin, reason="so")
