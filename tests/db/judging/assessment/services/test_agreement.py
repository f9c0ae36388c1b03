"""Agreement of a study: what is computed, what is kept, what is said of it."""

import json

import pytest

from annotation.studies.models.labels import AgreementRun, Annotation
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.runs.models.runs import Judgment
from tests.support.factories import CriterionFactory, JudgeRunFactory, ResearcherFactory
from tests.support.labelled import add_verdicts, judge_says, pandalm_study, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

QUICK = JudgedOptions(bootstrap=50)


def computed(study, options=QUICK):
    return agreement.load_or_compute(by=None, study=study, options=options, ratings=StudyRatings.read(study))


@pytest.fixture
def criterion():
    criterion = CriterionFactory(study=with_items(4), key="done", yes_no=True)
    people_say(criterion, {"bob": ["yes", "no", "yes", "no"], "dana": ["yes", "no", "yes", "no"]})
    return criterion


def test_equal_labels_agree_fully(criterion):
    judge_says(criterion, "gpt", ["yes", "no", "yes", "no"])
    found = computed(criterion.study).result["criteria"]["done"]
    assert found["coefficients"]["krippendorff_alpha"]["value"] == 1
    assert found["coefficients"]["fleiss_kappa"]["value"] == 1
    assert found["judges"]["gpt"]["mean_cohen_kappa"]["value"] == 1


def test_asking_again_gives_the_kept_row(criterion):
    alice = ResearcherFactory(username="alice")
    ratings = StudyRatings.read(criterion.study)
    first = agreement.load_or_compute(by=alice, study=criterion.study, options=QUICK, ratings=ratings)
    again = computed(criterion.study)
    assert again.pk == first.pk
    assert json.dumps(again.result) == json.dumps(first.result)  # in the same order, also on PostgreSQL
    assert (first.created_by, first.seed, first.parameters["bootstrap"]) == (alice, 0, 50)


@pytest.mark.parametrize("options", [JudgedOptions(bootstrap=60), JudgedOptions(bootstrap=50, seed=1)])
def test_other_parameters_or_another_seed_make_a_new_row(criterion, options):
    assert computed(criterion.study, options).pk != computed(criterion.study).pk


def test_a_new_label_makes_a_new_row_and_the_old_one_stays(criterion):
    before = computed(criterion.study)
    Annotation.objects.filter(assignment__annotator__username="bob", value="no").update(value="yes")
    after = computed(criterion.study)
    assert after.input_hash != before.input_hash
    assert AgreementRun.objects.count() == 2
    assert AgreementRun.objects.get(pk=before.pk).result == before.result


def test_another_version_of_the_code_computes_anew(criterion, monkeypatch):
    before = computed(criterion.study)
    monkeypatch.setattr("annotation.agreement.services.agreement.code_version", lambda: "9.9.9")
    assert computed(criterion.study).pk != before.pk


def test_unscored_replies_are_left_out_and_named(criterion):
    judge_says(criterion, "gpt", ["yes", "", "yes", ""])
    found = computed(criterion.study).result["criteria"]["done"]
    assert (found["judges"]["gpt"]["scored"], found["judges"]["gpt"]["unscored"]) == (2, 2)
    assert "unscored_replies" in {warning["code"] for warning in found["warnings"]}
    assert "unscored" in {convention["code"] for convention in found["conventions"]}


def test_unscored_replies_may_be_counted_as_a_value_and_are_still_named(criterion):
    judge_says(criterion, "gpt", ["yes", "", "yes", ""])
    found = computed(criterion.study, JudgedOptions(bootstrap=50, unscored_as="no")).result["criteria"]["done"]
    gpt = found["judges"]["gpt"]
    assert (gpt["accuracy"]["value"], gpt["unscored"], gpt["unscored_as"]) == (1, 2, "no")
    (warning,) = [w for w in found["warnings"] if w["code"] == "unscored_replies"]
    assert "counted as no" in warning["message"]


def test_a_value_off_the_scale_is_refused_and_nothing_is_kept(criterion):
    judge_says(criterion, "gpt", ["yes", "", "yes", ""])
    with pytest.raises(InputError, match="'tie' is not on the scale"):
        computed(criterion.study, JudgedOptions(unscored_as="tie"))
    assert not AgreementRun.objects.exists()


def test_simulated_people_baselines_and_unfinished_runs_are_named(criterion):
    User.objects.filter(username="dana").update(kind="simulated")
    judge_says(criterion, "longer", ["yes"] * 4, provider="baseline")
    judge_says(criterion, "parrot", ["yes"] * 4, provider="scripted")
    going = JudgeRunFactory(study=criterion.study, judge__name="gpt", criteria=[criterion])
    add_verdicts(going, criterion, ["yes", None, None, None])
    found = computed(criterion.study).result["criteria"]["done"]
    codes = {warning["code"]: warning["message"] for warning in found["warnings"]}
    assert "dana" in codes["simulated_annotators"]
    assert "longer" in codes["baseline_judge"]
    assert "parrot" in codes["scripted_judge"]
    assert "1 items are scored so far" in codes["run_unfinished"]


def test_answers_that_people_could_not_give_are_counted(criterion):
    other = CriterionFactory(study=criterion.study, key="depth")
    people_say(other, {"bob": ["1", "", "2", "3"], "dana": ["1", "2", "2", "4"]})
    found = computed(criterion.study).result["criteria"]["depth"]
    assert found["unscored_by_people"] == {"bob": 1}
    assert "could_not_judge" in {warning["code"] for warning in found["warnings"]}


def test_a_study_without_labels_is_undefined_with_reasons():
    study = CriterionFactory(key="done").study
    found = computed(study).result["criteria"]["done"]
    assert found["coefficients"]["fleiss_kappa"]["value"] is None
    assert found["coefficients"]["fleiss_kappa"]["reason"]
    assert StudyRatings.read(study).is_empty


def test_reading_a_study_takes_the_same_number_of_queries_whatever_its_size(criterion, django_assert_num_queries):
    for name in ("gpt", "claude"):
        judge_says(criterion, name, ["yes", "no", "yes", "no"])
    CriterionFactory(study=criterion.study)
    with django_assert_num_queries(10):
        StudyRatings.read(criterion.study)


def test_the_table_sets_judge_and_people_side_by_side(criterion):
    depth = CriterionFactory(study=criterion.study, key="depth", name="Depth")
    people_say(depth, {"bob": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "4"]})
    judge_says(criterion, "gpt", ["yes", "no", "yes", "yes"])
    result = computed(criterion.study).result
    assert [(row["criterion"], row["judge"]) for row in result["table"]] == [("done", "gpt"), ("depth", None)]
    done = result["criteria"]["done"]
    assert result["table"][0]["judge_agreement"] == done["judges"]["gpt"]["mean_cohen_kappa"]
    assert result["table"][0]["people_agreement"] == done["coefficients"]["mean_pairwise_cohen_kappa"]


def test_one_criterion_is_a_document_and_several_are_named(criterion):
    depth = CriterionFactory(study=criterion.study, key="depth")
    people_say(depth, {"bob": ["1", "2", "3", "4"]})
    result = computed(criterion.study).result
    assert set(agreement.select_criterion(result, None)) == {"study", "criteria", "table"}
    assert agreement.select_criterion(result, "depth")["criterion"] == "depth"
    with pytest.raises(InputError, match="there are done, depth"):
        agreement.select_criterion(result, "nope")


@pytest.mark.parametrize(
    ("field", "value"), [("bootstrap", -1), ("confidence", 1.0), ("seed", -1), ("bootstrap", 10**9)]
)
def test_options_that_make_no_sense_are_refused(field, value):
    with pytest.raises(InputError) as caught:
        JudgedOptions(**{field: value})
    assert caught.value.field == field


@pytest.mark.long
def test_pandalm_gives_its_published_agreement(shared_data):
    """Cohen .85/.88/.86 and the majority 105/422/472 are printed in PandaLM's README; the rest in reference.json."""
    study = pandalm_study(shared_data / "pandalm")
    found = agreement.select_criterion(computed(study, JudgedOptions(bootstrap=0)).result, None)
    assert [round(pair["cohen_kappa"]["value"], 3) for pair in found["pairs"]] == [0.852, 0.879, 0.862]
    assert found["coefficients"]["fleiss_kappa"]["value"] == pytest.approx(0.864175, abs=1e-6)
    assert found["coefficients"]["krippendorff_alpha"]["value"] == pytest.approx(0.864221, abs=1e-6)
    assert found["majority"] == {"counts": {"1": 422, "2": 472, "tie": 105}, "tied": 0, "unrated": 0}
    assert (found["judges"]["gpt-3.5-turbo"]["unscored"], found["judges"]["gpt-3.5-turbo"]["scored"]) == (25, 974)


def test_pandalm_judged_with_unparsable_replies_as_ties_gives_the_published_kappas(shared_data):
    """Published with the 25 unparsable replies counted as ties: .479/.479/.488; confusion as in reference.json."""
    study = pandalm_study(shared_data / "pandalm")
    found = agreement.select_criterion(computed(study, JudgedOptions(bootstrap=0, unscored_as="tie")).result, None)
    gpt = found["judges"]["gpt-3.5-turbo"]
    assert [round(e["value"], 3) for e in gpt["per_annotator"].values()] == [0.479, 0.479, 0.488]
    assert gpt["accuracy"]["value"] == pytest.approx(0.7107107)
    assert gpt["confusion"]["counts"] == [[332, 86, 42], [71, 360, 45], [19, 26, 18]]
    assert gpt["unscored"] == 25


def test_pandalm_with_garbage_as_ties_gives_the_published_alt_test(shared_data):
    # shared/data/pandalm/reference.json: epsilon .15, winning rate 0, advantage .7554 and .7147
    study = pandalm_study(shared_data / "pandalm")
    judges = computed(study, JudgedOptions(bootstrap=0, unscored_as="tie")).result["criteria"]["preference"]["judges"]
    found = {name: held["alt_test"] for name, held in judges.items()}
    assert {name: one["winning_rate"] for name, one in found.items()} == {"gpt-3.5-turbo": 0, "pandalm-7b": 0}
    assert found["gpt-3.5-turbo"]["advantage_probability"] == pytest.approx(0.755422088755422)
    assert found["pandalm-7b"]["advantage_probability"] == pytest.approx(0.7147147147147148)


class TestScores:
    """Two people say 1, 2, 4, 3; the judge 1, 2, 4, 4 and, asked again, 1, 3, 4, 2."""

    SCORES = JudgedOptions(bootstrap=50, reads="score")

    @pytest.fixture
    def criterion(self):
        criterion = CriterionFactory(study=with_items(4), key="warm")
        people_say(criterion, {"bob": ["1", "2", "4", "3"], "dana": ["1", "2", "4", "3"]})
        run = judge_says(criterion, "gpt", ["1", "2", "4", "4"])
        add_verdicts(run, criterion, ["1", "3", "4", "2"], repeat=2)
        return criterion

    def held(self, criterion, options):
        ratings = StudyRatings.read(criterion.study, with_scores=options.with_scores)
        run = agreement.load_or_compute(by=None, study=criterion.study, options=options, ratings=ratings)
        return run.result["criteria"]["warm"]

    def test_repeats_become_a_score_and_it_is_said(self, criterion):
        # errors of the verdicts 0, 0, 0, 1; of the scores 1, 2.5, 4, 3: 0, 0.5, 0, 0
        by_verdict, by_score = self.held(criterion, QUICK), self.held(criterion, self.SCORES)

        assert by_verdict["judges"]["gpt"]["mae"]["value"] == 0.25
        assert by_score["judges"]["gpt"]["mae"]["value"] == 0.125
        assert by_score["judges"]["gpt"]["reads"] == "score"
        assert by_score["judges"]["gpt"]["score_sources"] == {"repeats": 4}
        assert "score" in {note["code"] for note in by_score["conventions"]}
        assert (
            by_score["judges"]["gpt"]["mean_cohen_kappa"]["value"]
            == by_verdict["judges"]["gpt"]["mean_cohen_kappa"]["value"]
        )

    @pytest.mark.each_database
    def test_probabilities_go_before_repeats(self, criterion):
        Judgment.objects.filter(value="2", repeat=1).update(details={"distribution": {"2": 0.5, "3": 0.5}})

        found = self.held(criterion, self.SCORES)["judges"]["gpt"]

        assert found["score_sources"] == {"probabilities and repeats": 1, "repeats": 3}

    def test_a_scale_without_order_has_no_score(self, criterion):
        done = CriterionFactory(study=criterion.study, key="done", yes_no=True)
        people_say(done, {"bob": ["yes"] * 4})
        judge_says(done, "gpt2", ["yes"] * 4)
        ratings = StudyRatings.read(criterion.study, with_scores=True)

        run = agreement.load_or_compute(by=None, study=criterion.study, options=self.SCORES, ratings=ratings)

        assert run.result["criteria"]["done"]["judges"]["gpt2"]["reads"] == "verdict"

    def test_unscored_counted_as_a_value_has_that_value_s_number(self, criterion):
        silent = judge_says(criterion, "silent", ["1", "2", "", "3"])
        assert silent.judgments.count() == 4
        options = JudgedOptions(bootstrap=50, reads="score", unscored_as="1")

        assert self.held(criterion, options)["judges"]["silent"]["mae"]["value"] == 0.75

    def test_an_unknown_reading_is_refused(self):
        with pytest.raises(InputError, match="verdict or score"):
            JudgedOptions(reads="mood")
