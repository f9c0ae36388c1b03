"""Results in words: sentences that say no more than the intervals do. Pure: from the agreement document to text.

The words for a kappa are those of Landis and Koch (1977), Biometrics 33:159-174: a convention for reading, by which
nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from django.utils.translation import gettext as _, gettext_noop, ngettext

from annotation.agreement.result_types import CountedTiersDocument, DifficultyDocument, PeopleFiguresDocument
from annotation.stats.result_types import EstimateDocument, HeadlineDocument
from core.sentences import translate
from judging.assessment.agreement_types import CriterionAgreementDocument, JudgeDocument, RankingDocument
from judging.assessment.result_types import HoldOutDocument, ItemTiersDocument
from judging.stats.verdict import Decision

LANDIS_KOCH = (
    (0.0, gettext_noop("poor"), gettext_noop("less than chance would have it")),
    (0.2, gettext_noop("slight"), gettext_noop("slightly")),
    (0.4, gettext_noop("fair"), gettext_noop("fairly")),
    (0.6, gettext_noop("moderate"), gettext_noop("moderately")),
    (0.8, gettext_noop("substantial"), gettext_noop("substantially")),
    (1.0, gettext_noop("almost perfect"), gettext_noop("almost perfectly")),
)
"""Upper end of each band, its name, and how people of that kappa agree. Below 0 is poor, 0 itself is slight."""

WIDE = 0.2
"""An interval wider than this does not show that two kappas are alike."""

NUMBERS = (
    gettext_noop("no"),
    gettext_noop("one"),
    gettext_noop("two"),
    gettext_noop("three"),
    gettext_noop("four"),
    gettext_noop("five"),
    gettext_noop("six"),
    gettext_noop("seven"),
    gettext_noop("eight"),
    gettext_noop("nine"),
    gettext_noop("ten"),
    gettext_noop("eleven"),
    gettext_noop("twelve"),
)

MOST_JUDGES = 4
"""How many judges a sentence names."""

TIERS = (gettext_noop("easy"), gettext_noop("medium"), gettext_noop("hard"), gettext_noop("contested"))
ALONE = (
    *(gettext_noop("replace"), gettext_noop("position"), gettext_noop("length"), gettext_noop("leniency")),
    *(gettext_noop("halo"), gettext_noop("contradiction"), gettext_noop("drift"), gettext_noop("repeats")),
    *(gettext_noop("injection"), gettext_noop("invariance"), gettext_noop("subgroups"), gettext_noop("people")),
    *(gettext_noop("kappa"), gettext_noop("baseline")),
)
"""What a result or a plot names by one word, for pages to translate."""

GROUPINGS = {
    "tier": gettext_noop("tier"),
    "stratum": gettext_noop("stratum"),
    "domain": gettext_noop("domain"),
    "condition": gettext_noop("condition"),
    "assistant_model": gettext_noop("assistant model"),
    "kind": gettext_noop("kind"),
    "source_tier": gettext_noop("source tier"),
    "profile": gettext_noop("profile"),
    "question": gettext_noop("question"),
}
"""Groupings of items by their names in addresses; others are keys that a source brought along."""

SCORE_NAMES: tuple[tuple[Literal["ece", "brier", "mae", "sharpness"], str], ...] = (
    ("ece", gettext_noop("Expected calibration error, 0 to 1")),
    ("brier", gettext_noop("Brier score, 0 to 1")),
    ("mae", gettext_noop("Mean absolute error, units of the scale")),
    ("sharpness", gettext_noop("Sharpness: spread of the scores, units of the scale")),
)
"""How far scores are from the truth: codes of documents, in words."""


def band(kappa: float) -> tuple[str, str]:
    """The name of a kappa's band and its adverb."""
    if kappa < 0:
        return LANDIS_KOCH[0][1:]
    return next(words[1:] for words in LANDIS_KOCH[1:] if kappa <= words[0] or words is LANDIS_KOCH[-1])


def name_grouping(name: str) -> str:
    """What a grouping of items is called."""
    return _(GROUPINGS[name]) if name in GROUPINGS else name.replace("_", " ")


def name_groupings(names: Iterable[str]) -> list[tuple[str, str]]:
    """Groupings with what they are called, as the options of a choice."""
    return [(name, name_grouping(name)) for name in names]


def spell_count(n: int) -> str:
    """A count as a word up to twelve."""
    return _(NUMBERS[n]) if 0 <= n < len(NUMBERS) else f"{n:,}"


def describe_criterion(name: str, document: CriterionAgreementDocument, *, simulated: int = 0) -> str:
    """One sentence on a criterion: how far its people agree, and each judge beside them.

    `simulated` is how many of its raters are simulated.
    """
    clauses = [_people(name, document, simulated), *_judges(document)]
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _people(name: str, document: CriterionAgreementDocument, simulated: int) -> str:
    kappa, n = find_headline(document), document["n_raters"]
    who = raters(n, simulated)
    if kappa["value"] is None:
        return _("agreement of {who} on {name} is undefined ({reason})").format(
            who=who, name=name, reason=translate(kappa["reason"])
        )
    return _("{who} agree {how_far} on {name} ({figure})").format(
        who=who,
        how_far=_(band(kappa["value"])[1]),
        name=name,
        figure=f"{document['headline']['name']} {interval(kappa)}",
    )


def find_headline(document: PeopleFiguresDocument) -> EstimateDocument:
    """People's agreement by the headline coefficient of the scale."""
    return document["coefficients"][document["headline"]["people"]]


def raters(n: int, simulated: int) -> str:
    """What to call n raters of whom some are simulated."""
    if simulated == 0:
        return ngettext("one person", "{n} people", n).format(n=spell_count(n))
    if simulated >= n:
        return ngettext("{n} simulated annotator", "{n} simulated annotators", n).format(n=spell_count(n))
    return _("{n} annotators, {simulated} of them simulated,").format(
        n=spell_count(n), simulated=spell_count(simulated)
    )


def _judges(document: CriterionAgreementDocument) -> list[str]:
    judges, headline = document["judges"], document["headline"]
    named = [_judge(name, found, headline) for name, found in list(judges.items())[:MOST_JUDGES]]
    more = len(judges) - MOST_JUDGES
    return [*named, _("{n} more below").format(n=spell_count(more))] if more > 0 else named


def _judge(name: str, found: JudgeDocument, headline: HeadlineDocument) -> str:
    who = _called(name, found)
    judge, ceiling, below = found[headline["judge"]], found[headline["ceiling"]], found[headline["below"]]
    verdict = compare_with_ceiling(below)
    if verdict == "undefined":
        return _("{who} cannot be compared with them ({reason})").format(
            who=who, reason=translate(judge["reason"] or below["reason"])
        )
    compared = _(COMPARISONS[verdict]).format(who=who)
    figures = _("{judge} against {ceiling}, difference {difference}").format(
        judge=short(judge), ceiling=short(ceiling), difference=interval(_negate(below))
    )
    return f"{compared} ({figures})"


def _negate(estimate: EstimateDocument) -> EstimateDocument:
    """The estimate of the same difference taken the other way round."""
    value, low, high = (None if of is None else -of for of in (estimate["value"], estimate["low"], estimate["high"]))
    return {**estimate, "value": value, "low": high, "high": low}


def _called(name: str, found: JudgeDocument) -> str:
    """The name, and what it is where it is no model; a baseline that is called "baseline" is not called so twice."""
    kind = found["kind"]
    if kind == "judge":
        return name
    if name == kind.removesuffix(" judge"):
        return _("the {kind}").format(kind=_(kind))
    return _("the {kind} {name}").format(kind=_(kind), name=name)


COMPARISONS = {
    "below": gettext_noop("{who} is below inter-annotator agreement"),
    "above": gettext_noop("{who} is above inter-annotator agreement"),
    "alike": gettext_noop("{who} reaches inter-annotator agreement"),
    "open": gettext_noop("{who} may be below or above inter-annotator agreement, the interval is too wide to tell"),
}


def compare_with_ceiling(below_ceiling: EstimateDocument) -> str:
    """below, above, alike, open or undefined: where a judge stands by the interval of what it lacks to the ceiling.

    `below_ceiling` is the human ceiling minus the judge's mean kappa.
    """
    low, high = below_ceiling["low"], below_ceiling["high"]
    if below_ceiling["value"] is None or low is None or high is None:
        return "undefined"
    if low > 0:
        return "below"
    if high < 0:
        return "above"
    return "alike" if high - low <= WIDE else "open"


def summarise_people(
    names: Mapping[str, str], documents: Mapping[str, PeopleFiguresDocument], *, n_raters: int, simulated: int = 0
) -> str:
    """One sentence on how far people agree on one criterion or several."""
    values = [(find_headline(found)["value"], names[key]) for key, found in documents.items()]
    known = [(value, name) for value, name in values if value is not None]
    if not known:
        return _("Inter-annotator agreement is undefined on {criteria}.").format(criteria=_criteria([*names.values()]))
    (least, on_least), (most, on_most) = min(known), max(known)
    who, low, high = raters(n_raters, simulated), _(band(least)[0]), _(band(most)[0])
    if low == high:
        on = _criteria([name for _value, name in known])
        return _("Inter-annotator agreement of {who} is {band} on {criteria}.").format(who=who, band=high, criteria=on)
    return _("Inter-annotator agreement of {who} runs from {low} ({on_low}) to {high} ({on_high}).").format(
        who=who, low=low, on_low=on_least, high=high, on_high=on_most
    )


def summarise_decisions(counts: Mapping[Decision, int]) -> str:
    """One sentence on the verdicts of all judges on all criteria; empty where there is none."""
    n = sum(counts.values())
    if not n:
        return ""
    if n == 1:
        return _("The verdict on the judge: {decision}.").format(decision=next(iter(counts)))
    if len(counts) == 1:
        return _("Of {n} verdicts (criterion × judge), all are {decision}.").format(
            n=f"{n:,}", decision=next(iter(counts))
        )
    each = [f"{count:,} {decision}" for decision, count in counts.items()]
    return _("Of {n} verdicts (criterion × judge), {each}.").format(n=f"{n:,}", each=_enumerate(each))


def describe_hold_out(found: HoldOutDocument) -> str:
    """Sentences on which part of the items a report is of, and who looked at the other."""
    said = _("Judges’ figures are of the development part, people’s of all items. {share} % of the study is held out.")
    leaks = ngettext(
        "{leaks} of its items has content that also stands in the development part.",
        "{leaks} of its items have content that also stands in the development part.",
        found["leaks"],
    )
    n = len(found["looks"])
    looks = ngettext("{looks} look at it is on record", "{looks} looks at it are on record", n).format(looks=f"{n:,}")
    who = ", ".join(f"{one['judge']} {one['at'][:16].replace('T', ' ')} UTC" for one in found["looks"])
    parts = [said.format(share=f"{100 * found['share']:.0f}"), leaks.format(leaks=f"{found['leaks']:,}")]
    return " ".join([*parts, f"{looks}: {who}." if who else f"{looks}."])


def _enumerate(parts: Sequence[str]) -> str:
    return _("{some} and {last}").format(some=", ".join(parts[:-1]), last=parts[-1])


def summarise_differences(differences: Sequence[RankingDocument]) -> str:
    """One sentence or two on which judge agrees most with people, and how surely; empty without a comparison."""
    if not differences:
        return ""
    if len(differences) == 1 and len(differences[0]["rows"]) == 1:
        (only,) = differences
        (row,) = only["rows"]
        return _("{best} agrees most with people on {name}; {judge} is lower by {difference}.").format(
            best=only["best"], name=only["name"], judge=row["judge"], difference=interval(row["difference"])
        )
    best = Counter(str(one["best"]) for one in differences)
    rows = [row["difference"] for one in differences for row in one["rows"]]
    clear = sum(row["low"] is not None and row["low"] > 0 for row in rows)
    ((first, n), *others) = best.most_common()
    of = ngettext("{n} criterion", "{n} criteria", len(differences)).format(n=f"{len(differences):,}")
    said = _("{best} agrees most with people on {n} of {criteria}").format(best=first, n=f"{n:,}", criteria=of)
    said += "".join(_(", {judge} on {n}").format(judge=name, n=f"{n:,}") for name, n in others)
    compared = ngettext("{n} difference", "{n} differences", len(rows)).format(n=f"{len(rows):,}")
    excluded = ngettext("Of {differences}, {n} excludes 0.", "Of {differences}, {n} exclude 0.", clear)
    return f"{said}. {excluded.format(differences=compared, n=f'{clear:,}')}"


def _criteria(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else _("all {n} criteria").format(n=spell_count(len(names)))


def short(estimate: EstimateDocument, digits: int = 2) -> str:
    """The value alone, or a dash."""
    return "–" if estimate["value"] is None else write_number(estimate["value"], digits)


def interval(estimate: EstimateDocument, digits: int = 2) -> str:
    """The value with its interval where it has one: 0.61 [0.52, 0.69]."""
    value = short(estimate, digits)
    if estimate["low"] is None or estimate["high"] is None:
        return value
    return f"{value} [{write_number(estimate['low'], digits)}, {write_number(estimate['high'], digits)}]"


def write_number(value: float, digits: int) -> str:
    """A number with its minus as one, and 0 without."""
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\N{MINUS SIGN}")


def duration(seconds: float) -> str:
    """How long, roughly."""
    if seconds < 90:
        return _("about {n} s").format(n=max(round(seconds), 1))
    if seconds < 5400:
        return _("about {n} min").format(n=round(seconds / 60))
    return _("about {n} h").format(n=f"{seconds / 3600:.1f}")


def count_parts(n: int, noun: str) -> str:
    """How many items, turns or responses."""
    if noun == "turn":
        said = ngettext("{n} turn", "{n} turns", n)
    elif noun == "response":
        said = ngettext("{n} response", "{n} responses", n)
    else:
        said = ngettext("{n} item", "{n} items", n)
    return said.format(n=spell_count(n))


def describe_tiers(name: str, document: DifficultyDocument, noun: str = "item") -> str:
    """One sentence on the tiers of a criterion by the difficulty model: how many to expect of each, and how sure.

    `noun` is what the criterion is asked of.
    """
    n, clear = document["n_items"], document["clear"]
    each = [f"{k:,} {tier}" for tier, k in whole_counts(document["expected_counts"]).items()]
    if clear == n:
        sure = _("every tier is clear")
    elif clear:
        sure = _("the tier is clear for {n} of them").format(n=spell_count(clear))
    else:
        sure = _("the tier is clear for none of them")
    return _("Expected among {parts} on {name}: {each}; {sure}.").format(
        parts=count_parts(n, noun), name=name, each=_enumerate(each), sure=sure
    )


class ExpectedCount(TypedDict):
    """The expected number of items of a tier, with its interval."""

    tier: str
    n: float
    low: float
    high: float


def list_expected_counts(document: DifficultyDocument) -> list[ExpectedCount]:
    """From easy on, each tier with the expected number of its items, and the interval of that number."""
    ends = document["count_intervals"]
    return [
        {"tier": tier, "n": document["expected_counts"][tier], "low": ends[tier][0], "high": ends[tier][1]}
        for tier in TIERS
    ]


def whole_counts(expected: Mapping[str, float]) -> dict[str, int]:
    """Expected counts from easy on, rounded so that they add up to the items: the largest remainders are rounded up."""
    counts = {tier: int(expected[tier]) for tier in TIERS}
    missing = round(sum(expected.values())) - sum(counts.values())
    for tier in sorted(counts, key=lambda one: counts[one] - expected[one])[:missing]:
        counts[tier] += 1
    return counts


def item_tiers(found: ItemTiersDocument) -> str:
    """What the tiers of an audit are, with the number of items; half a sentence."""
    n = f"{found['n_items']:,} items"
    if found["made_by"] == "model":
        return f"the likeliest by the difficulty model, with probability {found['sure']:.2f} on average; {n}"
    return f"by each item’s own kappa, since the difficulty model is not fitted: {found['reason']}; {n}"


def describe_counted_tiers(name: str, document: CountedTiersDocument, noun: str) -> str:
    """One sentence on the tiers of a criterion by the kappa of the ratings of each item or part."""
    counts, n = document["counts"], len(document["items"])
    each = [f"{counts[tier]:,} {tier}" for tier in TIERS]
    return _("Counted among {parts} on {name}: {each}.").format(
        parts=count_parts(n, noun), name=name, each=_enumerate(each)
    )
