"""Concord's own JSONL: every kind, references between them, and what is refused."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.imports import records
from annotation.corpus.models import PROVENANCE, Dialogue, Profile, ResponsePair, Scenario, Task
from core.errors import InputError
from core.files.input_files import InputFile
from tests.support.factories import DialogueFactory, ItemFactory, ProfileFactory, ScenarioFactory, TaskFactory

pytestmark = pytest.mark.django_db
TURNS = [{"role": "user", "content": "订一张桌子"}, {"role": "assistant", "content": "<script>alert(1)</script>"}]


@pytest.fixture
def load(tmp_path):
    """Imports the records given, as a file called f.jsonl; the outcome as a document."""

    def write_and_load(kind: str, *rows, **options) -> dict:
        path = tmp_path / "f.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        return records.load(by=None, kind=kind, file=InputFile.from_path(path, "f.jsonl"), **options).to_document()

    return write_and_load


def test_profiles_and_tasks_are_kept_whole(load):
    profile = {
        "id": 7,
        "name": "王雪",
        "memories": ["喜欢茶"],
        "interests": {"Books": True},
        "shoe": 42,
        "persona": None,
    }
    task = {"id": "t", "description": "A trip.", "domains": ["Train", "Hotels"], "preference_types": ["Seat"]}
    assert load("profiles", profile, source="mine")["created"] == {"profiles": 1}
    assert load("tasks", task, source="mine")["created"] == {"tasks": 1}
    stored = Profile.objects.get(source="mine", external_id="7")
    assert (stored.name, stored.memories, stored.interests) == ("王雪", ["喜欢茶"], {"Books": True})
    assert (stored.extra, stored.persona) == ({"shoe": 42}, "")
    assert Task.objects.get(external_id="t").is_multi_domain


def test_a_dialogue_is_kept_whole_and_scripts_are_text(load):
    ProfileFactory(source="jsonl", external_id="p")
    TaskFactory(source="jsonl", external_id="t")
    row = {"id": "d", "profile_id": "p", "task_id": "t", "situation": {"地点": "上海"}, "turns": TURNS}
    load("dialogues", {**row, "assistant_model": "m", "condition": "base+I", "seed": 3})
    dialogue = Dialogue.objects.get(source="jsonl", external_id="d")
    assert dialogue.turns == TURNS
    assert (dialogue.assistant_model, dialogue.condition, dialogue.extra) == ("m", "base+I", {"seed": 3})
    assert dialogue.scenario.situation == {"地点": "上海"}
    assert dialogue.scenario.profile.external_id == "p"


def test_a_dialogue_may_stand_alone(load):
    load("dialogues", {"id": "d", "turns": TURNS})
    assert Dialogue.objects.get().scenario is None


def test_pairs_of_the_demo(load):
    ProfileFactory(source="other", external_id="p")
    row = {"id": "r", "profile_id": "p", "question": "?", "response_1": "a", "response_2": "", "label": 2}
    load("pairs", {**row, "tier": "hard", "kind": "general", "model_1": "x", "batch": 1})
    pair = ResponsePair.objects.get()
    assert (pair.source_label, pair.source_tier, pair.kind, pair.model_1) == ("2", "hard", "general", "x")
    assert pair.extra == {"batch": 1}
    assert pair.profile.source == "other"


def test_a_second_import_changes_nothing_and_a_changed_record_is_updated(load):
    rows = [{"id": str(number), "turns": TURNS} for number in range(3)]
    load("dialogues", *rows)
    again = load("dialogues", *rows)
    assert (again["created"], again["unchanged"]) == ({"dialogues": 0}, {"dialogues": 3})
    before = Dialogue.objects.get(external_id="1")
    rows[1]["condition"] = "vanilla"
    assert load("dialogues", *rows)["updated"] == {"dialogues": 1}
    after = Dialogue.objects.get(external_id="1")
    assert (after.pk, after.condition, after.created_at) == (before.pk, "vanilla", before.created_at)
    assert after.updated_at > before.updated_at


def test_keys_in_another_order_are_the_same_record(load):
    load("dialogues", {"id": "a", "condition": "base", "turns": TURNS})
    assert load("dialogues", {"turns": TURNS, "condition": "base", "id": "a"})["unchanged"] == {"dialogues": 1}


def test_a_changed_item_of_a_study_is_told(load):
    ItemFactory(dialogue=DialogueFactory(source="jsonl", external_id="a"))
    assert "1 changed records are items of studies" in load("dialogues", {"id": "a", "turns": TURNS})["warnings"][0]


def test_many_records_take_few_queries(load, django_assert_max_num_queries):
    ProfileFactory(source="jsonl", external_id="p")
    rows = [{"id": str(number), "profile_id": "p", "turns": TURNS} for number in range(1200)]
    with django_assert_max_num_queries(60):
        load("dialogues", *rows)
    assert Dialogue.objects.count() == 1200
    assert Scenario.objects.count() == 1


class TestReferences:
    def test_the_own_source_comes_first(self, load):
        mine = ProfileFactory(source="mine", external_id="p")
        ProfileFactory(source="other", external_id="p")
        load("dialogues", {"id": "d", "profile_id": "p", "turns": TURNS}, source="mine")
        assert Dialogue.objects.get().scenario.profile == mine

    def test_several_others_must_be_told_apart(self, load):
        ProfileFactory(source="a", external_id="p")
        wanted = ProfileFactory(source="b", external_id="p")
        row = {"id": "d", "profile_id": "p", "turns": TURNS}
        with pytest.raises(InputError) as caught:
            load("dialogues", row)
        assert str(caught.value) == (
            "f.jsonl, line 1, field profile_id: several sources have a profile 'p': write a:p or b:p"
        )
        load("dialogues", {**row, "profile_id": "b:p"})
        assert Dialogue.objects.get().scenario.profile == wanted

    @pytest.mark.parametrize("field", ["profile_id", "task_id"])
    def test_an_unknown_one_names_file_line_and_field(self, load, field):
        noun = field.removesuffix("_id")
        with pytest.raises(InputError) as caught:
            load("dialogues", {"id": "d", "turns": TURNS}, {"id": "e", field: "nobody", "turns": TURNS})
        assert str(caught.value) == f"f.jsonl, line 2, field {field}: there is no {noun} 'nobody'"
        assert not Dialogue.objects.exists()


class TestScenarios:
    def row(self, identity: str, **more) -> dict:
        return {"id": identity, "profile_id": "p", "task_id": "t", "turns": TURNS, **more}

    @pytest.fixture(autouse=True)
    def material(self, db):
        self.profile = ProfileFactory(source="jsonl", external_id="p")
        self.task = TaskFactory(source="jsonl", external_id="t")

    def test_one_that_is_there_is_used(self, load):
        there = ScenarioFactory(profile=self.profile, task=self.task, situation={"Location": "Oslo"})
        load("dialogues", self.row("a"), self.row("b", situation={"Location": "Oslo"}))
        assert {dialogue.scenario for dialogue in Dialogue.objects.all()} == {there}

    def test_other_situations_are_scenarios_of_their_own(self, load):
        rows = [self.row(place, situation={"Location": place}) for place in ("Oslo", "Rome")]
        load("dialogues", *rows, self.row("Oslo again", situation={"Location": "Oslo"}))
        situations = Dialogue.objects.order_by("external_id").values_list("scenario__situation__Location", flat=True)
        assert list(situations) == ["Oslo", "Oslo", "Rome"]
        assert Scenario.objects.count() == 2

    def test_how_a_situation_was_made_does_not_make_it_another_one(self, load):
        made = {"Location": "Oslo", PROVENANCE: {"justifications": {"Location": "She lives there."}}}
        there = ScenarioFactory(profile=self.profile, task=self.task, variant="made-1", situation=made)
        load("dialogues", self.row("a", situation={"Location": "Oslo"}), self.row("b", situation=made))
        assert {dialogue.scenario for dialogue in Dialogue.objects.all()} == {there}

    def test_profile_or_task_may_be_unknown(self, load):
        load("dialogues", {"id": "a", "profile_id": "p", "turns": TURNS}, {"id": "b", "task_id": "t", "turns": TURNS})
        assert set(Scenario.objects.values_list("profile", "task")) == {(self.profile.pk, None), (None, self.task.pk)}


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("dialogues", {"id": "d", "turns": []}, "field turns: is empty"),
        (
            "dialogues",
            {"id": "d", "turns": [{"role": "narrator", "content": ""}]},
            "field turns.0.role: should be 'user', 'assistant', 'system' or 'tool', not \"narrator\"",
        ),
        ("dialogues", {"id": "d", "turns": [{"role": "user"}]}, "field turns.0.content: is missing"),
        (
            "dialogues",
            {"id": "d", "turns": TURNS, "situation": {"a": 1}},
            "a situation needs a profile_id or a task_id",
        ),
        ("dialogues", {"id": "", "turns": TURNS}, "field id: is empty"),
        ("dialogues", {"id": "x" * 201, "turns": TURNS}, "field id: should have at most 200 characters"),
        ("tasks", {"id": "t", "description": ""}, "field description: is empty"),
        ("tasks", {"id": "t", "description": "d", "domains": "Books"}, "field domains: should be a list"),
        ("profiles", {"id": "p", "preferences": []}, "field preferences: should be a JSON object, not []"),
        ("pairs", {"id": "r", "question": "?", "response_1": "a"}, "field response_2: is missing"),
        (
            "pairs",
            {"id": "r", "question": "?", "response_1": "a", "response_2": "b", "label": "3"},
            "label: should be '', '1', '2' or 'tie', not '3'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(load, kind, row, message):
    with pytest.raises(InputError) as caught:
        load(kind, row)
    assert message in str(caught.value)
    assert str(caught.value).startswith("f.jsonl, line 1")


def test_nothing_is_kept_of_a_file_with_one_bad_line(load):
    rows = [{"id": str(number), "turns": TURNS} for number in range(600)]
    with pytest.raises(InputError, match=r"f.jsonl, line 601: not JSON"):
        load("dialogues", *rows, "{")
    assert not Dialogue.objects.exists()


def test_skip_keeps_the_good_rest(load, tmp_path):
    good, unknown = {"id": "a", "turns": TURNS}, {"id": "b", "turns": TURNS, "profile_id": "nobody"}
    document = load("dialogues", good, "{", unknown, good, {"id": "c", "turns": TURNS}, on_error="skip")
    assert document["created"] == {"dialogues": 2}
    assert sorted(row["line"] for row in document["skipped"]) == [2, 3, 4]
    lines = (tmp_path / "f.jsonl.errors.jsonl").read_text(encoding="utf-8").splitlines()
    kept = {row["line"]: row["record"] for row in map(json.loads, lines)}
    assert kept[2] == "{"
    assert json.loads(kept[3]) == unknown


@pytest.mark.parametrize("source", ["", "a:b", "x" * 41])
def test_a_source_has_a_name_that_can_be_written_before_a_colon(load, source):
    with pytest.raises(InputError, match="field source"):
        load("tasks", {"id": "t", "description": "d"}, source=source)
