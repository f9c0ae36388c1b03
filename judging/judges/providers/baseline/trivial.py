"""Rules that know nothing of the person: what every judge of pairs has to beat."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from core.jobs.backoff import PermanentError
from judging.judges.providers.base import Reply
from judging.judges.providers.requests import JudgeRequest, PairContent


def longer(request: JudgeRequest, pair: PairContent) -> Reply:  # noqa: ARG001
    """The response with the most characters; without a verdict where several have as many."""
    lengths = {side: len(text) for side, text in pair.responses.items()}
    told = ", ".join(f"{side} has {n}{' characters' if side == 'A' else ''}" for side, n in lengths.items())
    said = f"Baseline, no model: {told}."
    longest = [side for side, n in lengths.items() if n == max(lengths.values())]
    if len(longest) > 1:
        return Reply(unscored="nothing_to_measure", explanation=said)
    return Reply(value=longest[0], explanation=said)


def choose_first(request: JudgeRequest, pair: PairContent) -> Reply:  # noqa: ARG001
    """The response that is shown first."""
    return Reply(value="A", explanation="Baseline, no model: always the response shown first.")


def chance(request: JudgeRequest, pair: PairContent) -> Reply:
    """A coin, thrown anew for every order and repeat, and the same whenever the run is repeated."""
    lot = random.Random(f"{request.seed}/{request.item}/{request.order}/{request.repeat}")  # noqa: S311 — a lot
    return Reply(value=lot.choice(tuple(pair.responses)), explanation="Baseline, no model: at random.")


RULES: Mapping[str, Callable[[JudgeRequest, PairContent], Reply]] = {
    "longer": longer,
    "first": choose_first,
    "chance": chance,
}


def apply_rule(rule: str, request: JudgeRequest) -> Reply:
    """What the rule says. PermanentError for a rule or an item that it does not know."""
    if rule not in RULES or not isinstance(request.content, PairContent):
        raise PermanentError(f"The baseline has no rule called {rule!r} for this kind of item.")
    return RULES[rule](request, request.content)
