"""Table 5 equals the kappas of scikit-learn and statsmodels; command and page show it beside the printed one."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from tests.support import factories
from tests.support.judging import judged, scripted
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db

N = 12
RNG = np.random.default_rng(4)
JUDGE = RNG.integers(1, 5, N)
PEOPLE = [np.where(RNG.random(N) < 0.6, JUDGE, RNG.integers(1, 5, N)) for _ in range(3)]


@pytest.fixture(scope="module")
def rated(django_db_setup, django_db_blocker):
    """The slug of a study that three people and a judge have rated."""

    def make() -> str:
        study = factories.StudyFactory(name="Check")
        criterion = factories.CriterionFactory(study=study, key="personalization")
        items = factories.ItemFactory.create_batch(N, study=study)
        for values in PEOPLE:
            annotator = factories.UserFactory()
            for item, value in zip(items, values.tolist(), strict=True):
                assignment = factories.AssignmentFactory(item=item, annotator=annotator, submitted=True)
                factories.AnnotationFactory(assignment=assignment, criterion=criterion, value=str(value))
        answers = {
            "personalization": {one.dialogue.external_id: str(v) for one, v in zip(items, JUDGE.tolist(), strict=True)}
        }
        judged(study, scripted(answers=answers))
        return study.slug

    yield from share_rows(django_db_blocker, make)


def table_5(*options: str):
    out = StringIO()
    call_command("measures", "--table", "5", "--json", *options, stdout=out)
    return json.loads(out.getvalue())


def test_it_equals_other_libraries(rated):
    [row] = table_5("--study", rated)["rows"]

    kappas = [cohen_kappa_score(values, JUDGE) for values in PEOPLE]
    assert row["mean_cohen_kappa"]["value"] == pytest.approx(np.mean(kappas))
    assert row["fleiss_kappa"]["value"] == pytest.approx(fleiss_kappa(aggregate_raters(np.array(PEOPLE).T)[0]))
    assert (row["items"], row["raters"]) == (N, 3)
    assert row["fleiss_kappa"]["low"] < row["fleiss_kappa"]["value"] < row["fleiss_kappa"]["high"]


@pytest.mark.any_database
def test_the_printed_kappas_stand_beside(rated, client):
    found = table_5("--study", rated, "--published")
    assert found["rows"][0]["published"] == {"mean_cohen_kappa": 0.52, "fleiss_kappa": 0.75}
    assert len(found["published"]["others"]) == 5

    client.force_login(factories.ResearcherFactory())
    page = client.get(reverse("human_check", args=[rated])).content.decode()
    assert '<td class="numeric">0.520</td>' in page
    assert f"{found['rows'][0]['fleiss_kappa']['value']:.2f}" in page


@pytest.mark.parametrize("options", [["--table", "5"], ["--study", "check", "--table", "8"]])
def test_table_and_study_belong_together(options):
    with pytest.raises(CommandError, match="Table 5 and --study belong together") as error:
        call_command("measures", *options)
    assert error.value.returncode == 2


def test_without_people_or_judge_there_are_reasons():
    study = factories.StudyFactory()
    factories.CriterionFactory(study=study)
    factories.ItemFactory(study=study)

    [row] = table_5("--study", study.slug)["rows"]

    assert row["judge"] is None
    assert row["fleiss_kappa"]["reason"]
