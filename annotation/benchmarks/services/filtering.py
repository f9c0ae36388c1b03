"""Filter rounds: after the votes some cases stay, some go, and some are asked again, as they are or with new texts.

A round decides each item of a study once, when all its slots are filled or the study is closed. What is asked again
goes into a study of its own with the same questions; its votes are the ones that count from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Max

from annotation.agreement import queries as agreement_queries
from annotation.agreement.services.tiers import parse_chance, parse_cuts
from annotation.benchmarks.models import FilterOutcome, FilterRound
from annotation.benchmarks.options import PREFERENCE, NewRound
from annotation.corpus.models import ResponsePair, SourcedModel
from annotation.stats.benchmarks.filtering import AGAIN, Rule
from annotation.stats.benchmarks.votes import VALUES, CaseVotes, Votes, count_votes
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.queries import ratings
from annotation.studies.services import studies
from annotation.studies.services.samples import POSITION_STREAM
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.options.model import check_options
from core.version import code_version

SOURCE = "revised"
BATCH = 500
ASKED = ("criterion", "seed", "name", "overlap")
"""Options of a round besides its rule."""


@dataclass(frozen=True)
class Revision:
    """New texts of an item, None for one that stays as it is, and why."""

    response_1: str | None
    response_2: str | None
    reason: str

    def texts_of(self, pair: ResponsePair) -> tuple[str, str]:
        """Both responses of the pair as they will be."""
        one, two = self.response_1, self.response_2
        return pair.response_1 if one is None else one, pair.response_2 if two is None else two


@dataclass(frozen=True)
class Decided:
    """An item with what its votes make of it and what becomes of it."""

    item: Item
    found: CaseVotes
    outcome: str
    reason: str
    revision: Revision | None = None


def build_rule(outcomes: Mapping[str, str], cuts: str, chance: str, min_votes: int, *, field: str = "outcomes") -> Rule:
    """The rule that the options of a round describe. InputError, at the field of the outcomes, where it is none."""
    try:
        return Rule(outcomes, parse_cuts(cuts), parse_chance(chance), min_votes)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error), field=field) from error


@check_options(NewRound, but=("outcomes", "cuts", "chance", "min_votes"))
@audited("filter_round.run", says=("rule", "criterion", "seed", "revisions"))
def run(
    *,
    by: User | None,
    study: Study,
    rule: Rule | None = None,
    revisions: Mapping[str, Revision] | None = None,
    criterion: str = PREFERENCE,
    seed: int = 0,
    name: str = "",
    overlap: int | None = None,
) -> FilterRound:
    """Decide every item that is ready and not decided yet.

    `revisions` (by the pair's id) are asked again with their new texts, whatever their votes. `name` and `overlap`
    are those of the study in which is asked again, `seed` that of its order.
    """
    asked = find_criterion(study, criterion)
    chosen, new = rule or Rule(), dict(revisions or {})
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        ready = list_undecided_items(locked)
        check_revisions(new, ready)
        decided = decide(ready, asked, chosen, new)
        if not decided:
            raise InputError("No item of {study} is ready and not decided yet.", field="study", study=study)
        found = save_round(by, locked, asked, chosen, seed, decided)
        save_outcomes(by, found, decided)
        ask_again(by, found, name, overlap)
    return found


def find_criterion(study: Study, key: str) -> Criterion:
    if study.kind != Study.Kind.PAIR:
        raise InputError(
            "{study} is about {kind}; a benchmark is made of response pairs.",
            field="study",
            study=study,
            kind=study.get_kind_display(),
        )
    found = study.criteria.filter(key=key).first()
    if found is None:
        there = ", ".join(study.criteria.values_list("key", flat=True))
        raise InputError(
            "{study} has no criterion {key!r}; there are {there}.", field="criterion", study=study, key=key, there=there
        )
    if strange := [value for value in found.values if value not in VALUES]:
        raise InputError(
            "{found} is not a choice between two responses: it knows {strange!r}.",
            field="criterion",
            found=found,
            strange=strange[0],
        )
    return found


def list_undecided_items(study: Study) -> list[Item]:
    """Items without an outcome that nobody will rate any more: all ratings there, or the study is closed."""
    found = study.items.filter(filter_outcomes=None).select_related("pair__profile").order_by("position")
    if study.state == Study.State.OPEN:
        ratings = study.assignments.filter(purpose=Assignment.Purpose.RATING)
        waiting = ratings.exclude(state=Assignment.State.SUBMITTED).values("item")
        found = found.exclude(pk__in=waiting)
    return list(found)


def check_revisions(new: Mapping[str, Revision], ready: Iterable[Item]) -> None:
    there = {item.external_id: item for item in ready}
    for name, revision in new.items():
        if name not in there:
            raise InputError("{name!r} is not an item that can be decided now.", field="revisions", name=name)
        pair = there[name].pair
        one, two = revision.texts_of(pair) if pair else ("", "")
        if one == two:
            raise InputError("The two responses of {name!r} are the same.", field="revisions", name=name)
        if not revision.reason.strip():
            raise InputError("Say why {name!r} is revised.", field="revisions", name=name)


def load_votes(criterion: Criterion) -> dict[int, Votes]:
    """By item position, the counting votes of a study on a choice. One query."""
    table = ratings.load_criterion(criterion).table
    column = {str(category): k for k, category in enumerate(table.categories)}
    return {
        int(item): Votes(*(int(counts[column[value]]) if value in column else 0 for value in VALUES))
        for item, counts in zip(table.items, table.counts, strict=True)
    }


def decide(items: Sequence[Item], criterion: Criterion, rule: Rule, new: Mapping[str, Revision]) -> list[Decided]:
    votes, by_hand = load_votes(criterion), agreement_queries.load_overrides(criterion)
    found = count_votes(
        [votes.get(item.position, Votes(0, 0)) for item in items],
        with_tie="tie" in criterion.values,
        cuts=rule.cuts,
        chance_from=rule.chance,
        min_votes=rule.min_votes,
        tiers=[by_hand[str(item.position)].tier if str(item.position) in by_hand else None for item in items],
    )
    decided = []
    for item, one in zip(items, found, strict=True):
        revision = new.get(item.external_id)
        if revision:
            decided.append(Decided(item, one, FilterOutcome.Outcome.REVISED, revision.reason.strip(), revision))
        else:
            decided.append(Decided(item, one, rule.decide_outcome(one), one.to_reason()))
    return decided


def save_round(
    by: User | None, study: Study, criterion: Criterion, rule: Rule, seed: int, decided: Sequence[Decided]
) -> FilterRound:
    last = study.filter_rounds.aggregate(last=Max("number"))["last"] or 0
    seen = [
        [one.item.external_id, one.item.content_hash, one.found.votes.one, one.found.votes.two, one.found.votes.tie]
        for one in decided
    ]
    return FilterRound.objects.create(
        study=study,
        criterion=criterion,
        number=last + 1,
        rule=rule.to_json(),
        seed=seed,
        input_hash=content_hash(seen),
        code_version=code_version(),
        created_by=by,
    )


def save_outcomes(by: User | None, found: FilterRound, decided: Sequence[Decided]) -> None:
    FilterOutcome.objects.bulk_create(
        (
            FilterOutcome(
                round=found,
                item=one.item,
                outcome=one.outcome,
                reason=one.reason,
                tier=one.found.tier or "",
                kappa=None if one.found.kappa != one.found.kappa else one.found.kappa,
                votes_1=one.found.votes.one,
                votes_2=one.found.votes.two,
                votes_tie=one.found.votes.tie,
                revised_pair=create_revised_pair(one) if one.revision else None,
                decided_by=by,
            )
            for one in decided
        ),
        batch_size=BATCH,
    )


def create_revised_pair(one: Decided) -> ResponsePair:
    """The pair with its new texts, as material of its own. What was revised to these texts before is found again."""
    old, revision = one.item.pair, one.revision
    if old is None or revision is None:
        raise ValueError("only a pair with a revision is revised")
    one_text, two_text = revision.texts_of(old)
    texts = [old.question, old.context, one_text, two_text]
    digest = content_hash([old.source, old.external_id, *texts])
    found, _ = ResponsePair.objects.get_or_create(
        source=SOURCE,
        external_id=f"{old.external_id[:170]}~{digest[:12]}",
        defaults={
            "content_hash": digest,
            "profile": old.profile,
            "question": old.question,
            "context": old.context,
            "response_1": one_text,
            "response_2": two_text,
            "parts": {name: parts for name, parts in old.parts.items() if getattr(old, name) in texts},
            "model_1": old.model_1,
            "model_2": old.model_2,
            "kind": old.kind,
            "extra": {"revised_from": {"source": old.source, "id": old.external_id}, "reason": revision.reason},
        },
    )
    return found


def ask_again(by: User | None, found: FilterRound, name: str, overlap: int | None) -> Study | None:
    """A draft with the items that are asked again, asked in the same words of the same annotators."""
    again = found.outcomes.filter(outcome__in=[AGAIN, FilterOutcome.Outcome.REVISED])
    found_pairs = [one.revised_pair or one.item.pair for one in again.select_related("revised_pair", "item__pair")]
    pairs = [pair for pair in found_pairs if pair]
    if not pairs:
        return None
    study = follow_up(by, found, name, overlap)
    filters = {"filter_round": [found.study.slug, found.number]}
    digest = content_hash([[pair.source, pair.external_id] for pair in pairs])
    add_all_items(by=by, study=study, rows=pairs, filters=filters, seed=found.seed, input_hash=digest)
    FilterRound.objects.filter(pk=found.pk).update(follow_up=study)
    found.follow_up = study
    return study


def add_all_items(
    *,
    by: User | None,
    study: Study,
    rows: Sequence[SourcedModel],
    filters: Mapping[str, object],
    seed: int,
    input_hash: str,
) -> None:
    """Add all rows of the study's kind as its items, in an order drawn with the seed."""
    sample = Sample.objects.create(
        study=study,
        method="all",
        filters=dict(filters),
        frame_size=len(rows),
        size=len(rows),
        seed=seed,
        input_hash=input_hash,
        created_by=by,
    )
    order = np.random.default_rng([seed, POSITION_STREAM]).permutation(len(rows)).tolist()
    Item.objects.bulk_create(
        (
            Item(
                study=study,
                sample=sample,
                position=position,
                inclusion_probability=1.0,
                content_hash=rows[k].content_hash,
                **{study.kind: rows[k]},
            )
            for position, k in enumerate(order, start=1)
        ),
        batch_size=BATCH,
    )


def follow_up(by: User | None, found: FilterRound, name: str, overlap: int | None) -> Study:
    """A copy of the study without its items: criteria as they are worded now, and its annotators."""
    before = found.study
    people, criteria = list(before.annotators.all()), list(before.criteria.all())
    wanted = overlap or before.overlap
    studies.check_numbers(wanted, found.seed)
    study = Study(
        project_id=before.project_id,
        name=studies.clean_name(name or f"{before.name[:100]}, asked again {found.number}"),
        kind=before.kind,
        overlap=wanted,
        shown=before.shown,
        seed=found.seed,
        asks_strength=before.asks_strength,
        content_form=before.content_form,
        description=f"Items of {before.name} that were asked again after its filter round {found.number}.",
        instructions=before.instructions,
        created_by=by,
    )
    study.slug = studies.free_slug(study.name)
    studies.save_new(study)
    for criterion in criteria:
        criterion.pk, criterion._state.adding, criterion.study = None, True, study
    Criterion.objects.bulk_create(criteria)
    study.annotators.set(people)
    return study
