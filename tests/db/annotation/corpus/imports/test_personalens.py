"""PersonaLens: a made-up copy for every rule, the real part for the counts."""

from __future__ import annotations

import hashlib
import json

import pytest

from annotation.corpus.imports import personalens
from annotation.corpus.models import Profile, Scenario, Task
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from tests.support.personalens_copy import BOOK, TRIP, make_copy, scenario, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def copy(tmp_path):
    return make_copy(tmp_path / "a copy")


def load(folder, **options) -> dict:
    return personalens.load(root=InputFile.from_path(folder), problems=Problems(), **options).to_document()


def counts(profiles: int, tasks: int, scenarios: int) -> dict:
    return {"profiles": profiles, "tasks": tasks, "scenarios": scenarios}


def test_profiles_tasks_and_scenarios_are_kept_whole(copy):
    document = load(copy)
    assert document["created"] == counts(2, 2, 3)
    profile = Profile.objects.get(source="personalens", external_id="user10")
    assert profile.demographics == {"user_id": "user10", "birth_country": "中国"}
    assert profile.preferences == {"Books": {"Genre": ["history"]}}
    assert profile.interests == {"Books": 1}
    assert profile.interactions == {"Books": "Reads at night."}
    assert profile.extra == {"mood": "calm"}
    assert profile.content_hash == hashlib.sha256((copy / "profile/user10/profile.json").read_bytes()).hexdigest()
    trip = Task.objects.get(external_id="MD-task-1")
    assert (trip.description, trip.is_multi_domain, trip.extra) == ("A trip.", True, {"Source": "made up"})
    assert Scenario.objects.get(task__external_id="SD-Books-task-1", profile=profile).situation["Device"] == "user10"


def test_the_second_import_changes_nothing(copy):
    load(copy)
    before = (
        list(Profile.objects.order_by("pk").values_list("pk", "updated_at")),
        list(Scenario.objects.order_by("pk").values_list("pk")),
    )
    document = load(copy)
    assert document["unchanged"] == counts(2, 2, 3)
    assert document["created"] == document["updated"] == counts(0, 0, 0)
    assert before == (
        list(Profile.objects.order_by("pk").values_list("pk", "updated_at")),
        list(Scenario.objects.order_by("pk").values_list("pk")),
    )


def test_what_changed_is_updated_in_place(copy):
    load(copy)
    path = copy / "profile" / "user2" / "profile.json"
    write(path, {**json.loads(path.read_text()), "interests": {"Books": 0}})
    books = {**BOOK, "Task Goal": "Two books are found."}
    write(copy / "profile/user2/tasks.json", {"Task 1": scenario("SD-Books-task-1", books, Device="watch")})
    write(copy / "profile/user10/tasks.json", {"Task 1": scenario("SD-Books-task-1", books, Device="user10")})
    document = load(copy)
    assert document["updated"] == counts(1, 1, 1)
    assert document["unchanged"] == counts(1, 1, 2)
    assert Profile.objects.get(external_id="user2").interests == {"Books": 0}
    assert Task.objects.get(external_id="SD-Books-task-1").goal == "Two books are found."
    assert Scenario.objects.get(profile__external_id="user2").situation["Device"] == "watch"


def test_a_scenario_that_was_deleted_comes_back(copy):
    load(copy)
    Scenario.objects.filter(profile__external_id="user2").delete()
    assert load(copy)["created"] == counts(0, 0, 1)


def test_a_subset_of_users(copy):
    assert load(copy, users={10})["created"] == counts(1, 2, 2)
    with pytest.raises(InputError, match="field users: profile/user7 does not exist"):
        load(copy, users={7})


def test_definitions_make_tasks_that_nobody_has_yet(copy):
    line = {name: value for name, value in BOOK.items() if name != "Relevant Domains"}
    for domain, number, more in (("Books", 1, {}), ("Books", 2, {}), ("Multi-Domain", 1, TRIP)):
        path = copy / "task" / domain / "task.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as stream:
            stream.write(json.dumps({"Task Number": number, **line, **more}) + "\n")
    document = load(copy)
    assert document["created"] == counts(2, 3, 3)
    assert document["warnings"] == []
    assert Task.objects.get(external_id="SD-Books-task-2").domains == ["Books"]


def test_a_task_worded_differently_is_told(copy):
    other = {**BOOK, "Task Goal": "No book."}
    write(copy / "profile/user10/tasks.json", {"Task 1": scenario("SD-Books-task-1", other)})
    document = load(copy)
    assert document["warnings"] == ["1 scenarios word their task differently from its first wording, which was kept"]
    assert Task.objects.get(external_id="SD-Books-task-1").goal == "A book is found."


BAD = [
    ("user2/profile.json", "[]", "user2/profile.json, line 1: should be a JSON object"),
    ("user2/profile.json", '{\n"affinities": {},\n', "user2/profile.json, line 3: not JSON"),
    ("user2/profile.json", "", "user2/profile.json: is empty"),
    (
        "user2/profile.json",
        '{"affinities": {},\n "demographics": {}, "interests": {}}',
        "user2/profile.json, line 1, field interactions: is missing",
    ),
    ("user2/tasks.json", "[]", "user2/tasks.json: one JSON object is expected"),
    ("user2/tasks.json", '{"Task 1": NaN}', "user2/tasks.json, line 1: not JSON: expected value"),
    ("user2/tasks.json", '{\n"Task 1": 3}', "user2/tasks.json, line 2, field Task 1: should be a JSON object"),
    (
        "user2/tasks.json",
        json.dumps({"A": scenario("x", BOOK), "B": scenario("x", BOOK)}, indent=0),
        "field B.task_id: the task 'x' is there twice",
    ),
    (
        "user2/tasks.json",
        json.dumps({"A": {**BOOK, "task_id": "x"}}, indent=0),
        "user2/tasks.json, line 2, field A.situations: is missing",
    ),
    (
        "user2/tasks.json",
        json.dumps({"A": {**scenario("x", BOOK), "Task Goal": 5}}, indent=0),
        "user2/tasks.json, line 5, field A.Task Goal: should be text, not 5",
    ),
    ("user2/tasks.json", json.dumps({"A": {**scenario("x", BOOK), "task_id": [1]}}), "field A.task_id: should be"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_a_bad_file_is_named_and_nothing_is_kept(copy, name, text, message):
    (copy / "profile" / name).write_text(text)
    with pytest.raises(InputError) as caught:
        load(copy)
    assert message in str(caught.value)
    assert not Profile.objects.exists()
    assert not Task.objects.exists()


def test_the_wrong_encoding_is_named_with_its_line(copy):
    (copy / "profile/user2/profile.json").write_bytes('{\n"affinities": "é"}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"user2/profile.json, line 2: is not UTF-8 \(byte 0xe9\)"):
        load(copy)


def test_a_folder_of_something_else_says_so(tmp_path):
    with pytest.raises(InputError, match="holds no folder named profile"):
        load(tmp_path)
    (tmp_path / "profile").mkdir()
    with pytest.raises(InputError, match=r"holds no folder named user<N>"):
        load(tmp_path)


def test_progress_is_told(copy, monkeypatch):
    monkeypatch.setattr(personalens, "USERS_AT_A_TIME", 1)
    told = []
    load(copy, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_the_published_part(shared_data, tmp_path):
    """24 profiles with 1,575 single-domain and 387 multi-domain scenarios, 86 + 25 tasks (README of the data)."""
    document = load(shared_data / "personalens")
    assert document["created"] == counts(24, 111, 1575 + 387)
    assert document["warnings"] == document["skipped"] == []
    assert Task.objects.filter(is_multi_domain=True).count() == 25
    assert Scenario.objects.filter(task__is_multi_domain=True).count() == 387
    assert load(shared_data / "personalens")["unchanged"] == counts(24, 111, 1962)
