"""Which items of a study to label next."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpus.models import Dialogue
from judging.assessment.models.assessment import LabelPlan
from judging.assessment.queries.assessment_data import StudyData
from judging.judges.models import Judge
from tests.db.judging.assessment.services.judged import study
from tests.support.factories import CriterionFactory, ResearcherFactory, UserFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def run(**options):
    out = io.StringIO()
    chosen = {"study": "Known", "judge": "gpt", "criterion": "personalization", **options}
    call_command("plan_labels", json=True, stdout=out, **chosen)
    return json.loads(out.getvalue())


def test_only_unlabelled_items_are_next_and_their_number_is_what_is_missing():
    study(n=120, labelled=30)
    found = run(width=0.42)
    assert found["needed"]["labelled"] == 30
    assert found["needed"]["with_judge"] < found["needed"]["without_judge"]
    assert len(found["items"]) == found["needed"]["more"] > 0
    assert all(item["position"] > 30 and 0 < item["probability"] <= 1 for item in found["items"])
    assert run(width=0.42) == found
    assert run(width=3.0)["items"] == []


def test_pairs_are_planned_for_the_win_rate_with_ties_as_half():
    made = with_items(80, kind="pair", name="Known", slug="known")
    criterion = CriterionFactory(study=made, key="preference", preference=True)
    label = ["1", "1", "2", "tie"] * 10
    people_say(criterion, {"bob": [*label, *[None] * 40]})
    judge_says(criterion, "gpt", ["1", "tie", "2", "2"] * 20)
    found = run(criterion="preference", width=0.2)
    assert found["estimand"] == "the win rate of response 1, ties as half"
    y, f = np.array([1.0, 1.0, 0.0, 0.5] * 10), np.array([1.0, 0.5, 0.0, 0.0] * 10)
    variance, r2, most = y.var(ddof=1), np.corrcoef(y, f)[0, 1] ** 2, (0.1 / 1.959964) ** 2
    assert found["needed"]["without_judge"] == np.ceil(variance / most)
    assert found["needed"]["with_judge"] == np.ceil(variance * (1 - r2) / (most - variance * r2 / 80))
    assert len(found["items"]) == found["needed"]["more"]
    back = run(criterion="preference", width=0.2, name="Next")
    assert back["slug"]


def test_labels_are_allocated_over_groups():
    criterion = study(n=120, labelled=30)
    halves = ((range(1, 61), "fern"), (range(61, 121), "moss"))
    for places, name in halves:
        Dialogue.objects.filter(items__study=criterion.study, items__position__in=places).update(assistant_model=name)
    found = run(width=0.42, by="assistant")
    assert sum(found["allocation"].values()) == found["needed"]["more"]
    assert set(found["allocation"]) == {"fern", "moss"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "between 0.0001 and"),
        ({"width": 0.42, "by": "colour"}, "not grouped by 'colour'"),
        ({"width": 0.42, "criterion": "other"}, "no criterion is called 'other'"),
    ],
)
def test_bad_usage_says_what_is_wrong(options, message):
    study(n=30)
    with pytest.raises(CommandError, match=message):
        run(**options)


def test_too_few_labels_make_no_plan():
    study(n=30, labelled=5)
    found = run(width=0.42)
    assert "a plan needs 10" in found["reason"]
    assert found["items"] == []


class TestStudyOfThePlan:
    """What was drawn becomes a study, and its labels come back with the probabilities of the draw."""

    def made(self, **options):
        criterion = study(n=120, labelled=30)
        document = run(width=0.42, name="Next", overlap=2, **options)
        return criterion, document, LabelPlan.objects.get()

    def answer(self, plan, truth):
        made = plan.target
        there = dict(plan.study.items.values_list("dialogue_id", "position"))
        values = [truth[there[pk]] for pk in made.items.order_by("position").values_list("dialogue_id", flat=True)]
        people_say(made.criteria.get(), {"zoe": values})

    def test_the_items_keep_the_probabilities_of_the_draw(self):
        criterion, document, plan = self.made()
        assert document["study"] == "Next"
        given = {item["position"]: item["probability"] for item in document["items"]}
        there = dict(criterion.study.items.values_list("dialogue_id", "position"))
        items = plan.target.items.all()
        assert {there[item.dialogue_id]: item.inclusion_probability for item in items} == pytest.approx(given)
        assert (plan.target.overlap, plan.target.samples.get().method) == (2, "active")
        assert len(plan.probabilities) == document["could_be_drawn"] == 90
        assert sum(plan.probabilities.values()) == pytest.approx(len(given))
        weights = StudyData.load(plan.target).material.weights
        if weights is not None:
            assert weights == pytest.approx([1 / item.inclusion_probability for item in items.order_by("position")])

    @pytest.mark.each_database
    def test_doubt_makes_them_unequal_and_weights_say_so(self):
        criterion = study(n=120, labelled=30)
        for judgment in criterion.judgments.select_related("item"):
            sure = 0.5 + judgment.item.position % 5 / 10
            judgment.details = {"distribution": {judgment.value: sure}}
            judgment.save()
        run(width=0.42, name="Next")
        plan = LabelPlan.objects.get()
        assert len(set(plan.probabilities.values())) == 5
        material = StudyData.load(plan.target).material
        there = dict(criterion.study.items.values_list("dialogue_id", "position"))
        wanted = [
            1 / plan.probabilities[str(there[item.dialogue_id])] for item in plan.target.items.order_by("position")
        ]
        assert material.weights == pytest.approx(wanted)

    def test_what_came_back_is_in_the_plan(self):
        criterion, document, plan = self.made()
        assert document["came_back"]["labelled"] == 0
        assert document["came_back"]["corrected"]["value"] is None
        self.answer(plan, dict.fromkeys(range(1, 121), "4"))
        back = run(width=0.42)["came_back"]
        assert (back["labelled"], back["drawn"], back["before"]) == (len(document["items"]),) * 2 + (30,)
        old = StudyData.load(criterion.study).people[criterion.pk].mean[:30]
        assert back["human_only"]["value"] == pytest.approx((old.sum() + 90 * 4) / 120)
        assert back["corrected"]["value"] is not None
        out = io.StringIO()
        options = {"study": "Known", "judge": "gpt", "criterion": "personalization", "width": 0.42}
        call_command("plan_labels", stdout=out, **options)
        assert f"{back['drawn']} of {back['drawn']} drawn items are labelled" in out.getvalue()

    def test_new_labels_enter_no_other_figure_of_the_old_study(self):
        criterion, _, plan = self.made()
        before = StudyData.load(criterion.study).people[criterion.pk].table.n_ratings
        self.answer(plan, dict.fromkeys(range(1, 121), "4"))
        assert StudyData.load(criterion.study).people[criterion.pk].table.n_ratings == before

    @pytest.mark.each_database
    def test_groups_get_what_was_dealt_to_them(self):
        criterion = study(n=120, labelled=30)
        for places, name in ((range(1, 61), "fern"), (range(61, 121), "moss")):
            items = Dialogue.objects.filter(items__study=criterion.study, items__position__in=places)
            items.update(assistant_model=name)
        found = run(width=0.42, by="assistant")
        drawn = [item["position"] for item in found["items"]]
        assert found["allocation"] == {
            "fern": sum(position <= 60 for position in drawn),
            "moss": sum(position > 60 for position in drawn),
        }

    @pytest.mark.each_database
    def test_bad_usage(self):
        self.made()
        for options, message in (
            ({"name": "Next"}, "there is a study"),
            ({"name": "Other", "width": 3.0}, "there are enough labels"),
            ({"name": "Other", "overlap": 0}, "overlap"),
            ({"confidence": 1.5}, "between 0 and 1"),
            ({"seed": -1}, "between 0 and"),
            ({"seed": 2**63}, "between 0 and"),
            ({"width": 1e308}, "between 0.0001 and"),
        ):
            with pytest.raises(CommandError, match=r"(?i)" + message):
                run(**{"width": 0.42, **options})
        assert LabelPlan.objects.count() == 1


class TestPage:
    @pytest.fixture
    def alice(self, client):
        client.force_login(ResearcherFactory(username="alice"))
        return client

    def at(self, name="judge_plan"):
        return reverse(name, args=["known", Judge.objects.get(name="gpt").pk])

    @pytest.mark.long
    def test_plan_draw_and_make_a_study(self, alice):
        study(n=120, labelled=30)
        assert "Width of the interval" in alice.get(self.at()).content.decode()
        asked = {"criterion": "personalization", "width": 0.42, "by": "", "confidence": 0.95, "seed": 0}
        page = alice.get(self.at(), asked)
        plan = page.context["plan"]
        assert plan == run(width=0.42)
        assert "Make a study of these" in page.content.decode()
        assert "Probability of replace, by the number of labelled items" in page.content.decode(), "before labels come"
        made = alice.post(self.at("judge_plan_study"), {**asked, "name": "Next", "overlap": 3}, follow=True)
        assert made.redirect_chain[-1][0] == reverse("study_detail", args=["next"])
        assert LabelPlan.objects.get().created_by.username == "alice"
        assert "0 of" in " ".join(alice.get(self.at(), asked).content.decode().split())
        again = alice.post(self.at("judge_plan_study"), {**asked, "name": "Next", "overlap": 7})
        assert "There is a study" in str(again.context["making"].errors["name"])
        assert again.context["plan"], "the plan stays in view"
        assert 'value="7"' in again.content.decode()

    @pytest.mark.parametrize("left", [{}, {"criterion": "personalization"}, {"confidence": "", "seed": ""}])
    def test_what_is_left_empty_shows_the_default_in_use(self, alice, left):
        study(n=120, labelled=30)
        page = alice.get(self.at(), {"width": 0.42, **left})
        assert page.context["plan"] == run(width=0.42)
        assert {name: page.context["form"][name].value() for name in ("width", "confidence", "seed")} == {
            "width": "0.42",
            "confidence": 0.95,
            "seed": 0,
        }

    @pytest.mark.long
    def test_what_is_wrong_is_said_at_its_field(self, alice):
        study(n=60, labelled=5)
        few = alice.get(self.at(), {"criterion": "personalization", "width": 0.4, "confidence": 0.95, "seed": 0})
        assert "a plan needs 10" in few.content.decode()
        bad = alice.get(self.at(), {"criterion": "other", "width": 0, "confidence": 0.95, "seed": 0})
        assert bad.status_code == 400
        assert set(bad.context["form"].errors) == {"criterion", "width"}
        unnamed = alice.post(self.at("judge_plan_study"), {"width": 1})
        assert unnamed.status_code == 400
        assert unnamed.context["making"].errors == {"name": ["This field is required."]}

    def test_a_scale_without_an_order_has_no_mean(self, alice):
        made = with_items(20, kind="pair", name="Known", slug="known")
        named = [{"value": value, "label": value} for value in ("polite", "plain", "rude")]
        criterion = CriterionFactory(study=made, key="tone", level="nominal", categories=named)
        people_say(criterion, {"bob": ["polite", "rude"] * 10})
        judge_says(criterion, "gpt", ["polite", "plain"] * 10)
        page = alice.get(self.at(), {"criterion": "tone", "width": 0.4, "confidence": 0.95, "seed": 0})
        assert "no mean to be planned for" in page.content.decode()

    def test_the_number_of_queries_does_not_grow(self, alice, django_assert_num_queries):
        study(n=120, labelled=30)
        run(width=0.42, name="Next")
        asked = {"criterion": "personalization", "width": 0.42, "confidence": 0.95, "seed": 0}
        with django_assert_num_queries(48):
            alice.get(self.at(), asked)
        with django_assert_num_queries(48):
            alice.get(self.at(), {**asked, "width": 0.38})

    def test_charlie_sees_nothing(self, client):
        study(n=30)
        client.force_login(UserFactory(username="charlie"))
        assert client.get(self.at()).status_code == 403
        assert client.post(self.at("judge_plan_study")).status_code == 403
