"""What every provider of judges speaks: a request in, a reply out.

A provider has one abstract method, `judge`. It is asynchronous, so that one process can keep many calls in flight;
how many is the provider's `concurrency`. It knows no database: requests hold plain data, and what a provider measures
beside the verdict (features, tokens, log-probabilities, cost) goes into the reply's `details` and `usage`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.addresses import ForbiddenAddressError
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, Picture, Prompt

PICTURE_TOKENS = 1600
"""Tokens that a picture takes at most with the models that say so; of others it is a guess."""


class NoTemperatureError(PermanentError):
    """The model takes no temperature, or not this one."""


class TooLongError(PermanentError):
    """The other side turned a prompt down because it does not fit the model."""


class NoModelListError(PermanentError):
    """The other side does not tell which models it has."""


class UnknownBatchError(PermanentError):
    """The other side has no such batch, or not any more."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply took. Every token of the prompt is in `input_tokens`, read anew or not.

    Of these, `cached_tokens` were read from the other side's cache and `written_tokens` were put into it, which may
    each have a price of its own. `batched` requests were sent in bulk, which may have another.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    batched: bool = False


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The tokens of a prompt: counted by the model's own tokenizer, or estimated from its length."""

    tokens: int
    exact: bool


Stop = Literal["end", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: text that is still to be read, or a `value` that the provider computed itself.

    A `value` that is no category is what a person would have entered (`annotation.studies.parsing.answers`).

    `unscored` is the provider's own reason for giving no value, for example that there is nothing to measure, or
    `refuse_too_long` where the prompt does not fit the model.

    `distribution` says how probable each value of the criterion was, as shown (A and B for a preference), where the
    model tells. It sums to 1; how much of the model's probability fell on the scale at all is in
    `details["scale_mass"]`.
    """

    text: str = ""
    value: str | None = None
    unscored: str = ""
    explanation: str = ""
    stop: Stop = "end"
    details: Mapping[str, object] = field(default_factory=dict)
    usage: Usage | None = None
    distribution: Mapping[str, float] = field(default_factory=dict)


class Parameters(BaseModel):
    """A judge's parameters. An unknown name is an error, not ignored.

    Each has a default: `check` says what is missing.
    """

    model_config = ConfigDict(extra="forbid")

    concurrency: int = Field(default=1, ge=1, le=64)


class Example(BaseModel):
    """An item, turn or response that people have settled on a criterion: where it stands, what is shown of it, and
    their verdict.

    `material` is by the names of placeholders, as it was when the judge was made. `value` is as it is stored: of a pair
    shown in the `order` BA, "1" is what the judge sees as B.
    """

    model_config = ConfigDict(extra="forbid")

    study: str
    item: int = Field(ge=1, description="Its position in the study.")
    source: str
    external_id: str
    content_hash: str
    criterion: str
    order: str = Field(default="", pattern="^[A-L]{0,12}$")
    material: dict[str, str]
    value: str
    why: str = ""
    turn: int = Field(default=0, ge=0, description="The turn or response that the verdict is on; 0 for the whole item.")


OWN_EXAMPLE = Reply(unscored="own_example")
"""What stands in place of a reply on an item that is one of the judge's examples: nobody asks about it."""


CONCURRENCY = "Calls at the same time."
LONGEST = "The most tokens of a reply."
PICTURES = "Whether the model takes pictures; then those of items are sent."
RETRIES = "How often a call is repeated after a passing error."
TEMPERATURE = "0 gives the likeliest reply."
WINDOW = "Tokens that the model can hold, prompt and reply together."


class ModelParameters(Parameters):
    """What every model's judge may be given beside its own parameters.

    `template` replaces Concord's own prompt, `templates` for the criteria that it names, `system` the instruction that
    goes before it; `judging.judges.prompts` says what may stand in them, and what must. `examples` are put between the
    item and the criterion.
    """

    examples: list[Example] = Field(default_factory=list, max_length=200)
    template: str = Field(default="", max_length=50_000)
    templates: dict[str, str] = Field(default_factory=dict, max_length=100)
    system: str | None = Field(default=None, max_length=50_000)
    max_retries: int = Field(default=2, ge=0, le=10, description=RETRIES)
    timeout: float = Field(default=120, gt=0, description="Seconds for one call.")


NO_TEMPERATURE = {"temperature": "not taken by the model"}


def list_objections(call: Callable[[], object]) -> list[str]:
    """Make a call for the sake of what it objects to: its error as a sentence, or nothing."""
    try:
        call()
    except (PermanentError, ForbiddenAddressError) as error:
        return [str(error)]
    return []


def ignore_wait(seconds: float) -> None:
    """Do nothing with a request to wait, where nobody else asks the model."""


class Provider(ABC):
    """A way to reach judges. Made by `judging.judges.providers.create`, which turns bad parameters into a message."""

    Parameters: ClassVar[type[Parameters]] = Parameters
    needs_prompt: ClassVar[bool] = False
    compares: ClassVar[bool] = False
    """Whether all that it can say of responses is which of them is best."""
    without_effect: ClassVar[frozenset[str]] = frozenset(
        {"concurrency", "max_retries", "timeout", "templates", "pictures"}
    )
    """Parameters that do not alter a reply, or only through the words of the prompt, which are part of its identity."""

    def __init__(
        self, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
    ) -> None:
        self.model = model
        self.parameters: Any = self.Parameters.model_validate(parameters or {})
        self.keys = keys
        self.takes_no_temperature = False
        self.on_wait: Callable[[float], None] = ignore_wait
        """Called in the loop with the seconds that the other side asks to wait. The caller's to set."""

    @property
    def key(self) -> str:
        """What the other side knows this site by; empty where it asks for none."""
        return ""

    @property
    def is_asked(self) -> bool:
        """Whether an answer takes more than arithmetic, so that it is worth keeping."""
        return self.needs_prompt

    @property
    def concurrency(self) -> int:
        """How many calls one process keeps in flight."""
        return int(self.parameters.concurrency)

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        """What stands in the way of judging these criteria, in sentences. Asked before a run is made."""
        return []

    async def probe(self) -> list[str]:
        """What the other side objects to before anything is spent: the key, the model, that nobody answers.

        May wait on the network for some seconds.
        """
        return []

    async def list_models(self) -> tuple[str, ...]:
        """The models that the other side has, by name. NoModelListError where it does not tell which."""
        raise NoModelListError("This provider has no list of models: enter the name of one.")

    @property
    def probed(self) -> str:
        """What is known where `probe` objects to nothing, in a sentence."""
        return "It is computed here, and nothing is missing."

    def identity(self, request: JudgeRequest) -> Mapping[str, object]:
        """All that can alter the reply, as plain data: equal identities may share one answer.

        The caller adds what it wants to keep apart, such as the repeat where the provider has no use for a seed.
        """
        given = self.parameters.model_dump(mode="json", exclude=set(self.without_effect))
        prompt = request.prompt
        said = [prompt.system, prompt.user, prompt.shared, dict(prompt.schema)] if prompt else None
        seen = {"pictures": [[one.sha256, one.name] for one in shown]} if (shown := self.list_pictures(prompt)) else {}
        return {"model": self.model, "parameters": given, "prompt": said, **seen}

    def list_pictures(self, prompt: Prompt | None) -> tuple[Picture, ...]:
        """The pictures that are sent with a prompt: none to a model that takes none, which has their names."""
        takes = getattr(self.parameters, "pictures", False)
        return prompt.pictures if prompt and takes else ()

    @property
    def temperature(self) -> float | None:
        """What is sent; None where none was given, or the model turned down the 0 that judges have by default."""
        given: float | None = getattr(self.parameters, "temperature", None)
        return None if self.takes_no_temperature else given

    async def call_at_zero(self, call: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply; of a model that turns down temperature 0, one without a temperature, which its details say.

        Another temperature that is turned down was asked for by somebody, and stays an error.
        """
        try:
            reply = await call()
        except NoTemperatureError:
            if self.temperature != 0:
                raise
            self.takes_no_temperature = True
            reply = await call()
        return replace(reply, details={**reply.details, **NO_TEMPERATURE}) if self.takes_no_temperature else reply

    @property
    def context_window(self) -> int | None:
        """How many tokens prompt and reply may have together; None if that is not known without asking."""
        return None

    @property
    def reply_tokens(self) -> int:
        """The most tokens that a reply may have; 0 for a judge that is no model."""
        return int(getattr(self.parameters, "max_tokens", 0))

    async def count_tokens(self, request: JudgeRequest) -> TokenCount:
        """The tokens of the request's prompt. Counted where the other side counts for nothing, else estimated."""
        return self.estimate_tokens(request)

    def estimate_tokens(self, request: JudgeRequest) -> TokenCount:
        """The tokens of the request's prompt by its length alone, at once and without the network."""
        if request.prompt is None:
            return TokenCount(0, exact=True)
        said = approximate_tokens(request.prompt.system + request.prompt.user)
        return TokenCount(said + PICTURE_TOKENS * len(self.list_pictures(request.prompt)), exact=False)

    async def refuse_too_long(self, request: JudgeRequest) -> Reply | None:
        """The reply to a request that does not fit the model, with the count; None where it fits or nobody knows.

        No tokenizer makes more tokens than there are bytes, so most prompts need not be counted.
        """
        window, prompt = self.context_window, request.prompt
        if window is None or prompt is None:
            return None
        most = len(prompt.system.encode()) + len(prompt.user.encode()) + TOKENS_AROUND
        most += PICTURE_TOKENS * len(self.list_pictures(prompt))
        if most + self.reply_tokens <= window:
            return None
        count = await self.count_tokens(request)
        if count.tokens + self.reply_tokens <= window:
            return None
        return does_not_fit(tokens=count.tokens, exact=count.exact, reply=self.reply_tokens, window=window)

    @abstractmethod
    async def judge(self, request: JudgeRequest) -> Reply:
        """One verdict. Raises TransientError or PermanentError when there is no reply at all."""

    async def aclose(self) -> None:  # noqa: B027 — most providers hold nothing open
        """Let go of connections. Called once, in the loop in which `judge` was called."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far requests sent in bulk are. Replies can be fetched once it has `ended`."""

    ended: bool
    waiting: int
    done: int


class BatchProvider(Provider):
    """A provider that also takes many requests in bulk, for less money and hours later.

    What `submit` returns is all that has to be kept: any process can go on from there.
    """

    @abstractmethod
    async def submit(self, requests: Mapping[str, JudgeRequest]) -> str:
        """Hand the requests in, each under a key of at most 64 letters, digits, - and _. Returns the batch's id."""

    def no_batches(self) -> str:
        """Why these settings take no batches; empty if they do."""
        return ""

    @abstractmethod
    async def list_batches(self, since: datetime) -> Mapping[str, int]:
        """The batches that the other side has got since then, oldest first, with their numbers of requests.

        Answers whether a `submit` whose reply never came had arrived.
        """

    @abstractmethod
    async def poll(self, batch: str) -> BatchState:
        """How far the batch is. UnknownBatchError if there is no such batch."""

    @abstractmethod
    def fetch(self, batch: str) -> AsyncIterator[tuple[str, Reply | TransientError | PermanentError]]:
        """Key and outcome of each request of an ended batch, in any order. What expired may be asked again."""

    @abstractmethod
    async def cancel(self, batch: str) -> None:
        """Ask for nothing more of the batch. It ends soon after, with what was done until then."""


TOKENS_AROUND = 64
"""What a model's own format puts around system text and prompt, at the most."""


def does_not_fit(**details: object) -> Reply:
    """The item is unscored: it is never cut to fit. `details` say what was counted, or what the other side said."""
    return Reply(unscored="too_long", details={"too_long": details})


def approximate_tokens(text: str) -> int:
    """About as many tokens as a model's tokenizer makes of the text.

    Four characters of ASCII to a token, as English prose has it, and one token to every other character, which is
    close for Chinese and Japanese and too many for accented letters.
    """
    narrow = len(text.encode("ascii", "ignore"))
    return -(-narrow // 4) + len(text) - narrow
