"""A benchmark from people's votes: where each case ended, its gold by majority, its tier, its split, its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.agreement.models import TierOverride
from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.agreement.services.tiers import parse_chance, parse_cuts
from annotation.benchmarks.models import Benchmark, BenchmarkCase, FilterOutcome
from annotation.benchmarks.options import PREFERENCE
from annotation.benchmarks.queries import lineages
from annotation.benchmarks.queries.lineages import Lineage, Vote
from annotation.benchmarks.result_types import ModelTiersDocument, StepDocument
from annotation.benchmarks.services import model_tiers, versions
from annotation.benchmarks.services.filtering import find_criterion
from annotation.corpus.models import ResponsePair
from annotation.stats.bands import DEFAULT_CUTS, Cuts
from annotation.stats.benchmarks.cases import Case
from annotation.stats.benchmarks.splitting import UNEVEN, find_uneven, split
from annotation.stats.benchmarks.votes import CaseVotes, count_votes
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty
from annotation.stats.tiers import Chance
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash

BATCH = 500

BY_MODEL, BY_HAND = "tier by the difficulty model", "tier set by hand"
"""Steps in the history of a case."""


@dataclass(frozen=True)
class BuildOptions:
    """How cases are made of votes.

    Attributes
    ----------
    criterion
        Key of the choice between the responses.
    tiers
        What tiers are made of, one of `TIERS_FROM`. Tiers set by hand stand above both.
    cuts, chance
        How counted tiers are made.
    agreement_cuts
        Of the model: up to which probability that two people agree a case is contested, hard and medium.
    min_votes
        A case with fewer has no gold.
    pooled
        Count the votes of all studies in which a case's texts were the same, not only those of the last.
    splits
        Name -> share; empty for none. Cases of one persona, or with a response in common, stay together. A response of
        the level none is written for anybody: having it in common keeps no cases together.
    split_tolerance
        How far the share of a split may be from the wanted one; further, or empty, and nothing is built.
    by_question
        Keep cases with the same question together too.
    seed
        Of the splits.
    """

    criterion: str = PREFERENCE
    tiers: str = "counted"
    cuts: Cuts = DEFAULT_CUTS
    chance: Chance = "uniform"
    agreement_cuts: Cuts = AGREEMENT_CUTS
    min_votes: int = 2
    pooled: bool = False
    splits: Mapping[str, float] = field(default_factory=dict)
    split_tolerance: float = UNEVEN
    by_question: bool = False
    seed: int = 0

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> BuildOptions:
        """From the options of a new benchmark, whose cuts and chance are texts."""
        parsed = {"cuts": parse_cuts, "chance": parse_chance, "agreement_cuts": parse_model_cuts}
        named = {one.name: given[one.name] for one in fields(cls) if one.name in given}
        named |= {name: parse(named[name]) for name, parse in parsed.items() if name in named}
        return cls(**named)

    def to_json(self) -> dict[str, object]:
        """As it is kept with the benchmark."""
        return {
            "criterion": self.criterion,
            "tiers": self.tiers,
            "cuts": list(self.cuts),
            "chance": self.chance,
            **({"agreement_cuts": list(self.agreement_cuts)} if self.tiers == "model" else {}),
            "min_votes": self.min_votes,
            "votes": "pooled" if self.pooled else "of the last study",
            "gold": "majority",
            "splits": dict(self.splits),
            **({"split_tolerance": self.split_tolerance} if self.splits else {}),
            "split_by": ["persona", "response", *(["question"] if self.by_question else [])] if self.splits else [],
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Judged:
    """A lineage with what its votes, an adjudication and the filter rounds make of it."""

    lineage: Lineage
    found: CaseVotes
    decided: Adjudication | None
    by_hand: TierOverride | None
    by_model: Mapping[str, float] | None = None

    @property
    def pair(self) -> ResponsePair:
        """The texts that were voted on last."""
        if self.lineage.last.pair is None:
            raise ValueError("a benchmark is made of pairs")
        if self.lineage.last.pair.n_responses != 2:
            raise InputError("A benchmark is made of pairs; an item has another number of responses.", field="study")
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
        if self.decided:
            return "decided to be a tie"
        reason = self.found.to_reason()
        if self.by_model and not self.by_hand and self.found.state == "contested":
            return reason.replace("contested:", "contested by the difficulty model:", 1)
        return reason


@audited("benchmark.build", says=("study", "version", "options", "parent"), prepares=True)
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
    asked = find_criterion(study, chosen.criterion)
    with_tie = "tie" in asked.values
    judged, by_model = judge(study, chosen, with_tie=with_tie)
    places = assign_splits(judged, chosen)
    with audit_transaction() as done:
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
                "studies": [one.slug for one in lineages.list_derived_studies(study)],
                **chosen.to_json(),
                **({"model": by_model} if by_model else {}),
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
            (build_case(benchmark, one, place) for one, place in zip(judged, places, strict=True)), batch_size=BATCH
        )
    return benchmark


def judge(study: Study, options: BuildOptions, *, with_tie: bool) -> tuple[list[Judged], ModelTiersDocument | None]:
    """Every item of the study with what became of it; and how sure its tiers are, where the model makes them."""
    found = lineages.load_study(study)
    if not found:
        raise InputError("{study} has no items.", field="study", study=study)
    said = lineages.votes(found, options.criterion, pooled=options.pooled)
    votes = [lineages.count(one) for one in said]
    by_hand = lineages.tiers_by_hand(found, options.criterion)
    decided = lineages.load_adjudications(found, options.criterion)
    model = _fitted(found, said, options, with_tie=with_tie) if options.tiers == "model" else None
    likeliest = model.tier if model else (None,) * len(found)

    count = partial(
        count_votes,
        votes,
        with_tie=with_tie,
        cuts=options.cuts,
        chance_from=options.chance,
        min_votes=options.min_votes,
    )
    hand = [by_hand[one.last.pk].tier if one.last.pk in by_hand else None for one in found]
    made = count(tiers=[by or tier for by, tier in zip(hand, likeliest, strict=True)], by_kappa=model is None)
    odds = model_tiers.probabilities(model) if model else [None] * len(found)
    judged = [
        Judged(one, what, decided.get(one.last.pk), by_hand.get(one.last.pk), p)
        for one, what, p in zip(found, made, odds, strict=True)
    ]
    if model is None:
        return judged, None
    return judged, model_tiers.describe(model, [one.tier for one in count()])


def _fitted(
    found: Sequence[Lineage], said: Sequence[Mapping[int, Vote]], options: BuildOptions, *, with_tie: bool
) -> Difficulty:
    return model_tiers.fit_cases(
        found, said, with_tie=with_tie, cuts=options.agreement_cuts, min_votes=options.min_votes
    )


def assign_splits(judged: Sequence[Judged], options: BuildOptions) -> list[str]:
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
    shared = {text for one in judged for text in texts_for_anybody(one.pair)}
    try:
        places = split(cases, options.splits, seed=options.seed, by_question=options.by_question, shared=shared)
    except ValueError as error:
        raise InputError(str(error), field="splits") from error
    check_splits(judged, places, options)
    return places


def check_splits(judged: Sequence[Judged], places: Sequence[str], options: BuildOptions) -> None:
    """Raise InputError where a split is empty or lopsided: of all cases, or empty of those that count."""
    counting = {place for one, place in zip(judged, places, strict=True) if not one.excluded}
    wrong = find_uneven(places, options.splits, tolerance=options.split_tolerance)
    if not wrong and counting and (empty := [name for name in options.splits if name not in counting]):
        wrong = _("{split} has no case that counts").format(split=empty[0])
    if wrong:
        raise InputError(
            "The splits cannot be filled as asked: {wrong}. Cases of one persona or with a response in common "
            "stay together{other}. Ask for other shares, or allow a difference of more than {most:.0f} %.",
            field="splits",
            wrong=wrong,
            other=_(" and so do those with the same question") if options.by_question else "",
            most=100 * options.split_tolerance,
        )


def texts_for_anybody(pair: ResponsePair) -> list[str]:
    """The responses of a pair that were written without knowing the persona: those of the level none."""
    levels = pair.extra.get("levels", [])
    return [text for text, level in zip((pair.response_1, pair.response_2), levels, strict=False) if level == "none"]


def build_case(benchmark: Benchmark, one: Judged, place: str) -> BenchmarkCase:
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


def history(one: Judged) -> list[StepDocument]:
    """What happened to the case, oldest first."""
    steps = [step(outcome) for outcome in one.lineage.outcomes]
    if one.by_model:
        steps.append(model_step(one.by_model))
    if one.by_hand:
        steps.append(
            {
                "step": BY_HAND,
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


def model_step(tiers: Mapping[str, float]) -> StepDocument:
    """How likely each tier of a case is, as it goes along with the case."""
    likeliest = max(reversed(tuple(tiers)), key=tiers.__getitem__)  # of equal ones the harder, as everywhere
    odds = ", ".join(f"{tier} {p:.2f}" for tier, p in tiers.items())
    return {
        "step": BY_MODEL,
        "outcome": likeliest,
        "reason": f"Probability of each tier: {odds}.",
        "tiers": dict(tiers),
    }


def step(outcome: FilterOutcome) -> StepDocument:
    """A filter round's decision as it goes along with the case."""
    pair = outcome.item.pair
    found: StepDocument = {
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
    labels = Annotation.objects.only_counting().filter(assignment__study__in=studies)
    people = User.objects.filter(pk__in=labels.values("assignment__annotator"))
    return dict(Counter(people.values_list("kind", flat=True)))
