"""The demo: items written for this project, accounts, two studies with simulated labels, a benchmark of one of them,
a baseline judge, a simulated judge, and a model of this machine that judges both studies in the background."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.benchmarks.services import building, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.corpus.imports import records
from annotation.studies.models.studies import Study
from annotation.studies.queries.dependence import NONE
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments, simulated_annotators
from annotation.workbench.services.simulated_annotators import SimulatedAnnotator, Truth
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError
from core.files.input_files import InputFile
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.judges.services.simulated import draw_chances
from judging.runs.services import runs

SOURCE = "demo"
PASSWORD = "concord-demo"  # noqa: S105 - printed on purpose; the demo listens on this machine only
RESEARCHER = "rosa"
ANNOTATORS = ("anna", "ben")
DIALOGUES, PAIRS = "Demo dialogues", "Demo pairs"
SIMULATED = {
    DIALOGUES: [SimulatedAnnotator(f"Simulated {name}", 0.96 - 0.04 * place) for place, name in enumerate("ABC")],
    PAIRS: [SimulatedAnnotator(f"Simulated {name}", 0.96 - 0.02 * place) for place, name in enumerate("ABCDEFGHI")],
}
"""Three annotators rate the dialogues, as in PersonaLens; nine the pairs, as in PersonaFeedback, where nine ratings
make all four tiers possible."""
UNLABELLED = 12
"""Items of each study, the last ones, that no simulated annotator has rated."""
DIALOGUE_CRITERIA = (
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
)
INSTRUCTIONS = (
    "Read the whole conversation before you rate it. The panel on the left holds what the assistant could know of "
    "this user. If something cannot be judged, say so and why; do not guess."
)
SIMULATED_JUDGE = "simulated"
ACCURACY = {
    "task_completion": 0.97,
    "personalization": 0.88,
    "naturalness_user": 0.8,
    "naturalness_assistant": 0.97,
    "coherence_user": 0.6,
    "coherence_assistant": 0.97,
    "preference": 0.98,
}
"""How often the simulated judge gives the level that an item was written to have, mean over items."""
LOCAL_JUDGE, LOCAL_MODEL = "SmolLM2", "smollm2-135m"
SEED = 20250611


@dataclass(frozen=True)
class Login:
    name: str
    role: str


LOGINS = (Login(RESEARCHER, "researcher"), *(Login(name, "annotator") for name in ANNOTATORS))


def folder() -> Path:
    path: Path = settings.BASE_DIR / "fixtures" / "demo"
    return path


def is_loaded() -> bool:
    return Study.objects.filter(name__in=[DIALOGUES, PAIRS]).count() == 2


def load() -> None:
    """Load everything, or nothing where something fails. Does nothing the second time."""
    if is_loaded():
        return
    with audit_batch():
        rosa, *annotators = people()
        import_datasets(rosa)
        talk = study(rosa, annotators, DIALOGUES, Study.Kind.DIALOGUE, DIALOGUE_CRITERIA, load_designed_levels())
        choice = study(rosa, annotators, PAIRS, Study.Kind.PAIR, ("preference",), load_designed_preferences())
        benchmark(rosa, choice)
        baseline = judges.define(by=rosa, name="baseline", provider="baseline")
        runs.make(by=rosa, plan=runs.plan(study=talk, judge=baseline, seed=SEED), queue=True)
        simulated = define_simulated_judge(rosa, talk, choice)
        for each in (talk, choice):
            runs.make(by=rosa, plan=runs.plan(study=each, judge=simulated, order_policy="both", seed=SEED), queue=True)


def ask_local_model() -> str:
    """Send both studies to the local model, pairs first since they are done sooner. Does nothing the second time: what
    was stopped goes on by itself. Returns what stands in the way, empty if nothing does."""
    if Judge.objects.filter(name=LOCAL_JUDGE).exists():
        return ""
    rosa = User.objects.get(username=RESEARCHER)
    try:
        with audit_batch():
            judge = judges.define(by=rosa, name=LOCAL_JUDGE, provider="local", model=LOCAL_MODEL)
            for name in (PAIRS, DIALOGUES):
                runs.make(
                    by=rosa,
                    plan=runs.plan(study=Study.objects.get(name=name), judge=judge, order_policy="both", seed=SEED),
                    queue=True,
                )
    except InputError as error:
        return error.message
    return ""


def people() -> list[User]:
    """Accounts that can sign in, made where they are missing; their password is PASSWORD."""
    found = []
    for login in LOGINS:
        user, made = User.objects.get_or_create(
            username=login.name,
            defaults={"display_name": login.name.title(), "is_researcher": login.role == "researcher"},
        )
        if made:
            user.set_password(PASSWORD)
            user.save(update_fields=["password"])
        found.append(user)
    return found


def import_datasets(by: User) -> None:
    for kind in ("profiles", "tasks", "dialogues", "pairs"):
        records.load(by=by, kind=kind, file=InputFile.from_path(folder() / f"{kind}.jsonl"), source=SOURCE)


def study(by: User, annotators: Sequence[User], name: str, kind: str, criteria: Sequence[str], truth: Truth) -> Study:
    """A study of all demo items of a kind. Simulated annotators have rated most; one slot an item is left for you."""
    made = studies.create(
        by=by,
        name=name,
        kind=kind,
        criteria=criteria,
        overlap=len(SIMULATED[name]) + 1,
        allow_tie=True,
        seed=SEED,
        description="Demo data. A program drew the labels of the simulated annotators and how hard each item is, "
        f"independently for each item. The last {UNLABELLED} items have no labels.",
        clustering=NONE,
        instructions=INSTRUCTIONS if kind == Study.Kind.DIALOGUE else "",
    )
    samples.draw(by=by, study=made, method="all", filters={"source": SOURCE}, seed=SEED)
    assignments.add_annotators(by=by, study=made, annotators=annotators)
    studies.open(by=by, study=made)
    unlabelled = sorted(truth)[-UNLABELLED:]
    simulated_annotators.rate(by=by, study=made, truth=truth, annotators=SIMULATED[name], seed=SEED, but=unlabelled)
    return made


def define_simulated_judge(by: User, talk: Study, choice: Study) -> Judge:
    """A judge that is no model: its verdicts are drawn from the levels that the items were written to have."""
    chances = {
        key: drawn
        for study, truth in ((talk, load_designed_levels()), (choice, load_designed_preferences()))
        for key, drawn in draw_chances(study=study, truth=truth, accuracy=ACCURACY, seed=SEED).items()
    }
    return judges.define(by=by, name=SIMULATED_JUDGE, provider="simulated", parameters={"chances": chances})


def benchmark(by: User, choice: Study) -> None:
    """The pairs with the simulated annotators' votes, released and audited."""
    made = building.build(
        by=by,
        study=choice,
        name=PAIRS,
        options=BuildOptions(splits={"dev": 0.3, "test": 0.7}, seed=SEED),
        notes="Demo data: the votes are drawn, not given by people.",
    )
    versions.audit(by=by, benchmark=versions.release(by=by, benchmark=made), bootstrap=500, seed=SEED)


def load_designed_levels() -> dict[str, dict[str, str]]:
    """The level that each dialogue was written to have, by criterion."""
    with (folder() / "designed_quality.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("dialogue_id"): row for row in csv.DictReader(file)}


def load_designed_preferences() -> dict[str, dict[str, str]]:
    """The response of each pair that was written to suit the person better."""
    with (folder() / "designed_preference.csv").open(encoding="utf-8", newline="") as file:
        return {row["pair_id"]: {"preference": row["preferred"]} for row in csv.DictReader(file)}
