"""Criteria that ask about a person of whom annotators are shown nothing: told to researchers before anybody rates."""

from __future__ import annotations

import re

from annotation.studies.models.studies import Criterion, Study

OF_A_PERSON = ("persona", "demographics", "preferences", "interactions", "memories")
"""Parts of the context that say who the person is."""

ASKS = re.compile(r"\b(?:this|the) (?:person|persona)\b|\bfor (?:them|the user)\b|\bprofile\b", re.IGNORECASE)


def find_missing_context(study: Study) -> list[str]:
    """What is missing, in sentences; empty where nothing is. At most three queries."""
    names = [criterion.name for criterion in study.asked if asks_of_person(criterion)]
    if not names:
        return []
    asked = f"{', '.join(names)} ask{'s' if len(names) == 1 else ''} about a person"
    if not set(study.shown) & set(OF_A_PERSON):
        return [f"{asked}, and annotators are shown nothing of one: no part of the persona is chosen."]
    n, without = study.items.count(), study.items.filter(**{PROFILE[Study.Kind(study.kind)]: None}).count()
    return [f"{asked}, and {without:,} of {n:,} items have none."] if without else []


PROFILE = {Study.Kind.DIALOGUE: "dialogue__scenario__profile", Study.Kind.PAIR: "pair__profile"}


def asks_of_person(criterion: Criterion) -> bool:
    """Whether the question or its guideline speaks of a person whom the item is for."""
    return bool(ASKS.search(f"{criterion.question}\n{criterion.guideline}"))
