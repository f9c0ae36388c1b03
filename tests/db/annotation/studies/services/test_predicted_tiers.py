"""A sample by predicted tier: strata of another study's difficulty, with known inclusion probabilities."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from annotation.agreement.services.predicted_difficulty import load_predicted_tiers
from annotation.corpus.models import ResponsePair
from annotation.stats.bands import TIERS
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from core.audit.models import Act
from core.errors import InputError
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items
from tests.support.predictable import SIDES, study_of_pairs

pytestmark = pytest.mark.django_db


def draft(alice: User, name: str = "Second"):
    return studies.create(by=alice, name=name, kind="pair", criteria=["preference"])


def draw(alice: User, study, criterion, **more):
    return samples.draw(
        by=alice,
        study=study,
        method="stratified",
        size=20,
        strata=["predicted_tier"],
        allocation="equal",
        predicted_from=criterion,
        tiers=load_predicted_tiers(criterion) if criterion else None,
        **more,
    )


@pytest.mark.any_database
def test_strata_are_tiers_and_weights_add_up_to_the_frame(alice: User) -> None:
    criterion = study_of_pairs(120, rated=80)
    study = draft(alice)
    sample = draw(alice, study, criterion)
    items = list(study.items.select_related("pair"))
    assert {item.stratum for item in items} <= set(TIERS)
    assert len({item.stratum for item in items}) > 1
    # one over the inclusion probability adds up to the number of eligible items, stratum by stratum
    assert sum(1 / item.inclusion_probability for item in items) == pytest.approx(sample.frame_size)
    assert sample.frame_size == ResponsePair.objects.count()
    hard = [item.pair.response_2.endswith("!") for item in items if item.stratum in ("contested", "hard")]
    assert sum(hard) > len(hard) / 2


def test_the_draw_is_on_record_with_what_it_was_predicted_from(alice: User) -> None:
    criterion = study_of_pairs(120, rated=80)
    draw(alice, draft(alice), criterion)
    said = json.loads(Act.objects.filter(verb="sample.draw").order_by("-pk")[0].arguments)
    assert said["predicted_from"]["id"] == criterion.pk
    assert said["strata"] == ["predicted_tier"]


def test_the_same_labels_and_seed_draw_the_same(alice: User) -> None:
    criterion = study_of_pairs(120, rated=80)
    one, two = (draw(alice, draft(alice, name), criterion, seed=5) for name in ("One", "Two"))
    assert one.input_hash == two.input_hash
    assert list(one.items.values_list("pair", "stratum")) == list(two.items.values_list("pair", "stratum"))


@pytest.mark.long
def test_on_the_page_a_rated_criterion_of_the_project_is_chosen(alice: User, client) -> None:
    criterion = study_of_pairs(120, rated=80)
    study = draft(alice)
    client.force_login(alice)
    here = reverse("study_sample", args=[study.slug])
    assert "Alike: Preference" in client.get(here).content.decode()
    given = {"method": "stratified", "size": 20, "allocation": "equal", "sample_seed": 1}
    assert client.post(here, {**given, "predicted_from": criterion.pk}).status_code == 302
    assert study.samples.get().strata == ["predicted_tier"]
    own = draft(alice, "Own").criteria.get()
    refused = client.post(reverse("study_sample", args=["own"]), {**given, "predicted_from": own.pk})
    assert "predicted_from" in refused.context["form"].errors


def test_where_nothing_can_be_predicted_there_are_no_strata(alice: User) -> None:
    study = with_items(50, kind="pair", slug="noise")
    criterion = CriterionFactory(study=study, level="nominal", key="preference", categories=SIDES)
    people_say(criterion, {name: ["1", "2"] * 25 for name in ("bob", "carol")})
    with pytest.raises(InputError, match="cannot be predicted from"):
        draw(alice, draft(alice), criterion)
    with pytest.raises(InputError, match="need a study to predict from"):
        draw(alice, draft(alice, "Third"), None)
