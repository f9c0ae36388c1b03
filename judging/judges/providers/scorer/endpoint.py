"""A scorer behind an address: POST {"persona", "question", "response"}, answered by {"score": number}.

What is NaN, null or not a number is an answer without a score. An answer that is not a JSON object, or has no score,
is a fault of the server that may pass, as are its 5xx, 429 and silence. The key is the project's for that address,
else CONCORD_SCORER_KEY, which goes to the address that CONCORD_SCORER_ADDRESS names and to this machine only. It is
sent as a bearer token, over https or to this machine.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.addresses import ForbiddenAddressError, Rule, check
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers.base import list_objections
from judging.judges.providers.calls import NO_ANSWER, failure, patiently
from judging.judges.providers.keys import origin, redact_key
from judging.judges.providers.scorer.protocol import Score, Scorer, to_score

if TYPE_CHECKING:
    from httpx2 import AsyncClient

KEY, ADDRESS = "CONCORD_SCORER_KEY", "CONCORD_SCORER_ADDRESS"
HERE = ("localhost", "127.0.0.1", "::1")
MOST_BYTES = 1_000_000


class Endpoint(Scorer):
    is_asked = True
    made: AsyncClient | None = None

    def problems(self) -> list[str]:
        parts = urlsplit(self.parameters.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return ["an endpoint needs the parameter url, such as http://localhost:9000/score"]
        if forbidden := list_objections(lambda: check(self.parameters.url, Rule.build_model_rule())):
            return forbidden
        unreadable = self.keys.problem(self.parameters.url)
        return [unreadable] if unreadable else []

    async def score(self, persona: str, question: str, response: str, *, seed: int = 0) -> Score:  # noqa: ARG002
        asked = {"persona": persona, "question": question, "response": response}
        return await patiently(lambda: self.request_score(asked), retries=self.parameters.max_retries)

    async def request_score(self, body: dict[str, str]) -> Score:
        """One call."""
        import httpx2

        try:
            answer = await self.client().post(self.parameters.url, json=body)
        except httpx2.TimeoutException as error:
            raise TransientError(f"No answer within {self.parameters.timeout:g} s.") from error
        except httpx2.HTTPError as error:
            raise TransientError(f"No connection: {error}") from error
        except ForbiddenAddressError as error:
            raise PermanentError(str(error)) from error
        if answer.is_redirect:
            raise PermanentError(f"{answer.status_code}: it points elsewhere, and redirects are not followed.")
        if answer.status_code >= 400:
            raise failure(answer.status_code, redact_key(self.key, answer.text)[:200], answer.headers)
        return parse_score(answer.content)

    def client(self) -> AsyncClient:
        from judging.judges.providers import reaching

        if self.made is None:
            self.made = reaching.client(
                self.parameters.url, Rule.build_model_rule(), timeout=self.parameters.timeout, headers=self.headers()
            )
        return self.made

    def headers(self) -> dict[str, str]:
        parts, key = urlsplit(self.parameters.url), self.key
        safe = parts.scheme == "https" or parts.hostname in HERE
        return {"authorization": f"Bearer {key}"} if key and safe else {}

    @property
    def key(self) -> str:
        """Of this address; empty where there is none for it."""
        url = self.parameters.url
        named = os.environ.get(ADDRESS, "")
        own = urlsplit(url).hostname in HERE or (named and origin(named) == origin(url))
        return self.keys.find_key(url, KEY if own else "")

    async def aclose(self) -> None:
        made, self.made = self.made, None
        if made is not None:
            await made.aclose()


def parse_score(content: bytes) -> Score:
    """The score in an answer. TransientError where the answer is none."""
    try:
        found: object = json.loads(content[:MOST_BYTES])
    except (ValueError, RecursionError) as error:
        raise TransientError(f"{NO_ANSWER}: {error}") from error
    if not isinstance(found, dict) or "score" not in found:
        raise TransientError(f"{NO_ANSWER}: no score in {str(found)[:100]}")
    if found["score"] is None:
        return Score(math.nan, "the endpoint answered null.")
    return to_score(found["score"])
