"""A local server that speaks the wire formats of Messages, Message Batches and chat completions.

It stands where a provider's service would: the official SDKs talk to it. It answers each request with what is queued,
or with a verdict of its own; it can be slow, stumble, lie and break off on purpose; and it keeps what it was asked.

    with running() as server:
        server.answers.append(Answer(429, headers={"retry-after": "1"}))   # the next request
        server.by_default = lambda request: Answer(text=verdict("2"), delay=1.0)   # the others

It also scores responses (`SCORE`) with the bodies that are queued. It is one event loop in a thread, so that some
hundred requests may wait in it at once.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

MODEL = "model-for-tests"
KEY = "key-for-tests"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MESSAGES, CHAT, EMBEDDINGS = "/v1/messages", "/v1/chat/completions", "/v1/embeddings"
SCORE = "/score"


def verdict(value: str, explanation: str = "It asks for what it should know.") -> str:
    return json.dumps({"explanation": explanation, "verdict": value})


@dataclass(frozen=True)
class Answer:
    """What comes back. `text`, `stop` and `probabilities` are put into the format asked for, unless `body` is given.

    `delay` is in seconds; `cut` breaks the connection after so many bytes of the body.
    """

    status: int = 200
    text: str = verdict("2")
    stop: str = ""
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    probabilities: Mapping[str, float] | None = None
    tool: Mapping[str, Any] | None = None
    refusal: str = ""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The user's message as one text."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(block["text"] for block in content)

    @property
    def is_for_reply(self) -> bool:
        """Whether it asks for a reply, which costs money."""
        return self.method == "POST" and (self.path in (MESSAGES, CHAT) or self.is_bedrock)

    @property
    def is_bedrock(self) -> bool:
        return self.path.startswith("/model/") and self.path.endswith("/invoke")


def error(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error as Anthropic puts it; OpenAI's look alike in what matters."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Answer(status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


class ModelServer:
    """The service's state. `answers` go first, one each; then `by_default` answers.

    No reply goes out until `replies_from` requests have waited at once.
    """

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.by_default: Callable[[Request], Answer] = lambda request: Answer()
        self.requests: list[Request] = []
        self.batches: dict[str, dict[str, Any]] = {}
        self.models = [MODEL]
        self.key = KEY
        self.tokens_per_prompt: int | None = None
        self.in_flight = self.most_flying = self.replies = 0
        self.replies_from = 0
        self.keep_requests = True
        self.batch_delay = 0.0
        self.url = ""

    @property
    def asked(self) -> list[Request]:
        """The requests for replies, in the order in which they came."""
        return [request for request in self.requests if request.is_for_reply]

    def next(self, request: Request) -> Answer:
        return self.answers.popleft() if self.answers else self.by_default(request)

    async def answer(self, request: Request) -> Answer:
        if self.keep_requests:
            self.requests.append(request)
        sent = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key")
        if self.key and sent != self.key:
            return error(401, "authentication_error", "invalid x-api-key")
        if request.is_for_reply:
            return await self.reply(request)
        if request.path == SCORE:
            scored = self.next(request)
            await asyncio.sleep(scored.delay)
            return scored
        told = self.other(request)
        if request.method == "POST" and request.path.endswith("/batches"):
            await asyncio.sleep(self.batch_delay)  # it has the batch by then, and nobody knows
        return told

    async def reply(self, request: Request) -> Answer:
        self.in_flight += 1
        self.most_flying = max(self.most_flying, self.in_flight)
        try:
            answer = self.next(request)
            await asyncio.sleep(answer.delay)
            async with asyncio.timeout(60):
                while self.most_flying < self.replies_from:
                    await asyncio.sleep(0.01)
        finally:
            self.in_flight -= 1
        self.replies += 1
        if answer.body is not None:
            return answer
        shape = completion if request.path == CHAT else message
        return Answer(answer.status, body=shape(request, answer), headers=answer.headers, cut=answer.cut)

    def other(self, request: Request) -> Answer:
        if request.path == "/v1/models":
            return Answer(body={"object": "list", "data": [openai_model(name) for name in self.models]})
        if found := re.fullmatch(r"/v1/models/(.+)", request.path):
            known = found[1] in self.models
            return Answer(body=claude(found[1])) if known else error(404, "not_found_error", f"model: {found[1]}")
        if request.path == EMBEDDINGS:
            return Answer(body=letters(request.body["input"]))
        if request.path == "/v1/messages/count_tokens":
            counted = self.tokens_per_prompt
            return Answer(body={"input_tokens": len(request.prompt) // 4 if counted is None else counted})
        if request.path.startswith("/v1/messages/batches"):
            return self.batch(request)
        return error(404, "not_found_error", "Not found")

    def batch(self, request: Request) -> Answer:
        """Batches end when a test says so: `finish`."""
        name, _, action = request.path.removeprefix("/v1/messages/batches").strip("/").partition("/")
        if not name and request.method == "GET":
            return Answer(body={"data": [self.described(one) for one in reversed(self.batches)], "has_more": False})
        if not name:
            name = f"msgbatch_{len(self.batches) + 1}"
            self.batches[name] = {
                "requests": request.body["requests"],
                "state": "in_progress",
                "results": [],
                "created": datetime.now(UTC),
            }
        if name not in self.batches:
            return error(404, "not_found_error", f"batch: {name}")
        if action == "results":
            lines = [json.dumps(line).encode() for line in self.batches[name]["results"]]
            return Answer(body=b"\n".join(lines), headers={"content-type": "application/x-jsonl"})
        if action == "cancel":
            self.batches[name]["state"] = "canceling"
        return Answer(body=self.described(name))

    def finish(self, name: str, results: Mapping[str, Any]) -> None:
        """End a batch: an Answer by custom id, or errored, canceled or expired as the API writes it."""
        batch = self.batches[name]
        batch["state"] = "ended"
        for line in batch["requests"]:
            found = results.get(line["custom_id"], Answer())
            request = Request("POST", "/v1/messages", {}, line["params"])
            if isinstance(found, Answer):
                found = {"type": "succeeded", "message": message(request, found)}
            batch["results"].append({"custom_id": line["custom_id"], "result": found})
        batch["results"].reverse()  # they come in any order

    def described(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        ended = batch["state"] == "ended"
        kinds = [line["result"]["type"] for line in batch["results"]]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": batch["state"],
            "request_counts": {**counts, "processing": 0 if ended else len(batch["requests"])},
            "created_at": batch["created"].isoformat(),
            "expires_at": (batch["created"] + timedelta(days=1)).isoformat(),
            "ended_at": datetime.now(UTC).isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{name}/results" if ended else None,
        }


def message(request: Request, answer: Answer) -> dict[str, Any]:
    """A reply of the Messages API."""
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    if answer.tool is not None:
        content = [{"type": "tool_use", "id": "toolu_1", "name": "verdict", "input": answer.tool}]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", MODEL),  # Bedrock has it in the path
        "content": content,
        "stop_reason": answer.stop or ("end_turn" if answer.tool is None else "tool_use"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": 120,
            "output_tokens": 34,
            "cache_read_input_tokens": 8,
            "cache_creation_input_tokens": 2,
        },
    }


def completion(request: Request, answer: Answer) -> dict[str, Any]:
    """A reply of chat completions."""
    said = {"role": "assistant", "content": answer.text, "refusal": answer.refusal or None}
    choice = {"index": 0, "message": said, "finish_reason": answer.stop or "stop", "logprobs": None}
    if answer.probabilities is not None and request.body.get("logprobs"):
        choice["logprobs"] = {"content": log_probabilities(answer.text, answer.probabilities), "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": request.body["model"],
        "choices": [choice],
        "usage": {
            "prompt_tokens": 130,
            "completion_tokens": 34,
            "total_tokens": 164,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }


def log_probabilities(text: str, probabilities: Mapping[str, float]) -> list[dict[str, Any]]:
    """One token a word or sign; the token after `"verdict": "` has the alternatives given, the others are certain."""
    tokens = re.findall(r"\w+|\W", text)
    place = max(at for at, token in enumerate(tokens) if token == "verdict")
    place = next(at for at in range(place + 1, len(tokens)) if tokens[at] not in '": ')
    told = []
    for at, token in enumerate(tokens):
        others = probabilities if at == place else {token: 1.0}
        logs = [{"token": word, "logprob": math.log(share), "bytes": None} for word, share in others.items()]
        told.append({"token": token, "logprob": logs[0]["logprob"], "bytes": None, "top_logprobs": logs})
    return told


def letters(texts: list[str]) -> dict[str, Any]:
    """Embeddings: how often each letter stands in a text, last text first, and five tokens a text."""
    found = [
        {"object": "embedding", "index": index, "embedding": [float(text.lower().count(sign)) for sign in LETTERS]}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 5 * len(texts), "total_tokens": 5 * len(texts)}
    return {"object": "list", "model": MODEL, "data": found[::-1], "usage": usage}


def openai_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "tests"}


def claude(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "type": "model",
        "display_name": name,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    }


@contextmanager
def running(port: int = 0) -> Iterator[ModelServer]:
    """The server on a free port of this machine, until the block ends."""
    server, ready = ModelServer(), Ready()
    thread = Thread(target=asyncio.run, args=[serve(server, port, ready)], name="model server")
    thread.start()
    try:
        ready.wait()
        yield server
    finally:
        ready.leave()
        thread.join()


class Ready:
    """Says across threads that the server listens, and that it may end."""

    def __init__(self) -> None:
        self.listening = Event()
        self.over: asyncio.Event | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def wait(self) -> None:
        assert self.listening.wait(10), "the model server does not listen"

    def leave(self) -> None:
        if self.loop and self.over and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.over.set)


async def serve(server: ModelServer, port: int, ready: Ready) -> None:
    ready.over, ready.loop = asyncio.Event(), asyncio.get_running_loop()
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        connections[task] = writer
        try:
            async with closing(writer):
                while await exchange(server, reader, writer):
                    pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            del connections[task]

    listening = await asyncio.start_server(connected, "127.0.0.1", port, backlog=1024)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    ready.listening.set()
    await ready.over.wait()
    listening.close()
    open_ones = dict(connections)
    for task, writer in open_ones.items():
        writer.transport.abort()  # nobody waits for what is not yet sent
        task.cancel()
    await asyncio.gather(*open_ones, return_exceptions=True)


@asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def exchange(server: ModelServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """One request and its answer. False when the connection is over."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    request = Request(method, target.partition("?")[0], headers, json.loads(body) if body else {})
    answer = await server.answer(request)
    content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
    more = {"content-type": "application/json", **answer.headers, "content-length": str(len(content))}
    told = "".join(f"{name}: {value}\r\n" for name, value in more.items())
    writer.write(f"HTTP/1.1 {answer.status} Said\r\n{told}\r\n".encode() + content[: answer.cut])
    await writer.drain()
    return answer.cut is None


__all__ = ["KEY", "MODEL", "Answer", "ModelServer", "Request", "error", "running", "verdict"]
