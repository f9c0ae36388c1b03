"""Published rubrics as templates of criteria, in our own words.

One TOML file is one criterion. The dialogue criteria and their scales follow PersonaLens (arXiv 2506.09902), the
preference follows PersonaFeedback (arXiv 2506.12915).
"""

from annotation.criteria.loader import Category, CriterionTemplate, load

TEMPLATES: dict[str, CriterionTemplate] = load(
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
    "preference",
)


def template(key: str) -> CriterionTemplate:
    """The template called `key`; KeyError if there is none."""
    return TEMPLATES[key]


__all__ = ["TEMPLATES", "Category", "CriterionTemplate", "template"]
