"""Studies: made as a draft, opened once items are drawn, closed when enough is labelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.corpus.imports import writing
from annotation.stats.orders import name_responses
from annotation.studies.criteria import TEMPLATES, CriterionTemplate
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.options import LARGEST_OVERLAP, Clustering, NewStudy
from annotation.studies.queries.context import PARTS
from annotation.studies.queries.dependence import check_clustering, read_dependence
from annotation.studies.services import webhooks
from annotation.studies.services.rubrics import read_rubric_for
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.names import check_name, number_name
from core.options.model import LARGEST, check_options

BATCH = 2000
RESERVED_SLUGS = ("new",)  # its place among the addresses is that of the form
RATING, OPEN = Assignment.Purpose.RATING.value, Assignment.State.OPEN.value
NOT_SHOWN = ""


@check_options(NewStudy)
@audited(
    "study.create",
    says=(
        "kind",
        "criteria",
        "overlap",
        "most_overlap",
        "shown",
        "allow_tie",
        "seed",
        "asks_strength",
        "content_form",
        "each_turn",
        "clustering",
    ),
)
def create(
    *,
    by: User | None,
    name: str,
    kind: str,
    criteria: Sequence[str] | None = None,
    rubric: Mapping[str, object] | None = None,
    overlap: int = 3,
    most_overlap: int | None = None,
    shown: Sequence[str] | None = None,
    allow_tie: bool = False,
    seed: int = 0,
    asks_strength: bool = False,
    content_form: str = Study.ContentForm.RENDERED.value,
    each_turn: Sequence[str] = (),
    description: str = "",
    instructions: str = "",
    clustering: str = "",
    project: Project | None = None,
) -> Study:
    """A draft that asks `criteria` (keys of templates; by default those of the kind) of each item, `overlap` times.

    With `most_overlap` it is adaptive: items whose tier is unclear are asked about again, up to so many times.
    `shown` names the parts of the context that annotators see; all of them if it is not given. `asks_strength` lets
    them say of a pair whether a response is much or slightly better. `each_turn` are the criteria that are asked of
    each turn of a dialogue (whose turns, the template says) rather than of the whole. A `rubric` takes the place of
    named criteria (see `annotation.studies.parsing.rubrics`). `content_form` says whether texts are shown rendered or
    plain. `clustering` is what dependent
    items share (see `annotation.studies.queries.dependence`). Without `project` it goes where new things of `by` go.
    """
    check_most_overlap(overlap, most_overlap)
    asked = (
        list_template_fields(kind, criteria or (), allow_tie=allow_tie, each_turn=each_turn)
        if rubric is None
        else [one.to_fields() for one in read_rubric_for(kind, rubric).criteria]
    )
    study = Study(
        name=clean_name(name),
        kind=kind,
        overlap=overlap,
        most_overlap=most_overlap,
        is_adaptive=most_overlap is not None,
        shown=check_shown_parts(kind, shown),
        seed=seed,
        asks_strength=asks_strength and kind == Study.Kind.PAIR,
        content_form=content_form,
        description=description,
        instructions=instructions,
        clustering=check_clustering(clustering),
        created_by=by,
        project=choose_project(by, project),
    )
    with transaction.atomic():
        study.slug = free_slug(study.name)
        save_new(study)
        Criterion.objects.bulk_create(
            Criterion(study=study, position=position, **fields) for position, fields in enumerate(asked, start=1)
        )
    return study


@check_options(Clustering)
@audited("study.cluster", on="study", says=("clustering",))
def name_clustering(*, by: User | None, study: Study, clustering: str) -> str:  # noqa: ARG001
    """Say what dependent items of the study share; empty for their profile, else their question.

    Returns what is independent now, in words. Raises InputError where no item has what is named.
    """
    study.clustering = check_clustering(clustering)
    found = read_dependence(study)
    Study.objects.filter(pk=study.pk).update(clustering=study.clustering)
    return found.in_words


@audited("study.open", on="study")
def open(*, by: User | None, study: Study) -> int:  # noqa: ARG001
    """Let annotators work on it: make the slots that are still missing. Returns how many were made."""
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.known_for_id:
            raise InputError("{study} only holds known answers and is not opened.", field="study", study=study)
        if not locked.items.exists():
            raise InputError("{study} has no items yet: draw a sample first.", field="study", study=study)
        check_choices(locked)
        made = sum(map(insert_assignments, iterate_batches(build_missing_assignments(locked), BATCH)))
        study.state = locked.state = Study.State.OPEN
        locked.save(update_fields=["state"])
    return made


def check_choices(study: Study) -> None:
    """InputError where a criterion asks which response is best, and an item has one that it does not name."""
    most = study.items.aggregate(most=Max("pair__n_responses"))["most"] or 0
    for criterion in study.asked:
        named = len(name_responses(criterion.values))
        if criterion.is_preference and named < most:
            raise InputError(
                "{key} asks which of {named} responses, and an item has {most}: give it the categories 1 to "
                "{most}, or draw other items.",
                field="criteria",
                key=criterion.key,
                named=named,
                most=most,
            )


@audited("study.close", on="study")
def close(*, by: User | None, study: Study) -> None:  # noqa: ARG001
    """Take no more labels. What was submitted stays; opening again goes on where it stopped."""
    with transaction.atomic():
        if not Study.objects.filter(pk=study.pk, state=Study.State.OPEN).update(state=Study.State.CLOSED):
            raise InputError("{study} is not open.", field="study", study=study)
        subject = f"study {study.pk} {timezone.now().isoformat()}"
        webhooks.tell("study.closed", project=study.project_id, subject=subject, data={"study": study.slug})
    study.state = Study.State.CLOSED


def check_numbers(overlap: int, seed: int) -> None:
    if not 1 <= overlap <= LARGEST_OVERLAP:
        raise InputError(
            "The overlap must be from 1 to {largest_overlap}.", field="overlap", largest_overlap=LARGEST_OVERLAP
        )
    if not 0 <= seed <= LARGEST:
        raise InputError("The seed must be from 0 to {largest}.", field="seed", largest=LARGEST)


def check_most_overlap(overlap: int, most: int | None) -> None:
    if most is None:
        return
    if overlap < 2:
        raise InputError("An adaptive overlap begins with at least 2 ratings of each item.", field="overlap")
    if not overlap < most <= LARGEST_OVERLAP:
        raise InputError(
            "It must be more than the overlap of {overlap}, and at most {largest}; or leave it empty.",
            field="most_overlap",
            overlap=overlap,
            largest=LARGEST_OVERLAP,
        )


def clean_name(name: str) -> str:
    return check_name(name, what=_("A study"))


def check_shown_parts(kind: str, shown: Sequence[str] | None) -> list[str]:
    """The parts in the order in which they are shown."""
    if shown is None:
        return list(PARTS[kind])
    if unknown := [part for part in shown if part not in PARTS[kind]]:
        raise InputError(
            "{unknown!r} is not one of {pieces}.", field="shown", unknown=unknown[0], pieces=", ".join(PARTS[kind])
        )
    return [part for part in PARTS[kind] if part in shown]


def choose_templates(kind: str, keys: Sequence[str], *, allow_tie: bool) -> list[CriterionTemplate]:
    fitting = {key: found for key, found in TEMPLATES.items() if found.kind == kind}
    if not keys:
        raise InputError("A study needs at least one criterion.", field="criteria")
    if len(set(keys)) < len(keys):
        raise InputError("A criterion is named twice.", field="criteria")
    if unknown := [key for key in keys if key not in fitting]:
        raise InputError(
            "{unknown!r} is not a criterion for this kind of item; there are {fitting}.",
            field="criteria",
            unknown=unknown[0],
            fitting=", ".join(fitting),
        )
    return [fitting[key].allow_tie() if allow_tie else fitting[key] for key in keys]


def list_template_fields(
    kind: str, keys: Sequence[str], *, allow_tie: bool, each_turn: Sequence[str]
) -> list[dict[str, object]]:
    """What rows of `Criterion` hold of the templates named."""
    templates = choose_templates(kind, keys, allow_tie=allow_tie)
    check_turns(kind, keys, each_turn)
    return [{**one.fields(), "unit": choose_unit(one, each_turn)} for one in templates]


def check_turns(kind: str, criteria: Sequence[str], each_turn: Sequence[str]) -> None:
    if each_turn and kind != Study.Kind.DIALOGUE:
        raise InputError("A response pair has no turns.", field="each_turn")
    if unknown := [key for key in each_turn if key not in criteria]:
        raise InputError("{unknown!r} is not among the criteria.", field="each_turn", unknown=unknown[0])


def choose_unit(template: CriterionTemplate, each_turn: Sequence[str]) -> str:
    return f"{template.turn}_turn" if template.key in each_turn else Criterion.Unit.ITEM


def free_slug(name: str) -> str:
    """The name as it can stand in an address, with a number where that is taken."""
    base = slugify(name)[:110] or "study"
    taken = {*RESERVED_SLUGS, *Study.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    return number_name(base, taken)


def save_new(study: Study) -> None:
    try:
        with transaction.atomic():
            study.save(force_insert=True)
    except IntegrityError as error:
        raise InputError("There is a study called {name!r} already.", field="name", name=study.name) from error


Slot = tuple[int, int, str, int, int, str, str]
SLOT = ("study", "item", "purpose", "slot", "rank", "state", "order")
"""What of an open slot is stored; a large study has hundreds of thousands."""


def build_missing_assignments(study: Study) -> Iterator[Slot]:
    """Open slots for the items that have fewer than the study's overlap, in the order of the queue."""
    there = set(study.assignments.filter(purpose=RATING).values_list("item_id", "slot"))
    items = study.items.order_by("position").values_list("pk", "position")
    for item, position in items.iterator(chunk_size=BATCH):
        for slot in range(1, study.overlap + 1):
            if (item, slot) not in there:
                yield study.pk, item, RATING, slot, position, OPEN, NOT_SHOWN


def insert_assignments(slots: Sequence[Slot]) -> int:
    writing.insert(Assignment, SLOT, slots)
    return len(slots)
