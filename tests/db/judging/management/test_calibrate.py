"""The command `calibrate`, as it is typed."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.unit.judging.stats.test_rogan_gladen import constructed


def run(*args):
    out = io.StringIO()
    call_command("calibrate", *map(str, args), stdout=out)
    return out.getvalue()


def refused(*args):
    with pytest.raises(CommandError) as caught:
        run(*args)
    assert caught.value.returncode == 2
    return str(caught.value)


@pytest.fixture
def labels(tmp_path):
    def write(rows, header="item,gold,gpt"):
        path = tmp_path / "labels.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    return write


@pytest.fixture
def example(labels):
    human, judge = constructed()
    return labels(f"{k},{'' if y != y else y},{f}" for k, (y, f) in enumerate(zip(human, judge, strict=True)))


def test_the_document(example):
    found = json.loads(run(example, "--human", "gold", "--judge", "gpt", "--json"))
    assert (found["n_labelled"], found["n_unlabelled"]) == (100, 500)
    assert found["ppi"]["value"] == pytest.approx(0.6692041078305522, abs=1e-9)
    assert found["ppi"]["lambda"] == pytest.approx(0.692, abs=1e-3)
    assert found["rogan_gladen"]["sensitivity"] == 0.9
    assert found["selective"][0]["guaranteed"] is True
    assert found["second_opinion"]["agrees"] is True
    assert found["second_opinion"]["libraries"] == ["scikit-learn"]
    assert found["warnings"] == []


def test_for_a_person(example):
    text = run(example, "--human", "gold", "--judge", "gpt")
    assert "the rate of 1; 100 labelled and 500 unlabelled items" in text
    assert "0.669 [0.593, 0.738]  lambda 0.69, worth 185 labels" in text
    assert (
        "agreement 80 %: accept without review from confidence 1 on, 100 % of the items; at least 0.813 agree" in text
    )
    assert "agreement 90 %: no guarantee" in text
    assert "18 figures recomputed with scikit-learn; largest difference" in text


def test_the_same_seed_gives_the_same(example):
    asked = [example, "--human", "gold", "--judge", "gpt", "--json", "--seed", "3", "--bootstrap", "50"]
    assert run(*asked) == run(*asked)


def test_labels_in_words_and_the_other_rate(labels):
    rows = [f"{k},{'pass' if k % 3 else 'fail'},{'pass' if k % 4 else 'fail'}" for k in range(40)] + [
        "a,,pass",
        "b,,fail",
    ]
    found = json.loads(
        run(labels(rows), "--human", "gold", "--judge", "gpt", "--positive", "fail", "--json", "--bootstrap", "0")
    )
    assert found["estimand"] == "the rate of fail"
    assert found["human_only"]["value"] == pytest.approx(14 / 40)


def test_confidence_weights_and_clusters(labels):
    rows = [
        f"{k % 5 + 1},{min(k % 5 + 1 + (k % 7 == 0), 5)},{0.5 if k % 7 == 0 else 0.9},2,c{k // 4}" for k in range(200)
    ]
    rows += ["," + row.split(",", 1)[1] for row in rows[:100]]
    path = labels(rows, "gold,gpt,sure,weight,profile")
    columns = ["--confidence-column", "sure", "--weight-column", "weight", "--cluster-column", "profile"]
    found = json.loads(
        run(path, "--human", "gold", "--judge", "gpt", *columns, "--targets", "0.9", "--json", "--bootstrap", "20")
    )
    assert found["level"] == "interval"
    assert found["selective"][0]["threshold"] == 0.9
    assert found["scores"]["reason"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--human", "gold", "--judge", "gold"], "cannot be the same column"),
        (["--human", "silver", "--judge", "gpt"], "line 1: there is no column 'silver'"),
        (["--human", "gold", "--judge", "gpt", "--targets", "often"], "field targets"),
        (["--human", "gold", "--judge", "gpt", "--targets", "1.5"], "field targets"),
        (["--human", "gold", "--judge", "gpt", "--delta", "2"], "field delta"),
        (["--human", "gold", "--judge", "gpt", "--positive", "7"], "not on the scale"),
        (
            ["--human", "gold", "--judge", "gpt", "--weight-column", "gpt"],
            "line 7, field gpt: a weight must be above 0",
        ),
    ],
)
def test_bad_usage(labels, options, said):
    path = labels([f"{k},{k % 2},{int(k > 0)}" for k in range(5)] + ["x,1,0"])
    path.write_text(path.read_text().replace("0,0,0", "0,0,1"))
    assert said in refused(path, *options)


def test_bad_labels(labels):
    asked = ["--human", "gold", "--judge", "gpt"]
    assert "no row has a label" in refused(labels(["a,,1"]), *asked)
    assert "line 3, field gpt: 'good' is not a number" in refused(labels(["a,1,1", "b,0,good"]), *asked)
    assert "line 3, field gpt: 5 lies outside people's labels, 0 and 1" in refused(labels(["a,1,1", "b,0,5"]), *asked)
    ordered = refused(labels(["a,low,high"]), *asked, "--level", "ordinal")
    assert "field categories: an ordinal scale of words needs its order" in ordered
    assert "line 2, field gold" in refused(labels(["a,good,1", "b,bad,0"]), *asked, "--level", "interval")


@pytest.mark.parametrize("epsilon", [0, 0.15])
def test_epsilon_is_no_option_of_a_file(example, epsilon):
    said = refused(example, "--human", "gold", "--judge", "gpt", "--epsilon", epsilon)
    assert "--epsilon belongs to --study" in said
