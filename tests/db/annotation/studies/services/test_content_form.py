"""In which form texts are shown is the study's, is exported with its labels, and stays with studies that follow."""

from __future__ import annotations

import pytest

from annotation.agreement.services import exports
from annotation.studies.models.studies import Study
from annotation.studies.queries.labels import load_people
from annotation.studies.services import studies
from core.errors import InputError
from judging.assessment.services.follow_up_studies import like
from tests.support.factories import AnnotationFactory, ResearcherFactory

pytestmark = pytest.mark.django_db


def test_new_studies_show_texts_rendered():
    made = studies.create(by=ResearcherFactory(), name="New", kind="pair")
    assert Study.objects.get(pk=made.pk).content_form == "rendered"


def test_it_can_be_plain_and_nothing_else():
    alice = ResearcherFactory()
    made = studies.create(by=alice, name="New", kind="pair", content_form="plain")
    assert Study.objects.get(pk=made.pk).content_form == "plain"
    with pytest.raises(InputError) as raised:
        studies.create(by=alice, name="Other", kind="pair", content_form="pdf")
    assert raised.value.field == "content_form"


@pytest.mark.parametrize("form", ["rendered", "plain"])
def test_labels_say_which_form_was_shown(form):
    study = AnnotationFactory(assignment__state="submitted").assignment.study
    Study.objects.update(content_form=form)
    (row,) = load_people(study)
    assert row.content_form == form
    header, line = "".join(exports.csv_lines([row])).splitlines()
    assert dict(zip(header.split(","), line.split(","), strict=True))["content_form"] == form


def test_a_study_that_follows_shows_the_same_form():
    alice = ResearcherFactory()
    made = studies.create(by=alice, name="New", kind="pair", content_form="plain")
    assert like(by=alice, source=made, name="Again", overlap=1, description="").content_form == "plain"
