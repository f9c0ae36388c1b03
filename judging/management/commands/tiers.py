"""`tiers`: how contested each item is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from django.core.management.base import CommandParser

from annotation.agreement.options import ResamplingOptions
from annotation.agreement.result_types import BothTiersDocument, DifficultyDocument, NoResultDocument
from annotation.agreement.services import difficulty, tiers
from annotation.agreement.services.difficulty import compute_both_tiers
from annotation.agreement.services.predicted_difficulty import SCOPES, STUDY, PredictionOptions
from annotation.agreement.services.tiers import TierOptions
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.stats.bands import Cuts
from annotation.stats.by_level import explain_missing
from annotation.stats.table import Level
from annotation.stats.tiers import Chance
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.agreement_types import PredictionDocument
from judging.assessment.services import predicted_difficulty
from judging.assessment.services.predicted_difficulty import features_in_words, summarise
from judging.management.commands.agreement import (
    CriteriaDocument,
    add_source,
    check_source,
    compute_criteria,
    read_file,
    split_criteria,
)

MOST_VALUES = 12
"""Attainable values that are listed one by one."""


Trait = Literal["severity", "order", "consistency"]
OF_PEOPLE: dict[str, Trait] = {
    "graded response": "severity",
    "linear mixed model": "severity",
    "paired comparison": "order",
}
"""By method, what sets people apart besides their consistency."""


Tiers = BothTiersDocument | NoResultDocument | PredictionDocument
AnyTiers = CriteriaDocument[Tiers] | Tiers
"""Of several criteria, or of one, or of a file."""


class Command(ConcordCommand[AnyTiers]):
    help = "Easy, medium, hard and contested items, counted and by the difficulty model, of a study or of a CSV file."
    example = "tiers ratings.csv --by domain\n  python manage.py tiers --study PandaLM --cuts 0.4,0.6,0.8"

    def arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        parser.add_argument("--cuts", default="0.4,0.6,0.8", help="upper ends of contested, hard and medium")
        parser.add_argument(
            "--agreement-cuts",
            default="0.6,0.75,0.9",
            metavar="A,B,C",
            help="of the difficulty model: probability that two people agree, upper ends of contested, hard and medium",
        )
        parser.add_argument("--chance", choices=["uniform", "margins"], default="uniform", help="expected agreement")
        parser.add_argument("--by", metavar="COLUMN", help="also the tier of each group of items")
        parser.add_argument(
            "--predict",
            nargs="?",
            const=STUDY,
            choices=SCOPES,
            help="instead, the difficulty of the study's items without ratings, or of its dataset's other items",
        )
        add_arguments(parser, ResamplingOptions)

    def run(
        self, *, file: Path | None, study: str, level: Level | None, categories: str | None, criterion: str | None,
        cuts: str, agreement_cuts: str, chance: Chance, by: str | None, predict: str | None, **options: object,
    ) -> AnyTiers:  # fmt: skip
        of_file = {"level": level, "categories": categories}
        check_source(file, study, {"criterion": criterion, "predict": predict}, of_file)
        parsed = tiers.parse_cuts(cuts)
        resampled = ResamplingOptions(**read_arguments(ResamplingOptions, options))
        chosen = TierOptions(parsed, chance, bootstrap=resampled.bootstrap, seed=resampled.seed)
        agreeing = difficulty.parse_model_cuts(agreement_cuts, "agreement-cuts")
        if predict:
            asked = PredictionOptions(predict, agreeing, resampled.bootstrap, resampled.seed)
            return predict_tiers(study_called(study), criterion, asked)
        if file:
            if reason := explain_missing("tiers", level or "nominal"):
                raise InputError(reason, field="level")
            read = read_file(file, level, categories, describing=(by,) if by else ())
            counted = tiers.compute_table(read.table, chosen, by=read.column(by) if by else None)
            by_kappa = tiers.compute_tiers(read.table, chosen)
            return {**counted, "difficulty": difficulty.compute_table(read.table, cuts=agreeing, counted=by_kappa)}
        return compute_study(study_called(study), criterion, chosen, by, agreeing)

    def write_text(self, document: AnyTiers) -> None:
        for name, found in split_criteria(document).items():
            told = lines_of_prediction(found) if "predicts" in found else lines(found)
            self.stdout.write("\n".join([*([name] if name else []), *told]))


def compute_study(study: Study, key: str | None, options: TierOptions, by: str | None, agreeing: Cuts) -> AnyTiers:
    """One criterion's tiers, or those of each where there are several and none is named."""
    found = {one.criterion.key: one for one in ratings.load_study(study)}
    return compute_criteria(
        study, found, key, lambda one: compute_both_tiers(study, one, options, by=by, agreeing=agreeing)
    )


def predict_tiers(study: Study, key: str | None, options: PredictionOptions) -> AnyTiers:
    """The prediction of one criterion, or of each."""
    there = {one.key: one for one in study.criteria.all()}
    return compute_criteria(study, there, key, lambda one: predicted_difficulty.compute_criterion(study, one, options))


def lines_of_prediction(found: PredictionDocument) -> Iterator[str]:
    """Whether difficulty can be predicted, with which error, and how many items of each tier to expect."""
    yield summarise(found)
    if found["error"] is None:
        return
    error = found["error"]
    figures = [
        (name, error[name]) for name in ("rank_correlation", "gain", "slope", "squared_error", "squared_error_of_mean")
    ]
    yield format_columns([[name.replace("_", " "), format_estimate(one)] for name, one in figures])
    yield features_in_words(found["features"])
    if found["items"]:
        counts = ", ".join(f"{tier} {n:.1f}" for tier, n in found["expected_counts"].items())
        yield f"expected of {found['n_items']} items: {counts}"


def format_values(values: Sequence[float]) -> str:
    """The values, or their number and ends where there are many."""
    if len(values) > MOST_VALUES:
        return f"one of {len(values)} values from {values[0]:.2f} to {values[-1]:.2f}"
    return ", ".join(f"{value:.2f}" for value in values)


def lines(found: BothTiersDocument | NoResultDocument) -> Iterator[str]:
    """Counts, what is attainable, groups; or why there are none."""
    if "counts" not in found:
        yield found["reason"]
        return
    yield format_columns([[tier, str(n)] for tier, n in found["counts"].items()])
    for plan in found["plans"]:
        values = format_values(plan["values"])
        empty = f"; no item can be {' or '.join(plan['empty_bands'])}" if plan["empty_bands"] else ""
        yield f"with {plan['n_raters']} ratings an item's kappa can be {values}{empty}"
    if groups := found.get("groups"):
        rows = [[g["group"], str(g["n_items"]), format_estimate(g["fleiss_kappa"]), g["tier"] or "-"] for g in groups]
        yield format_columns([["group", "items", "Fleiss' kappa", "tier"], *rows])
    yield from _of_model(found["difficulty"])


def _counted(tier: str, n: float, ends: Sequence[float]) -> str:
    return f"{tier} {n:.1f} [{ends[0]:.0f}, {ends[1]:.0f}]"


def _of_model(found: DifficultyDocument) -> Iterator[str]:
    """What the difficulty model says: items of each tier, how many are clear, and the people."""
    if found["reason"]:
        yield f"difficulty model: not fitted, {found['reason']}"
        return
    counts = ", ".join(
        _counted(tier, n, found["count_intervals"][tier]) for tier, n in found["expected_counts"].items()
    )
    yield f"difficulty model ({found['method']}), expected items: {counts}"
    yield f"{found['clear']} of {found['n_items']} items have a clear tier"
    for row in found["by_counted"]:
        expected = ", ".join(f"{tier} {n:.1f}" for tier, n in row["expected"].items())
        yield f"of {row['n']} items counted as {row['counted']}, the model expects {expected}"
    figures: list[Trait] = [*([OF_PEOPLE[found["method"]]] if found["method"] in OF_PEOPLE else []), "consistency"]
    people = [
        [one["person"], *(format_estimate(one[figure]) for figure in figures), _share(one["infit"])]
        for one in found["people"]
    ]
    yield format_columns([["person", *figures, "infit"], *people])


def _share(infit: float | None) -> str:
    return "-" if infit is None else f"{infit:.2f}"
