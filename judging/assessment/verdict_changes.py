"""What would change a verdict: for each rule that stands in its way, what is missing and what to do (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _, gettext_noop

from core.sentences import translate
from judging.assessment.agreement_figures import drop_codes
from judging.assessment.result_types import CriterionFiguresDocument
from judging.stats.verdict import CriterionDecision, Reason, Rules


def list_changes(decision: CriterionDecision, document: CriterionFiguresDocument) -> list[str]:
    """A sentence for each rule that holds the verdict where it is; of the best verdict, when it ends.

    `document` is the calibration of the criterion.
    """
    holding = [one for one in decision.against if one.allows == decision.decision]
    return [SENTENCES[one.code](one, document, decision.rules) for one in holding] or [_(ENDS)]


ENDS = gettext_noop("Nothing is missing. A new version of the judge, its prompt or the items needs a new verdict.")


def _labelled(_reason: Reason, document: CriterionFiguresDocument, rules: Rules) -> str:
    labels = document["labels"]
    items = rules.least_items - document["agreement"]["scored"]
    clusters = rules.least_clusters - labels["clusters"]
    outside = rules.least_outside - int(labels["outside_commonest"])
    missing = (
        (items, _("{n} more labelled items with a verdict")),
        (clusters, _("{n} more clusters (profiles or questions)")),
        (outside, _("{n} more items outside the commonest category")),
    )
    more = [said.format(n=f"{n:,}") for n, said in missing if n > 0]
    return _("Label more: {what}.").format(what=", ".join(more))


def _unscored(_reason: Reason, _document: CriterionFiguresDocument, rules: Rules) -> str:
    return _("Fewer unscored replies, at most {most} %: run the judge again, or change its prompt.").format(
        most=f"{100 * rules.most_unscored:.0f}"
    )


def _agreement(reason: Reason, document: CriterionFiguresDocument, rules: Rules) -> str:
    if reason.allows == "do not use":
        said = _("A judge whose kappa with people is above {useful}: change its prompt or its model.")
    elif document["agreement"]["scored"]:
        said = _("A lower limit of the kappa above {useful}: more labels narrow the interval.")
    else:
        said = _("A lower limit of the kappa above {useful}: more labels narrow the interval there are none yet.")
    return said.format(useful=f"{rules.useful:g}")


def _worth(reason: Reason, _document: CriterionFiguresDocument, rules: Rules) -> str:
    if reason.allows == "do not use":
        how = _("a better judge")
    else:
        how = _("more labels, or a judge that states its confidence")
    return _(
        "At least {coverage} % of the verdicts accepted without review at {agreement} % agreement, or an effective "
        "sample size gained of {gained} %: {how}."
    ).format(
        coverage=f"{100 * rules.least_coverage:.0f}",
        agreement=f"{100 * rules.target_agreement:.0f}",
        gained=f"{100 * rules.least_gained:.0f}",
        how=how,
    )


def _ceiling(_reason: Reason, _document: CriterionFiguresDocument, rules: Rules) -> str:
    said = _("To replace a person, a kappa at most {below} below inter-annotator agreement.")
    return said.format(below=f"{rules.below_ceiling:g}")


def _alt_test(_reason: Reason, document: CriterionFiguresDocument, _rules: Rules) -> str:
    if document["alt_test"] is None:
        return _("To replace a person, two annotators on the same items: without them the test cannot be run.")
    return _("To replace a person, the alternative-annotator test passed: a judge closer to the annotators.")


def _biases(reason: Reason, _document: CriterionFiguresDocument, _rules: Rules) -> str:
    said = _("To replace a person, no bias, or one that the rules tolerate. Now: {biases}.")
    return said.format(biases=drop_codes(translate(reason.message), translate))


SENTENCES: Mapping[str, Callable[[Reason, CriterionFiguresDocument, Rules], str]] = {
    "labelled": _labelled,
    "unscored": _unscored,
    "agreement": _agreement,
    "worth": _worth,
    "ceiling": _ceiling,
    "alt_test": _alt_test,
    "biases": _biases,
}
"""By the code of a rule of `judging.stats.verdict`."""
