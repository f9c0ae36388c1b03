"""The verdict on a judge, per criterion and tier, from its calibration, its audits and the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.utils.translation import gettext_noop

from annotation.stats.estimate import Estimate
from annotation.stats.result_types import EstimateDocument, HeadlinePair
from core.errors import InputError
from core.options.model import LARGEST
from judging.assessment.result_types import (
    AuditDocument,
    CalibrationDocument,
    CriterionAuditDocument,
    CriterionCalibrationDocument,
    TierDocument,
    TierGuaranteeDocument,
    VerdictDocument,
)
from judging.stats.asymptotic import build_undefined
from judging.stats.calibration_types import SelectionDocument
from judging.stats.power import PowerDesign, compute_power
from judging.stats.result_types import JudgeFigures, PowerDocument
from judging.stats.verdict import ORDER, CriterionDecision, Decision, Facts, Rules, verdict

RULES = {
    "least_items": gettext_noop("Labelled items with a verdict, at least"),
    "least_clusters": gettext_noop("Clusters (profiles, questions) among them, at least"),
    "least_outside": gettext_noop("Items outside the commonest category, at least"),
    "most_unscored": gettext_noop("Unscored replies, at most (share)"),
    "useful": gettext_noop("Lower limit of judge–human kappa, above"),
    "below_ceiling": gettext_noop("Kappa below inter-annotator agreement, at most (upper limit)"),
    "least_coverage": gettext_noop("Verdicts accepted without review at the guaranteed agreement, at least (share)"),
    "target_agreement": gettext_noop("Agreement to guarantee (share)"),
    "least_gained": gettext_noop("Or effective sample size gained, at least (share of the labels)"),
}
"""The numbers among the rules, as a researcher is asked for them."""

LISTS = ("tolerated_biases", "required_probes")
"""The rules that are names of probes, or of families of them."""

OTHERS = {
    "must_pass_alt_test": gettext_noop("To replace a person, the alternative-annotator test"),
    "tolerated_biases": gettext_noop("Tolerated biases"),
    "required_probes": gettext_noop("Probes that must be run"),
}
"""The other rules in words."""

NAMES = (*RULES, *OTHERS)
"""All rules that can be changed."""

COUNTS = ("least_items", "least_clusters", "least_outside")
SWITCH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
OF_POWER = ("least_items", "least_clusters", "least_outside", "useful", "below_ceiling", "must_pass_alt_test")
"""The rules that the power table depends on."""

SHARES = ("most_unscored", "least_coverage", "target_agreement")


@dataclass(frozen=True)
class CriterionVerdict:
    """The verdict on one criterion, over all items and within tiers.

    Attributes
    ----------
    key, name
        Of the criterion.
    kappa, ceiling
        The judge's mean kappa with people, and people's with each other, as estimates in a document.
    whole, tiers
        The verdicts.
    counts
        By tier, its items with a verdict of the judge: those that its decision rests on.
    power
        How often studies like this one say *replace*, as in a document.
    """

    key: str
    name: str
    kappa: EstimateDocument
    ceiling: EstimateDocument
    whole: CriterionDecision
    tiers: Mapping[str, CriterionDecision]
    counts: Mapping[str, int]
    power: PowerDocument

    def to_json(self) -> VerdictDocument:
        """As JSON types."""
        return {
            "criterion": self.key,
            "name": self.name,
            "kappa": self.kappa,
            "human_ceiling": self.ceiling,
            **self.whole.to_json(),
            "power": self.power,
            "tiers": {
                tier: {
                    "decision": (found := one.to_json())["decision"],
                    "reasons": found["reasons"],
                    "rules": found["rules"],
                    "n_items": self.counts[tier],
                }
                for tier, one in self.tiers.items()
            },
        }


def parse_rules(given: Mapping[str, str], rules: Rules) -> Rules:
    """Rules as they are typed; what is not given stays as it is. Raises InputError where a value makes no sense."""
    for name in RULES:
        if text := given.get(name, "").strip():
            rules = replace(rules, **{name: _parse_number(name, text)})  # type: ignore[arg-type]
    if "must_pass_alt_test" in given:
        rules = replace(rules, must_pass_alt_test=_parse_switch("must_pass_alt_test", given["must_pass_alt_test"]))
    for name in LISTS:
        if typed := given.get(name, "").strip():
            names = () if typed == "none" else tuple(part.strip() for part in typed.split(",") if part.strip())
            rules = replace(rules, **{name: names})  # type: ignore[arg-type]
    return rules


def describe_rules(rules: Mapping[str, object]) -> list[tuple[str, str]]:
    """Rules as they are kept, each with what it asks for, for a reader."""
    return [({**RULES, **OTHERS}.get(name, name), _in_words(value)) for name, value in rules.items()]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return gettext_noop("must be passed") if value else gettext_noop("need not be passed")
    return (", ".join(value) or gettext_noop("none")) if isinstance(value, list) else f"{value:g}"


def _parse_switch(name: str, text: str) -> bool:
    if text not in SWITCH:
        raise InputError("{text!r} is neither yes nor no", field=name, text=text)
    return SWITCH[text]


def _parse_number(name: str, text: str) -> float | int:
    try:
        value = int(text) if name in COUNTS else float(text)
    except ValueError as error:
        raise InputError("{text!r} is not a number", field=name, text=text) from error
    if not (-1 if name in ("useful", "below_ceiling") else 0) <= value <= LARGEST:
        raise InputError("{text} is out of range", field=name, text=text)
    if name in SHARES and value > 1:
        raise InputError("{text} is not a share: it must lie between 0 and 1", field=name, text=text)
    return value


def compute_verdicts(calibration: CalibrationDocument, audit: AuditDocument, rules: Rules) -> list[CriterionVerdict]:
    """The verdicts on all criteria, from the results of a calibration run and an audit run."""
    audits = audit["criteria"]
    return [_of_criterion(found, audits.get(key), rules) for key, found in calibration["criteria"].items()]


def _of_criterion(
    document: CriterionCalibrationDocument, audit: CriterionAuditDocument | None, rules: Rules
) -> CriterionVerdict:
    probed = _probed(audit)
    kappa, ceiling, _ = _kappas(document["agreement"], document["kappa"])
    by_tier = document["tiers"]["by_tier"]
    return CriterionVerdict(
        key=document["criterion"],
        name=document["name"],
        kappa=kappa,
        ceiling=ceiling,
        whole=verdict(_facts(document, document["kappa"], probed, rules), rules),
        tiers={tier: verdict(_facts(part, document["kappa"], probed, rules), rules) for tier, part in by_tier.items()},
        counts={tier: _count_labelled(part, document["kappa"]) for tier, part in by_tier.items()},
        power=_power(document["power"], rules),
    )


@dataclass(frozen=True)
class ProbeOutcomes:
    """Names of the probes that found something, and of those that could not be made."""

    found: tuple[str, ...]
    not_made: tuple[str, ...]


def _probed(audit: CriterionAuditDocument | None) -> ProbeOutcomes:
    if audit is None:
        return ProbeOutcomes((), Rules().required_probes)
    not_made = tuple(probe["name"] for probe in audit["probes"] if probe["found"] is None)
    return ProbeOutcomes(tuple(audit["found"]), not_made)


POWER_STUDIES = 200


def _power(kept: PowerDocument, rules: Rules) -> PowerDocument:
    """The line of the power table that was kept with the calibration, or that by other rules."""
    if kept["design"] is None or all(getattr(rules, name) == getattr(Rules(), name) for name in OF_POWER):
        return kept
    return _compute_power(PowerDesign.from_json(kept["design"]), rules)


@lru_cache(maxsize=256)
def _compute_power(design: PowerDesign, rules: Rules) -> PowerDocument:
    return compute_power(design, rules, studies=POWER_STUDIES)


def _kappas(
    agreement: JudgeFigures, kappa: HeadlinePair
) -> tuple[EstimateDocument, EstimateDocument, EstimateDocument]:
    """The judge's kappa, people's, and the difference: weighted on a scale of several ordered steps."""
    if kappa == "cohen_kappa":
        return agreement["mean_cohen_kappa"], agreement["human_ceiling"], agreement["below_ceiling"]
    people, below = agreement["human_ceiling_weighted"], agreement["below_ceiling_weighted"]
    return agreement["mean_weighted_cohen_kappa"], people, below


def _count_labelled(part: CriterionCalibrationDocument | TierDocument, kappa: HeadlinePair) -> int:
    """Items with a verdict and a rating, on which the judge's kappa rests: not those that nobody could judge."""
    return _kappas(part["agreement"], kappa)[0]["n_items"] or 0


def _facts(
    part: CriterionCalibrationDocument | TierDocument, kappa: HeadlinePair, probed: ProbeOutcomes, rules: Rules
) -> Facts:
    """What the rules ask of a criterion or a tier."""
    judge, _, below = _kappas(part["agreement"], kappa)
    alt_test, found = part["alt_test"], _selection(part["selective"], rules.target_agreement)
    return Facts(
        labelled=_count_labelled(part, kappa),
        clusters=part["labels"]["clusters"],
        outside=part["labels"]["outside_commonest"],
        unscored=Estimate.from_json(part["unscored_share"]),
        agreement=Estimate.from_json(judge),
        below_ceiling=Estimate.from_json(below),
        accepted=_accepted(found, rules.target_agreement),
        gained=Estimate.from_json(part["gained"]),
        constant=part["labels"].get("constant", False),  # older documents do not say
        acceptance_ruled_out=found is not None and found["ruled_out"],
        alt_test_passed=alt_test["passes"] if alt_test else None,
        biases=probed.found,
        not_probed=probed.not_made,
    )


Guarantee = SelectionDocument | TierGuaranteeDocument


def _selection(selective: Sequence[Guarantee], target: float) -> Guarantee | None:
    """Of the agreements at least as high as the one asked for, the guarantee that keeps most; else the lowest."""
    enough = sorted((one for one in selective if one["target_agreement"] >= target), key=_target)
    held = [one for one in enough if one["guaranteed"]]
    return max(held, key=lambda one: one["coverage"] or 0.0) if held else next(iter(enough), None)


def _target(one: Guarantee) -> float:
    return one["target_agreement"]


def _accepted(found: Guarantee | None, target: float) -> Estimate:
    if found is None:
        return build_undefined(f"no guarantee was computed for an agreement of {100 * target:.0f} %", n_items=0)
    if not found["guaranteed"]:
        return build_undefined(found["reason"] or "", n_items=0)
    return Estimate.from_json(found["intervals"]["coverage"])


def worst(verdicts: list[CriterionVerdict]) -> Decision | None:
    """The decision that holds on every criterion: the worst, by `ORDER`; None where there is no criterion."""
    return min((one.whole.decision for one in verdicts), key=ORDER.index, default=None)
