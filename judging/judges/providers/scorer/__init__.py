"""Judges that score each response by itself and prefer the higher score: reward models and what is like them.

All speak one protocol, `score(persona, question, response)`: a number, the higher the better. A scorer is named by the
judge's model: `embedding` (built in), `endpoint` (a server over HTTP), `model` (a provider asked to rate one response),
or a Python callable that CONCORD_SCORERS names. A scorer that gives no number leaves the item unscored with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module

from pydantic import Field

from core.jobs.backoff import PermanentError
from judging.judges.providers import base
from judging.judges.providers.base import Reply, Usage
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from judging.judges.providers.persons import to_text
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, PairContent, is_preference
from judging.judges.providers.scorer.protocol import Score, Scorer

REGISTRY = {
    "embedding": "judging.judges.providers.scorer.embedding:Similarity",
    "endpoint": "judging.judges.providers.scorer.endpoint:Endpoint",
    "model": "judging.judges.providers.scorer.model_ratings:RatingScorer",
}
CALLABLE = "judging.judges.providers.scorer.callables:NamedScorer"
SIDES = ("A", "B")


class ScorerParameters(base.Parameters):
    """`url` is an endpoint's; `provider`, `model` and `parameters` are of the judge that is asked to rate."""

    url: str = ""
    timeout: float = Field(default=60, gt=0, description="Seconds for one score.")
    max_retries: int = Field(default=2, ge=0, le=10, description=base.RETRIES)
    provider: str = ""
    model: str = ""
    parameters: dict[str, object] = Field(default_factory=dict)
    concurrency: int = Field(default=4, ge=1, le=64, description=base.CONCURRENCY)


class ScorerJudge(base.Provider):
    Parameters = ScorerParameters
    compares = True

    def __init__(
        self, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
    ) -> None:
        super().__init__(model=model, parameters=parameters, keys=keys)
        module, _, name = REGISTRY.get(model, CALLABLE).partition(":")
        self.scorer: Scorer = getattr(import_module(module), name)(model, self.parameters, keys)

    @property
    def is_asked(self) -> bool:
        return self.scorer.is_asked

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:
        other = [one.key for one in criteria if not is_preference(one) and not set(one.values) >= set(SIDES)]
        problems = [f"a scorer chooses between two responses, which {', '.join(other)} does not ask"] if other else []
        return problems + self.scorer.problems()

    def identity(self, request: JudgeRequest) -> Mapping[str, object]:
        """With all that is scored, since no prompt holds it."""
        content = request.content
        if not isinstance(content, PairContent):
            return super().identity(request)
        pair = [content.question, content.context, *content.responses.values()]
        return {**super().identity(request), "pair": pair, "person": to_text(content.person)}

    async def judge(self, request: JudgeRequest) -> Reply:
        content = request.content
        if not isinstance(content, PairContent):
            raise PermanentError("A scorer chooses between two responses.")
        persona, question = to_text(content.person), "\n\n".join(filter(None, (content.question, content.context)))
        scores = {
            side: await self.scorer.score(persona, question, response, seed=request.seed)
            for side, response in content.responses.items()
        }
        return build_reply(scores)

    async def aclose(self) -> None:
        await self.scorer.aclose()


def build_reply(scores: Mapping[str, Score]) -> Reply:
    """The side with the highest score; unscored where a score is not a number, or several have it."""
    told = {side: score.value if math.isfinite(score.value) else None for side, score in scores.items()}
    details: dict[str, object] = {"scores": told}
    usage = total([score.usage for score in scores.values() if score.usage])
    lacking = [side for side, value in told.items() if value is None]
    if lacking:
        why = " ".join(f"No score for response {side}: {scores[side].explain()}" for side in lacking)
        return Reply(unscored="no_score", explanation=why, details=details, usage=usage)
    said = f"Scored one by one: {', '.join(f'{side} {score.value:.4g}' for side, score in scores.items())}."
    most = max(score.value for score in scores.values())
    best = [side for side, score in scores.items() if score.value == most]
    if len(best) > 1:
        return Reply(unscored="equal_scores", explanation=said, details=details, usage=usage)
    return Reply(value=best[0], explanation=said, details=details, usage=usage)


def total(usages: Sequence[Usage]) -> Usage | None:
    """What several calls took together; None where none of them said."""
    if not usages:
        return None
    return Usage(
        input_tokens=sum(one.input_tokens for one in usages),
        output_tokens=sum(one.output_tokens for one in usages),
        cached_tokens=sum(one.cached_tokens for one in usages),
        written_tokens=sum(one.written_tokens for one in usages),
    )


__all__ = ["REGISTRY", "Score", "Scorer", "ScorerJudge"]
