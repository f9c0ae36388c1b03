"""`import_items`: any table by a mapping, a format by name, and a guess that imports nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus import services
from annotation.corpus.models import Dialogue, ResponsePair, SavedMapping
from annotation.corpus.parsing.mappings import parse_mapping
from annotation.studies.models.labels import Annotation
from core.files.writing import load_arrow
from judging.runs.models.runs import Judgment
from tests.support import format_samples as samples, messy_files
from tests.support.factories import DialogueFactory
from tests.support.paths import ROOT
from tests.support.prebuilt import find_or_make_migrated

pytestmark = pytest.mark.django_db


def run(*arguments) -> dict:
    out = StringIO()
    call_command("import_items", *map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


def place(folder: Path, file: tuple[str, bytes]) -> Path:
    path = folder / file[0]
    path.write_bytes(file[1])
    return path


def test_a_guess_imports_nothing_and_can_be_used_as_it_is(tmp_path):
    path = place(tmp_path, messy_files.semicolons())
    guess = run(path, "--guess")
    assert guess == {
        "kind": "pairs",
        "columns": {"id": "Nr", "question": "Frage", "response_1": "Antwort A", "response_2": "Antwort B"},
    }
    assert not ResponsePair.objects.exists()
    (tmp_path / "m.json").write_text(json.dumps(guess))
    assert run(path, "--mapping", tmp_path / "m.json")["created"] == {"pairs": 2}
    assert run(path, "--mapping", tmp_path / "m.json")["unchanged"] == {"pairs": 2}


@pytest.mark.parametrize("make", messy_files.ALL)
def test_every_messy_file_by_its_own_guess(make, tmp_path):
    path = place(tmp_path, make())
    (tmp_path / "m.json").write_text(json.dumps(run(path, "--guess")))
    found = run(path, "--mapping", tmp_path / "m.json", "--on-error", "skip", "--source", "lab")
    assert sum(found["created"].values()) >= 2
    stored = [*Dialogue.objects.all(), *ResponsePair.objects.all()]
    assert {row.source for row in stored} == {"lab"}


def test_a_mapping_in_toml(tmp_path):
    path = place(tmp_path, ("a.csv", b"key;who;what\nd1;user;Hi\nd1;bot;Hello\nd2;user;Bye\n"))
    (tmp_path / "m.toml").write_text(
        'kind = "dialogues"\n[columns]\nid = "key"\nrole = "who"\ncontent = "what"\n[constants]\ncondition = "base"\n'
    )
    assert run(path, "--mapping", tmp_path / "m.toml")["created"] == {"dialogues": 2}
    first = Dialogue.objects.get(external_id="d1")
    assert [(turn["role"], turn["content"]) for turn in first.turns] == [("user", "Hi"), ("assistant", "Hello")]
    assert first.condition == "base"


def test_a_saved_mapping_by_its_name(tmp_path):
    mapping = parse_mapping({"kind": "pairs", "columns": {"response_1": "x", "response_2": "y"}})
    services.save_mapping(by=None, name="Two answers", mapping=mapping)
    path = place(tmp_path, ("a.csv", b"x,y\none,two\n"))
    assert run(path, "--mapping", "Two answers")["created"] == {"pairs": 1}
    with pytest.raises(CommandError, match="there is no saved mapping 'Other'; there are: Two answers"):
        run(path, "--mapping", "Other")
    assert SavedMapping.objects.get().document == mapping.to_document()


def test_a_format_by_name(tmp_path):
    path = place(tmp_path, ("t.jsonl", json.dumps(samples.LANGFUSE).encode()))
    assert run(path, "--format", "langfuse")["created"] == {"dialogues": 1}
    assert Dialogue.objects.get().extra["scores"] == {"user-feedback": 0, "tone": "rude"}


def test_labels_of_people_and_of_a_judge(tmp_path):
    DialogueFactory(external_id="d1")
    path = place(tmp_path, ("l.csv", b"dialogue,coder,nat\nd1,ann,4\n"))
    columns = {"item": "dialogue", "value": "nat"}
    constants = {"criterion": "naturalness_assistant"}
    ratings = {"kind": "ratings", "columns": {**columns, "rater": "coder"}, "constants": constants}
    judgments = {"kind": "judgments", "columns": columns, "constants": constants}
    for name, mapping in (("r.json", ratings), ("j.json", judgments)):
        (tmp_path / name).write_text(json.dumps(mapping))
    assert run(path, "--mapping", tmp_path / "r.json", "--study", "Pilot")["study"] == "Pilot"
    run(path, "--mapping", tmp_path / "j.json", "--study", "Pilot", "--judge", "gpt")
    assert (Annotation.objects.get().value, Judgment.objects.get().value) == ("4", "4")
    with pytest.raises(CommandError, match="field study: Labels belong to a study"):
        run(path, "--mapping", tmp_path / "r.json")


def test_a_dataset_as_a_folder_and_as_a_zip_file_that_keeps_its_list_of_bad_rows(tmp_path):
    arrow = load_arrow()
    (tmp_path / "set" / "data").mkdir(parents=True)
    rows = {"prompt": ["One?", "Two?"], "response": ["1", "2"], "condition": ["base", "x" * 50]}
    arrow.parquet.write_table(arrow.table(rows), tmp_path / "set" / "data" / "train-00000-of-00001.parquet")
    (tmp_path / "m.json").write_text(json.dumps(run(tmp_path / "set", "--guess")))
    found = run(tmp_path / "set", "--mapping", tmp_path / "m.json", "--on-error", "skip")
    assert found["created"] == {"dialogues": 1}
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "set")
    found = run(tmp_path / "packed.zip", "--mapping", tmp_path / "m.json", "--on-error", "skip")
    assert found["unchanged"] == {"dialogues": 1}
    assert found["errors_file"] == str(tmp_path / "packed.zip.errors.jsonl")
    assert json.loads(Path(found["errors_file"]).read_text())["field"] == "condition"


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("{", "m.json: This is not JSON"),
        ("kind = pairs", "m.json: is neither JSON nor TOML"),
        ('{"kind": "pears"}', "m.json, field kind: 'pears' is none of dialogues, pairs"),
        ("{}", "m.json, field kind: names either a kind of record or a format"),
        ('{"kind": "pairs", "columns": {"response_1": "x", "response_2": "x"}}', "both name the column 'x'"),
        ('{"kind": "pairs", "columns": {"response_1": "x"}}', "field columns.response_2: Response pairs need"),
        (
            '{"kind": "pairs", "columns": {"answer": "x"}}',
            "field columns.answer: Response pairs have no field 'answer'",
        ),
        (
            '{"kind": "pairs", "columns": {"response_1": "x", "response_2": "why"}}',
            "a.csv, field columns.response_2: there is no column 'why'. The file has: x, y",
        ),
        ('{"kind": "pairs", "columns": {"response_1": "x", "response_2": "y"}, "read": {"encoding": "utf8"}}', "utf8"),
        ('{"format": "chatml"}', "field format: there is no format 'chatml'"),
        (
            '{"kind": "profiles", "columns": {"persona": "x"}, "draw": {"rest": 0.5}}',
            "field draw: only dialogues and response pairs can be drawn from",
        ),
    ],
)
def test_a_mapping_that_cannot_be_used_names_its_entry_and_nothing_is_kept(tmp_path, mapping, message):
    path = place(tmp_path, ("a.csv", b"x,y\none,two\n"))
    (tmp_path / "m.json").write_text(mapping)
    with pytest.raises(CommandError) as caught:
        run(path, "--mapping", tmp_path / "m.json")
    assert message in str(caught.value)
    assert caught.value.returncode == 2
    assert not ResponsePair.objects.exists()


@pytest.mark.long
@pytest.mark.any_database  # it has one of its own
def test_a_long_file_is_imported_within_a_limit_of_memory(tmp_path):
    """48 MB of JSON Lines go into a database, and the process grows by less than 60 MB. The rows would take more."""
    path, text = tmp_path / "long.jsonl", "word " * 180
    with path.open("w") as file:
        for number in range(40_000):
            turns = [{"role": "user", "content": text}, {"role": "assistant", "content": f"{number}"}]
            file.write(json.dumps({"id": f"d{number}", "messages": turns}) + "\n")
    (tmp_path / "data").mkdir()
    shutil.copy(find_or_make_migrated(), tmp_path / "data" / "concord.sqlite3")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_SETTINGS")}
    environment = {**kept, "CONCORD_DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    script = (
        "import resource, sys; from django.core.management import execute_from_command_line as run\n"
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import django; django.setup()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "run(['manage.py', 'import_items', sys.argv[1], '--format', 'openai', '--json'])\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["created"] == {"dialogues": 40_000}
    assert int(done.stderr.split()[-1]) < 60
