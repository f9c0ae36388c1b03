"""Which response the baseline prefers: the one that shares more words with what is known of the person."""

from __future__ import annotations

from typing import Any

from judging.judges.providers.base import CriterionSpec, PairContent, Person, Reply
from judging.judges.providers.baseline.words import content_words, strings

WORDS = {
    "words_of_the_person": "different words that are also known of the person",
    "words_of_the_question": "different words of the question",
    "different_words": "different words",
}


def preference(pair: PairContent, criterion: CriterionSpec) -> Reply:
    """Compare three counts in turn: words shared with the person, words shared with the question, length.

    A word counts once, however often it is said. The counts do not depend on which response stands first. Where all
    three are equal, it is a tie if the scale has one, and else there is nothing to measure.
    """
    features = {"A": counts(pair.response_a, pair), "B": counts(pair.response_b, pair)}
    decisive = next((name for name in features["A"] if features["A"][name] != features["B"][name]), None)
    details: dict[str, Any] = {"features": features, "decided_by": decisive}
    if decisive is None:
        value = "tie" if "tie" in criterion.values else None
        sentence = "Baseline, no model: A and B have the same counts of words."
        return Reply(value=value, unscored="" if value else "nothing_to_measure", explanation=sentence, details=details)
    a, b = features["A"][decisive], features["B"][decisive]
    sentence = f"Baseline, no model: A has {a} {WORDS[decisive]}, B has {b}."
    return Reply(value="A" if a > b else "B", explanation=sentence, details=details)


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
