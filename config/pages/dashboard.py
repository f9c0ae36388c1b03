"""The page after sign-in for researchers: what runs, what waits for them, what changed, and their studies.

Everything is read in a fixed number of queries, however many studies and runs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.messages import ItemMessage
from annotation.studies.models.studies import Study
from annotation.studies.queries import studies as study_queries
from annotation.studies.queries.disputes import count_undecided
from annotation.studies.queries.messages import list_waiting
from annotation.studies.queries.sampling_frame import list_records
from annotation.studies.steps import load_lines
from config.audit_events import SIGN_IN, SIGN_OUT
from config.pages.phrases import describe_verb
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.audit.models import Act
from core.audit.queries import EventFilter, list_events
from core.row_counts import count_cached
from judging.assessment.models.assessment import CalibrationRun
from judging.judges.queries import workers
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import queues, runs as run_queries
from simulation.experiments.queries import list_experiments

STUDIES = 30
"""The newest studies are looked at."""

LINES = 6
"""Studies that are shown with their line."""

EVENTS, SHOWN_EVENTS = 300, 8
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Running:
    """What is under way, with how far it is."""

    name: str
    href: str
    done: int
    total: int
    unit: str


@dataclass(frozen=True)
class Waiting:
    """Something that waits for the researcher, and where it is done."""

    text: str
    where: str
    href: str
    action: str


@dataclass(frozen=True)
class Change:
    """Events of one kind by one account, at the newest of their times."""

    at: datetime
    who: str
    what: str
    name: str
    n: int
    study: Study | None


def build_dashboard(user: User) -> dict[str, object]:
    """All that the page shows."""
    visible = study_queries.newest_first(filter_visible(user, study_queries.everyday()))
    studies = list(visible[:STUDIES])
    rows = study_queries.load_rows(studies)
    runs = filter_visible(user, JudgeRun.objects.all())
    judged = list_runs(runs)
    since = timezone.now() - DAY
    recent = Judgment.objects.filter(run__in=runs, created_at__gte=since)
    return {
        "running": [*list_open_studies(rows), *judged, *list_running_experiments(user)],
        "needs_worker": bool(judged) and not workers.alive().exists(),
        "waiting": [*list_of_studies(studies), *list_of_runs(runs)],
        "changes": list_changes(user, since)[:SHOWN_EVENTS],
        "ratings": count_ratings(studies, since),
        "judgments": count_cached(("judgments", user.pk), recent.count, int),
        "lines": load_lines(rows[:LINES]),
        "has_more": len(studies) > LINES,
        "has_records": bool(studies) or any(list_records(kind).exists() for kind in Study.Kind.values),
    }


def list_open_studies(rows: Iterable[study_queries.StudyRow]) -> list[Running]:
    """Studies that people rate in."""
    return [
        Running(row.study.name, reverse("progress", args=[row.study.slug]), row.submitted, row.planned, _("ratings"))
        for row in rows
        if row.study.state == Study.State.OPEN and row.submitted < row.planned
    ]


def list_runs(runs: QuerySet[JudgeRun]) -> list[Running]:
    """Judge runs under way."""
    going = runs.filter(finished_at=None, stopped_at=None).select_related("judge", "study").order_by("-created_at")
    found = run_queries.add_counts(going)
    return [
        Running(str(run), reverse("run_detail", args=[run.pk]), n, all_of, _("judgments")) for run, n, all_of in found
    ]


def list_running_experiments(user: User) -> list[Running]:
    """Experiments under way, with the dialogues that are complete."""
    going = filter_visible(user, list_experiments().filter(finished_at=None, stopped_at=None))
    return [
        Running(one.name, reverse("experiment_detail", args=[one.pk]), one.n_ended, one.n_dialogues, _("dialogues"))
        for one in going
    ]


def list_of_studies(studies: Sequence[Study]) -> list[Waiting]:
    """Questions, late answers, disputes and judges without an assessment, study by study."""
    ids = [study.pk for study in studies]
    threads = list_waiting(*ids).order_by().values("study")
    is_flag = Q(kind=ItemMessage.Kind.FLAG)
    asked = {one["study"]: one for one in threads.annotate(n=Count("pk"), flags=Count("pk", filter=is_flag))}
    late = dict(
        Draft.objects.filter(assignment__study__in=ids, state=Draft.State.LATE)
        .order_by()
        .values_list("assignment__study")
        .annotate(n=Count("pk"))
    )
    undecided, unassessed = count_undecided(ids), count_unassessed(ids)
    found = []
    for study in studies:
        own = asked.get(study.pk, {"n": 0, "flags": 0})
        counts = own["n"] - own["flags"], own["flags"], late.get(study.pk, 0), undecided[study.pk]
        told = describe_waiting(*counts, unassessed.get(study.pk, 0))
        found += [
            Waiting(words.format(n=n), study.name, reverse(page, args=[study.slug]), action)
            for n, words, page, action in told
            if n
        ]
    return found


def describe_waiting(
    asked: int, flagged: int, late: int, disputed: int, unassessed: int
) -> Iterator[tuple[int, str, str, str]]:
    """What waits in a study: how many, in words, the page where it is done, and what is done there."""
    words = ngettext("{n:,} question of annotators", "{n:,} questions of annotators", asked)
    yield asked, words, "study_messages", _("Answer")
    yield flagged, ngettext("{n:,} flagged item", "{n:,} flagged items", flagged), "study_messages", _("Look")
    yield late, ngettext("{n:,} late answer", "{n:,} late answers", late), "adjudication", _("Decide")
    yield disputed, ngettext("{n:,} disputed answer", "{n:,} disputed answers", disputed), "adjudication", _("Decide")
    words = ngettext(
        "{n:,} finished run not compared with people", "{n:,} finished runs not compared with people", unassessed
    )
    yield unassessed, words, "calibration", _("Assess")


def count_unassessed(studies: Sequence[int]) -> dict[int, int]:
    """By study with labels, judges that have finished and were never held to people."""
    rated = Assignment.objects.filter(
        study=OuterRef("study"), state=Assignment.State.SUBMITTED, purpose=Assignment.Purpose.RATING
    )
    assessed = CalibrationRun.objects.filter(study=OuterRef("study"), judge=OuterRef("judge"))
    done = JudgeRun.objects.ordinary().filter(Exists(rated), ~Exists(assessed), study__in=studies, unit="item")
    finished = done.filter(finished_at__isnull=False).order_by()
    return dict(finished.values_list("study").annotate(n=Count("judge", distinct=True)))


def list_of_runs(runs: QuerySet[JudgeRun]) -> list[Waiting]:
    """Runs that stopped themselves or could not do a part, and runs with replies that hold no verdict."""
    found = []
    for run in queues.list_needing_attention(runs):
        n = vars(run)["ended_early"]
        if run.stop_reason or n:
            early = ngettext("{n:,} part ended early", "{n:,} parts ended early", n).format(n=n)
            text = _("Run stopped") if run.stop_reason else early
            found.append(Waiting(text, str(run), reverse("run_detail", args=[run.pk]), _("See why")))
    unscored = Judgment.objects.filter(value="", run__in=runs.filter(finished_at__isnull=False), tries_left=0)
    counts = dict(unscored.exclude(unscored_reason="own_example").order_by().values_list("run").annotate(n=Count("pk")))
    for run in runs.filter(pk__in=counts).select_related("judge", "study").order_by("-pk"):
        n = counts[run.pk]
        text = ngettext("{n:,} item unscored", "{n:,} items unscored", n).format(n=n)
        found.append(Waiting(text, str(run), reverse("run_detail", args=[run.pk]), _("Ask again")))
    return found


def list_changes(user: User, since: datetime) -> list[Change]:
    """What is on record since then: events of one kind, account and object together, the newest first.

    Who signed in and out stands in the audit log alone.
    """
    rows = list_events(EventFilter(), seen_by=user).filter(at__gte=since).exclude(verb__in=(SIGN_IN, SIGN_OUT))[:EVENTS]
    studies = Study.objects.in_bulk({act.study_id for act in rows if act.study_id})
    together: dict[tuple[str, str, str, int | None], Change] = {}
    for act in rows:
        key = (describe_actor(act), act.verb, act.name, act.study_id)
        before, study = together.get(key), studies.get(act.study_id or 0)
        n, name = before.n + 1 if before else 1, "" if study and act.kind == "study" else act.name
        together[key] = Change(before.at if before else act.at, key[0], describe_verb(act.verb), name, n, study)
    return list(together.values())


def describe_actor(act: Act) -> str:
    return str(act.who) if act.who else act.operator or _("somebody")


def count_ratings(studies: Sequence[Study], since: datetime) -> int:
    handed_in = Assignment.objects.filter(study__in=studies, submitted_at__gte=since)
    return handed_in.filter(purpose=Assignment.Purpose.RATING).count()
