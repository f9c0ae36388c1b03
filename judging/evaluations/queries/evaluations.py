"""An evaluation as columns: its cases, and what each model said of them in each setting; frozen for statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Length

from annotation.benchmarks.models import BenchmarkCase
from annotation.benchmarks.result_types import StepDocument
from annotation.benchmarks.services.building import BY_HAND, BY_MODEL
from annotation.corpus.models import Profile
from annotation.stats.bands import TIERS
from annotation.stats.table import FloatArray, IntArray
from annotation.studies.models.studies import Item
from core.hashing import content_hash
from core.sentences import translate
from judging.judges.evaluation_settings import PARTS, Setting, build_person, is_made, list_fields
from judging.judges.queries.contents import build_known
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun, Judgment
from judging.stats.benchmark import ORDERS, Answers, Cases

AT_ONCE = 5000
MOST_TEXT = 60
"""Characters of a persona's field: what is longer tells persons apart, not groups of them."""


@dataclass(frozen=True)
class EvaluationColumns:
    """One model in one setting: the run through which it speaks."""

    run: JudgeRun
    setting: Setting

    @property
    def key(self) -> str:
        """Names it in tables and addresses."""
        return str(self.run.pk)

    @property
    def judge(self) -> str:
        return str(self.run.judge)

    @property
    def label(self) -> str:
        return f"{self.judge}, {translate(self.setting.name)}"


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """An evaluation's cases and answers.

    Attributes
    ----------
    items
        (n,) keys of the items, in the order of the cases.
    positions
        (n,) their places in the study.
    without_memories
        How many of the personas have no memories, so that some were made from their own fields.
    nothing_found
        By run that retrieves, of how many items no memory fitted the question, so that the model was shown none.
    """

    evaluation: Evaluation
    cases: Cases
    items: IntArray
    positions: IntArray
    asked: tuple[EvaluationColumns, ...]
    answers: Mapping[str, Answers]
    reasons: Mapping[str, Mapping[str, int]]
    n_without_persona: int
    without_memories: int
    nothing_found: Mapping[str, int]


def runs_that_speak(evaluation: Evaluation) -> tuple[EvaluationColumns, ...]:
    """Find the newest finished run of each judge and setting, or else the newest. One query."""
    runs = JudgeRun.objects.filter(evaluation=evaluation).select_related("judge")
    newest_last = sorted(runs, key=lambda run: (run.finished_at is not None, run.created_at, run.pk))
    chosen = {(run.judge_id, content_hash(run.setting)): run for run in newest_last}
    asked = [
        EvaluationColumns(run, setting) for run in chosen.values() if (setting := Setting.from_stored(run.setting))
    ]
    return tuple(sorted(asked, key=lambda one: (one.judge, to_sort_key(one.setting), one.setting.name)))


def to_sort_key(setting: Setting) -> tuple[int, int]:
    """Put settings in their usual order, those without some field after the whole one."""
    order = ("none", "profile", "memories", "summary")
    return order.index(setting.shows), len(setting.without)


def list_cases(evaluation: Evaluation) -> QuerySet[BenchmarkCase]:
    """Return the benchmark's cases that the evaluation asks about."""
    return BenchmarkCase.objects.filter(
        benchmark=evaluation.benchmark_id, pair__items__study=evaluation.study_id, excluded_reason=""
    )


def fingerprint(evaluation: Evaluation, asked: Sequence[EvaluationColumns]) -> str:
    """Hash cases, gold answers and judgments without reading these: they are added, or come anew. Two queries."""
    counts = (
        Judgment.objects.filter(run__in=[one.run.pk for one in asked])
        .order_by("run")
        .values_list("run")
        .annotate(n=Count("pk"), last=Max("pk"), at=Max("created_at"))
    )
    cases = (
        list_cases(evaluation).order_by("pk").values_list("pk", "tier", "kind", "gold", "kappa", "votes_1", "votes_2")
    )
    answers = [(run, n, last, at.isoformat()) for run, n, last, at in counts]
    return content_hash([evaluation.input_hash, answers, list(map(list, cases))])


def load_answers(evaluation: Evaluation, asked: Sequence[EvaluationColumns]) -> EvaluationData:
    """Load the answers of all runs. Five queries, whatever the size."""
    rows = list(case_rows(evaluation))
    items = np.array([row["item"] for row in rows], dtype=np.int64)
    personas, persona = index_personas(rows)
    profiles = list(Profile.objects.filter(pk__in={row["profile"] for row in rows if row["profile"]}).order_by("pk"))
    answers, reasons = load_run_answers(asked, items)
    return EvaluationData(
        evaluation=evaluation,
        cases=Cases(
            ids=np.array([row["case"] for row in rows], dtype=np.int64),
            persona=persona,
            n_personas=personas,
            tier=np.array([row["tier"] for row in rows], dtype=np.str_),
            kind=np.array([row["kind"] for row in rows], dtype=np.str_),
            gold=np.array([int(row["gold"]) for row in rows], dtype=np.int64),
            longer=np.array([longer(row["length_1"], row["length_2"]) for row in rows], dtype=np.int64),
            kappa=floats(row["kappa"] for row in rows),
            votes=np.column_stack([floats(row[f"votes_{name}"] for row in rows) for name in ("1", "2", "tie")]),
            groups=load_groups([row["profile"] for row in rows], profiles),
            odds=odds_of([(row["tier"], row["history"]) for row in rows]) if uses_model_tiers(evaluation) else None,
        ),
        items=items,
        positions=np.array([row["position"] for row in rows], dtype=np.int64),
        asked=tuple(asked),
        answers=answers,
        reasons=reasons,
        n_without_persona=sum(row["profile"] is None for row in rows),
        without_memories=sum(is_made(build_person(build_known(profile))) for profile in profiles),
        nothing_found=count_nothing_found(asked),
    )


def case_rows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Return a row for each case, in the order of the items; texts by their length only. Two queries."""
    history = ["history"] if uses_model_tiers(evaluation) else []
    cases = {
        row["pair"]: row
        for row in list_cases(evaluation)
        .order_by()
        .values("pk", "pair", "tier", "kind", "gold", "kappa", "votes_1", "votes_2", "votes_tie", *history)
    }
    items = (
        Item.objects.filter(study=evaluation.study_id)
        .order_by("position")
        .values_list("pk", "position", "pair", "pair__profile", Length("pair__response_1"), Length("pair__response_2"))
    )
    for item, position, pair, profile, length_1, length_2 in items.iterator(chunk_size=AT_ONCE):
        if pair in cases:
            row = cases[pair]
            yield {
                **row,
                "case": row["pk"],
                "item": item,
                "position": position,
                "profile": profile,
                "length_1": length_1,
                "length_2": length_2,
            }


def uses_model_tiers(evaluation: Evaluation) -> bool:
    """Return whether the difficulty model made the tiers of the cases."""
    return bool(evaluation.benchmark.made.get("tiers") == "model")


def odds_of(cases: Sequence[tuple[str, Sequence[StepDocument]]]) -> FloatArray:
    """Return (n, 4) probability of each of `TIERS` by the difficulty model, 1 for one set by hand; NaN without one."""
    found = np.full((len(cases), len(TIERS)), math.nan)
    for place, (of, history) in enumerate(cases):
        steps = {one["step"]: one for one in history}
        if BY_MODEL in steps and BY_HAND not in steps:
            found[place] = [steps[BY_MODEL]["tiers"][tier] for tier in TIERS]
        elif of:
            found[place] = [of == tier for tier in TIERS]
    return found


def index_personas(rows: Sequence[Mapping[str, object]]) -> tuple[int, IntArray]:
    """Return the number of personas and (n,) the index of each case's; a case without one stands for itself."""
    keys = [f"profile {row['profile']}" if row["profile"] else f"case {row['case']}" for row in rows]
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    return len(place), np.array([place[key] for key in keys], dtype=np.int64)


def longer(a: int, b: int) -> int:
    """Return which response is the longer one, 1 or 2; 0 where both are as long."""
    return 0 if a == b else 1 if a > b else 2


def floats(values: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else float(value) for value in values], dtype=float)


def load_groups(cases: Sequence[int | None], profiles: Sequence[Profile]) -> dict[str, npt.NDArray[np.str_]]:
    """Load, by demographic field that some persona has, (n,) its value; empty where not known or a long text."""
    known: dict[int | None, dict[str, object]] = {profile.pk: profile.demographics or {} for profile in profiles}
    names = dict.fromkeys(name for found in known.values() for name in found)
    return {
        name: np.array([short(name, known.get(case, {}).get(name)) for case in cases], dtype=np.str_) for name in names
    }


def short(name: str, value: object) -> str:
    """Shorten a field's value to the name of a group; ages by tens."""
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return ""
    if name.casefold() == "age" and isinstance(value, int | float) and 0 < value < 130:
        return f"{int(value) // 10 * 10}–{int(value) // 10 * 10 + 9}"
    text = str(value).strip()
    return text if len(text) <= MOST_TEXT else ""


def load_run_answers(
    asked: Sequence[EvaluationColumns], items: IntArray
) -> tuple[dict[str, Answers], dict[str, dict[str, int]]]:
    """Load by run what it said of the items, and why replies held no verdict. One query."""
    n, row_of = len(items), {int(item): row for row, item in enumerate(items)}
    shape = (len(asked), n, len(ORDERS))
    said, there, sure = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool), np.full(shape, np.nan)
    place = {one.run.pk: at for at, one in enumerate(asked)}
    side = {order: at for at, order in enumerate(ORDERS)}
    code = {"1": 1, "2": 2}
    reasons: list[dict[str, int]] = [{} for _ in asked]
    rows = Judgment.objects.filter(run__in=list(place), repeat=1).order_by()
    columns = rows.values_list("run_id", "item_id", "order", "value", "unscored_reason", "confidence")
    for run, item, order, value, reason, confidence in columns.iterator(chunk_size=AT_ONCE):
        if (row := row_of.get(item)) is None:
            continue
        at = place[run], row, side[order]
        there[at] = True
        said[at] = code.get(value, 0)
        if confidence is not None:
            sure[at] = confidence
        if not said[at]:
            why = reason or "off_scale"
            reasons[at[0]][why] = reasons[at[0]].get(why, 0) + 1
    answers = {one.key: Answers(said[at], there[at], sure[at]) for at, one in enumerate(asked)}
    return answers, {one.key: reasons[at] for at, one in enumerate(asked)}


def count_nothing_found(asked: Sequence[EvaluationColumns]) -> dict[str, int]:
    """Count by run that retrieves memories the items for which none was found. One query, none where no run does."""
    runs = [one.run.pk for one in asked if one.setting.retrieves]
    rows = Judgment.objects.filter(run__in=runs, repeat=1, details__retrieved=[]).order_by()
    counts = dict(rows.values_list("run").annotate(n=Count("item", distinct=True))) if runs else {}
    return {str(run): counts.get(run, 0) for run in runs}


def add_progress(evaluations: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    """Add `n_cases`, `n_runs` and `n_running`, counted beside each other."""
    items = Item.objects.filter(study=OuterRef("study")).order_by().values("study").annotate(n=Count("pk")).values("n")
    running = Q(runs__finished_at__isnull=True, runs__stopped_at__isnull=True)
    return evaluations.select_related("benchmark", "study", "created_by").annotate(
        n_cases=Subquery(items),
        n_runs=Count("runs", distinct=True),
        n_running=Count("runs", filter=running & Q(runs__isnull=False), distinct=True),
    )


def wrong(evaluation: Evaluation) -> QuerySet[Judgment]:
    """Find the answers of the runs that speak which differ from what people chose, with `gold`, `tier`, `kind`."""
    case = BenchmarkCase.objects.filter(benchmark=evaluation.benchmark_id, pair=OuterRef("item__pair"))
    runs = [one.run.pk for one in runs_that_speak(evaluation)]
    return (
        Judgment.objects.filter(run__in=runs, repeat=1)
        .exclude(value="")
        .annotate(
            gold=Subquery(case.values("gold")[:1]),
            tier=Subquery(case.values("tier")[:1]),
            kind=Subquery(case.values("kind")[:1]),
            excluded=Subquery(case.values("excluded_reason")[:1]),
        )
        .filter(excluded="")
        .exclude(value=F("gold"))
    )


def list_known_fields(evaluation: Evaluation) -> list[str]:
    """Return the fields of the evaluation's personas, which can be left out. One query."""
    profiles = Profile.objects.filter(pairs__items__study=evaluation.study_id).distinct().only(*PARTS, "memories")
    return sorted({name for profile in profiles.order_by("pk") for name in list_fields(build_known(profile))})
