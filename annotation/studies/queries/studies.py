"""What the researcher's pages say of studies. Progress is counted here, never stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Model, Q, QuerySet

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from core import row_counts
from core.accounts.models.users import User
from core.errors import InputError

SUBMITTED = Q(state=Assignment.State.SUBMITTED)
RATING = Assignment.Purpose.RATING
STATES = (Assignment.State.SUBMITTED, Assignment.State.LEASED, Assignment.State.SKIPPED)
"""Of the slots that an annotator holds or has handed in."""


@dataclass(frozen=True)
class StudyRow:
    """A study with how far its people have come."""

    study: Study
    items: int
    people: int
    planned: int
    submitted: int

    @property
    def share(self) -> float:
        return self.submitted / self.planned if self.planned else 0.0


@dataclass(frozen=True)
class AnnotatorRow:
    """An annotator of a study with what they have done in it."""

    annotator: User
    submitted: int
    in_work: int
    skipped: int

    @property
    def held(self) -> int:
        """Slots that could be given to others."""
        return self.in_work + self.skipped


def study_rows(studies: QuerySet[Study] | None = None) -> list[StudyRow]:
    """The studies, newest first, in four queries."""
    return load_rows(list(newest_first(everyday() if studies is None else studies)))


def newest_first(studies: QuerySet[Study]) -> QuerySet[Study]:
    return studies.select_related("project").order_by("-created_at", "-pk")


def load_rows(found: Sequence[Study]) -> list[StudyRow]:
    """These studies, in this order, in three queries."""
    ids = [study.pk for study in found]
    items = dict(Item.objects.filter(study__in=ids).order_by().values_list("study").annotate(n=Count("pk")))
    people = dict(Study.objects.filter(pk__in=ids).values_list("pk").annotate(n=Count("annotators")))
    slots = count_assignments_by_study(ids)
    return [
        row(study, items.get(study.pk, 0), people.get(study.pk, 0), *slots.get(study.pk, (0, 0))) for study in found
    ]


def count_assignments_by_study(studies: list[int]) -> dict[int, tuple[int, int]]:
    """By study, the slots of its ratings and how many of them were handed in; those of large ones a minute old."""
    if len(studies) == 1:
        found = count_assignments(studies[0])
        submitted = sum(n for (_, state), n in found.items() if state == Assignment.State.SUBMITTED)
        return {studies[0]: (sum(found.values()), submitted)}

    def count() -> dict[int, tuple[int, int]]:
        rows = Assignment.objects.filter(study__in=studies, purpose=RATING).order_by().values_list("study")
        counts = rows.annotate(planned=Count("pk"), submitted=Count("pk", filter=SUBMITTED))
        return {study: (planned, submitted) for study, planned, submitted in counts}

    return row_counts.count_cached(
        ("slots", *studies), count, lambda found: sum(planned for planned, _ in found.values())
    )


def count_assignments(study: int) -> dict[tuple[int | None, str], int]:
    """Slots of the ratings of a study by annotator and state. One query; those of a large study are a minute old."""

    def count() -> dict[tuple[int | None, str], int]:
        rows = Assignment.objects.filter(study=study, purpose=RATING).order_by()
        counts = rows.values_list("annotator", "state").annotate(n=Count("pk"))
        return {(annotator, state): n for annotator, state, n in counts}

    return row_counts.count_cached(("held", study), count, lambda found: sum(found.values()))


def compute_count_age(study: Study) -> int:
    """How many seconds ago the slots of a large study were counted; 0 where they are counted for every page."""
    return row_counts.age(("held", study.pk))


def everyday() -> QuerySet[Study]:
    """All studies that people rate in: none that holds another's known answers, or the cases of an evaluation."""
    return Study.objects.filter(known_for=None, evaluation=None)


def row(study: Study, items: int, people: int, slots: int, submitted: int) -> StudyRow:
    return StudyRow(study, items, people, slots or items * study.overlap, submitted)


def study_row(study: Study) -> StudyRow:
    return study_rows(Study.objects.filter(pk=study.pk))[0]


def annotator_rows(study: Study) -> list[AnnotatorRow]:
    """The study's annotators, and those who rated in it without being one of them any more."""
    found = count_assignments(study.pk)
    counted = {annotator for annotator, _ in found if annotator is not None}
    people = User.objects.filter(Q(studies=study) | Q(pk__in=counted)).distinct().order_by("kind", "username")
    return [AnnotatorRow(person, *(found.get((person.pk, state), 0) for state in STATES)) for person in people]


def coverage(study: Study) -> list[tuple[int, int]]:
    """(number of labels, number of items that have so many), from none to the overlap."""
    counts = row_counts.count_cached(("coverage", study.pk), lambda: _coverage(study), Counter.total).copy()
    counts[0] = study.items.count() - counts.total()
    return [(labels, counts[labels]) for labels in range(max(study.overlap, *counts) + 1)]


def _coverage(study: Study) -> Counter[int]:
    """Items by the number of their labels, without those that have none. One query, counted by the database."""
    sql, params = list_rated_items(study).values_list("n").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT n, count(*) FROM ({sql}) AS rated GROUP BY n", params)  # noqa: S608 # nosec B608 # Django's own statement inside; what comes from outside are parameters
        return Counter(dict(cursor.fetchall()))


def list_rated_items(study: Study, left_out: Sequence[int] = ()) -> QuerySet[Model, object]:
    """Items that have labels, with their number `n`, without those of some annotators. An index holds all of it."""
    submitted = Assignment.objects.filter(SUBMITTED, study=study, purpose=RATING).exclude(annotator__in=left_out)
    return submitted.order_by().values("item").annotate(n=Count("item"))


def assignable(study: Study) -> QuerySet[User]:
    """People who could be added to the study's annotators."""
    people = User.objects.filter(is_active=True, kind=User.Kind.PERSON)
    return people.exclude(studies=study).order_by("username")


def list_recruiting(studies: Sequence[int]) -> set[int]:
    """Studies that somebody who is not among their annotators could join: by an invitation or the public address."""
    invited = Q(invitations__isnull=False, invitations__revoked_at=None)
    return set(Study.objects.filter(invited | Q(intake__is_public=True), pk__in=studies).values_list("pk", flat=True))


def study_called(name: str) -> Study:
    """The study of this name or address; InputError if there is none."""
    found = Study.objects.filter(Q(name=name) | Q(slug=name)).order_by("pk").first()
    if found is None:
        raise InputError("There is no study called {name!r}.", field="study", name=name)
    return found


def criterion_called(study: Study, key: str) -> Criterion:
    """The study's criterion of this key, or its first one for an empty key. Raises InputError where there is none."""
    criteria = {one.key: one for one in study.criteria.all()}
    if not key and criteria:
        return next(iter(criteria.values()))
    if key not in criteria:
        raise InputError(
            "no criterion is called {key!r}; there are: {criteria}",
            field="criterion",
            key=key,
            criteria=", ".join(criteria) or "none",
        )
    return criteria[key]


def load_strata(sample: Sample) -> list[tuple[str, int, float]]:
    """(stratum, number drawn, probability that each had) of a sample."""
    found = sample.items.order_by("stratum").values_list("stratum", "inclusion_probability").annotate(n=Count("pk"))
    return [(stratum, drawn, probability) for stratum, probability, drawn in found]


def people_called(usernames: list[str], field: str = "annotators") -> list[User]:
    """The accounts of these names, in that order; InputError at the field, naming those that do not exist."""
    found = User.objects.in_bulk(usernames, field_name="username")
    if missing := [name for name in usernames if name not in found]:
        raise InputError("There is nobody called {missing}.", field=field, missing=", ".join(missing))
    return [found[name] for name in dict.fromkeys(usernames)]


def is_large(study: Study) -> bool:
    """Whether more was handed in than a page reads. One query, which looks at no more rows than that."""
    return has_more_handed_in(study, row_counts.LARGE)


def has_more_handed_in(study: Study, n: int) -> bool:
    """Whether more than `n` assignments were handed in. One query, which looks at no more rows than that."""
    handed_in = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED).order_by()
    return handed_in[n : n + 1].exists()
