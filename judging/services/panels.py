"""A panel: finished runs of several judges on one study, combined into a run of its own.

A panel is a judge like any other to all that compares judges with people. Each of its judgments names the judgments
that it is made of. It is combined again, as a new run, when its members have run again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import Criterion, Study, User
from annotation.version import code_version
from judging.models import Judge, JudgeRun, Judgment
from judging.models.judge import PANEL
from judging.queries.requests import spec_of
from judging.services.judges import check_names
from judging.services.saving import as_numbers
from judging.stats import panels

BATCH = 2000
Key = tuple[int, int]


def combine(*, by: User | None, name: str, runs: Sequence[JudgeRun], method: str = panels.MAJORITY) -> JudgeRun:
    """The finished run of the panel of these runs' judges, made if there is none of just these.

    Every judgment of the members counts: repeats and orders are members of their own. Criteria that not all of the
    runs have judged are left out.
    """
    name = name.strip()
    check_names(name, "")
    study, criteria = checked(runs, method)
    judge = judge_of(by=by, name=name, runs=runs, method=method)
    digest = content_hash([method, sorted(run.pk for run in runs), sorted(criterion.pk for criterion in criteria)])
    with transaction.atomic():
        there = JudgeRun.objects.filter(judge=judge, study=study, input_hash=digest, finished_at__isnull=False).first()
        if there is not None:
            return there
        run = JudgeRun.objects.create(
            study=study, judge=judge, input_hash=digest, code_version=code_version(), created_by=by,
            finished_at=timezone.now(),
        )  # fmt: skip
        run.criteria.set(criteria)
        rows = iter(combined(run, runs, criteria, method))
        while part := list(islice(rows, BATCH)):
            Judgment.objects.bulk_create(part)
    return run


def checked(runs: Sequence[JudgeRun], method: str) -> tuple[Study, list[Criterion]]:
    """The study of the runs, and the criteria that all of them have judged."""
    if method not in panels.METHODS:
        raise InputError(f"{method!r} is not one of {', '.join(panels.METHODS)}.", field="method")
    if len({run.pk for run in runs}) < 2:
        raise InputError("A panel has at least two members.", field="runs")
    if len({run.study_id for run in runs}) > 1:
        raise InputError("The members of a panel have judged the same study.", field="runs")
    if unfinished := [run for run in runs if run.finished_at is None]:
        raise InputError(f"Run {unfinished[0].pk} is not finished.", field="runs")
    if again := [run for run in runs if run.judge.provider == PANEL]:
        raise InputError(f"{again[0].judge} is a panel itself: name its members.", field="runs")
    shared = set.intersection(*({criterion.pk for criterion in run.criteria.all()} for run in runs))
    criteria = [criterion for criterion in runs[0].study.criteria.all() if criterion.pk in shared]
    if method == panels.MEAN:
        criteria = [criterion for criterion in criteria if as_numbers(spec_of(criterion))]
    if not criteria:
        raise InputError("No criterion that all members have judged can be combined so.", field="runs")
    return runs[0].study, criteria


def judge_of(*, by: User | None, name: str, runs: Iterable[JudgeRun], method: str) -> Judge:
    """The panel of this name with these members: its latest version if they are the same, else a new one."""
    members = sorted(str(run.judge) for run in runs)
    wanted: dict[str, Any] = {"provider": PANEL, "parameters": {"method": method, "members": members}}
    latest = Judge.objects.filter(name=name).order_by("-version").first()
    if latest and latest.provider == PANEL and latest.parameters == wanted["parameters"]:
        return latest
    version = (Judge.objects.filter(name=name).aggregate(latest=Max("version"))["latest"] or 0) + 1
    return Judge.objects.create(name=name, version=version, created_by=by, **wanted)


def combined(
    run: JudgeRun, members: Sequence[JudgeRun], criteria: Sequence[Criterion], method: str
) -> Iterator[Judgment]:
    """One judgment for each item and criterion that a member was asked about."""
    by_pk = {criterion.pk: criterion for criterion in criteria}
    said: dict[Key, list[Judgment]] = defaultdict(list)
    for judgment in Judgment.objects.filter(run__in=members, criterion__in=criteria).order_by("pk").iterator(BATCH):
        said[judgment.item_id, judgment.criterion_id].append(judgment)
    for (item, criterion), judgments in said.items():
        yield verdict(run, item, by_pk[criterion], judgments, method)


def verdict(run: JudgeRun, item: int, criterion: Criterion, judgments: Sequence[Judgment], method: str) -> Judgment:
    """The members' verdicts as one. Unscored where no member gave one, or where none leads."""
    values = [judgment.value for judgment in judgments if judgment.value]
    row = Judgment(
        run=run,
        item_id=item,
        criterion=criterion,
        item_hash=oldest_text(judgments),
        cost_usd=0,
        details={"members": [judgment.pk for judgment in judgments], "n_scored": len(values)},
    )
    if not values:
        row.unscored_reason = "no_member"
    elif method == panels.MEAN:
        row.value, row.score = panels.mean(values, as_numbers(spec_of(criterion)))
    else:
        row.value, row.details["distribution"] = panels.majority(values)
        row.unscored_reason = "" if row.value else "members_disagree"
    return row


def oldest_text(judgments: Sequence[Judgment]) -> str:
    """The hash of the item that the members saw; of the stale one where the item was edited between them."""
    now = judgments[0].item.subject.content_hash if len({judgment.item_hash for judgment in judgments}) > 1 else ""
    return next((judgment.item_hash for judgment in judgments if judgment.item_hash != now), now)
