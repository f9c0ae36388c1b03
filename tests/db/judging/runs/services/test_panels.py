from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.queries import ratings
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.services import panels
from judging.stats.panels import build_table, combine, majority, mean, name_columns
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted
from tests.support.labelled import people_say

pytestmark = pytest.mark.django_db


def test_the_most_frequent_value_wins_and_a_tie_wins_nothing():
    assert majority(["1", "2", "2"]) == ("2", {"1": 1 / 3, "2": 2 / 3})
    assert majority(["1", "2"])[0] == ""


def test_the_mean_and_the_value_next_to_it():
    numbers = {"1": 1.0, "2": 2.0, "3": 3.0}

    assert mean(["1", "3", "3"], numbers) == ("2", pytest.approx(7 / 3))
    assert mean(["1", "2"], numbers) == ("1", 1.5), "the lower one of two that are as near"


@pytest.fixture
def study():
    return dialogue_study(2)


def members(study, *answers: str):
    return [judged(study, scripted(otherwise=answer), criteria=["personalization"]) for answer in answers]


def test_a_panel_is_a_judge_with_a_run_of_its_own_that_can_be_traced(study):
    runs = members(study, "1", "2", "2")

    run = panels.combine(by=None, name="Jury", runs=runs)

    assert set(run.judgments.values_list("value", flat=True)) == {"2"}
    assert (run.state, run.judge.kind, run.judge.is_runnable) == ("finished", "panel of judges", False)
    assert run.judge.parameters["members"] == sorted(str(one.judge) for one in runs)
    judgment = run.judgments.first()
    made_of = [one.judgments.get(item=judgment.item).pk for one in runs]
    assert judgment.details["members"] == made_of
    assert judgment.details["distribution"] == {"1": 1 / 3, "2": 2 / 3}
    said = ratings.load_study(study)[judgment.criterion_id]
    assert "Jury" in {judge.name for judge in said}


def test_the_mean_keeps_its_number(study):
    run = panels.combine(by=None, name="Mean", runs=members(study, "1", "2", "4"), method="mean")

    said = list(run.judgments.values_list("value", "score"))
    assert [value for value, _ in said] == ["2", "2"]
    assert [score for _, score in said] == pytest.approx([7 / 3, 7 / 3])


def test_members_that_disagree_leave_the_item_unscored(study):
    run = panels.combine(by=None, name="Jury", runs=members(study, "1", "2"))

    assert set(run.judgments.values_list("value", "unscored_reason")) == {("", "members_disagree")}


def test_a_member_without_a_verdict_does_not_count(study):
    shy = {item.external_id: {"stop": "refusal"} for item in study.items.all()}
    refusing = judged(study, scripted(trouble=shy), criteria=["personalization"])

    run = panels.combine(by=None, name="Jury", runs=[*members(study, "3"), refusing])

    assert set(run.judgments.values_list("value", flat=True)) == {"3"}
    assert run.judgments.first().details["n_scored"] == 1


def test_orders_are_members_of_their_own():
    study = pair_study(1)
    leaning = judged(study, scripted(otherwise="A"), order_policy="both")
    steady = judged(study, scripted(otherwise="2"), order_policy="both")

    run = panels.combine(by=None, name="Jury", runs=[leaning, steady])

    judgment = run.judgments.get()
    assert (judgment.value, len(judgment.details["members"])) == ("2", 4)


@pytest.mark.any_database
def test_the_same_members_make_the_same_run_and_others_a_new_version(study):
    runs = members(study, "1", "2", "2")
    first = panels.combine(by=None, name="Jury", runs=runs)

    assert panels.combine(by=None, name="Jury", runs=runs) == first
    assert panels.combine(by=None, name="Jury", runs=runs[1:]).judge.version == 2


def test_what_was_judged_before_an_edit_makes_the_panel_stale(study):
    first = members(study, "1")
    dialogue = study.items.first().dialogue
    dialogue.content_hash = "f" * 64
    dialogue.save()

    run = panels.combine(by=None, name="Jury", runs=[*first, *members(study, "1")])

    assert [judgment.item.position for judgment in run.judgments.stale()] == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda runs: runs[:1], "at least two"),
        (lambda runs: [runs[0], runs[0]], "at least two"),
        (lambda runs: [runs[0], factories.JudgeRunFactory(study=runs[0].study)], "not finished"),
        (lambda runs: [runs[0], judged(dialogue_study(1), scripted())], "same study"),
        (lambda runs: [runs[0], judged(runs[0].study, scripted(), every_turn=True)], "single turns"),
    ],
)
def test_members_that_do_not_fit_are_refused(study, change, message):
    with pytest.raises(InputError, match=message):
        panels.combine(by=None, name="Jury", runs=change(members(study, "1", "2")))

    assert not Judge.objects.filter(name="Jury").exists()


def test_a_panel_cannot_be_run(study):
    run = panels.combine(by=None, name="Jury", runs=members(study, "1", "1"))

    with pytest.raises(InputError, match="is a panel"):
        judges.check(run.judge, [])


def test_the_repeats_of_one_run_make_a_distribution_and_a_score(study):
    """G-Eval, section 2.3, with the shares of repeats for probabilities: 1 * 1/4 + 2 * 1/2 + 3 * 1/4 = 2."""
    item, criterion = study.items.first(), study.criteria.get(key="personalization")
    run = factories.JudgeRunFactory(study=study, criteria=[criterion], repeats=4, finished_at=timezone.now())
    for repeat, value in enumerate("1223", start=1):
        factories.JudgmentFactory(run=run, item=item, criterion=criterion, repeat=repeat, value=value)

    judgment = panels.combine(by=None, name="Four times", runs=[run], method="mean").judgments.get()

    assert (judgment.value, judgment.score) == ("2", 2.0)
    assert judgment.details["distribution"] == {"1": 0.25, "2": 0.5, "3": 0.25}
    with pytest.raises(InputError, match="at least two"):
        panels.combine(by=None, name="Alone", runs=[run], method="dawid_skene")


@pytest.mark.any_database
def test_a_panel_of_models_is_not_called_a_rule(study):
    panels.combine(by=None, name="Jury", runs=members(study, "1", "2", "2"))
    people_say(study.criteria.get(key="personalization"), {"bob": ["1", "2"], "dana": ["1", "2"]})
    options = JudgedOptions(bootstrap=0)

    kept = agreement.load_or_compute(by=None, study=study, options=options, ratings=StudyRatings.read(study))

    said = [warning["message"] for warning in kept.result["criteria"]["personalization"]["warnings"]]
    assert any("scripted judge: a rule" in message for message in said)
    assert not any(message.startswith("Jury") for message in said)


def test_single_turns_are_combined_turn_by_turn(study):
    runs = [judged(study, scripted(otherwise=answer), every_turn=True) for answer in ("1", "2", "2")]

    run = panels.combine(by=None, name="Jury", runs=runs)

    assert run.every_turn
    assert set(run.judgments.filter(criterion__key="personalization").values_list("turn", "value")) == {(2, "2")}


def test_what_the_members_are_like_is_kept(study):
    runs = members(study, "1", "2", "2")

    run = panels.combine(by=None, name="Jury", runs=runs)

    kept = run.result["personalization"]["members"]
    assert [(one["run"], one["scored"], one["same_as_panel"]["value"]) for one in kept] == [
        (runs[0].pk, 2, 0),
        (runs[1].pk, 2, 1),
        (runs[2].pk, 2, 1),
    ]
    assert set(run.members.all()) == set(runs)


class TestDawidSkene:
    """Two careful members and one that says the opposite: the opposite is evidence too, which a majority cannot use."""

    TRUTH = "1" * 12 + "2" * 12

    def votes(self):
        """`a` and `b` err once each, on items of their own; `c` always says the other of the two values."""
        other = {"1": "2", "2": "1"}
        return [
            [
                ("a", other[true] if at == 0 else true),
                ("b", other[true] if at == 23 else true),
                ("c", other[true]),
            ]
            for at, true in enumerate(self.TRUTH)
        ]

    def test_it_learns_who_is_right(self):
        found, model = combine(self.votes(), method="dawid_skene", scale=["1", "2"], numbers={"1": 1, "2": 2})

        assert "".join(one.value for one in found) == self.TRUTH
        assert model.converged
        by_votes, _ = combine(self.votes(), method="majority", scale=["1", "2"], numbers={})
        assert [at for at, one in enumerate(by_votes) if one.value != self.TRUTH[at]] == [0, 23], "c decides there"

    def test_the_score_is_the_mean_over_the_posterior(self):
        found, _ = combine(self.votes(), method="dawid_skene", scale=["1", "2"], numbers={"1": 1, "2": 2})

        for one in found:
            assert sum(one.distribution.values()) == pytest.approx(1)
            assert one.score == pytest.approx(one.distribution["1"] + 2 * one.distribution["2"])

    def test_an_item_without_a_vote_has_no_verdict(self):
        found, _ = combine([*self.votes(), []], method="dawid_skene", scale=["1", "2"], numbers={})

        assert found[-1] is None

    def test_where_nobody_voted_there_is_nothing_to_learn_from(self):
        assert combine([[], []], method="dawid_skene", scale=["1", "2"], numbers={}) == ([None, None], None)

    def test_a_member_may_vote_several_times(self):
        votes = [[("a", "1"), ("a", "1"), ("b", "2")], [("b", "2"), ("a", "2")]]

        assert name_columns(votes) == ["a", "a", "b"]
        assert build_table(votes, ["1", "2"]).codes.tolist() == [[0, 0, 1], [1, -1, 1]]

    def test_as_a_panel(self, study):
        run = panels.combine(by=None, name="Jury", runs=members(study, "2", "2", "3"), method="dawid_skene")

        assert set(run.judgments.values_list("value", flat=True)) == {"2"}
        assert run.judge.parameters["method"] == "dawid_skene"
        kept = run.result["personalization"]["model"]
        assert set(kept["accuracy"]) == {str(member.judge) for member in run.members.all()}
        shares = run.judgments.first().details["distribution"]
        assert shares["2"] == pytest.approx(2 / 3), (
            "nobody's answers vary, so there is nothing to learn beyond the votes"
        )

    @pytest.mark.parametrize(("method", "message"), [("magic", "not one of"), ("mean", "no mean")])
    def test_what_cannot_be_combined_is_refused(self, method, message):
        with pytest.raises(ValueError, match=message):
            combine([], method=method, scale=["1"], numbers={})


class TestCommand:
    def test_it_names_the_run_and_its_members(self, study):
        ids = ",".join(str(run.pk) for run in members(study, "1", "1"))
        out = StringIO()

        call_command("panel", "Jury", "--runs", ids, "--json", stdout=out)

        document = json.loads(out.getvalue())
        assert document["counts"] == {"judgments": 2, "scored": 2}
        assert document["judge"] == "Jury"

    @pytest.mark.parametrize("ids", ["4711", "one,two"])
    def test_unknown_runs_are_refused(self, ids):
        with pytest.raises(CommandError, match="run"):
            call_command("panel", "Jury", "--runs", ids)
