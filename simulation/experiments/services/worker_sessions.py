"""One process's stint on an experiment: it brings dialogues on, lets their sides speak in turn, and saves every turn.

Many dialogues go on at once, one turn of each in flight. More are on stage than calls may be in flight, so that the
last ones do not go on alone; where a model takes one call at a time there is one dialogue at a time, whose beginning
its server still has in mind.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from decimal import Decimal

from django.db import IntegrityError

from judging.judges.models.judges import Judge
from judging.judges.models.workers import Worker
from judging.judges.providers.base import JudgeRequest, PermanentError, Provider, TransientError
from judging.judges.providers.keys import Keyring
from judging.judges.services import quotas
from judging.judges.services.keys import load_keyring
from judging.runs.services.budgets import USUAL_REPLY
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts.conditions import EMBEDDINGS
from simulation.experiments.models.experiments import Experiment
from simulation.experiments.services import experiments, leases, turn_writer
from simulation.experiments.services.budget_tracker import BudgetTracker
from simulation.experiments.services.dialogue_scheduler import Answer, Ask, DialogueScheduler, ModelLimit
from simulation.experiments.services.dialogue_state import DialogueState, list_waiting
from simulation.experiments.services.retrieval import Retriever
from simulation.experiments.services.turn_writer import SavedTurn

ON_STAGE = 4  # dialogues for each call that may be in flight
TOLERATED_ERRORS = 3  # in a row, after which the experiment stops itself
LOOK_EVERY = 0.5  # seconds between looks at whether the experiment was stopped or taken away
PAUSE = 0.5  # seconds, while the quota allows no start
LONGEST = 120.0  # seconds, after which other work that waits gets its turn


class LetGo(Exception):  # noqa: N818 — a turn of events, not an error
    """The experiment was stopped or taken away, or makes way."""


class WorkerSession:
    """Works on an experiment until no dialogue is left, or it may not go on."""

    def __init__(self, experiment: Experiment, worker: Worker) -> None:
        self.experiment, self.worker = experiment, worker
        self.agents: dict[int, Agent] = {experiment.user_agent.pk: experiment.user_agent}
        self.agents |= {agent.pk: agent for agent in experiment.assistants.all()}
        self.playing: dict[int, DialogueState] = {}
        self.ready: deque[int] = deque()
        self.last_index = 0
        self.all_on = self.over = self.makes_way = self.progressed = False
        self.fault: TransientError | None = None
        self.errors: Counter[int] = Counter()
        self.looked = self.began = time.monotonic()

    def work(self) -> Iterator[None]:
        """Ask and save, yielding after every batch. Raises what keeps the experiment from being finished."""
        keys = load_keyring(self.experiment.project_id)
        speakers = {pk: agents_services.build_speaker(agent, keys) for pk, agent in self.agents.items()}
        lanes = build_model_limits(self.agents, speakers)
        self.speakers, self.most = speakers, compute_most_running(lanes)
        self.tracker = BudgetTracker.build(self.experiment, [*self.agents.values(), *embedders(self.experiment)])
        self.judges = {pk: Judge(provider=one.provider, model=one.model) for pk, one in self.agents.items()}
        self.find_quotas()
        self.retriever = build_retriever(self.experiment, keys)
        self.stage = DialogueScheduler(speakers, lanes, others=[self.retriever.embeddings] if self.retriever else [])
        with closing(self.stage):
            while self.feed():
                self.keep(self.stage.batch())
                self.check_leases()
                yield
        if self.fault:
            raise self.fault
        if self.playing or not self.all_on:
            raise LetGo

    # asking

    def feed(self) -> bool:
        """Bring dialogues on and start turns. False when nothing is left to wait for."""
        if not self.over:
            self.load_dialogues()
            self.start()
        return bool(self.stage.outstanding or (self.ready and not self.over))

    def load_dialogues(self) -> None:
        free = self.most - len(self.playing)
        if self.all_on or self.makes_way or free <= 0:
            return
        found = list_waiting(self.experiment, after=self.last_index, n=free)
        self.all_on = len(found) < free
        for one in found:
            self.last_index = one.row.index
            self.playing[one.row.pk] = one
            self.ready.append(one.row.pk)

    def start(self) -> None:
        """Start what budget and quota allow, oldest first."""
        asks: list[Ask] = []
        while self.ready:
            ask = self.build_next_ask(self.ready[0], alone=not (asks or self.stage.outstanding))
            if ask is None:
                break
            self.ready.popleft()
            asks.append(ask)
        self.stage.send(asks)
        if self.ready and not self.over and not self.stage.outstanding:
            time.sleep(PAUSE)

    def build_next_ask(self, pk: int, *, alone: bool) -> Ask | None:
        """The dialogue's next turn, paid for in the purse; None while it may not start. `alone`: no other is coming."""
        playing = self.playing[pk]
        agent, request = playing.speaker, playing.request()
        speaker = self.speakers[agent.pk]
        tokens = speaker.estimate_tokens(request).tokens
        amount = self.tracker.price(agent, tokens, speaker.reply_tokens * playing.room)
        if not self.tracker.reserve(amount):
            if alone:
                self.halt(self.tracker.find_reached(amount))
            return None
        starts = self.starts(agent, tokens)
        if starts is None:
            self.tracker.settle(amount, Decimal(0))
            return None
        return Ask(pk, agent.pk, request, tokens, amount, starts, self.build_preparation(playing))

    def build_preparation(self, playing: DialogueState) -> Callable[[], Awaitable[JudgeRequest]] | None:
        """How the request gets its final form, where passages have to be found by embeddings."""
        retriever = self.retriever
        if retriever is None or playing.retriever != EMBEDDINGS:
            return None
        return lambda: retriever.request(playing)

    def starts(self, agent: Agent, tokens: int) -> float | None:
        """When a turn may start: at once where there is no quota; None where that is not soon."""
        if agent.pk not in self.with_quota:
            return 0.0
        return next(iter(quotas.reserve(self.judges[agent.pk], [tokens + USUAL_REPLY])), None)

    def find_quotas(self) -> None:
        self.with_quota = {pk for pk, one in self.agents.items() if quotas.find_quota(one.provider, one.model)}

    def halt(self, reason: str) -> None:
        """Stop the experiment, and say why."""
        experiments.halt(experiment=self.experiment, reason=reason)
        self.forget_unstarted()

    # keeping

    def keep(self, batch: Sequence[Answer]) -> None:
        """Save the turns, and let the other side speak."""
        if not batch:
            return
        replied = [answer for answer in batch if answer.reply]
        found = [self.build_turn(answer) for answer in replied]
        failed = [(self.playing[a.ask.dialogue], str(a.fault)) for a in batch if isinstance(a.fault, PermanentError)]
        try:
            turn_writer.save(found, failed)
        except IntegrityError as error:
            raise LetGo from error  # somebody thought that this process was gone
        self.stage.release_saved(batch)
        self.settle(batch, found)
        if found and not self.progressed:
            leases.mark_progress(self.experiment, self.worker)
            self.progressed = True
        for one in found:
            self.note(one)
        for playing, _ in failed:
            del self.playing[playing.row.pk]
        self.count_errors(batch)
        self.raise_others(batch)

    def build_turn(self, answer: Answer) -> SavedTurn:
        embedder, rates = self.experiment.embedder_id, self.tracker.rates
        of_embeddings = rates[embedder] if embedder else None
        return turn_writer.build_turn(self.playing[answer.ask.dialogue], answer, rates[answer.ask.agent], of_embeddings)

    def settle(self, batch: Sequence[Answer], found: Sequence[SavedTurn]) -> None:
        """Tell purse and quota what was really used."""
        costs = iter(turn_writer.costs(found))
        for answer in batch:
            self.tracker.settle(answer.ask.reserved, next(costs) if answer.reply else Decimal(0))
            usage = answer.reply.usage if answer.reply else None
            if usage and answer.ask.agent in self.with_quota:
                quotas.settle(
                    self.judges[answer.ask.agent],
                    reserved=answer.ask.tokens + USUAL_REPLY,
                    used=usage.input_tokens + usage.output_tokens,
                )

    def note(self, one: SavedTurn) -> None:
        pk = one.playing.row.pk
        if one.ending:
            del self.playing[pk]
        else:
            self.ready.append(pk)

    def count_errors(self, batch: Sequence[Answer]) -> None:
        """A speaker that fails again and again is no matter of one dialogue."""
        for answer in batch:
            agent = answer.ask.agent
            self.errors[agent] = self.errors[agent] + 1 if isinstance(answer.fault, PermanentError) else 0
            if self.errors[agent] == TOLERATED_ERRORS:
                self.halt(f"{TOLERATED_ERRORS} dialogues in a row could not go on: {answer.fault}")

    def raise_others(self, batch: Sequence[Answer]) -> None:
        """A fault that may pass ends the shift; one that no call survives is raised."""
        for answer in batch:
            if isinstance(answer.fault, TransientError):
                self.fault = answer.fault
                self.forget_unstarted()
            elif answer.fault and not isinstance(answer.fault, PermanentError):
                raise answer.fault

    # looking up

    def check_leases(self) -> None:
        """Put down what is no longer this process's to work on. What is on its way still lands, for it is paid for."""
        if time.monotonic() - self.looked < LOOK_EVERY:
            return
        self.looked = time.monotonic()
        self.find_quotas()
        if not self.over and not leases.is_still_held(self.experiment, self.worker):
            self.forget_unstarted()
        if (
            self.looked - self.began > LONGEST
            and not self.makes_way
            and leases.is_other_work_due(experiment=self.experiment)
        ):
            self.makes_way = True
            self.forget_unstarted()

    def forget_unstarted(self) -> None:
        """Start nothing more."""
        self.over = True
        for ask in self.stage.drop():
            self.tracker.settle(ask.reserved, Decimal(0))


def build_retriever(experiment: Experiment, keys: Keyring) -> Retriever | None:
    """Who finds passages by embeddings. PermanentError if its settings do not fit this version of Concord."""
    embedder = experiment.embedder
    return None if embedder is None else Retriever(agents_services.build_embeddings(embedder, keys))


def embedders(experiment: Experiment) -> list[Agent]:
    return [experiment.embedder] if experiment.embedder else []


def build_model_limits(known: dict[int, Agent], speakers: dict[int, Provider]) -> list[ModelLimit]:
    """Agents that speak through the same model share its limit, the larger of what they name."""
    by_model: dict[tuple[str, str, str], set[int]] = {}
    for pk, agent in known.items():
        place = (agent.provider, agent.model, str(agent.parameters.get("base_url", "")))
        by_model.setdefault(place, set()).add(pk)
    return [ModelLimit(frozenset(pks), max(speakers[pk].concurrency for pk in pks)) for pks in by_model.values()]


def compute_most_running(lanes: Sequence[ModelLimit]) -> int:
    calls = sum(lane.limit for lane in lanes)
    return calls * ON_STAGE if calls > len(lanes) else 1


__all__ = ["LetGo", "WorkerSession"]
