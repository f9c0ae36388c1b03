"""A file's clusters with gaps, and its weights: refused where they are none, warned of where they lie far apart."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

ROWS = [("1", "a", "1"), ("2", "a", "6"), ("3", "", "1"), ("4", "b", "1"), ("5", "", "1"), ("6", "b", "1")]


def run(tmp_path, weights=None, command="agreement", **options):
    path = tmp_path / "ratings.csv"
    lines = ["item,bob,dana,gpt,batch,weight"]
    for place, (item, batch, weight) in enumerate(ROWS):
        own = weight if weights is None else weights[place]
        lines.append(f"{item},{1 + place % 2},{1 + place % 3},{1 + place % 2},{batch},{own}")
    path.write_text("\n".join(lines) + "\n")
    out = io.StringIO()
    call_command(command, str(path), json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def agreed(tmp_path, weights=None):
    return run(tmp_path, weights, judge=["gpt"], cluster="batch", weight="weight", bootstrap=50, level="ordinal")


def test_items_without_a_cluster_stand_alone_and_are_counted(tmp_path):
    found = agreed(tmp_path)
    assert (found["dependence"]["clusters"], found["dependence"]["alone"]) == (4, 2)
    assert "2 items name no batch" in {one["code"]: one["message"] for one in found["warnings"]}["cluster_gaps"]
    assert found["dependence"]["message"].endswith("items weighted by weight.")


def test_weights_weigh(tmp_path):
    same = [place % 2 == place % 3 for place in range(6)]
    expected = sum(float(row[2]) for row, ok in zip(ROWS, same, strict=True) if ok) / sum(float(row[2]) for row in ROWS)
    assert agreed(tmp_path)["coefficients"]["percent_agreement"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize("bad", ["0", "-1", "inf", "heavy", ""])
def test_a_weight_that_is_none_is_refused_with_its_item(tmp_path, bad):
    with pytest.raises(CommandError, match="item 3"):
        agreed(tmp_path, ["1", "1", bad, "1", "1", "1"])


def test_weights_far_apart_are_warned_of(tmp_path):
    found = agreed(tmp_path, ["1", "1", "2000001", "1", "1", "1"])
    assert "extreme_weights" in {one["code"] for one in found["warnings"]}


def test_calibration_counts_gaps_too(tmp_path):
    found = run(tmp_path, command="calibrate", human="bob", judge="gpt", cluster_column="batch", weight_column="weight")
    assert "cluster_gaps" in {one["code"] for one in found["warnings"]}
