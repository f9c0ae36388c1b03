"""Methods that say what was run and nothing else, and tables that LaTeX can print."""

from __future__ import annotations

import re

import pytest

from annotation.stats.headline import UNWEIGHTED
from judging.assessment import latex, methods, typst_report
from judging.assessment.report_tables import LONGEST, Table, format_estimate

UNDEFINED = {"value": None, "low": None, "high": None, "reason": "no"}
KNOWN = {"value": -0.5, "low": -0.75, "high": 0.25, "reason": None, "n_items": 9}


def calibration(**parts):
    criterion = {
        "kappa": "cohen_kappa",
        "alt_test": None,
        "by_category": {},
        "ppi": UNDEFINED,
        "rogan_gladen": None,
        "scores": None,
        "selective": [{"guaranteed": False}],
        "leaderboard": None,
    }
    return {"criteria": {"c": {**criterion, **parts}}}


def test_only_what_was_run_is_said():
    found = methods.methods({}, [calibration()], [])
    assert "kappa" in found.text
    for word in ("Fleiss", "alternative-annotator", "PPI++", "Rogan", "recalibrated", "fixed-sequence", "Bradley"):
        assert word not in found.text
    assert found.references == (methods.REFERENCES["cohen"],)


@pytest.mark.parametrize(
    ("part", "word", "key"),
    [
        ({"alt_test": {"passes": True, "epsilon": 0.2}}, "epsilon 0.2", "calderon"),
        ({"ppi": KNOWN}, "prediction-powered", "ppi"),
        ({"by_category": {"a": {"ppi": KNOWN}}}, "prediction-powered", "ppi"),
        ({"rogan_gladen": KNOWN}, "Rogan–Gladen", "lee"),
        ({"scores": {"reason": None, "method": "isotonic", "folds": 5}}, "isotonic maps", "isotonic"),
        ({"selective": [{"guaranteed": True, "method": "Clopper-Pearson"}]}, "exact binomial", "clopper"),
        ({"selective": [{"guaranteed": True, "method": "betting"}]}, "betting over clusters", "betting"),
        ({"leaderboard": {"people": []}}, "Bradley–Terry", "davidson"),
        ({"kappa": "weighted_cohen_kappa"}, "quadratically weighted", "cohen_weighted"),
    ],
)
def test_each_analysis_brings_its_sentence_and_its_source(part, word, key):
    found = methods.methods({}, [calibration(**part)], [])
    assert word in found.text
    assert methods.REFERENCES[key] in found.references


def test_marks_count_the_references_in_the_order_of_their_naming():
    people = {"c": {"bootstrap": 1000, "level": "nominal", "headline": UNWEIGHTED.to_json()}}
    audit = {
        "criteria": {
            "c": {
                "probes": [
                    {"name": "length", "found": False, "test": "latent-trait model, t with 99 df"},
                    {"name": "position", "found": None, "test": "none"},
                ],
                "correction": "holm",
                "labels": {"annotators": [{}]},
            }
        }
    }
    found = methods.methods(people, [calibration(ppi=KNOWN)], [audit])
    said = re.findall(r"\d+", " ".join(re.findall(r"\[([\d, ]+)\]", found.text)))
    marks = [int(mark) for mark in dict.fromkeys(said)]
    assert marks == list(range(1, len(found.references) + 1))
    assert "Agreement among people is the mean Cohen's kappa over pairs of people" in found.text, "as the table says"
    assert "probed for length, with p-values corrected" in found.text
    assert "one latent trait" in found.text


def test_a_judge_without_a_verdict_has_no_dates_and_no_intervals():
    judge = {"name": "new", "kind": "judge", "provider": "local", "model": "m", "version": 1, "judged": []}
    design = {"samples": [], "asked_of": {}, "judges": [judge], "clusters": "each item alone", "code_version": "1"}
    design |= {"labelled": [], "n_people": 0, "n_simulated": 0}
    text = methods.methods({}, [], [], design=design).text
    assert "The judge new (judge, local, m, version 1) had given no verdict yet." in text


def test_latex_escapes_what_it_would_read():
    assert latex.escape("a_b & 50 % of {x}\n$y$ \\ ~") == (
        r"a\_b \& 50 \% of \{x\} \$y\$ \textbackslash{} \textasciitilde{}"
    )
    assert latex.escape(format_estimate(KNOWN)) == "$-$0.500 [$-$0.750, 0.250]"
    assert latex.escape(format_estimate(UNDEFINED)) == "--"
    assert format_estimate({**KNOWN, "value": -0.0001}) == "0.000 [−0.750, 0.250]", "as on the page"
    assert latex.escape("é 陳") == r"é \concordchar{陳}{U+9673}", "pdfLaTeX prints its code"


def test_typst_reads_no_markup_of_what_it_prints():
    assert typst_report.quote('#x "a"\\ \n$b$') == r'"#x \"a\"\\ $b$"'


def test_rows_of_a_table_have_as_many_cells_as_its_head():
    table = latex.render_table(Table.build("Caption", "label", ["a", "b"], [["1", "2_x"], ["3", "4"]]))
    lines = [line for line in table.splitlines() if line.endswith(r" \\")]
    assert {line.count(" & ") for line in lines} == {1}
    assert r"2\_\allowbreak{}x" in table
    assert "longtable" not in table, "it does not work in two columns"


def test_a_table_longer_than_a_page_is_written_in_parts():
    parts = list(Table.build("Caption", "label", ["a"], [[str(k)] for k in range(2 * LONGEST + 1)]).split())
    assert [len(part.rows) for part in parts] == [LONGEST, LONGEST, 1]
    assert len({part.label for part in parts}) == 3
    assert parts[1].caption == "Caption (continued)"


def test_marks_of_the_methods_cite_the_references_and_other_brackets_stay():
    said = {"text": "Agreement is kappa [1, 2]. The judge a [7] is one.", "keys": ["cohen", "fleiss"]}
    assert latex.render_methods(said) == r"Agreement is kappa~\cite{cohen,fleiss}. The judge a [7] is one."


def test_every_reference_has_an_entry_with_its_authors_title_and_year():
    entries = latex.write_bibtex(methods.REFERENCES.items())
    assert entries.count("@misc{") == entries.count("  author = {") == len(methods.REFERENCES)
    assert "Calderon, N. and Reichart, R. and Dror, R." in entries
    assert "eprint = {2501.10970}" in entries
    assert "Lee, C. and others" in entries
