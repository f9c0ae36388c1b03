"""Every prompt is rendered from rows whose parts carry marks, and held to `simulation.agents.prompts.information`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields

import pytest

from annotation.corpus.models import PROVENANCE, Dialogue, Scenario
from annotation.studies.criteria import TEMPLATES
from annotation.studies.queries.context import PARTS as SHOWN
from judging.judges import prompts as judge_prompts
from judging.judges.providers.requests import Category, CriterionSpec
from judging.judges.queries.contents import dialogue_content
from simulation.agents.prompts import (
    CONDITIONS,
    TASK_PREFERENCES,
    SpokenTurn,
    build_assistant_cue,
    build_user_cue,
    roles,
)
from simulation.agents.prompts.information import HERE, NAMES, PUBLISHED, UserKnowledge, select_knowledge
from simulation.experiments.models import PreferenceType
from simulation.experiments.queries import build_scene
from simulation.generation.models import Making
from simulation.generation.services import generators
from tests.support import factories
from tests.support.paths import ROOT
from tests.support.shared_rows import share_rows

MARKS = {
    "intent": "mark-intent",
    "description": "mark-description",
    "goal": "mark-goal",
    "demographics": "mark-demographics",
    "situation": "mark-situation",
    "dialogue": "mark-dialogue",
    "types": "mark-type",
}
SCOPES = ("named", "task", "all")
DOCS = ROOT / "docs" / "simulation.md"


def told_in(text: str) -> UserKnowledge:
    """What is told in a rendered prompt, by the marks in it. The widest scope holds the narrower ones too."""
    found = {name: mark in text for name, mark in MARKS.items()}
    preferences = [scope for scope in SCOPES if f"mark-preference-{scope}" in text]
    interactions = [scope for scope in SCOPES if f"mark-interaction-{scope}" in text]
    assert preferences == list(SCOPES[: len(preferences)]) or preferences == ["all"]
    return UserKnowledge(**found, preferences=(preferences or [""])[-1], interactions=(interactions or [""])[-1])


def rendered(scenario: Scenario, dialogue: Dialogue) -> Mapping[str, str]:
    """The text of every prompt, by the names that the declaration has."""
    scene, said = build_scene(scenario), [SpokenTurn("user", "mark-dialogue"), SpokenTurn("assistant", "Which?")]
    variant = {"information": TASK_PREFERENCES}
    found = {
        "user_opening": build_user_cue(scene, []).text,
        "user_later": build_user_cue(scene, said).text,
        "user_opening/task_preferences": build_user_cue(scene, [], **variant).text,
        "user_later/task_preferences": build_user_cue(scene, said, **variant).text,
    }
    for key in ("none", "vanilla", "base", "base+D", "base+I", "base+S", "base+all", "base+I-retrieved"):
        retrieved = list(scene.interactions.values())
        found[key] = build_assistant_cue(scene, said[:1], condition=CONDITIONS[key], retrieved=retrieved).text
    content = dialogue_content(dialogue, list(SHOWN["dialogue"]))
    for key, one in TEMPLATES.items():
        if one.kind == "dialogue":
            scale = tuple(Category(c.value, c.label, c.guideline) for c in one.categories)
            spec = CriterionSpec(key, one.name, one.question, one.guideline, one.level, scale)
            found[key] = judge_prompts.render(spec, content).user
    return found | made_for(scenario)


def made_for(scenario: Scenario) -> dict[str, str]:
    """What is asked by each recipe about the scenario's profile, task and first domain."""
    found = {}
    for name, kind, domains in (
        ("mask", "mask", []),
        ("preferences", "preferences", ["Restaurants"]),
        ("interactions", "interactions", ["Restaurants"]),
        ("tasks", "tasks", ["Restaurants"]),
        ("tasks_multi", "tasks", []),
        ("situation", "situation", []),
        ("conflicts", "check", []),
    ):
        asked = {"source": "test", "domains": domains, "n": 1, "task": scenario.task_id, "demographics": {}}
        making = Making(kind=kind, asked=asked, profile=scenario.profile)
        found[name] = next(generators.KINDS[kind](making)).cue.text
    return found


@pytest.fixture(scope="module")
def texts(django_db_setup, django_db_blocker):
    yield from share_rows(django_db_blocker, marked)


def marked() -> Mapping[str, str]:
    """Every prompt about one profile, task and dialogue, each part of which carries its mark."""
    for domain in ("Restaurants", "Books"):
        PreferenceType.objects.create(source="test", domain=domain, name="mark-type", possible_values=["x"])
    profile = factories.ProfileFactory(
        demographics={"age": "mark-demographics"},
        interests={},
        preferences={
            "Restaurants": {"Cuisine": "mark-preference-named", "Ambiance": "mark-preference-task"},
            "Books": {"Genre": "mark-preference-all"},
        },
        interactions={"Restaurants": "mark-interaction-named mark-interaction-task", "Books": "mark-interaction-all"},
    )
    task = factories.TaskFactory(
        description="mark-description",
        intent="mark-intent",
        goal="mark-goal",
        domains=["Restaurants"],
        preference_types=["Cuisine"],
    )
    scenario = factories.ScenarioFactory(
        profile=profile,
        task=task,
        situation={"Location": "mark-situation", PROVENANCE: {"justifications": {"Location": "mark-why"}}},
    )
    turns = [{"role": "user", "content": "mark-dialogue"}, {"role": "assistant", "content": "Which?"}]
    return rendered(scenario, factories.DialogueFactory(scenario=scenario, turns=turns))


@pytest.mark.parametrize("role", HERE)
def test_a_prompt_is_told_what_is_declared(texts, role):
    assert told_in(texts[role]) == HERE[role]
    assert "mark-why" not in texts[role], "why a situation was made so is told to nobody"


def test_every_prompt_is_declared(texts):
    assert set(texts) == set(HERE)
    assert set(PUBLISHED) < set(HERE)


def test_the_table_in_the_docs_is_made_of_the_declaration():
    assert render_table() in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("information", roles.USER_INFORMATION)
@pytest.mark.parametrize("role", ["user_opening", "user_later"])
def test_placeholders_say_what_the_user_agent_is_told(role, information):
    name = role if information == roles.FAITHFUL else f"{role}/{information}"

    assert select_knowledge(roles.list_placeholders(role, information, {}), dialogue=role == "user_later") == HERE[name]


SPEAKS_OF = {
    "goal": r"\bgoal\b|\bwhat has to be done\b",
    "situation": r"\bsituation\b",
    "preferences": r"\bpreferences?\b|\bprofile\b|\bhabits?\b",
    "interactions": r"\bpast interactions\b|\bearlier conversations\b|\bprofile\b",
    "demographics": r"\bprofile\b|\bpersona\b",
}


@pytest.mark.parametrize("key", [key for key, one in TEMPLATES.items() if one.kind == "dialogue"])
def test_what_a_criterion_speaks_of_is_in_the_prompt(texts, key):
    """Coherence of the user was judged by goal and profile that nobody showed to the judge."""
    one, told = TEMPLATES[key], told_in(texts[key])
    words = " ".join([one.question, one.guideline, *(category.guideline for category in one.categories)])

    for part, pattern in SPEAKS_OF.items():
        if re.search(pattern, words, re.IGNORECASE):
            assert getattr(told, part), f"{key} speaks of {part}"


def describe_as_published(role: str) -> str:
    """Whether a prompt is told what that of PersonaLens is told, in words."""
    if role not in PUBLISHED:
        return "not in PersonaLens"
    return "yes" if PUBLISHED[role] == HERE[role] else f"no: {PUBLISHED[role].list_parts()}"


def render_table() -> str:
    """`HERE` in Markdown, a line for each prompt."""
    columns = [field.name for field in fields(UserKnowledge)]
    head = ["prompt", *(NAMES[name] for name in columns), "as PersonaLens"]
    lines = [head, ["---"] * len(head)]
    for role, told in HERE.items():
        cells = [getattr(told, name) for name in columns]
        shown = [cell if isinstance(cell, str) and cell else "yes" if cell else "–" for cell in cells]
        lines.append([f"`{role}`", *shown, describe_as_published(role)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
