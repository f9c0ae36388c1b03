"""Shapes of the JSON documents that results of these statistics become; at run time each is a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from annotation.stats.result_types import EstimateDocument
from judging.stats.calibration_types import Lambda

if TYPE_CHECKING:
    from annotation.stats.labels import Label
    from annotation.stats.table import Level
    from judging.stats.multiplicity import Method
    from judging.stats.verdict import Decision


class JudgeFigures(TypedDict, total=False):
    """Figures of a judge beside people: the last nine of marked spans, the others of all else."""

    mean_cohen_kappa: EstimateDocument
    mean_weighted_cohen_kappa: EstimateDocument
    human_ceiling: EstimateDocument
    human_ceiling_weighted: EstimateDocument
    below_ceiling: EstimateDocument
    below_ceiling_weighted: EstimateDocument
    percent_agreement: EstimateDocument
    accuracy: EstimateDocument
    majority_cohen_kappa: EstimateDocument
    spearman: EstimateDocument
    mae: EstimateDocument
    within_one: EstimateDocument
    mean_linear_cohen_kappa: EstimateDocument
    majority_weighted_cohen_kappa: EstimateDocument
    macro_precision: EstimateDocument
    macro_recall: EstimateDocument
    macro_f1: EstimateDocument
    kendall_tau_b: EstimateDocument
    pearson: EstimateDocument
    bias: EstimateDocument
    mean_overlap_f1: EstimateDocument
    mean_labelled_overlap_f1: EstimateDocument
    mean_exact_f1: EstimateDocument
    human_ceiling_overlap: EstimateDocument
    human_ceiling_labelled_overlap: EstimateDocument
    human_ceiling_exact: EstimateDocument
    below_ceiling_overlap: EstimateDocument
    below_ceiling_labelled_overlap: EstimateDocument
    below_ceiling_exact: EstimateDocument


JudgeFigure = Literal[
    "mean_cohen_kappa",
    "mean_weighted_cohen_kappa",
    "human_ceiling",
    "human_ceiling_weighted",
    "below_ceiling",
    "below_ceiling_weighted",
    "percent_agreement",
    "accuracy",
    "majority_cohen_kappa",
    "spearman",
    "mae",
    "within_one",
    "mean_linear_cohen_kappa",
    "majority_weighted_cohen_kappa",
    "macro_precision",
    "macro_recall",
    "macro_f1",
    "kendall_tau_b",
    "pearson",
    "bias",
    "mean_overlap_f1",
    "mean_labelled_overlap_f1",
    "mean_exact_f1",
    "human_ceiling_overlap",
    "human_ceiling_labelled_overlap",
    "human_ceiling_exact",
    "below_ceiling_overlap",
    "below_ceiling_labelled_overlap",
    "below_ceiling_exact",
]
"""The names of `JudgeFigures`."""


class ConfusionDocument(TypedDict):
    """Counts of items: rows are the judge's categories, columns the majority's."""

    rows: Literal["judge"]
    columns: Literal["majority"]
    categories: list[Label]
    counts: list[list[int]]
    unscored: list[int]
    tied: list[int]


class JudgeAgreementDocument(JudgeFigures):
    """A judge held to people; ``per_annotator`` by the names of annotators, ``ceiling`` by those of figures.

    ``not_for`` says by the name of a figure why there is none.
    """

    per_annotator: dict[str, EstimateDocument]
    per_annotator_weighted: NotRequired[dict[str, EstimateDocument]]
    per_annotator_ceiling: NotRequired[dict[str, EstimateDocument]]
    ceiling: NotRequired[dict[str, EstimateDocument]]
    left_out: list[str]
    n_items: int
    scored: int
    unscored: int
    not_judged: int
    confusion: NotRequired[ConfusionDocument | None]
    not_for: NotRequired[dict[str, str | None]]


class JudgeGroupDocument(JudgeAgreementDocument):
    """The same of one group of items."""

    group: str


class FigureDifferenceDocument(TypedDict):
    """One figure of two judges, and the first minus the second."""

    a: EstimateDocument
    b: EstimateDocument
    difference: EstimateDocument


class JudgeDifferenceDocument(TypedDict):
    """Two judges on the items that both scored; ``figures`` by their names in `JudgeFigures`."""

    a: str
    b: str
    n_items: int
    figures: dict[str, FigureDifferenceDocument]


class AltTestAnnotatorDocument(TypedDict):
    """The alternative-annotator test against one annotator; rho is a share of the ``n`` items."""

    annotator: str
    n: int
    rho_judge: float | None
    rho_judge_interval: list[float | None]
    rho_annotator: float | None
    p_value: float | None
    adjusted_p_value: float | None
    test: str
    rejected: bool
    reason: str | None


class AtEpsilonDocument(TypedDict):
    """What the alternative-annotator test says at one epsilon."""

    epsilon: float
    winning_rate: float | None
    passes: bool | None


class AltTestOutcome(TypedDict):
    """Whether a judge passes; ``winning_rate`` is the share of annotators that it beats. None where untestable."""

    winning_rate: float | None
    passes: bool | None
    reason: str | None


class AltTestDocument(AltTestOutcome):
    """The alternative-annotator test of one judge."""

    epsilon: float
    level: float
    scoring: str
    advantage_probability: float | None
    advantage: EstimateDocument
    per_annotator: list[AltTestAnnotatorDocument]
    sweep: list[AtEpsilonDocument]


class PowerDesignDocument(TypedDict):
    """A study as it is simulated."""

    n_items: int
    n_clusters: int
    n_raters: int
    n_categories: int
    level: Level
    kappa: float
    cluster_effect: float
    shares: list[float] | None


class PowerAtDocument(TypedDict):
    """Share of simulated studies that say *replace*, with its interval, of a judge ``below`` the ceiling in kappa."""

    below: float
    kappa: float
    replace: float
    low: float
    high: float
    studies: int
    seed: int


class PowerDocument(TypedDict):
    """A line of a power table."""

    design: PowerDesignDocument | None
    judges: list[PowerAtDocument]
    reason: str | None


class RulesDocument(TypedDict):
    """The thresholds of a verdict."""

    least_items: int
    least_clusters: int
    least_outside: int
    most_unscored: float
    useful: float
    below_ceiling: float
    must_pass_alt_test: bool
    tolerated_biases: list[str]
    required_probes: list[str]
    least_coverage: float
    least_gained: float
    target_agreement: float


class ReasonDocument(TypedDict):
    """One rule, whether it was met, and the best decision that it allows."""

    code: str
    allows: Decision
    met: bool
    message: str


class DecisionDocument(TypedDict):
    """A decision with every rule that was asked."""

    decision: Decision
    reasons: list[ReasonDocument]
    rules: RulesDocument


class ProbeDocument(TypedDict):
    """A probe of a judge; ``details`` are further figures by name."""

    name: str
    effect: EstimateDocument
    unit: str
    test: str
    p_value: float | None
    minimum_detectable_effect: float | None
    details: dict[str, EstimateDocument]


class FindingDocument(ProbeDocument):
    """A probe with what it found; None where it could not be made."""

    adjusted_p_value: float | None
    found: bool | None


class ProbesDocument(TypedDict):
    """All probes of a judge on one criterion, and the names of those that found something."""

    level: float
    correction: Method
    found: list[str]
    probes: list[FindingDocument]


class DuplicatesDocument(TypedDict):
    """Groups of equal items by their names, and those among them whose labels differ."""

    n_groups: int
    n_items: int
    groups: list[list[str]]
    contradictory: list[list[str]]


class BaselineDocument(TypedDict):
    """How often a rule without a model is right, and the judge on the same items."""

    name: str
    accuracy: EstimateDocument
    judge: EstimateDocument
    as_good_as_the_judge: bool | None


class AnnotatorNoiseDocument(TypedDict):
    """Share of an annotator's ``n`` labels that are probably true."""

    annotator: str
    n: int
    accuracy: float | None


class LabelNoiseDocument(TypedDict):
    """Annotators after Dawid and Skene, and those whose scale runs backwards."""

    annotators: list[AnnotatorNoiseDocument]
    backwards: list[str]
    converged: NotRequired[bool]
    reason: str | None


class StageDocument(TypedDict):
    """A stage of a cascade: numbers of items, and its limits of confidence."""

    judge: str
    delta: float
    threshold: float | None
    looked_from: float | None
    reached: int
    kept: int
    set_aside: int
    agreement: EstimateDocument
    agreement_low: float | None
    guaranteed: bool
    reason: str | None


class CascadeDocument(TypedDict):
    """Judges asked one after the other: shares of items, and cost of an item in US dollars."""

    target_agreement: float
    delta: float
    judges: list[str]
    guaranteed: bool
    coverage: EstimateDocument
    agreement: EstimateDocument
    human_share: EstimateDocument
    cost_per_item_usd: float | None
    cost_reason: str | None
    stages: list[StageDocument]


class McNemarDocument(TypedDict):
    """Items on which only the new, and only the old judge is right."""

    n_items: int
    gained: int
    lost: int
    p_value: float | None
    reason: str | None


class RankedJudgeDocument(TypedDict):
    """A judge's figure on the items that it scored, and the best and the worst rank that it may have."""

    judge: str
    figure: EstimateDocument
    ranks: list[int]


class WeightedEstimateDocument(EstimateDocument, Lambda):
    """A corrected figure, with the weight of the judge's scores."""


class ActiveMeanDocument(TypedDict):
    """A mean with labels that were drawn by known probabilities: how many there were before, drawn and labelled."""

    human_only: EstimateDocument
    judge_only: EstimateDocument
    corrected: WeightedEstimateDocument
    before: int
    drawn: int
    labelled: int


class NeededLabelsDocument(TypedDict):
    """Labels in all for an interval of this width, with and without the judge, and how many more."""

    width: float
    labelled: int
    with_judge: float | None
    without_judge: float | None
    more: float | None
    design_effect: float | None
    dependence: str
    reason: str | None
