"""Rows of the database as what a judge is shown: criterion, item, person, prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from annotation.corpus.models import Dialogue, Profile, ResponsePair
from annotation.corpus.services import locate
from annotation.stats.orders import LETTERS, list_places, spell_order, to_place
from annotation.stats.table import NO_SCORES
from annotation.studies.models.studies import Criterion, Item
from judging.judges import evaluation_settings, prompts
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.judges.prompts import evaluation, templates
from judging.judges.providers.base import Example
from judging.judges.providers.requests import (
    Category,
    Content,
    CriterionSpec,
    DialogueContent,
    PairContent,
    Person,
    Picture,
    Prompt,
    Turn,
)


def build_spec(criterion: Criterion) -> CriterionSpec:
    """The criterion as plain data."""
    return CriterionSpec(
        key=criterion.key,
        name=criterion.name,
        question=criterion.question,
        guideline=criterion.guideline,
        level=criterion.level,
        categories=tuple(
            Category(str(c["value"]), str(c.get("label") or c["value"]), str(c.get("guideline") or ""))
            for c in criterion.categories
        ),
        type=criterion.type,
        limits=dict(criterion.limits),
    )


def to_identity(criterion: CriterionSpec) -> dict[str, object]:
    """The criterion as what a run depends on; of a choice as it was before there were other types."""
    found = asdict(criterion)
    of_type = {name: found.pop(name) for name in ("type", "limits")}
    return found if criterion.is_choice else {**found, **of_type}


def to_numbers(criterion: CriterionSpec) -> Mapping[str, float]:
    """The scale's values as numbers; places from 1 where an ordinal scale has words; none where it has no order."""
    if not criterion.is_choice or criterion.level in NO_SCORES:
        return {}
    try:
        return {value: float(value) for value in criterion.values}
    except ValueError:
        return {value: float(place) for place, value in enumerate(criterion.values, start=1)}


def find_turns(said: Sequence[Mapping[str, object]], role: str = "assistant") -> tuple[int, ...]:
    """The places of one side's turns in a dialogue, from 1."""
    return tuple(place for place, turn in enumerate(said, start=1) if turn["role"] == role)


def build_prompt(judge: Judge, criterion: CriterionSpec, content: Content, setting: Setting | None = None) -> Prompt:
    """The words in which this judge is asked: Concord's own, or the template that the judge brings."""
    template, system = templates.find_template(criterion.key, **judge.parameters), judge.parameters.get("system")
    if setting and isinstance(content, PairContent):
        asked = evaluation.choice(criterion, content, answers=setting.answers, template=template, system=system)
        return replace(asked, pictures=content.pictures)
    shown = [build_example(one) for one in list_examples(judge, criterion.key)]
    asked = prompts.render(criterion, content, template=template, system=system, examples=shown)
    return replace(asked, pictures=list_pictures(content))


def list_pictures(content: Content) -> tuple[Picture, ...]:
    """The pictures of what is to be rated; of a dialogue up to the turn that is rated."""
    if isinstance(content, PairContent):
        return content.pictures
    return tuple(picture for turn in content.turns[: content.turn] for picture in turn.pictures)


def read_pictures(parts: Iterable[Mapping[str, object]], where: str) -> tuple[Picture, ...]:
    """The pictures among the parts of a text."""
    return tuple(
        Picture(sha256, str(part.get("type", "")), str(locate(sha256)), f"{where}: {part.get('name', '')}")
        for part in parts
        if part["kind"] == "image" and (sha256 := str(part.get("sha256") or ""))
    )


def list_examples(judge: Judge, key: str) -> list[Example]:
    """The judge's examples on a criterion."""
    return [Example.model_construct(**one) for one in judge.parameters.get("examples", ()) if one["criterion"] == key]


def build_example(example: Example) -> prompts.ShownExample:
    """The example as the prompt shows it: a preference names the side on which the response stands there."""
    side = to_place(example.value, example.order)
    return prompts.ShownExample(example.material, side, example.why, example.turn)


def is_example(judge: Judge, key: str, item: Item, content: Content) -> bool:
    """Whether the item, or one of the same content, is among the judge's examples on the criterion.

    An item of which a turn or response is an example is one with all its parts: its text stands in the prompt.
    """
    examples = list_examples(judge, key)
    if not examples:
        return False
    subject, shown = item.subject, prompts.build_example_placeholders(content)
    own = (subject.source, subject.external_id)
    return any(
        own == (one.source, one.external_id)
        or subject.content_hash == one.content_hash
        or (one.turn and shown == one.material)
        for one in examples
    )


def build_content(
    item: Item, shown: Sequence[str], order: str, setting: Setting | None = None, *, turn: int = 0
) -> Content:
    """What the judge gets to see: the item, with the parts of the context that the study shows to its annotators, or
    with what an evaluation's setting grants. `turn` is the turn that is rated, or the response that is shown alone."""
    if item.pair is not None:
        return pair_content(item.pair, shown, spell_order([turn]) if turn else order, setting)
    if item.dialogue is None:  # the database forbids it
        raise ValueError(f"item {item.pk} has neither dialogue nor pair")
    return replace(dialogue_content(item.dialogue, shown), turn=turn or None)


def dialogue_content(dialogue: Dialogue, shown: Sequence[str]) -> DialogueContent:
    scenario = dialogue.scenario
    task = scenario.task if scenario else None
    return DialogueContent(
        turns=tuple(
            Turn(str(turn["role"]), str(turn["content"]), read_pictures(turn.get("parts", ()), f"Turn {number}"))
            for number, turn in enumerate(dialogue.turns, start=1)
        ),
        person=build_person(scenario.profile if scenario else None, shown),
        goal=(task.goal or task.intent or task.description) if task and "goal" in shown else "",
        task=task.description if task and "goal" in shown else "",
        intent=(task.intent or task.description) if task and "goal" in shown else "",
        domains=tuple(task.domains) if task else (),
        preference_types=tuple(task.preference_types) if task else (),
        situation=scenario.variables if scenario and "situation" in shown else {},
    )


def pair_content(pair: ResponsePair, shown: Sequence[str], order: str, setting: Setting | None = None) -> PairContent:
    """The responses of this order, which may be one alone."""
    texts = {str(one.number): str(one.text) for one in pair.responses}
    order = order or LETTERS[: len(texts)]
    a, b, *further = [*(texts[number] for number in list_places(order).values()), ""]
    person = (
        evaluation_settings.select_known(build_known(pair.profile), setting)
        if setting
        else build_person(pair.profile, shown)
    )
    return PairContent(
        question=pair.question,
        response_a=a,
        response_b=b,
        further=tuple(further[:-1]),
        is_alone=len(order) == 1,
        context=pair.context,
        person=person,
        pictures=pair_pictures(pair, order),
    )


def pair_pictures(pair: ResponsePair, order: str) -> tuple[Picture, ...]:
    """The pictures of a question, those of its responses by the place at which they are shown."""
    parts = {str(one.number): one.text.parts for one in pair.responses}
    places = list_places(order or LETTERS[: len(parts)])
    named = [("Question", pair.parts.get("question", ())), ("Context", pair.parts.get("context", ()))]
    named += [(f"Response {place}", parts[number]) for place, number in places.items()]
    return tuple(one for where, shown in named for one in read_pictures(shown, where))


def build_known(profile: Profile | None) -> dict[str, object]:
    """All that is known of a person, by the parts of a profile; nothing where there is none."""
    parts = (*evaluation_settings.PARTS, "memories")
    return {part: getattr(profile, part) for part in parts} if profile else {}


def build_person(profile: Profile | None, shown: Sequence[str]) -> Person:
    parts = ("persona", "demographics", "preferences", "interactions", "memories")
    return Person(**{part: getattr(profile, part) for part in parts if profile and part in shown})
