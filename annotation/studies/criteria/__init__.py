"""Published rubrics as templates of criteria, in our own words.

One TOML file of this folder is one criterion, one in `rubrics` is a whole rubric. The dialogue criteria and their
scales follow PersonaLens (arXiv 2506.09902), the preference follows PersonaFeedback (arXiv 2506.12915); rubrics cite
what they follow.
"""

from annotation.studies.criteria.loader import Category, CriterionTemplate, load, load_rubrics

TEMPLATES: dict[str, CriterionTemplate] = load(
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
    "preference",
    "first_turn_preference",
    "persona_drift",
    "goal_leakage",
)

RUBRICS = load_rubrics()
"""Rubrics that a study can be made with, by name."""


def default_keys(kind: str) -> list[str]:
    """The criteria that a study of this kind of item asks unless it names its own."""
    return [key for key, found in TEMPLATES.items() if found.kind == kind and found.is_default]


def template(key: str) -> CriterionTemplate:
    """The template called `key`; KeyError if there is none."""
    return TEMPLATES[key]


__all__ = ["RUBRICS", "TEMPLATES", "Category", "CriterionTemplate", "default_keys", "template"]
