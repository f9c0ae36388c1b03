"""What the baseline measures of a dialogue. Every rule is arithmetic on words that a reader can redo by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, prod
from statistics import mean

from judging.judges.providers.baseline.scale import MeasuredScore, NothingToMeasure
from judging.judges.providers.baseline.words import content_words, questions, strings, words
from judging.judges.providers.requests import DialogueContent, Turn

CONFIRMED = frozenset(
    "added arranged booked bought cancelled confirmed created done hold ordered placed queued reserved saved scheduled sent set".split()  # noqa: SIM905, E501
)
REFUSED = frozenset("cannot couldn sorry unable unavailable unfortunately".split())  # noqa: SIM905
THANKS = frozenset("brilliant cheers excellent great lovely perfect sorted thank thanks wonderful".split())  # noqa: SIM905
FULL_SHARE = 0.5  # bringing up half of the relevant preferences is as much as one conversation has room for
COMMON_LENGTH = {"user": 15, "assistant": 40}  # words per turn
FULL_OVERLAP = 0.5  # share of a turn's content words that the other side said before, when one follows from the other


def task_completion(dialogue: DialogueContent) -> MeasuredScore | NothingToMeasure:
    """Confirmed by the assistant, not refused, not left with a question, and acknowledged by the user."""
    said = [turn for turn in dialogue.turns if turn.role == "assistant"]
    if not said:
        return NothingToMeasure("the assistant says nothing.")
    end = set(words(said[-1].content)) | (set(words(said[-2].content)) if len(said) > 1 else set())
    last_user = next((turn for turn in reversed(dialogue.turns) if turn.role == "user"), None)
    features = {
        "confirms": bool(end & {*CONFIRMED}),
        "refuses": bool(set(words(said[-1].content)) & REFUSED),
        "ends_asking": said[-1].content.rstrip().endswith(("?", "？")),
        "thanked": last_user is not None
        and bool(set(words(last_user.content)) & {word.rstrip("s") for word in THANKS}),
    }
    score = 0.4 + 0.35 * features["confirms"] + 0.15 * features["thanked"]
    score -= 0.35 * features["refuses"] + 0.3 * features["ends_asking"]
    sentence = (
        f"the last turns {'confirm something' if features['confirms'] else 'confirm nothing'}, "
        f"{'refuse' if features['refuses'] else 'do not refuse'}, "
        f"{'end with a question' if features['ends_asking'] else 'do not end with a question'}, "
        f"and the user {'gives thanks' if features['thanked'] else 'gives no thanks'}."
    )
    return MeasuredScore(min(max(score, 0.0), 1.0), sentence, features)


@dataclass(frozen=True, slots=True)
class Preference:
    """One type of preference with the words of each of its values."""

    kind: str
    values: tuple[frozenset[str], ...]


def personalization(dialogue: DialogueContent) -> MeasuredScore | NothingToMeasure:
    """The share of relevant preferences that the assistant brings up before the user does, less half the share that
    it asks for although they are known. Half of the preferences count as all."""
    preferences = relevant(dialogue)
    if not preferences:
        return NothingToMeasure("no preference of the user is known for this task.")
    first = {preference.kind: find_first_mention(preference, dialogue.turns) for preference in preferences}
    applied = sorted(kind for kind, role in first.items() if role == "assistant")
    told = sorted(kind for kind, role in first.items() if role == "user")
    asked = sorted(preference.kind for preference in preferences if is_question(preference, dialogue.turns))
    share, asked_share = len(applied) / len(preferences), len(asked) / len(preferences)
    score = min(max(share - asked_share / 2, 0.0) / FULL_SHARE, 1.0)
    sentence = (
        f"of {len(preferences)} preferences that matter here, the assistant brings up {len(applied)} before the user "
        f"does and asks for {len(asked)}."
    )
    return MeasuredScore(
        score, sentence, {"applied": applied, "told": told, "asked": asked, "relevant": len(preferences)}
    )


def relevant(dialogue: DialogueContent) -> list[Preference]:
    """The preferences of the task's types in its domains; all types of the domains where none is named."""
    found = list(_preferences(dialogue.person.preferences, dialogue.domains))
    named = [preference for preference in found if preference.kind.partition(": ")[2] in dialogue.preference_types]
    return named or found


def _preferences(by_domain: Mapping[str, object], domains: Sequence[str]) -> Iterator[Preference]:
    for domain in domains or by_domain:
        kinds = by_domain.get(domain, {})
        for kind, value in kinds.items() if isinstance(kinds, Mapping) else [("", kinds)]:
            values = tuple(frozenset(found) for text in strings(value) if (found := content_words(text)))
            if values:
                yield Preference(f"{domain}: {kind}", values)


def find_first_mention(preference: Preference, turns: Sequence[Turn]) -> str | None:
    """Who first says at least half of the words of one of its values."""
    for turn in turns:
        said = content_words(turn.content)
        if any(2 * len(value & said) >= len(value) for value in preference.values):
            return turn.role
    return None


def is_question(preference: Preference, turns: Sequence[Turn]) -> bool:
    """Whether the assistant asks a question that names the type of preference, but none of its values."""
    named = content_words(preference.kind.partition(": ")[2])
    known = frozenset[str]().union(*preference.values)
    asked = [content_words(q) for turn in turns if turn.role == "assistant" for q in questions(turn.content)]
    return any(named & question and not known & question for question in asked)


def naturalness(dialogue: DialogueContent, role: str) -> MeasuredScore | NothingToMeasure:
    """The mean closeness of the turns to a common length, times the share of different openings and word pairs."""
    turns = [words(turn.content) for turn in dialogue.turns if turn.role == role]
    if not any(turns):
        return NothingToMeasure(f"the {role} says nothing.")
    common = COMMON_LENGTH[role]
    pairs = [pair for turn in turns for pair in pairwise(turn)]
    features = {
        "length": mean(closeness(len(turn), common) for turn in turns),
        "openings": len({tuple(turn[:2]) for turn in turns}) / len(turns),
        "word_pairs": len(set(pairs)) / len(pairs) if pairs else 1.0,
    }
    length, openings, word_pairs = (f"{100 * share:.0f} %" for share in features.values())
    sentence = (
        f"the {role}'s turns are {length} of the way from four times too long or short to {common} words, "
        f"{openings} of the openings and {word_pairs} of the word pairs differ."
    )
    return MeasuredScore(prod(features.values()), sentence, round_features(features))


def closeness(length: int, common: int) -> float:
    """1 at the common length, falling with the logarithm of the ratio to 0 at four times too long or too short."""
    return max(0.0, 1 - abs(log(max(length, 1) / common)) / log(4))


def coherence(dialogue: DialogueContent, role: str) -> MeasuredScore | NothingToMeasure:
    """How much of each turn's wording takes up what the other side said, less the share of questions asked twice."""
    followed = [at for at, turn in enumerate(dialogue.turns) if turn.role == role and at > 0]
    if not followed:
        return NothingToMeasure(f"the {role} never follows another turn.")
    overlaps = [overlap(dialogue.turns[at], dialogue.turns[:at]) for at in followed]
    asked = [
        frozenset(content_words(q)) for turn in dialogue.turns if turn.role == role for q in questions(turn.content)
    ]
    features = {"overlap": mean(overlaps), "repeated": 1 - len(set(asked)) / len(asked) if asked else 0.0}
    score = min(features["overlap"] / FULL_OVERLAP, 1.0) - features["repeated"]
    shared, repeated = (f"{100 * share:.0f} %" for share in features.values())
    sentence = (
        f"on average {shared} of the content words of the {role}'s turns were said by the other side "
        f"({100 * FULL_OVERLAP:.0f} % count as full), and {repeated} of the {role}'s questions are repeated."
    )
    return MeasuredScore(max(score, 0.0), sentence, round_features(features))


def overlap(turn: Turn, before: Sequence[Turn]) -> float:
    """The share of the turn's content words that the other side said before."""
    said = content_words(turn.content)
    earlier = set[str]().union(*(content_words(other.content) for other in before if other.role != turn.role))
    return len(said & earlier) / len(said) if said else 0.0


def round_features(features: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in features.items()}
