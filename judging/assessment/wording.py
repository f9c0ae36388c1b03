"""Results in words: sentences that say no more than the intervals do. Pure: from the agreement document to text.

The words for a kappa are those of Landis and Koch (1977), Biometrics 33:159-174: a convention for reading, by which
nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

LANDIS_KOCH = (
    (0.0, "poor", "less than chance would have it"),
    (0.2, "slight", "slightly"),
    (0.4, "fair", "fairly"),
    (0.6, "moderate", "moderately"),
    (0.8, "substantial", "substantially"),
    (1.0, "almost perfect", "almost perfectly"),
)
"""Upper end of each band, its name, and how people of that kappa agree. Below 0 is poor, 0 itself is slight."""

WIDE = 0.2
"""An interval wider than this does not show that two kappas are alike."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

MOST_JUDGES = 4
"""How many judges a sentence names."""

TIERS = ("easy", "medium", "hard", "contested")

Document = Mapping[str, Any]


def band(kappa: float) -> tuple[str, str]:
    """The name of a kappa's band and its adverb."""
    if kappa < 0:
        return LANDIS_KOCH[0][1:]
    return next(words[1:] for words in LANDIS_KOCH[1:] if kappa <= words[0] or words is LANDIS_KOCH[-1])


def spell_count(n: int) -> str:
    """A count as a word up to twelve."""
    return NUMBERS[n] if 0 <= n < len(NUMBERS) else f"{n:,}"


def describe_criterion(name: str, document: Document, *, simulated: int = 0) -> str:
    """One sentence on a criterion: how far its people agree, and each judge beside them.

    `simulated` is how many of its raters are simulated.
    """
    clauses = [_people(name, document, simulated), *_judges(document)]
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _people(name: str, document: Document, simulated: int) -> str:
    kappa, n = find_headline(document), document["n_raters"]
    who = raters(n, simulated)
    if kappa["value"] is None:
        return f"agreement of {who} on {name} is undefined ({kappa['reason']})"
    return f"{who} agree {band(kappa['value'])[1]} on {name} ({document['headline']['name']} {interval(kappa)})"


def find_headline(document: Document) -> Document:
    """People's agreement by the headline coefficient of the scale."""
    found: Document = document["coefficients"][document["headline"]["people"]]
    return found


def raters(n: int, simulated: int) -> str:
    """What to call n raters of whom some are simulated."""
    if simulated == 0:
        return "one person" if n == 1 else f"{spell_count(n)} people"
    if simulated >= n:
        return f"{spell_count(n)} simulated annotator{'' if n == 1 else 's'}"
    return f"{spell_count(n)} annotators, {spell_count(simulated)} of them simulated,"


def _judges(document: Document) -> list[str]:
    judges, headline = document["judges"], document["headline"]
    named = [_judge(name, found, headline) for name, found in list(judges.items())[:MOST_JUDGES]]
    more = len(judges) - MOST_JUDGES
    return [*named, f"{spell_count(more)} more below"] if more > 0 else named


def _judge(name: str, found: Document, headline: Document) -> str:
    who = _called(name, found)
    judge, ceiling, below = (found[headline[one]] for one in ("judge", "ceiling", "below"))
    verdict = compare_with_ceiling(below)
    if verdict == "undefined":
        return f"{who} cannot be compared with them ({judge['reason'] or below['reason']})"
    return f"{who} {COMPARISONS[verdict]} ({short(judge)} against {short(ceiling)}, difference {interval(below)})"


def _called(name: str, found: Document) -> str:
    """The name, and what it is where it is no model; a baseline that is called "baseline" is not called so twice."""
    kind = found["kind"]
    if kind == "judge":
        return name
    return f"the {kind}" if name == kind.removesuffix(" judge") else f"the {kind} {name}"


COMPARISONS = {
    "below": "is below inter-annotator agreement",
    "above": "is above inter-annotator agreement",
    "alike": "reaches inter-annotator agreement",
    "open": "may be below or above inter-annotator agreement, the interval is too wide to tell",
}


def compare_with_ceiling(below_ceiling: Document) -> str:
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
    names: Mapping[str, str], documents: Mapping[str, Document], *, n_raters: int, simulated: int = 0
) -> str:
    """One sentence on how far people agree on one criterion or several."""
    known = [
        (find_headline(found)["value"], names[key])
        for key, found in documents.items()
        if find_headline(found)["value"] is not None
    ]
    if not known:
        return f"Inter-annotator agreement is undefined on {_criteria(list(names.values()))}."
    (least, on_least), (most, on_most) = min(known), max(known)
    if band(least) == band(most):
        agreement = f"is {band(most)[0]} on {_criteria([name for _, name in known])}"
    else:
        agreement = f"runs from {band(least)[0]} ({on_least}) to {band(most)[0]} ({on_most})"
    return f"Inter-annotator agreement of {raters(n_raters, simulated)} {agreement}."


def summarise_decisions(counts: Mapping[Any, int]) -> str:
    """One sentence on the verdicts of all judges on all criteria; empty where there is none."""
    n = sum(counts.values())
    if not n:
        return ""
    if n == 1:
        return f"The verdict on the judge: {next(iter(counts))}."
    each = [f"{count:,} {decision}" for decision, count in counts.items()]
    said = f"all are {next(iter(counts))}" if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
    return f"Of {n:,} verdicts (criterion × judge), {said}."


def summarise_differences(differences: Sequence[Document]) -> str:
    """One sentence or two on which judge agrees most with people, and how surely; empty without a comparison."""
    if not differences:
        return ""
    if len(differences) == 1 and len(differences[0]["rows"]) == 1:
        (only,) = differences
        (row,) = only["rows"]
        below = f"{row['judge']} is lower by {interval(row['difference'])}"
        return f"{only['best']} agrees most with people on {only['name']}; {below}."
    best = Counter(str(one["best"]) for one in differences)
    rows = [row["difference"] for one in differences for row in one["rows"]]
    clear = sum(row["low"] is not None and row["low"] > 0 for row in rows)
    ((first, n), *others) = best.most_common()
    said = f"{first} agrees most with people on {n:,} of {_count(len(differences), 'criterion', 'criteria')}"
    said += "".join(f", {name} on {n:,}" for name, n in others)
    excludes = "excludes" if clear == 1 else "exclude"
    return f"{said}. Of {_count(len(rows), 'difference', 'differences')}, {clear:,} {excludes} 0."


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _criteria(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"all {spell_count(len(names))} criteria"


def short(estimate: Document, digits: int = 2) -> str:
    """The value alone, or a dash."""
    return "–" if estimate["value"] is None else _signed(estimate["value"], digits)


def interval(estimate: Document, digits: int = 2) -> str:
    """The value with its interval where it has one: 0.61 [0.52, 0.69]."""
    value = short(estimate, digits)
    if estimate["low"] is None or estimate["high"] is None:
        return value
    return f"{value} [{_signed(estimate['low'], digits)}, {_signed(estimate['high'], digits)}]"


def _signed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\N{MINUS SIGN}")


def duration(seconds: float) -> str:
    """How long, roughly."""
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def describe_tiers(name: str, document: Document, noun: str = "item") -> str:
    """One sentence on the tiers of a criterion by the difficulty model: how many to expect of each, and how sure.

    `noun` is what the criterion is asked of.
    """
    n, clear = document["n_items"], document["clear"]
    each = [f"{k:,} {tier}" for tier, k in whole_counts(document["expected_counts"]).items()]
    sure = (
        "every tier is clear"
        if clear == n
        else f"the tier is clear for {spell_count(clear) if clear else 'none'} of them"
    )
    return f"Expected among {spell_count(n)} {noun}s on {name}: {', '.join(each[:-1])} and {each[-1]}; {sure}."


def list_expected_counts(document: Document) -> list[dict[str, Any]]:
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


def item_tiers(found: Document) -> str:
    """What the tiers of an audit are, with the number of items; half a sentence."""
    n = f"{found['n_items']:,} items"
    if found["made_by"] == "model":
        return f"the likeliest by the difficulty model, with probability {found['sure']:.2f} on average; {n}"
    return f"by each item’s own kappa, since the difficulty model is not fitted: {found['reason']}; {n}"


def describe_counted_tiers(name: str, document: Document, noun: str) -> str:
    """One sentence on the tiers of a criterion by the kappa of the ratings of each item or part."""
    counts, n = document["counts"], len(document["items"])
    each = [f"{counts[tier]:,} {tier}" for tier in TIERS]
    return f"Counted among {spell_count(n)} {noun}s on {name}: {', '.join(each[:-1])} and {each[-1]}."
