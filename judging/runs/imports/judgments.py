"""Judgments made elsewhere, as a finished run of a judge whose provider is `imported`.

Runs are insert-only: importing the same judgments again finds their run by the hash of its input and changes
nothing; judgments that differ make a new run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from django.db import transaction
from django.utils import timezone

from annotation.studies.models.studies import Study
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.files.outcome import Outcome
from core.hashing import content_hash
from core.version import code_version
from judging.judges.models import IMPORTED, Judge
from judging.judges.services.judges import check_names, find_latest
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.requests import input_rows

BATCH = 2000


@dataclass(frozen=True, slots=True)
class ImportedJudgment:
    """A value, or the reason why there is none. `order` is AB, BA or not recorded. `turn` is the number of the turn or
    response, 0 for the whole item; of a response alone no order is kept."""

    item: int
    criterion: int
    value: str = ""
    content: object = None
    unscored_reason: str = ""
    explanation: str = ""
    raw_reply: str = ""
    order: str = ""
    repeat: int = 1
    turn: int = 0
    details: dict[str, object] = field(default_factory=dict)


@audited("judgments.import", says=("judge",))
def save(
    *, by: User | None, study: Study, judge: str, judgments: Sequence[ImportedJudgment], outcome: Outcome
) -> JudgeRun:
    """The finished run that holds exactly these judgments, made if there is none.

    Judgments on single turns or responses are a run of their own; returned is that on whole items where there are both.
    """
    whole = [one for one in judgments if not one.turn]
    parts = [replace(one, order="") for one in judgments if one.turn]
    with transaction.atomic():
        row, made = find_or_create_judge(by=by, name=judge, project=study.project)
        outcome.add("judges", created=made, unchanged=not made)
        runs = [find_or_create_run(by, study, row, part, outcome) for part in (whole, parts) if part]
        return runs[0] if runs else find_or_create_run(by, study, row, [], outcome)


def find_or_create_run(
    by: User | None, study: Study, judge: Judge, judgments: Sequence[ImportedJudgment], outcome: Outcome
) -> JudgeRun:
    """The run of these judgments, which all are on whole items or all on turns or responses."""
    digest = content_hash([study.pk, judge.name, [to_identity(judgment) for judgment in judgments]])
    run = JudgeRun.objects.filter(judge=judge, study=study, input_hash=digest, finished_at__isnull=False).first()
    if run is not None:
        outcome.add("judgments", unchanged=len(judgments))
        return run
    outcome.add("judgments", created=len(judgments))
    return insert(by, study, judge, judgments, digest)


def to_identity(judgment: ImportedJudgment) -> dict[str, object]:
    """What makes it the same; without a content, as it was before there was one."""
    found = asdict(judgment)
    if judgment.content is None:
        del found["content"]
    return found


def find_or_create_judge(*, by: User | None, name: str, project: Project | None = None) -> tuple[Judge, bool]:
    """The imported judge of that name. A name that a judge of another provider has gets a new version."""
    project = choose_project(by, project)
    newest = find_latest(name, project=project)
    judge = Judge.objects.filter(name=name, provider=IMPORTED).order_by("-version").first()
    if judge:
        return judge, False
    check_names(name, name)
    version = newest.version + 1 if newest else 1
    made = Judge.objects.create(
        project=project, name=name, version=version, provider=IMPORTED, model=name, created_by=by
    )
    return made, True


def insert(by: User | None, study: Study, judge: Judge, judgments: Sequence[ImportedJudgment], digest: str) -> JudgeRun:
    run = JudgeRun.objects.create(
        study=study,
        judge=judge,
        repeats=max((judgment.repeat for judgment in judgments), default=1),
        order_policy=policy({judgment.order for judgment in judgments}),
        input_hash=digest,
        code_version=code_version(),
        unit=find_unit(study) if any(judgment.turn for judgment in judgments) else JudgeRun.Unit.ITEM,
        created_by=by,
        finished_at=timezone.now(),
    )
    run.criteria.set({judgment.criterion for judgment in judgments})
    hashes = {pk: found for pk, _, found in input_rows(study)}
    Judgment.objects.bulk_create(
        (
            Judgment(
                run=run,
                item_id=judgment.item,
                criterion_id=judgment.criterion,
                item_hash=hashes[judgment.item],
                **build_columns(judgment),
            )
            for judgment in judgments
        ),
        batch_size=BATCH,
    )
    return run


def find_unit(study: Study) -> str:
    """What a number beside an item's means: a dialogue has turns, all else responses."""
    return JudgeRun.Unit.TURN if study.kind == Study.Kind.DIALOGUE else JudgeRun.Unit.RESPONSE


def build_columns(judgment: ImportedJudgment) -> dict[str, object]:
    """The columns that the judgment fills as they are."""
    names = ("value", "content", "unscored_reason", "explanation", "raw_reply", "order", "repeat", "turn", "details")
    return {name: getattr(judgment, name) for name in names}


def policy(orders: set[str]) -> str:
    """The run's order policy, as far as its judgments tell."""
    shown = orders - {""}
    if shown == {"AB", "BA"}:
        return JudgeRun.OrderPolicy.BOTH
    is_one = len(shown) == 1 and shown <= {"AB", "BA"}
    return JudgeRun.OrderPolicy(shown.pop()) if is_one else JudgeRun.OrderPolicy.RANDOM
