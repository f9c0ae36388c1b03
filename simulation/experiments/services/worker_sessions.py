"""One process's work on an experiment: claimed; its dialogues brought on; their sides speak in turn; every turn saved.

Many dialogues go on at once, one turn of each in flight. More are on stage than calls may be in flight, so that the
last ones do not go on alone; where a model takes one call at a time there is one dialogue at a time, whose beginning
its server still has in mind.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import closing
from decimal import Decimal

from django.db import IntegrityError
from django.db.models import Q

from core.jobs.backoff import PermanentError, TransientError
from core.jobs.heartbeat import beating
from core.jobs.worker_session import LetGo, WorkerSession, handing_back, never
from judging.judges.models import Judge, Worker
from judging.judges.providers.base import Provider
from judging.judges.providers.keys import Keyring
from judging.judges.providers.requests import JudgeRequest
from judging.judges.services.keys import load_keyring
from judging.judges.services.quotas import ModelQuota
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.prompts.roles import EMBEDDINGS
from simulation.experiments.models import Experiment
from simulation.experiments.services import experiments, turns
from simulation.experiments.services.budget_tracker import BudgetTracker
from simulation.experiments.services.dialogue_state import DialogueState, list_waiting
from simulation.experiments.services.experiments import leases
from simulation.experiments.services.turns import Answer, Ask, DialogueScheduler, ModelLimit, Retriever, SavedTurn

ON_STAGE = 4  # dialogues for each call that may be in flight
TOLERATED_ERRORS = 3  # in a row, after which the experiment stops itself
PAUSE = 0.5  # seconds, while the quota allows no start


class ExperimentSession(WorkerSession):
    """Works on an experiment until no dialogue is left, or it may not go on."""

    def __init__(self, experiment: Experiment, worker: Worker) -> None:
        super().__init__()
        self.experiment, self.worker = experiment, worker
        self.agents: dict[int, Agent] = {experiment.user_agent.pk: experiment.user_agent}
        self.agents |= {agent.pk: agent for agent in experiment.assistants.all()}
        self.playing: dict[int, DialogueState] = {}
        self.ready: deque[int] = deque()
        self.last_index = 0
        self.all_on = self.progressed = False
        self.errors: Counter[int] = Counter()

    def work(self) -> Iterator[None]:
        """Ask and save, yielding after every batch. Raises what keeps the experiment from being finished."""
        keys = load_keyring(self.experiment.project_id)
        speakers = {pk: agents_services.build_speaker(agent, keys) for pk, agent in self.agents.items()}
        limits = limits_of(self.agents, speakers)
        self.speakers, self.most = speakers, compute_most_running(limits)
        paid = filter(None, [*self.agents.values(), self.experiment.embedder])
        self.budget = BudgetTracker.build(self.experiment, list(paid))
        self.quotas = {pk: ModelQuota(Judge(provider=one.provider, model=one.model)) for pk, one in self.agents.items()}
        self.retriever = build_retriever(self.experiment, keys)
        self.scheduler = DialogueScheduler(
            speakers, limits, others=[self.retriever.embeddings] if self.retriever else []
        )
        with closing(self.scheduler):
            while self.feed():
                self.keep(self.scheduler.batch())
                self.look()
                yield
        if self.fault:
            raise self.fault
        if self.playing or not self.all_on:
            raise LetGo(again=self.makes_way)

    # asking

    def feed(self) -> bool:
        """Bring dialogues on and start turns. False when nothing is left to wait for."""
        if not self.over:
            self.bring_on()
            self.start()
        return bool(self.scheduler.outstanding or (self.ready and not self.over))

    def bring_on(self) -> None:
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
            ask = self.next_ask(self.ready[0], alone=not (asks or self.scheduler.outstanding))
            if ask is None:
                break
            self.ready.popleft()
            asks.append(ask)
        self.scheduler.send(asks)
        if self.ready and not self.over and not self.scheduler.outstanding:
            time.sleep(PAUSE)

    def next_ask(self, pk: int, *, alone: bool) -> Ask | None:
        """The dialogue's next turn, set aside in the budget; None while it may not start. `alone`: no other comes."""
        playing = self.playing[pk]
        agent, request = playing.speaker, playing.request()
        speaker = self.speakers[agent.pk]
        tokens = speaker.estimate_tokens(request).tokens
        amount = self.budget.price(agent, tokens, speaker.reply_tokens * playing.room)
        if not self.budget.reserve(amount):
            if alone:
                self.halt(self.budget.find_reached(amount))
            return None
        starts = self.quotas[agent.pk].reserve([tokens])
        if not starts:
            self.budget.settle(amount, Decimal(0))
            return None
        return Ask(pk, agent.pk, request, tokens, amount, starts[0], self.preparing(playing))

    def preparing(self, playing: DialogueState) -> Callable[[], Awaitable[JudgeRequest]] | None:
        """How the request gets its final form, where passages have to be found by embeddings."""
        retriever = self.retriever
        if retriever is None or playing.retriever != EMBEDDINGS:
            return None
        return lambda: retriever.request(playing)

    def halt(self, reason: str) -> None:
        """Stop the experiment, and say why."""
        experiments.halt(experiment=self.experiment, reason=reason)
        self.put_down()

    # keeping

    def keep(self, batch: Sequence[Answer]) -> None:
        """Save the turns, and let the other side speak."""
        if not batch:
            return
        replied = [answer for answer in batch if answer.reply]
        found = [self.build_saved_turn(answer) for answer in replied]
        failed = [(self.playing[a.ask.dialogue], str(a.fault)) for a in batch if isinstance(a.fault, PermanentError)]
        try:
            turns.save(found, failed)
        except IntegrityError as error:
            raise LetGo from error  # somebody thought that this process was gone
        self.scheduler.mark_saved(batch)
        self.settle(batch, found)
        if found and not self.progressed:
            leases.progressed(self.experiment, self.worker)
            self.progressed = True
        for one in found:
            self.note(one)
        for playing, _ in failed:
            del self.playing[playing.row.pk]
        self.count_errors(batch)
        self.raise_others(batch)

    def build_saved_turn(self, answer: Answer) -> SavedTurn:
        embedder, rates = self.experiment.embedder_id, self.budget.rates
        of_embeddings = rates[embedder] if embedder else None
        return turns.build_turn(self.playing[answer.ask.dialogue], answer, rates[answer.ask.agent], of_embeddings)

    def settle(self, batch: Sequence[Answer], found: Sequence[SavedTurn]) -> None:
        """Tell budget and quota what was really used."""
        costs = iter(turns.costs(found))
        for answer in batch:
            self.budget.settle(answer.ask.reserved, next(costs) if answer.reply else Decimal(0))
            if answer.reply:
                self.quotas[answer.ask.agent].settle([(answer.ask.tokens, answer.reply.usage)])

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
                self.put_down()
            elif answer.fault and not isinstance(answer.fault, PermanentError):
                raise answer.fault

    # looking up

    def look(self) -> None:
        """Put down what is no longer this process's to work on. What is on its way still lands, for it is paid for."""
        if not self.is_time_to_look():
            return
        for quota in self.quotas.values():
            quota.look()
        if not self.over and not leases.filter_held(self.experiment, self.worker).exists():
            self.put_down()
        if not self.makes_way and self.has_had_its_turn(leases, Q(pk=self.experiment.pk)):
            self.makes_way = True
            self.put_down()

    def put_down(self) -> None:
        """Start nothing more."""
        self.over = True
        for ask in self.scheduler.drop():
            self.budget.settle(ask.reserved, Decimal(0))


def build_retriever(experiment: Experiment, keys: Keyring) -> Retriever | None:
    """Who finds passages by embeddings. PermanentError if its settings do not fit this version of Concord."""
    embedder = experiment.embedder
    return None if embedder is None else Retriever(agents_services.build_embeddings(embedder, keys))


def limits_of(known: dict[int, Agent], speakers: dict[int, Provider]) -> list[ModelLimit]:
    """Agents that speak through the same model share its limit, the larger of what they name."""
    by_model: dict[tuple[str, str, str], set[int]] = {}
    for pk, agent in known.items():
        place = (agent.provider, agent.model, str(agent.parameters.get("base_url", "")))
        by_model.setdefault(place, set()).add(pk)
    return [ModelLimit(frozenset(pks), max(speakers[pk].concurrency for pk in pks)) for pks in by_model.values()]


def compute_most_running(limits: Sequence[ModelLimit]) -> int:
    calls = sum(one.limit for one in limits)
    return calls * ON_STAGE if calls > len(limits) else 1


def play(pk: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim an experiment and work on it. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, the experiment is handed back with the turns that are saved.
    """
    if leaving() or leases.free(pk) is None:
        return
    with beating(Worker) as worker:
        experiment = leases.claim(pk, worker)
        if experiment:
            with closing(steps(experiment, worker)) as going:
                for _ in going:
                    if leaving():
                        break


def work_through(experiment: Experiment) -> Iterator[None]:
    """Work through the experiment in this process, yielding now and then until it is over."""
    with beating(Worker) as worker:
        while leases.unfinished().filter(pk=experiment.pk).exists():
            if found := leases.claim(experiment.pk, worker):
                yield from steps(found, worker)
            yield
            if leases.unfinished().filter(pk=experiment.pk).exists():
                time.sleep(PAUSE)


def steps(experiment: Experiment, worker: Worker) -> Generator[None]:
    """Work on an experiment that `worker` holds, yielding after every batch saved."""

    with handing_back(leases, worker, lambda: [experiment], fail=halt):
        yield from ExperimentSession(experiment, worker).work()
        leases.finish(experiment, worker)


def halt(experiment: Experiment, worker: Worker, reason: str) -> None:
    """Stop an experiment that cannot go on, and let go of it."""
    experiments.halt(experiment=experiment, reason=reason)
    leases.release(experiment, worker)
