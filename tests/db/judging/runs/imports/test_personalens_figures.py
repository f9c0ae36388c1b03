"""PersonaLens's replies give the figures that its own folder gives when it is counted by hand.

The counting here knows nothing of Concord: it walks the folder and reads scores with one expression, as a script that
gathers the results of an evaluation does. Replies are written here, since none are published; profiles and tasks are
the published ones where they lie beside the project, and made up otherwise.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest
from django.urls import reverse

from annotation.agreement.options import IntervalOptions as Options
from judging.assessment.services import scores
from judging.runs.imports import personalens
from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.personalens_copy import make_copy

pytestmark = pytest.mark.django_db

JUDGE, ASSISTANT = "judge-x", "model-a"
DIMENSIONS = {
    ("task_completion", ""): "task_completion",
    ("personalization", ""): "personalization",
    ("naturalness", "_user"): "naturalness_user",
    ("naturalness", "_asst"): "naturalness_assistant",
    ("coherence", "_user"): "coherence_user",
    ("coherence", "_asst"): "coherence_assistant",
}
MOST = {"personalization": 4}
TURNS = [{"role": "user", "content": "A book?"}, {"role": "assistant", "content": "This one."}]


def write_output(folder: Path, tasks: dict[str, list[str]], seed: int) -> None:
    """A dialogue and six replies for each task of each user; some replies hold no verdict."""
    rng = random.Random(seed)
    for user, ids in tasks.items():
        for task in ids:
            dialogue = folder / "dialogue" / user / ASSISTANT / f"{task}_dialogue.json"
            dialogue.parent.mkdir(parents=True, exist_ok=True)
            dialogue.write_text(json.dumps({"task_id": task, "dialogue": TURNS}))
            for dimension, side in DIMENSIONS:
                reply = folder / "evaluation" / user / ASSISTANT / dimension / JUDGE / f"{task}{side}.txt"
                reply.parent.mkdir(parents=True, exist_ok=True)
                reply.write_text(reply_of(dimension, rng))


def reply_of(dimension: str, rng: random.Random) -> str:
    if rng.random() < 0.1:
        return "I would rather not say."
    if dimension == "task_completion":
        return f"{rng.choice(['True', 'False'])} EXPLANATION: It was looked at."
    score = rng.randint(1, MOST.get(dimension, 5))
    return f"{dimension.capitalize()} Score: {score}\nJustification: It was looked at."


def gathered(folder: Path, domains: dict[str, list[str]]) -> dict[str, dict[str, list[float]]]:
    """By criterion and domain, the numbers in the folder's replies."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in (folder / "evaluation").rglob("*.txt"):
        side = next((end for end in ("_user", "_asst") if path.stem.endswith(end)), "")
        criterion = DIMENSIONS[path.parts[-3], side]
        task = path.stem.removesuffix(side)
        said = re.search(r"Score: (\d)|^(True|False)", path.read_text())
        if said:
            number = float(said[1]) if said[1] else float(said[2] == "True")
            found[criterion]["several domains" if len(domains[task]) > 1 else domains[task][0]].append(number)
    return found


def compare(folder: Path, domains: dict[str, list[str]]) -> int:
    """Every figure of the imported run against the folder. Returns how many were compared."""
    document = scores.compute_run(JudgeRun.objects.get(), options=Options(bootstrap=0))
    compared = 0
    for criterion, by_domain in gathered(folder, domains).items():
        one, numbers = document["criteria"][criterion], [n for part in by_domain.values() for n in part]
        assert one["overall"]["value"] == pytest.approx(mean(numbers))
        yes = {"yes": 1.0, "no": 0.0}
        assert {
            yes.get(value) if value in yes else float(value): n for value, n in one["counts"].items() if n
        } == Counter(numbers)
        groups = {group["group"]: group["estimate"]["value"] for group in one["groups"] if group["scored"]}
        assert groups == pytest.approx({domain: mean(part) for domain, part in by_domain.items()})
        compared += 1 + len(one["counts"]) + len(groups)
    return compared


def spread(rows: list[dict], n: int) -> list[dict]:
    """At most n of the rows, evenly apart, so that many domains are among them."""
    return rows[:: max(1, len(rows) // n)][:n]


def tasks_in(source: Path, n_users: int, n_tasks: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Some tasks of some users, and each task's domains, as the published files say."""
    tasks: dict[str, list[str]] = {}
    domains: dict[str, list[str]] = {}
    for folder in sorted((source / "profile").iterdir())[:n_users]:
        rows = [
            scenario
            for name in ("tasks.json", "tasks_md.json")
            if (folder / name).exists()
            for scenario in spread(list(json.loads((folder / name).read_text()).values()), n_tasks)
        ]
        tasks[folder.name] = [row["task_id"] for row in rows]
        domains |= {row["task_id"]: row["Relevant Domains"] for row in rows}
    return tasks, domains


def imported(source: Path, output: Path, tasks: dict[str, list[str]]) -> None:
    write_output(output, tasks, seed=7)
    users = {int(user.removeprefix("user")) for user in tasks}
    personalens.load(by=None, folder=source, users=users, output=output)


def test_of_made_up_tasks(tmp_path):
    source = make_copy(tmp_path / "copy")
    tasks, domains = tasks_in(source, 2, 2)

    imported(source, tmp_path / "output", tasks)

    assert compare(tmp_path / "output", domains) > 20


@pytest.mark.any_database
@pytest.mark.long
def test_of_the_published_tasks(shared_data, tmp_path):
    source = shared_data / "personalens"
    tasks, domains = tasks_in(source, 6, 12)

    imported(source, tmp_path / "output", tasks)

    assert compare(tmp_path / "output", domains) > 60


def test_they_are_read_on_a_page_and_as_json(client, tmp_path):
    source = make_copy(tmp_path / "copy")
    tasks, _ = tasks_in(source, 2, 2)
    imported(source, tmp_path / "output", tasks)
    client.force_login(factories.ResearcherFactory())
    run = JudgeRun.objects.get()

    page = client.get(reverse("run_scores", args=[run.pk])).content.decode()
    document = client.get(reverse("run_scores_download", args=[run.pk, "json"])).json()

    assert "several domains" in page
    assert document["criteria"]["personalization"]["groups"][0]["group"] == "Books"
