"""A benchmark from people's votes: where each case ended, its gold by majority, its tier, its split, its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import (
    Adjudication,
    Annotation,
    Benchmark,
    BenchmarkCase,
    FilterOutcome,
    ResponsePair,
    Study,
    User,
)
from annotation.queries import lineages
from annotation.queries.lineages import Lineage
from annotation.services.acts import act, saving
from annotation.services.benchmarks import versions
from annotation.services.benchmarks.filtering import PREFERENCE, criterion_of
from annotation.stats.bands import DEFAULT_CUTS, Cuts
from annotation.stats.benchmarks.cases import Case
from annotation.stats.benchmarks.splitting import split
from annotation.stats.benchmarks.votes import Counted, counted
from annotation.stats.tiers import Chance

BATCH = 500


@dataclass(frozen=True)
class BuildOptions:
    """How cases are made of votes.

    Attributes
    ----------
    criterion
        Key of the choice between the responses.
    cuts, chance
        How tiers are made.
    min_votes
        A case with fewer has no gold.
    pooled
        Count the votes of all studies in which a case's texts were the same, not only those of the last.
    splits
        Name -> share; empty for none. Cases of one persona, or with a response in common, stay together.
    by_question
        Keep cases with the same question together too.
    seed
        Of the splits.
    """

    criterion: str = PREFERENCE
    cuts: Cuts = DEFAULT_CUTS
    chance: Chance = "uniform"
    min_votes: int = 2
    pooled: bool = False
    splits: Mapping[str, float] = field(default_factory=dict)
    by_question: bool = False
    seed: int = 0

    def as_json(self) -> dict[str, Any]:
        """As it is kept with the benchmark."""
        return {
            "criterion": self.criterion,
            "cuts": list(self.cuts),
            "chance": self.chance,
            "min_votes": self.min_votes,
            "votes": "pooled" if self.pooled else "of the last study",
            "gold": "majority",
            "splits": dict(self.splits),
            "split_by": ["persona", "response", *(["question"] if self.by_question else [])] if self.splits else [],
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Judged:
    """A lineage with what its votes, an adjudication and the filter rounds make of it."""

    lineage: Lineage
    found: Counted
    decided: Adjudication | None
    by_hand: Any

    @property
    def pair(self) -> ResponsePair:
        """The texts that were voted on last."""
        if self.lineage.last.pair is None:
            raise ValueError("a benchmark is made of pairs")
        return self.lineage.last.pair

    @property
    def gold(self) -> str:
        """What a person decided; else the majority, where the case is not excluded."""
        if self.decided:
            return self.decided.value if self.decided.value in ("1", "2") else ""
        return self.found.gold

    @property
    def excluded(self) -> str:
        """Why no model is scored on it; empty where it counts."""
        outcome = self.lineage.outcome
        if outcome and outcome.outcome == FilterOutcome.Outcome.DROPPED:
            return f"dropped in {outcome.round}: {outcome.reason}"
        if outcome and outcome.outcome != FilterOutcome.Outcome.KEPT:
            return f"{outcome.outcome} in {outcome.round}, and not asked yet"
        if self.gold:
            return ""
        return "decided to be a tie" if self.decided else self.found.as_reason()


@act("benchmark.build", says=("study", "version", "options", "parent"), prepares=True)
def build(
    *,
    by: User | None,
    study: Study,
    name: str,
    version: str = "1",
    options: BuildOptions | None = None,
    parent: Benchmark | None = None,
    notes: str = "",
) -> Benchmark:
    """A draft of all items of a study and of the studies in which they were asked again.

    Nothing is lost: what was dropped, or has no gold, is a case too, excluded with its reason.
    """
    chosen = options or BuildOptions()
    asked = criterion_of(study, chosen.criterion)
    with_tie = "tie" in asked.values
    judged = judge(study, chosen, with_tie=with_tie)
    if not judged:
        raise InputError(f"{study} has no items.", field="study")
    places = splits_of(judged, chosen)
    with saving() as done:
        benchmark = done.result = versions.create(
            by=by,
            name=name,
            version=version,
            study=study,
            parent=parent,
            notes=notes,
            made={
                "how": "built",
                "study": study.slug,
                "studies": [one.slug for one in lineages.studies_from(study)],
                **chosen.as_json(),
                "with_tie": with_tie,
                "question": asked.question,
                "guideline": "\n\n".join(part for part in (study.instructions, asked.guideline) if part),
                "guideline_version": asked.guideline_version,
                "overlap": study.overlap,
                "annotators": annotators(judged),
                "counts": dict(Counter(one.found.state for one in judged)),
            },
            input_hash=content_hash([[one.pair.external_id, str(one.found.votes), one.gold] for one in judged]),
        )
        BenchmarkCase.objects.bulk_create(
            (case_of(benchmark, one, place) for one, place in zip(judged, places, strict=True)), batch_size=BATCH
        )
    return benchmark


def judge(study: Study, options: BuildOptions, *, with_tie: bool) -> list[Judged]:
    """Every item of the study with what became of it."""
    found = lineages.of_study(study)
    votes = lineages.votes(found, options.criterion, pooled=options.pooled)
    by_hand = lineages.tiers_by_hand(found, options.criterion)
    decided = lineages.decided(found, options.criterion)
    made = counted(
        votes,
        with_tie=with_tie,
        cuts=options.cuts,
        chance_from=options.chance,
        min_votes=options.min_votes,
        tiers=[by_hand[one.last.pk].tier if one.last.pk in by_hand else None for one in found],
    )
    return [
        Judged(one, said, decided.get(one.last.pk), by_hand.get(one.last.pk))
        for one, said in zip(found, made, strict=True)
    ]


def splits_of(judged: Sequence[Judged], options: BuildOptions) -> list[str]:
    """The split of each case; all of them take part, so that a case that counts again later has its place."""
    if not options.splits:
        return [""] * len(judged)
    cases = [
        Case(
            id=one.pair.external_id,
            kind=one.pair.kind,
            tier="",
            persona=f"{one.pair.profile.source}/{one.pair.profile.external_id}" if one.pair.profile else "",
            question=one.pair.question,
            response_1=one.pair.response_1,
            response_2=one.pair.response_2,
            gold="",
        )
        for one in judged
    ]
    try:
        return split(cases, options.splits, seed=options.seed, by_question=options.by_question)
    except ValueError as error:
        raise InputError(str(error), field="splits") from error


def case_of(benchmark: Benchmark, one: Judged, place: str) -> BenchmarkCase:
    votes, kappa = one.found.votes, one.found.kappa
    return BenchmarkCase(
        benchmark=benchmark,
        pair=one.pair,
        kind=one.pair.kind,
        tier=one.found.tier or "",
        gold=one.gold,
        votes_1=votes.one,
        votes_2=votes.two,
        votes_tie=votes.tie,
        kappa=None if kappa != kappa else kappa,
        split=place,
        excluded_reason=one.excluded,
        history=history(one),
        content_hash=one.pair.content_hash,
    )


def history(one: Judged) -> list[dict[str, Any]]:
    """What happened to the case, oldest first."""
    steps = [step(outcome) for outcome in one.lineage.outcomes]
    if one.by_hand:
        steps.append(
            {
                "step": "tier set by hand",
                "outcome": one.by_hand.tier,
                "reason": one.by_hand.reason,
                "by": str(one.by_hand.decided_by),
                "at": one.by_hand.created_at.isoformat(),
            }
        )
    if one.decided:
        steps.append(
            {
                "step": "adjudicated",
                "outcome": one.decided.value,
                "reason": one.decided.reason,
                "by": str(one.decided.decided_by),
                "at": one.decided.created_at.isoformat(),
            }
        )
    return steps


def step(outcome: FilterOutcome) -> dict[str, Any]:
    """A filter round's decision as it goes along with the case."""
    pair = outcome.item.pair
    found: dict[str, Any] = {
        "step": "filter round",
        "study": outcome.round.study.slug,
        "round": outcome.round.number,
        "outcome": outcome.outcome,
        "reason": outcome.reason,
        "tier": outcome.tier,
        "kappa": outcome.kappa,
        "votes": {"1": outcome.votes_1, "2": outcome.votes_2, "tie": outcome.votes_tie},
        "by": str(outcome.decided_by) if outcome.decided_by else "",
        "at": outcome.round.created_at.isoformat(),
    }
    if outcome.revised_pair and pair:
        found["before"] = {"id": pair.external_id, "response_1": pair.response_1, "response_2": pair.response_2}
    return found


def annotators(judged: Sequence[Judged]) -> dict[str, int]:
    """How many people of each kind voted in the studies, without names."""
    studies = {item.study_id for one in judged for item in one.lineage.items}
    labels = Annotation.objects.counting().filter(assignment__study__in=studies)
    people = User.objects.filter(pk__in=labels.values("assignment__annotator"))
    return dict(Counter(people.values_list("kind", flat=True)))
