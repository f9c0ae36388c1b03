"""`agreement` and `tiers` on a file of rankings."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.unit.annotation.stats.difficulty.test_ranked import drawn

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rankings(tmp_path_factory):
    table, _ = drawn(40, 3, "ABC", np.random.default_rng(9))
    rows = [
        f"{item},{rater},{table.categories[code]}"
        for item, codes in zip(table.items, table.codes, strict=True)
        for rater, code in zip(("r1", "r2", "judge"), codes, strict=True)
    ]
    path = tmp_path_factory.mktemp("rankings") / "rankings.csv"
    path.write_text("\n".join(["item,rater,value", *rows]))
    return path


def printed(capsys, *words):
    call_command(*words, "--level", "ranking", "--json")
    return json.loads(capsys.readouterr().out)


def test_agreement(rankings, capsys):
    found = printed(capsys, "agreement", str(rankings), "--judge", "judge", "--bootstrap", "200")
    assert (found["level"], found["n_items"], found["n_raters"], found["weights"]) == ("ranking", 40, 2, "kemeny")
    for name in ("kendall_w", "pairwise_agreement", "krippendorff_alpha", "mean_pairwise_weighted_cohen_kappa"):
        figure = found["coefficients"][name]
        assert figure["low"] < figure["value"] < figure["high"]
    assert found["coefficients"]["icc_2_1"]["value"] is None
    judge = found["judges"]["judge"]
    assert judge["mean_weighted_cohen_kappa"]["value"] is not None
    assert judge["alt_test"]["scoring"] == "kemeny"


def test_tiers(rankings, capsys):
    found = printed(capsys, "tiers", str(rankings))
    assert sum(found["counts"].values()) == 40
    model = found["difficulty"]
    assert (model["method"], model["n_items"], model["reason"]) == ("Plackett-Luce", 40, None)
    one = model["items"][0]
    assert one["difficulty"]["low"] <= one["difficulty"]["value"] <= one["difficulty"]["high"]
    assert sum(one["tiers"].values()) == pytest.approx(1)


def test_in_words(rankings, capsys):
    call_command("tiers", str(rankings), "--level", "ranking")
    told = capsys.readouterr().out
    assert "difficulty model (Plackett-Luce)" in told
    assert "consistency" in told
    assert "severity" not in told


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("2,r1,A>B>B", (), "line 3"),
        ("2,r1,A>B", (), "line 3.* does not rank C"),
        ("2,r1,A>B>D", (), "does not rank C"),
        ("2,r1,A>B>C>D", (), "ranks D"),
        ("2,r1,A", (), "is one response"),
        ("2,r1,A>B>C", ("--categories", "A,B,C,D"), "line 2"),
        ("1,r1,A>B>C", (), "has rated item '1' before, in line 2"),
    ],
)
@pytest.mark.parametrize("command", ["agreement", "tiers"])
def test_bad_input_names_the_line(tmp_path, command, second, options, message):
    path = tmp_path / "bad.csv"
    path.write_text(f"item,rater,value\n1,r1,A>B>C\n{second}\n")
    with pytest.raises(CommandError, match=message) as refused:
        call_command(command, str(path), "--level", "ranking", *options)
    assert refused.value.returncode == 2


def test_one_rater_has_counted_tiers_and_the_reason(tmp_path, capsys):
    path = tmp_path / "one.csv"
    path.write_text("item,rater,value\n1,r1,A>B>C\n2,r1,B>A>C\n")
    found = printed(capsys, "tiers", str(path))
    assert found["counts"]["none"] == 2
    assert "one rating" in found["difficulty"]["reason"]


def test_a_judge_is_not_calibrated_on_rankings(rankings):
    with pytest.raises(CommandError, match="invalid choice: 'ranking'"):
        call_command("calibrate", str(rankings), "--judge", "value", "--human", "rater", "--level", "ranking")
