"""Judge runs: started, stopped, resumed. What they do in between is in `work`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash
from core.jobs import leases as job_leases
from core.jobs.heartbeat import is_unheld
from core.options.model import check_options
from core.version import code_version
from judging.judges import prompts
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.judges.pricing import format_dollars
from judging.judges.prompts import evaluation as evaluation_prompts
from judging.judges.queries.contents import build_spec, to_identity
from judging.judges.services import judges
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.options import NewRun
from judging.runs.queries import spending
from judging.runs.queries.probing import list_changed
from judging.runs.queries.requests import input_rows
from judging.runs.services import batches, budgets, earlier_replies, judgment_writer as replies
from judging.runs.services.leases import leases
from judging.runs.services.run_criteria import SELECT, Unit, check_comparable, choose_criteria, choose_unit

REQUESTS_PER_BATCH = 1000
CANCEL_BATCH = "judging.cancel_batch"
"""A message that carries the id of a batch of a stopped run, which is to be taken back."""

send_cancellations = partial(job_leases.send, CANCEL_BATCH)
UNATTENDED = timedelta(seconds=30)
HASHED_UNIT: Mapping[str, Mapping[str, object]] = {
    Unit.ITEM: {},
    Unit.TURN: {"every_turn": True},
    Unit.RESPONSE: {"unit": "response"},
}
"""What the hash of a run holds of its unit, the same as before runs had one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run as it would be made: checked, its items in order, and the hash of all it depends on."""

    study: Study
    judge: Judge
    criteria: tuple[Criterion, ...]
    repeats: int
    order_policy: str
    seed: int
    input_hash: str
    budget_usd: Decimal | None = None
    use_cache: bool = True
    unit: str = Unit.ITEM
    in_bulk: bool = False
    evaluation: Evaluation | None = None
    setting: Setting | None = None
    units: Mapping[int, int] = field(default_factory=dict)
    """By item, in order, how many questions there are about it on one criterion: 1, or one for each turn or response.
    In a probe run, on all criteria together: not every copy is asked about on each."""
    probe: Mapping[str, object] = field(default_factory=dict)
    """Of a probe run, what it keeps of its alterations."""

    @property
    def item_ids(self) -> tuple[int, ...]:
        return tuple(self.units)

    @property
    def n_units(self) -> int:
        """How many items, turns or responses are asked about."""
        return sum(self.units.values())


@check_options(NewRun, but=("judge",))
def plan(
    *,
    study: Study,
    judge: Judge,
    criteria: Sequence[str] | None = None,
    repeats: int = 1,
    order_policy: str = "random",
    seed: int = 0,
    budget_usd: Decimal | None = None,
    use_cache: bool = True,
    unit: str | None = None,
    every_turn: bool = False,
    in_bulk: bool = False,
    evaluation: Evaluation | None = None,
    setting: Setting | None = None,
) -> Plan:
    """Check what is asked for, before a row is written.

    `criteria` are keys; all of the study's if not given. Those that do not fit the `unit` are then left out, and
    refused where they were named; `every_turn` is the unit turn by its older name. A run of an `evaluation` shows what
    its `setting` says, whatever the study shows.
    """
    if judge.project_id not in (None, study.project_id):  # one that is only looked at is of none yet
        raise InputError("There is no such judge in the project of the study.", field="judge")
    chosen = choose_criteria(study, criteria)
    unit = choose_unit(chosen, unit, every_turn=every_turn)
    chosen = SELECT[unit](study, chosen, named=criteria is not None)
    check_comparable(study, chosen, order_policy, unit)
    judges.check(judge, chosen, every_turn=unit == Unit.TURN)
    if in_bulk:
        judges.check_bulk(judge)
    budgets.check(judge, budget_usd)
    rows = list(input_rows(study))
    if not rows:
        raise InputError("{study} has no items yet: draw a sample first.", field="study", study=study)
    units = batches.count_units(study, unit)
    if not any(units.values()):
        raise InputError("No dialogue of {study} has a turn of the assistant.", field="unit", study=study)
    return Plan(
        study=study,
        judge=judge,
        criteria=chosen,
        repeats=repeats,
        order_policy=order_policy,
        seed=seed,
        input_hash=content_hash(
            {
                "items": [[external_id, found] for _, external_id, found in rows],
                "shown": study.shown,
                "criteria": [to_identity(build_spec(criterion)) for criterion in chosen],
                "judge": [judge.provider, judge.model, judge.parameters],
                "prompts": prompts.version(
                    study.kind, judge.parameters.get("template", ""), judge.parameters.get("system")
                ),
                **HASHED_UNIT[unit],
                **({"setting": setting.to_json(), "words": find_prompt_version(setting)} if setting else {}),
            }
        ),
        budget_usd=budget_usd,
        use_cache=use_cache,
        unit=unit,
        units=units,
        in_bulk=in_bulk,
        evaluation=evaluation,
        setting=setting,
    )


def find_prompt_version(setting: Setting) -> str:
    """The version of the prompts that an evaluation asks with."""
    return evaluation_prompts.version(setting.answers)


ON_RECORD = ("judge", "criteria", "repeats", "order_policy", "seed", "unit", "use_cache", "in_bulk", "budget_usd")


@audited("run.start", says=[f"plan.{name}" for name in ON_RECORD])
def make(*, by: User | None, plan: Plan, queue: bool) -> JudgeRun:
    """Write the run with its parts. With `queue`, they go to the workers once that is committed; without, they wait
    for the process that asks for them.

    Whether the other side would answer is not asked here, since that may take a while: see `judges.probe`.
    """
    with transaction.atomic():
        run = JudgeRun.objects.create(
            study=plan.study,
            judge=plan.judge,
            repeats=plan.repeats,
            order_policy=plan.order_policy,
            seed=plan.seed,
            input_hash=plan.input_hash,
            code_version=code_version(),
            budget_usd=plan.budget_usd,
            use_cache=plan.use_cache,
            unit=plan.unit,
            in_bulk=plan.in_bulk,
            kind=find_kind(plan),
            probe=dict(plan.probe),
            evaluation=plan.evaluation,
            setting=plan.setting.to_json() if plan.setting else {},
            created_by=by,
        )
        run.criteria.set(plan.criteria)
        made = JudgeChunk.objects.bulk_create(
            JudgeChunk(run=run, index=index, item_ids=part.item_ids, n_units=part.n_units)
            for index, part in enumerate(
                batches.split_into_batches(plan.study, plan.units, size=count_items_per_batch(plan))
            )
        )
        if queue:
            leases.queue([chunk.pk for chunk in made])
    return run


def find_kind(plan: Plan) -> str:
    """What the run is for."""
    if plan.evaluation is not None:
        return JudgeRun.Kind.EVALUATION
    return JudgeRun.Kind.PROBE if plan.probe else JudgeRun.Kind.ORDINARY


@audited("run.stop", on="run")
def stop(*, by: User | None, run: JudgeRun) -> bool:  # noqa: ARG001
    """Let the workers put the run down, which they do within a second or two. False if it was over already."""
    running = JudgeRun.objects.filter(pk=run.pk, finished_at__isnull=True, stopped_at__isnull=True)
    stopped = running.update(stopped_at=timezone.now()) == 1
    if stopped and run.in_bulk:
        transaction.on_commit(lambda: call_back_batches(run))
    return stopped


def load_batches_to_cancel() -> QuerySet[JudgeBatch]:
    """Batches out for runs that were stopped, whose part no living process is busy with."""
    return JudgeBatch.objects.filter(
        is_unheld("chunk__"),
        closed_at__isnull=True,
        chunk__run__stopped_at__isnull=False,
    )


def call_back_batches(run: JudgeRun | None = None) -> int:
    """Have the batches of stopped runs taken back: of this one at once, of all where nobody has for a while."""
    seen_to = Q(looked_at__isnull=True) | Q(looked_at__lt=timezone.now() - UNATTENDED)
    found = load_batches_to_cancel().filter(Q(chunk__run=run) if run else seen_to)
    read = list(found.order_by("pk").values_list("pk", "looked_at"))
    rows, now = JudgeBatch.objects, timezone.now()
    mine = [pk for pk, looked_at in read if rows.filter(pk=pk, looked_at=looked_at).update(looked_at=now)]
    send_cancellations(mine)
    return len(mine)


def halt(*, run: JudgeRun, reason: str) -> bool:
    """A run stops itself and says why. False if it was over already."""
    running = JudgeRun.objects.filter(pk=run.pk, finished_at__isnull=True, stopped_at__isnull=True)
    return running.update(stopped_at=timezone.now(), stop_reason=reason) == 1


@audited("run.resume", on="run", says=("budget_usd",), prepares=True)
def resume(*, by: User | None, run: JudgeRun, queue: bool = True, budget_usd: Decimal | None = None) -> int:  # noqa: ARG001
    """Go on with what is left of a run: parts never begun, and parts that ended early. Returns how many.

    What was judged stays; only requests without a judgment are asked again. A judge that cannot run says so first.
    `budget_usd` replaces the run's budget, which includes what was spent.
    """
    budget = check_budget(run, budget_usd)
    with audit_transaction() as done:
        JudgeRun.objects.filter(pk=run.pk).update(budget_usd=budget)
        JudgeChunk.objects.filter(run=run).exclude(error="").update(
            finished_at=None, error="", attempts=0, queued_at=None
        )
        left = go_on(run, queue=queue)
        done.result = left
    return left


@audited("run.ask_again", on="run", says=("budget_usd",), prepares=True)
def ask_again(*, by: User | None, run: JudgeRun, queue: bool = True, budget_usd: Decimal | None = None) -> int:  # noqa: ARG001
    """Ask again for the items of a run that is over whose replies held no verdict, and for no other.

    The words and settings are the same, the seed another, and nothing is taken from known answers without a verdict.
    What held no verdict stays on record; what comes takes its place. Returns how many are asked for.
    """
    run.refresh_from_db(fields=["finished_at", "stopped_at"])
    if run.state == "running":
        raise InputError("The run still goes on. Wait until it is over, or stop it first.", field="run")
    n = earlier_replies.to_ask_again(run).count()
    if not n or not run.chunks.exists():
        raise InputError("The run has no reply without a verdict that could be asked for again.", field="run")
    budget = check_budget(run, budget_usd)
    with audit_transaction() as done:
        JudgeRun.objects.filter(pk=run.pk).update(budget_usd=budget)
        items = earlier_replies.ask_again(run, 1 + replies.count_retries(run.judge))
        parts_of_run = run.chunks.filter(finished_at__isnull=False).values_list("pk", "item_ids")
        again = [pk for pk, item_ids in parts_of_run.iterator() if not items.isdisjoint(item_ids)]
        JudgeChunk.objects.filter(pk__in=again).update(finished_at=None, error="", attempts=0, queued_at=None)
        go_on(run, queue=queue)
        done.result = n
    return n


def check_budget(run: JudgeRun, budget_usd: Decimal | None) -> Decimal | None:
    """The budget with which a run goes on. InputError where it cannot."""
    judges.check(run.judge, list(run.criteria.all()), every_turn=run.every_turn)
    if changed := list_changed(run):
        raise InputError(
            "{changed} reads otherwise today: start a new run of probes.", field="run", changed=", ".join(changed)
        )
    budget = run.budget_usd if budget_usd is None else budget_usd
    budgets.check(run.judge, budget)
    if budget is not None and (spent := spending.load_run(run).usd) >= budget:
        raise InputError(
            "The run has cost {spent} already: give it a higher budget.",
            field="budget_usd",
            spent=format_dollars(spent),
        )
    return budget


def go_on(run: JudgeRun, *, queue: bool) -> int:
    """Let the parts that are left be worked on. Returns how many there are."""
    left = list(JudgeChunk.objects.filter(run=run, finished_at__isnull=True).values_list("pk", flat=True))
    if left:
        JudgeRun.objects.filter(pk=run.pk).update(stopped_at=None, stop_reason="", finished_at=None)
    if left and queue:
        leases.queue(left)
    return len(left)


def count_items_per_batch(plan: Plan) -> int:
    """A part in bulk is one batch, which may be larger than what a worker takes in hand otherwise."""
    both = 2 if plan.order_policy == JudgeRun.OrderPolicy.BOTH and plan.study.kind == Study.Kind.PAIR else 1
    on_each = 1 if plan.probe else len(plan.criteria)
    per_item = plan.n_units / len(plan.units) * on_each * plan.repeats * both
    return max(1, int(REQUESTS_PER_BATCH / max(per_item, 1))) if plan.in_bulk else batches.ITEMS_PER_PART
