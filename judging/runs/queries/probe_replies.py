"""What judges said of altered copies, from finished probe runs: for audits, and for nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from annotation.stats.labels import Label
from annotation.stats.table import MISSING, IntArray
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.scales import to_label
from annotation.studies.queries.units import unit
from judging.judges.models import Judge
from judging.judges.prompts.alterations import ORIGINAL
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.probing import AIMED, choose_target
from judging.stats.observed import AlteredCodes, ItemColumns

Answers = dict[int, str]
"""By row of the material, a verdict; empty where there is none."""


def load_altered(
    runs: Sequence[JudgeRun],
    judges: Sequence[Judge],
    criteria: Sequence[Criterion],
    material: Mapping[str, ItemColumns],
    scales: Mapping[int, Sequence[Label]],
) -> dict[tuple[int, int], tuple[AlteredCodes, ...]]:
    """By judge and criterion, what was said of each alteration: by the newest finished run that has it. One query.

    ``material`` is by the unit that criteria are asked of; ``scales`` are those of people's tables, by criterion id.

    None where no probe run of these judges has finished.
    """
    pks = {judge.pk for judge in judges}
    mine = sorted(
        (run for run in runs if run.kind == JudgeRun.Kind.PROBE and run.finished_at and run.judge_id in pks),
        key=lambda run: (run.created_at, run.pk),
    )
    if not mine:
        return {}
    said, items = _load_answers(mine, {one.pk: material[one.unit] for one in criteria})
    found: dict[tuple[int, int], dict[str, AlteredCodes]] = defaultdict(dict)
    for run in mine:
        for criterion in criteria:
            answers = said.get((run.pk, criterion.pk), {})
            for name in run.probe["alterations"]:
                if answers.get((name, 1)):
                    found[run.judge_id, criterion.pk][name] = _columns(
                        run, criterion, scales[criterion.pk], name, answers, items
                    )
    return {key: tuple(by_name.values()) for key, by_name in found.items()}


def _load_answers(
    runs: Sequence[JudgeRun], material: Mapping[int, ItemColumns]
) -> tuple[Mapping[tuple[int, int], Mapping[tuple[str, int], Answers]], Mapping[tuple[int, int], int]]:
    """By run and criterion the answers by copy and repeat; and by criterion and row the item."""
    place = {(pk, name): row for pk, rows in material.items() for row, name in enumerate(rows.names)}
    said: dict[tuple[int, int], dict[tuple[str, int], Answers]] = defaultdict(lambda: defaultdict(dict))
    items: dict[tuple[int, int], int] = {}
    rows = Judgment.objects.filter(run__in=runs).order_by("run_id", "criterion_id", "item__position", "turn")
    fields = ("run_id", "criterion_id", "alteration", "repeat", "item__position", "turn", "item_id", "value")
    for run, criterion, name, repeat, *of, item, value in rows.values_list(*fields).iterator(chunk_size=5000):
        if (row := place.get((criterion, unit(*of)))) is not None:
            said[run, criterion][name, repeat][row] = value
            items[criterion, row] = item
    return said, items


def _columns(
    run: JudgeRun,
    criterion: Criterion,
    scale: Sequence[Label],
    name: str,
    answers: Mapping[tuple[str, int], Answers],
    items: Mapping[tuple[int, int], int],
) -> AlteredCodes:
    copies, drawn = answers[name, 1], set(answers.get((ORIGINAL, 1), {})) | set(answers.get((ORIGINAL, 2), {}))
    rows = sorted(copies)
    ids = [items[criterion.pk, row] for row in rows]
    code = {str(value): k for k, value in enumerate(scale)} | {"": MISSING}

    def codes(said: Mapping[int, str]) -> IntArray:
        return np.array(
            [code.get(to_label(criterion, said.get(row, ""), None), MISSING) for row in rows], dtype=np.int64
        )

    return AlteredCodes(
        name=name,
        rows=np.array(rows, dtype=np.int64),
        original=codes(answers.get((ORIGINAL, 1), {})),
        copy=codes(copies),
        repeated=codes(answers.get((ORIGINAL, 2), {})),
        wanted=_wanted(run.probe["favoured"], criterion, ids, code) if _is_aimed(name) else None,
        n_items=len(drawn | set(rows)),
    )


def _is_aimed(name: str) -> bool:
    return name.partition(":")[0] in AIMED


def _wanted(kept: Mapping[str, str], criterion: Criterion, items: Sequence[int], code: Mapping[str, int]) -> IntArray:
    """What the copies were to bring about."""
    values = [choose_target(criterion.level, criterion.values, kept.get(str(pk), "")) or "" for pk in items]
    return np.array([code[value] for value in values], dtype=np.int64)
