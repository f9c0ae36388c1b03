"""One headline coefficient per level of scale, the same among people and between a judge and people.

The rule: on a nominal scale, and on one of two categories, unweighted kappa; on an ordered scale kappa with quadratic
weights, categories at equal steps; of rankings kappa weighted by how far they lie apart; on numbers the concordance
correlation (Lin 1989, Biometrics 45:255-268). Of two raters that is kappa with the squared differences of the numbers
as distances, and an intraclass correlation for absolute agreement: 1 / ICC(2,1) = 1 / CCC - (v / n + d^2 / (n - 1)) /
(2 c), n the items, d the difference of the raters' means, c their covariance and v the variance of their differences
(both over n - 1). It is read beside the ICC of all raters and the interval alpha. Of several people it is the mean over
pairs of them, of a judge the mean over its pairs with each: two means of one coefficient can be subtracted.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

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

    kappa: str
    people: str
    judge: str
    ceiling: str
    below: str
    name: str

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self)


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
CONCORDANCE = replace(WEIGHTED, name="mean concordance correlation (an ICC of two raters)")
"""Under the same names as `WEIGHTED`: with numbers as distances it is the same number."""


def choose_headline(level: Level, n_categories: int) -> Headline:
    """The headline coefficient of a scale. Of two categories both are the same number."""
    if level == "nominal" or n_categories == 2:
        return UNWEIGHTED
    return {"ordinal": WEIGHTED, "ranking": OF_RANKINGS}.get(level, CONCORDANCE)
