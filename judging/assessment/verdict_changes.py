"""What would change a verdict: for each rule that stands in its way, what is missing and what to do (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judging.assessment.agreement_figures import drop_codes
from judging.stats.verdict import CriterionDecision, Reason, Rules

Document = Mapping[str, Any]


def list_changes(decision: CriterionDecision, document: Document) -> list[str]:
    """A sentence for each rule that holds the verdict where it is; of the best verdict, when it ends.

    `document` is the calibration of the criterion.
    """
    holding = [one for one in decision.against if one.allows == decision.decision]
    return [SENTENCES[one.code](one, document, decision.rules) for one in holding] or [ENDS]


ENDS = "Nothing is missing. A new version of the judge, its prompt or the items needs a new verdict."


def _labelled(_: Reason, document: Document, rules: Rules) -> str:
    labels = document["labels"]
    missing = {
        "labelled items with a verdict": rules.least_items - document["agreement"]["scored"],
        "clusters (profiles or questions)": rules.least_clusters - labels["clusters"],
        "items outside the commonest category": rules.least_outside - int(labels["outside_commonest"]),
    }
    more = [f"{n:,} more {what}" for what, n in missing.items() if n > 0]
    return f"Label more: {', '.join(more)}."


def _unscored(_: Reason, __: Document, rules: Rules) -> str:
    return (
        f"Fewer unscored replies, at most {100 * rules.most_unscored:.0f} %: run the judge again, or change its prompt."
    )


def _agreement(reason: Reason, document: Document, rules: Rules) -> str:
    if reason.allows == "do not use":
        return f"A judge whose kappa with people is above {rules.useful:g}: change its prompt or its model."
    width = "" if document["agreement"]["scored"] else " there are none yet"
    return f"A lower limit of the kappa above {rules.useful:g}: more labels narrow the interval{width}."


def _worth(reason: Reason, _: Document, rules: Rules) -> str:
    asked = (
        f"{100 * rules.least_coverage:.0f} % of the verdicts accepted without review at "
        f"{100 * rules.target_agreement:.0f} % agreement, or an effective sample size gained of "
        f"{100 * rules.least_gained:.0f} %"
    )
    how = "a better judge" if reason.allows == "do not use" else "more labels, or a judge that states its confidence"
    return f"At least {asked}: {how}."


def _ceiling(_: Reason, __: Document, rules: Rules) -> str:
    return f"To replace a person, a kappa at most {rules.below_ceiling:g} below inter-annotator agreement."


def _alt_test(_: Reason, document: Document, __: Rules) -> str:
    if document["alt_test"] is None:
        return "To replace a person, two annotators on the same items: without them the test cannot be run."
    return "To replace a person, the alternative-annotator test passed: a judge closer to the annotators."


def _biases(reason: Reason, _: Document, __: Rules) -> str:
    return f"To replace a person, no bias, or one that the rules tolerate. Now: {drop_codes(reason.message)}."


SENTENCES: Mapping[str, Callable[[Reason, Document, Rules], str]] = {
    "labelled": _labelled,
    "unscored": _unscored,
    "agreement": _agreement,
    "worth": _worth,
    "ceiling": _ceiling,
    "alt_test": _alt_test,
    "biases": _biases,
}
"""By the code of a rule of `judging.stats.verdict`."""
