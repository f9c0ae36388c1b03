"""What the orders on the way from seeds to candidates ask of a model, and what is stored of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from annotation.corpus.models import Profile
from core.hashing import content_hash
from simulation.agents.parsing import seeds as parsing
from simulation.agents.prompts import generation as prompts
from simulation.generation.models import Candidate, Making
from simulation.generation.result_types import MadeRecords
from simulation.generation.services import generators
from simulation.generation.services.generators import KNOWN, Step, find_profile, provenance

SOURCE = "seeds"
"""Where personas made from seeds say that they come from."""


def steps(making: Making) -> Iterator[Step]:
    """What is still to be asked of an order of any kind."""
    for step in STEPS[making.kind](making):
        if step.key not in making.parts:
            yield step


def persona_steps(making: Making) -> Iterator[Step]:
    traits = making.asked["traits"]
    like = " ".join(map(str, traits.values()))
    yield Step(
        "persona",
        prompts.describe_person(traits),
        lambda reply: parsing.person(reply, like=like),
        schema=parsing.schema_of_person(),
    )


def question_steps(making: Making) -> Iterator[Step]:
    """Questions of a persona, or general ones where there is none."""
    n, topics = making.asked["n"], making.asked.get("topics", [])
    if making.profile is None:
        cue, like = prompts.ask_general(topics, n), " ".join(topics)
    else:
        cue, like = prompts.ask_specific(build_known(making.profile), n), making.profile.persona
    yield Step(
        "questions",
        cue,
        lambda reply: parsing.questions(reply, n, like=like),
        schema=parsing.schema_of_list("questions", n, one=parsing.SHORT),
    )


def memory_steps(making: Making) -> Iterator[Step]:
    profile, n = find_profile(making), making.asked["n"]
    cue = prompts.remember(build_known(profile), n)
    yield Step(
        "memories",
        cue,
        lambda reply: parsing.passages(reply, n, like=profile.persona),
        schema=parsing.schema_of_list("passages", n, one=parsing.LONG),
    )


def response_steps(making: Making) -> Iterator[Step]:
    """The responses to a question, in an order drawn by lot so that their places do not tell their levels."""
    texts = Candidate.objects.in_bulk(making.asked["candidates"])
    shown = [texts[pk].text for pk in making.asked["candidates"]]
    cue = prompts.judge_responses(making.asked["question"], shown, build_known(find_profile(making)))
    yield Step(
        "responses",
        cue,
        lambda reply: parsing.parse_opinions(reply, len(shown)),
        schema=parsing.schema_of_responses(len(shown)),
    )


def build_known(profile: Profile) -> dict[str, object]:
    """What prompts are told of a persona: all but the memories, which are made from it."""
    return {name: getattr(profile, name) for name in KNOWN if name != "memories"}


STEPS: dict[str, Callable[[Making], Iterator[Step]]] = {
    **generators.KINDS,
    "persona": persona_steps,
    "questions": question_steps,
    "memories": memory_steps,
    "responses": response_steps,
}


# what is stored


def store_persona(making: Making) -> MadeRecords:
    made, traits = making.parts["persona"], making.asked["traits"]
    found = Profile.objects.create(
        source=SOURCE,
        external_id=f"persona-{making.pk}",
        content_hash=content_hash([traits, made]),
        name=made["name"],
        persona=made["description"],
        demographics=traits,
        preferences={"Facts": made["facts"]},
        extra={**provenance(making, "persona"), "parents": {"seed": making.asked["seed_id"]}},
    )
    making.profile = found
    return [["profile", found.pk]]


def store_memories(making: Making) -> MadeRecords:
    profile = Profile.objects.select_for_update().get(pk=find_profile(making).pk)
    profile.memories = making.parts["memories"]
    profile.extra = {**profile.extra, "memories": provenance(making, "memories")}
    profile.content_hash = content_hash([profile.content_hash, profile.memories])
    profile.save()
    return [["profile", profile.pk]]


def store_nothing(making: Making) -> MadeRecords:  # noqa: ARG001
    """What came stays with the order: questions become candidates later, a look at responses makes nothing."""
    return []


STORES: dict[str, Callable[[Making], MadeRecords]] = {
    **generators.STORES,
    "persona": store_persona,
    "questions": store_nothing,
    "memories": store_memories,
    "responses": store_nothing,
}
