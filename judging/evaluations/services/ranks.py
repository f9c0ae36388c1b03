"""An evaluation's ranking of models beside that of another benchmark, which a file tells."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping

from annotation.agreement.options import IntervalOptions
from core.errors import InputError
from judging.evaluations.queries import evaluations as queries
from judging.evaluations.queries.evaluations import EvaluationColumns
from judging.evaluations.result_types import RanksDocument
from judging.runs.models.evaluations import Evaluation
from judging.stats.benchmark import Sheet
from judging.stats.rank_agreement import compare_ranks

COLUMNS = (["model", "score"], ["model", "rank"])


def read_ranks(text: str, *, file: str = "") -> dict[str, float]:
    """Read model -> a number that is higher for a better model, from CSV with the columns model and score, or rank."""
    rows = list(csv.reader(text.lstrip("\ufeff").splitlines()))
    head = [name.strip().lower() for name in rows[0]] if rows else []
    if head not in COLUMNS:
        raise InputError("the columns are model,score or model,rank", file=file, line=1, field="ranks")
    found: dict[str, float] = {}
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        try:
            name, number = row[0].strip(), float(row[1])
        except (IndexError, ValueError):
            raise InputError("a model and a number are expected", file=file, line=line, field="ranks") from None
        if not name or name in found or not math.isfinite(number):
            raise InputError("a model stands there once, with a number", file=file, line=line, field="ranks")
        found[name] = -number if head[1] == "rank" else number
    return found


def compare(
    evaluation: Evaluation, ranks: Mapping[str, float], options: IntervalOptions | None = None
) -> list[RanksDocument]:
    """Compute rank correlations in each setting, with the models that are in both and those that are in one.

    A model is found by its judge's name, or else by the model's own. Rules and scorers count where the file names them.
    """
    chosen = options or IntervalOptions()
    asked = [one for one in queries.runs_that_speak(evaluation) if not one.setting.without]
    examined = queries.load_answers(evaluation, asked)
    sheet = Sheet(examined.cases, chosen.bootstrap, chosen.confidence, chosen.seed)
    by_setting: dict[str, list[EvaluationColumns]] = {}
    for one in asked:
        by_setting.setdefault(f"{one.setting.name}, {one.setting.answers}", []).append(one)
    found: list[RanksDocument] = []
    for setting, ones in by_setting.items():
        places = {one.key: find_rank(one, ranks) for one in ones}
        both = [one for one in ones if places[one.key] is not None]
        scores = [examined.answers[one.key].scores(examined.cases) for one in both]
        theirs = [ranks[name] for one in both if (name := places[one.key]) is not None]
        spearman, kendall = compare_ranks(scores, theirs, sheet)
        found.append(
            {
                "setting": setting,
                "models": [one.judge for one in both],
                "only_here": [one.judge for one in ones if places[one.key] is None],
                "only_there": sorted(set(ranks) - set(places.values())),
                "spearman": spearman.to_json(),
                "kendall": kendall.to_json(),
            }
        )
    return found


def find_rank(one: EvaluationColumns, ranks: Mapping[str, float]) -> str | None:
    """Find what the file calls the model; None where it does not name it."""
    return next((name for name in (one.judge, one.run.judge.model) if name in ranks), None)
