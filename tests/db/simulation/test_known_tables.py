"""A scripted experiment with a scripted judge: every table is known by hand, and the pages show those numbers."""

from __future__ import annotations

import csv
import io

import pytest
from django.urls import reverse

from judging.runs.services import runs, work as judging_work
from simulation.experiments.models import Experiment, PreferenceType
from simulation.experiments.services import studies
from simulation.results import charts
from simulation.results.services import results
from tests.support import factories
from tests.support.judging import scripted as scripted_judge
from tests.support.simulation import people, played, scripted

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# Dialogues in their order: user0 task0 (one domain) base, base+I; user0 task1 (several) base, base+I; then user1.
TCR = ["no", "yes", "no", "no", "yes", "yes", "no", "yes"]
P = [1, 3, 2, 2, 2, 4, 1, 3]
NAT = [5, 4, 4, 4, 3, 4, 2, 4]
COH = [4, 4, 4, 4, 4, 4, 2, 2]
USER_NAT = [5, 5, 3, 3, 5, 5, 3, 3]
USER_COH = [4] * 8


def judged(experiment: Experiment, **scores):
    ids = [one.dialogue.external_id for one in experiment.dialogues.select_related("dialogue").order_by("index")]
    answers = {key: {pk: str(value) for pk, value in zip(ids, values, strict=True)} for key, values in scores.items()}
    study = studies.create_judge_study(by=None, experiment=experiment)
    judge = scripted_judge(answers=answers)
    run = runs.make(by=None, plan=runs.plan(study=study, judge=judge), queue=False)
    for _ in judging_work.work_through(run):
        pass
    return judge


@pytest.fixture
def experiment():
    people(2, 2)
    experiment = played(conditions=["base", "base+I"])
    judged(
        experiment,
        task_completion=TCR,
        personalization=P,
        naturalness_assistant=NAT,
        coherence_assistant=COH,
        naturalness_user=USER_NAT,
        coherence_user=USER_COH,
    )
    return experiment


@pytest.fixture
def document(experiment):
    [(judge, n)] = results.judgments.list_experiment_judges(experiment)
    assert n == 8 * 6
    return results.document(experiment, judge)


def numbers(document, table):
    """Group and row -> its values, in the order of the columns."""
    found = document["tables"][table]
    return {
        (row["group"], row["name"]): [row["cells"][column["key"]]["value"] for column in found["columns"]]
        for row in found["rows"]
    }


def test_assistants_by_kind_of_task(document):
    # base alone, as in the paper; one domain: dialogues 1 and 5; several: 3 and 7
    assert numbers(document, "assistants") == {
        ("one domain", "scripted assistant"): [0.5, 0.5, 1.5, 4.0, 4.0],
        ("several domains", "scripted assistant"): [0.0, 0.0, 1.5, 3.0, 3.0],
    }


def test_ablation_and_paired_differences(document):
    assert numbers(document, "ablation") == {
        ("one domain", "base: knows nothing of the user"): [0.5, 0.5, 1.5, 4.0, 4.0],
        ("one domain", "base + past interactions"): [1.0, 1.0, 3.5, 4.0, 4.0],
        ("several domains", "base: knows nothing of the user"): [0.0, 0.0, 1.5, 3.0, 3.0],
        ("several domains", "base + past interactions"): [0.5, 0.5, 2.5, 4.0, 3.0],
    }
    # P: +2, 0, +2, +2; TCR: +1, 0, 0, +1
    assert numbers(document, "differences") == {("scripted assistant", "base+I minus base"): [0.5, 1.5, 0.5, 0.0]}


def test_differences_are_clustered_by_profile(document):
    cell = document["tables"]["differences"]["rows"][0]["cells"]["personalization"]
    assert (cell["n_items"], cell["n_raters"]) == (4, 2)
    assert cell["reason"] == "not enough evidence: 2 clusters; at least 8 are needed"


def test_domains_with_the_mean_of_all(document):
    assert numbers(document, "domains") == {
        ("", "Restaurants"): [0.5, 0.5, 1.5, 4.0, 4.0],
        ("", "several domains"): [0.0, 0.0, 1.5, 3.0, 3.0],
        ("", "mean of domains"): [0.5, 0.5, 1.5, 4.0, 4.0],
        ("", "all"): [0.25, 0.25, 1.5, 3.5, 3.5],
    }


def test_the_user_agent(document):
    assert numbers(document, "user_agent") == {
        ("one domain", "scripted assistant"): [5.0, 4.0],
        ("several domains", "scripted assistant"): [3.0, 4.0],
    }


def test_how_the_dialogues_went(document):
    row = document["tables"]["talk"]["rows"][-1]
    values = {key: cell["value"] for key, cell in row["cells"].items()}
    assert values.pop("tokens") > 0
    assert values == {
        "regular": 1.0,
        "done": 1.0,
        "turns": 6.0,
        "leak": 0.0,
        "user_repeats": 0.0,
        "assistant_repeats": 0.0,
        "cut": 0.0,
        "cut_off": 0.0,
    }


@pytest.mark.long
def test_the_pages_and_files_show_these_numbers(client, experiment):
    client.force_login(factories.ResearcherFactory())

    text = " ".join(client.get(reverse("experiment_results", args=[experiment.pk])).content.decode().split())

    for table in ("Assistants", "Conditions", "Differences", "Domains", "User agent", "Diversity of words"):
        assert f"<h2>{table}" in text
    assert "(Table 13)" in text
    for value in ("3.50", "1.50", "0.500"):
        assert f'<span class="estimate__value">{value}</span>' in text
    assert text.count("<svg") >= 5
    written = client.get(reverse("results_download", args=[experiment.pk, "csv"])).content.decode()
    rows = list(csv.DictReader(io.StringIO(written)))
    [found] = [
        row for row in rows if (row["table"], row["row"], row["measure"]) == ("domains", "all", "personalization")
    ]
    assert (float(found["value"]), found["n_dialogues"], found["n_profiles"]) == (1.5, "4", "2")
    svg = client.get(reverse("results_download", args=[experiment.pk, "svg"]) + "?table=ablation")
    assert svg.content.startswith(b"<svg")
    png = client.get(reverse("results_download", args=[experiment.pk, "png"]) + "?table=differences")
    assert png.content.startswith(b"\x89PNG")
    assert client.get(reverse("results_download", args=[experiment.pk, "svg"]) + "?table=none").status_code == 404


@pytest.mark.long
def test_the_page_costs_the_same_however_large_the_experiment(client, django_assert_max_num_queries, experiment):
    client.force_login(factories.ResearcherFactory())

    client.get(reverse("experiment_results", args=[experiment.pk]))
    with django_assert_max_num_queries(14):
        client.get(reverse("experiment_results", args=[experiment.pk]))
    with django_assert_max_num_queries(18):
        client.get(reverse("experiment_detail", args=[experiment.pk]))


class TestPeople:
    def test_the_human_check_is_drawn_at_random(self, experiment):
        study = studies.create_human_check(by=None, experiment=experiment, n=4)

        assert set(study.items.values_list("stratum", "inclusion_probability")) == {("", 0.5)}
        assert study.samples.get().method == "simple"
        assert study.description.startswith("The human check of PersonaLens: dialogues drawn at random")

    @pytest.mark.each_database
    def test_a_sample_over_the_range_of_scores(self, experiment):
        study = studies.create_human_check(by=None, experiment=experiment, n=4, draw="stratified")

        strata = sorted(study.items.values_list("stratum", flat=True))
        assert strata == ["1", "2", "3", "4"], "one dialogue of each score"
        assert set(study.items.values_list("stratum", "inclusion_probability")) == {
            (str(score), 1 / P.count(score)) for score in (1, 2, 3, 4)
        }
        assert study.overlap == 3
        assert study.criteria.count() == 6
        assert study.name.endswith("for people")
        assert studies.create_human_check(by=None, experiment=experiment, n=2).name.endswith("for people 2")

    def test_all_where_there_are_fewer(self, experiment):
        assert studies.create_human_check(by=None, experiment=experiment, n=100).items.count() == 8

    @pytest.mark.each_database
    def test_without_a_judge_by_assistant_and_condition(self):
        people(2, 1)
        experiment = played(conditions=["base", "base+D"])

        study = studies.create_human_check(by=None, experiment=experiment, n=2, draw="stratified")
        strata = set(study.items.values_list("stratum", flat=True))
        assert strata == {"scripted assistant / base", "scripted assistant / base+D"}

    def test_an_unknown_draw_is_named(self, experiment):
        with pytest.raises(ValueError, match="'best' is not one of random, stratified"):
            studies.create_human_check(by=None, experiment=experiment, draw="best")

    def test_there_must_be_something_to_show(self):
        with pytest.raises(ValueError, match="No dialogue of this experiment"):
            studies.create_human_check(by=None, experiment=factories.ExperimentFactory(), n=4)


def test_the_study_for_judges_takes_in_what_is_new(experiment):
    study = studies.create_judge_study(by=None, experiment=experiment)

    assert study.items.count() == 8
    assert studies.create_judge_study(by=None, experiment=experiment) == study
    assert study.items.count() == 8


@pytest.mark.each_database
def test_personalization_turn_by_turn():
    """Of each user the assistant has turns 2, 4 and 6: judged 1, 3 and 2, and 2, 4 and 2."""
    people(2, 1)
    experiment = played(conditions=["base"])
    study = studies.create_judge_study(by=None, experiment=experiment)
    judge = scripted_judge()
    run = runs.make(
        by=None,
        plan=runs.plan(study=study, judge=judge, every_turn=True, criteria=["personalization"]),
        queue=False,
    )
    for _ in judging_work.work_through(run):
        pass
    for index, values in ((1, {2: "1", 4: "3", 6: "2"}), (2, {2: "2", 4: "4", 6: "2"})):
        for turn, value in values.items():
            one = experiment.dialogues.get(index=index).dialogue
            assert run.judgments.filter(item__dialogue=one, turn=turn).update(value=value) == 1

    found = results.document(experiment, judge)

    assert numbers(found, "turns") == {
        (tasks, turn): [value]
        for tasks in ("all of one domain", "Restaurants")
        for turn, value in (("1", 1.5), ("2", 3.5), ("3", 2.0))
    }
    first = found["tables"]["turns"]["rows"][0]["cells"]["personalization"]
    assert (first["n_items"], first["n_raters"]) == (2, 2)
    assert numbers(found, "assistants") == {("one domain", "scripted assistant"): [None] * 5}, "no dialogue was rated"
    assert charts.svg(charts.table_chart, found["tables"]["turns"], charts.FILE).startswith("<svg")


def test_the_quality_of_the_history():
    people(1, 1)
    experiment = played(conditions=["base", "base+I", "base+I-shortened-50", "base+I-shortened-100"])
    judge = judged(experiment, task_completion=["no", "yes", "yes", "no"], **{key: [1, 4, 3, 2] for key in SCORES})

    document = results.document(experiment, judge)

    assert numbers(document, "history") == {
        ("shortened", "0"): [4.0, 1.0],
        ("shortened", "50"): [3.0, 1.0],
        ("shortened", "100"): [2.0, 0.0],
    }
    assert charts.svg(charts.table_chart, document["tables"]["history"], charts.FILE).startswith("<svg")


SCORES = ("personalization", "naturalness_assistant", "coherence_assistant", "naturalness_user", "coherence_user")


def test_to_contradict_the_schema_is_needed():
    people(1, 1)

    with pytest.raises(ValueError, match="import_schema FILE --source test"):
        played(conditions=["base+I-contradicted-50"])


def test_persona_drift_by_turn():
    people(2, 1)
    PreferenceType.objects.create(
        source="test", domain="Restaurants", name="Cuisine", possible_values=["Thai", "Greek"]
    )
    drifting = scripted("user", by_dialogue={"user1": ["Book me a table.", "A Greek one.", "Thanks. [END]"]})

    document = results.document(played(user=drifting), None)

    # user0 says at eight, user1 Greek in the second turn; both hold Thai
    assert numbers(document, "drift") == {("", "1"): [0.0], ("", "2"): [0.5], ("", "3"): [0.0]}
    assert charts.svg(charts.table_chart, document["tables"]["drift"], charts.FILE).startswith("<svg")


@pytest.mark.each_database
def test_assistants_of_one_model_with_other_parameters_are_kept_apart():
    people(1, 1)
    both = [scripted("assistant", delay=0.0), scripted("assistant", delay=0.001)]
    experiment = played(assistants=both)

    document = results.document(experiment, None)

    names = [row["name"] for row in document["tables"]["talk"]["rows"]]
    assert names == ["scripted assistant (delay 0.0)", "scripted assistant (delay 0.001)", "all"]
    made = {one.dialogue.assistant_model for one in experiment.dialogues.select_related("dialogue")}
    assert made == set(names[:2])
