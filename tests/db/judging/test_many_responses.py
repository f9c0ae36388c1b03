"""Items of three responses: agreement of people, judges in both orders, exports. All name the response."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.corpus.parsing.records import PairRecord
from annotation.stats.agreement import agreement
from annotation.stats.orders import list_shown
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.exchange import build_record
from annotation.studies.queries.preferences import load_side_bias
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from judging.judges.queries.contents import build_content, build_prompt, build_spec
from judging.runs.queries.requests import Frame, build_requests
from judging.runs.services import exports, hf_dataset
from tests.support.factories import ResponsePairFactory, UserFactory
from tests.support.judging import judged, scripted
from tests.support.many_responses import RUBRIC
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db
N = 12
TEXTS = {"1": "one fish", "2": "two fish", "3": "red fish"}


@pytest.fixture
def people() -> list[User]:
    return [UserFactory(username=name) for name in ("ada", "ben")]


@pytest.fixture
def study(open_study: OpenStudy, people: list[User]) -> Study:
    further = [{"text": TEXTS["3"], "model": "m3"}]
    ResponsePairFactory.create_batch(
        N, response_1=TEXTS["1"], response_2=TEXTS["2"], n_responses=3, further=further, model_1="m1"
    )
    return open_study(people, items=0, overlap=2, kind="pair", criteria=None, rubric=RUBRIC)


def rate_all(study: Study, people: list[User], *, always_first: bool = False) -> None:
    """The best is response 1, 2 or 3 in turn, and so is the ranking; or whichever stands at A."""
    for person in people:
        while slot := assignments.lease_next(by=person, study=study):
            annotations.submit(by=person, assignment=slot, values=answer(slot, always_first=always_first))


def answer(slot: Assignment, *, always_first: bool) -> dict[str, str]:
    at = list_shown(slot.order)
    turned = slot.item.position % 3
    best, middle, worst = "123"[turned:] + "123"[:turned]
    ranking = [at[number] for number in (best, middle, worst)]
    return {
        "best": "A" if always_first else at[best],
        **{f"helpful.{at[number]}": value for number, value in ((best, "3"), (middle, "2"), (worst, "1"))},
        "order": ">".join(ranking),
        "ends": ">".join(ranking),
        "share": "50",
        "faults": "time",
    }


@pytest.mark.any_database
def test_people_who_choose_the_same_responses_agree_wholly(study: Study, people: list[User]) -> None:
    rate_all(study, people)
    found = {one.criterion.key: one for one in ratings.load_study(study)}
    best = agreement(found["best"].table, bootstrap=0)
    assert best.coefficients["krippendorff_alpha"].value == 1
    assert found["helpful"].table.n_items == 3 * N, "an item of it is a response of an item"
    assert agreement(found["helpful"].table, bootstrap=0).coefficients["krippendorff_alpha"].value == 1
    bias = load_side_bias(found["best"])
    assert list(bias.excess) == ["A", "B", "C"]
    assert bias.effect.low <= 0 <= bias.effect.high


def test_people_who_always_take_the_first_place_do_not_agree(study: Study, people: list[User]) -> None:
    rate_all(study, people, always_first=True)
    found = next(one for one in ratings.load_study(study) if one.criterion.key == "best")
    assert agreement(found.table, bootstrap=0).coefficients["krippendorff_alpha"].value < 0.7
    bias = load_side_bias(found)
    assert bias.effect.value == 1
    assert bias.excess["A"].value == pytest.approx(2 / 3)
    assert [one.is_always_one for one in bias.annotators] == [True, True]


def test_a_judge_in_both_orders_is_stored_by_the_response(study: Study) -> None:
    judge = scripted(
        answers={"best": "2", "order": "A>C>B", "ends": "C>A>B", "share": "40", "faults": "time", "why": "x"}
    )
    run = judged(study, judge, order_policy="both")
    assert set(run.judgments.filter(criterion__key="best").values_list("order", "value")) == {
        ("ABC", "2"),
        ("CBA", "2"),
    }
    rankings = set(run.judgments.filter(criterion__key="order").values_list("order", "value"))
    assert rankings == {("ABC", "1>3>2"), ("CBA", "3>1>2")}
    assert not run.judgments.filter(value="").exists()


def test_a_prompt_shows_every_response_at_its_place(study: Study) -> None:
    criterion = study.criteria.get(key="best")
    frame = Frame(scripted(), (), [criterion], 1, "random", 3)
    asked = build_requests(frame, list(study.items.values_list("pk", flat=True)), with_prompt=True)
    assert len({one.order for one in asked}) > 2
    for one in asked:
        places = list_shown(one.order)
        words = one.request.prompt.user
        for number, place in places.items():
            begins = words.index(f"response {place} begins")
            assert words[begins:].split("\n")[1] == TEXTS[number]
        assert one.request.criterion.values == ("A", "B", "C", "tie")


def test_a_judge_is_not_asked_to_compare_one_response(open_study: OpenStudy, bob: User) -> None:
    ResponsePairFactory(response_2="", n_responses=1)
    study = open_study([bob], items=0, kind="pair", criteria=None, rubric=RUBRIC)
    with pytest.raises(InputError, match="takes two responses, and items of Pilot have one"):
        judged(study, scripted())
    run = judged(study, scripted(answers={"share": "40"}), criteria=["share"])
    assert [(one.order, one.value) for one in run.judgments.all()] == [("A", "40")]
    content = build_content(study.items.get(), (), "A")
    prompt = build_prompt(scripted(), build_spec(study.criteria.get(key="share")), content)
    assert "response A begins" in prompt.user
    assert "response B" not in prompt.user


def test_exports_hold_all_responses_and_the_order_seen(study: Study, people: list[User]) -> None:
    rate_all(study, people)
    item = study.items.select_related("pair__profile").first()
    record = build_record(item)
    assert [one["text"] for one in record["responses"]] == list(TEXTS.values())
    read = PairRecord.model_validate({name: value for name, value in record.items() if name != "source"})
    assert read.fields()["further"] == item.pair.further
    assert (read.n_responses, read.model_1) == (3, "m1")
    rows = list(exports.load_labels(study).people)
    assert {len(row.order) for row in rows} == {3}
    assert {row.turn for row in rows if row.criterion == "helpful"} == {1, 2, 3}
    assert hf_dataset.list_tools(study) == [], "other tools hold two responses"
    assert hf_dataset.package(study, "argilla") is None
    assert np.unique([row.value for row in rows if row.criterion == "order"]).size == 3
