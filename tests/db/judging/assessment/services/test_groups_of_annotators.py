"""Agreement by what annotators said of themselves: within each group, kept apart from names, small groups withheld."""

from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.recruitment.models import DemographicAnswer
from annotation.recruitment.services import demographics
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

SAME, SPLIT = ["1", "2", "1", "2", "1", "2"], ["1", "1", "2", "2", "2", "1"]
PEOPLE = {
    **dict.fromkeys(("ann", "ben", "cleo"), SAME),
    "dana": SAME,
    "erin": SPLIT,
    "finn": ["2", "2", "2", "2", "1", "2"],
    "gus": SPLIT,
}
AGES = dict.fromkeys(("ann", "ben", "cleo"), "18-29") | dict.fromkeys(("dana", "erin", "finn"), "30-44")


@pytest.fixture
def criterion() -> Criterion:
    """Three of each of two ages, and gus, who alone is of a third; a judge that says what the young say."""
    study = with_items(6, name="Ages", slug="ages")
    found = CriterionFactory(study=study, key="warm", name="Warmth")
    people_say(found, PEOPLE)
    judge_says(found, "gpt", SAME)
    study.annotators.set(User.objects.filter(username__in=PEOPLE))
    demographics.add_question(by=None, study=study, text="Age?", options=["18-29", "30-44", "45+"], key="age")
    for name, age in {**AGES, "gus": "45+"}.items():
        demographics.answer(by=User.objects.get(username=name), study=study, answers={"age": age})
    return found


def document(criterion: Criterion, by: str) -> dict:
    options = JudgedOptions(bootstrap=200, by=by)
    ratings = StudyRatings.from_options(criterion.study, options)
    run = agreement.load_or_compute(by=None, study=criterion.study, options=options, ratings=ratings)
    return run.result["criteria"][criterion.key]


def command(*args: str) -> dict:
    out = io.StringIO()
    call_command("agreement", "--study", "ages", "--bootstrap", "200", *args, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("by", ["age", "annotator:age"])
def test_each_group_by_itself_with_its_counts_and_interval(criterion: Criterion, by: str) -> None:
    found = document(criterion, by)
    assert "groups" not in found
    held = found["annotator_groups"]
    assert (held["people"], held["answered"], held["groups_left_out"], held["least_people"]) == (7, 7, 1, 3)
    young, old = held["groups"]
    assert (young["group"], young["n_raters"], young["n_items_pairable"], young["n_ratings"]) == ("18-29", 3, 6, 18)
    assert young["fleiss_kappa"]["value"] == 1.0
    assert old["fleiss_kappa"]["value"] < 0.2
    assert old["fleiss_kappa"]["reason"] == "not enough evidence: 6 items; at least 8 are needed"
    assert young["judges"]["gpt"]["mean_cohen_kappa"]["value"] == 1.0
    assert old["judges"]["gpt"]["mean_cohen_kappa"]["value"] < 0.5


@pytest.mark.each_database
def test_nothing_says_who_is_in_a_group(criterion: Criterion) -> None:
    held = json.dumps(document(criterion, "age")["annotator_groups"])
    assert "45+" not in held, "gus is the only one"
    assert not any(name in held for name in PEOPLE)
    kept = json.dumps([run.result["criteria"]["warm"]["annotator_groups"] for run in AgreementRun.objects.all()])
    assert not any(name in kept for name in PEOPLE)


def test_who_prefers_not_to_say_is_in_no_group(criterion: Criterion) -> None:
    demographics.answer(by=User.objects.get(username="ann"), study=criterion.study, answers={"age": ""})
    held = document(criterion, "age")["annotator_groups"]
    assert (held["answered"], held["groups_left_out"]) == (6, 2)
    assert [one["group"] for one in held["groups"]] == ["30-44"]


@pytest.mark.long
@pytest.mark.each_database
def test_another_answer_is_another_result_and_the_same_is_kept(criterion: Criterion) -> None:
    document(criterion, "age")
    document(criterion, "age")
    assert AgreementRun.objects.count() == 1
    DemographicAnswer.objects.filter(annotator__username="gus").update(value="30-44")
    assert document(criterion, "age")["annotator_groups"]["groups"][1]["n_raters"] == 4
    assert AgreementRun.objects.count() == 2


def test_a_grouping_of_items_goes_first_where_both_are_called_so(criterion: Criterion) -> None:
    options = ["here", "elsewhere"]
    demographics.add_question(by=None, study=criterion.study, text="Domain?", options=options, key="domain")
    assert "groups" in document(criterion, "domain")
    assert document(criterion, "annotator:domain")["annotator_groups"]["groups"] == []


def test_an_unknown_field_says_which_there_are(criterion: Criterion) -> None:
    with pytest.raises(InputError, match=r"choose one of tier, .*; annotators by annotator:age"):
        document(criterion, "annotator:gender")


def test_the_reading_costs_a_constant_number_of_queries(criterion: Criterion, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(12):
        StudyRatings.from_options(criterion.study, JudgedOptions(by="age"))


def test_the_command_says_it_in_json_and_in_words(criterion: Criterion, capsys: pytest.CaptureFixture[str]) -> None:
    found = command("--by", "age")
    assert [one["group"] for one in found["annotator_groups"]["groups"]] == ["18-29", "30-44"]
    call_command("agreement", "--study", "ages", "--bootstrap", "20", "--by", "annotator:age")
    out = capsys.readouterr().out
    assert "annotators by what they answered: 7 of 7 answered; groups of fewer than 3 left out: 1" in out
    assert "18-29" in out
    assert "45+" not in out
    with pytest.raises(CommandError) as raised:
        command("--by", "gender")
    assert raised.value.returncode == 2
    assert "annotator:age" in str(raised.value)


@pytest.mark.long
def test_the_page_and_its_downloads_show_it(criterion: Criterion) -> None:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    address = reverse("agreement", args=["ages"])
    assert "Groups of annotators" not in client.get(address).content.decode()
    html = re.sub(r'datetime="[^"]*"', "", client.get(address, {"by": "annotator:age"}).content.decode())
    assert "Groups of annotators on Warmth" in html
    assert "7 of the 7 annotators who rated this gave an answer" in html
    assert "Answers that fewer than 3 of them gave are not shown: 1." in html
    assert '<option value="annotator:age" selected>Age?</option>' in html
    assert "45+" not in html
    csv = client.get(reverse("agreement_download", args=["ages", "csv"]), {"by": "annotator:age"}).content.decode()
    assert "warm,annotators of a group,18-29,,fleiss_kappa,1.0" in csv
    assert "warm,annotators of a group,18-29,gpt,mean_cohen_kappa,1.0" in csv
    assert "45+" not in csv


@pytest.mark.long
def test_an_answer_with_markup_is_text(criterion: Criterion) -> None:
    study = criterion.study
    demographics.add_question(by=None, study=study, text="<i>Where?</i>", options=["<b>here</b>", "there"], key="where")
    for person in User.objects.filter(username__in=AGES):
        demographics.answer(by=person, study=study, answers={"where": "<b>here</b>"})
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    html = client.get(reverse("agreement", args=["ages"]), {"by": "annotator:where"}).content.decode()
    assert "&lt;b&gt;here&lt;/b&gt;" in html
    assert "<b>here" not in html
    assert "<i>Where" not in html


def test_the_api_gives_the_same(criterion: Criterion) -> None:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    asked = {"by": "annotator:age", "bootstrap": "200"}
    found = client.get("/api/v1/studies/ages/agreement", asked)
    assert found.status_code == 200, found.content
    assert found.json()["annotator_groups"] == command("--by", "annotator:age")["annotator_groups"]
