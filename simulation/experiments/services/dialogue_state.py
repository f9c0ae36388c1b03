"""A dialogue in hand: what was said in it, who speaks next, and what that side gets to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.conf import settings

from annotation.corpus.models import Dialogue
from core.hashing import content_hash
from judging.judges.providers.base import Reply
from judging.judges.providers.requests import JudgeRequest
from judging.stats.retrieval import RetrievedPassage, passages, retrieve
from simulation.agents.models import Agent, labels
from simulation.agents.parsing import endings, speech
from simulation.agents.parsing.endings import Limits, TurnFacts
from simulation.agents.prompts import (
    CONDITIONS,
    USER_INFORMATION,
    Cue,
    Scene,
    Side,
    SpokenTurn,
    build_assistant_cue,
    build_user_cue,
)
from simulation.agents.prompts.roles import BM25
from simulation.agents.speakers import build_request
from simulation.experiments.models import Experiment, SimulatedDialogue, Turn
from simulation.experiments.queries import Alternatives, alternatives, build_scene

MOST_ROOM = 4
"""How many times its usual tokens a reply may have: one that met the limit is asked for again, twice as long."""

STORED = 1000
"""Rows of turns that are read at a time."""


@dataclass
class DialogueState:
    """A dialogue that goes on. `embedded` is how many tokens were embedded for its next turn.

    `assistant` is what its assistant is called beside the experiment's others, `retrieved` what was found for its next
    turn, and `cut_off` the replies for it that met the limit of tokens.
    """

    experiment: Experiment
    row: SimulatedDialogue
    scene: Scene
    assistant: str
    turns: list[Turn] = field(default_factory=list)
    retrieved: list[dict[str, object]] = field(default_factory=list)
    embedded: int = 0
    cut_off: list[Turn] = field(default_factory=list)

    @property
    def side(self) -> Side:
        return endings.choose_next_side(len(self.turns))

    @property
    def speaker(self) -> Agent:
        return self.experiment.user_agent if self.side == "user" else self.row.assistant

    @cached_property
    def place(self) -> list[str]:
        """Of its scenario: profile, task and variant by their names in the source."""
        scenario = self.row.scenario
        assert scenario.profile
        assert scenario.task
        return [scenario.profile.external_id, scenario.task.external_id, scenario.variant]

    @cached_property
    def name(self) -> str:
        """What it is called in the corpus; the same in every database."""
        return "/".join([*filter(None, self.place), self.assistant, self.row.condition])

    @cached_property
    def limits(self) -> Limits:
        return Limits(self.experiment.single_turns, self.experiment.multi_turns, self.experiment.limit_unit)

    @cached_property
    def limit(self) -> int:
        """The most messages."""
        task = self.row.scenario.task
        several = bool(task and (task.is_multi_domain or len(task.domains) > 1))
        return self.limits.messages(is_multi_domain=several)

    @property
    def room(self) -> int:
        """How many times its usual tokens the next reply may have."""
        return int(2 ** len(self.cut_off))

    @property
    def seed(self) -> int:
        """Of the next turn. The same under all conditions and assistants, so that these are compared on equal terms."""
        return int(content_hash([self.experiment.seed, self.place, len(self.turns) + 1])[:8], 16) & 0x7FFFFFFF

    @property
    def said(self) -> list[SpokenTurn]:
        return [SpokenTurn("user" if turn.side == "user" else "assistant", turn.text) for turn in self.turns]

    def find_ending(self) -> str:
        spoken = [
            TurnFacts("user" if turn.side == "user" else "assistant", turn.text, turn.ended, turn.problem)
            for turn in self.turns
        ]
        return endings.find_ending(spoken, limit=self.limit, closing=self.limits.has_closing_reply)

    def request(self, found: Sequence[RetrievedPassage] = ()) -> JudgeRequest:
        """What the side whose turn it is gets asked; `found` are the passages, where they are not found here."""
        return build_request(
            self.cue(found), item=self.name, number=len(self.turns) + 1, seed=self.seed, room=self.room
        )

    def cue(self, found: Sequence[RetrievedPassage] = ()) -> Cue:
        self.retrieved = []
        if self.side == "user":
            return self.cue_from(self.scene)
        if self.retriever == BM25:
            found = retrieve(self.query, [passage for _, passage in self.pieces], self.experiment.passages)
        self.retrieved = [
            {"domain": self.pieces[one.place][0], "passage": one.passage, "score": round(one.score, 4)} for one in found
        ]
        return self.cue_from(self.scene, [one.passage for one in found])

    def cue_from(self, scene: Scene, retrieved: Sequence[str] = ()) -> Cue:
        """What the side whose turn it is sees, were this its scene."""
        replaced = self.experiment.prompts
        if self.side == "user":
            return build_user_cue(
                scene,
                self.said,
                strategy=self.experiment.strategy,
                information=self.experiment.user_information,
                replaced=replaced,
            )
        condition = CONDITIONS[self.row.condition]
        return build_assistant_cue(scene, self.said, condition=condition, retrieved=retrieved, replaced=replaced)

    @property
    def retriever(self) -> str:
        """Who finds passages for the next turn; empty where none are wanted."""
        return CONDITIONS[self.row.condition].retriever if self.side == "assistant" else ""

    @property
    def query(self) -> str:
        """What was said last, which passages are to fit."""
        return self.turns[-1].text if self.turns else ""

    @cached_property
    def pieces(self) -> list[tuple[str, str]]:
        """Domain and passage of all that is remembered."""
        return [
            (domain, passage)
            for domain, summary in self.scene.interactions.items()
            for passage in passages(summary if isinstance(summary, str) else str(summary))
        ]

    def turn_of(self, reply: Reply, request: JudgeRequest) -> Turn:
        """The reply as the next turn, not saved yet. What a provider could not read becomes a problem of its side."""
        found = self.speech_in(reply)
        return Turn(
            simulated=self.row,
            number=len(self.turns) + 1,
            side=self.side,
            text=found.text,
            thought=found.thought,
            raw_reply=reply.text[: settings.MAX_REPLY_CHARACTERS],
            ended=found.ended,
            cut=found.cut,
            problem=found.problem,
            retrieved=self.retrieved,
            seed=request.seed,
            prompt=request.prompt.version if request.prompt else "",
        )

    def speech_in(self, reply: Reply) -> speech.Speech:
        if reply.unscored == speech.TOO_LONG:
            return speech.Speech("", problem=speech.CUT_OFF if self.cut_off else speech.TOO_LONG)
        if len(reply.text) > settings.MAX_REPLY_CHARACTERS:
            return speech.Speech("", problem=speech.OVERSIZED)
        return speech.parse_turn(
            reply.text,
            side=self.side,
            refused=reply.stop == "refusal",
            cut_off=reply.stop == "length",
            mark=USER_INFORMATION[self.experiment.user_information].mark,
            heard=self.query,
            instructions=self.cue_from(Scene()).system,
        )

    def record(self, ending: str) -> Dialogue:
        """The dialogue as material, not saved yet."""
        turns = [{"role": turn.side, "content": turn.text} for turn in self.turns if turn.text]
        extra = {
            "experiment": self.experiment.pk,
            "strategy": self.experiment.strategy,
            "user_information": self.experiment.user_information,
            "ending": ending,
        }
        return Dialogue(
            source=self.experiment.source,
            external_id=f"{self.row.index}/{self.name}"[:200],
            content_hash=content_hash([turns, self.name, extra]),
            extra=extra,
            scenario=self.row.scenario,
            turns=turns,
            assistant_model=self.assistant,
            condition=self.row.condition,
        )


def list_waiting(experiment: Experiment, *, after: int, n: int) -> list[DialogueState]:
    """The next dialogues that have not ended, in order, with what was said in them. A few queries."""
    rows = list(
        experiment.dialogues.filter(ending="", index__gt=after)
        .select_related("scenario__profile", "scenario__task", "assistant")
        .order_by("index")[:n]
    )
    said: dict[int, list[Turn]] = {}
    for turn in build_turns(rows):
        said.setdefault(turn.simulated_id, []).append(turn)
    known, names = load_alternatives(experiment, rows), labels(experiment.assistants.all())
    return [
        DialogueState(experiment, row, build_scene(row.scenario, known), names[row.assistant_id], said.get(row.pk, []))
        for row in rows
    ]


def load_alternatives(experiment: Experiment, rows: Sequence[SimulatedDialogue]) -> Alternatives:
    """What preferences could be, where a condition contradicts them. The profiles of an experiment have one source."""
    wanted = any(CONDITIONS[key].damage == "contradicted" for key in experiment.conditions)
    profile = rows[0].scenario.profile if rows else None
    return alternatives(profile.source) if wanted and profile else {}


def build_turns(rows: Sequence[SimulatedDialogue]) -> Iterator[Turn]:
    found = Turn.objects.filter(simulated__in=[row.pk for row in rows]).order_by("simulated", "number")
    return found.iterator(chunk_size=STORED)
