"""The judge of a run as an evaluation asks it: memories are found first, and the answer read as the setting says.

Which memories fit depends on the question, may be asked of a server, and their summary is made by the model itself.
So it happens here, between the run and its provider, in the loop in which calls are in flight. What was found is kept
with the judgment.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from annotation.stats.table import FloatArray
from core import vectors
from judging.judges import evaluation_settings
from judging.judges.evaluation_settings import Setting
from judging.judges.prompts import evaluation, templates
from judging.judges.providers import base
from judging.judges.providers.base import Provider, Reply, TokenCount, Usage
from judging.judges.providers.embeddings import Embeddings
from judging.judges.providers.keys import Keyring
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, PairContent, Person, Prompt
from judging.judges.providers.scorer import total
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from judging.stats.retrieval import RetrievedPassage, nearest, retrieve

T = TypeVar("T")
KEPT = 512
"""Summaries and vectors that are held in memory; both orders of a case follow each other."""


def build_provider(run: JudgeRun) -> Provider:
    """The run's provider, ready for use; as its evaluation asks it, where it is a part of one."""
    provider, setting, own = judges.build_provider(run.judge), Setting.from_stored(run.setting), run.judge.parameters
    template = partial(templates.find_template, **own)
    return EvaluatedProvider(provider, setting, own.get("system"), template) if setting else provider


@dataclass(slots=True)
class PreparedContent:
    """What the model is shown, what is kept of how that came about, and what it took."""

    content: PairContent
    kept: dict[str, object] = field(default_factory=dict)
    usages: list[Usage] = field(default_factory=list)
    embedded_tokens: int = 0
    unscored: str = ""


class EvaluatedProvider(Provider):
    """Another provider, asked in one setting of an evaluation."""

    def __init__(self, inner: Provider, setting: Setting, system: str | None, template: Callable[[str], str]) -> None:
        self.inner, self.setting, self.model = inner, setting, inner.model
        self.parameters, self.keys = inner.parameters, inner.keys
        self.system, self.template = system, template
        self.needs_prompt = inner.needs_prompt  # type: ignore[misc]
        self.on_wait = base.ignore_wait
        self.embeddings = build_embeddings(setting, inner.keys)
        self.summaries: Memo[tuple[str, Usage | None]] = Memo()
        self.known: Memo[FloatArray] = Memo()

    # what is the other provider's to say

    @property
    def is_asked(self) -> bool:
        return self.inner.is_asked

    @property
    def concurrency(self) -> int:
        return self.inner.concurrency

    @property
    def context_window(self) -> int | None:
        return self.inner.context_window

    @property
    def reply_tokens(self) -> int:
        return self.inner.reply_tokens

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:
        return self.inner.check(criteria)

    async def count_tokens(self, request: JudgeRequest) -> TokenCount:
        return await self.inner.count_tokens(request)

    def estimate_tokens(self, request: JudgeRequest) -> TokenCount:
        """Of the prompt with all memories: the most that it can be."""
        return self.inner.estimate_tokens(request)

    def identity(self, request: JudgeRequest) -> Mapping[str, object]:
        return {**self.inner.identity(request), "setting": self.setting.to_json(), "seed": request.seed}

    async def aclose(self) -> None:
        async with AsyncExitStack() as both:
            both.push_async_callback(self.inner.aclose)
            if self.embeddings:
                both.push_async_callback(self.embeddings.aclose)

    # asking

    async def judge(self, request: JudgeRequest) -> Reply:
        content = request.content
        assert isinstance(content, PairContent)
        self.inner.on_wait = self.on_wait
        ready = await self.ready(request, content)
        if ready.unscored:
            return Reply(unscored=ready.unscored, details=ready.kept, usage=total(ready.usages))
        reply = await self.inner.judge(replace(request, content=ready.content, prompt=self.prompt(request, ready)))
        usages = [*ready.usages, *([reply.usage] if reply.usage else [])]
        answered = choose_value(reply, request.criterion, self.setting)
        return replace(answered, details={**answered.details, **ready.kept}, usage=total(usages))

    def prompt(self, request: JudgeRequest, ready: PreparedContent) -> Prompt | None:
        if not self.needs_prompt:
            return None
        return evaluation.choice(
            request.criterion,
            ready.content,
            answers=self.setting.answers,
            template=self.template(request.criterion.key),
            system=self.system,
        )

    async def ready(self, request: JudgeRequest, content: PairContent) -> PreparedContent:
        """The content with the memories that fit, or their summary."""
        if self.setting.shows == evaluation_settings.PROFILE and content.person == Person():
            return PreparedContent(content, unscored="no_persona")
        if not self.setting.retrieves:
            return PreparedContent(content)
        memories = [str(memory) for memory in content.person.memories]
        if not memories:
            return PreparedContent(content, unscored="no_memories")
        ready = PreparedContent(content)
        found = await self.find_memories(build_question(content), memories, ready)
        ready.kept["retrieved"] = [
            {"text": one.passage, "place": one.place, "score": round(one.score, 6)} for one in found
        ]
        ready.content = evaluation.add_memories(content, [one.passage for one in found])
        if self.setting.shows == evaluation_settings.SUMMARY and found:
            await self.summarise(request, ready)
        return ready

    async def find_memories(self, question: str, memories: list[str], ready: PreparedContent) -> list[RetrievedPassage]:
        """The memories that fit the question, best first."""
        setting = self.setting
        if setting.retriever == evaluation_settings.BM25:
            return retrieve(question, memories, setting.k)
        if self.embeddings is None:
            known = await self.known.get_or_make("\0".join(memories), lambda: run_now(vectors.embed(memories)))
            return nearest(vectors.embed([question])[0], known, memories, setting.k)
        server = self.embeddings

        async def embedded(texts: list[str]) -> FloatArray:
            answer = await server.embed(texts)
            ready.kept["embedded_tokens"] = ready.embedded_tokens = ready.embedded_tokens + answer.tokens
            return answer.vectors

        known = await self.known.get_or_make("\0".join(memories), lambda: embedded(memories))
        return nearest((await embedded([question]))[0], known, memories, setting.k)

    async def summarise(self, request: JudgeRequest, ready: PreparedContent) -> None:
        """Put the model's own summary in the place of the memories. Rules and scorers get the memories themselves."""
        if not self.needs_prompt:
            ready.kept["summary_by"] = "none: it does not write, and gets the memories as they are"
            return
        prompt, first = evaluation.summary(ready.content), False

        async def ask() -> tuple[str, Usage | None]:
            nonlocal first
            first = True
            reply = await self.inner.judge(replace(request, content=ready.content, prompt=prompt))
            usable = not reply.unscored and reply.stop == "end"
            return evaluation.parse_summary(reply.text) if usable else "", reply.usage

        text, usage = await self.summaries.get_or_make(f"{request.seed}\0{prompt.user}", ask)
        if first and usage:
            ready.usages.append(usage)
        if not text:
            ready.unscored = "no_summary"
            return
        ready.kept["summary"] = text
        ready.content = evaluation.add_memories(ready.content, [text])


class Memo(OrderedDict[str, "asyncio.Future[T]"]):
    """What was asked for lately, so that who asks for the same at the same time waits for one answer."""

    async def get_or_make(self, key: str, make: Callable[[], Coroutine[object, object, T]]) -> T:
        """The answer that is known or on its way, else a new one. One that failed is asked for again."""
        if key not in self:
            self[key] = asyncio.ensure_future(make())
            while len(self) > KEPT:
                self.popitem(last=False)
        self.move_to_end(key)
        future = self[key]
        try:
            return await asyncio.shield(future)
        except BaseException:
            if future.done() and self.get(key) is future:
                del self[key]
            raise


async def run_now(value: T) -> T:
    return value


def choose_value(reply: Reply, criterion: CriterionSpec, setting: Setting) -> Reply:
    """The reply with the value that counts: the more probable one, where that is asked for."""
    if setting.answers != evaluation_settings.LOG_PROBABILITY or reply.unscored or reply.value is not None:
        return reply
    shares = {value: reply.distribution.get(value, 0.0) for value in criterion.values}
    if reply.stop == "refusal":
        return reply
    if not reply.distribution:
        return replace(reply, unscored="no_probabilities")
    best = max(shares.values())
    leading = [value for value, share in shares.items() if share == best]
    if len(leading) > 1:
        return replace(reply, unscored="equal_probabilities")
    return replace(reply, value=leading[0])


def build_question(content: PairContent) -> str:
    return "\n".join(part for part in (content.question, content.context) if part)


def build_embeddings(setting: Setting, keys: Keyring) -> Embeddings | None:
    """Who makes embeddings, where a server is asked for them."""
    if not setting.retrieves or setting.retriever != evaluation_settings.ENDPOINT:
        return None
    given = dict(setting.embedder or {})
    return Embeddings(model=str(given.pop("model", "")), parameters=given, keys=keys)
