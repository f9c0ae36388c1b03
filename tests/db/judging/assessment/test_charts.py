"""Charts as SVG."""

import xml.etree.ElementTree as ET

import pytest

from annotation.stats.headline import UNWEIGHTED
from core.charts import PHONE
from judging.assessment import charts
from judging.assessment.charts import FILE, PAGE, Mark, Rows

SVG = "{http://www.w3.org/2000/svg}"


def forest(palette=FILE, name="gpt"):
    marks = [Mark("people", "people", 0.7, 0.6, 0.8), Mark(name, "judge", 0.5, -0.1, 0.6)]
    undefined = [Mark("people", "people", None, None, None, "one category used")]
    return charts.svg(charts.forest, [Rows("Depth", marks, (0.55, 0.75)), Rows("Tone", undefined, None)], palette)


def data(spec):
    return [value for values in spec["datasets"].values() for value in values]


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_forest_names_criteria_and_raters_and_says_why_a_value_is_missing():
    found = texts(forest())
    assert {"Depth", "Tone", "people", "gpt", "kappa", "– one category used"} <= set(found)


def test_people_are_circles_judges_diamonds_and_the_ceiling_a_band():
    drawn = {
        mark["mark"]["type"]
        for panel in charts.forest([Rows("Depth", [Mark("people", "people", 0.7, 0.6, 0.8)], (0.5, 0.8))], FILE)[
            "vconcat"
        ]
        for mark in panel["layer"]
    }
    assert drawn == {"rect", "rule", "point", "text"}
    assert charts._shape().to_dict()["scale"] == {"domain": ["people", "judge"], "range": ["circle", "diamond"]}


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "a & b"])
def test_names_are_escaped(name):
    svg = forest(name=name)
    assert "<script" not in svg
    assert "<img" not in svg
    assert name in texts(svg)


@pytest.mark.parametrize("palette", [FILE, PHONE])
def test_a_long_name_is_read_whole(palette):
    name = "A-VERY-LONG-NAME OF A JUDGE-2026-11-26 with its version and 128k tokens of context v12 (scripted)"
    svg = forest(palette, name=name)
    assert "".join(name.split()) in "".join("".join(text.split()) for text in read_lines(svg))
    assert "…" not in "".join(read_lines(svg))


def read_lines(svg):
    """Texts with the lines that they have."""
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter(f"{SVG}text")]


def test_on_a_phone_a_plot_fits_and_has_the_same_marks():
    wide, narrow = (ET.fromstring(forest(palette)) for palette in (PAGE, PHONE))
    assert float(narrow.attrib["width"]) < 340 < float(wide.attrib["width"])
    assert len(list(narrow.iter(f"{SVG}path"))) == len(list(wide.iter(f"{SVG}path"))) > 4


def test_what_was_drawn_is_not_drawn_again(monkeypatch):
    drawn = forest(name="seen twice")
    monkeypatch.setattr("core.helper_process.run", None)
    assert forest(name="seen twice") == drawn
    with pytest.raises(TypeError):
        forest(name="not seen yet")


def test_a_page_takes_its_colours_from_its_tokens_and_a_file_has_its_own():
    assert "var(--mark-judge)" in forest(PAGE)
    assert "var(" not in forest(FILE)


@pytest.mark.parametrize("palette", [FILE, PAGE])
def test_no_style_and_no_background_so_that_a_strict_page_takes_it_in_both_themes(palette):
    svg = forest(palette)
    assert "style=" not in svg
    assert 'fill="white"' not in svg


def test_rows_come_from_a_document():
    estimate = {"value": 0.5, "low": 0.4, "high": 0.6, "reason": None}
    judged = {
        "mean_cohen_kappa": estimate,
        "human_ceiling": {**estimate, "low": 0.45},
        "scored": 9,
        "kind": "baseline judge",
    }
    document = {"headline": UNWEIGHTED.to_json(), "coefficients": {UNWEIGHTED.people: estimate}}
    rows = charts.build_rows("Depth", {**document, "judges": {"longer": judged}})
    assert [(mark.name, mark.kind) for mark in rows.marks] == [("annotators", "people"), ("longer (baseline)", "judge")]
    assert rows.ceiling == (0.45, 0.6)


def test_tiers_are_stacked_and_an_empty_tier_has_no_bar():
    spec = charts.tier_bars([("Depth", {"easy": 3, "medium": 0, "hard": 0, "contested": 1})], FILE)
    assert [(value["tier"], value["n"]) for value in data(spec)] == [("easy", 3), ("contested", 1)]
    assert {"Depth", "easy", "medium", "hard", "contested"} <= set(texts(charts.svg(dict, spec)))


def test_attainable_values_are_ticks():
    spec = charts.attainable({"values": [-0.11, 0.0, 0.22, 0.56, 1.0], "cuts": [0.4, 0.6, 0.8]}, FILE)
    assert [value["kappa"] for value in data(spec) if "kappa" in value] == [-0.11, 0.0, 0.22, 0.56, 1.0]
    assert "0.4" in texts(charts.svg(dict, spec))
