"""Tables into the corpus: drawn by rule with the probability that each record had, which studies go on with."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotation.corpus.imports import records, tables
from annotation.corpus.models import Dialogue, Profile, ResponsePair
from annotation.corpus.parsing.mappings import parse_mapping
from annotation.studies.queries.dependence import read_dependence
from annotation.studies.services import samples
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.factories import StudyFactory

pytestmark = pytest.mark.django_db

TALK = {"kind": "dialogues", "columns": {"id": "id", "user": "q", "assistant": "a"}}
BELOW = {"column": "score", "relation": "below", "value": "0.5", "share": 1.0}


def write(folder, n: int = 400, **more) -> InputFile:
    path = folder / "traces.jsonl"
    rows = ({"id": f"t{k}", "q": "Hi", "a": f"Hello {k}", "score": k % 4 / 4, **more} for k in range(n))
    path.write_text("\n".join(map(json.dumps, rows)))
    return InputFile.from_path(path)


def load(file: InputFile, **mapping):
    return tables.load(by=None, file=file, mapping=parse_mapping({**TALK, **mapping}))


def test_rules_keep_their_shares_and_each_record_its_probability(tmp_path):
    draw = {"rules": [BELOW], "rest": 0.25, "seed": 3}
    outcome = load(write(tmp_path), draw=draw)
    low, rest = Dialogue.objects.filter(extra__score__lt=0.5), Dialogue.objects.filter(extra__score__gte=0.5)
    assert low.count() == 200
    assert set(low.values_list("inclusion_probability", flat=True)) == {1.0}
    assert 25 < rest.count() < 75
    assert set(rest.values_list("inclusion_probability", flat=True)) == {0.25}
    assert "Kept 200 of 200 rows where score is below 0.5." in outcome.warnings
    assert f"Kept {rest.count()} of 200 other rows." in outcome.warnings


def test_a_second_draw_changes_nothing_and_a_larger_one_keeps_all(tmp_path):
    file = write(tmp_path)
    load(file, draw={"rest": 0.2, "seed": 1})
    first = set(Dialogue.objects.values_list("external_id", flat=True))
    assert not load(file, draw={"rest": 0.2, "seed": 1}).created["dialogues"]
    outcome = load(file, draw={"rest": 0.5, "seed": 1})
    assert first < set(Dialogue.objects.values_list("external_id", flat=True))
    assert set(Dialogue.objects.values_list("inclusion_probability", flat=True)) == {0.5}
    assert outcome.raised_probabilities == len(first)
    load(file)
    assert Dialogue.objects.filter(inclusion_probability=1.0).count() == 400


def test_another_seed_draws_others(tmp_path):
    file = write(tmp_path)
    drawn = []
    for seed in (1, 2):
        load(file, draw={"rest": 0.3, "seed": seed})
        drawn.append(set(Dialogue.objects.values_list("external_id", flat=True)))
        Dialogue.objects.all().delete()
    assert drawn[0] != drawn[1]


@pytest.mark.long
def test_the_weights_of_a_drawn_study_estimate_the_mean_of_the_whole_file(tmp_path):
    """Low scores are drawn four times as often: unweighted the mean is too low, weighted it is not."""
    load(write(tmp_path, 4000), draw={"rules": [BELOW], "rest": 0.25, "seed": 3})
    study = StudyFactory(kind="dialogue", state="draft", clustering="none")
    samples.draw(by=None, study=study, method="all")
    weights = read_dependence(study).weights
    assert weights is not None
    rows = study.items.values_list("position", "dialogue__extra__score", "inclusion_probability")
    scores = np.array([score for _, score, _ in rows])
    weighted = np.average(scores, weights=[weights[position] for position, *_ in rows])
    assert {p for *_, p in rows} == {1.0, 0.25}
    assert abs(weighted - 0.375) < 0.01
    assert scores.mean() < 0.3


def test_a_simple_sample_of_a_drawn_file_multiplies_both(tmp_path):
    load(write(tmp_path), draw={"rest": 0.5, "seed": 1})
    n = Dialogue.objects.count()
    study = StudyFactory(kind="dialogue", state="draft")
    samples.draw(by=None, study=study, method="simple", size=20)
    assert set(study.items.values_list("inclusion_probability", flat=True)) == {0.5 * 20 / n}


def test_thumbs_down(tmp_path):
    path = tmp_path / "t.jsonl"
    given = [True, False, "down", "👎", 0, 1, None, "thumbs-up", "thumbs-down"]
    path.write_text("\n".join(json.dumps({"id": k, "q": "?", "a": "!", "f": f}) for k, f in enumerate(given)))
    rule = {"column": "f", "relation": "thumbs_down", "share": 1.0}
    load(InputFile.from_path(path), draw={"rules": [rule], "rest": 0})
    assert sorted(Dialogue.objects.values_list("external_id", flat=True)) == ["1", "2", "3", "4", "8"]


def test_records_of_concords_own_may_state_their_probability(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "1", "question": "?", "response_1": "a", "response_2": "b", "inclusion_probability": 0.1}')
    records.load(by=None, kind="pairs", file=InputFile.from_path(path))
    assert ResponsePair.objects.get().inclusion_probability == 0.1
    path.write_text('{"id": "2", "question": "?", "response_1": "a", "response_2": "b", "inclusion_probability": 0}')
    with pytest.raises(InputError, match="inclusion_probability: should be greater than 0"):
        records.load(by=None, kind="pairs", file=InputFile.from_path(path))


def test_the_probability_of_a_column_and_of_a_draw_are_multiplied(tmp_path):
    mapping = {"columns": {**TALK["columns"], "inclusion_probability": "p"}, "draw": {"rest": 0.5, "seed": 1}}
    load(write(tmp_path, 50, p="0,5"), **mapping)
    assert set(Dialogue.objects.values_list("inclusion_probability", flat=True)) == {0.25}


def test_rows_that_repeat_are_imported_once_and_other_rows_of_an_id_are_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("id,q,a\n1,x,y\n1,x,y\n")
    assert load(InputFile.from_path(path)).created["dialogues"] == 1
    path.write_text("id,q,a\n1,x,y\n1,x,z\n")
    with pytest.raises(InputError, match=r"line 3, field id: the id '1' is on line 2 already"):
        load(InputFile.from_path(path))


def test_without_an_id_the_content_identifies_a_row(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("q,a\nx,y\nx,z\nx,y\n")
    file = InputFile.from_path(path)
    columns = {"user": "q", "assistant": "a"}
    assert load(file, columns=columns).created["dialogues"] == 2
    assert load(file, columns=columns).created["dialogues"] == 0


def test_profiles_with_objects_and_lists_in_cells(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text('id,persona,demographics,memories\np1,Gardener,"{""age"": 40}",likes figs; hates rain\n')
    columns = {name: name for name in ("id", "persona", "demographics", "memories")}
    tables.load(
        by=None, file=InputFile.from_path(path), mapping=parse_mapping({"kind": "profiles", "columns": columns})
    )
    profile = Profile.objects.get()
    assert (profile.demographics, profile.memories) == ({"age": 40}, ["likes figs", "hates rain"])


def test_an_error_names_field_and_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,talk\n1,nobody speaks\n")
    with pytest.raises(InputError, match=r"line 2, field turns \(column talk\): is not a dialogue"):
        load(InputFile.from_path(path), columns={"id": "id", "turns": "talk"})
