"""Probe runs: what they ask, and that nothing but audits reads them."""

from dataclasses import replace

import pytest

from core.errors import InputError
from judging.assessment.queries import items as item_queries
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.ratings import runs_that_count
from judging.assessment.queries.scores import load_run
from judging.assessment.services import probes
from judging.assessment.services.probes import ProbeOptions
from judging.judges.prompts.alterations import ALTERATIONS, ORIGINAL
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import runs as run_queries
from judging.runs.queries.judgments import list_others, rebuild_request
from judging.runs.queries.labels import load_judges
from judging.runs.services import estimates, panels, runs, work
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted
from tests.support.labelled import people_say

pytestmark = pytest.mark.django_db


def probed(study, judge, **options) -> JudgeRun:
    options = {"n": 10, "alterations": ("injection:note", "invariance:bullets"), **options}
    run = runs.make(by=None, plan=probes.plan(study=study, judge=judge, options=ProbeOptions(**options)), queue=False)
    for _ in work.work_through(run):
        pass
    run.refresh_from_db()
    return run


def test_originals_are_asked_about_twice_and_each_copy_once():
    run = probed(dialogue_study(12), scripted(answers={"task_completion": "yes"}))
    assert (run.kind, run.state) == ("probe", "finished")
    one = run.judgments.filter(criterion__key="personalization", item=run.judgments.first().item)
    said = sorted(one.values_list("alteration", "repeat"))
    assert said == [("injection:note", 1), ("invariance:bullets", 1), (ORIGINAL, 1), (ORIGINAL, 2)]
    assert run.judgments.values("item").distinct().count() == 10
    assert run_queries.progress(run).missing == 0


@pytest.mark.any_database
def test_the_draw_has_a_seed():
    study, judge = dialogue_study(30), scripted(otherwise="yes")
    chosen = [
        probes.plan(study=study, judge=judge, options=ProbeOptions(n=12, seed=seed)).item_ids for seed in (0, 0, 1)
    ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_each_request_has_a_seed_of_its_own():
    run = probed(dialogue_study(10), scripted(answers={"task_completion": "yes"}))
    seeds = list(run.judgments.values_list("details__seed", flat=True))
    assert len(set(seeds)) == len(seeds)


def test_what_cannot_be_altered_is_left_out_and_counted():
    study = dialogue_study(10)
    study.shown = ["preferences"]
    study.save()
    run = probed(
        study, scripted(answers={"task_completion": "yes"}), alterations=("injection:note", "invariance:names")
    )
    assert run.probe["left_out"] == {"invariance:names": 10}
    assert not run.judgments.filter(alteration="invariance:names").exists()
    assert run_queries.progress(run).expected == run.judgments.count() == 10 * 2 * 3


def test_nothing_to_alter_at_all_is_refused():
    with pytest.raises(InputError, match="Nothing in these items can be altered so"):
        probed(dialogue_study(10), scripted(otherwise="yes"), alterations=("invariance:names",))


@pytest.mark.parametrize(
    ("options", "field"), [({"n": 9}, "n"), ({"alterations": ("tea",)}, "alterations"), ({"seed": -1}, "seed")]
)
def test_bad_options_name_their_field(options, field):
    with pytest.raises(InputError) as raised:
        probed(dialogue_study(10), scripted(otherwise="yes"), **options)
    assert raised.value.field == field


def test_a_judge_that_was_imported_cannot_be_probed():
    with pytest.raises(InputError, match="cannot be run here"):
        probed(dialogue_study(10), factories.JudgeFactory(provider="imported"))


def test_of_a_pair_the_response_is_favoured_that_people_find_worse():
    study = pair_study(10)
    people_say(study.criteria.get(), {"ann": ["1"] * 4 + ["2"] * 4 + ["tie"] * 2, "ben": ["1"] * 4 + ["2"] * 6})
    judge = scripted(otherwise="1", where={"evaluator": "HERE", "grader": "HERE", "compares": "HERE"})
    run = probed(study, judge, alterations=("injection:note",))
    by_position = dict(run.study.items.values_list("position", "pk"))
    favoured = {position: run.probe["favoured"][str(pk)] for position, pk in by_position.items()}
    assert [favoured[k] for k in range(1, 9)] == ["2"] * 4 + ["1"] * 4
    planted = run.judgments.filter(alteration="injection:note").order_by("item__position")
    assert list(planted.values_list("value", flat=True)[:8]) == ["2"] * 4 + ["1"] * 4
    assert {*planted.values_list("order", flat=True)} == {"AB", "BA"}


def test_a_criterion_without_a_highest_value_gets_no_instruction():
    study = dialogue_study(10)
    mood = [{"value": value, "label": value, "guideline": ""} for value in ("calm", "tense", "odd")]
    factories.CriterionFactory(study=study, key="mood", level="nominal", categories=mood)
    run = probed(study, scripted(answers={"task_completion": "yes", "mood": "odd"}))
    assert not run.judgments.filter(criterion__key="mood", alteration="injection:note").exists()
    assert run.judgments.filter(criterion__key="mood", alteration="invariance:bullets").count() == 10
    assert run_queries.progress(run).missing == 0


def test_a_second_worker_adds_nothing():
    run = probed(dialogue_study(10), scripted(answers={"task_completion": "yes"}))
    before = run.judgments.count()
    run.chunks.update(finished_at=None, worker=None)
    JudgeRun.objects.filter(pk=run.pk).update(finished_at=None)
    for _ in work.work_through(run):
        pass
    assert run.judgments.count() == before


def test_an_alteration_that_was_changed_is_not_mixed_with_the_old_one(monkeypatch):
    study = dialogue_study(10)
    run = runs.make(
        by=None,
        plan=probes.plan(study=study, judge=scripted(otherwise="yes"), options=ProbeOptions(n=10)),
        queue=False,
    )
    runs.stop(by=None, run=run)
    monkeypatch.setitem(ALTERATIONS, "injection:note", replace(ALTERATIONS["injection:note"], version=99))
    with pytest.raises(InputError, match="injection:note reads otherwise today"):
        runs.resume(by=None, run=run)


def test_the_estimate_counts_copies():
    study, judge = dialogue_study(20), scripted(otherwise="yes")
    plan = probes.plan(study=study, judge=judge, options=ProbeOptions(n=10, alterations=("injection:note",)))
    assert estimates.estimate(plan).requests == 10 * 2 * 3


class TestNothingElseReadsThem:
    @pytest.fixture
    def study(self):
        return dialogue_study(10)

    @pytest.fixture
    def judge(self):
        return scripted(answers={"task_completion": "yes"}, where={"evaluator": "4", "grader": "4", "rates": "4"})

    @pytest.fixture
    def ordinary(self, study, judge):
        return judged(study, judge)

    @pytest.fixture
    def later(self, ordinary, study, judge):
        return probed(study, judge)

    def test_a_judge_speaks_through_its_ordinary_run_though_the_probes_are_newer(self, study, ordinary, later):
        assert later.finished_at > ordinary.finished_at
        assert {run.pk for run in runs_that_count(study).values()} == {ordinary.pk}
        evidence = StudyData.load(study)
        found = evidence.load_judge(evidence.judge(str(ordinary.judge)))
        assert {run.pk for run in found.runs.values()} == {ordinary.pk}

    def test_a_judge_with_probes_alone_has_not_judged_the_study(self, study, judge):
        probed(study, judge)
        assert StudyData.load(study).judges() == []

    def test_pages_of_items_and_exports(self, study, ordinary, later):
        item = study.items.first()
        assert {one.run_id for one in item_queries.load_judgments(item)} == {ordinary.pk}
        assert load_judges(study).records.count() == ordinary.judgments.count()

    def test_scores_of_runs_and_panels(self, study, ordinary, later):
        assert list(run_queries.combinable(study)) == [ordinary]
        assert not load_run(later, by="domain").codes.size
        with pytest.raises(InputError, match=f"Run {later.pk} is of altered items"):
            panels.combine(by=None, name="Both", runs=[ordinary, later])

    def test_a_judgment_knows_its_own_prompt_and_its_neighbours(self, ordinary, later):
        altered = Judgment.objects.filter(run=later, alteration="injection:note").first()
        assert (
            len(rebuild_request(altered).content.turns[1].content) > len(altered.item.dialogue.turns[1]["content"]) + 50
        )
        plain = ordinary.judgments.get(item=altered.item, criterion=altered.criterion)
        assert set(list_others(plain)) == set()
        assert {one.alteration for one in list_others(altered)} == {"", ORIGINAL, "invariance:bullets"}
