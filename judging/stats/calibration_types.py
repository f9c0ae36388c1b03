"""Shapes of the JSON documents that the parts of a calibration become; at run time each is a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from annotation.stats.result_types import EstimateDocument, NoteDocument

if TYPE_CHECKING:
    from judging.stats.calibration import MapName

Lambda = TypedDict("Lambda", {"lambda": float | None})
"""The weight of the judge's scores in a corrected figure, 0 to 1; a word of Python cannot be a name in a class."""


class CorrectedEstimateDocument(EstimateDocument, Lambda):
    """A figure corrected by PPI++: how many labels it is worth, and the gain as a share of the labels there are."""

    effective_n: float | None
    effective_sample_size_gained: float | None


class CorrectedDocument(TypedDict):
    """A mean or rate by labels alone, by the judge alone, and corrected."""

    human_only: EstimateDocument
    judge_only: EstimateDocument
    ppi: CorrectedEstimateDocument


class RoganGladenIntervals(TypedDict):
    """How often the judge says yes where people do, and no where people do."""

    sensitivity: EstimateDocument
    specificity: EstimateDocument


class RoganGladenDocument(EstimateDocument):
    """The rate corrected by sensitivity and specificity."""

    sensitivity: float | None
    specificity: float | None
    intervals: RoganGladenIntervals


class IsotonicDocument(TypedDict):
    """A rising map by its points."""

    method: Literal["isotonic"]
    scores: list[float]
    values: list[float]


class OrdinalLogisticDocument(TypedDict):
    """A proportional-odds map by its parameters; ``range`` is that of the scores it was fitted to."""

    method: Literal["ordinal-logistic"]
    slope: float
    thresholds: list[float]
    categories: list[float]
    range: list[float]


class BinDocument(TypedDict):
    """A point of the reliability diagram: ``n`` items whose score lies from ``low`` to ``high``."""

    low: float
    high: float
    n: int
    score: float
    human: EstimateDocument


class ReliabilityIntervals(TypedDict):
    """Errors of scores; ``ece`` and ``brier`` on the scale of 0 to 1, the others in units of the scale."""

    ece: EstimateDocument
    brier: EstimateDocument
    mae: EstimateDocument
    sharpness: EstimateDocument


class ReliabilityDocument(TypedDict):
    """Scores beside people's labels: the values of ``intervals``, but ``ece`` of the items alone; and the diagram."""

    ece: float | None
    brier: float | None
    mae: float | None
    sharpness: float | None
    n: int
    left_out: int
    bins: list[BinDocument]
    intervals: ReliabilityIntervals


class RecalibrationDocument(TypedDict):
    """The judge's scores before and after a map, and the map; on a study, what they are and whether it helps."""

    method: MapName
    out_of_sample: Literal[True]
    folds: int
    seed: int
    before: ReliabilityDocument
    after: ReliabilityDocument
    outside_range: int
    map: IsotonicDocument | OrdinalLogisticDocument | None
    reason: str | None
    of: NotRequired[str]
    improves: NotRequired[bool | None]
    advice: NotRequired[str | None]


class SelectionIntervals(TypedDict):
    """Shares: of all items that are kept, and of these that agree with people's label, and with a random person."""

    coverage: EstimateDocument
    agreement: EstimateDocument
    agreement_with_person: EstimateDocument


class GuaranteeDocument(TypedDict):
    """Whether a target agreement, 0 to 1, is guaranteed, and the share that is kept; or ruled out whatever is kept."""

    target_agreement: float
    coverage: float | None
    guaranteed: bool
    ruled_out: bool
    reason: str | None


class SelectionDocument(GuaranteeDocument):
    """What selective judging guarantees at one target agreement; with the values of ``intervals``."""

    delta: float
    threshold: float | None
    agreement: float | None
    agreement_with_person: float | None
    agreement_low: float | None
    method: str
    clusters: int
    ties: int
    intervals: SelectionIntervals


class RiskPointDocument(TypedDict):
    """Shares kept, and of these wrong, at one threshold of confidence."""

    threshold: float
    coverage: float
    risk: float


class RiskCoverageDocument(TypedDict):
    """The risk-coverage curve and the area under it."""

    aurc: EstimateDocument
    points: list[RiskPointDocument]


class CalibrationFiguresDocument(CorrectedDocument):
    """All figures of a calibration; ``by_category`` is empty where the scale has a mean."""

    n_labelled: int
    n_unlabelled: int
    unscored: int
    estimand: str
    by_category: dict[str, CorrectedDocument]
    rogan_gladen: RoganGladenDocument | None
    scores: RecalibrationDocument | None
    gained: EstimateDocument
    selective: list[SelectionDocument]
    risk_coverage: RiskCoverageDocument
    warnings: list[NoteDocument]


class RecomputedDocument(TypedDict):
    """A figure, and what another library makes of the same data."""

    figure: str
    value: float | None
    library: str
    other: float | None


class SecondOpinionDocument(TypedDict):
    """The figures that another library has as well; listed are those that differ."""

    recomputed: int
    libraries: list[str]
    largest_difference: float | None
    agrees: bool
    message: str
    different: list[RecomputedDocument]


class AccuracyAtDocument(TypedDict):
    """Expected number of items of a tier, and the share on which the judge gives people's label."""

    items: float
    accuracy: EstimateDocument


class TierAccuracyDocument(TypedDict):
    """Agreement by tier, from easy on; ``sure`` is the mean probability of the likeliest tier."""

    sure: float | None
    by_tier: dict[str, AccuracyAtDocument]


class GroupRankDocument(TypedDict):
    """A group's mean and rank on a board; 1 is best."""

    group: str
    mean: EstimateDocument
    rank: EstimateDocument


class BoardRowDocument(TypedDict):
    """An assistant's standing on a board: share won, log strength, and rank, of which 1 is best."""

    assistant: str
    win_rate: EstimateDocument
    strength: EstimateDocument
    rank: EstimateDocument


class BoardsDocument(Lambda):
    """Boards of assistants by people, by the judge, and corrected; the last may be empty."""

    people: list[BoardRowDocument]
    judge: list[BoardRowDocument]
    corrected: list[BoardRowDocument]
    reason: str | None
