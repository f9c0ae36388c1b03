"""What a judge replied on one criterion, as columns. Those of a finished run are kept: nothing of them changes.

Building them takes longer than all else that a page reads of a judge, since each explanation is searched for a verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.core.cache import cache

from annotation.stats.labels import Label
from annotation.studies.models.studies import Criterion
from core.hashing import content_hash, digest
from core.version import code_version
from judging.assessment.queries.replies import StoredReply, build_verdicts, load_replies
from judging.judges.providers.base import OWN_EXAMPLE
from judging.runs.models.runs import JudgeRun
from judging.stats.observed import ItemColumns, JudgeVerdicts

KEPT = 30 * 24 * 3600
WORTH = 500
"""Items from which on columns are kept; those of fewer are made as fast as they are looked up."""


@dataclass(frozen=True)
class ReplyRequest:
    """What columns are made of: a run, the criterion, its rows and people's scale, and what distributions are."""

    run: JudgeRun
    criterion: Criterion
    items: ItemColumns
    scale: Sequence[Label]
    shares: str


@dataclass(frozen=True)
class ReplyColumns:
    """A judge on one criterion.

    Attributes
    ----------
    verdicts
        A row for each item.
    prompts
        Hashes of the prompts that it was asked with.
    reasons
        Why replies held no verdict, and how often.
    examples
        How many of the items are the judge's own examples, and so not asked about.
    """

    verdicts: JudgeVerdicts
    prompts: tuple[str, ...]
    reasons: Mapping[str, int]
    examples: int


def load_columns(requests: Iterable[ReplyRequest]) -> dict[tuple[int, int], ReplyColumns]:
    """Columns by ids of run and criterion: what is kept, and the others in one query."""
    asked = {(one.run.pk, one.criterion.pk): one for one in requests}
    keys = _list_keys(asked)
    stored = cache.get_many(keys.values())
    found = {pair: stored[key] for pair, key in keys.items() if key in stored}
    missing = {pair: one for pair, one in asked.items() if pair not in found}
    replies = load_replies({run for run, _ in missing})
    made = {pair: build_columns(one, replies.get(pair, [])) for pair, one in missing.items()}
    cache.set_many({keys[pair]: one for pair, one in made.items() if pair in keys}, KEPT)
    return found | made


def build_columns(asked: ReplyRequest, replies: Sequence[StoredReply]) -> ReplyColumns:
    mine = [reply for reply in replies if reply.reason != OWN_EXAMPLE.unscored]
    examples = {reply.name for reply in replies if reply.reason == OWN_EXAMPLE.unscored}
    return ReplyColumns(
        build_verdicts(mine, asked.items, asked.criterion, asked.scale, shares=asked.shares),
        tuple(sorted({reply.prompt for reply in mine if reply.prompt})),
        dict(sorted(Counter(reply.reason for reply in mine if not reply.value).items())),
        len(examples.intersection(asked.items.names)),
    )


def _list_keys(asked: Mapping[tuple[int, int], ReplyRequest]) -> dict[tuple[int, int], str]:
    """Under what the columns of finished runs are kept: a hash of all that they depend on."""
    kept = {pair: one for pair, one in asked.items() if one.run.finished_at and one.items.n >= WORTH}
    names = {names: digest("\n".join(names).encode()) for names in {one.items.names for one in kept.values()}}
    return {pair: _build_key(one, names[one.items.names]) for pair, one in kept.items()}


def _build_key(asked: ReplyRequest, items: str) -> str:
    criterion, run = asked.criterion, asked.run
    labels = [[value, criterion.label_of(value)] for value in criterion.values]
    scale = [criterion.pk, criterion.level, labels, [str(label) for label in asked.scale], asked.shares]
    return f"replies-{content_hash([run.pk, str(run.finished_at), scale, items, code_version()])}"
