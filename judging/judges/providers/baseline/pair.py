"""Which response the baseline prefers: the one that shares more words with what is known of the person."""

from __future__ import annotations

from judging.judges.providers.base import Reply
from judging.judges.providers.baseline.words import content_words, strings
from judging.judges.providers.requests import CriterionSpec, PairContent, Person

WORDS = {
    "words_of_the_person": "different words that are also known of the person",
    "words_of_the_question": "different words of the question",
    "different_words": "different words",
}


def preference(pair: PairContent, criterion: CriterionSpec) -> Reply:
    """Compare three counts in turn: words shared with the person, words shared with the question, length.

    A word counts once, however often it is said. The counts do not depend on which response stands first. Where all
    three are equal for the best, it is a tie if the scale has one, and else there is nothing to measure.
    """
    features = {side: counts(text, pair) for side, text in pair.responses.items()}
    left, decisive = list(features), None
    for name in WORDS:
        most = max(features[side][name] for side in left)
        left = [side for side in left if features[side][name] == most]
        if len(left) == 1:
            decisive = name
            break
    details: dict[str, object] = {"features": features, "decided_by": decisive}
    if decisive is None:
        value = "tie" if "tie" in criterion.values else None
        sentence = f"Baseline, no model: {' and '.join(left)} have the same counts of words."
        return Reply(value=value, unscored="" if value else "nothing_to_measure", explanation=sentence, details=details)
    told = [f"{side} has {found[decisive]}" for side, found in features.items()]
    told[0] += f" {WORDS[decisive]}"
    return Reply(value=left[0], explanation=f"Baseline, no model: {', '.join(told)}.", details=details)


def counts(response: str, pair: PairContent) -> dict[str, int]:
    said, asked = content_words(response), content_words(f"{pair.question} {pair.context}")
    return {
        "words_of_the_person": len(said & collect_known_words(pair.person) - asked),
        "words_of_the_question": len(said & asked),
        "different_words": len(said),
    }


def collect_known_words(person: Person) -> set[str]:
    parts = (person.persona, person.demographics, person.preferences, person.interactions, person.memories)
    return content_words(" ".join(strings(parts)))
