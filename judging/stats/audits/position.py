"""Does the judge prefer a place on the page?

Wang et al. (2023), "Large Language Models are not Fair Evaluators", arXiv 2305.17926; Zheng et al. (2023), NeurIPS.
"""

import numpy as np
import numpy.typing as npt

from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import SHARES, Probe, mean_probe

UNIT = "share of pairs, from -1 (always the second) to 1 (always the first)"


def position_both_orders(
    preference_ab: npt.ArrayLike, preference_ba: npt.ArrayLike, *, design: SamplingDesign = SIMPLE
) -> Probe:
    """Preference for the first place among pairs judged in both orders.

    Parameters
    ----------
    preference_ab, preference_ba
        (n,) the judge's preference for response A (1 A, 0 B, 0.5 tie, NaN unscored) with A shown first, and second.
    design
        As in `mean_probe`.

    Returns
    -------
    Probe
        The effect is the share of pairs in which the first place won both times minus that of the second place.
        ``details["consistency"]``: share of pairs with the same response preferred in both orders.
    """
    ab, ba = np.asarray(preference_ab, dtype=float), np.asarray(preference_ba, dtype=float)
    both = ~np.isnan(ab) & ~np.isnan(ba)
    same = design.count_share(ab == ba, both, reason="no pair was judged in both orders")
    return mean_probe(
        "position",
        ab - ba,
        unit=UNIT,
        design=design,
        details={"consistency": same},
        why_few="pairs in both orders",
        bounds=SHARES,
    )


def position_one_order(
    first_by_judge: npt.ArrayLike, first_by_person: npt.ArrayLike, *, design: SamplingDesign = SIMPLE
) -> Probe:
    """Preference for the first place beyond people's, among pairs judged in one order each.

    Parameters
    ----------
    first_by_judge, first_by_person
        (n,) preference for the response that the judge was shown first: 1, 0, or 0.5; NaN where missing.
    design
        As in `mean_probe`.
    """
    d = np.asarray(first_by_judge, dtype=float) - np.asarray(first_by_person, dtype=float)
    return mean_probe("position", d, unit=UNIT, design=design, why_few="pairs with both verdicts", bounds=SHARES)
