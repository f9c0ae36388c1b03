"""How requests are sent: any operation of the API, pages of lists, files, and what is wrong in words."""

from __future__ import annotations

import json
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

Json = dict[str, Any]
VERSION = "/api/v1"
RETRIES = 3
LONGEST_WAIT = 60
"""Seconds that a `Retry-After` of the site can hold a request up."""

OMITTED: Any = ...
"""Default of an argument that is not sent. None is sent, as null, and means what the API says of null."""


class ProblemError(Exception):
    """The API refused. `status` is that of HTTP; file, line and field say where, as far as that is known."""

    def __init__(self, status: int, problem: Json) -> None:
        self.status = status
        self.detail: str = str(problem.get("detail", ""))
        self.file: str | None = problem.get("file")
        self.line: int | None = problem.get("line")
        self.field: str | None = problem.get("field")
        self.errors: list[dict[str, str]] = list(problem.get("errors", []))
        place = ", ".join(str(part) for part in (self.file, self.line, self.field) if part is not None)
        super().__init__(f"{status} {place}: {self.detail}" if place else f"{status} {self.detail}")


class Transport:
    """The API of one site with one token, operation by operation.

    Every request is sent again, at most three times, where the connection breaks or the site is busy. A write carries
    an Idempotency-Key, so that it is done once however often it arrives.
    """

    def __init__(self, address: str, *, token: str, timeout: float = 60.0) -> None:
        if not address.startswith(("http://", "https://")):
            raise ValueError("an address begins with http:// or https://")
        self.address, self.token, self.timeout = address.rstrip("/"), token, timeout
        self._session = requests.Session()
        self._session.auth = self._authorize
        retries = Retry(
            RETRIES,
            backoff_factor=0.5,
            allowed_methods=None,  # also writes: each has its key
            status_forcelist=(429, 502, 503, 504),
            raise_on_status=False,
            retry_after_max=LONGEST_WAIT,
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retries))

    # any operation of the OpenAPI document

    def get(self, path: str, /, **query: object) -> Any:
        """Return the answer of `GET /api/v1/PATH`."""
        return decode_json(self._sent("GET", self._url(path, query)))

    def rows(self, path: str, /, **query: object) -> Iterator[Any]:
        """Yield every row of a list, page by page as they are asked for.

        Of the address of the next page the query is used: behind a proxy, the site may know itself by another name.
        """
        here, asked = self._url(path, {}), self._url(path, {"limit": 500, **drop_omitted(query)})
        while asked:
            page = decode_json(self._sent("GET", asked))
            yield from page["results"]
            asked = page["next"] and f"{here}?{urllib.parse.urlsplit(page['next']).query}"

    def send(self, method: str, path: str, body: object = None, *, key: str | None = None) -> Any:
        """Write under an Idempotency-Key, a new one unless `key` is given, and return the answer."""
        sent = drop_omitted(body) if isinstance(body, dict) else body
        return decode_json(self._written(method, path, key, json={} if sent is None else sent))

    def post(self, path: str, body: object = None, *, key: str | None = None) -> Any:
        """Return the answer of `POST /api/v1/PATH`."""
        return self.send("POST", path, body, key=key)

    # how it is sent

    def _upload(self, at: str, path: str | Path, fields: Mapping[str, object], *, key: str | None = None) -> Any:
        file = Path(path).name, Path(path).read_bytes()  # whole, so that it can be sent again
        return decode_json(self._written("POST", at, key, data=drop_omitted(fields), files={"file": file}))

    def _download(self, at: str, path: str | Path, **query: object) -> None:
        """Write the whole file, or none: it is sent while it is made, and the connection may break before its end."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.part")
        try:
            with self._sent("GET", self._url(at, query), stream=True) as answer, partial.open("wb") as file:
                file.writelines(answer.iter_content(1 << 16))
            partial.replace(target)
        except requests.exceptions.ChunkedEncodingError as error:
            raise ConnectionError(f"{at}: the download broke off before its end") from error
        finally:
            partial.unlink(missing_ok=True)

    def _url(self, path: str, query: Mapping[str, object]) -> str:
        texts = {
            name: ",".join(map(str, value)) if isinstance(value, list | tuple) else value
            for name, value in drop_omitted(query).items()
            if value is not None
        }
        return f"{self.address}{VERSION}/{path.strip('/')}" + (f"?{urllib.parse.urlencode(texts)}" if texts else "")

    def _written(self, method: str, path: str, key: str | None, **content: Any) -> requests.Response:
        return self._sent(method, self._url(path, {}), headers={"Idempotency-Key": key or uuid.uuid4().hex}, **content)

    def _sent(self, method: str, url: str, **content: Any) -> requests.Response:
        if not url.startswith(f"{self.address}/"):
            raise ValueError(f"{url} is not an address of {self.address}: the token is not sent there")
        content |= {"timeout": self.timeout, "allow_redirects": method == "GET"}
        for left in reversed(range(RETRIES + 1)):
            try:
                answer = self._session.request(method, url, **content)
                break
            except requests.exceptions.ChunkedEncodingError:  # it broke off within the answer
                if not left:
                    raise
        if not 200 <= answer.status_code < 300:
            with answer:
                raise ProblemError(answer.status_code, read_problem(answer))
        return answer

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request


def quote(part: str) -> str:
    """Return a name as one part of an address."""
    return urllib.parse.quote(part, safe="")


def drop_omitted(given: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if value is not OMITTED}


def decode_json(answer: requests.Response) -> Any:
    with answer:
        try:
            return json.loads(answer.content) if answer.content else None
        except ValueError as error:  # of a proxy, or of another site
            raise ProblemError(answer.status_code, {"detail": f"No JSON came: {answer.text[:500]}"}) from error


def read_problem(answer: requests.Response) -> Json:
    """Return the problem document; what a proxy said instead is told as it is."""
    if address := answer.headers.get("Location"):
        return {"detail": f"The site sends on to {address}. Use that address."}
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        return {"detail": answer.content[:500].decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"detail": str(found)}
