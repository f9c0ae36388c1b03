"""What must hold of the whole database, whatever was killed when. Constraints keep most; this looks at the rest too.

Each invariant is one query that finds the rows that break it. None of them changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from django.apps import apps
from django.db import IntegrityError, connection
from django.db.models import Count, DecimalField, Exists, F, IntegerField, Max, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.recruitment.services import withdrawn
from annotation.recruitment.services.withdrawn import WithdrawalEntry
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item, Study
from config.erasure import again
from core.audit import queries, queries as audit_queries, triggers
from core.audit.heads import read_heads
from core.row_counts import count_rows
from judging.assessment import row_triggers
from judging.assessment.models.rules import VerdictRules
from judging.assessment.services import rules
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.queries import runs
from simulation.agents.parsing.endings import REGULAR
from simulation.experiments.models import Experiment, SimulatedDialogue, Turn

EXAMPLES = 5
EMPTIABLE = (
    "The site's database role may empty {} (TRUNCATE), which no trigger refuses: see the role in docs/deploy.md."
)
SUBMITTED = Assignment.State.SUBMITTED
RATINGS = Q(purpose=Assignment.Purpose.RATING)
MOST = Coalesce("study__most_overlap", "study__overlap")
"""How many annotators rate an item at most."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What breaks an invariant: how many rows, and some of them."""

    invariant: str
    n: int
    examples: tuple[str, ...]


def findings(heads: Iterable[Path] = ()) -> list[Finding]:
    """All that is broken; nothing where all is as it should be. `heads`: more files with heads of the audit log."""
    if (unreadable := check_amounts()).n:
        return [unreadable]  # nothing can load these rows, and other checks do
    found = [build_finding(text, broken()) for text, broken in INVARIANTS.items()]
    found += [
        references(),
        check_finished_runs(),
        check_audit_chain(),
        check_audit_triggers(),
        check_audit_heads(heads),
    ]
    found += [not_in_list(), find_returned_withdrawals(), rules_of_verdicts(), triggers_of_rows()]
    return [one for one in found if one.n]


def notes(heads: Iterable[Path] = ()) -> list[str]:
    """What is no fault and has to be known: an older backup was restored, or the site's role may empty a table."""
    restored = queries.compare(read_heads(heads)).restored
    emptiable = row_triggers.find_emptiable(connection)
    may_empty = [EMPTIABLE.format(", ".join(emptiable))] if emptiable else []
    return [*(queries.describe_restored(restore, some) for restore, some in restored.items()), *may_empty]


def build_finding(text: str, broken: QuerySet[Model]) -> Finding:
    n = broken.count()
    return Finding(text, n, tuple(name_row(row) for row in broken[:EXAMPLES]) if n else ())


def name_row(row: Model) -> str:
    return f"{row._meta.verbose_name} {row.pk}"


def list_rated_too_often() -> QuerySet[Item]:
    ratings = Assignment.objects.filter(RATINGS, item=OuterRef("pk"), state=SUBMITTED)
    return Item.objects.annotate(n=count_rows(ratings, "item")).filter(n__gt=MOST).order_by("pk")


def find_items_without_assignments() -> QuerySet[Item]:
    """Of studies that were opened here; imported ones have the slots of the labels that came along."""
    opened = Q(study__state=Study.State.OPEN) & ~Q(study__assignments__annotator__kind="imported")
    slots = Assignment.objects.filter(RATINGS, item=OuterRef("pk"))
    counts = Item.objects.filter(opened).annotate(n=count_rows(slots, "item"))
    return counts.exclude(n__gte=F("study__overlap"), n__lte=MOST).order_by("pk")


def list_rated_twice_by_one() -> QuerySet[Item]:
    twice = (
        Assignment.objects.filter(RATINGS, item=OuterRef("pk"), state=SUBMITTED)
        .order_by()
        .values("annotator")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
    )
    return Item.objects.filter(Exists(twice)).order_by("pk")


def list_submitted_without_answer() -> QuerySet[Assignment]:
    """By people who rated here. Imported ones may have answered some criteria only."""
    unanswered = Criterion.objects.filter(study=OuterRef("study")).exclude(
        Exists(Annotation.objects.filter(assignment=OuterRef(OuterRef("pk")), criterion=OuterRef("pk")))
    )
    whole = unanswered.filter(unit=Criterion.Unit.ITEM)
    people = Assignment.objects.filter(state=SUBMITTED, annotator__kind="person")
    return people.filter(Exists(whole)).order_by("pk")


def list_answered_not_submitted() -> QuerySet[Assignment]:
    answers = Annotation.objects.filter(assignment=OuterRef("pk"))
    return Assignment.objects.filter(Exists(answers)).exclude(state=SUBMITTED).order_by("pk")


def list_batches_left_of_finished_runs() -> QuerySet[JudgeChunk]:
    return JudgeChunk.objects.filter(finished_at=None, run__finished_at__isnull=False).order_by("pk")


def list_dialogues_without_sources() -> QuerySet[SimulatedDialogue]:
    return SimulatedDialogue.objects.filter(ending__in=REGULAR, dialogue=None).order_by("pk")


def turns_with_gaps() -> QuerySet[SimulatedDialogue]:
    turns = Turn.objects.filter(simulated=OuterRef("pk"))
    last = turns.order_by().values("simulated").annotate(last=Max("number")).values("last")
    highest = Coalesce(Subquery(last, output_field=IntegerField()), 0)
    return (
        SimulatedDialogue.objects.annotate(n=count_rows(turns, "simulated"), highest=highest)
        .exclude(n=F("highest"))
        .order_by("pk")
    )


def dialogues_left_of_finished_experiments() -> QuerySet[Experiment]:
    left = SimulatedDialogue.objects.filter(experiment=OuterRef("pk"), ending="")
    return Experiment.objects.filter(Exists(left), finished_at__isnull=False).order_by("pk")


INVARIANTS: dict[str, Callable[[], QuerySet[Model]]] = {
    "An item has no more ratings than its study's overlap.": list_rated_too_often,
    "An item of an open study has as many slots as its overlap.": find_items_without_assignments,
    "Nobody rated an item twice.": list_rated_twice_by_one,
    "What a person handed in answers every criterion.": list_submitted_without_answer,
    "Answers belong to what was handed in.": list_answered_not_submitted,
    "A finished run has no part left.": list_batches_left_of_finished_runs,
    "A dialogue that ended as it should became material.": list_dialogues_without_sources,
    "The turns of a dialogue are numbered without gaps.": turns_with_gaps,
    "A finished experiment has no dialogue left.": dialogues_left_of_finished_experiments,
}


def check_amounts() -> Finding:
    """SQLite keeps an infinite amount, and every page that reads the row fails."""
    fields = [
        (model, field)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, DecimalField)
    ]
    rows = [
        f"{model._meta.verbose_name} {pk}, {field.name} in the table {model._meta.db_table}"
        for model, field in fields
        for pk in model._base_manager.filter(**{f"{field.name}__gt": find_largest(field)}).values_list("pk", flat=True)
    ]
    return Finding("Every amount is a finite number.", len(rows), tuple(rows[:EXAMPLES]))


def find_largest(field: DecimalField[object, object]) -> Decimal:
    """The largest number that a column may hold."""
    return Decimal("9" * field.max_digits).scaleb(-field.decimal_places)


def references() -> Finding:
    """Every row that is referred to exists."""
    text = "Every row that is referred to exists."
    try:
        connection.check_constraints()
    except IntegrityError as error:
        return Finding(text, 1, (str(error),))
    return Finding(text, 0, ())


def check_audit_chain() -> Finding:
    """The audit log is as it was written."""
    text, first = "Every event of the audit log follows the one before it, unchanged.", audit_queries.find_break()
    return Finding(text, 1, (first[1],)) if first else Finding(text, 0, ())


def not_in_list() -> Finding:
    """What a restored backup would be held to is in its file."""
    missing = sorted(withdrawn.find_unlisted())
    return Finding("Every withdrawal and erasure is in the list of the withdrawn.", len(missing), name_entries(missing))


def find_returned_withdrawals() -> Finding:
    """Nobody who withdrew is back."""
    left = again.not_applied()
    return Finding("Whoever is in the list of the withdrawn has withdrawn or is erased.", len(left), name_entries(left))


def name_entries(entries: list[WithdrawalEntry]) -> tuple[str, ...]:
    return tuple(f"{one.what} person {one.person} {one.at}" for one in entries[:EXAMPLES])


def rules_of_verdicts() -> Finding:
    """What was decided about the rules of a study's verdicts is as it was decided."""
    rows = VerdictRules.objects.select_related("study").order_by("study_id", "number")
    studies = groupby(rows.iterator(chunk_size=1000), lambda row: row.study)
    wrong = [study for study, of_study in studies if not rules.is_chained(list(of_study))]
    text = "Rules of verdicts, their reasons and their order are those that were decided."
    return Finding(text, len(wrong), tuple(map(name_row, wrong[:EXAMPLES])))


def check_audit_triggers() -> Finding:
    """The database refuses to change the log."""
    missing = triggers.find_missing(connection)
    return Finding("The triggers that protect the audit log are there and work.", len(missing), tuple(missing))


def triggers_of_rows() -> Finding:
    """The database refuses to change rules of verdicts and revocations of certificates."""
    missing = row_triggers.find_missing(connection)
    text = "The triggers that keep rules and revocations as they were written are there and work."
    return Finding(text, len(missing), tuple(missing))


def check_audit_heads(heads: Iterable[Path]) -> Finding:
    """The log is the one that was written down elsewhere."""
    lost = queries.compare(read_heads(heads)).lost
    text = "Every event that was recorded outside the database is in the audit log."
    return Finding(text, len(lost), tuple(queries.describe_lost(lost)))


def check_finished_runs() -> Finding:
    """A run that finished with all of its parts whole has every judgment once; a constraint keeps it from more."""
    parts = JudgeChunk.objects.filter(run=OuterRef("pk"))
    whole = JudgeRun.objects.filter(Exists(parts), ~Exists(parts.exclude(error="")), finished_at__isnull=False)
    each = runs.add_counts(whole.select_related("study", "judge").order_by("pk"))
    broken = [run for run, judged, asked in each if judged < asked]
    examples = tuple(f"run {run.pk}" for run in broken[:EXAMPLES])
    return Finding("A finished run has every judgment that was asked for.", len(broken), examples)
