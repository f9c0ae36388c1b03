"""The commands `agreement`, `tiers` and `export`, as they are typed."""

import csv
import io
import json
import os
import sys

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.stats.intervals import NOT_ASKED
from annotation.studies.models.labels import AgreementRun, Annotation
from core.audit.models import Act
from tests.support import simulated_difficulty as simulated
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, pandalm_columns, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def run(*args, **options):
    out = io.StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


def run_json(*args):
    return json.loads(run(*args, "--json"))


def refused(*args):
    with pytest.raises(CommandError) as caught:
        run(*args)
    assert caught.value.returncode == 2
    return str(caught.value)


def list_figures(document):
    """Every figure with an interval, or without one, in a document."""
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    if isinstance(document, dict) and {"value", "low", "high", "reason"} <= document.keys():
        yield document
    for part in parts:
        yield from list_figures(part)


@pytest.fixture
def study():
    study = with_items(4, name="Two criteria", slug="two")
    done = CriterionFactory(study=study, key="done", name="Done", yes_no=True)
    depth = CriterionFactory(study=study, key="depth", name="Depth")
    people_say(done, {"bob": ["yes", "no", "yes", "no"], "dana": ["yes", "no", "no", "no"]})
    people_say(depth, {"bob": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "3"]})
    judge_says(done, "gpt", ["yes", "no", "yes", ""])
    return study


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,bob,dana,gpt\na,1,1,1\nb,2,2,2\nc,1,2,\nd,3,3,3\n")
    return path


@pytest.fixture
def in_groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("item,domain,bob,dana\na,Hotels,1,1\nb,Hotels,2,2\nc,Music,1,2\nd,Music,3,3\n")
    return path


class TestAgreement:
    def test_a_study_gives_a_document_per_criterion_and_the_table(self, study):
        found = run_json("agreement", "--study", "Two criteria", "--bootstrap", "20")
        assert found["study"] == "Two criteria"
        assert set(found["criteria"]) == {"done", "depth"}
        assert [row["criterion"] for row in found["table"]] == ["done", "depth"]
        assert found["criteria"]["done"]["judges"]["gpt"]["unscored"] == 1

    def test_one_criterion_gives_its_document(self, study):
        found = run_json("agreement", "--study", "two", "--criterion", "depth", "--bootstrap", "20")
        assert (found["study"], found["criterion"], found["level"]) == ("Two criteria", "depth", "ordinal")
        assert found["n_items"] == 4
        assert set(found["coefficients"]["fleiss_kappa"]) >= {"value", "low", "high", "reason"}

    def test_what_only_one_criterion_has_may_be_asked_of_it_alone(self, study):
        criterion = study.criteria.get(key="depth")
        judge_says(criterion, "claude", ["1", "2", "3", ""])
        asked = ["agreement", "--study", "two", "--bootstrap", "0", "--unscored-as", "no"]
        assert "'no' is not on the scale" in refused(*asked)
        assert run_json(*asked, "--criterion", "done")["judges"]["gpt"]["unscored_as"] == "no"

    def test_the_score_may_be_read_instead_of_the_verdict(self, study, wide):
        judge_says(study.criteria.get(key="depth"), "claude", ["1", "2", "3", "4"])
        asked = ["agreement", "--study", "two", "--criterion", "depth", "--bootstrap", "0", "--read", "score"]

        assert run_json(*asked)["judges"]["claude"]["reads"] == "score"
        assert "correlations and errors of scores: 4 by verdict alone" in run(*asked)
        assert "belongs to --study" in refused("agreement", str(wide), "--read", "score")
        assert "--epsilon belongs to --judge" in refused("agreement", str(wide), "--epsilon", "0.3")

    @pytest.mark.parametrize("command", [("agreement",), ("calibrate", "--judge", "gpt"), ("tiers", "--by", "domain")])
    def test_without_resamples_every_missing_interval_has_its_reason(self, command):
        items = with_items(12, name="More", slug="more")
        done = CriterionFactory(study=items, key="done", yes_no=True)
        people_say(done, {"bob": ["yes", "no"] * 6, "dana": ["yes", "no", "no", "no"] * 3})
        judge_says(done, "gpt", ["yes", "no", "yes"] * 4)
        found = list(list_figures(run_json(command[0], "--study", "more", *command[1:], "--bootstrap", "0")))
        assert [one for one in found if one["low"] is None and not one["reason"]] == []
        asked = [one for one in found if one["reason"] == NOT_ASKED]
        assert asked
        assert all(one["value"] is not None and one["method"] == "none" for one in asked)
        said = run(command[0], "--study", "more", *command[1:], "--bootstrap", "0")
        assert said.splitlines()[-1] == "No intervals by resampling: none was asked for (0 resamples)."

    def test_asking_twice_keeps_one_row(self, study):
        for _ in range(2):
            run_json("agreement", "--study", "two", "--bootstrap", "20")
        assert AgreementRun.objects.count() == 1

    def test_for_a_person_it_begins_with_the_table(self, study):
        said = run("agreement", "--study", "two", "--bootstrap", "20")
        assert "judge–human agreement" in said
        assert "Two people agree" in said
        assert "1 replies held no usable verdict" in said

    def test_a_file_needs_no_study(self, wide):
        found = run_json("agreement", str(wide), "--level", "ordinal", "--judge", "gpt")
        assert (found["n_raters"], found["n_ratings"], found["seed"], found["bootstrap"]) == (2, 8, 0, 2000)
        assert found["judges"]["gpt"]["unscored"] == 1
        assert not AgreementRun.objects.exists()

    def test_equal_columns_agree_fully(self, tmp_path):
        path = tmp_path / "same.csv"
        path.write_text("item,rater,value\n" + "".join(f"{i},{r},{i % 3}\n" for i in range(9) for r in ("bob", "dana")))
        found = run_json("agreement", str(path), "--bootstrap", "20")
        assert found["coefficients"]["krippendorff_alpha"]["value"] == 1

    def test_pandalm_from_a_file(self, shared_data, tmp_path):
        """The values printed in PandaLM's README, and with unparsable replies as ties those of reference.json."""
        people, judges = pandalm_columns(shared_data / "pandalm")
        columns = people | judges
        path = tmp_path / "pandalm.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["item", *columns], *zip(range(999), *columns.values(), strict=True)])
        asked = ["agreement", str(path), "--judge", "gpt-3.5-turbo", "pandalm-7b", "--bootstrap", "0"]
        found = run_json(*asked)
        assert [round(pair["cohen_kappa"]["value"], 3) for pair in found["pairs"]] == [0.852, 0.879, 0.862]
        assert found["majority"]["counts"] == {"1": 422, "2": 472, "tie": 105}
        assert found["judges"]["gpt-3.5-turbo"]["unscored"] == 25
        as_ties = run_json(*asked, "--unscored-as", "tie")["judges"]["gpt-3.5-turbo"]
        assert [round(kappa["value"], 3) for kappa in as_ties["per_annotator"].values()] == [0.479, 0.479, 0.488]
        assert (as_ties["alt_test"]["epsilon"], as_ties["alt_test"]["winning_rate"]) == (0.15, 0)
        assert as_ties["alt_test"]["advantage_probability"] == pytest.approx(0.755422088755422, abs=1e-12)

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            ((), "either a file of ratings or --study"),
            (("ratings.csv", "--study", "two"), "either a file of ratings or --study"),
            (("--study", "nope"), "There is no study called 'nope'"),
            (("--study", "two", "--criterion", "nope"), "there are done, depth"),
            (("--study", "two", "--judge", "gpt"), "--judge belongs to a file"),
            (("--study", "two", "--bootstrap", "-1"), "bootstrap"),
            (("--study", "two", "--unscored-as", "9"), "'9' is not on the scale"),
            (("nowhere.csv",), "nowhere.csv: cannot be read"),
            (("nowhere.csv", "--criterion", "done"), "--criterion belongs to --study"),
            (("nowhere.csv", "--guideline-version", "1"), "--guideline-version belongs to --study"),
            (("--study", "two", "--guideline-version", "99"), "field guideline_version: No guideline has a version 99"),
            (("--study", "two", "--seed", str(2**63)), "field seed: must be between 0 and"),
        ],
    )
    @pytest.mark.each_database
    def test_bad_usage_exits_2_and_says_what_is_wrong(self, study, args, message):
        assert message in refused("agreement", *args)

    def test_without_resamples_nothing_is_said_of_how_intervals_are_made(self, wide):
        for words in ((), ("--json",)):
            said = run("agreement", str(wide), "--bootstrap", "0", *words)
            assert "Intervals treat" not in said
            assert "There are no intervals by resampling." in said

    def test_only_an_empty_cell_is_a_missing_label(self, tmp_path):
        path = tmp_path / "words.csv"
        path.write_text("item,ann,bob\na,x,NaN\nb,NaN,NaN\nc,x,x\nd,,x\n")
        assert run_json("agreement", str(path))["categories"] == ["NaN", "x"]
        assert run_json("agreement", str(path))["n_ratings"] == 7
        found = run_json("calibrate", str(path), "--human", "ann", "--judge", "bob", "--bootstrap", "0")
        assert (found["categories"], found["n_labelled"]) == (["NaN", "x"], 3)
        assert "'NaN'" in refused("agreement", str(path), "--level", "ordinal")

    def test_a_judge_that_the_file_does_not_have(self, wide):
        assert "no rater is called 'claude'" in refused("agreement", str(wide), "--judge", "claude")

    def test_a_bad_line_is_named(self, tmp_path):
        path = tmp_path / "bad.csv"
        path.write_text("item,rater,value\na,bob,1\na,bob,2\n")
        assert f"{path}, line 3" in refused("agreement", str(path))


class TestTiers:
    def test_a_study_of_several_criteria(self, study):
        found = run_json("tiers", "--study", "two", "--criterion", "done")
        assert (found["criterion"], found["counts"]["easy"], found["counts"]["contested"]) == ("done", 3, 1)
        third = found["items"][2]
        assert (third["item"], third["position"], third["tier"]) == ("two-d3", 3, "contested")
        assert set(run_json("tiers", "--study", "two")["criteria"]) == {"done", "depth"}

    def test_a_file_by_a_column(self, in_groups):
        found = run_json("tiers", str(in_groups), "--by", "domain", "--bootstrap", "20")
        assert [(group["group"], group["n_items"]) for group in found["groups"]] == [("Hotels", 2), ("Music", 2)]
        assert [group["counts"]["easy"] for group in found["groups"]] == [2, 1]

    def test_nine_raters_and_two_options_have_no_medium_items(self, tmp_path):
        """DESIGN: nine raters and two options allow 1, .56, .22, 0 and -.11."""
        path = tmp_path / "nine.csv"
        rows = [[f"i{n}", *("a" if k < n else "b" for k in range(9))] for n in range(10)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["item", *(f"r{k}" for k in range(9))], *rows])
        (plan,) = run_json("tiers", str(path))["plans"]
        assert [round(value, 2) for value in plan["values"]] == [-0.11, 0.0, 0.22, 0.56, 1.0]
        assert "medium" in plan["empty_bands"]
        assert "no item can be medium" in run("tiers", str(path))

    def test_the_difficulty_model_stands_beside_the_counted_tiers(self, tmp_path):
        rng = np.random.default_rng(1)
        model, free = simulated.graded(120, 3, 5, rng)
        codes, _ = simulated.draw(model, free, 120, rng)
        path = tmp_path / "three.csv"
        with path.open("w", newline="") as file:
            rows = [[f"i{k}", *row] for k, row in enumerate((codes + 1).tolist())]
            csv.writer(file).writerows([["item", "ann", "ben", "cas"], *rows])
        found = run_json("tiers", str(path), "--level", "ordinal")["difficulty"]
        assert (found["method"], found["reason"], found["cuts"]) == ("graded response", None, [0.6, 0.75, 0.9])
        assert len(found["items"]) == 120
        assert set(found["items"][0]) == {"item", "difficulty", "tiers", "tier", "clear", "soft_label"}
        assert sum(found["expected_counts"].values()) == pytest.approx(120)
        assert [one["person"] for one in found["people"]] == ["ann", "ben", "cas"]
        stricter = run_json("tiers", str(path), "--level", "ordinal", "--agreement-cuts", "0.6,0.75,0.95")["difficulty"]
        assert stricter["expected_counts"]["easy"] < found["expected_counts"]["easy"]
        assert "expected items: contested" in run("tiers", str(path), "--level", "ordinal")

    def test_where_the_difficulty_model_cannot_be_fitted_it_says_why(self, study):
        found = run_json("tiers", "--study", "two", "--criterion", "done")
        assert found["difficulty"]["items"] == []
        assert "needs 20" in found["difficulty"]["reason"]
        assert "difficulty model: not fitted, " in run("tiers", "--study", "two", "--criterion", "done")

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("--agreement-cuts", "0.6,0.75,1.2"), "between 0 and 1"),
            (("--cuts", "0.8,0.4,0.6"), "three ascending numbers"),
            (("--cuts", "a,b,c"), "three ascending numbers"),
            (("--by", "colour"), "choose one of stratum"),
            (("--criterion", "nope"), "there are done, depth"),
        ],
    )
    def test_bad_usage_exits_2(self, study, args, message):
        assert message in refused("tiers", "--study", "two", *args)

    @pytest.mark.parametrize("seed", ["-1", str(2**63)])
    def test_a_seed_out_of_range_of_a_file(self, wide, seed):
        assert "field seed: must be between 0 and" in refused("tiers", str(wide), "--seed", seed)

    def test_a_column_that_the_file_does_not_have(self, wide):
        for command in (
            ("tiers", "--by"),
            ("agreement", "--by"),
            ("agreement", "--cluster"),
            ("agreement", "--strata"),
        ):
            said = refused(command[0], str(wide), command[1], "colour")
            assert f"{wide}, line 1, field colour: there is no such column; there are item" in said


class TestExport:
    def test_every_label_is_a_row(self, study, tmp_path):
        path = tmp_path / "labels.csv"
        found = run_json("export", "--study", "two", "--format", "csv", "-o", str(path))
        assert (found["people"], found["judges"]) == (16, 4)
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert len(rows) == 20
        assert {row["rater_kind"] for row in rows} == {"person", "judge"}

    @pytest.mark.each_database
    def test_categories_that_a_spreadsheet_would_run_come_back(self, tmp_path):
        signs = ["+", "-", "=1+1", "-/+"]
        scale = [{"value": value, "label": value, "guideline": ""} for value in signs]
        signed = CriterionFactory(
            study=with_items(4, name="Signs", slug="signs"), key="sign", name="Sign", level="nominal", categories=scale
        )
        people_say(signed, {"bob": signs})
        path = tmp_path / "labels.csv"
        run("export", "--study", "signs", "-o", str(path))
        assert [row["value"] for row in csv.DictReader(path.read_text().splitlines())] == ["+", "-", "'=1+1", "'-/+"]
        path.write_text(path.read_text().replace("item_id", "item", 1))
        Annotation.objects.all().delete()
        run("import_ratings", str(path), "--study", "Signs")
        assert list(Annotation.objects.order_by("assignment__item__position").values_list("value", flat=True)) == signs

    def test_to_standard_output(self, study, capfd):
        call_command("export", "--study", "two", "-o", "-")
        out, err = capfd.readouterr()
        assert len(list(csv.DictReader(out.splitlines()))) == 20
        assert err == "16 labels of people and 4 of judges written to /dev/stdout\n"
        said = refused("export", "--study", "two", "--format", "hf", "-o", "-")
        assert said == "field output: This is written to a folder, not to standard output: name one."

    def test_what_a_reader_took_before_it_went_away_is_on_record(self, study, monkeypatch):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as stdout:
            monkeypatch.setattr(sys, "stdout", stdout)
            with pytest.raises(SystemExit) as ended:
                call_command("export", "--study", "two", "-o", "-")
        assert ended.value.code == 141
        assert Act.objects.filter(verb="export.labels").count() == 1

    def test_a_format_that_is_not_there_yet_is_refused(self, study, tmp_path):
        path = tmp_path / "labels.xlsx"
        said = refused("export", "--study", "two", "--format", "xlsx", "-o", str(path))
        assert "is not one of csv, jsonl, parquet, hf, rewrites, labelstudio, " in said
        assert not path.exists()


class TestAltTest:
    @pytest.fixture
    def many(self, tmp_path):
        path = tmp_path / "many.csv"
        rows = [f"{k},{k % 3},{k % 3},{(k + (k % 10 == 0)) % 3},{k % 3}" for k in range(60)]
        path.write_text("\n".join(["item,bob,dana,erin,gpt", *rows]) + "\n")
        return path

    def test_it_is_part_of_the_judges(self, many):
        found = run_json("agreement", str(many), "--judge", "gpt", "--bootstrap", "0")["judges"]["gpt"]["alt_test"]
        assert (found["epsilon"], found["winning_rate"], found["passes"]) == (0.15, 1, True)
        assert [one["annotator"] for one in found["per_annotator"]] == ["bob", "dana", "erin"]
        assert all(one["rejected"] for one in found["per_annotator"])

    def test_epsilon_may_be_given(self, many):
        text = run("agreement", str(many), "--judge", "gpt", "--bootstrap", "0", "--epsilon", "0.2")
        assert "alternative-annotator test, epsilon 0.2: passed, winning rate 1.00" in text
        assert "epsilon" in refused("agreement", str(many), "--judge", "gpt", "--epsilon", "2")

    def test_one_annotator_cannot_be_left_out(self, tmp_path):
        path = tmp_path / "one.csv"
        path.write_text("item,bob,gpt\na,1,1\nb,2,1\n")
        assert (
            run_json("agreement", str(path), "--judge", "gpt", "--bootstrap", "0")["judges"]["gpt"]["alt_test"] is None
        )


class TestScores:
    def test_means_and_distribution_of_a_run(self, study):
        judged = judge_says(study.criteria.get(key="depth"), "claude", ["1", "2", "3", ""])

        found = run_json("scores", str(judged.pk), "--bootstrap", "20")

        depth = found["criteria"]["depth"]
        assert (depth["overall"]["value"], depth["counts"]["3"], sum(depth["unscored"].values())) == (2, 1, 1)
        assert "Depth: 3 verdicts on 4 items, 1 unscored" in run("scores", str(judged.pk), "--bootstrap", "0")

    def test_an_unknown_run_is_refused(self, db):
        assert "There is no run 4711" in refused("scores", "4711")
