"""What is known of an experiment's dialogues: what a judge said of them, and what was said in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Count

from judging.models import Judge, Judgment
from simulation.models import Experiment, Turn
from simulation.parsing.endings import REGULAR
from simulation.queries.agents import labels
from simulation.queries.scenarios import alternatives, scene_of
from simulation.stats.drift import contradictions, strange_values
from simulation.stats.leakage import leaked
from simulation.stats.repetition import repetition_share

SEVERAL = "several domains"
NO_DOMAIN = "no domain"
YES_NO = {"yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Played:
    """A dialogue that has ended: where it stands in the grid. `key` is what it shares with other conditions."""

    pk: int
    dialogue: int | None
    profile: str
    key: tuple[int, int]
    assistant: str
    condition: str
    domain: str
    is_multi_domain: bool
    ending: str

    @property
    def is_regular(self) -> bool:
        return self.ending in REGULAR


@dataclass(frozen=True)
class Verdicts:
    """What one judge said: criterion -> dialogue -> number; by turn: criterion -> (dialogue, turn) -> number."""

    judge: str
    kind: str
    of_dialogues: Mapping[str, Mapping[int, float]]
    of_turns: Mapping[str, Mapping[tuple[int, int], float]]
    unscored: Mapping[str, int]


@dataclass
class Talk:
    """What was said in a dialogue, measured. Tokens are None where the provider told none.

    `drifts` says of each of the user's turns whether it contradicts the profile; None where the values that preferences
    could have are not known.
    """

    turns: int = 0
    cut: int = 0
    leaks: list[str] = field(default_factory=list)
    drifts: list[bool] | None = None
    user_texts: list[str] = field(default_factory=list)
    assistant_texts: list[str] = field(default_factory=list)
    output_tokens: int | None = 0

    @property
    def user_repeats(self) -> float:
        return repetition_share(self.user_texts)

    @property
    def assistant_repeats(self) -> float:
        return repetition_share(self.assistant_texts)


def played(experiment: Experiment) -> list[Played]:
    """The dialogues that have ended, in their order. Two queries."""
    names = labels(experiment.assistants.all())
    rows = (
        experiment.dialogues.exclude(ending="")
        .select_related("scenario__profile", "scenario__task")
        .defer("scenario__profile__interactions", "scenario__profile__preferences", "scenario__situation")
        .order_by("index")
    )
    found = []
    for row in rows:
        profile, task = row.scenario.profile, row.scenario.task
        domains = list(task.domains) if task else []
        several = len(domains) > 1 or bool(task and task.is_multi_domain)
        found.append(
            Played(
                pk=row.pk,
                dialogue=row.dialogue_id,
                profile=profile.external_id if profile else "",
                key=(row.scenario_id, row.assistant_id),
                assistant=names[row.assistant_id],
                condition=row.condition,
                domain=SEVERAL if several else "".join(domains) or NO_DOMAIN,
                is_multi_domain=several,
                ending=row.ending,
            )
        )
    return found


def judges_of(experiment: Experiment) -> list[tuple[Judge, int]]:
    """Who rated the experiment's dialogues, with how many judgments; the one with most first. Two queries."""
    counts = dict(
        Judgment.objects.of_items()
        .filter(item__dialogue__simulated__experiment=experiment, run__study__project=experiment.project_id)
        .order_by()
        .values("run__judge")
        .annotate(n=Count("pk"))
        .values_list("run__judge", "n")
    )
    judges = Judge.objects.filter(pk__in=counts).order_by("name", "version")
    return sorted(((judge, counts[judge.pk]) for judge in judges), key=lambda pair: -pair[1])


def verdicts(experiment: Experiment, judge: Judge) -> Verdicts:
    """The judge's first answers, of its newest run where it has several. One query."""
    rows = (
        Judgment.objects.of_items()
        .filter(item__dialogue__simulated__experiment=experiment, run__judge=judge, repeat=1)
        .order_by("run__created_at", "run_id", "pk")
    )
    newest: dict[tuple[str, int, int], str] = {}
    columns = rows.values_list("criterion__key", "item__dialogue_id", "value", "turn")
    for key, dialogue, value, turn in columns.iterator(chunk_size=5000):
        newest[key, dialogue, turn] = value
    of_dialogues: dict[str, dict[int, float]] = defaultdict(dict)
    of_turns: dict[str, dict[tuple[int, int], float]] = defaultdict(dict)
    unscored: dict[str, int] = defaultdict(int)
    for (key, dialogue, turn), value in newest.items():
        number = as_number(value)
        if number is None:
            unscored[key] += 1
        elif turn:
            of_turns[key][dialogue, turn] = number
        else:
            of_dialogues[key][dialogue] = number
    return Verdicts(str(judge), judge.kind, of_dialogues, of_turns, unscored)


def as_number(value: str) -> float | None:
    """yes is 1 and no is 0; None for no verdict, or one that is no number."""
    if value in YES_NO:
        return YES_NO[value]
    try:
        return float(value)
    except ValueError:
        return None


def talks(experiment: Experiment) -> dict[int, Talk]:
    """What was said in each dialogue that has ended, by its id. A few queries, the turns streamed."""
    rows = list(experiment.dialogues.exclude(ending="").select_related("scenario__profile", "scenario__task"))
    source = rows[0].scenario.profile.source if rows and rows[0].scenario.profile else ""
    possible = alternatives(source, closed=True)
    scenes = {row.pk: scene_of(row.scenario) for row in rows}
    given = {pk: f"{scene.task} {scene.intent} {scene.goal}" for pk, scene in scenes.items()}
    strange = {pk: strange_values(scene.relevant_preferences, possible) for pk, scene in scenes.items()}
    found = {pk: Talk(drifts=[] if possible else None) for pk in scenes}
    turns = Turn.objects.filter(simulated__in=scenes.keys() if len(scenes) < 500 else experiment.dialogues.all())
    columns = turns.order_by("simulated", "number").values_list(
        "simulated_id", "number", "side", "text", "cut", "output_tokens"
    )
    for pk, number, side, text, cut, tokens in columns.iterator(chunk_size=5000):
        if pk not in found:
            continue
        talk = found[pk]
        talk.turns += bool(text)
        talk.cut += cut
        talk.output_tokens = None if tokens is None or talk.output_tokens is None else talk.output_tokens + tokens
        if text:
            (talk.user_texts if side == "user" else talk.assistant_texts).append(text)
        if side == "user" and text and talk.drifts is not None:
            talk.drifts.append(bool(contradictions(text, strange[pk], given=given[pk])))
        if number == 1:
            talk.leaks = leaked(text, scenes[pk].relevant_preferences, given=given[pk])
    return found
