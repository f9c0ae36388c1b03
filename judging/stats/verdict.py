"""What may be done with a judge on one criterion: replace people, assist them, not be used, or not enough evidence.

Not a statistic but a rule over statistics: the rules are stated, may be changed, and every one says what it found.
*Do not use* takes positive evidence; where a figure or its interval is missing or too wide, the evidence is not enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import BCA
from judging.stats.result_types import DecisionDocument, RulesDocument

Decision = Literal["replace", "assist and escalate", "not enough evidence", "do not use"]
ORDER: tuple[Decision, ...] = ("do not use", "not enough evidence", "assist and escalate", "replace")
"""From the worst: what is known to be bad on one rule, or one criterion, is not mended by what is unknown elsewhere."""


@dataclass(frozen=True)
class Rules:
    """The thresholds; change them before looking at the results, not after.

    Attributes
    ----------
    least_items, least_clusters, least_outside
        Fewer labelled items with a verdict, fewer clusters (profiles, questions) among them, or fewer that people put
        outside the commonest category: not enough evidence.
    most_unscored
        A larger share of replies without a verdict: do not use, where the whole interval is larger.
    useful
        The lower end of the judge's mean kappa with people must lie above this; 0 is chance. Do not use, where the
        whole interval lies at or below it, or where the judge gives every item the same verdict.
    below_ceiling
        To replace a person, the judge may lack at most this much kappa to the human ceiling, at the upper end of the
        interval (`judging.stats.agreement`): a one-sided test of non-inferiority at 2.5 %.
    must_pass_alt_test
        To replace a person, the alternative-annotator test must be passed.
    tolerated_biases
        Names of probes, or of families of them (``"invariance"``), whose findings do not stand in the way of replacing
        a person.
    required_probes
        To replace a person, those of these probes that the material calls for must have been made; ``"injection"``
        also where nothing was altered yet.
    least_coverage
        To assist, at least this share of the verdicts must be accepted without review at the guaranteed agreement, or
        the effective sample size gained must be at least ``least_gained``; each by the lower end of its interval. Not
        asked of a judge that may stand in for a person.
    least_gained
        See there: as a share of the labels there are.
    target_agreement
        The agreement that selective judging has to guarantee.
    """

    least_items: int = 50
    least_clusters: int = 10
    least_outside: int = 10
    most_unscored: float = 0.2
    useful: float = 0.0
    below_ceiling: float = 0.1
    must_pass_alt_test: bool = True
    tolerated_biases: tuple[str, ...] = ()
    required_probes: tuple[str, ...] = ("position", "length", "leniency")
    least_coverage: float = 0.1
    least_gained: float = 0.1
    target_agreement: float = 0.9

    def to_json(self) -> RulesDocument:
        """The thresholds as JSON types."""
        return {
            "least_items": self.least_items,
            "least_clusters": self.least_clusters,
            "least_outside": self.least_outside,
            "most_unscored": self.most_unscored,
            "useful": self.useful,
            "below_ceiling": self.below_ceiling,
            "must_pass_alt_test": self.must_pass_alt_test,
            "tolerated_biases": list(self.tolerated_biases),
            "required_probes": list(self.required_probes),
            "least_coverage": self.least_coverage,
            "least_gained": self.least_gained,
            "target_agreement": self.target_agreement,
        }


@dataclass(frozen=True)
class Facts:
    """What is known of a judge on one criterion (or one tier of it).

    Attributes
    ----------
    labelled, clusters
        Items with both people's labels and the judge's verdict, and the independent units among them.
    outside
        How many of them people put outside their commonest category: items times the share of such ratings.
    unscored
        Share of replies without a verdict, 0 to 1; undefined where nothing was asked.
    agreement
        The judge's mean kappa with people.
    below_ceiling
        Human ceiling minus that kappa.
    accepted
        Share of the verdicts accepted without review at the guaranteed agreement; undefined where none is guaranteed.
    gained
        Effective sample size gained by PPI++, as a share of the labels there are.
    constant
        Whether the judge gave all these items the same verdict: its kappa is 0 by definition, without an interval.
    acceptance_ruled_out
        Whether even the surest verdicts are known to agree less often than is asked for.
    alt_test_passed
        None where it could not be made.
    biases
        Names of the probes that found something.
    not_probed
        Names of the probes that could not be made.
    """

    labelled: int
    clusters: int
    outside: float
    unscored: Estimate
    agreement: Estimate
    below_ceiling: Estimate
    accepted: Estimate
    gained: Estimate
    constant: bool = False
    acceptance_ruled_out: bool = False
    alt_test_passed: bool | None = None
    biases: tuple[str, ...] = ()
    not_probed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reason:
    """One rule: the best decision that it leaves open, whether it was met, and what was found."""

    code: str
    allows: Decision
    met: bool
    message: str


@dataclass(frozen=True)
class CriterionDecision:
    """The decision with every rule that was asked."""

    decision: Decision
    reasons: tuple[Reason, ...]
    rules: Rules

    @property
    def against(self) -> tuple[Reason, ...]:
        """The rules that were not met: why it is not a better decision."""
        return tuple(reason for reason in self.reasons if not reason.met)

    def to_json(self) -> DecisionDocument:
        """The verdict as JSON types."""
        return {
            "decision": self.decision,
            "reasons": [
                {"code": one.code, "allows": one.allows, "met": one.met, "message": one.message} for one in self.reasons
            ],
            "rules": self.rules.to_json(),
        }


Rule = Callable[[Facts, Rules], Reason]


def verdict(facts: Facts, rules: Rules | None = None) -> CriterionDecision:
    """The best decision that no rule forbids.

    What is not known never speaks for the judge, nor against it: a figure that is NaN fails its rule and says why.

    Examples
    --------
    >>> from annotation.stats.shares import build_undefined
    >>> nothing = build_undefined("no labels", n_items=0)
    >>> verdict(Facts(0, 0, 0.0, nothing, nothing, nothing, accepted=nothing, gained=nothing)).decision
    'not enough evidence'
    """
    chosen = rules or Rules()
    reasons = tuple(rule(facts, chosen) for rule in RULES)
    place = min((ORDER.index(reason.allows) for reason in reasons if not reason.met), default=len(ORDER) - 1)
    return CriterionDecision(ORDER[place], reasons, chosen)


def _is_enough(facts: Facts, rules: Rules) -> bool:
    many = facts.labelled >= rules.least_items and facts.clusters >= rules.least_clusters
    return many and facts.outside >= rules.least_outside


def _enough(facts: Facts, rules: Rules) -> Reason:
    message = (
        f"{facts.labelled} labelled items with a verdict ({rules.least_items} needed), in {facts.clusters} clusters "
        f"({rules.least_clusters} needed), {facts.outside:.0f} outside the commonest category "
        f"({rules.least_outside} needed)"
    )
    return Reason("labelled", "not enough evidence", _is_enough(facts, rules), message)


def _readable(facts: Facts, rules: Rules) -> Reason:
    share, most = facts.unscored, rules.most_unscored
    said = f"{100 * share.value:.1f} % of replies unscored" if share.defined else "no replies"
    refuted = share.low > most and share.n_items >= rules.least_items
    allows: Decision = "do not use" if refuted else "not enough evidence"
    return Reason("unscored", allows, share.value <= most, f"{said} (at most {100 * most:.0f} %)")


def _useful(facts: Facts, rules: Rules) -> Reason:
    met = facts.agreement.low > rules.useful
    refuted = (facts.constant or facts.agreement.high <= rules.useful) and _is_enough(facts, rules)
    message = f"judge–human kappa {_format_estimate(facts.agreement)} (lower limit above {rules.useful:g})"
    if facts.constant:
        message += "; the judge gave every item the same verdict"
    return Reason("agreement", "do not use" if refuted else "not enough evidence", met, message)


def _is_worth_labelling(facts: Facts, rules: Rules) -> Reason:
    """Met by either, or where the judge may stand in for a person; ruled out where both are known to fall short."""
    met = facts.accepted.low >= rules.least_coverage or facts.gained.low >= rules.least_gained
    met = met or all(rule(facts, rules).met for rule in TO_REPLACE)
    kept_less = facts.acceptance_ruled_out or facts.accepted.high < rules.least_coverage
    refuted = kept_less and facts.gained.high < rules.least_gained and _is_enough(facts, rules)
    message = (
        f"accepted without review: {_share(facts.accepted)} (at least {100 * rules.least_coverage:.0f} %); "
        f"effective sample size gained: {_share(facts.gained)} (or at least {100 * rules.least_gained:.0f} %)"
    )
    return Reason("worth", "do not use" if refuted else "not enough evidence", met, message)


def _near_people(facts: Facts, rules: Rules) -> Reason:
    upper = _upper_end(facts.below_ceiling, facts.clusters)
    met = upper <= rules.below_ceiling
    wider = "" if not upper > facts.below_ceiling.high else f" ({upper:.2f} by Student's t)"
    message = (
        f"inter-annotator agreement minus judge–human kappa: {_format_estimate(facts.below_ceiling)}; "
        f"the upper limit{wider} may be at most {rules.below_ceiling:g}"
    )
    return Reason("ceiling", "assist and escalate", met, message)


def _upper_end(estimate: Estimate, clusters: int) -> float:
    """The upper end of the interval, which is Student's t; NaN where there is no interval.

    Of many items, documents of earlier versions hold a bootstrap interval: there it is the larger one of its upper end
    and of Student's t with one degree of freedom fewer than there are clusters.
    """
    if estimate.method != BCA or clusters < 2 or np.isnan(estimate.se):
        return estimate.high
    t = float(scipy.special.stdtrit(clusters - 1, (1 + estimate.confidence) / 2))
    return estimate.high if np.isnan(estimate.high) else max(estimate.high, estimate.value + t * estimate.se)


def _as_good_as_a_person(facts: Facts, rules: Rules) -> Reason:
    known = {True: "passed", False: "not passed", None: "not run: it needs two annotators"}
    met = facts.alt_test_passed is True or not rules.must_pass_alt_test
    message = f"alternative-annotator test {known[facts.alt_test_passed]}"
    return Reason("alt_test", "assist and escalate", met, message)


def _unbiased(facts: Facts, rules: Rules) -> Reason:
    standing = [name for name in facts.biases if not _among(name, rules.tolerated_biases)]
    unknown = [name for name in facts.not_probed if _among(name, rules.required_probes)]
    message = f"biases found: {', '.join(standing)}" if standing else "no bias found beyond those tolerated"
    if unknown:
        message += f"; not run: {', '.join(unknown)}"
    return Reason("biases", "assist and escalate", not (standing or unknown), message)


def _among(probe: str, names: Sequence[str]) -> bool:
    """Whether a probe is named, by itself or by its family: ``injection`` stands for ``injection:note``."""
    return probe in names or probe.partition(":")[0] in names


def _format_estimate(estimate: Estimate) -> str:
    if not estimate.defined:
        return f"unknown ({estimate.reason})"
    if np.isnan(estimate.low):
        return f"{estimate.value:.2f} without an interval"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]".replace("-", "\N{MINUS SIGN}")


def _share(estimate: Estimate) -> str:
    if not estimate.defined:
        return f"unknown ({estimate.reason})"
    if np.isnan(estimate.low):
        return f"{100 * estimate.value:.1f} % without an interval"
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f} %, {100 * estimate.high:.1f} %]"


TO_REPLACE: Sequence[Rule] = (_near_people, _as_good_as_a_person, _unbiased)
"""Asked before the judge may stand in for a person."""

RULES: Sequence[Rule] = (_enough, _readable, _useful, _is_worth_labelling, *TO_REPLACE)
"""Asked in this order; every one is asked, so that all reasons can be read."""
