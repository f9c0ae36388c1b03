"""Filter rounds with votes made by hand: what stays, what goes, what is asked again, and what counts then."""

from __future__ import annotations

import pytest

from annotation.agreement.services import tiers
from annotation.benchmarks.models import BenchmarkCase, FilterRound
from annotation.benchmarks.services import building, filtering
from annotation.benchmarks.services.building import BuildOptions
from annotation.benchmarks.services.filtering import Revision
from annotation.corpus.models import ResponsePair
from annotation.stats.benchmarks.filtering import Rule
from annotation.workbench.services import adjudications, exclusions
from core.errors import InputError
from tests.db.annotation.benchmarks.services.voting import NINE, pairs, study_of, vote
from tests.support.factories import AssignmentFactory, ResearcherFactory, UserFactory

pytestmark = pytest.mark.django_db

# Kappa of nine votes on two answers against chance 1/2, by hand: P = pairs that agree of 36, kappa = 2 P - 1.
# 9-0: 36 of 36, 1. 8-1: 28 of 36, .556. 7-2: 22 of 36, .222. 5-4: 16 of 36, -.111. Eight votes 4-4: 12 of 28, -.143.
VOTES = [(9, 0), (1, 8), (7, 2), (5, 4), (4, 4), (0, 0)]
KAPPAS = [1, 5 / 9, 2 / 9, -1 / 9, -1 / 7, None]


@pytest.fixture
def criterion():
    found = study_of(pairs(6), name="First", slug="first")
    vote(found, VOTES)
    return found


def outcomes(found: FilterRound) -> dict[str, str]:
    return {one.item.external_id: one.outcome for one in found.outcomes.select_related("item__pair")}


def test_the_usual_rule_with_votes_by_hand(criterion):
    found = filtering.run(by=None, study=criterion.study)
    assert outcomes(found) == {
        "pair0": "kept",
        "pair1": "kept",
        "pair2": "dropped",
        "pair3": "dropped",
        "pair4": "asked again",
        "pair5": "asked again",
    }
    rows = list(found.outcomes.order_by("item__position"))
    assert [row.kappa for row in rows] == [pytest.approx(k) if k is not None else None for k in KAPPAS]
    assert [row.tier for row in rows] == ["easy", "hard", "contested", "contested", "contested", ""]
    assert [(row.votes_1, row.votes_2, row.votes_tie) for row in rows] == [(*votes, 0) for votes in VOTES]
    assert [row.reason for row in rows] == [
        "easy: 9 to 0 votes, kappa 1.00",
        "hard: 1 to 8 votes, kappa 0.56",
        "contested: 7 to 2 votes, kappa 0.22",
        "contested: 5 to 4 votes, kappa -0.11",
        "tied: 4 to 4 votes, kappa -0.14",
        "too few: nobody voted",
    ]


def test_what_is_asked_again_is_asked_in_the_same_words_of_the_same_people(criterion):
    found = filtering.run(by=None, study=criterion.study, seed=3)
    again = found.follow_up
    assert again.state == "draft"
    assert {item.external_id for item in again.items.all()} == {"pair4", "pair5"}
    assert [c.key for c in again.criteria.all()] == ["preference"]
    assert set(again.annotators.all()) == set(criterion.study.annotators.all())
    assert (again.overlap, again.shown, again.seed) == (9, criterion.study.shown, 3)


def test_the_newer_votes_count_and_the_history_tells_both(criterion):
    first = filtering.run(by=None, study=criterion.study)
    again = first.follow_up.criteria.get()
    order = [item.external_id for item in again.study.items.order_by("position")]
    vote(again, [(9, 0) if name == "pair4" else (2, 7) for name in order])
    filtering.run(by=None, study=again.study)

    benchmark = building.build(by=None, study=criterion.study, name="Scripted")
    found = {case.pair.external_id: case for case in benchmark.cases.select_related("pair")}
    assert {name: (case.gold, case.tier, bool(case.excluded_reason)) for name, case in found.items()} == {
        "pair0": ("1", "easy", False),
        "pair1": ("2", "hard", False),
        "pair2": ("", "contested", True),
        "pair3": ("", "contested", True),
        "pair4": ("1", "easy", False),
        "pair5": ("", "contested", True),
    }
    saved = found["pair4"]
    assert (saved.votes_1, saved.votes_2, saved.votes_tie, saved.kappa) == (9, 0, 0, 1.0)
    assert [(step["study"], step["round"], step["outcome"], step["votes"]["1"]) for step in saved.history] == [
        ("first", 1, "asked again", 4),
        (again.study.slug, 1, "kept", 9),
    ]
    assert found["pair2"].excluded_reason == "dropped in First, round 1: contested: 7 to 2 votes, kappa 0.22"
    assert benchmark.made["studies"] == ["first", again.study.slug]


def test_pooled_votes_take_each_persons_newest(criterion):
    first = filtering.run(by=None, study=criterion.study)
    again = first.follow_up.criteria.get()
    order = [item.external_id for item in again.study.items.order_by("position")]
    # v1 to v4 said 1 and v5 to v8 said 2; now v5 and v6 say 1, and nobody else votes on it
    said = {"v5": ["1" if name == "pair4" else None for name in order]}
    vote(again, [(0, 0)] * 2)
    from tests.support.labelled import people_say

    people_say(again, {**said, "v6": said["v5"]})
    for pooled, expected in ((True, (6, 2, 0)), (False, (2, 0, 0))):
        benchmark = building.build(
            by=None, study=criterion.study, name=f"Pooled {pooled}", options=BuildOptions(pooled=pooled)
        )
        case = benchmark.cases.get(pair__external_id="pair4")
        assert (case.votes_1, case.votes_2, case.votes_tie) == expected


def test_a_revised_pair_is_new_material_with_votes_of_its_own(criterion):
    revision = Revision("A better first answer.", "Another answer to 3.", "the first answer was off the question")
    found = filtering.run(by=None, study=criterion.study, revisions={"pair3": revision})
    assert outcomes(found)["pair3"] == "revised"
    new = ResponsePair.objects.get(source="revised")
    assert (new.response_1, new.question, new.profile.external_id) == (
        "A better first answer.",
        "Question 3?",
        "persona1",
    )
    assert new.extra["revised_from"] == {"source": "test", "id": "pair3"}
    again = found.follow_up.criteria.get()
    order = [item.external_id for item in again.study.items.order_by("position")]
    vote(again, [(8, 1) if name == new.external_id else (0, 0) for name in order])

    benchmark = building.build(by=None, study=criterion.study, name="Scripted", options=BuildOptions(pooled=True))
    case = benchmark.cases.get(pair=new)
    assert (case.gold, case.tier, case.votes_1, case.votes_2) == ("1", "hard", 8, 1)
    assert case.history[0]["before"]["response_1"] == "First answer to 3."
    assert not BenchmarkCase.objects.filter(pair__external_id="pair3").exists()


def test_a_repeat_that_somebody_left_does_not_keep_an_item_waiting(criterion):
    study = criterion.study
    study.state = "open"
    study.save()
    AssignmentFactory(item=study.items.get(pair__external_id="pair5"), leased=True, purpose="repeat")
    assert "pair5" in outcomes(filtering.run(by=None, study=study))


def test_an_item_is_decided_once_and_only_when_it_is_ready(criterion):
    study = criterion.study
    study.state = "open"
    study.save()
    AssignmentFactory(item=study.items.get(pair__external_id="pair5"), slot=1)
    first = filtering.run(by=None, study=study)
    assert "pair5" not in outcomes(first)
    with pytest.raises(InputError, match="No item of First is ready"):
        filtering.run(by=None, study=study)
    study.state = "closed"
    study.save()
    second = filtering.run(by=None, study=study)
    assert (second.number, outcomes(second)) == (2, {"pair5": "asked again"})


def test_tiers_by_hand_and_adjudications_hold(criterion):
    alice = ResearcherFactory(username="alice")
    study = criterion.study
    for name, position in (("pair2", 3), ("pair3", 4)):
        assert study.items.get(position=position).external_id == name
    tiers.set_tier(
        by=alice, item=study.items.get(position=3), criterion=criterion, tier="hard", reason="two misread the question"
    )
    adjudications.decide(
        by=alice, item=study.items.get(position=4), criterion=criterion, value="2", reason="the first is wrong"
    )
    benchmark = building.build(by=alice, study=study, name="Scripted")
    found = {case.pair.external_id: case for case in benchmark.cases.select_related("pair")}
    assert (found["pair2"].gold, found["pair2"].tier, found["pair2"].excluded_reason) == ("1", "hard", "")
    assert found["pair2"].history[0]["reason"] == "two misread the question"
    assert (found["pair3"].gold, found["pair3"].excluded_reason) == ("2", "")
    assert found["pair3"].history[0]["step"] == "adjudicated"


def test_excluded_annotators_do_not_vote(criterion):
    alice = ResearcherFactory(username="alice")
    voter = criterion.study.annotators.get(username="v9")
    exclusions.exclude(by=alice, study=criterion.study, annotator=voter, reason="answered without reading")
    benchmark = building.build(by=None, study=criterion.study, name="Scripted")
    case = benchmark.cases.get(pair__external_id="pair1")
    assert (case.votes_1, case.votes_2) == (1, 7)


def test_most_people_say_tie():
    criterion = study_of(pairs(2), with_tie=True)
    vote(criterion, [(1, 0, 8), (3, 3, 3)])
    found = filtering.run(by=None, study=criterion.study)
    assert [one.reason.split(":")[0] for one in found.outcomes.order_by("item__position")] == ["no preference", "tied"]
    benchmark = building.build(by=None, study=criterion.study, name="Ties")
    assert not benchmark.cases.only_counting().exists()


def test_another_rule(criterion):
    rule = Rule({"contested": "kept", "tied": "dropped", "too few": "dropped"}, cuts=(0.2, 0.5, 0.9))
    found = filtering.run(by=None, study=criterion.study, rule=rule)
    assert found.follow_up is None
    # 7-2 is .222, above .2 and up to .5: hard; 8-1 is .556: medium
    assert [row.tier for row in found.outcomes.order_by("item__position")][:3] == ["easy", "medium", "hard"]
    assert found.rule["cuts"] == [0.2, 0.5, 0.9]


@pytest.mark.parametrize("wrong", [{"loved": "kept"}, {"tied": "burnt"}])
def test_a_rule_of_something_else_is_refused(wrong):
    with pytest.raises(ValueError, match="is not one of"):
        Rule(wrong)


def test_what_cannot_be_filtered_names_the_field(criterion):
    dialogues = study_of([], name="D")
    dialogues.study.kind = "dialogue"
    dialogues.study.save()
    same = Revision("a", "a", "why")
    for more, field in (
        ({"study": dialogues.study}, "study"),
        ({"criterion": "magic"}, "criterion"),
        ({"revisions": {"nobody": Revision("a", "b", "c")}}, "revisions"),
        ({"revisions": {"pair0": same}}, "revisions"),
        ({"revisions": {"pair0": Revision("a", "b", " ")}}, "revisions"),
        ({"overlap": 0 - 1}, "overlap"),
    ):
        with pytest.raises(InputError) as caught:
            filtering.run(**{"by": None, "study": criterion.study, **more})
        assert caught.value.field == field
    assert not FilterRound.objects.exists()


def test_who_decided_is_on_record(criterion):
    alice = ResearcherFactory(username="alice")
    found = filtering.run(by=alice, study=criterion.study)
    assert found.created_by == alice
    assert building.build(by=alice, study=criterion.study, name="S").cases.first().history[0]["by"] == "alice"


def test_the_number_of_voters_is_kept_by_kind(criterion):
    UserFactory(kind="simulated")
    assert building.build(by=None, study=criterion.study, name="S").made["annotators"] == {"person": len(NINE)}
