"""How long does a whole report take? 5,000 items, 3 annotators, 4 criteria, 3 judges, from the database to the page.

The labels are simulated. Must show: under 20 s on 2 cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
FOLDER = tempfile.TemporaryDirectory(prefix="concord bench ")
os.environ["CONCORD_DATA_DIR"] = FOLDER.name
os.environ["DATABASE_URL"] = ""
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django  # noqa: E402

django.setup()

import numpy as np  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotation.corpus.models import Dialogue, Profile, Scenario  # noqa: E402
from annotation.studies.models.assignments import Assignment  # noqa: E402
from annotation.studies.models.labels import Annotation  # noqa: E402
from annotation.studies.models.studies import Criterion, Item, Sample, Study  # noqa: E402
from core.accounts.models.projects import choose_project  # noqa: E402
from core.accounts.models.users import User  # noqa: E402
from judging.judges.models import Judge  # noqa: E402
from judging.runs.models.runs import JudgeRun, Judgment  # noqa: E402

ITEMS, PEOPLE, CRITERIA, JUDGES, MOST_SECONDS = 5000, 3, 4, 3, 20.0
STEPS, ANSWERS = ("1", "2", "3", "4", "5"), ("no", "yes")


def study(
    rng: np.random.Generator, scales: Sequence[Sequence[str]], *, slug: str = "bench", profiles: int = 0
) -> Study:
    """A study of `ITEMS` dialogues with a criterion for each scale; the dialogues are dealt out to so many profiles."""
    made = Study.objects.create(project=choose_project(None), name=slug.title(), slug=slug, kind="dialogue")
    sample = Sample.objects.create(study=made, method="all", frame_size=ITEMS, size=ITEMS, input_hash="0" * 64)
    users = Profile.objects.bulk_create(
        Profile(source=slug, external_id=f"p{k}", content_hash=f"{k:064x}") for k in range(profiles)
    )
    scenarios = Scenario.objects.bulk_create(Scenario(profile=user) for user in users)
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(
            source=slug,
            external_id=f"d{k}",
            content_hash=f"{k:064x}",
            scenario=scenarios[k % profiles] if profiles else None,
            assistant_model=f"assistant-{k % 4}",
            condition=("vanilla", "base")[k % 2],
            turns=[
                {"role": "user", "content": f"Request {k}"},
                {"role": "assistant", "content": "word " * int(rng.integers(10, 200))},
            ],
        )
        for k in range(ITEMS)
    )
    Item.objects.bulk_create(
        Item(study=made, sample=sample, dialogue=dialogue, position=k, inclusion_probability=1.0, content_hash="0" * 64)
        for k, dialogue in enumerate(dialogues, start=1)
    )
    Criterion.objects.bulk_create(
        Criterion(
            study=made,
            key=f"c{k}",
            name=f"Criterion {k}",
            question="?",
            level="ordinal" if len(scale) > 2 else "nominal",
            categories=[{"value": value, "label": value, "guideline": ""} for value in scale],
            position=k,
        )
        for k, scale in enumerate(scales, start=1)
    )
    return made


def noisy(rng: np.random.Generator, truth: np.ndarray, noise: float, scale: Sequence[str]) -> list[str]:
    """Truth around the middle, 3, with noise, as steps of the scale; of two values the second one above 3."""
    said = np.clip(np.round(truth + rng.normal(0, noise, len(truth))), 1, 5).astype(int)
    return [scale[place] for place in (said - 1 if len(scale) > 2 else (said > 3).astype(int)).tolist()]


def label(made: Study, truth: np.ndarray, rng: np.random.Generator, labelled: int) -> None:
    """Everybody rates the first ``labelled`` items."""
    items, criteria = list(made.items.order_by("position")), list(made.criteria.order_by("position"))
    now = timezone.now()
    for slot in range(1, PEOPLE + 1):
        person, _ = User.objects.get_or_create(username=f"simulated{slot}", kind="simulated")
        held = Assignment.objects.bulk_create(
            Assignment(
                study=made, item=i, slot=slot, rank=i.position, annotator=person, state="submitted", submitted_at=now
            )
            for i in items[:labelled]
        )
        for k, criterion in enumerate(criteria):
            said = noisy(rng, truth[:labelled, k], 0.6, criterion.values)
            Annotation.objects.bulk_create(
                Annotation(assignment=a, criterion=criterion, value=v) for a, v in zip(held, said, strict=True)
            )


def judge(made: Study, truth: np.ndarray, rng: np.random.Generator) -> None:
    items, criteria = list(made.items.order_by("position")), list(made.criteria.order_by("position"))
    for n in range(JUDGES):
        one, _ = Judge.objects.get_or_create(
            name=f"judge-{n}", provider="imported", model=f"judge-{n}", defaults={"project": made.project}
        )
        run = JudgeRun.objects.create(
            study=made, judge=one, input_hash="0" * 64, code_version="bench", finished_at=timezone.now()
        )
        run.criteria.set(criteria)
        for k, criterion in enumerate(criteria):
            said = noisy(rng, truth[:, k], 0.5 + 0.3 * n, criterion.values)
            Judgment.objects.bulk_create(
                Judgment(
                    run=run,
                    item=item,
                    criterion=criterion,
                    value=v,
                    score=float(v) if v in STEPS else None,
                    details={"distribution": {v: 0.9}},
                )
                for item, v in zip(items, said, strict=True)
            )


def main() -> int:
    call_command("migrate", verbosity=0)
    rng = np.random.default_rng(0)
    truth = rng.normal(3, 1, (ITEMS, CRITERIA))
    made = study(rng, [STEPS] * CRITERIA)
    label(made, truth, rng, 2 * ITEMS // 3)
    judge(made, truth, rng)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        call_command("report", study="bench", format="html", output=path, verbosity=0)
        size = path.stat().st_size
    seconds = time.perf_counter() - begun
    print(
        f"report of {ITEMS} items x {PEOPLE} annotators x {CRITERIA} criteria x {JUDGES} judges: {seconds:.1f} s, "
        f"{size / 1e6:.1f} MB; at most {MOST_SECONDS:.0f} s"
    )
    return 0 if seconds <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
