"""Alice draws items."""

from __future__ import annotations

import pytest

from annotation.studies.models.studies import Item, Sample, Study
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import DialogueFactory, ResponsePairFactory, ScenarioFactory, TaskFactory


@pytest.fixture
def study(alice: User) -> Study:
    return studies.create(by=alice, name="Pilot", kind="dialogue", criteria=["task_completion"], seed=3)


@pytest.fixture
def pair_study(alice: User) -> Study:
    return studies.create(by=alice, name="Pairs", kind="pair", criteria=["preference"])


def about(*domains: str, **given):
    return DialogueFactory(
        scenario=ScenarioFactory(task=TaskFactory(domains=list(domains), is_multi_domain=len(domains) > 1)), **given
    )


def test_all_takes_everything_with_certainty(alice: User, study: Study) -> None:
    dialogues = DialogueFactory.create_batch(5)
    sample = samples.draw(by=alice, study=study)
    assert (sample.method, sample.frame_size, sample.size, sample.created_by) == ("all", 5, 5, alice)
    items = study.items.all()
    assert [item.position for item in items] == [1, 2, 3, 4, 5]
    assert {item.dialogue for item in items} == set(dialogues)
    assert {item.inclusion_probability for item in items} == {1.0}
    assert {item.content_hash for item in items} == {d.content_hash for d in dialogues}


def test_a_simple_draw_is_repeated_by_its_seed_and_has_its_own_order(alice: User) -> None:
    DialogueFactory.create_batch(30)

    def drawn(name: str, seed: int) -> list[str]:
        study = studies.create(by=alice, name=name, kind="dialogue", criteria=["task_completion"], seed=3)
        samples.draw(by=alice, study=study, method="simple", size=10, seed=seed)
        assert {item.inclusion_probability for item in study.items.all()} == {10 / 30}
        return [item.external_id for item in study.items.select_related("dialogue")]

    first = drawn("One", seed=5)
    assert drawn("Two", seed=5) == first
    assert set(drawn("Three", seed=6)) != set(first)
    assert first != sorted(first)
    assert Sample.objects.values("input_hash").distinct().count() == 1


def test_a_stratified_draw_says_each_stratum_and_its_probability(alice: User, study: Study) -> None:
    for _ in range(8):
        about("Hotels", condition="base")
    for _ in range(4):
        about("Flights", condition="base+I")
    about("Hotels", "Flights", condition="base")
    samples.draw(by=alice, study=study, method="stratified", size=7, strata=["domain", "condition"], seed=1)
    found = {(item.stratum, item.inclusion_probability) for item in study.items.all()}
    # 7 of 13 in proportion: 4.31 of 8, 2.15 of 4, 0.54 of 1 -> 4, 2 and (at least one each) 1
    assert found == {
        ("Hotels / base", 4 / 8),
        ("Flights / base+I", 2 / 4),
        ("several domains / base", 1.0),
    }


def test_filters_say_what_is_eligible(alice: User, study: Study) -> None:
    wanted = about("Hotels", assistant_model="m1")
    about("Hotels", assistant_model="m2")
    about("Flights", assistant_model="m1")
    sample = samples.draw(
        by=alice, study=study, filters={"assistant_model": "m1", "domain": ["Hotels", "Trains"], "source": ""}
    )
    assert [item.dialogue for item in study.items.all()] == [wanted]
    assert sample.filters == {"assistant_model": ["m1"], "domain": ["Hotels", "Trains"]}


def test_dialogues_without_a_task_have_a_stratum_of_their_own(alice: User, study: Study) -> None:
    DialogueFactory(scenario=None, condition="")
    strata = ["domain", "condition"]
    with pytest.raises(InputError, match="No eligible item has a value of domain or condition") as raised:
        samples.draw(by=alice, study=study, method="stratified", size=1, strata=strata)
    assert raised.value.field == "strata"
    DialogueFactory(scenario=None, condition="base")
    samples.draw(by=alice, study=study, method="stratified", size=2, strata=strata)
    assert {item.stratum for item in study.items.all()} == {"(none) / (none)", "(none) / base"}


def test_pairs_are_drawn_by_kind_and_tier(alice: User, pair_study: Study) -> None:
    ResponsePairFactory.create_batch(3, kind="general", source_tier="easy")
    ResponsePairFactory.create_batch(3, kind="general", source_tier="hard")
    ResponsePairFactory.create_batch(3, kind="specific", source_tier="hard")
    samples.draw(
        by=alice,
        study=pair_study,
        method="stratified",
        size=2,
        strata=["source_tier"],
        filters={"kind": ["general"]},
        allocation="equal",
    )
    assert {item.stratum for item in pair_study.items.all()} == {"easy", "hard"}
    assert {item.pair.kind for item in pair_study.items.all()} == {"general"}


def test_a_judges_scores_can_be_strata(alice: User, study: Study) -> None:
    first, second, _ = DialogueFactory.create_batch(3)
    scores = {first.pk: 4, second.pk: "unscored"}
    samples.draw(by=alice, study=study, method="stratified", size=3, strata=["judge_score"], scores=scores)
    assert sorted(item.stratum for item in study.items.all()) == ["4", "unscored", "unscored"]


def test_a_second_draw_adds_what_is_not_there_yet(alice: User, study: Study) -> None:
    DialogueFactory.create_batch(6)
    samples.draw(by=alice, study=study, method="simple", size=4)
    second = samples.draw(by=alice, study=study)
    assert (second.frame_size, second.size) == (2, 2)
    assert [item.position for item in study.items.all()] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(InputError, match="Nothing in the corpus"):
        samples.draw(by=alice, study=study)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"method": "convenience"}, "method"),
        ({"method": "simple"}, "size"),
        ({"method": "simple", "size": 0}, "size"),
        ({"method": "simple", "size": 3}, "size"),
        ({"method": "stratified", "size": 2}, "strata"),
        ({"method": "stratified", "size": 2, "strata": ["tier"]}, "strata"),
        ({"method": "stratified", "size": 2, "strata": ["judge_score"]}, "strata"),
        ({"method": "all", "strata": ["domain"]}, "strata"),
        ({"filters": {"kind": "general"}}, "filters"),
        ({"filters": {"source": "elsewhere"}}, "filters"),
    ],
)
def test_bad_input_names_its_field_and_draws_nothing(alice: User, study: Study, given: dict, field: str) -> None:
    DialogueFactory.create_batch(2)
    with pytest.raises(InputError) as raised:
        samples.draw(by=alice, study=study, **given)
    assert raised.value.field == field
    assert not Item.objects.exists()
    assert not Sample.objects.exists()


def test_nothing_is_drawn_into_an_open_study(alice: User, study: Study) -> None:
    DialogueFactory.create_batch(2)
    samples.draw(by=alice, study=study, method="simple", size=1)
    studies.open(by=alice, study=study)
    with pytest.raises(InputError, match="draft only"):
        samples.draw(by=alice, study=study)


def test_a_large_draw_takes_few_queries(alice: User, study: Study, django_assert_max_num_queries) -> None:
    DialogueFactory.create_batch(50)
    with django_assert_max_num_queries(12):
        samples.draw(by=alice, study=study, method="simple", size=40)
