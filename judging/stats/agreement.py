"""How far a judge agrees with people, beside how far people agree with each other.

The measure of a judge is not agreement as such but agreement next to the human ceiling: what one annotator
reaches against the others on the very same items. Both come from the same resamples of items, so that their
difference has an honest interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.stats import cohen
from annotation.stats.against_group import minus
from annotation.stats.agreement import NO_ORDER, PairAgreement, RaterAgreement
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.labels import Label
from annotation.stats.majority import Majority, majority
from annotation.stats.pairs import compare_pairs, compare_with_the_rest, count_basis
from annotation.stats.resampling import Replicates
from annotation.stats.table import MISSING, NO_SCORES, BoolArray, FloatArray, IntArray, RatingTable
from judging.stats import figures
from judging.stats.figures import RatersAgainstPeople
from judging.stats.result_types import ConfusionDocument, JudgeAgreementDocument


@dataclass(frozen=True)
class Confusion:
    """Counts of items by the judge's category and the people's majority.

    Attributes
    ----------
    categories
        The q categories of both sides, in scale order.
    counts
        q rows (judge) of q columns (majority): items where both have a category.
    unscored
        Per majority category: items on which the judge gave no usable verdict.
    tied
        Per judge category: items on which people are tied.
    """

    categories: tuple[Label, ...]
    counts: tuple[tuple[int, ...], ...]
    unscored: tuple[int, ...]
    tied: tuple[int, ...]

    def to_json(self) -> ConfusionDocument:
        """The table as JSON types; it says itself what its rows and columns are."""
        return {
            "rows": "judge",
            "columns": "majority",
            "categories": list(self.categories),
            "counts": [list(row) for row in self.counts],
            "unscored": list(self.unscored),
            "tied": list(self.tied),
        }


def confusion(judge: IntArray, people: Majority, unscored: BoolArray, categories: Sequence[Label]) -> Confusion:
    """Cross the judge's codes (n_items,) with the majority; ties and missing verdicts are counted apart.

    ``unscored`` (n_items,) marks replies without a usable verdict; an item that the judge was never given is
    neither scored nor unscored and appears nowhere.
    """
    q = len(categories)
    scored = judge != MISSING
    decided = people.codes != MISSING
    both = scored & decided
    cells = np.bincount(judge[both] * q + people.codes[both], minlength=q * q).reshape(q, q)
    return Confusion(
        categories=tuple(categories),
        counts=tuple(tuple(row) for row in cells.tolist()),
        unscored=_tally(people.codes[unscored & decided], q),
        tied=_tally(judge[scored & people.tied], q),
    )


def _tally(codes: IntArray, q: int) -> tuple[int, ...]:
    return tuple(np.bincount(codes, minlength=q).tolist())


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge held to the people who rated the same items.

    An unscored reply is a missing rating: it enters no figure, and its number stands beside them.

    Attributes
    ----------
    name
        The judge.
    n_items, scored, unscored, not_judged
        Items of the table; those with a verdict, with a reply that held none, and without a reply.
    mean_cohen_kappa, mean_weighted_cohen_kappa, mean_linear_cohen_kappa
        Mean over annotators of the judge's kappa with each; weighted is quadratic, NaN on a nominal scale.
    human_ceiling, human_ceiling_weighted
        Mean kappa over pairs of annotators, on the items that the judge scored.
    below_ceiling, below_ceiling_weighted
        Human ceiling minus the judge's mean kappa; above 0 the judge falls short. Student's t of the jackknife however
        many items there are: its upper end is what the verdict and the power table test for non-inferiority.
    per_annotator
        The judge beside each annotator: kappa, weighted kappa and percent agreement on their common items.
    percent_agreement
        Mean over annotators of the share of common items with the same category.
    accuracy, majority_cohen_kappa, majority_weighted_cohen_kappa
        Share of the same category, and kappas, against the majority; items on which people tie are left out.
    macro_precision, macro_recall, macro_f1
        Against the majority, averaged over the categories where each is defined (see `macro_scores`).
    spearman, kendall_tau_b, pearson, mae, within_one, bias
        Against the mean score of an item's people: correlations, mean absolute error in score units, share
        at most one step of the scale away, mean difference in score units (above 0: lenient). NaN on a
        nominal scale.
    ceiling
        The same figures of people, by the same names: each annotator against the others, averaged.
    annotators
        Each annotator against the others on the items that the judge scored.
    confusion
        Judge by majority, with ties and unscored replies apart.
    """

    name: str
    n_items: int
    scored: int
    unscored: int
    not_judged: int
    mean_cohen_kappa: Estimate
    mean_weighted_cohen_kappa: Estimate
    human_ceiling: Estimate
    human_ceiling_weighted: Estimate
    below_ceiling: Estimate
    below_ceiling_weighted: Estimate
    per_annotator: tuple[PairAgreement, ...]
    percent_agreement: Estimate
    accuracy: Estimate
    majority_cohen_kappa: Estimate
    spearman: Estimate
    mae: Estimate
    within_one: Estimate
    mean_linear_cohen_kappa: Estimate
    majority_weighted_cohen_kappa: Estimate
    macro_precision: Estimate
    macro_recall: Estimate
    macro_f1: Estimate
    kendall_tau_b: Estimate
    pearson: Estimate
    bias: Estimate
    ceiling: Mapping[str, Estimate]
    annotators: tuple[RaterAgreement, ...]
    confusion: Confusion

    @property
    def left_out(self) -> tuple[str, ...]:
        """Annotators with too few common items to take part in the means over annotators."""
        return tuple(pair.b for pair in self.per_annotator if not pair.in_mean)

    def to_json(self) -> JudgeAgreementDocument:
        """The entry of this judge under ``"judges"``, as JSON types."""
        pairs = self.per_annotator
        return {
            "mean_cohen_kappa": self.mean_cohen_kappa.to_json(),
            "mean_weighted_cohen_kappa": self.mean_weighted_cohen_kappa.to_json(),
            "human_ceiling": self.human_ceiling.to_json(),
            "human_ceiling_weighted": self.human_ceiling_weighted.to_json(),
            "below_ceiling": self.below_ceiling.to_json(),
            "below_ceiling_weighted": self.below_ceiling_weighted.to_json(),
            "percent_agreement": self.percent_agreement.to_json(),
            "accuracy": self.accuracy.to_json(),
            "majority_cohen_kappa": self.majority_cohen_kappa.to_json(),
            "spearman": self.spearman.to_json(),
            "mae": self.mae.to_json(),
            "within_one": self.within_one.to_json(),
            "mean_linear_cohen_kappa": self.mean_linear_cohen_kappa.to_json(),
            "majority_weighted_cohen_kappa": self.majority_weighted_cohen_kappa.to_json(),
            "macro_precision": self.macro_precision.to_json(),
            "macro_recall": self.macro_recall.to_json(),
            "macro_f1": self.macro_f1.to_json(),
            "kendall_tau_b": self.kendall_tau_b.to_json(),
            "pearson": self.pearson.to_json(),
            "bias": self.bias.to_json(),
            "per_annotator": {pair.b: pair.cohen_kappa.to_json() for pair in pairs},
            "per_annotator_weighted": {pair.b: pair.weighted_cohen_kappa.to_json() for pair in pairs},
            "per_annotator_ceiling": {one.rater: one.cohen_kappa.to_json() for one in self.annotators},
            "ceiling": {name: estimate.to_json() for name, estimate in self.ceiling.items()},
            "left_out": list(self.left_out),
            "n_items": self.n_items,
            "scored": self.scored,
            "unscored": self.unscored,
            "not_judged": self.not_judged,
            "confusion": self.confusion.to_json(),
        }


def judge_agreement(
    people: RatingTable,
    judge_codes: npt.ArrayLike,
    *,
    judge_name: str,
    unscored: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeAgreement:
    """Agreement of a judge with each annotator, with their majority and with their mean score.

    Parameters
    ----------
    people
        The annotators' ratings.
    judge_codes
        (n_items,) the judge's category per item of ``people``; -1 where there is no verdict.
    judge_name
        What to call the judge.
    unscored
        (n_items,) booleans: which items without a verdict had a reply that could not be read. By default
        all of them; give it where some items never went to the judge.
    scores
        (n_items,) the judge's scores in units of the scale, for example means over it; a number wherever there is a
        verdict. Correlations, mean absolute error and bias then read these; kappas, accuracy and `within_one` need a
        category and read the verdict. By default all figures read the verdict.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`; the same seed draws the same items.

    Raises
    ------
    ValueError
        If a shape differs from the number of items, a code is off the scale, or an item is both scored and
        unscored.
    """
    judge = check_codes(judge_codes, people, judge_name)
    unread = _checked_unscored(unscored, judge)
    held = RatersAgainstPeople.build(
        people,
        judge[:, None],
        [judge_name],
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
        scores=_checked_scores(scores, judge),
    )
    compared = compare_pairs(
        held.together, held.distinct, held.resampling, [(0, column) for column in held.columns_of_people]
    )
    found, ceiling, short = _figures(held)
    return JudgeAgreement(
        name=judge_name,
        n_items=people.n_items,
        scored=int((judge != MISSING).sum()),
        unscored=int(unread.sum()),
        not_judged=int(((judge == MISSING) & ~unread).sum()),
        per_annotator=compared.pairs,
        annotators=_annotators(held),
        confusion=confusion(judge, majority(people), unread, people.categories),
        ceiling=ceiling,
        human_ceiling=ceiling["mean_cohen_kappa"],
        human_ceiling_weighted=ceiling["mean_weighted_cohen_kappa"],
        below_ceiling=short["mean_cohen_kappa"],
        below_ceiling_weighted=short["mean_weighted_cohen_kappa"],
        **found,
    )


def check_codes(codes: npt.ArrayLike, people: RatingTable, name: str) -> IntArray:
    """A judge's codes as an array. Raises ``ValueError`` where they do not fit the people's ratings."""
    judge = np.asarray(codes, dtype=np.int64)
    if judge.shape != (people.n_items,):
        raise ValueError(f"judge {name!r} has codes of shape {judge.shape} for {people.n_items} items")
    if judge.size and (judge.min() < MISSING or judge.max() >= people.n_categories):
        raise ValueError(f"a code of judge {name!r} is off the scale of {people.n_categories} categories")
    return judge


def _checked_unscored(unscored: npt.ArrayLike | None, judge: IntArray) -> BoolArray:
    if unscored is None:
        return np.asarray(judge == MISSING)
    marked = np.asarray(unscored, dtype=bool)
    if marked.shape != judge.shape:
        raise ValueError(f"unscored has shape {marked.shape} for {len(judge)} items")
    if (marked & (judge != MISSING)).any():
        raise ValueError("an item is marked unscored although the judge has a category for it")
    return marked


def _checked_scores(scores: npt.ArrayLike | None, judge: IntArray) -> FloatArray | None:
    if scores is None:
        return None
    given = np.asarray(scores, dtype=float)
    if given.shape != judge.shape:
        raise ValueError(f"scores have shape {given.shape} for {len(judge)} items")
    if not np.isfinite(given[judge != MISSING]).all():
        raise ValueError("an item with a verdict has no score")
    return given


def _figures(held: RatersAgainstPeople) -> tuple[dict[str, Estimate], dict[str, Estimate], dict[str, Estimate]]:
    """Every figure of the judge, the people's beside it, and how far the judge falls short in kappa."""
    judge, people = figures.build_figures(held, 0), figures.human_ceiling(held)
    reasons, bases = held.reasons(), held.bases()
    paired = count_basis(held.people, held.people.pairable)
    alone = {name: _why_no_ceiling(paired, reason) for name, reason in reasons.items()}
    found = _estimates(judge, held, bases, reasons)
    of_people = figures.count_ceiling_bases(held)
    own = held.people_alone
    ceiling = _estimates(people if own is held else figures.human_ceiling(own), own, of_people, alone)
    short = _estimates(minus(people, judge), held, of_people, alone, "plain", student=True)
    return found, ceiling, short


def _why_no_ceiling(paired: Basis, reason: str) -> str:
    if paired.n_items or reason in (*NO_SCORES.values(), NO_ORDER):
        return reason
    return "no item that the judge scored has two annotators"


def _estimates(
    replicates: Replicates,
    held: RatersAgainstPeople,
    bases: Mapping[str, Basis],
    reasons: Mapping[str, str],
    scale: Scale | Sequence[Scale] = figures.SCALES,
    *,
    student: bool = False,
) -> dict[str, Estimate]:
    found = estimates(
        replicates,
        held.resampling,
        [bases[name] for name in figures.ALL],
        [reasons[name] for name in figures.ALL],
        scale=scale,
        student=student,
    )
    return dict(zip(figures.ALL, found, strict=True))


def _annotators(held: RatersAgainstPeople) -> tuple[RaterAgreement, ...]:
    """Each annotator against the other annotators, on the items that the judge scored."""
    people = held.distinct_people
    raters = [column - held.n_judges for column in held.columns_of_people]
    compared = compare_pairs(held.people, people, held.resampling, cohen.rater_pairs(people), raters=raters)
    return tuple(compare_with_the_rest(held.people, raters, compared.means[1:], held.resampling))
