"""What may be done with a judge on one criterion: replace people, assist them, or not be used.

Not a statistic but a rule over statistics: the rules are stated, may be changed, and every one says what it found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from annotation.stats.estimate import Estimate

Decision = Literal["replace", "assist and escalate", "do not use"]
ORDER: tuple[Decision, ...] = ("do not use", "assist and escalate", "replace")


@dataclass(frozen=True)
class Rules:
    """The thresholds; change them before looking at the results, not after.

    Attributes
    ----------
    least_items
        Fewer labelled items with a verdict: do not use, whatever they show.
    most_unscored
        A larger share of replies without a verdict: do not use.
    useful
        The lower end of the judge's mean kappa with people must lie above this, or: do not use. 0 is chance.
    below_ceiling
        To replace a person, the judge may lack at most this much kappa to the human ceiling, at the upper end of the
        interval.
    must_pass_alt_test
        To replace a person, the alternative-annotator test must be passed.
    tolerated_biases
        Names of probes, or of families of them (``"invariance"``), whose findings do not stand in the way of replacing
        a person.
    required_probes
        To replace a person, those of these probes that the material calls for must have been made; ``"injection"``
        also where nothing was altered yet.
    least_coverage
        To assist, selective judging must keep at least this share at the guaranteed agreement, or PPI++ must save
        at least ``least_saved`` of the labels.
    least_saved
        See there: labels saved as a share of the labels there are.
    target_agreement
        The agreement that selective judging has to guarantee.
    """

    least_items: int = 50
    most_unscored: float = 0.2
    useful: float = 0.0
    below_ceiling: float = 0.1
    must_pass_alt_test: bool = True
    tolerated_biases: tuple[str, ...] = ()
    required_probes: tuple[str, ...] = ("position", "length", "leniency")
    least_coverage: float = 0.1
    least_saved: float = 0.1
    target_agreement: float = 0.9

    def as_json(self) -> dict[str, Any]:
        """The thresholds as JSON types."""
        lists = {"tolerated_biases": list(self.tolerated_biases), "required_probes": list(self.required_probes)}
        return {**asdict(self), **lists}


@dataclass(frozen=True)
class Facts:
    """What is known of a judge on one criterion (or one tier of it).

    Attributes
    ----------
    labelled
        Items with both people's labels and the judge's verdict.
    unscored
        Share of replies without a verdict, 0 to 1.
    agreement
        The judge's mean kappa with people.
    below_ceiling
        Human ceiling minus that kappa.
    alt_test_passed
        None where it could not be made.
    biases
        Names of the probes that found something.
    not_probed
        Names of the probes that could not be made.
    coverage
        Share kept by selective judging at the guaranteed agreement; 0 where nothing is guaranteed, NaN where the judge
        gives no confidence.
    saved
        Labels saved by PPI++ as a share of the labels there are; NaN where unknown.
    """

    labelled: int
    unscored: float
    agreement: Estimate
    below_ceiling: Estimate
    alt_test_passed: bool | None = None
    biases: tuple[str, ...] = ()
    not_probed: tuple[str, ...] = ()
    coverage: float = np.nan
    saved: float = np.nan


@dataclass(frozen=True)
class Reason:
    """One rule: the best decision that it leaves open, whether it was met, and what was found."""

    code: str
    allows: Decision
    met: bool
    message: str


@dataclass(frozen=True)
class Verdict:
    """The decision with every rule that was asked."""

    decision: Decision
    reasons: tuple[Reason, ...]
    rules: Rules

    @property
    def against(self) -> tuple[Reason, ...]:
        """The rules that were not met: why it is not a better decision."""
        return tuple(reason for reason in self.reasons if not reason.met)

    def as_json(self) -> dict[str, Any]:
        """The verdict as JSON types."""
        return {
            "decision": self.decision,
            "reasons": [asdict(reason) for reason in self.reasons],
            "rules": self.rules.as_json(),
        }


Rule = Callable[[Facts, Rules], Reason]


def verdict(facts: Facts, rules: Rules | None = None) -> Verdict:
    """The best decision that no rule forbids.

    What is not known never speaks for the judge: a figure that is NaN fails its rule and says why.

    Examples
    --------
    >>> from judging.stats.asymptotic import undefined
    >>> nothing = undefined("no labels", n_items=0)
    >>> verdict(Facts(labelled=0, unscored=0.0, agreement=nothing, below_ceiling=nothing)).decision
    'do not use'
    """
    chosen = rules or Rules()
    reasons = tuple(rule(facts, chosen) for rule in RULES)
    place = min((ORDER.index(reason.allows) for reason in reasons if not reason.met), default=len(ORDER) - 1)
    return Verdict(ORDER[place], reasons, chosen)


def verdicts_by_tier(facts: Mapping[str, Facts], rules: Rules | None = None) -> dict[str, Verdict]:
    """The verdict within each tier of difficulty: a judge may replace people on easy items and not on hard ones."""
    return {tier: verdict(known, rules) for tier, known in facts.items()}


def _enough(facts: Facts, rules: Rules) -> Reason:
    met = facts.labelled >= rules.least_items
    message = f"{facts.labelled} items with labels and a verdict; {rules.least_items} are needed"
    return Reason("labelled", "do not use", met, message)


def _readable(facts: Facts, rules: Rules) -> Reason:
    met = facts.unscored <= rules.most_unscored
    message = f"{facts.unscored:.1%} of the replies held no verdict; at most {rules.most_unscored:.0%} may"
    return Reason("unscored", "do not use", met, message)


def _useful(facts: Facts, rules: Rules) -> Reason:
    met = facts.agreement.low > rules.useful
    message = f"mean kappa with people is {_said(facts.agreement)}; its lower end must be above {rules.useful:g}"
    return Reason("agreement", "do not use", met, message)


def _worth_asking(facts: Facts, rules: Rules) -> Reason:
    met = facts.coverage >= rules.least_coverage or facts.saved >= rules.least_saved
    kept = "no confidence to select by" if np.isnan(facts.coverage) else f"{facts.coverage:.1%} may be kept unseen"
    saved = "labels saved unknown" if np.isnan(facts.saved) else f"{facts.saved:.1%} of the labels saved"
    message = f"{kept} (at least {rules.least_coverage:.0%}), {saved} (or at least {rules.least_saved:.0%})"
    return Reason("worth", "do not use", met, message)


def _near_people(facts: Facts, rules: Rules) -> Reason:
    met = facts.below_ceiling.high <= rules.below_ceiling
    message = (
        f"kappa is below that of people with each other by {_said(facts.below_ceiling)}; "
        f"the upper end may be at most {rules.below_ceiling:g}"
    )
    return Reason("ceiling", "assist and escalate", met, message)


def _as_good_as_a_person(facts: Facts, rules: Rules) -> Reason:
    known = {True: "passed", False: "not passed", None: "not possible: it takes two annotators or more"}
    met = facts.alt_test_passed is True or not rules.must_pass_alt_test
    message = f"the alternative-annotator test is {known[facts.alt_test_passed]}"
    return Reason("alt_test", "assist and escalate", met, message)


def _unbiased(facts: Facts, rules: Rules) -> Reason:
    standing = [name for name in facts.biases if not _among(name, rules.tolerated_biases)]
    unknown = [name for name in facts.not_probed if _among(name, rules.required_probes)]
    message = f"biases found: {', '.join(standing)}" if standing else "no bias found that is not tolerated"
    if unknown:
        message += f"; could not be probed: {', '.join(unknown)}"
    return Reason("biases", "assist and escalate", not (standing or unknown), message)


def _among(probe: str, names: Sequence[str]) -> bool:
    """Whether a probe is named, by itself or by its family: ``injection`` stands for ``injection:note``."""
    return probe in names or probe.partition(":")[0] in names


def _said(estimate: Estimate) -> str:
    if not estimate.defined:
        return f"unknown ({estimate.reason})"
    if np.isnan(estimate.low):
        return f"{estimate.value:.2f} without an interval"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


RULES: Sequence[Rule] = (
    _enough,
    _readable,
    _useful,
    _worth_asking,
    _near_people,
    _as_good_as_a_person,
    _unbiased,
)
"""Asked in this order; every one is asked, so that all reasons can be read."""
