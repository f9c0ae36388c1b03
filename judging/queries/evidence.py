"""What calibration and audits are computed from: the items of a study, people's labels, and one judge's judgments.

Each is read in one query of plain columns and frozen in the shapes of `judging.stats.evidence`. Answers that came too
late are drafts, not annotations, and so are no part of it; what was submitted counts, and an adjudication goes before
it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import Adjudication, Annotation, Criterion, Study, TierOverride
from annotation.stats.labels import Label
from annotation.stats.table import MISSING, IntArray, Level, RatingTable
from judging.models import HoldOut, Judge, JudgeRun, Judgment
from judging.queries.ratings import Verdict, of_both_orders, runs_that_count
from judging.stats.evidence import Evidence, Material, People, Said
from judging.stats.hold_out import held_out
from judging.stats.stated_scores import stated_score

LOG_PROBABILITIES, REPEATS = "probabilities of the verdict", "share of calls with the same verdict"
MOST_GROUPS = 30
"""A grouping with more groups than this says nothing of any of them."""

LEAST_IN_GROUP = 10

ALL, DEVELOPMENT, HELD_OUT = "all", "development", "held-out"
PARTS = (ALL, DEVELOPMENT, HELD_OUT)

SEVERAL, NOT_KNOWN = "several", "(not known)"
ITEM_FIELDS = {
    Study.Kind.DIALOGUE: (
        "dialogue__turns",
        "dialogue__scenario__profile_id",
        "dialogue_id",
        "dialogue__assistant_model",
        "dialogue__condition",
        "dialogue__scenario__task__domains",
        "dialogue__scenario__profile__demographics",
    ),
    Study.Kind.PAIR: (
        "pair__response_1",
        "pair__response_2",
        "pair__profile_id",
        "pair__question",
        "pair__context",
        "pair__model_1",
        "pair__model_2",
        "pair__kind",
        "pair__source_tier",
        "pair__profile__demographics",
    ),
}


@dataclass(frozen=True)
class JudgeEvidence:
    """One judge beside people on every criterion of a study.

    Attributes
    ----------
    judge
        The judge.
    runs
        By criterion key, the run through which it speaks.
    criteria
        In the order of the study; only those that the judge has judged.
    evidence
        By criterion key.
    prompts
        Versions of the prompts that its judgments were asked with, sorted.
    reasons
        By criterion key, why replies held no verdict and how often.
    part
        Of the items: all, development or held-out.
    """

    study: Study
    judge: Judge
    runs: Mapping[str, JudgeRun]
    criteria: tuple[Criterion, ...]
    material: Material
    evidence: Mapping[str, Evidence]
    prompts: tuple[str, ...]
    reasons: Mapping[str, Mapping[str, int]]
    part: str = ALL
    _digests: dict[Any, str] = field(default_factory=dict, repr=False, compare=False)

    def digest(self, of: Callable[[JudgeEvidence], str]) -> str:
        """What ``of`` makes of it, made once: hashing all columns takes longer than reading a kept result."""
        if of not in self._digests:
            self._digests[of] = of(self)
        return self._digests[of]


@dataclass(frozen=True)
class StudyEvidence:
    """What does not depend on the judge, read once however many judges are looked at."""

    study: Study
    criteria: tuple[Criterion, ...]
    material: Material
    people: Mapping[int, People]
    runs: Mapping[tuple[int, int], JudgeRun]
    part: str = ALL

    @classmethod
    def read(cls, study: Study, part: str = "") -> StudyEvidence:
        """One part of the items, by default what may be looked at freely. In eight queries.

        Raises InputError where the study has no such part.
        """
        split = HoldOut.objects.filter(study=study).first()
        chosen = part or (DEVELOPMENT if split else ALL)
        criteria = tuple(study.criteria.all())
        items = _part(material(study), split, chosen)
        return cls(study, criteria, items, people(study, criteria, items), runs_that_count(study), chosen)

    def judges(self) -> list[Judge]:
        """Those with a run on the study, by name and version."""
        found = {run.judge_id: run.judge for run in self.runs.values()}
        return sorted(found.values(), key=lambda judge: (judge.name, judge.version))

    def judge(self, name: str) -> Judge:
        """The judge that is called so, or its newest version that has judged the study. InputError without one."""
        there = self.judges()
        called = [judge for judge in there if name in (str(judge), judge.name)]
        exact = [judge for judge in called if str(judge) == name and judge.version > 1]
        if called:
            return (exact or called)[-1]
        known = ", ".join(str(judge) for judge in there) or "none"
        raise InputError(f"no judge called {name!r} has judged this study; there are: {known}", field="judge")

    def of(self, judge: Judge) -> JudgeEvidence:
        """The judge beside people. One query."""
        return self.of_each([judge])[0]

    def of_each(self, judges: Sequence[Judge]) -> list[JudgeEvidence]:
        """Each of the judges beside people, whatever their number in one query."""
        earlier = [before for judge in judges if (before := self._before(judge))]
        runs = {run.pk for judge in (*judges, *earlier) for run in self._runs(judge).values()}
        replies = _replies(runs)
        return [self._beside_people(judge, replies) for judge in judges]

    def _runs(self, judge: Judge) -> dict[int, JudgeRun]:
        """By criterion id, the run through which the judge speaks."""
        return {c.pk: self.runs[judge.pk, c.pk] for c in self.criteria if (judge.pk, c.pk) in self.runs}

    def _before(self, judge: Judge) -> Judge | None:
        """The newest version before this one that has judged the study."""
        older = [one for one in self.judges() if one.name == judge.name and one.version < judge.version]
        return older[-1] if older else None

    def _beside_people(self, judge: Judge, replies: Mapping[tuple[int, int], list[_Reply]]) -> JudgeEvidence:
        runs, before = self._runs(judge), self._before(judge)
        asked = [criterion for criterion in self.criteria if criterion.pk in runs]
        mine = {c.key: replies.get((runs[c.pk].pk, c.pk), []) for c in asked}
        earlier = self._codes(before, replies) if before else {}
        found = {
            c.key: Evidence(self.material, self.people[c.pk], self._said(c, mine[c.key]), earlier.get(c.pk))
            for c in asked
        }
        return JudgeEvidence(
            study=self.study,
            judge=judge,
            runs={c.key: runs[c.pk] for c in asked},
            criteria=tuple(asked),
            material=self.material,
            evidence=found,
            prompts=tuple(sorted({reply.prompt for each in mine.values() for reply in each if reply.prompt})),
            reasons={key: _reasons(each) for key, each in mine.items()},
            part=self.part,
        )

    def _codes(self, judge: Judge, replies: Mapping[tuple[int, int], list[_Reply]]) -> dict[int, IntArray]:
        """By criterion id, what the judge said."""
        runs = self._runs(judge)
        return {
            c.pk: self._said(c, replies.get((runs[c.pk].pk, c.pk), [])).codes for c in self.criteria if c.pk in runs
        }

    def _said(self, criterion: Criterion, replies: Iterable[_Reply]) -> Said:
        return said(replies, self.material, self.people[criterion.pk].table.categories)


def _part(items: Material, split: HoldOut | None, part: str) -> Material:
    known = (DEVELOPMENT, HELD_OUT) if split else (ALL,)
    if part not in known:
        raise InputError(f"{part!r} is no part of this study; there is {' and '.join(known)}", field="part")
    if split is None:
        return items
    outside = held_out(items.clusters, split.share, split.seed)
    return items.subset(outside if part == HELD_OUT else ~outside)


def leaks(study: Study, split: HoldOut) -> list[int]:
    """Positions of held-out items whose content also stands in the development part. One query."""
    items = material(study)
    outside = held_out(items.clusters, split.share, split.seed)
    seen = {text for text, out in zip(items.fingerprints, outside, strict=True) if not out}
    rows = zip(items.names, items.fingerprints, outside, strict=True)
    return [int(name) for name, text, out in rows if out and text in seen]


def material(study: Study) -> Material:
    """The study's items in their order. One query."""
    fields = ITEM_FIELDS[Study.Kind(study.kind)]
    rows = list(study.items.order_by("position").values_list("position", "inclusion_probability", "stratum", *fields))
    read = _of_dialogue if study.kind == Study.Kind.DIALOGUE else _of_pair
    facts = [read(*row[3:]) for row in rows]
    groups = {"stratum": tuple(row[2] or NOT_KNOWN for row in rows), **_groups([fact.groups for fact in facts])}
    return Material(
        names=tuple(str(row[0]) for row in rows),
        inclusion=np.array([row[1] for row in rows], dtype=float),
        clusters=tuple(fact.cluster for fact in facts),
        length=np.array([fact.length for fact in facts], dtype=float),
        assistants=tuple(fact.assistant for fact in facts),
        opponents=tuple(fact.opponent for fact in facts),
        groups={name: column for name, column in groups.items() if _tells_apart(column)},
        fingerprints=tuple(fact.fingerprint for fact in facts),
    )


@dataclass(frozen=True)
class _Facts:
    cluster: str
    length: float
    assistant: str
    opponent: str
    groups: Mapping[str, str]
    fingerprint: str


def _of_dialogue(
    turns: Any, profile: int | None, pk: int, assistant: str, condition: str, domains: Any, demographics: Any
) -> _Facts:
    said_by_assistant = sum(len(turn["content"]) for turn in turns if turn["role"] == "assistant")
    domain = SEVERAL if len(domains or ()) > 1 else "".join(domains or ())
    groups = {"assistant": assistant, "condition": condition, "domain": domain, **_demographics(demographics)}
    cluster = f"profile {profile}" if profile else f"dialogue {pk}"
    text = content_hash([[turn["role"], _plain(turn["content"])] for turn in turns])
    return _Facts(cluster, math.log(max(said_by_assistant, 1)), assistant, "", groups, text)


def _of_pair(
    one: str,
    two: str,
    profile: int | None,
    question: str,
    context: str,
    model_1: str,
    model_2: str,
    kind: str,
    tier: str,
    demographics: Any,
) -> _Facts:
    length = math.log(max(len(one), 1) / max(len(two), 1))
    models = " / ".join(sorted(filter(None, (model_1, model_2))))
    groups = {"assistants": models, "kind": kind, "source tier": tier, **_demographics(demographics)}
    cluster = f"profile {profile}" if profile else f"question {question}\n{context}"
    text = content_hash([profile, *map(_plain, (question, context, one, two))])
    return _Facts(cluster, length, model_1, model_2, groups, text)


def _plain(text: str) -> str:
    """Without what does not make two texts different: case and white space."""
    return " ".join(text.lower().split())


def _demographics(found: Any) -> dict[str, str]:
    """Of the user, what is a single word or number."""
    if not isinstance(found, Mapping):
        return {}
    return {f"user: {key}": str(value) for key, value in found.items() if isinstance(value, str | int | float)}


def _groups(rows: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) or NOT_KNOWN for row in rows) for name in names}


def _tells_apart(column: Sequence[str]) -> bool:
    """Whether a grouping has two groups that are large enough to be compared, and not so many that none is."""
    sizes = Counter(column)
    return len(sizes) <= MOST_GROUPS and sum(n >= LEAST_IN_GROUP for n in sizes.values()) > 1


def people(study: Study, criteria: Sequence[Criterion], items: Material) -> dict[int, People]:
    """By criterion id, what people said. Three queries."""
    place = {name: row for row, name in enumerate(items.names)}
    labels: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    submitted = Annotation.objects.counting().filter(assignment__study=study)
    fields = ("criterion_id", "assignment__item__position", "assignment__annotator__username", "value")
    for criterion, position, username, value in submitted.values_list(*fields).iterator(chunk_size=5000):
        if str(position) in place:
            labels[criterion].append((place[str(position)], username, value))
    decided: dict[int, dict[int, str]] = defaultdict(dict)
    oldest_first = Adjudication.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for criterion, position, value in oldest_first.values_list("criterion_id", "item__position", "value"):
        if str(position) in place:
            decided[criterion][place[str(position)]] = value
    by_hand = _set_by_hand(criteria, place)
    return {one.pk: _people(one, items, labels[one.pk], decided[one.pk], by_hand[one.pk]) for one in criteria}


def _set_by_hand(criteria: Sequence[Criterion], place: Mapping[str, int]) -> dict[int, dict[int, str]]:
    """By criterion id, the tiers that researchers have set, by row; an empty one goes back to what is computed."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    oldest_first = TierOverride.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for criterion, position, tier in oldest_first.values_list("criterion_id", "item__position", "tier"):
        if str(position) in place:
            found[criterion][place[str(position)]] = tier
    return found


def _people(
    criterion: Criterion,
    items: Material,
    labels: Sequence[tuple[int, str, str]],
    decided: Mapping[int, str],
    tiers: Mapping[int, str],
) -> People:
    code = {value: place for place, value in enumerate(criterion.values)}
    raters = sorted({username for _, username, _ in labels})
    column = {username: k for k, username in enumerate(raters)}
    codes = np.full((items.n, len(raters)), MISSING, dtype=np.int64)
    declined = np.zeros(items.n, dtype=np.int64)
    for row, username, value in labels:
        if value:
            codes[row, column[username]] = code[value]
        else:
            declined[row] += 1
    gold = np.full(items.n, MISSING, dtype=np.int64)
    for row, value in decided.items():
        gold[row] = code[value]
    level = cast(Level, criterion.level)  # the database allows nothing else
    table = RatingTable(codes, tuple(criterion.values), level, items.names, tuple(raters))
    return People(table, gold, declined, {row: tier for row, tier in tiers.items() if tier})


@dataclass(frozen=True, slots=True)
class _Reply:
    position: int
    repeat: int
    order: str
    value: str
    reason: str
    score: float | None
    distribution: Mapping[str, float] | None
    prompt: str | None
    explanation: str


def _replies(run_ids: Iterable[int]) -> dict[tuple[int, int], list[_Reply]]:
    """By run and criterion, every reply, by item, repeat and order. One query."""
    found: dict[tuple[int, int], list[_Reply]] = defaultdict(list)
    for run, criterion, *rest in _reply_rows(run_ids):
        found[run, criterion].append(_Reply(*rest))
    return found


def _reply_rows(run_ids: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    return (
        Judgment.objects.filter(run_id__in=list(run_ids), turn=0)
        .order_by("run_id", "criterion_id", "item__position", "repeat", "order")
        .values_list(
            "run_id",
            "criterion_id",
            "item__position",
            "repeat",
            "order",
            "value",
            "unscored_reason",
            "score",
            "details__distribution",
            "details__prompt",
            "explanation",
        )
        .iterator(chunk_size=5000)
    )


def _reasons(replies: Iterable[_Reply]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for reply in replies:
        if not reply.value:
            counts[reply.reason] += 1
    return dict(sorted(counts.items()))


def said(replies: Iterable[_Reply], items: Material, categories: Sequence[Label]) -> Said:
    """A judge's replies on one criterion as columns. The first repeat counts; further ones tell how steady it is."""
    place = {name: row for row, name in enumerate(items.names)}
    code = {str(value): k for k, value in enumerate(categories)} | {"": MISSING}
    by_item: dict[int, list[_Reply]] = defaultdict(list)
    for reply in replies:
        if str(reply.position) in place:
            by_item[place[str(reply.position)]].append(reply)
    calls = max((reply.repeat for each in by_item.values() for reply in each), default=1)
    columns = _Columns(items.n, calls)
    for row, each in by_item.items():
        columns.fill(row, each, code)
    return columns.frozen()


class _Columns:
    """The columns of a `Said` while they are filled, row by row."""

    def __init__(self, n: int, calls: int) -> None:
        self.asked = np.zeros(n, dtype=bool)
        self.codes, self.first, self.second = (np.full(n, MISSING, dtype=np.int64) for _ in range(3))
        self.score, self.probability, self.steady = (np.full(n, np.nan) for _ in range(3))
        self.repeated = np.full((n, calls), MISSING, dtype=np.int64)
        self.contradicts = np.full(n, np.nan)

    def fill(self, row: int, replies: Sequence[_Reply], code: Mapping[str, int]) -> None:
        self.asked[row] = True
        counting = [reply for reply in replies if reply.repeat == 1] or list(replies[:1])
        value = of_both_orders([Verdict(reply.value, reply.reason) for reply in counting]).value
        self.codes[row] = code[value]
        for reply in counting:
            if reply.order:
                (self.first if reply.order == "AB" else self.second)[row] = code[reply.value]
        for reply in replies:
            if reply.order == replies[0].order:
                self.repeated[row, reply.repeat - 1] = code[reply.value]
        if value:
            self.score[row] = _mean(reply.score for reply in counting)
            self.probability[row] = _mean((reply.distribution or {}).get(value) for reply in counting)
            verdicts = [reply.value for reply in replies if reply.value]
            self.steady[row] = verdicts.count(value) / len(verdicts)
        self.contradicts[row] = _contradicts(counting[0], code)

    def frozen(self) -> Said:
        verdicts = self.codes != MISSING
        known = verdicts.any() and not np.isnan(self.probability[verdicts]).any()
        steady = self.repeated.shape[1] > 1
        confidence = self.probability if known else self.steady if steady else np.full(len(self.codes), np.nan)
        return Said(
            asked=self.asked,
            codes=self.codes,
            score=self.score,
            confidence=confidence,
            confidence_from=LOG_PROBABILITIES if known else REPEATS if steady else "",
            first=self.first,
            second=self.second,
            repeated=self.repeated,
            contradicts=self.contradicts,
        )


def _contradicts(reply: _Reply, scale: Mapping[str, int]) -> float:
    """1 where the explanation names another score than the verdict, 0 where the same; NaN where it names none.

    A pair's explanation speaks of A and B as they were shown, and so is not read.
    """
    if reply.order or not (reply.value and reply.explanation):
        return math.nan
    stated = stated_score(reply.explanation, [value for value in scale if value])
    return math.nan if stated is None else float(stated != reply.value)


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else math.nan
