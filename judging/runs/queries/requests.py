"""What a run still has to ask about some items: rows of the database -> frozen requests."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from annotation.stats.orders import LETTERS
from annotation.studies.models.studies import Criterion, Item, Study
from core.hashing import content_hash
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.judges.prompts.alterations import ORIGINAL
from judging.judges.providers.requests import Content, CriterionSpec, JudgeRequest, to_shown_criterion
from judging.judges.queries.contents import build_content, build_prompt, build_spec, find_turns, is_example
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.probing import ProbeSettings

Place = tuple[int, int, int, str, int, str]
"""Item, criterion, repeat, order, turn and alteration of a judgment."""

PLACE = ("item_id", "criterion_id", "repeat", "order", "turn", "alteration")


@dataclass(frozen=True, slots=True)
class Pending:
    """A request without a judgment, and where its judgment goes. `criterion` is as stored, the request's as shown.

    `item_hash` is of the dialogue or pair as it is asked about, before any `alteration`. `turn` is the number of the
    turn or response that is rated, from 1; 0 for the whole item.
    """

    item_id: int
    criterion_id: int
    criterion: CriterionSpec
    request: JudgeRequest
    item_hash: str = ""
    alteration: str = ""
    turn: int = 0

    @property
    def place(self) -> Place:
        """Which judgment of the run answers it."""
        return self.item_id, self.criterion_id, self.repeat, self.order, self.turn, self.alteration

    def ask_again(self, times: int = 1) -> Pending:
        """The request asked again: the same words and settings, and another seed, for models that take one."""
        seed = self.request.seed
        for _ in range(times):
            seed = int(content_hash([seed, "again"])[:8], 16) & 0x7FFFFFFF
        return replace(self, request=replace(self.request, seed=seed))

    @property
    def repeat(self) -> int:
        return self.request.repeat

    @property
    def order(self) -> str:
        return self.request.order


@dataclass(frozen=True, slots=True)
class Frame:
    """How a run asks, whether it has begun or is only planned."""

    judge: Judge
    shown: Sequence[str]
    criteria: Sequence[Criterion]
    repeats: int
    order_policy: str
    seed: int
    unit: str = JudgeRun.Unit.ITEM
    probing: ProbeSettings | None = None
    setting: Setting | None = None

    @classmethod
    def from_run(cls, run: JudgeRun, *, criteria: Sequence[Criterion] | None = None) -> Frame:
        """As the run asks; of its criteria, all or those given."""
        chosen = list(run.criteria.all()) if criteria is None else criteria
        return cls(
            run.judge,
            run.study.shown,
            chosen,
            run.repeats,
            run.order_policy,
            run.seed,
            unit=run.unit,
            probing=ProbeSettings.from_run(run),
            setting=Setting.from_stored(run.setting),
        )

    @classmethod
    def build_trial(cls, judge: Judge, study: Study, criterion: Criterion) -> Frame:
        """As a run would ask about one criterion, of the item or of each response."""
        unit = JudgeRun.Unit.RESPONSE if criterion.of_responses else JudgeRun.Unit.ITEM
        return cls(judge, study.shown, [criterion], repeats=1, order_policy="AB", seed=0, unit=unit)

    @property
    def copies(self) -> Sequence[tuple[str, int]]:
        """What is asked about each item: the alteration, empty for none, and how often."""
        return [("", self.repeats)] if self.probing is None else self.probing.copies


def list_pending(run: JudgeRun, item_ids: Sequence[int], *, with_prompt: bool) -> list[Pending]:
    """The run's requests on these items that have no judgment yet, or none with a verdict and are to be asked again:
    item by item, each with all its criteria."""
    there = Judgment.objects.filter(run=run, item__in=item_ids)
    left = {tuple(place): n for *place, n in there.values_list(*PLACE, "tries_left")}
    done = {place for place, n in left.items() if not n}
    found = build_requests(Frame.from_run(run), item_ids, with_prompt=with_prompt, done=done)
    if len(done) == len(left):
        return found
    tried = there.filter(tries_left__gt=0).values_list(*PLACE).annotate(n=Count("earlier"))
    times = {tuple(place): n + 1 for *place, n in tried}
    return [one.ask_again(times[one.place]) if one.place in times else one for one in found]


def build_requests(
    frame: Frame,
    item_ids: Sequence[int],
    *,
    with_prompt: bool,
    done: Container[Place] = (),
) -> list[Pending]:
    """The requests on these items, but those that are done, and those on copies in which nothing could be altered."""
    items = (
        Item.objects.filter(pk__in=item_ids)
        .select_related("dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile")
        .order_by("position")
    )
    criteria = [(criterion.pk, build_spec(criterion)) for criterion in frame.criteria]
    return [
        Pending(item.pk, pk, criterion, request, item.subject.content_hash, alteration, turn)
        for item in items
        for turn in turns(frame, item)
        for alteration, repeats in frame.copies
        for pk, criterion in criteria
        for order in orders(frame, item)
        for repeat in range(1, repeats + 1)
        if (item.pk, pk, repeat, order, turn, alteration) not in done
        and (request := build_request(frame, item, criterion, repeat, order, turn, alteration, with_prompt=with_prompt))
    ]


def orders(frame: Frame, item: Item) -> Sequence[str]:
    """In which orders the run shows the item: BA is the reverse of AB, of however many responses. A dialogue has none,
    nor has a response alone; `random` draws from the run's seed and the item."""
    if item.pair_id is None or frame.unit == JudgeRun.Unit.RESPONSE:
        return ("",)
    straight = LETTERS[: item.pair.n_responses] if item.pair else ""
    if frame.order_policy == JudgeRun.OrderPolicy.RANDOM:
        return (draw_order(random.Random(f"order/{frame.seed}/{item.position}"), straight),)  # noqa: S311 — a lot
    both = {"AB": straight, "BA": straight[::-1]}
    return list(both.values()) if frame.order_policy == JudgeRun.OrderPolicy.BOTH else [both[frame.order_policy]]


def draw_order(rng: random.Random, straight: str) -> str:
    """One of the two orders of a pair, or any order of more."""
    if len(straight) == 2:
        return rng.choice((straight, straight[::-1]))
    return "".join(rng.sample(straight, len(straight)))


def turns(frame: Frame, item: Item) -> Sequence[int]:
    """Which turns of the assistant or which responses are asked about, from 1; 0 stands for the whole item."""
    if frame.unit == JudgeRun.Unit.RESPONSE:
        return [int(number) for number in item.response_numbers]
    if frame.unit == JudgeRun.Unit.ITEM or item.dialogue is None:
        return (0,)
    return find_turns(item.dialogue.turns)


def build_request(
    frame: Frame,
    item: Item,
    criterion: CriterionSpec,
    repeat: int,
    order: str,
    turn: int = 0,
    alteration: str = "",
    *,
    with_prompt: bool,
) -> JudgeRequest | None:
    """What is asked; None where the alteration changes nothing in this item."""
    content: Content | None = build_content(item, frame.shown, order, frame.setting, turn=turn)
    if frame.probing is not None and content is not None:
        content = frame.probing.content(alteration, content, item, criterion, order, turn)
    if content is None:
        return None
    asked = to_shown_criterion(criterion, order)
    return JudgeRequest(
        item=item.external_id,
        criterion=asked,
        content=content,
        repeat=repeat,
        order=order,
        seed=derive_seed(frame, item, criterion.key, repeat, turn, alteration),
        prompt=build_prompt(frame.judge, asked, content, frame.setting) if with_prompt else None,
        is_example=is_example(frame.judge, criterion.key, item, content),
    )


def derive_seed(frame: Frame, item: Item, key: str, repeat: int, turn: int = 0, alteration: str = "") -> int:
    """A seed of its own for each request, the same whenever the run is repeated. 31 bits suit every provider."""
    copy = [] if alteration in ("", ORIGINAL) else [alteration]
    place = [frame.seed, item.position, key, repeat, *([turn] if turn else []), *copy]
    return int(content_hash(place)[:8], 16) & 0x7FFFFFFF


def input_rows(study: Study) -> Iterator[tuple[int, str, str]]:
    """Each item's key, id in the source and hash of its present content, in order: what a run starts from."""
    columns = ("pk", "dialogue__external_id", "dialogue__content_hash", "pair__external_id", "pair__content_hash")
    rows = study.items.order_by("position").values_list(*columns)
    for pk, dialogue, dialogue_hash, pair, pair_hash in rows.iterator(chunk_size=2000):
        yield pk, dialogue or pair, dialogue_hash or pair_hash
