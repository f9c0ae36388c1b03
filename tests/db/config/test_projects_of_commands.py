"""What a command or a request makes anew goes into the project that it names; of several, a command has to name one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db.models import Model

from annotation.benchmarks.models import Benchmark
from annotation.corpus.models import SavedMapping
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from core.accounts.models.projects import Project
from judging.judges.models import Judge
from simulation.experiments.models import Experiment
from simulation.generation.models import CandidateRun, Making
from tests.db.annotation.benchmarks.imports import test_personafeedback as personafeedback
from tests.db.annotation.benchmarks.services.test_releasing import empty_the_database
from tests.db.annotation.benchmarks.services.voting import pairs, study_of, vote
from tests.db.judging.runs.imports import test_pandalm as pandalm
from tests.support import personalens_copy, seed_model
from tests.support.factories import (
    DialogueFactory,
    MembershipFactory,
    ProfileFactory,
    ProjectFactory,
    ResearcherFactory,
)
from tests.support.simulation import ASSISTANT_LINES, USER_LINES, people

pytestmark = pytest.mark.django_db

CONSISTENT = "scripted " + json.dumps({"otherwise": json.dumps({"conflicts": []})})
SPEAKER = 'scripted:s {"otherwise": "Words of $dialogue, turn $n."}'
PUBLISHED = ("--format", "personafeedback")
NUMBERS = {"personas": 3, "specific": 1, "general": 1, "memories": 1}


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def write_release(folder: Path) -> list[str]:
    """A release of a benchmark that is not here."""
    vote(study_of(pairs(4), name="Trips", slug="trips"), [(9, 0), (1, 8), (5, 4), (4, 4)])
    run("build_benchmark", "trips", "Trips", "--release")
    run("release", "trips-1", "-o", str(folder / "out"))
    empty_the_database()
    return ["import_benchmark", str(folder / "out")]


def write_personafeedback(folder: Path, command: str, *more: str) -> list[str]:
    personafeedback.write(folder / "persona" / "小梅_1.json", personafeedback.PERSONA)
    personafeedback.write(folder / "general" / "easy.jsonl", personafeedback.case())
    return [command, str(folder), *more]


def write_pandalm(folder: Path) -> list[str]:
    write(folder / "testset-v1.json", json.dumps([pandalm.comparison(0)], indent=1))
    write(folder / "gpt-3.5-turbo-testset-v1.json", json.dumps([pandalm.verdict(0, "gpt", "Tie")], indent=1))
    return ["import_pairs", str(folder), "--format", "pandalm"]


def write_labels(folder: Path, *more: str) -> str:
    """A label of a dialogue that is here; `more` may name the column of who gave it."""
    DialogueFactory(external_id="a")
    columns = {"item": "a", "value": "3", "criterion": "personalization", **dict.fromkeys(more, "ann")}
    return write(folder / "labels.csv", f"{','.join(columns)}\n{','.join(columns.values())}\n")


def write_ratings(folder: Path, *more: str) -> list[str]:
    return ["import_ratings", write_labels(folder, *more), "--study", "Pilot"]


def write_mapped(folder: Path, kind: str, *more: str) -> list[str]:
    """Labels of people or of a judge, and the mapping of their columns."""
    columns = {name: name for name in ("item", "value", "criterion", *more)}
    mapping = write(folder / "mapping.json", json.dumps({"kind": kind, "columns": columns}))
    return ["import_items", write_labels(folder, *more), "--mapping", mapping, "--study", "Pilot"]


def write_tasks(folder: Path) -> list[str]:
    """Choices of a person and of a judge, as Label Studio exports them."""
    chosen = [
        {"completed_by": who, "result": [{"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}]}
        for who in ("ann", "gpt")
    ]
    tasks = [{"id": 1, "data": {"response_1": "A", "response_2": "B"}, "annotations": chosen}]
    path = write(folder / "tasks.json", json.dumps(tasks))
    return ["import_study", path, "--format", "labelstudio", "--study", "LS", "--judges", "gpt"]


def write_personalens(folder: Path) -> list[str]:
    """A copy with a dialogue that was generated, and what a judge replied about it."""
    copy, output = personalens_copy.make_copy(folder / "copy"), folder / "output"
    turns = [{"role": "user", "content": "A book?"}, {"role": "assistant", "content": "This one."}]
    path = output / "dialogue" / "user2" / "model-a" / "SD-Books-task-1_dialogue.json"
    personalens_copy.write(path, {"task_id": "SD-Books-task-1", "dialogue": turns})
    replies = output / "evaluation" / "user2" / "model-a" / "task_completion" / "judge-x"
    replies.mkdir(parents=True)
    write(replies / "SD-Books-task-1.txt", "True EXPLANATION: A book was found.")
    return ["import_personalens", str(copy), "--output", str(output)]


def prepare_experiment(folder: Path) -> list[str]:
    people(1, 1)
    user, assistant = ("scripted " + json.dumps({"lines": lines}) for lines in (USER_LINES, ASSISTANT_LINES))
    sides = ["--user-agent", user, "--assistant", assistant]
    return ["simulate", "--users", "all", "--tasks", "all", *sides, "--condition", "base", "--now"]


def prepare_check(folder: Path) -> list[str]:
    ProfileFactory()
    return ["make_material", "check", "--agent", CONSISTENT, "--profiles", "all"]


def prepare_candidates(folder: Path) -> list[str]:
    ProfileFactory()
    return ["candidates", "make", "--agent", SPEAKER, "--profiles", "all", "--question", "What to cook?"]


def write_seeds(folder: Path) -> list[str]:
    numbers = [word for name, n in NUMBERS.items() for word in (f"--{name}", str(n))]
    path = write(folder / "seeds.jsonl", "".join(json.dumps(one) + "\n" for one in seed_model.seeds(3)))
    return ["candidates", "seeds", path, "--name", "Small", "--agent", SPEAKER, "--queue", *numbers]


def prepare_webhook(folder: Path) -> list[str]:
    """Of somebody who is in one project only: that does not choose for a command."""
    ResearcherFactory(username="rosa")
    return ["webhook", "--by", "rosa", "--url", "https://8.8.8.8/hook", "--events", "run.finished"]


COMMANDS: dict[str, tuple[Callable[[Path], Iterable[str]], set[type[Model]]]] = {
    "import_benchmark of a release": (write_release, {Benchmark}),
    "import_benchmark": (lambda at: write_personafeedback(at, "import_benchmark"), {Benchmark}),
    "import_pairs": (lambda at: write_personafeedback(at, "import_pairs", *PUBLISHED), {Benchmark}),
    "import_pairs of PandaLM": (write_pandalm, {Study, Judge}),
    "import_items": (lambda at: write_mapped(at, "ratings", "rater"), {Study}),
    "import_items of a judge": (lambda at: [*write_mapped(at, "judgments"), "--judge", "gpt"], {Study, Judge}),
    "import_ratings": (lambda at: write_ratings(at, "rater"), {Study}),
    "import_ratings of a judge": (lambda at: [*write_ratings(at), "--judge", "gpt"], {Study, Judge}),
    "import_study": (write_tasks, {Study, Judge}),
    "import_personalens": (write_personalens, {Study, Judge}),
    "simulate": (prepare_experiment, {Experiment}),
    "simulate for people": (lambda at: [*prepare_experiment(at), "--also-annotate", "1"], {Experiment, Study}),
    "make_material": (prepare_check, {Making}),
    "candidates make": (prepare_candidates, {Making}),
    "candidates seeds": (write_seeds, {CandidateRun, Making}),
    "webhook": (prepare_webhook, {Webhook}),
}
"""What writes the input of a command and returns its words, and the tables that it makes rows of."""


def run(*words: str) -> None:
    call_command(*words, stdout=StringIO(), stderr=StringIO())


def find_projects(tables: Iterable[type[Model]]) -> dict[type[Model], set[str]]:
    return {table: set(table.objects.values_list("project__slug", flat=True)) for table in tables}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_makes_nothing_without_a_project_and_all_in_the_one_that_it_names(what, tmp_path):
    prepare, tables = COMMANDS[what]
    words = prepare(tmp_path)
    Project.find_or_create_default()
    ProjectFactory(slug="other")
    with pytest.raises(CommandError, match="There are several projects") as refused:
        run(*words)
    assert refused.value.returncode == 2
    assert find_projects(tables) == {table: set() for table in tables}
    run(*words, "--project", "other")
    assert find_projects(tables) == {table: {"other"} for table in tables}


def test_an_experiment_that_another_project_has_begun_is_not_gone_on_with(tmp_path):
    words = [word for word in prepare_experiment(tmp_path) if word != "--now"]
    slugs = [Project.find_or_create_default().slug, ProjectFactory(slug="other").slug]
    for slug in slugs * 2:
        run(*words, "--no-wait", "--project", slug)
    assert sorted(Experiment.objects.values_list("project__slug", flat=True)) == sorted(slugs)


def test_a_saved_mapping_is_that_of_the_project(tmp_path):
    words = write_mapped(tmp_path, "ratings", "rater")
    document = json.loads(Path(words[3]).read_text())
    for project, kept in (
        (Project.find_or_create_default(), {**document, "kind": "pairs"}),
        (ProjectFactory(slug="other"), document),
    ):
        SavedMapping.objects.create(project=project, name="Mine", document=kept)
    run(*words[:3], "Mine", *words[4:], "--project", "other")
    assert Study.objects.get().project.slug == "other"


MAPPING = {"kind": "pairs", "columns": {"response_1": "x", "response_2": "y"}}
OF_SEEDS = {"name": "Small", "agent": {"provider": "scripted"}, "seeds": seed_model.seeds(3), **NUMBERS}
REQUESTS: dict[str, tuple[dict[str, Any], set[type[Model]]]] = {
    "judges": ({"name": "J", "provider": "baseline"}, {Judge}),
    "mappings": ({"name": "M", "mapping": MAPPING}, {SavedMapping}),
    "imports": ({"format": "judgments", "study": "Pilot", "judge": "gpt"}, {Study, Judge}),
    "candidates/seeds": (OF_SEEDS, {CandidateRun, Making}),
}
"""The body of a request, and the tables that it makes rows of."""


@pytest.mark.parametrize("address", REQUESTS)
def test_a_request_makes_nothing_in_a_project_that_is_not_there_and_all_in_the_one_that_it_names(address, alice, rosa):
    (body, tables), form = REQUESTS[address], {"format": "multipart"} if address == "imports" else {}
    MembershipFactory(user=alice, project=ProjectFactory(slug="other"))
    DialogueFactory(external_id="a")

    def send(slug: str):
        file = SimpleUploadedFile("labels.csv", b"item,value,criterion\na,3,personalization\n")
        return rosa.post(f"/api/v1/{address}", {**body, "project": slug, **({"file": file} if form else {})}, **form)

    refused = send("nowhere")
    assert (refused.status_code, refused.json()["field"]) == (400, "project")
    assert find_projects(tables) == {table: set() for table in tables}
    assert send("other").status_code in (200, 201)
    assert find_projects(tables) == {table: {"other"} for table in tables}
