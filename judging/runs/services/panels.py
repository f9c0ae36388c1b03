"""A panel: finished runs of several judges on one study, or the repeats of one, combined into a run of its own.

A panel is a judge like any other to all that compares judges with people. Each of its judgments names the judgments
that it is made of. It is combined again, as a new run, when its members have run again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.scales import has_open_scale
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.options.model import check_options
from core.version import code_version
from judging.judges.models import PANEL, Judge
from judging.judges.queries.contents import build_spec, to_numbers
from judging.judges.services.judges import check_names, find_latest
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.options import NewPanel
from judging.stats import panels
from judging.stats.means import compute_means
from judging.stats.panels import PanelVerdict

BATCH = 2000
Key = tuple[int, int]
"""An item, and a turn or response of it or 0."""


@check_options(NewPanel, but=("runs",))
@audited("panel.combine", says=("runs", "method"))
def combine(*, by: User | None, name: str, runs: Sequence[JudgeRun], method: str = panels.MAJORITY) -> JudgeRun:
    """The finished run of the panel of these runs' judges, made if there is none of just these.

    Every judgment of the members counts: repeats and orders have a vote of their own. Criteria that not all of the
    runs have judged are left out. What the members are like, beside the panel, is kept as the run's result.
    """
    check_names(name, "")
    study, criteria = check_runs(runs, method)
    judge = find_or_create_judge(by=by, project=study.project, name=name, runs=runs, method=method)
    digest = content_hash([method, sorted(run.pk for run in runs), sorted(criterion.pk for criterion in criteria)])
    with transaction.atomic():
        there = JudgeRun.objects.filter(judge=judge, study=study, input_hash=digest, finished_at__isnull=False).first()
        if there is not None:
            return there
        run = JudgeRun.objects.create(
            study=study, judge=judge, input_hash=digest, code_version=code_version(), created_by=by,
            finished_at=timezone.now(), unit=runs[0].unit,
        )  # fmt: skip
        run.criteria.set(criteria)
        run.members.set(runs)
        names = build_names(runs)
        for criterion in criteria:
            run.result[criterion.key] = create_combined(run, names, criterion, method)
        run.save(update_fields=["result"])
    return run


def check_runs(runs: Sequence[JudgeRun], method: str) -> tuple[Study, list[Criterion]]:
    """The study of the runs, and the criteria that all of them have judged, of those with categories to vote on."""
    check_members(runs, method)
    shared = set.intersection(*({criterion.pk for criterion in run.criteria.all()} for run in runs))
    criteria = [one for one in runs[0].study.criteria.all() if one.pk in shared and not has_open_scale(one)]
    if method == panels.MEAN:
        criteria = [criterion for criterion in criteria if to_numbers(build_spec(criterion))]
    if not criteria:
        raise InputError("No criterion that all members have judged can be combined so.", field="runs")
    return runs[0].study, criteria


def check_members(runs: Sequence[JudgeRun], method: str) -> None:
    n = len({run.pk for run in runs})
    if n < 1 or (n == 1 and (runs[0].repeats < 2 or method == panels.DAWID_SKENE)):
        if n and runs[0].repeats > 1:
            raise InputError("A panel has at least two members with this method.", field="runs")
        raise InputError("A panel has at least two members, or one that was asked repeatedly.", field="runs")
    if len({run.study_id for run in runs}) > 1:
        raise InputError("The members of a panel have judged the same study.", field="runs")
    if unfinished := [run for run in runs if run.finished_at is None]:
        raise InputError("Run {pk} is not finished.", field="runs", pk=unfinished[0].pk)
    if again := [run for run in runs if run.judge.provider == PANEL]:
        raise InputError("{judge} is a panel itself: name its members.", field="runs", judge=again[0].judge)
    if others := [run for run in runs if run.kind != JudgeRun.Kind.ORDINARY]:
        if others[0].kind == JudgeRun.Kind.PROBE:
            raise InputError("Run {pk} is of altered items: it speaks for no judge.", field="runs", pk=others[0].pk)
        raise InputError("Run {pk} is of an evaluation: it speaks for no judge.", field="runs", pk=others[0].pk)
    if len({run.unit for run in runs}) > 1:
        raise InputError("Some of these runs judged single turns or responses, others whole items.", field="runs")


def build_names(runs: Iterable[JudgeRun]) -> dict[int, str]:
    """What to call each run's judge; two runs of one judge are told apart by their numbers."""
    judges = [str(run.judge) for run in runs]
    return {
        run.pk: name if judges.count(name) == 1 else f"{name} (run {run.pk})"
        for run, name in zip(runs, judges, strict=True)
    }


def find_or_create_judge(
    *, by: User | None, project: Project, name: str, runs: Iterable[JudgeRun], method: str
) -> Judge:
    """The panel of this name with these members: its latest version if they are the same, else a new one."""
    members = sorted(str(run.judge) for run in runs)
    wanted: dict[str, object] = {"provider": PANEL, "parameters": {"method": method, "members": members}}
    latest = find_latest(name, project=project)
    if latest and latest.provider == PANEL and latest.parameters == wanted["parameters"]:
        return latest
    version = latest.version + 1 if latest else 1
    return Judge.objects.create(project=project, name=name, version=version, created_by=by, **wanted)


def create_combined(run: JudgeRun, names: Mapping[int, str], criterion: Criterion, method: str) -> dict[str, object]:
    """Save one judgment for each item, turn or response that a member was asked about. Returns what is kept of it."""
    said = load_judgments(names, criterion)
    votes = [[(names[one.run_id], one.value) for one in judgments if one.value] for judgments in said.values()]
    numbers = to_numbers(build_spec(criterion))
    found, model = panels.combine(votes, method=method, scale=criterion.values, numbers=numbers)
    rows = [
        verdict(run, key, criterion, judgments, one) for (key, judgments), one in zip(said.items(), found, strict=True)
    ]
    Judgment.objects.bulk_create(rows, batch_size=BATCH)
    return {
        "members": members(names, said, rows),
        "model": None if model is None else {**model.to_json(), "accuracy": panels.accuracies(model)},
    }


def load_judgments(names: Mapping[int, str], criterion: Criterion) -> dict[Key, list[Judgment]]:
    """The members' judgments on a criterion by item and turn or response."""
    said: dict[Key, list[Judgment]] = defaultdict(list)
    chosen = Judgment.objects.filter(run__in=names, criterion=criterion).order_by("pk")
    columns = ("run", "item", "turn", "value", "item_hash", "item__dialogue__content_hash", "item__pair__content_hash")
    for judgment in chosen.select_related("item__dialogue", "item__pair").only(*columns).iterator(BATCH):
        said[judgment.item_id, judgment.turn].append(judgment)
    return said


def verdict(
    run: JudgeRun, key: Key, criterion: Criterion, judgments: Sequence[Judgment], found: PanelVerdict | None
) -> Judgment:
    """The members' verdicts as one. Unscored where no member gave one, or where none leads."""
    item, turn = key
    row = Judgment(
        run=run,
        item_id=item,
        turn=turn,
        criterion=criterion,
        item_hash=oldest_text(judgments),
        cost_usd=0,
        details={
            "members": [judgment.pk for judgment in judgments],
            "n_scored": sum(bool(judgment.value) for judgment in judgments),
        },
    )
    if found is None:
        row.unscored_reason = "no_member"
    else:
        row.value, row.score, row.details["distribution"] = found.value, found.score, dict(found.distribution)
        row.unscored_reason = "" if found.value else "members_disagree"
    return row


def members(
    names: Mapping[int, str], said: Mapping[Key, Sequence[Judgment]], rows: Sequence[Judgment]
) -> list[dict[str, object]]:
    """Each member with its verdicts, and how often it said what the panel says."""
    panel = {(row.item_id, row.turn): row.value for row in rows}
    theirs = [(key, judgment) for key, judgments in said.items() for judgment in judgments]
    same = np.full((len(theirs), len(names)), np.nan)
    for row, (key, judgment) in enumerate(theirs):
        if judgment.value and panel[key]:
            same[row, list(names).index(judgment.run_id)] = float(judgment.value == panel[key])
    items = [str(item) for (item, _), _ in theirs]
    found = compute_means(same.T, items=items, clusters=items, scale="share")
    return [
        {
            "run": pk,
            "name": name,
            "n_judgments": sum(judgment.run_id == pk for _, judgment in theirs),
            "scored": sum(judgment.run_id == pk and bool(judgment.value) for _, judgment in theirs),
            "same_as_panel": estimate.to_json(),
        }
        for (pk, name), estimate in zip(names.items(), found, strict=True)
    ]


def oldest_text(judgments: Sequence[Judgment]) -> str:
    """The hash of the item that the members saw; of the stale one where the item was edited between them."""
    now = judgments[0].item.subject.content_hash if len({judgment.item_hash for judgment in judgments}) > 1 else ""
    return next((judgment.item_hash for judgment in judgments if judgment.item_hash != now), now)
