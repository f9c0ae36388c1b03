"""The judge that needs no model: counts of words, turned into categories by fixed rules.

It is a baseline: what a model must beat before its verdicts mean anything, and something to try Concord with. It says
in every reply what it counted. It knows the criteria below by their keys and refuses others, since a rule made for
one question says nothing about another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from core.jobs.backoff import PermanentError
from judging.judges.providers import base
from judging.judges.providers.base import Reply
from judging.judges.providers.baseline import dialogue, trivial
from judging.judges.providers.baseline.pair import preference
from judging.judges.providers.baseline.scale import MeasuredScore, NothingToMeasure, reply
from judging.judges.providers.requests import CriterionSpec, DialogueContent, JudgeRequest, is_preference

RULES: dict[str, Callable[[DialogueContent], MeasuredScore | NothingToMeasure]] = {
    "task_completion": dialogue.task_completion,
    "personalization": dialogue.personalization,
    "naturalness_user": partial(dialogue.naturalness, role="user"),
    "naturalness_assistant": partial(dialogue.naturalness, role="assistant"),
    "coherence_user": partial(dialogue.coherence, role="user"),
    "coherence_assistant": partial(dialogue.coherence, role="assistant"),
}
SIDES = {"A", "B"}


class Baseline(base.Provider):
    """The model says which rule: none for the counts of words, or one of `trivial` for pairs."""

    compares = True

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:
        if self.model:
            return self.check_trivial(criteria)
        unknown = [criterion.key for criterion in criteria if not is_known_criterion(criterion)]
        known = ", ".join([*RULES, "any preference between two responses"])
        return [f"the baseline has no rule for {', '.join(unknown)}; it knows {known}"] if unknown else []

    def check_trivial(self, criteria: Sequence[CriterionSpec]) -> list[str]:
        if self.model not in trivial.RULES:
            return [f"the baseline has no rule called {self.model!r}; there are {', '.join(trivial.RULES)}, and none"]
        others = [one.key for one in criteria if not is_preference(one) and not set(one.values) >= SIDES]
        return [f"the rule {self.model!r} chooses between two responses, not {', '.join(others)}"] if others else []

    async def list_models(self) -> tuple[str, ...]:
        return tuple(trivial.RULES)

    async def judge(self, request: JudgeRequest) -> Reply:
        content, criterion = request.content, request.criterion
        if self.model:
            return trivial.apply_rule(self.model, request)
        if isinstance(content, DialogueContent) and criterion.key in RULES:
            return reply(RULES[criterion.key](cut_at_turn(content)), criterion)
        if not isinstance(content, DialogueContent) and set(criterion.values) >= SIDES:
            return preference(content, criterion)
        raise PermanentError(f"The baseline has no rule for {criterion.key} of this kind of item.")


def cut_at_turn(content: DialogueContent) -> DialogueContent:
    """The conversation up to the turn that is asked about: the rules measure a conversation, not a turn alone."""
    return replace(content, turns=content.turns[: content.turn])


def is_known_criterion(criterion: CriterionSpec) -> bool:
    """Criteria come here as they are stored or as they are shown, so a preference may name responses or sides."""
    return criterion.key in RULES or set(criterion.values) >= SIDES or is_preference(criterion)
