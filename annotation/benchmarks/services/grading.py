"""The same responses graded one by one by the people who chose between them, and what their choice hides.

Each response of a study of pairs becomes a dialogue of one question and one answer, in a study of its own that asks how
well it is personalized on a scale of four. Nothing says which two belong together, or which one was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from annotation.benchmarks.options import PREFERENCE
from annotation.benchmarks.result_types import GradedDocument
from annotation.benchmarks.services.filtering import add_all_items, find_criterion
from annotation.corpus.models import Dialogue, ResponsePair, Scenario
from annotation.stats.benchmarks.graded import CHOICES, Both, compute_hidden
from annotation.stats.labels import parse_number
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries.context import PARTS
from annotation.studies.services import studies
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash

SOURCE = "graded responses"
GRADE = "personalization"


@audited("study.grade", says=("study", "seed"))
def make_study(*, by: User | None, study: Study, name: str = "", seed: int = 0) -> Study:
    """A draft in which the annotators of `study` grade each of its responses once. Its order is drawn with the seed."""
    find_criterion(study, PREFERENCE)
    pairs = [item.pair for item in study.items.select_related("pair__profile").order_by("position") if item.pair]
    if not pairs:
        raise InputError("{study} has no items.", field="study", study=study)
    with transaction.atomic():
        made = studies.create(
            by=by,
            project=study.project,
            name=name or f"{study.name[:100]}, graded",
            kind=Study.Kind.DIALOGUE,
            criteria=[GRADE],
            overlap=study.overlap,
            shown=[part for part in PARTS["dialogue"] if part in study.shown],
            seed=seed,
            description=f"The responses of {study.name}, graded one by one.",
        )
        made.annotators.set(study.annotators.all())
        dialogues = create_response_dialogues(pairs)
        digest = content_hash([one.external_id for one in dialogues])
        filters = {"graded": [study.slug]}
        add_all_items(by=by, study=made, rows=dialogues, filters=filters, seed=seed, input_hash=digest)
    return made


def create_response_dialogues(pairs: Iterable[ResponsePair]) -> list[Dialogue]:
    """Each response as a dialogue of two turns; those that are there already are found again."""
    scenarios: dict[int, Scenario] = {}
    found = []
    for pair in pairs:
        if pair.profile_id and pair.profile_id not in scenarios:
            scenarios[pair.profile_id] = Scenario.objects.get_or_create(
                profile_id=pair.profile_id, task=None, variant=""
            )[0]
        for response, text in (("1", pair.response_1), ("2", pair.response_2)):
            question = f"{pair.question}\n\n{pair.context}".strip()
            turns = [{"role": "user", "content": question}, {"role": "assistant", "content": text}]
            found.append(
                Dialogue.objects.get_or_create(
                    source=SOURCE,
                    external_id=f"{pair.pk}/{response}/{content_hash(turns)[:12]}",
                    defaults={
                        "content_hash": content_hash(turns),
                        "turns": turns,
                        "scenario": scenarios.get(pair.profile_id or 0),
                        "extra": {"pair": pair.pk, "response": response},
                    },
                )[0]
            )
    return found


def compare(*, study: Study, graded: Study, bootstrap: int = 2000, seed: int = 0) -> GradedDocument:
    """What the choices in `study` hide that the same people's grades in `graded` show."""
    criterion = find_criterion(study, PREFERENCE)
    scale = graded.criteria.filter(key=GRADE).first()
    if scale is None:
        raise InputError("{graded} does not ask for {grade}.", field="graded", graded=graded, grade=GRADE)
    numbers = [parse_number(value) for value in scale.values]
    if None in numbers:
        raise InputError("{scale} is not graded in numbers.", field="graded", scale=scale)
    grades = load_grades(graded)
    rows = [
        Both(str(pair), persona or "", person, choice, grades[pair, "1", person], grades[pair, "2", person])
        for pair, persona, person, choice in load_choices(study)
        if choice in CHOICES and (pair, "1", person) in grades and (pair, "2", person) in grades
    ]
    known = [number for number in numbers if number is not None]
    found = compute_hidden(rows, middle=(min(known) + max(known)) / 2, bootstrap=bootstrap, seed=seed)
    return {
        "study": study.slug,
        "graded": graded.slug,
        "scale": scale.values,
        "choices": criterion.values,
        "bootstrap": bootstrap,
        "seed": seed,
        **found.to_json(),
    }


def load_choices(study: Study) -> Iterable[tuple[int, str | None, str, str]]:
    """Pair, persona, person and choice of every counting answer. One query."""
    found = (
        Annotation.objects.only_counting().filter(assignment__study=study, criterion__key=PREFERENCE).exclude(value="")
    )
    rows = found.order_by("assignment__item__position", "assignment__annotator__username").values_list(
        "assignment__item__pair",
        "assignment__item__pair__profile__external_id",
        "assignment__annotator__username",
        "assignment__study__slug",
        "value",
    )
    for pair, persona, person, slug, value in rows:
        yield pair, persona, normalise_person(person, slug), value


def load_grades(study: Study) -> dict[tuple[int, str, str], float]:
    """(pair, response, person) -> grade, of counting answers. One query."""
    found = Annotation.objects.only_counting().filter(assignment__study=study, criterion__key=GRADE).exclude(value="")
    rows = found.values_list(
        "assignment__item__dialogue__source",
        "assignment__item__dialogue__extra",
        "assignment__annotator__username",
        "assignment__study__slug",
        "value",
    )
    return {
        (extra["pair"], extra["response"], normalise_person(person, slug)): float(value)
        for source, extra, person, slug, value in rows
        if source == SOURCE
    }


def normalise_person(username: str, slug: str) -> str:
    """Imported and simulated annotators have an account for each study, `<name>@<study>`: the name is the person."""
    return username.removesuffix(f"@{slug}")


def list_graded_studies(study: Study) -> list[Study]:
    """The studies in which the responses of this one are graded, the newest first. One query."""
    found = Study.objects.filter(samples__filters__graded=[study.slug]).distinct()
    return list(found.order_by("-created_at", "-pk"))
