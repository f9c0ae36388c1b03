"""One headline coefficient per level of scale, the same among people and between a judge and people.

The rule: on a nominal scale, and on one of two categories, unweighted kappa; on an ordered scale kappa with quadratic
weights, categories at equal steps; of rankings and sets kappa weighted by how far they lie apart; of marked spans the
F1 of their characters, which is kappa where nearly all characters are unmarked (Hripcsak and Rothschild 2005, Journal
of the American Medical Informatics Association 12:296-298); of texts there is none; on numbers the concordance
correlation (Lin 1989, Biometrics 45:255-268). Of two raters that is kappa with the squared differences of the numbers
as distances, and an intraclass correlation for absolute agreement: 1 / ICC(2,1) = 1 / CCC - (v / n + d^2 / (n - 1)) /
(2 c), n the items, d the difference of the raters' means, c their covariance and v the variance of their differences
(both over n - 1). It is read beside the ICC of all raters and the interval alpha. Of several people it is the mean over
pairs of them, of a judge the mean over its pairs with each: two means of one coefficient can be subtracted.
"""

from dataclasses import dataclass, replace

from annotation.stats.result_types import HeadlineBelow, HeadlineCeiling, HeadlineDocument, HeadlineJudge, HeadlinePair
from annotation.stats.table import Level


@dataclass(frozen=True)
class Headline:
    """Under what names the headline coefficient stands.

    Attributes
    ----------
    kappa
        Of one pair of raters.
    people
        Among all people.
    judge, ceiling, below
        Of a judge with people, of people on the judge's items, and their difference.
    name
        In words.
    """

    kappa: HeadlinePair
    people: str
    judge: HeadlineJudge
    ceiling: HeadlineCeiling
    below: HeadlineBelow
    name: str

    def to_json(self) -> HeadlineDocument:
        """As JSON types."""
        return {
            "kappa": self.kappa,
            "people": self.people,
            "judge": self.judge,
            "ceiling": self.ceiling,
            "below": self.below,
            "name": self.name,
        }


UNWEIGHTED = Headline(
    "cohen_kappa",
    "mean_pairwise_cohen_kappa",
    "mean_cohen_kappa",
    "human_ceiling",
    "below_ceiling",
    "mean Cohen’s kappa",
)
WEIGHTED = Headline(
    "weighted_cohen_kappa",
    "mean_pairwise_weighted_cohen_kappa",
    "mean_weighted_cohen_kappa",
    "human_ceiling_weighted",
    "below_ceiling_weighted",
    "mean quadratically weighted kappa",
)
OF_RANKINGS = replace(WEIGHTED, name="mean kappa weighted by Kemeny distance")
OF_SETS = replace(WEIGHTED, name="mean kappa weighted by MASI distance")
OF_SPANS = Headline(
    "overlap_f1",
    "overlap_f1",
    "mean_overlap_f1",
    "human_ceiling_overlap",
    "below_ceiling_overlap",
    "mean F1 of the marked characters",
)
CONCORDANCE = replace(WEIGHTED, name="mean concordance correlation (an ICC of two raters)")
"""Under the same names as `WEIGHTED`: with numbers as distances it is the same number."""


BY_LEVEL: dict[Level, Headline] = {"ranking": OF_RANKINGS, "set": OF_SETS, "spans": OF_SPANS}
"""Of labels that are no categories, however many of them occur."""


def choose_headline(level: Level, n_categories: int) -> Headline:
    """The headline coefficient of a scale. Of two categories both are the same number.

    Raises ``ValueError`` for texts, which have none.
    """
    if level == "text":
        raise ValueError("texts have no coefficient of agreement")
    if level in BY_LEVEL:
        return BY_LEVEL[level]
    return UNWEIGHTED if level == "nominal" or n_categories == 2 else CONCORDANCE if level != "ordinal" else WEIGHTED
