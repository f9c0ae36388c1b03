"""What each kind of order asks of a model, step by step, and what is stored of it in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from annotation.corpus.models import PROVENANCE, Profile, Scenario, Task
from core.errors import InputError
from core.hashing import content_hash
from simulation.agents.parsing import generated, seeds
from simulation.agents.prompts import generation as prompts
from simulation.agents.prompts.generation import TypeSpec
from simulation.agents.prompts.scene import Cue, Scene
from simulation.experiments.models import PreferenceType
from simulation.generation.models import Candidate, Conflict, Making
from simulation.generation.result_types import MadeRecords

SOURCE = "made"
"""Where records that were made here say that they come from."""


@dataclass(frozen=True)
class Step:
    """One reply to get: what is asked, and how it is read. `read` raises UnfitError."""

    key: str
    cue: Cue
    read: Callable[[str], object]
    is_json: bool = True
    schema: Mapping[str, object] | None = None


def load_types(source: str, domains: Sequence[str]) -> dict[str, list[TypeSpec]]:
    """The preference types of the domains. InputError where one is not known."""
    found: dict[str, list[TypeSpec]] = {domain: [] for domain in domains}
    for one in PreferenceType.objects.filter(source=source, domain__in=domains).order_by("domain", "name"):
        possible = tuple(one.possible_values) if one.is_categorical else ()
        found[one.domain].append(TypeSpec(one.domain, one.name, one.description, one.has_multiple_values, possible))
    if unknown := [domain for domain, types in found.items() if not types]:
        raise InputError(
            "No preference types of {unknown!r} are known: import_schema FILE --source {source}.",
            field="domains",
            unknown=unknown[0],
            source=source,
        )
    return found


def list_all_domains(source: str) -> list[str]:
    """The domains that have preference types. InputError where none are known."""
    found = PreferenceType.objects.filter(source=source).order_by("domain").values_list("domain", flat=True)
    if domains := list(found.distinct()):
        return domains
    raise InputError(
        "No preference types are known: import_schema FILE --source {source}.", field="domains", source=source
    )


def choose_domains(making: Making) -> list[str]:
    """The domains that were named; of a profile without any, those that its mask says it cares for."""
    chosen = [domain for domain, cares in making.parts.get("mask", {}).items() if cares]
    named: list[str] = making.asked["domains"]
    return named or chosen


def list_replaced_texts(making: Making) -> dict[str, str]:
    """The texts that take the place of Concord's own."""
    texts: dict[str, str] = making.asked.get("prompts", {})
    return texts


def profile_steps(making: Making) -> Iterator[Step]:
    """Where no domains are named, a mask says which the person cares for, as in PersonaLens (arXiv 2506.09902)."""
    person = making.asked["demographics"]
    if not making.asked["domains"]:
        yield mask_step(making, list_all_domains(making.asked["source"]), person)
    for domain, types in load_types(making.asked["source"], choose_domains(making)).items():
        yield preference_step(making, domain, types, person, load_generated(making, "preferences"))
        held = making.parts.get(f"preferences {domain}", {})
        yield interaction_step(making, domain, person, held)


def mask_steps(making: Making) -> Iterator[Step]:
    """A mask over the domains named, else over all that the profile says nothing of yet."""
    profile = find_profile(making)
    there = making.asked["domains"] or list_all_domains(making.asked["source"])
    if not (domains := [domain for domain in there if domain not in profile.interests]):
        raise InputError(
            "{profile} has a mask for every domain already; it is not replaced.", field="domains", profile=profile
        )
    yield mask_step(making, domains, profile.demographics)


def mask_step(making: Making, domains: Sequence[str], person: Mapping[str, object]) -> Step:
    cue = prompts.mask(domains, person, replaced=list_replaced_texts(making))
    return Step("mask", cue, lambda reply: generated.mask(reply, domains))


def preference_steps(making: Making) -> Iterator[Step]:
    profile = find_profile(making)
    for domain, types in load_types(making.asked["source"], making.asked["domains"]).items():
        known = {**profile.preferences, **load_generated(making, "preferences")}
        yield preference_step(making, domain, types, profile.demographics, known)


def interaction_steps(making: Making) -> Iterator[Step]:
    profile = find_profile(making)
    for domain in making.asked["domains"]:
        yield interaction_step(making, domain, profile.demographics, profile.preferences.get(domain, {}))


def task_steps(making: Making) -> Iterator[Step]:
    """Tasks of the domains named. Where none are, each task is of several domains, which the model chooses from all."""
    source, named, n, replaced = (
        making.asked["source"],
        making.asked["domains"],
        making.asked["n"],
        list_replaced_texts(making),
    )
    found = load_types(source, named or list_all_domains(source))
    types = [one for of_domain in found.values() for one in of_domain]
    cue = (
        prompts.tasks(named, types, n, replaced=replaced) if named else prompts.tasks_multi(types, n, replaced=replaced)
    )
    read = generated.tasks if named else generated.tasks_multi
    yield Step("tasks", cue, lambda reply: read(reply, types, n))


def situation_steps(making: Making) -> Iterator[Step]:
    """From demographics, all preferences of the task's domains, and the task's description, as in PersonaLens."""
    task, profile = Task.objects.get(pk=making.asked["task"]), find_profile(making)
    scene = Scene(preferences=profile.preferences, domains=tuple(task.domains))
    cue = prompts.situation(
        task.description or task.intent,
        profile.demographics,
        scene.domain_preferences,
        replaced=list_replaced_texts(making),
    )
    yield Step("situation", cue, generated.situation)


def check_steps(making: Making) -> Iterator[Step]:
    profile = find_profile(making)
    fields = generated.list_fields(profile.demographics, profile.preferences)
    schema = seeds.schema_of_conflicts(fields)
    cue = prompts.conflicts(profile.demographics, profile.preferences, replaced=list_replaced_texts(making))
    yield Step("conflicts", cue, lambda reply: generated.conflicts(reply, fields), schema=schema)


def preference_step(
    making: Making, domain: str, types: Sequence[TypeSpec], person: Mapping[str, object], known: Mapping[str, object]
) -> Step:
    cue = prompts.preferences(domain, types, person, known, replaced=list_replaced_texts(making))
    return Step(f"preferences {domain}", cue, lambda reply: generated.preferences(reply, types))


def interaction_step(making: Making, domain: str, person: Mapping[str, object], held: Mapping[str, object]) -> Step:
    cue = prompts.interactions(domain, person, held, replaced=list_replaced_texts(making))
    return Step(f"interactions {domain}", cue, generated.summary)


def candidate_steps(making: Making) -> Iterator[Step]:
    profile, question = find_profile(making), making.asked["question"]
    known = {name: getattr(profile, name) for name in KNOWN}
    for level in making.asked["levels"]:
        read = partial(seeds.response, question=question, level=level)
        yield Step(f"candidate {level}", prompts.candidate(level, question, known), read, is_json=False)


KNOWN = ("name", "persona", "demographics", "preferences", "interactions", "memories")


KINDS: dict[str, Callable[[Making], Iterator[Step]]] = {
    "mask": mask_steps,
    "profile": profile_steps,
    "preferences": preference_steps,
    "interactions": interaction_steps,
    "tasks": task_steps,
    "situation": situation_steps,
    "check": check_steps,
    "candidates": candidate_steps,
}


def load_generated(making: Making, what: str) -> dict[str, object]:
    """Domain -> what was made of it."""
    return {
        domain: making.parts[f"{what} {domain}"]
        for domain in choose_domains(making)
        if f"{what} {domain}" in making.parts
    }


def find_profile(making: Making) -> Profile:
    if making.profile is None:
        raise InputError("The profile is gone.", field="profile")
    return making.profile


# what is stored


def provenance(making: Making, step: str) -> dict[str, object]:
    """Which order and agent made it, with which prompt and seed."""
    prompt = next((one["prompt"] for one in making.replies if one["step"] == step and not one["problem"]), "")
    return {"making": making.pk, "agent": str(making.agent), "prompt": prompt, "seed": making.seed}


def store_profile(making: Making) -> MadeRecords:
    preferences, interactions = load_generated(making, "preferences"), load_generated(making, "interactions")
    found = Profile.objects.create(
        source=SOURCE,
        external_id=f"made-{making.pk}",
        content_hash=content_hash([making.asked["demographics"], preferences, interactions]),
        demographics=making.asked["demographics"],
        preferences=preferences,
        interests=making.parts.get("mask") or dict.fromkeys(preferences, 1),
        interactions=interactions,
        extra={"making": making.pk, "agent": str(making.agent), "schema": making.asked["source"]},
    )
    making.profile = found
    return [["profile", found.pk]]


def store_in_profile(making: Making) -> MadeRecords:
    """Add to the profile what it does not have."""
    profile = Profile.objects.select_for_update().get(pk=find_profile(making).pk)
    held = getattr(profile, making.kind)
    held.update({domain: part for domain, part in load_generated(making, making.kind).items() if domain not in held})
    profile.content_hash = content_hash([profile.demographics, profile.preferences, profile.interactions])
    profile.save()
    return [["profile", profile.pk]]


def store_mask(making: Making) -> MadeRecords:
    """Add to the profile's mask what it does not have."""
    profile = Profile.objects.select_for_update().get(pk=find_profile(making).pk)
    profile.interests = {**making.parts["mask"], **profile.interests}
    profile.save(update_fields=["interests"])
    return [["profile", profile.pk]]


def store_tasks(making: Making) -> MadeRecords:
    found = [
        Task.objects.create(
            source=SOURCE,
            external_id=f"made-{making.pk}-{place}",
            content_hash=content_hash(one),
            description=one["description"],
            intent=one["intent"],
            goal=one["goal"],
            domains=domains,
            preference_types=one["preference_types"],
            is_multi_domain=len(domains) > 1,
            extra={"making": making.pk, "agent": str(making.agent)},
        )
        for place, one in enumerate(making.parts["tasks"], start=1)
        for domains in [one.get("domains") or making.asked["domains"]]
    ]
    return [["task", one.pk] for one in found]


def store_situation(making: Making) -> MadeRecords:
    """A situation of its own for the profile and the task, beside those that there are."""
    made: Mapping[str, Mapping[str, str]] = making.parts["situation"]
    reasons = {name: one["justification"] for name, one in made.items()}
    found = Scenario.objects.create(
        profile=find_profile(making),
        task_id=making.asked["task"],
        variant=f"made-{making.pk}",
        situation={
            **{name: one["value"] for name, one in made.items()},
            PROVENANCE: {**provenance(making, "situation"), "justifications": reasons},
        },
    )
    return [["scenario", found.pk]]


def store_conflicts(making: Making) -> MadeRecords:
    profile = find_profile(making)
    found = Conflict.objects.bulk_create(
        Conflict(
            making=making,
            profile=profile,
            label=one["label"],
            explanation=one["explanation"],
            fields=one["fields"],
            is_between_domains=len({field.partition(": ")[0] for field in one["fields"]}) > 1,
        )
        for one in making.parts["conflicts"]
    )
    return [["conflict", one.pk] for one in found]


def store_candidates(making: Making) -> MadeRecords:
    """A candidate for each level. One with the same words from the same model is there already."""
    profile, asked, agent = find_profile(making), making.asked, making.agent
    prompts_of = {reply["step"]: reply["prompt"] for reply in making.replies}
    found: MadeRecords = []
    for level in asked["levels"]:
        step = f"candidate {level}"
        fields = {
            "question": asked["question"],
            "kind": asked["kind"],
            "level": level,
            "provider": agent.provider,
            "model": agent.model,
            "prompt_hash": prompts_of[step],
            "text": making.parts[step],
        }
        one, _ = Candidate.objects.get_or_create(
            key=content_hash([profile.source, profile.external_id, *fields.values()]),
            defaults={**fields, "profile": profile, "making": making, "extra": asked.get("parents", {})},
        )
        found.append(["candidate", one.pk])
    return found


STORES: dict[str, Callable[[Making], MadeRecords]] = {
    "mask": store_mask,
    "profile": store_profile,
    "preferences": store_in_profile,
    "interactions": store_in_profile,
    "tasks": store_tasks,
    "situation": store_situation,
    "check": store_conflicts,
    "candidates": store_candidates,
}
