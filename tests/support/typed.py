"""A study of response pairs with a criterion of every type of answer, three people and a scripted judge.

People rewrite response 1 of each item.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

N = 40
PEOPLE = ("ada", "bo", "cy")
OPTIONS = [{"value": name, "label": name.capitalize()} for name in ("accuracy", "style", "tone")]
LEVELS = {
    "choice": "nominal",
    "number": "interval",
    "several": "set",
    "ranking": "ranking",
    "spans": "spans",
    "text": "text",
    "rewrite": "text",
}
LIMITS: Mapping[str, Mapping[str, Any]] = {
    "number": {"least": 0, "most": 100},
    "ranking": {"ties": True},
    "spans": {"where": "responses"},
}
DECIDED = {"choice": "no", "number": "33.33", "several": "accuracy|tone", "ranking": "1=2"}
"""What an adjudicator decides, by types of answer that are adjudicated."""


def make_study(*kinds: str, **more: Any) -> Study:
    """Forty pairs with criteria of these types, or of all, without labels."""
    study = with_items(N, kind="pair", **more)
    for position, name in enumerate(kinds or LEVELS, start=1):
        CriterionFactory(
            study=study,
            key=name,
            name=name.capitalize(),
            type=name,
            level=LEVELS[name],
            categories=categories_of(name),
            limits=dict(LIMITS.get(name, {})),
            position=position,
            unit="response" if name == "rewrite" else "item",
        )
    return study


def categories_of(name: str) -> list[dict[str, str]]:
    if name in ("several", "spans"):
        return OPTIONS
    return [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}] if name == "choice" else []


def draw(kind: str, rng: random.Random) -> tuple[str, Any]:
    """An answer: its value and its content."""
    if kind == "choice":
        return rng.choice(["yes", "no"]), None
    if kind == "number":
        return str(rng.choice([5, 12.5, 40, 75])), None
    if kind == "several":
        return "|".join(one["value"] for one in OPTIONS if rng.random() < 0.5) or "-", None
    if kind == "ranking":
        return rng.choice(["1>2", "2>1", "1=2"]), None
    if kind == "spans":
        return draw_spans(rng)
    text = rng.choice(["Too short.", "It is wrong.", "Fine as it is."])
    return str(len(text.split())), {"text": text} | ({"response": 1} if kind == "rewrite" else {})


def draw_spans(rng: random.Random) -> tuple[str, Any]:
    if rng.random() < 0.5:
        return "0", []
    response, category = rng.choice("12"), rng.choice(OPTIONS)["value"]
    words = {"1": "Fir", "2": "Sec"}[response]
    return "1", [{"part": f"response-{response}", "start": 0, "end": 3, "category": category, "text": words}]


def say_all(study: Study, *, seed: int = 0) -> None:
    """Three people's labels on every criterion; on two of three items they agree."""
    rng = random.Random(seed)
    for criterion in study.criteria.all():
        truth = [draw(criterion.type, rng) for _ in range(N)]
        given = {who: [one if rng.random() < 0.75 else draw(criterion.type, rng) for one in truth] for who in PEOPLE}
        people_say(criterion, {who: [value for value, _ in each] for who, each in given.items()})
        fill_contents(criterion, {who: [content for _, content in each] for who, each in given.items()})


def fill_contents(criterion: Criterion, given: Mapping[str, list[Any]]) -> None:
    rows = list(
        Annotation.objects.filter(criterion=criterion).select_related("assignment__item", "assignment__annotator")
    )
    for row in rows:
        row.turn = 1 if criterion.of_responses else 0
        row.content = given[row.assignment.annotator.username][row.assignment.item.position - 1]
    Annotation.objects.bulk_update(rows, ["turn", "content"])


def script(study: Study, *, seed: int = 1) -> dict[str, dict[str, str]]:
    """What a scripted judge says: by criterion and item, as `parse_answer` reads it, responses by their sides."""
    rng = random.Random(seed)
    ids = [item.external_id for item in study.items.select_related("pair")]
    return {criterion.key: {name: spell(criterion.type, rng) for name in ids} for criterion in study.criteria.all()}


def spell(kind: str, rng: random.Random) -> str:
    value, content = draw(kind, rng)
    if kind == "ranking":
        return value.replace("1", "A").replace("2", "B")
    if kind == "spans":
        return json.dumps([{**one, "part": "A" if one["part"] == "response-1" else "B"} for one in content])
    return content["text"] if content else value
