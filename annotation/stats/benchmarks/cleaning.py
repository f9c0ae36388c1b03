"""Which cases a cleaned version leaves out, and why: stated rules, applied in a stated order."""

from collections.abc import Callable, Mapping, Sequence

from annotation.stats.benchmarks import repeats, scripts
from annotation.stats.benchmarks.cases import TIERS, Case

Found = dict[str, str]
"""Case -> why it is left out."""


def find_contradicting(cases: Sequence[Case]) -> Found:
    """Find the cases that contradict each other."""
    known = {case.id: case for case in cases}
    found = {}
    for group in repeats.groups(cases):
        members = [known[name] for name in group.cases]
        for case in members if group.opposite else ():
            tiers = dict.fromkeys(other.tier or "no tier" for other in members if other.chosen != case.chosen)
            found[case.id] = f"its pair has the opposite label in {' and '.join(tiers)}"
    return found


def find_repeated(cases: Sequence[Case]) -> Found:
    """Find the cases that repeat one in a harder tier."""
    tier = {case.id: case.tier for case in cases}
    place = {name: k for k, name in enumerate(TIERS)}
    found = {}
    for group in repeats.groups(cases):
        stays = max(group.cases, key=lambda name: (place.get(tier[name], -1), -group.cases.index(name)))
        for name in group.cases:
            if name != stays:
                found[name] = f"its pair stands in {tier[stays] or 'no tier'} too, as {stays}"
    return found


def find_circular(cases: Sequence[Case]) -> Found:
    """Find the cases whose labels go round in a circle."""
    return {
        name: f"its label is one of {len(circle)} that go round in a circle"
        for circle in repeats.circles(cases)
        for name in circle
    }


def find_nearly_same(cases: Sequence[Case]) -> Found:
    """Find the cases with two responses that say nearly the same."""
    why = f"its two responses are {repeats.NEAR:.0f} % or more the same"
    return dict.fromkeys(repeats.nearly_same_responses(cases), why)


def find_near_duplicates(cases: Sequence[Case]) -> Found:
    """Find the cases that nearly repeat an earlier one."""
    left_out: Found = {}
    for first, second in repeats.nearly_same_cases(cases):
        if first not in left_out:
            left_out.setdefault(second, f"its responses are {repeats.NEAR:.0f} % or more those of {first}")
    return left_out


def find_other_script(cases: Sequence[Case]) -> Found:
    """Find the cases in two scripts."""
    found = scripts.detect_scripts(
        [text for case in cases for text in (case.question, case.response_1, case.response_2)]
    )
    return {
        case.id: f"the question is {asked}, the responses {first} and {second}"
        for case, asked, first, second in zip(cases, found[::3], found[1::3], found[2::3], strict=True)
        if (first, second) != (asked, asked)
    }


def find_without_persona(cases: Sequence[Case]) -> Found:
    """Find the cases without a persona."""
    return {case.id: "it has no persona" for case in cases if not case.persona}


RULES: Mapping[str, Callable[[Sequence[Case]], Found]] = {
    "contradicting": find_contradicting,
    "repeated": find_repeated,
    "circular": find_circular,
    "nearly_same": find_nearly_same,
    "near_duplicates": find_near_duplicates,
    "other_script": find_other_script,
    "without_persona": find_without_persona,
}
"""In the order in which they are applied: each looks at what those before it left."""

ABOUT = {
    "contradicting": "Every case of a pair whose labels contradict each other: nothing says which one is right.",
    "repeated": "All but one case of a pair that stands there several times: the one in the hardest tier stays.",
    "circular": "Every case of a circle of labels.",
    "nearly_same": "Cases whose two responses are nearly the same text.",
    "near_duplicates": "The later one of two cases of one persona and question whose responses are nearly the same.",
    "other_script": "Cases with a response in another script than the question.",
    "without_persona": "Cases without a persona.",
}
"""What each leaves out."""


def find_left_out(cases: Sequence[Case], rules: Sequence[str]) -> Found:
    """What the rules leave out, with the rule before the reason.

    Raises
    ------
    ValueError
        For a rule that does not exist, or none at all.
    """
    if not rules:
        raise ValueError(f"name at least one rule of {', '.join(RULES)}")
    if unknown := [rule for rule in rules if rule not in RULES]:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(RULES)}")
    left_out: Found = {}
    for name, rule in RULES.items():
        if name in rules:
            left = [case for case in cases if case.id not in left_out]
            left_out |= {case: f"{name}: {why}" for case, why in rule(left).items()}
    return left_out
