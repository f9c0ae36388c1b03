"""A scripted benchmark with votes made by hand is released, read into an empty database, and equal."""

from __future__ import annotations

import hashlib
import json
import re

import pyarrow.parquet as pq
import pytest
import yaml
from django.apps import apps

from annotation.benchmarks.imports import personafeedback, releases as importing
from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import releases
from annotation.benchmarks.services import building, datasheet_figures, datasheets, filtering, releasing, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.benchmarks.services.filtering import Revision
from annotation.corpus.models import ResponsePair
from core.errors import InputError
from tests.db.annotation.benchmarks.services.voting import pairs, study_of, vote
from tests.support.factories import BenchmarkCaseFactory, BenchmarkFactory, ResponsePairFactory
from tests.support.guards import without_triggers

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

VOTES = [(9, 0), (1, 8), (7, 2), (5, 4), (4, 4), (9, 0), (0, 9), (2, 7)]


@pytest.fixture
def benchmark():
    """Eight items, of which one was revised and one asked again."""
    found = pairs(8)
    persona = found[0].profile
    persona.memories, persona.demographics = ["she hikes", "她吃素"], {"Age": 30}
    persona.extra = {"Personality": {"MBTl": "INFP"}}
    persona.save()
    criterion = study_of(found, name="Scripted", slug="scripted")
    vote(criterion, VOTES)
    first = filtering.run(
        by=None, study=criterion.study, revisions={"pair3": Revision("new", "newer", "it missed the question")}
    )
    again = first.follow_up.criteria.get()
    order = [item.external_id for item in again.study.items.order_by("position")]
    vote(again, [(9, 0) if name == "pair4" else (1, 8) for name in order])
    filtering.run(by=None, study=again.study)
    made = building.build(
        by=None,
        study=criterion.study,
        name="Scripted | 1",
        version="1.0",
        options=BuildOptions(splits={"dev": 0.5, "test": 0.5}),
        notes="A try.",
    )
    return versions.release(by=None, benchmark=made)


def empty_the_database() -> None:
    """Past the models, which refuse to delete what is released; accounts stay."""
    with without_triggers():
        for model in apps.get_app_config("annotation").get_models(include_auto_created=True):
            if not model.__name__.startswith("User"):
                model._base_manager.all()._raw_delete("default")


def everything(benchmark: Benchmark) -> dict:
    names = releases.user_ids(benchmark)
    return {
        "head": (benchmark.name, benchmark.version, benchmark.notes, benchmark.made, benchmark.input_hash),
        "state": (benchmark.state, benchmark.released_at, benchmark.code_version, benchmark.slug),
        "cases": [releases.case_record(case, names) for case in releases.cases(benchmark)],
        "personas": list(releases.persona_records(benchmark, names)),
    }


def without_time(sheet: dict) -> dict:
    """The accounts and the study are not part of a release, nor is when a row was made."""
    return {key: value for key, value in sheet.items() if key not in ("created_at", "study")}


@pytest.mark.long
def test_out_and_in_again(benchmark, tmp_path):
    before, sheet = everything(benchmark), datasheets.datasheet(benchmark, bootstrap=50)
    assert len(before["cases"]) == 8
    manifest = releasing.write(benchmark=benchmark, folder=tmp_path / "out")
    empty_the_database()
    assert not Benchmark.objects.exists()

    document = importing.load(by=None, folder=tmp_path / "out").to_document()
    assert document["created"] == {"profiles": 2, "pairs": 8, "benchmarks": 1, "cases": 8}
    read = Benchmark.objects.get()
    assert everything(read) == before
    assert releases.digest(read) == manifest["digest"]
    assert without_time(datasheets.datasheet(read, bootstrap=50)) == without_time(sheet)
    again = importing.load(by=None, folder=tmp_path / "out").to_document()
    assert again["unchanged"] == document["created"]
    assert releasing.write(benchmark=read, folder=tmp_path / "second")["cases"] == manifest["cases"]


def test_tiers_gold_votes_and_history_by_hand(benchmark):
    """Kappa of nine votes, by hand: 9-0 is 1, 8-1 is 5/9, 7-2 is 2/9."""
    found = {
        case.pair.external_id.split("~")[0]: (case.gold, case.tier, case.kappa, [s["outcome"] for s in case.history])
        for case in benchmark.cases.select_related("pair")
    }
    near = pytest.approx
    assert found == {
        "pair0": ("1", "easy", 1.0, ["kept"]),
        "pair1": ("2", "hard", near(5 / 9), ["kept"]),
        "pair2": ("", "contested", near(2 / 9), ["dropped"]),
        "pair3": ("2", "hard", near(5 / 9), ["revised", "kept"]),
        "pair4": ("1", "easy", 1.0, ["asked again", "kept"]),
        "pair5": ("1", "easy", 1.0, ["kept"]),
        "pair6": ("2", "easy", 1.0, ["kept"]),
        "pair7": ("", "contested", near(2 / 9), ["dropped"]),
    }


def test_the_published_layout(benchmark, tmp_path):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    lines = (folder / "general" / "easy.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    # general are the even pairs: 0, 4 and 6 are easy; of 6 response 2 was chosen
    assert [row["id"] for row in rows] == ["pair0", "pair4", "pair6"]
    assert list(rows[0])[:4] == ["user_id", "question", "chosen", "reject"]
    assert (rows[2]["chosen"], rows[2]["reject"]) == ("Another answer to 6.", "First answer to 6.")
    assert rows[2]["votes"] == {"1": 0, "2": 9, "tie": 0}
    persona = json.loads((folder / "persona" / "persona0.json").read_text(encoding="utf-8"))
    assert persona["Memories"] == ["she hikes", "她吃素"]
    assert persona["Personality"] == {"MBTl": "INFP"}
    excluded = [json.loads(line) for line in (folder / "excluded.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["excluded_reason"][:28] for row in excluded] == ["dropped in Scripted, round 1"] * 2
    # what reads the published files reads these
    empty_the_database()
    document = personafeedback.load(by=None, folder=folder).to_document()
    assert document["created"]["benchmarks"] == 1
    assert Benchmark.objects.get().version == "1.0"


def test_parquet_and_the_card(benchmark, tmp_path):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    card = (folder / "README.md").read_text(encoding="utf-8")
    head = {
        key: json.loads(value) for key, value in (line.split(": ", 1) for line in card.split("---\n")[1].splitlines())
    }
    files = {one["split"]: one["path"] for one in head["configs"][0]["data_files"]}
    rows = [row for path in files.values() for row in pq.read_table(folder / path).to_pylist()]
    assert sorted(row["id"].split("~")[0] for row in rows) == ["pair0", "pair1", "pair3", "pair4", "pair5", "pair6"]
    one = next(row for row in rows if row["id"] == "pair1")
    assert (one["chosen"], one["votes_chosen"], one["votes_reject"], one["votes_tie"]) == (
        "Another answer to 1.",
        8,
        1,
        0,
    )
    assert one["kappa"] == pytest.approx(5 / 9)
    people = pq.read_table(folder / "data" / "personas.parquet").to_pylist()
    assert people[0]["memories"] == ["she hikes", "她吃素"]
    # personas do not cross from one split into the other
    sides = {
        split: {row["user_id"] for row in pq.read_table(folder / path).to_pylist()} for split, path in files.items()
    }
    assert set.intersection(*sides.values()) == set()


def test_the_card_names_every_file_as_data_sets_are_loaded(benchmark, tmp_path):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    rows = {
        (config["config_name"], one["split"]): pq.read_table(folder / one["path"]).num_rows
        for config in head["configs"]
        for one in config["data_files"]
    }
    named = {one["path"] for config in head["configs"] for one in config["data_files"]}
    assert named == {path.relative_to(folder).as_posix() for path in folder.glob("data/*.parquet")}
    assert sum(n for (config, _), n in rows.items() if config == "cases") == benchmark.cases.only_counting().count()
    assert rows["personas", "personas"] == 2
    assert [config["config_name"] for config in head["configs"] if config.get("default")] == ["cases"]
    # what `datasets` takes for the name of a split, and the one that it keeps for itself
    assert all(re.fullmatch(r"\w+(\.\w+)*", split) and split != "all" for _, split in rows)


@pytest.mark.parametrize(
    ("split", "name"),
    [("", "test"), ("dev", "dev"), ("Hold out", "hold_out"), ("all", "all_cases"), ("Personas", "personas_cases")],
)
def test_a_split_has_a_name_that_data_sets_take(split, name):
    assert releasing.to_split_name(split) == name


def test_the_datasheet_says_who_how_and_how_far_they_agree(benchmark):
    versions.audit(by=None, benchmark=benchmark, bootstrap=20)
    sheet = datasheets.datasheet(benchmark, bootstrap=200)
    assert sheet["votes"] == {"cases": 8, "without": 0, "total": 72, "least": 9, "most": 9}
    every, counting = sheet["agreement"]["overall"]
    # counting: 9-0 four times (36 of 36 pairs agree), 8-1 twice (28 of 36)
    assert counting["percent_agreement"]["value"] == pytest.approx((4 + 2 * 28 / 36) / 6)
    assert every["n"] == 8
    assert every["percent_agreement"]["value"] == pytest.approx((4 + 2 * 28 / 36 + 2 * 22 / 36) / 8)
    assert {one["group"] for one in sheet["agreement"]["groups"]["tier"]} == {"easy", "hard"}
    assert sheet["excluded_because"] == [{"reason": "dropped in Scripted, round 1: contested", "n": 2}]
    assert sheet["made"]["annotators"] == {"person": 9}
    text = datasheets.to_markdown(sheet)
    assert text.startswith("# Scripted | 1 1.0: datasheet\n\nA try.")
    assert "Which response suits this person better?" in text
    assert "72 votes on 8 cases, 9 to 9 a case." in text
    assert "| dropped in Scripted, round 1: contested | 2 |" in text
    assert "the longer response" in text
    told = dict(datasheets.facts(sheet))
    assert told["Least number of votes"] == "2"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|not yet", told["Released"])
    assert not [name for name in told if "_" in name or not name[0].isupper()]


def test_tiers_stand_from_the_easiest_and_other_groups_as_they_came():
    tiers = [{"group": name} for name in ("contested", "easy", "hard", "medium")]
    assert [one["group"] for one in datasheet_figures.sort_tiers(tiers)] == ["easy", "medium", "hard", "contested"]
    assert datasheet_figures.sort_tiers(splits := [{"group": "test"}, {"group": "dev"}]) == splits


def test_writing_twice_changes_nothing_and_nothing_is_overwritten(benchmark, tmp_path):
    folder = tmp_path / "out"
    first = releasing.write(benchmark=benchmark, folder=folder)
    assert releasing.write(benchmark=benchmark, folder=folder)["unchanged"] is True
    other = BenchmarkFactory()
    BenchmarkCaseFactory(benchmark=other)
    other = versions.release(by=None, benchmark=other)
    with pytest.raises(InputError, match="something else is there"):
        releasing.write(benchmark=other, folder=folder)
    assert json.loads((folder / "benchmark.json").read_text())["digest"] == first["digest"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_draft_is_not_written(tmp_path):
    case = BenchmarkCaseFactory()
    with pytest.raises(InputError, match="is a draft: release it first"):
        releasing.write(benchmark=case.benchmark, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.each_database
def test_texts_that_changed_since_are_noticed(benchmark, tmp_path):
    ResponsePair.objects.filter(external_id="pair0").update(content_hash="f" * 64)
    with pytest.raises(InputError, match="pair0 were imported again"):
        releasing.write(benchmark=benchmark, folder=tmp_path / "out")


def changed(folder, path, **values) -> None:
    """A line of a file with other values, and the manifest made to fit."""
    file = folder / path
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    row = {**json.loads(first), **values}
    text = "".join(line + "\n" for line in [json.dumps(row, ensure_ascii=False), *rest])
    file.write_text(text, encoding="utf-8")
    manifest = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
    for listed in manifest["cases"]:
        if listed["path"] == path:
            listed["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "benchmark.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reject": "First answer to 0."}, "easy.jsonl, line 1: the chosen and the rejected response are the same"),
        ({"user_id": "nobody"}, "easy.jsonl, line 1, field user_id: personas.jsonl has no 'nobody'"),
        ({"votes": {"1": 4, "2": 4}}, "easy.jsonl, line 1: the votes are tied and nobody decided, but there is a gold"),
        ({"votes": {"1": -4, "2": 4}}, "easy.jsonl, line 1, field votes.1: should be greater than or equal to 0"),
        ({"gold": "3"}, "easy.jsonl, line 1, field gold"),
        ({"kappa": "high"}, "easy.jsonl, line 1, field kappa"),
        ({"kappa": 0.3}, "its digest is another one"),
    ],
)
def test_a_bad_record_names_file_line_and_field(benchmark, tmp_path, values, message):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    empty_the_database()
    changed(folder, "general/easy.jsonl", **values)
    with pytest.raises(InputError) as caught:
        importing.load(by=None, folder=folder)
    assert message in str(caught.value)
    assert not Benchmark.objects.exists()
    assert not ResponsePair.objects.exists()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"annotators": 3}, "made.annotators"),
        ({"known_issues": [{}]}, "made.known_issues.0"),
        ({"agreement_cuts": ["a"]}, "made.agreement_cuts.0"),
        ({"model": {"method": "graded response"}}, "made.model.n_cases"),
        ([], "made"),
    ],
)
def test_how_it_was_made_is_checked(benchmark, tmp_path, values, field):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    empty_the_database()
    manifest = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
    manifest["made"] = {**manifest["made"], **values} if values else values
    (folder / "benchmark.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match=rf"benchmark.json, (line \d+, )?field {re.escape(field)}"):
        importing.load(by=None, folder=folder)
    assert not Benchmark.objects.exists()


def test_a_file_that_was_touched_is_noticed(benchmark, tmp_path):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    empty_the_database()
    with (folder / "specific" / "hard.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match=r"specific/hard.jsonl: is not the file that benchmark.json names"):
        importing.load(by=None, folder=folder)
    (folder / "personas.jsonl").unlink()
    with pytest.raises(InputError, match=r"personas.jsonl: does not exist"):
        importing.load(by=None, folder=folder)


def test_material_of_another_content_is_not_overwritten(benchmark, tmp_path):
    folder = tmp_path / "out"
    releasing.write(benchmark=benchmark, folder=folder)
    empty_the_database()
    ResponsePairFactory(external_id="pair0", response_1="mine")
    with pytest.raises(InputError, match=r"easy.jsonl, line 1, field id: is here already with another content"):
        importing.load(by=None, folder=folder)
    assert ResponsePair.objects.get().response_1 == "mine"


def test_a_case_without_a_persona_and_ids_that_no_folder_takes(tmp_path):
    benchmark = BenchmarkFactory()
    BenchmarkCaseFactory(benchmark=benchmark, pair__profile=None, kind="", tier="")
    BenchmarkCaseFactory(benchmark=benchmark, pair__profile__external_id="../" + "长" * 150)
    versions.release(by=None, benchmark=benchmark)
    before = everything(Benchmark.objects.get())
    releasing.write(benchmark=Benchmark.objects.get(), folder=tmp_path / "out")
    assert (tmp_path / "out" / "other" / "untiered.jsonl").exists()
    empty_the_database()
    importing.load(by=None, folder=tmp_path / "out")
    assert everything(Benchmark.objects.get()) == before


@pytest.mark.long
def test_the_published_part_goes_out_and_in(shared_data, tmp_path):
    personafeedback.load(by=None, folder=shared_data / "personafeedback")
    benchmark = Benchmark.objects.get()
    manifest = releasing.write(benchmark=benchmark, folder=tmp_path / "out")
    assert {one["path"]: one["records"] for one in manifest["cases"]} == {
        "general/easy.jsonl": 620,
        "general/hard.jsonl": 400,
        "general/medium.jsonl": 527,
    }
    empty_the_database()
    importing.load(by=None, folder=tmp_path / "out")
    assert releases.digest(Benchmark.objects.get()) == manifest["digest"]
