"""The page after sign-in for researchers: what runs, what waits for them, what changed, and their studies.

Everything is read in a fixed number of queries, however many studies and runs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

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
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.audit.models import Act
from core.audit.queries import EventFilter, list_events
from core.row_counts import count_cached
from judging.assessment.models.assessment import CalibrationRun
from judging.judges.queries import workers
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import queues
from judging.runs.queries import runs as run_queries
from simulation.experiments.queries import list_experiments

STUDIES = 30
"""The newest studies are looked at."""

LINES = 6
"""Studies that are shown with their line."""

EVENTS, SHOWN_EVENTS = 300, 8
DAY = timedelta(days=1)

PAST = {
    "set": "set", "begin": "began", "build": "built", "draw": "drew", "drop": "dropped", "keep": "kept", "make": "made",
    "plan": "planned", "run": "ran", "stop": "stopped", "write": "wrote", "admit": "admitted", "choose": "chose",
    "leave": "left", "permit": "permitted", "readmit": "readmitted", "reset": "reset", "tag": "tagged", "try": "tried",
    "withdraw": "withdrew",
}  # fmt: skip
"""What was done, of verbs in the audit log that do not end in -ed."""
KINDS = {"material": "datasets", "making": "datasets to generate", "intake": "recruitment", "key": "key of a model"}
"""How kinds in the audit log are called where their own word says little."""
PHRASES = {
    "account.create_first": "Created first account", "account.sign_in_refused": "Sign-in refused",
    "admin.add": "Added in administration", "admin.change": "Changed in administration",
    "admin.delete": "Deleted in administration", "annotator.try_again": "Let annotator try again",
    "candidates.from_seeds": "Made candidates from seeds", "evaluation.ask": "Asked models in evaluation",
    "export.acts": "Exported audit log", "export.annotators": "Exported annotators",
    "export.archive": "Exported archive of study", "export.backup": "Made backup", "export.labels": "Exported labels",
    "export.participants": "Exported participants", "judge.new_version": "Made new version of judge",
    "log.key": "Changed key of audit log", "retention.delete": "Deleted what was past its time",
    "return_code.tell": "Showed return code", "study.ask_more": "Asked for more ratings",
    "study.grade": "Made study of grades", "study.hold_out": "Held items out",
    "study.look_at_held_out": "Looked at held-out items", "study.of_experiment": "Made study of experiment",
}  # fmt: skip
"""What the audit log's verb and kind do not say by themselves."""


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
    study: Any


def build_dashboard(user: User) -> dict[str, Any]:
    """All that the page shows."""
    visible = study_queries.newest_first(filter_visible(user, study_queries.everyday()))
    studies = list(visible[:STUDIES])
    rows = study_queries.load_rows(studies)
    runs = filter_visible(user, JudgeRun.objects.all())
    running = [*list_open_studies(rows), *list_runs(runs), *list_running_experiments(user)]
    since = timezone.now() - DAY
    recent = Judgment.objects.filter(run__in=runs, created_at__gte=since)
    return {
        "running": running,
        "needs_worker": any(one.unit == "judgments" for one in running) and not workers.alive().exists(),
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
        Running(row.study.name, reverse("progress", args=[row.study.slug]), row.submitted, row.planned, "ratings")
        for row in rows
        if row.study.state == Study.State.OPEN and row.submitted < row.planned
    ]


def list_runs(runs: Any) -> list[Running]:
    """Judge runs under way."""
    going = runs.filter(finished_at=None, stopped_at=None).select_related("judge", "study").order_by("-created_at")
    found = run_queries.add_counts(going)
    return [Running(str(run), reverse("run_detail", args=[run.pk]), n, all_of, "judgments") for run, n, all_of in found]


def list_running_experiments(user: User) -> list[Running]:
    """Experiments under way, with the dialogues that are complete."""
    going = filter_visible(user, list_experiments().filter(finished_at=None, stopped_at=None))
    return [
        Running(one.name, reverse("experiment_detail", args=[one.pk]), one.n_ended, one.n_dialogues, "dialogues")
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
        told = (
            (own["n"] - own["flags"], "question{s} of annotators", "study_messages", "Answer"),
            (own["flags"], "flagged item{s}", "study_messages", "Look"),
            (late.get(study.pk, 0), "late answer{s}", "adjudication", "Decide"),
            (undecided[study.pk], "disputed answer{s}", "adjudication", "Decide"),
            (unassessed.get(study.pk, 0), "finished run{s} not compared with people", "calibration", "Assess"),
        )
        found += [
            Waiting(count_in_words(n, noun), study.name, reverse(page, args=[study.slug]), action)
            for n, noun, page, action in told
            if n
        ]
    return found


def count_in_words(n: int, noun: str) -> str:
    return f"{n:,} {noun.format(s='' if n == 1 else 's')}"


def count_unassessed(studies: Sequence[int]) -> dict[int, int]:
    """By study with labels, judges that have finished and were never held to people."""
    rated = Assignment.objects.filter(
        study=OuterRef("study"), state=Assignment.State.SUBMITTED, purpose=Assignment.Purpose.RATING
    )
    assessed = CalibrationRun.objects.filter(study=OuterRef("study"), judge=OuterRef("judge"))
    done = JudgeRun.objects.ordinary().filter(Exists(rated), ~Exists(assessed), study__in=studies, unit="item")
    finished = done.filter(finished_at__isnull=False).order_by()
    return dict(finished.values_list("study").annotate(n=Count("judge", distinct=True)))


def list_of_runs(runs: Any) -> list[Waiting]:
    """Runs that stopped themselves or could not do a part, and runs with replies that hold no verdict."""
    found = []
    for run in queues.list_needing_attention(runs):
        n_ended_early = vars(run)["ended_early"]
        if run.stop_reason or n_ended_early:
            text = "Run stopped" if run.stop_reason else count_in_words(n_ended_early, "part{s} ended early")
            found.append(Waiting(text, str(run), reverse("run_detail", args=[run.pk]), "See why"))
    unscored = Judgment.objects.filter(value="", run__in=runs.filter(finished_at__isnull=False), tries_left=0)
    counts = dict(unscored.exclude(unscored_reason="own_example").order_by().values_list("run").annotate(n=Count("pk")))
    for run in runs.filter(pk__in=counts).select_related("judge", "study").order_by("-pk"):
        text = count_in_words(counts[run.pk], "item{s} unscored")
        found.append(Waiting(text, str(run), reverse("run_detail", args=[run.pk]), "Ask again"))
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
    return str(act.who) if act.who else act.operator or "somebody"


def describe_verb(verb: str) -> str:
    """For example `Opened study` of `study.open`, and `Added annotators` of `study.add_annotators`."""
    kind, _, action = verb.partition(".")
    first, _, rest = action.partition("_")
    done = PAST.get(first) or first + ("d" if first.endswith("e") else "ed")
    return PHRASES.get(verb) or f"{done} {rest or KINDS.get(kind, kind)}".capitalize().replace("_", " ")


def count_ratings(studies: Sequence[Study], since: datetime) -> int:
    handed_in = Assignment.objects.filter(study__in=studies, submitted_at__gte=since)
    return handed_in.filter(purpose=Assignment.Purpose.RATING).count()
