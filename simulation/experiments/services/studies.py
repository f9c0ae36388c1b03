"""From an experiment to people and judges: its dialogues, or a sample of them, become a study."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.names import number_name
from core.options.model import check_options
from judging.runs.models.runs import Judgment
from simulation.experiments.models import Experiment
from simulation.experiments.options import PUBLISHED_SAMPLE, RANDOM, STRATIFIED, ForPeople

CRITERIA = (
    "task_completion",
    "personalization",
    "naturalness_assistant",
    "coherence_assistant",
    "naturalness_user",
    "coherence_user",
)
"""What PersonaLens (arXiv 2506.09902) asks of a dialogue: of the assistant, and of the user agent."""

USER_CHECKS = ("first_turn_preference", "persona_drift", "goal_leakage")
"""Whether the user agent behaves as a person would: what it gives away, and whether it stays who it is."""

ANNOTATORS = 3
DRAWN = {
    RANDOM: "The human check of PersonaLens: dialogues drawn at random, each as likely as any other.",
    STRATIFIED: "Dialogues spread over a judge's scores, or over assistants and conditions where no judge has rated "
    "them. Figures weigh each dialogue by its chance to be drawn.",
}
"""How dialogues were drawn, as the study's description says it."""

SCORED_BY = "personalization"


@audited("study.of_experiment", says=("experiment", "user_checks"))
def create_judge_study(*, by: User | None, experiment: Experiment, user_checks: bool = False) -> Study:
    """A study of all dialogues that ended normally, for judges. The one that is there, with what is new.

    With `user_checks` it asks whether the user agent is true to its part, else what PersonaLens asks.
    """
    name = study_name(experiment, "checks of the user agent" if user_checks else "all dialogues")
    with transaction.atomic():
        study = Study.objects.filter(project=experiment.project_id, name=name).first()
        if study is None:
            study = studies.create(
                by=by,
                project=experiment.project,
                name=name,
                kind=Study.Kind.DIALOGUE,
                criteria=USER_CHECKS if user_checks else CRITERIA,
                seed=experiment.seed,
                description=f"All dialogues of the experiment {experiment.name}.",
            )
        new = experiment.dialogues.filter(dialogue__isnull=False).exclude(dialogue__items__study=study)
        if study.state == Study.State.DRAFT and new.exists():
            samples.draw(by=by, study=study, method="all", filters={"source": experiment.source}, seed=experiment.seed)
    if not study.items.exists():
        raise InputError("No dialogue of this experiment has ended as it should yet.", field="experiment")
    return study


@check_options(ForPeople)
@audited("study.of_experiment", says=("experiment", "n", "draw"))
def create_human_check(
    *, by: User | None, experiment: Experiment, n: int = PUBLISHED_SAMPLE, draw: str = RANDOM, name: str = ""
) -> Study:
    """Make a study of `n` dialogues for three annotators each; with fewer than `n` dialogues, of all.

    `draw` is one of `DRAWN`.
    """
    there = experiment.dialogues.filter(dialogue__isnull=False).count()
    if not there:
        raise InputError("No dialogue of this experiment has ended as it should yet.", field="n")
    with transaction.atomic():
        study = studies.create(
            by=by,
            project=experiment.project,
            name=name or free_name(experiment),
            kind=Study.Kind.DIALOGUE,
            criteria=CRITERIA,
            overlap=ANNOTATORS,
            seed=experiment.seed,
            description=f"{DRAWN[draw]} Experiment: {experiment.name}.",
        )
        samples.draw(
            by=by,
            study=study,
            size=min(n, there),
            filters={"source": experiment.source},
            seed=experiment.seed,
            **({"method": "simple"} if draw == RANDOM else stratification(experiment)),
        )
    return study


def stratification(experiment: Experiment) -> dict[str, object]:
    """Equal numbers of each score of a judge; before there is one, of each assistant and condition its share."""
    if scores := load_scores(experiment):
        return {"method": "stratified", "strata": ["judge_score"], "allocation": "equal", "scores": scores}
    return {"method": "stratified", "strata": ["assistant_model", "condition"]}


def load_scores(experiment: Experiment) -> Mapping[int, str]:
    """Dialogue -> what a judge said of its personalization, the newest verdict of any."""
    rows = (
        Judgment.objects.only_items()
        .filter(
            item__dialogue__simulated__experiment=experiment,
            criterion__study__project=experiment.project_id,
            criterion__key=SCORED_BY,
            repeat=1,
        )
        .exclude(value="")
    )
    return dict(rows.order_by("created_at", "pk").values_list("item__dialogue_id", "value"))


def study_name(experiment: Experiment, what: str) -> str:
    return f"{experiment.name[:80]} ({experiment.pk}): {what}"


def free_name(experiment: Experiment) -> str:
    """A name for the next sample."""
    base = study_name(experiment, "for people")
    taken = set(Study.objects.filter(name__startswith=base).values_list("name", flat=True))
    return number_name(base, taken, sign=" ")


def list_studies(experiment: Experiment) -> list[Study]:
    """The studies that hold dialogues of the experiment, oldest first."""
    found = Study.objects.filter(
        project=experiment.project_id, items__dialogue__simulated__experiment=experiment
    ).distinct()
    return list(found.order_by("created_at", "pk"))
