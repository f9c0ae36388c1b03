"""What is known of an experiment's dialogues: their places in the grid, what was said, and what a judge said of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isnan, nan
from typing import Self

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max, Q

from annotation.corpus.models import Profile, Scenario, Task
from annotation.stats.table import BoolArray, FloatArray, IntArray
from annotation.studies.models.studies import Item
from core.batches import iterate_batches
from core.hashing import content_hash
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment
from simulation.agents.models import labels
from simulation.agents.parsing.endings import REGULAR
from simulation.agents.prompts import Scene
from simulation.experiments.models import Experiment, PreferenceType, SimulatedDialogue, Turn
from simulation.experiments.queries import Alternatives, alternatives, build_scene

SEVERAL = "several domains"
NO_DOMAIN = "no domain"
YES_NO = {"yes": 1.0, "no": 0.0}
Names = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class DialogueColumns:
    """The n dialogues that have ended, in their order, as columns.

    Attributes
    ----------
    pk, dialogue
        Of the row, and of what it left in the corpus; 0 where it left nothing.
    scenario
        What it shares with the same scenario under other conditions.
    profile, assistant, condition, ending
        By name.
    domain, domains
        The one domain of its task, else `SEVERAL` or `NO_DOMAIN`; and all of them.
    is_multi_domain
        Whether the task is of several domains.
    """

    pk: IntArray
    dialogue: IntArray
    scenario: IntArray
    profile: Names
    assistant: Names
    condition: Names
    ending: Names
    domain: Names
    domains: tuple[tuple[str, ...], ...]
    is_multi_domain: BoolArray

    def __len__(self) -> int:
        return len(self.pk)

    @property
    def is_regular(self) -> BoolArray:
        """(n,) whether both sides kept to their part."""
        return np.isin(self.ending, REGULAR)

    def is_about(self, domain: str) -> BoolArray:
        """Return (n,) whether the domain is one of the task's."""
        return np.array([domain in all_of for all_of in self.domains], dtype=bool)

    def only(self, kept: BoolArray) -> Self:
        """Return the dialogues of a mask (n,)."""
        names = [column.name for column in fields(self) if column.name != "domains"]
        columns = {name: getattr(self, name)[kept] for name in names}
        return replace(self, **columns, domains=tuple(self.domains[place] for place in np.flatnonzero(kept)))


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What one judge said of n dialogues.

    Attributes
    ----------
    of_dialogues
        Criterion -> (n,) number; NaN for no verdict.
    is_asked
        Criterion -> (n,) whether the judge was asked, with a verdict or without.
    of_turns
        Criterion -> turn -> (n,) number.
    unscored
        Criterion -> replies without a verdict, those on turns too.
    """

    judge: str
    kind: str
    of_dialogues: Mapping[str, FloatArray]
    is_asked: Mapping[str, BoolArray]
    of_turns: Mapping[str, Mapping[int, FloatArray]]
    unscored: Mapping[str, int]

    def only(self, kept: BoolArray) -> Self:
        """Return what was said of the dialogues of a mask (n,)."""
        return replace(
            self,
            of_dialogues={key: values[kept] for key, values in self.of_dialogues.items()},
            is_asked={key: asked[kept] for key, asked in self.is_asked.items()},
            of_turns={key: {n: said[kept] for n, said in turns.items()} for key, turns in self.of_turns.items()},
        )


GRID = ("pk", "dialogue_id", "scenario_id", "assistant_id", "condition", "ending")
SCENE = ("scenario__profile__external_id", "scenario__task_id")


def load_dialogues(experiment: Experiment) -> DialogueColumns:
    """Read the dialogues that have ended. Three queries."""
    names = labels(experiment.assistants.all())
    rows = list(experiment.dialogues.exclude(ending="").order_by("index").values_list(*GRID, *SCENE))
    domains = load_domains({row[-1] for row in rows})
    about = [domains.get(row[-1], ((), False)) for row in rows]

    def numbers(place: int) -> IntArray:
        return np.array([row[place] or 0 for row in rows], dtype=np.int64)

    def texts(place: int) -> Names:
        return np.array([row[place] or "" for row in rows], dtype=np.str_)

    return DialogueColumns(
        pk=numbers(0),
        dialogue=numbers(1),
        scenario=numbers(2),
        profile=texts(6),
        assistant=np.array([names[row[3]] for row in rows], dtype=np.str_),
        condition=texts(4),
        ending=texts(5),
        domain=np.array(
            [SEVERAL if several else "".join(there) or NO_DOMAIN for there, several in about], dtype=np.str_
        ),
        domains=tuple(there for there, _ in about),
        is_multi_domain=np.array([several for _, several in about], dtype=bool),
    )


def load_domains(tasks: set[int | None]) -> dict[int | None, tuple[tuple[str, ...], bool]]:
    """Load the domains of each task, and whether they are several."""
    found = Task.objects.filter(pk__in=tasks - {None}).values_list("pk", "domains", "is_multi_domain")
    return {pk: (tuple(domains), multi or len(domains) > 1) for pk, domains, multi in found}


def list_experiment_judges(experiment: Experiment) -> list[tuple[Judge, int]]:
    """List who rated the experiment's dialogues, with how many judgments, most first. Two queries."""
    counts = dict(
        Judgment.objects.only_items()
        .filter(item__dialogue__simulated__experiment=experiment, run__study__project=experiment.project_id)
        .order_by()
        .values("run__judge")
        .annotate(n=Count("pk"))
        .values_list("run__judge", "n")
    )
    judges = Judge.objects.filter(pk__in=counts).order_by("name", "version")
    return sorted(((judge, counts[judge.pk]) for judge in judges), key=lambda pair: -pair[1])


def list_items(experiment: Experiment) -> list[tuple[int, int, int]]:
    """List (item, its study, its dialogue) of every item that shows one of the experiment's dialogues. One query."""
    found = Item.objects.filter(dialogue__simulated__experiment=experiment).order_by()
    return list(found.values_list("pk", "study_id", "dialogue_id"))


def list_runs(experiment: Experiment) -> list[int]:
    """List the runs of judges in the studies that show the experiment's dialogues, oldest first. Two queries."""
    studies = Item.objects.filter(dialogue__simulated__experiment=experiment).order_by().values("study").distinct()
    return list(JudgeRun.objects.filter(study__in=studies).order_by("created_at", "pk").values_list("pk", flat=True))


def fingerprint(experiment: Experiment) -> str:
    """Hash all that results depend on without reading it: rows are added, or come anew. Five queries."""
    ended = experiment.dialogues.exclude(ending="").aggregate(
        n=Count("pk"),
        at=Max("ended_at"),
        profiles=Max("scenario__profile__updated_at"),
        tasks=Max("scenario__task__updated_at"),
    )
    said = (
        Judgment.objects.filter(run__in=list_runs(experiment))
        .order_by("run")
        .values_list("run", "run__judge")
        .annotate(n=Count("pk"), last=Max("pk"), at=Max("created_at"), unscored=Count("pk", filter=Q(value="")))
    )
    schema = PreferenceType.objects.order_by("pk").values_list("pk", "possible_values", "is_categorical")
    times = [str(ended[name]) for name in ("at", "profiles", "tasks")]
    judged = [[*map(str, row)] for row in said]
    agents = sorted(labels(experiment.assistants.all()).items())
    told = [experiment.pk, experiment.name, experiment.state, list(experiment.conditions), agents]
    return content_hash([*told, ended["n"], times, judged, list(schema)])


def verdicts(experiment: Experiment, judge: Judge, there: DialogueColumns) -> Verdicts:
    """Load the judge's first answers, of its newest run where it has several. Five queries."""
    place = {dialogue: row for row, dialogue in enumerate(there.dialogue.tolist()) if dialogue}
    row_of = {item: place[dialogue] for item, _, dialogue in list_items(experiment) if dialogue in place}
    keys: dict[int, str] = {}
    newest: dict[str, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    runs = JudgeRun.objects.filter(pk__in=list_runs(experiment), judge=judge).order_by("created_at", "pk")
    for run in runs.prefetch_related("study__criteria"):
        keys |= {criterion.pk: criterion.key for criterion in run.study.criteria.all()}
        rows = Judgment.objects.only_items().filter(run=run, repeat=1).order_by("pk")
        columns = rows.values_list("criterion_id", "item_id", "value", "turn")
        for criterion, item, value, turn in columns.iterator(chunk_size=5000):
            if item in row_of:
                newest[keys[criterion]][turn][row_of[item]] = value
    of_turns = {key: {turn: said for turn, said in turns.items() if turn} for key, turns in newest.items()}
    whole = {key: turns[0] for key, turns in newest.items() if 0 in turns}
    n = len(there)
    return Verdicts(
        judge=str(judge),
        kind=judge.kind,
        of_dialogues={key: to_numbers(said, n) for key, said in whole.items()},
        is_asked={key: np.isin(np.arange(n), list(said)) for key, said in whole.items()},
        of_turns={
            key: {turn: to_numbers(said, n) for turn, said in sorted(turns.items())}
            for key, turns in of_turns.items()
            if turns
        },
        unscored={key: n for key, turns in newest.items() if (n := count_without_verdict(turns))},
    )


def count_without_verdict(turns: Mapping[int, Mapping[int, str]]) -> int:
    """Count the replies that hold no number."""
    return sum(isnan(to_number(value)) for said in turns.values() for value in said.values())


def to_numbers(said: Mapping[int, str], n: int) -> FloatArray:
    """Return (n,) the numbers of the rows that are there, NaN elsewhere."""
    found = np.full(n, nan)
    found[list(said)] = [to_number(value) for value in said.values()]
    return found


def to_number(value: str) -> float:
    """Return yes as 1 and no as 0; NaN for no verdict, or one that is not a number."""
    if value in YES_NO:
        return YES_NO[value]
    try:
        return float(value)
    except ValueError:
        return nan


def sort_names(names: Names | Sequence[str]) -> list[str]:
    """List every name once, in the order in which they first occur."""
    return list(dict.fromkeys(np.asarray(names).tolist()))


MANY = 5000
"""Rows that are asked for by their ids in one query."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A turn as far as it is measured."""

    number: int
    side: str
    text: str
    cut: bool
    cut_off: bool
    output_tokens: int | None


def messages(dialogues: Sequence[int]) -> dict[int, list[StoredMessage]]:
    """Load the turns of some dialogues, in order. One query."""
    found: dict[int, list[StoredMessage]] = {pk: [] for pk in dialogues}
    rows = Turn.objects.filter(simulated__in=dialogues).order_by("simulated", "number")
    columns = rows.values_list("simulated_id", "number", "side", "text", "cut", "cut_off", "output_tokens")
    for pk, number, side, text, cut, cut_off, tokens in columns:
        found[pk].append(StoredMessage(number, side, text, cut, bool(cut_off), tokens))
    return found


def texts(dialogues: Sequence[int]) -> Iterator[str]:
    """Yield everything that was said in some dialogues, by both sides."""
    for batch in iterate_batches(dialogues, MANY):
        rows = Turn.objects.filter(simulated__in=batch).exclude(text="").order_by("simulated", "number")
        yield from rows.values_list("text", flat=True).iterator(chunk_size=MANY)


def hashes(experiment: Experiment) -> dict[int, str]:
    """Hash by dialogue that has ended all that its measures depend on. Two queries."""
    known = content_hash(load_closed_values(experiment))
    about = ("pk", "ended_at", "scenario__profile__content_hash", "scenario__task__content_hash")
    rows = experiment.dialogues.exclude(ending="").order_by().values_list(*about)
    return {pk: content_hash([str(ended), profile, task, known]) for pk, ended, profile, task in rows}


def load_closed_values(experiment: Experiment) -> Alternatives:
    """Load the values that preferences could have, where those are all there are."""
    profile = Profile.objects.filter(scenarios__simulated__experiment=experiment).first()
    return alternatives(profile.source, closed=True) if profile else {}


class Scenes:
    """The scenes of an experiment's dialogues. Each profile and task is read once."""

    def __init__(self, experiment: Experiment) -> None:
        played = {"scenarios__simulated__experiment": experiment}
        self.profiles = Profile.objects.filter(**played).distinct().in_bulk()
        self.tasks = Task.objects.filter(**played).distinct().in_bulk()

    def load(self, dialogues: Sequence[int]) -> dict[int, Scene]:
        """Load the scene of each dialogue, by dialogue. One query."""
        rows = SimulatedDialogue.objects.filter(pk__in=dialogues).select_related("scenario")
        return {row.pk: self.scene(row.scenario) for row in rows}

    def scene(self, scenario: Scenario) -> Scene:
        scenario.profile = self.profiles.get(scenario.profile_id or 0)
        scenario.task = self.tasks.get(scenario.task_id or 0)
        return build_scene(scenario)
