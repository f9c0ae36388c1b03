"""Results of some hundred dialogues: equal to a calculation in plain Python, filtered, kept, left to a worker."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.agreement.options import IntervalOptions as Options
from core.errors import InputError
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from simulation.experiments.models import DialogueMeasures, Experiment
from simulation.results.queries.judgments import fingerprint
from simulation.results.services import results
from simulation.results.services.columns import OF_VARIETY
from simulation.results.services.data import Filters, load_data
from simulation.results.services.ranks import rank_document, rank_table
from simulation.results.services.tables import Tables
from tests.support import by_hand, factories
from tests.support.shared_rows import share_rows
from tests.support.synthetic import synthetic

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
FEW = Options(bootstrap=50)


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """Nine users, five tasks, two conditions, two assistants: 180 dialogues with turns judged."""

    def rows() -> tuple[int, int]:
        experiment, judge = synthetic(
            users=9, tasks=5, conditions=["base", "base+I"], assistants=2, words=12, exchanges=3, turns_judged=True
        )
        return experiment.pk, judge.pk

    yield from share_rows(django_db_blocker, rows)


@pytest.fixture
def experiment(made) -> Experiment:
    cache.clear()
    return Experiment.objects.get(pk=made[0])


@pytest.fixture
def judge(made) -> Judge:
    return Judge.objects.get(pk=made[1])


def test_every_table_and_figure_equals_a_calculation_in_plain_python(experiment, judge):
    document = results.document(experiment, judge, FEW)
    assert set(document["numbers"]) == {f"Table {n}" for n in (3, 4, 10, 12, 13)} | {"Figure 4", "Figure 5"}
    assert by_hand.differences(by_hand.values(document), by_hand.tables(experiment, judge)) == {}
    flat = list(results.csv_rows(document))
    assert len(flat) > len(by_hand.values(document))
    assert all(len(row) == len(flat[0]) for row in flat)


def test_of_one_assistant_the_figures_are_by_domain(experiment, judge):
    document = results.document(experiment, judge, FEW, Filters(assistant="assistant 1"))
    assert document["dialogues"] == 90
    groups = {row["group"] for row in document["tables"]["turns"]["rows"]}
    assert groups == {"all of one domain", "several domains", *(f"Domain {n}" for n in range(4))}


@pytest.mark.parametrize(
    ("filters", "dialogues"),
    [
        (Filters(condition="base+I"), 90),
        (Filters(tasks="multi"), 36),
        (Filters(tasks="single", assistant="assistant 0", condition="base"), 36),
        (Filters(domain="Domain 5"), 36),
        (Filters(domain="Domain 2", tasks="single"), 36),
        (Filters(domain="Domain 2", tasks="multi"), 0),
    ],
)
def test_filters(experiment, judge, filters, dialogues):
    document = results.document(experiment, judge, Options(bootstrap=0), filters)
    assert document["dialogues"] == dialogues
    assert bool(document["tables"].get("assistants", {}).get("rows")) == bool(dialogues)


@pytest.mark.parametrize(
    "asked",
    [
        {"assistant": "assistant 1"},
        {"condition": "base+I"},
        {"tasks": "multi", "assistant": "assistant 0"},
        {"tasks": "single", "condition": "base+I", "assistant": "assistant 0"},
        {"domain": "Domain 5"},
        {"turn": 2},
        {"turn": 1, "condition": "base+I", "tasks": "single", "domain": "Domain 2", "assistant": "assistant 1"},
    ],
)
def test_every_number_of_a_filtered_table_equals_a_calculation_in_plain_python(experiment, judge, asked):
    found = by_hand.values(results.document(experiment, judge, Options(bootstrap=0), Filters(**asked)))
    assert len(found) > 10
    assert by_hand.differences(found, by_hand.tables(experiment, judge, **asked)) == {}


def test_a_turn_stands_in_place_of_the_dialogue(experiment, judge):
    document = results.document(experiment, judge, Options(bootstrap=0), Filters(turn=2, assistant="assistant 0"))
    curve = {row["group"]: row["cells"]["personalization"]["value"] for row in document["tables"]["turns"]["rows"]}
    (single,) = [row for row in document["tables"]["assistants"]["rows"] if row["group"] == "one domain"]
    assert single["cells"]["personalization"]["value"] == curve["all of one domain"]
    assert {row["name"] for row in document["tables"]["turns"]["rows"]} == {"2"}
    assert "variety" not in document["tables"]


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (Filters(assistant="nobody"), "No dialogue has the assistant 'nobody'; there are: assistant 0, assistant 1."),
        (Filters(condition="vanilla"), "No dialogue has the condition 'vanilla'; there are: base, base+I."),
        (Filters(tasks="both"), "No dialogue has the tasks 'both'; there are: single, multi."),
        (Filters(domain="Domain 19"), "No dialogue has the domain 'Domain 19'"),
        (Filters(turn=9), "No judge rated reply 9 of the assistant: there are verdicts on replies 1 to 3."),
    ],
)
@pytest.mark.each_database
def test_a_filter_that_names_nothing_is_said(experiment, judge, filters, says):
    with pytest.raises(InputError) as error:
        results.document(experiment, judge, Options(bootstrap=0), filters)
    assert says in str(error.value)


def test_completion_as_published_counts_dialogues_without_a_verdict_as_failed(experiment, judge):
    table = results.document(experiment, judge, Options(bootstrap=0))["tables"]["assistants"]
    for row in table["rows"]:
        own, theirs = row["cells"]["task_completion"], row["cells"]["task_completion_published"]
        assert own["value"] * own["n_items"] == pytest.approx(theirs["value"] * theirs["n_items"])
        assert theirs["n_items"] == 36 if row["group"] == "one domain" else 9
    assert sum(row["cells"]["task_completion"]["n_items"] for row in table["rows"]) < 90


@pytest.mark.each_database
def test_a_judge_halfway_is_told(experiment, judge):
    """What was not asked yet is in neither rate; it is counted."""
    before = results.document(experiment, judge, Options(bootstrap=0))
    assert before["not_judged"] == {}
    last = Judgment.objects.filter(run__judge=judge, criterion__key="task_completion").order_by("-pk")[:30]
    Judgment.objects.filter(pk__in=list(last.values_list("pk", flat=True))).delete()
    after = results.document(experiment, judge, Options(bootstrap=0))
    assert after["not_judged"] == {"task_completion": 30}


@pytest.mark.each_database
def test_measures_are_made_once_and_again_where_a_dialogue_is(experiment, judge, django_assert_max_num_queries):
    first = results.document(experiment, judge, Options(bootstrap=0))
    with django_assert_max_num_queries(25):
        assert results.document(experiment, judge, Options(bootstrap=0))["tables"] == first["tables"]
    one = experiment.dialogues.first()
    DialogueMeasures.objects.filter(pk=one.pk).update(key="of something else", values={})
    assert results.document(experiment, judge, Options(bootstrap=0))["tables"] == first["tables"]


@pytest.mark.long
@pytest.mark.each_database
def test_kept_until_something_changes(experiment, judge, monkeypatch):
    first = results.load_or_compute(experiment, judge, FEW, Filters(), patient=True)
    with monkeypatch.context() as patch:
        patch.setattr(results, "document", None)
        assert results.load_or_compute(experiment, judge, FEW, Filters(), patient=True) == first
    before = fingerprint(experiment)
    one = Judgment.objects.filter(run__judge=judge).exclude(value="").first()
    one.value, one.unscored_reason = "", "no_verdict"
    one.save()
    assert fingerprint(experiment) != before
    second = results.load_or_compute(experiment, judge, FEW, Filters(), patient=True)
    assert second["unscored"] != first["unscored"]


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(results, "AT_ONCE", 100)


@pytest.mark.each_database
@pytest.mark.long
def test_a_large_experiment_is_left_to_a_worker(client, experiment, judge, large, monkeypatch):
    sent = []
    monkeypatch.setattr("core.jobs.waiting.current_app.send_task", lambda name, args: sent.append((name, args)))
    client.force_login(factories.ResearcherFactory(username="rosa"))
    page, file = (reverse(name, args=[experiment.pk]) for name in ("experiment_results", "api_experiment_results"))
    assert "a worker computes results on request" in client.get(page).content.decode()
    assert client.get(reverse("results_download", args=[experiment.pk, "csv"])).status_code == 409
    assert client.get(file).status_code == 409
    assert client.post(reverse("experiment_results_compute", args=[experiment.pk])).status_code == 302
    assert "by rosa; no worker has begun yet" in " ".join(client.get(page).content.decode().split())
    ((name, args),) = sent
    assert name == results.TASK
    results.compute(*args)
    results.compute(*args)
    text = client.get(page).content.decode()
    assert "Diversity of words" in text
    assert "on request" not in text
    assert client.get(file).json()["numbers"]["Figure 5"] == "turns"
    Judgment.objects.filter(run__judge=judge).first().delete()
    assert "Later dialogues and judgments are not in it" in " ".join(client.get(page).content.decode().split())


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("experiment_results", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_command_prints_a_table_beside_the_printed_numbers(experiment, judge):
    found = json.loads(run("Synthetic", "--table", "3", "--published", "--bootstrap", "50", "--json"))
    assert list(found["tables"]) == ["assistants"]
    printed = [row for row in found["tables"]["assistants"]["rows"] if row["key"] == "published"]
    assert len(printed) == 14
    sonnet = next(row for row in printed if row["name"].startswith("Claude 3 Sonnet") and row["group"] == "one domain")
    assert sonnet["cells"]["task_completion_published"]["value"] == pytest.approx(0.9598)
    assert sonnet["cells"]["task_completion"]["value"] is None
    assert sonnet["cells"]["personalization"]["value"] == 2.13
    text = run(str(experiment.pk), "--figure", "4", "--bootstrap", "50")
    assert text.splitlines()[2].startswith("Figure 4. Domains")
    assert "mean of domains" in text


def test_the_command_writes_csv(experiment, judge, tmp_path, capfd):
    file = tmp_path / "results.csv"
    run("Synthetic", "--differences", "--bootstrap", "50", "-o", str(file))
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert {row["table"] for row in rows} == {"differences"}
    assert {row["row"] for row in rows} == {"base+I minus base", "assistant 1 minus assistant 0"}
    run("Synthetic", "--differences", "--bootstrap", "50", "-o", "-")
    assert capfd.readouterr().out == file.read_bytes().decode()


@pytest.mark.long
@pytest.mark.each_database
def test_ranks_by_two_judges_and_in_two_experiments(experiment, judge):
    other = factories.JudgeFactory(name="other")
    run_of = judge.runs.get()
    again = factories.JudgeRunFactory(study=run_of.study, judge=other)
    turned = {"1": "4", "2": "3", "3": "2", "4": "1", "yes": "no", "no": "yes"}
    Judgment.objects.bulk_create(
        Judgment(run=again, item_id=one.item_id, criterion_id=one.criterion_id, turn=one.turn, value=turned[one.value])
        for one in run_of.judgments.exclude(value="")
    )
    found = json.loads(run("Synthetic", "--judge", str(judge), "--against-judge", str(other), "--json"))
    means = by_hand.tables(experiment, judge)
    assert set(found["tables"]) == {"assistants", "ablation", "domains", "turns", "user_agent"}
    (only,) = json.loads(run("Synthetic", "--against-judge", str(other), "--table", "12", "--json"))["tables"]
    assert only == "user_agent"
    for row in found["tables"]["assistants"]["rows"]:
        rival = {"assistant 0": "assistant 1", "assistant 1": "assistant 0"}[row["name"]]
        for measure, cell in row["cells"].items():
            mine, theirs = (means["Table 3", row["group"], name, measure] for name in (row["name"], rival))
            assert cell["value"] == (1 if mine > theirs else -1 if mine < theirs else 0)
            assert cell["low"] <= cell["value"] <= cell["high"]
    assert (found["tables"]["turns"]["row"], found["tables"]["turns"]["group"]) == ("Assistant", "Turn")
    assert [(row["group"], row["name"]) for row in found["tables"]["turns"]["rows"]] == [
        (str(turn), f"assistant {n}") for turn in (1, 2, 3) for n in (0, 1)
    ]
    for row in found["tables"]["turns"]["rows"]:
        rival = {"assistant 0": "assistant 1", "assistant 1": "assistant 0"}[row["name"]]
        mine, theirs = (means["Figure 5", name, row["group"], "personalization"] for name in (row["name"], rival))
        cell = row["cells"]["personalization"]
        assert cell["value"] == (1 if mine > theirs else -1 if mine < theirs else 0)
        assert cell["low"] <= cell["value"] <= cell["high"]
    of_one = ["--against-judge", str(other), "--figure", "5", "--assistant", "assistant 1", "--json"]
    domains = json.loads(run("Synthetic", *of_one))["tables"]["turns"]
    alone = by_hand.tables(experiment, judge, assistant="assistant 1")
    names = sorted({key[1] for key in alone if key[0] == "Figure 5"} - {"all of one domain", "several domains"})
    assert (domains["row"], [row["name"] for row in domains["rows"][: len(names)]]) == ("Domain", names)
    for row in domains["rows"]:
        before = {name: alone["Figure 5", name, row["group"], "personalization"] for name in names}
        better = sum(value > before[row["name"]] for value in before.values())
        worse = sum(value < before[row["name"]] for value in before.values())
        assert row["cells"]["personalization"]["value"] == worse - better, "the second judge turns the scale"
    itself = ["--against", str(experiment.pk), "--judge", str(judge), "--against-judge", str(judge)]
    same = json.loads(run("Synthetic", *itself, "--json"))
    rows = [row for table in same["tables"].values() for row in table["rows"]]
    assert {cell["value"] for row in rows for cell in row["cells"].values()} == {0}
    alone = factories.ExperimentFactory(name="Alone")
    assert alone.pk
    with pytest.raises(CommandError, match="No judge has rated the dialogues of Alone"):
        run("Synthetic", "--against", "Alone")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Nothing"], "There is no experiment called 'Nothing'."),
        (["Synthetic", "--table", "5"], "Table 5 is not a result of an experiment; there are: Table 3"),
        (["Synthetic", "--judge", "nobody"], "'nobody' has not judged it; there are: "),
        (["Synthetic", "--condition", "vanilla"], "No dialogue has the condition 'vanilla'"),
        (["Synthetic", "--turn", "0"], "The turn is a number from 1, not '0'."),
        (["Synthetic", "--confidence", "2"], "The confidence lies between 0 and 1."),
    ],
)
@pytest.mark.each_database
def test_the_command_says_what_is_wrong(experiment, judge, arguments, says):
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert says in str(error.value)
    assert error.value.returncode == 2


def test_without_dialogues_or_without_a_judge():
    empty = factories.ExperimentFactory(name="Empty")
    with pytest.raises(CommandError, match="No dialogue of Empty has ended yet"):
        run("Empty")
    alone = factories.SimulatedDialogueFactory(experiment=empty, ending="user_refusal", ended_at=empty.created_at)
    assert alone.pk
    with pytest.raises(CommandError, match="Table 3 is empty: no judge has rated these dialogues"):
        run("Empty", "--table", "3")
    assert "How the dialogues went" in run("Empty")


@pytest.mark.long
def test_ranks_by_words_and_size_are_compared_between_experiments_only(experiment, judge):
    one, other = (Tables(experiment, load_data(experiment, judge), FEW) for _ in range(2))
    column = next(column for column in OF_VARIETY if column.key == "dist_1")
    other.known[column.key] = -other.value(column)
    means = by_hand.tables(experiment, judge)
    for row in rank_table("variety", one, other, is_same=False)["rows"]:
        rival = {"assistant 0": "assistant 1", "assistant 1": "assistant 0"}[row["name"]]
        mine, theirs = (means["Table 10", row["group"], name, column.key] for name in (row["name"], rival))
        assert row["cells"]["dist_1"]["value"] == (1 if mine > theirs else -1)
        assert row["cells"]["self_bleu"]["value"] == 0
    sizes = rank_table("size", one, other, is_same=False)["rows"]
    assert {cell["value"] for row in sizes for cell in row["cells"].values()} == {0}
    assert set(sizes[0]["cells"]) == {"turns", "exchanges"}
    assert not {"variety", "size"} & set(
        rank_document((experiment, judge), (experiment, judge), FEW, Filters())["tables"]
    )


@pytest.mark.long
@pytest.mark.each_database
def test_page_and_api_of_ranks_show_what_the_command_prints(client, experiment, judge):
    client.force_login(factories.ResearcherFactory())
    address = reverse("experiment_ranks", args=[experiment.pk])
    assert "Compare" in client.get(address).content.decode()
    asked = {"judge": judge.pk, "against": "", "against_judge": judge.pk}
    page = client.get(address, asked).content.decode()
    printed = json.loads(run("Synthetic", "--judge", str(judge), "--against-judge", str(judge), "--json"))
    query = {"judge": judge.pk, "against_judge": judge.pk}
    assert client.get(reverse("api_experiment_ranks", args=[experiment.pk]), query).json() == printed
    assert all(f'id="{key}"' in page for key in printed["tables"])
    lonely = factories.ExperimentFactory(name="Alone")
    assert client.get(address, {"against": lonely.pk}).status_code == 400
    assert client.get(address, {"against": "9" * 9}).status_code == 404
    elsewhere = factories.ExperimentFactory(project=factories.ProjectFactory())
    client.force_login(factories.MembershipFactory(project=experiment.project, role="researcher").user)
    for name in ("experiment_ranks", "api_experiment_ranks"):
        answer = client.get(reverse(name, args=[experiment.pk]), {"against": elsewhere.pk})
        assert answer.status_code == 404, "an experiment of another project is not there"


@pytest.mark.long
def test_the_page_says_what_is_wrong(client, experiment, judge):
    client.force_login(factories.ResearcherFactory())
    page = reverse("experiment_results", args=[experiment.pk])
    wrong = client.get(page, {"assistant": "nobody"})
    assert wrong.status_code == 400
    assert "No dialogue has the assistant" in wrong.content.decode()
    assert client.get(page, {"judge": "nobody"}).status_code == 400
    assert client.get(page, {"turn": "x"}).status_code == 400
    shown = client.get(page, {"assistant": "assistant 1", "published": "1"}).content.decode()
    assert "Claude 3 Sonnet (printed)" in shown
