"""People who always press A, or always take the same response, through the real queue: who is named, and for what."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.quality.queries import quality
from annotation.stats.agreement import agreement
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.preferences import load_side_bias
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from judging.judges.models import Judge
from tests.support.factories import ResponsePairFactory, UserFactory
from tests.support.labelled import judge_says
from tests.support.people import OpenStudy

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
PAIRS = 40


@pytest.fixture
def three(db: None) -> list[User]:
    return [UserFactory(username=name) for name in ("ada", "ben", "cleo")]


def rate_all(study: Study, people: list[User], choose: Callable[[Assignment], str], seconds: float = 30.0) -> None:
    """In turns, as people who sit in one room do."""
    left = list(people)
    while left:
        for person in list(left):
            slot = assignments.lease_next(by=person, study=study)
            if slot is None:
                left.remove(person)
                continue
            annotations.submit(by=person, assignment=slot, values={"preference": choose(slot)})
            Assignment.objects.filter(pk=slot.pk).update(active_seconds=seconds)


def side_of(response: str) -> Callable[[Assignment], str]:
    return lambda slot: next(side for side in "AB" if slot.sides[side] == response)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("overlap", [3, 2])
def test_three_who_always_press_a_are_named_and_none_upside_down(
    open_study: OpenStudy, three: list[User], overlap: int, seed: int
) -> None:
    study = open_study(three, items=PAIRS, overlap=overlap, kind="pair", seed=seed)
    rate_all(study, three, lambda slot: "A")
    rows = {row.annotator: row.signs for row in quality.load_study(study, bootstrap=0)}
    assert set(rows) == {"ada", "ben", "cleo"}
    for signs in rows.values():
        assert any("always the same side: A in" in sign for sign in signs), signs
        assert not any("run against" in sign for sign in signs), signs
    (found,) = ratings.load_study(study)
    alpha = agreement(found.table, bootstrap=0).coefficients["krippendorff_alpha"].value
    assert abs(alpha) < 0.6, "what each of them was shown says nothing of what the others were"


@pytest.mark.long
@pytest.mark.parametrize("overlap", [3, 2])
def test_three_who_choose_the_same_response_agree_wholly(open_study: OpenStudy, three, overlap: int) -> None:
    study = open_study(three, items=PAIRS, overlap=overlap, kind="pair", seed=2)
    better = {item.pk: ("1", "2")[item.position % 3 == 0] for item in study.items.all()}
    rate_all(study, three, lambda slot: side_of(better[slot.item_id])(slot))
    (found,) = ratings.load_study(study)
    assert agreement(found.table, bootstrap=0).coefficients["krippendorff_alpha"].value == 1
    assert [row.signs for row in quality.load_study(study, bootstrap=0)] == [(), (), ()]
    bias = load_side_bias(found)
    assert bias is not None
    assert bias.effect.low <= 0 <= bias.effect.high


@pytest.mark.each_database
def test_orders_are_balanced_within_each_person_and_drawn_for_each_alone(open_study: OpenStudy, three) -> None:
    study = open_study(three, items=PAIRS, overlap=3, kind="pair", seed=7)
    assert set(study.assignments.values_list("order", flat=True)) == {""}, "nobody has seen any yet"
    rate_all(study, three, lambda slot: "A")
    mine = {
        person.username: list(
            study.assignments.filter(annotator=person).order_by("rank").values_list("order", flat=True)
        )
        for person in three
    }
    assert all(orders.count("AB") == PAIRS // 2 for orders in mine.values())
    for one, other in (("ada", "ben"), ("ada", "cleo"), ("ben", "cleo")):
        same = sum(a == b for a, b in zip(mine[one], mine[other], strict=True))
        assert 8 <= same <= 32, (one, other, same)


def test_who_always_presses_a_is_told_from_who_has_a_bias(open_study: OpenStudy, three) -> None:
    """Ada takes A of three pairs in four: a bias that the study tells, and no sign of carelessness."""
    study = open_study(three[:1], items=PAIRS, overlap=1, kind="pair", seed=3)
    rate_all(study, three[:1], lambda slot: "A" if slot.item.position % 4 else "B")
    (row,) = quality.load_study(study, bootstrap=0)
    assert row.signs == ()
    bias = load_side_bias(ratings.load_study(study)[0], bootstrap=200)
    assert bias is not None
    assert bias.effect.value == pytest.approx(0.5)
    assert bias.effect.low > 0.1
    (use,) = bias.annotators
    assert (use.counts, use.side) == ((30, 10), "A")


@pytest.mark.long
@pytest.mark.each_database
def test_items_done_faster_than_anybody_reads_are_a_sign(open_study: OpenStudy, three) -> None:
    ResponsePairFactory.create_batch(
        30, response_1="a word and another " * 50, response_2="one more of the words " * 50
    )
    study = open_study(three[:2], items=0, overlap=2, kind="pair")
    rate_all(study, three[:2], side_of("1"), seconds=12.0)
    for row in quality.load_study(study, bootstrap=0):
        assert any("100 % of the items in less time than anybody needs to read them" in sign for sign in row.signs)
    Assignment.objects.update(active_seconds=40.0)
    assert [row.signs for row in quality.load_study(study, bootstrap=0)] == [(), ()]


@pytest.mark.long
def test_page_command_and_api_tell_the_position_bias_of_people(
    open_study: OpenStudy, three, alice: User, client, capsys
) -> None:
    study = open_study(three, items=PAIRS, overlap=2, kind="pair")
    rate_all(study, three, lambda slot: "A")
    client.force_login(alice)
    page = client.get("/studies/pilot/quality/").content.decode()
    assert "Position bias on" in page
    assert "always the same side" in page
    call_command("quality", "--study", "pilot", "--json")
    printed = json.loads(capsys.readouterr().out)["criteria"]["preference"]["sides"]
    asked = client.get("/api/v1/studies/pilot/quality").json()["criteria"]["preference"]["sides"]
    assert printed["effect"]["value"] == asked["effect"]["value"] == 1
    assert all(one["always_one_side"] for one in printed["annotators"])
    call_command("quality", "--study", "pilot")
    assert "position bias 1.000" in capsys.readouterr().out


@pytest.mark.long
def test_it_stands_beside_the_judges_audit(open_study: OpenStudy, three, alice: User, client, capsys) -> None:
    study = open_study(three, items=PAIRS, overlap=2, kind="pair")
    rate_all(study, three, lambda slot: "A" if slot.item.position % 4 else "B")
    judge_says(study.criteria.get(), "gpt", ["1", "2"] * (PAIRS // 2), order="AB")
    call_command("audit", "--study", "pilot", "--judge", "gpt", "--json")
    (found,) = json.loads(capsys.readouterr().out)
    assert found["people_position"]["effect"]["value"] == pytest.approx(0.5)
    call_command("audit", "--study", "pilot", "--judge", "gpt")
    assert "people's position bias: 0.500 [" in capsys.readouterr().out
    client.force_login(alice)
    there = reverse("criterion_verdict", args=["pilot", Judge.objects.get().pk, study.criteria.get().key])
    assert "People’s position bias" in client.get(there).content.decode()
