"""PersonaLens as a whole: what is skipped, generated dialogues, and judges' replies as runs."""

from __future__ import annotations

import json
import shutil

import pytest

from annotation.corpus.models import Dialogue, Profile
from annotation.studies.models.studies import Study
from core.errors import InputError
from judging.runs.imports import personalens
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.personalens_copy import BOOK, make_copy, scenario, write

pytestmark = pytest.mark.django_db
TURNS = [{"role": "user", "content": "<b>A book</b>?"}, {"role": "assistant", "content": "历史书, 好。"}]


@pytest.fixture
def copy(tmp_path):
    return make_copy(tmp_path / "a copy")


@pytest.fixture
def output(copy, tmp_path):
    """Dialogues of both users with one assistant, and one judge's replies to user2's."""
    folder = tmp_path / "output"
    for user in ("user2", "user10"):
        document = {"task_id": "SD-Books-task-1", "dialogue": TURNS, "turns_used": 2}
        write(folder / "dialogue" / user / "model-a" / "SD-Books-task-1_dialogue.json", document)
    replies = {
        "task_completion/judge-x/SD-Books-task-1.txt": "True EXPLANATION: A book was found.",
        "personalization/judge-x/SD-Books-task-1.txt": "Personalization Score: 3\nJustification: Knows the genre.",
        "naturalness/judge-x/SD-Books-task-1_user.txt": "Naturalness Score: 4",
        "naturalness/judge-x/SD-Books-task-1_asst.txt": "I cannot say.",
        "coherence/judge-x/SD-Books-task-1_asst.txt": "Coherence Score: 9",
    }
    for name, text in replies.items():
        path = folder / "evaluation" / "user2" / "model-a" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def load(folder, **options) -> dict:
    return personalens.load(by=None, folder=folder, **options).to_document()


def test_a_number_that_no_database_can_store(copy):
    path = copy / "profile/user2/profile.json"
    path.write_text(path.read_text().replace('"Books": 1', '"Books": 1e999'))
    with pytest.raises(InputError, match="the database refuses a value"):
        load(copy)
    assert not Profile.objects.exists()


def test_skip_keeps_the_good_rest_and_lists_the_bad(copy):
    good, bad = scenario("SD-Books-task-1", BOOK), {**scenario("SD-Books-task-2", BOOK), "Task Goal": None}
    write(copy / "profile/user2/tasks.json", {"Task 1": good, "Task 2": bad})
    (copy / "profile/user10/profile.json").write_text("{")
    document = load(copy, on_error="skip")
    assert document["created"] == {"profiles": 1, "tasks": 1, "scenarios": 1}
    assert [(row["line"], row["field"]) for row in document["skipped"]] == [(20, "Task 2.Task Goal"), (1, None)]
    lines = (copy.parent / "a copy.errors.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(json.loads(lines[0])["record"])["task_id"] == "SD-Books-task-2"
    assert document["errors_file"] == str(copy.parent / "a copy.errors.jsonl")


def test_bad_records_of_a_read_only_folder_go_to_the_data_folder(copy, settings, monkeypatch):
    shutil.rmtree(copy / "profile" / "user10")
    write(copy / "profile/user2/tasks.json", {"Task 1": {"task_id": "x"}})
    monkeypatch.setattr("pathlib.Path.with_name", lambda path, name: path / "nowhere" / name)
    document = load(copy, on_error="skip")
    assert document["errors_file"] == str(settings.DATA_DIR / "import-errors" / "a copy.errors.jsonl")


def test_dialogues_belong_to_their_scenarios(copy, output):
    document = load(copy, output=output)
    assert document["created"]["dialogues"] == 2
    dialogue = Dialogue.objects.get(source="personalens", external_id="user10/model-a/SD-Books-task-1")
    assert dialogue.turns == TURNS
    assert dialogue.assistant_model == "model-a"
    assert dialogue.extra == {"turns_used": 2}
    assert dialogue.scenario.profile.external_id == "user10"
    assert dialogue.scenario.situation == {"Location": "Oslo", "Device": "user10"}


def test_replies_become_a_finished_run_in_a_study(copy, output):
    document = load(copy, output=output)
    assert document["study"] == "PersonaLens"
    assert document["created"]["judges"] == 1
    assert document["created"]["judgments"] == 5
    run = JudgeRun.objects.get()
    assert run.finished_at
    assert run.judge.provider == "imported"
    assert run.study.items.count() == 1
    said = {judgment.criterion.key: judgment for judgment in Judgment.objects.select_related("criterion")}
    assert {key: (each.value, each.unscored_reason) for key, each in said.items()} == {
        "task_completion": ("yes", ""),
        "personalization": ("3", ""),
        "naturalness_user": ("4", ""),
        "naturalness_assistant": ("", "unparsable"),
        "coherence_assistant": ("", "off scale"),
    }
    assert said["task_completion"].explanation == "A book was found."
    assert said["personalization"].explanation == "Knows the genre."
    assert said["naturalness_assistant"].raw_reply == "I cannot say."
    assert run.study.criteria.count() == 6


def test_a_second_import_changes_nothing(copy, output):
    created = load(copy, output=output)["created"]
    again = load(copy, output=output.parent)
    assert again["unchanged"] == created
    assert not any(again["created"].values())
    assert JudgeRun.objects.count() == Study.objects.count() == 1


def test_other_replies_are_a_new_run_beside_the_old_one(copy, output):
    load(copy, output=output)
    path = output / "evaluation/user2/model-a/coherence/judge-x/SD-Books-task-1_user.txt"
    path.write_text("Coherence Score: 5")
    assert load(copy, output=output)["created"]["judgments"] == 6
    assert [run.judgments.count() for run in JudgeRun.objects.order_by("pk")] == [5, 6]


def test_only_the_chosen_users(copy, output):
    document = load(copy, output=output, users={10})
    assert document["created"]["dialogues"] == 1
    assert document["created"]["judgments"] == 0
    assert "study" not in document


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dialogue/user3/m/SD-Books-task-1_dialogue.json", None, "there is no profile 'user3'"),
        ("dialogue/user2/m/SD-Books-task-7_dialogue.json", None, "there is no task 'SD-Books-task-7'"),
        ("dialogue/user2/m/x/SD-Books-task-1_dialogue.json", None, "lies 4 levels below dialogue, and 3 are expected"),
        (
            "dialogue/user2/m/SD-Books-task-1_dialogue.json",
            '{"task_id": "SD-Books-task-1",\n "dialogue": [{"role": "robot", "content": ""}]}',
            "SD-Books-task-1_dialogue.json, line 2, field dialogue.0.role: should be 'user', 'assistant', 'system' or",
        ),
        (
            "dialogue/user2/m/b_dialogue.json",
            '{"task_id": "a", "dialogue": [{"role": "user", "content": ""}]}',
            "says b",
        ),
        ("evaluation/user2/model-a/warmth/j/SD-Books-task-1.txt", "4", "no dimension is called warmth"),
        ("evaluation/user2/model-a/coherence/j/SD-Books-task-1.txt", "4", "ends neither in _user nor in _asst"),
        ("evaluation/user2/m/personalization/j/SD-Books-task-1.txt", "4", "there is no dialogue user2/m/SD-Books"),
    ],
)
def test_a_bad_output_is_named_and_nothing_is_kept(copy, output, name, text, message):
    path = output / name
    path.parent.mkdir(parents=True, exist_ok=True)
    task = path.name.removesuffix("_dialogue.json")
    path.write_text(text or json.dumps({"task_id": task, "dialogue": TURNS}))
    with pytest.raises(InputError) as caught:
        load(copy, output=output)
    assert message in str(caught.value)
    assert caught.value.file == str(output / name)
    assert not Profile.objects.exists()


def test_an_output_folder_without_dialogues_says_so(copy, tmp_path):
    with pytest.raises(InputError, match="holds no folder named dialogue"):
        load(copy, output=tmp_path)
