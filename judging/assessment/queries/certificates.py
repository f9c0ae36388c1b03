"""What a certificate says of the database, and whether that is still so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import connection
from django.db.models import Max, Min
from django.db.models.functions import Coalesce

from annotation.studies.models.studies import Study
from core.hashing import content_hash
from judging.assessment.models.assessment import Certificate
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from judging.runs.queries.judgments import rebuild_prompt


def item_set(study: Study) -> tuple[int, str]:
    """Number and hash of the study's items with their content as it is today. One query."""
    rows = study.items.values_list(
        Coalesce("dialogue__source", "pair__source"),
        Coalesce("dialogue__external_id", "pair__external_id"),
        Coalesce("dialogue__content_hash", "pair__content_hash"),
    )
    found = sorted(rows)
    return len(found), content_hash(found)


def load_judging_period(run_ids: Iterable[int]) -> tuple[datetime | None, datetime | None]:
    """When the first and the last of the runs' judgments were made."""
    times = Judgment.objects.filter(run_id__in=list(run_ids)).aggregate(first=Min("created_at"), last=Max("created_at"))
    return times["first"], times["last"]


def prompts_today(run_ids: Iterable[int]) -> set[str]:
    """The versions of the prompts that the runs' criteria would be asked with today.

    Read off one judgment of each run and criterion; empty for a judge that is asked in no words, or made elsewhere.
    """
    first = (
        Judgment.objects.filter(run_id__in=list(run_ids), details__has_key="prompt")
        .order_by()
        .values("run_id", "criterion_id")
        .annotate(example=Min("pk"))
        .values("example")
    )
    examples = Judgment.objects.filter(pk__in=first).select_related(
        "run__judge", "run__study", "criterion", "item__dialogue", "item__pair", "item__study"
    )
    prompts = (rebuild_prompt(example) for example in examples)
    return {prompt.version for prompt in prompts if prompt}


def newest_version(judge: Judge) -> int:
    """The highest version under the judge's name."""
    return Judge.objects.filter(name=judge.name).aggregate(newest=Max("version"))["newest"] or judge.version


def has_tables() -> bool:
    """Whether there is a site's database: somebody may check a file by a key on a machine that runs no site."""
    return Certificate._meta.db_table in connection.introspection.table_names()


def find_issued(sha256: str) -> Certificate | None:
    """The certificate of this hash, with its study, judge and revocation."""
    rows = Certificate.objects.select_related("study", "judge", "revocation")
    return rows.filter(sha256=sha256).first()


def find_newest(study: Study, judge: Judge) -> Certificate | None:
    """The newest certificate of the judge on the study."""
    rows = Certificate.objects.filter(study=study, judge=judge).select_related("revocation")
    return rows.order_by("-created_at", "-pk").first()


def newest_by_judge(study: Study) -> dict[int, Certificate]:
    """The same for every judge of the study that has one that is not revoked. One query."""
    oldest_first = Certificate.objects.filter(study=study, revocation=None).order_by("created_at", "pk")
    return {certificate.judge_id: certificate for certificate in oldest_first}
