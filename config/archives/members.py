"""Which rows a study's archive holds: its own, and those that it shares with other studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from graphlib import TopologicalSorter

from django.apps import apps
from django.db.models import ForeignKey, Model, QuerySet

from annotation.corpus.models import Dialogue, Profile, ResponsePair, Scenario, Task
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.batches import iterate_batches
from judging.judges.models import Judge

AT_ONCE = 5000
"""Ids that one query names."""

APPS = ("annotation", "judging", "simulation")

SHARED: dict[type[Model], tuple[tuple[str, ...], tuple[str, ...]]] = {
    User: (("username",), ("kind",)),
    Profile: (("source", "external_id"), ("content_hash",)),
    Task: (("source", "external_id"), ("content_hash",)),
    Scenario: (("profile_id", "task_id", "variant"), ()),
    Dialogue: (("source", "external_id"), ("content_hash",)),
    ResponsePair: (("source", "external_id"), ("content_hash",)),
    Judge: (("name", "version"), ("provider", "model", "parameters")),
}
"""What other studies use as well: by which columns a row is known again, and which ones must be equal then."""

LEFT_OUT = {
    "annotation.Project": "a study comes into a project of the site that it is restored to",
    "annotation.Membership": "who may do what belongs to a site",
    "annotation.Act": "tells what was done on the site where it was done",
    "annotation.ApiToken": "opens the site where it was made",
    "annotation.IdempotentWrite": "answers of the site where they were given",
    "annotation.Invitation": "opens the study where it was made",
    "annotation.SavedMapping": "belongs to a site",
    "annotation.Webhook": "belongs to a site",
    "annotation.WebhookDelivery": "belongs to a site",
    "annotation.Attachment": "comes as a file under its hash",
    "annotation.AttachmentUse": "stands in attachments.jsonl, by hash",
    "annotation.Benchmark": "has a release of its own",
    "annotation.BenchmarkCase": "has a release of its own",
    "annotation.BenchmarkAudit": "has a release of its own",
    "annotation.User_groups": "Concord asks an account's role",
    "annotation.User_user_permissions": "Concord asks an account's role",
    "judging.Evaluation": "belongs to a benchmark",
    "judging.EvaluationResult": "belongs to a benchmark",
    "judging.FailureTag": "belongs to a benchmark",
    "judging.Escalation": "names another study",
    "judging.LabelPlan": "names another study",
    "judging.JudgeChunk": "work of a queue",
    "judging.JudgeBatch": "work of a queue",
    "judging.Worker": "belongs to a site",
    "judging.Seat": "belongs to a site",
    "judging.Pause": "belongs to a site",
    "judging.Quota": "belongs to a site",
    "judging.ModelKey": "sealed with the secret of the site where it was entered",
    "judging.Price": "belongs to a site; every judgment has its own cost",
    "judging.CachedReply": "belongs to a site",
    "simulation.Agent": "how dialogues were made; what was said is in them",
    "simulation.Making": "how material was made",
    "simulation.Conflict": "how material was made",
    "simulation.ConflictReview": "how material was made",
    "simulation.Candidate": "how pairs were made",
    "simulation.CandidateRun": "how pairs were made",
    "simulation.CandidateRun_makings": "how pairs were made",
    "simulation.Experiment": "how dialogues were made; what was said is in them",
    "simulation.Experiment_assistants": "how dialogues were made",
    "simulation.DialogueMeasures": "measured again where dialogues are read",
    "simulation.SimulatedDialogue": "how dialogues were made",
    "simulation.Turn": "how dialogues were made",
    "simulation.PreferenceType": "belongs to a source of profiles",
}
"""What an archive does not hold, and why. Tests see to it that every table is here, shared, or of a study."""

WITHOUT: dict[str, dict[str, object]] = {
    "judging.JudgeRun": {"evaluation": None},
    "judging.JudgeRun_criteria": {"judgerun__evaluation": None},
    "judging.JudgeRun_members": {"from_judgerun__evaluation": None},
    "judging.Judgment": {"run__evaluation": None},
    "judging.EarlierReply": {"judgment__run__evaluation": None},
}
"""Runs of an evaluation are a benchmark's, not a study's."""


def links(model: type[Model]) -> list[ForeignKey[object, object]]:
    return [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]


@cache
def path(model: type[Model]) -> str | None:
    """The way from a row to the study that it is of, over links that are always there; None where there is none."""
    if model is Study:
        return "pk"
    ahead: list[tuple[str, type[Model]]] = [("", model)]
    for way, here in ahead:
        for link in links(here):
            target = link.remote_field.model
            if link.null or target in SHARED:
                continue
            if target is Study:
                return f"{way}{link.name}"
            if way.count("__") < 4 and target is not here:
                ahead.append((f"{way}{link.name}__", target))
    return None


@cache
def list_own_tables() -> tuple[type[Model], ...]:
    """The tables of a study, each behind those that it refers to."""
    found = [
        model
        for name in APPS
        for model in apps.get_app_config(name).get_models(include_auto_created=True)
        if model._meta.label not in LEFT_OUT and model not in SHARED and path(model)
    ]
    return sort_models(found)


@cache
def list_shared_tables() -> tuple[type[Model], ...]:
    return sort_models(list(SHARED))


def sort_models(models: Sequence[type[Model]]) -> tuple[type[Model], ...]:
    sorter: TopologicalSorter[type[Model]] = TopologicalSorter()
    for model in models:
        targets = {link.remote_field.model for link in links(model)} & set(models)
        sorter.add(model, *(targets - {model}))
    return tuple(sorter.static_order())


def select_own_rows(model: type[Model], study: Study) -> QuerySet[Model]:
    """The study's own rows of a table."""
    return model._base_manager.filter(**{str(path(model)): study.pk}, **WITHOUT.get(model._meta.label, {}))


def collect_shared_ids(study: Study) -> dict[type[Model], set[int]]:
    """Collect the rows of shared tables that the study refers to, directly or through another shared row."""
    needed: dict[type[Model], set[int]] = defaultdict(set)
    for model in list_own_tables():
        for link in links(model):
            if link.remote_field.model in SHARED:
                ids = select_own_rows(model, study).order_by().values_list(link.attname, flat=True).distinct()
                needed[link.remote_field.model].update(pk for pk in ids.iterator() if pk is not None)
    for model in reversed(list_shared_tables()):
        for link in links(model):
            for some in iterate_batches(sorted(needed[model]), AT_ONCE):
                found = model._base_manager.filter(pk__in=some).values_list(link.attname, flat=True)
                needed[link.remote_field.model].update(pk for pk in found if pk is not None)
    return needed
