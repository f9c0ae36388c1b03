"""`evaluate` and `benchmark_results`."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.evaluated import benchmark_with
from tests.support.judging import scripted

pytestmark = pytest.mark.django_db


def called(name, *arguments):
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def benchmark():
    return benchmark_with("1212")


def test_judges_are_evaluated_and_their_results_read(benchmark):
    judge = scripted(otherwise="1")
    said = json.loads(
        called("evaluate", benchmark.slug, "--judge", judge.name, "--persona", "none", "memories", "--now", "--json")
    )
    assert (said["number"], said["cases"]) == (1, 4)
    assert [(run["setting_name"], run["state"], run["judgments"]) for run in said["runs"]] == [
        ("no persona", "finished", 8),
        ("memory retrieval (bm25, 5)", "finished", 8),
    ]

    found = json.loads(called("benchmark_results", benchmark.slug, "--bootstrap", "100", "--json"))
    assert [row["cells"]["all"]["value"] for row in found["accuracy"]] == [0.5, 0.5]
    assert found["failures"] == []
    words = called("benchmark_results", benchmark.slug, "--bootstrap", "100")
    assert "the longer response" in words
    assert "0 of 8" in words


@pytest.mark.any_database
def test_ranks_elsewhere_stand_beside_those_of_the_evaluation(benchmark, tmp_path):
    names = [scripted(otherwise=value).name for value in ("1", "2")]
    called("evaluate", benchmark.slug, "--judge", *names, "--persona", "none", "--now")
    path = tmp_path / "ranks.csv"
    path.write_text(f"model,rank\n{names[0]},1\nanother,2\n")
    (row,) = json.loads(called("benchmark_results", benchmark.slug, "--ranks", str(path), "--json"))["ranks"]
    assert (row["models"], row["only_here"], row["only_there"]) == ([names[0]], [names[1]], ["another"])
    assert (row["spearman"]["value"], row["spearman"]["n_items"]) == (None, 1)
    assert "fewer than 3 models" in row["spearman"]["reason"]
    assert "Ranks elsewhere" in called("benchmark_results", benchmark.slug, "--ranks", str(path))
    path.write_text("model,place\na,1\n")
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        called("benchmark_results", benchmark.slug, "--ranks", str(tmp_path))
    with pytest.raises(CommandError, match="line 1, field ranks: the columns are model,score or model,rank"):
        called("benchmark_results", benchmark.slug, "--ranks", str(path))


def test_a_run_is_added_to_an_evaluation(benchmark):
    judge = scripted()
    called("evaluate", benchmark.slug, "--judge", judge.name, "--persona", "none", "--cases", "2", "--now")
    called("evaluate", benchmark.slug, "--judge", judge.name, "--persona", "profile", "--evaluation", "1", "--now")
    assert Evaluation.objects.get().runs.count() == 2


def test_runs_go_to_the_workers(benchmark):
    factories.WorkerFactory()
    said = json.loads(called("evaluate", benchmark.slug, "--judge", scripted().name, "--no-wait", "--json"))
    assert {run["state"] for run in said["runs"]} == {"running"}
    assert {chunk.queued_at is not None for run in JudgeRun.objects.all() for chunk in run.chunks.all()} == {True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "--judge", "x"], "nothing"),
        (["{slug}", "--judge", "nobody"], "There is no judge 'nobody'"),
        (["{slug}", "--judge", "{judge}", "--cases", "9"], "Cannot draw 9 of 4"),
        (["{slug}", "--judge", "{judge}", "--evaluation", "7"], "There is no evaluation 7"),
        (["{slug}", "--judge", "{judge}", "--persona", "profile", "--without", "shoes"], "'shoes' is not a field"),
        (["{slug}", "--judge", "{judge}", "--persona", "memories", "--top-k", "0"], "From 1 to 50"),
        (["{slug}", "--judge", "{judge}", "--persona", "memories", "--retriever", "endpoint"], "need a model"),
    ],
)
def test_bad_input_exits_with_2_and_leaves_nothing_behind(benchmark, arguments, message):
    judge = scripted()
    filled = [one.format(slug=benchmark.slug, judge=judge.name) for one in arguments]
    with pytest.raises(CommandError, match=message) as error:
        called("evaluate", *filled)
    assert error.value.returncode == 2
    assert not Evaluation.objects.exists()


@pytest.mark.parametrize("arguments", [["--confidence", "2"], ["--bootstrap", "-1"], ["--evaluation", "3"]])
def test_results_that_cannot_be_given(benchmark, arguments):
    with pytest.raises(CommandError) as error:
        called("benchmark_results", benchmark.slug, *arguments)
    assert error.value.returncode == 2
