"""Agreement by group of items, with items of one profile resampled together, and one judge minus another."""

import pytest

from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.stats.differences import compare_judges
from tests.support import factories
from tests.support.labelled import judge_says, people_say

pytestmark = pytest.mark.django_db
BOB = ["1", "2", "3", "4", "1", "2", "3", "4"]
DANA = ["1", "2", "3", "4", "2", "2", "4", "3"]


@pytest.fixture
def criterion():
    """Eight dialogues of four profiles, two each; half by one assistant, half by another."""
    study = factories.StudyFactory(kind="dialogue")
    for place in range(8):
        if place % 2 == 0:
            profile = factories.ProfileFactory()
        scenario = factories.ScenarioFactory(profile=profile)
        dialogue = factories.DialogueFactory(scenario=scenario, assistant_model="old" if place < 4 else "new")
        factories.ItemFactory(study=study, dialogue=dialogue, position=place + 1)
    found = factories.CriterionFactory(study=study, key="personalization", name="Personalization")
    people_say(found, {"bob": BOB, "dana": DANA})
    judge_says(found, "gpt", ["1", "2", "3", "4", "1", "1", "1", "1"])
    judge_says(found, "mini", ["4", "3", "2", "1", "1", "2", "3", "4"])
    return found


def document(criterion, **options):
    chosen = JudgedOptions(bootstrap=200, **options)
    ratings = StudyRatings.read(criterion.study, cluster=chosen.cluster, strata=chosen.strata, by=chosen.by)
    run = agreement.load_or_compute(by=None, study=criterion.study, options=chosen, ratings=ratings)
    return run.result["criteria"]["personalization"]


def test_each_group_has_people_and_every_judge(criterion):
    groups = {one["group"]: one for one in document(criterion, by="assistant_model")["groups"]}
    assert list(groups) == ["new", "old"]
    assert {group: one["n_items"] for group, one in groups.items()} == {"new": 4, "old": 4}
    assert groups["old"]["fleiss_kappa"]["value"] == pytest.approx(1)
    old = groups["old"]["judges"]
    assert {name: held["mean_cohen_kappa"]["value"] for name, held in old.items()} == {
        "gpt": pytest.approx(1),
        "mini": pytest.approx(-1 / 3),
    }
    assert old["gpt"]["human_ceiling"]["value"] == pytest.approx(1)


def test_groups_by_tier_follow_from_the_ratings(criterion):
    groups = {one["group"]: one["n_items"] for one in document(criterion, by="tier")["groups"]}
    assert groups == {"easy": 5, "hard": 3}  # one step apart of four is near: kappa is 0.6


@pytest.mark.any_database
def test_items_of_one_profile_are_resampled_together_unless_each_stands_alone_on_purpose(criterion):
    alone, together = document(criterion, cluster="none"), document(criterion)
    assert together == document(criterion, cluster="profile")
    kappa, clustered = (one["coefficients"]["fleiss_kappa"] for one in (alone, together))
    assert kappa["value"] == clustered["value"]
    assert (kappa["low"], kappa["high"]) != (clustered["low"], clustered["high"])
    assert "clusters as independent (4 profiles)" in together["conventions"][0]["message"]
    assert "few_clusters" in {warning["code"] for warning in together["warnings"]}
    assert "few_clusters" not in {warning["code"] for warning in alone["warnings"]}


@pytest.mark.any_database
def test_items_are_resampled_within_strata(criterion):
    alone, within = document(criterion, cluster="none"), document(criterion, cluster="none", strata="assistant_model")
    kappa, stratified = (one["coefficients"]["fleiss_kappa"] for one in (alone, within))
    assert kappa["value"] == stratified["value"]
    assert stratified["high"] - stratified["low"] < kappa["high"] - kappa["low"], "one stratum agrees fully"
    assert "each assistant model keeping its number" in within["conventions"][0]["message"]


def test_a_profile_in_two_strata_cannot_be_drawn_whole(criterion):
    criterion.study.items.get(position=2).dialogue.__class__.objects.filter(items__position=2).update(
        assistant_model="new"
    )
    with pytest.raises(InputError, match="leave out the clusters or the strata"):
        document(criterion, cluster="profile", strata="assistant_model")


def test_pairs_without_profiles_share_their_question():
    found = factories.CriterionFactory(
        study=factories.StudyFactory(kind="pair"), key="personalization", name="Personalization"
    )
    for position in (1, 2, 3):
        pair = factories.ResponsePairFactory(profile=None)
        factories.ItemFactory(study=found.study, pair=pair, position=position)
    people_say(found, {"bob": BOB[:3], "dana": DANA[:3]})
    with pytest.raises(InputError, match=r"no item of .* has a 'profile'"):
        document(found, cluster="profile")
    assert "as independent (1 question)." in document(found)["conventions"][0]["message"]
    assert "items as independent" in document(found, cluster="none")["conventions"][0]["message"]


def test_one_judge_minus_another_is_paired(criterion):
    (found,) = document(criterion)["differences"]
    assert (found["a"], found["b"], found["n_items"]) == ("gpt", "mini", 8)
    ratings = StudyRatings.read(criterion.study)
    columns = ratings.judges["personalization"]
    (expected,) = compare_judges(
        ratings.criteria[0].table, {column.name: column.codes for column in columns}, bootstrap=200
    )
    assert found["figures"]["mean_cohen_kappa"] == expected.figures["mean_cohen_kappa"].to_json()


def test_an_unknown_grouping_is_refused_by_name(criterion):
    with pytest.raises(InputError, match="choose one of tier, stratum, domain"):
        document(criterion, by="colour")
    with pytest.raises(InputError, match=r"no item of .* has a 'colour'"):
        document(criterion, cluster="colour")
    with pytest.raises(InputError, match="choose one of stratum"):
        document(criterion, strata="colour")
