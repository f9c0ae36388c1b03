"""How requests are sent: any operation of the API, pages of lists, files, and what is wrong in words."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from http.client import IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

Json = dict[str, Any]
TRIES = 3
VERSION = "/api/v1"


class ProblemError(Exception):
    """The API refused. `status` is that of HTTP; file, line and field say where, as far as that is known."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.detail: str = str(problem.get("detail", ""))
        self.file: str | None = problem.get("file")
        self.line: int | None = problem.get("line")
        self.field: str | None = problem.get("field")
        self.errors: list[dict[str, str]] = list(problem.get("errors", []))
        place = ", ".join(str(part) for part in (self.file, self.line, self.field) if part is not None)
        super().__init__(f"{status} {place}: {self.detail}" if place else f"{status} {self.detail}")


def pieces(answer: Any) -> Iterator[bytes]:
    """What an answer holds. Raises IncompleteRead where announced bytes did not come: `read` alone is silent then."""
    while piece := answer.read(1 << 16):
        yield piece
    if answer.length:
        raise IncompleteRead(b"", answer.length)


class Transport:
    """The API of one site with one token, operation by operation."""

    def __init__(self, address: str, *, token: str, timeout: float = 60.0) -> None:
        if not address.startswith(("http://", "https://")):
            raise ValueError("an address begins with http:// or https://")
        self.address, self.token, self.timeout = address.rstrip("/"), token, timeout

    # any operation of the OpenAPI document

    def get(self, path: str, **query: Any) -> Any:
        """The answer of `GET /api/v1/PATH`."""
        return self._json(self._sent("GET", self._url(path, query)))

    def rows(self, path: str, **query: Any) -> Iterator[Any]:
        """Every row of a list, page by page as they are asked for."""
        following: str | None = self._url(path, {"limit": 500, **query})
        while following:
            page = self._json(self._sent("GET", following))
            yield from page["results"]
            following = page["next"]

    def send(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """A write, under a key of its own unless one is given."""
        content = json.dumps({} if body is None else body).encode()
        return self._json(self._written(method, path, content, "application/json", key))

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """The answer of `POST /api/v1/PATH`."""
        return self.send("POST", path, body, key=key)

    # how it is sent

    def _upload(self, at: str, path: str | Path, fields: Mapping[str, str]) -> Any:
        boundary = uuid.uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quote(Path(path).name)}"\r\n'
        parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(), Path(path).read_bytes()]
        body = b"".join([*parts, f"\r\n--{boundary}--\r\n".encode()])
        kind = f"multipart/form-data; boundary={boundary}"
        return self._json(self._written("POST", at, body, kind, None))

    def _download(self, at: str, path: str | Path) -> None:
        """The file whole, or none: a file is sent while it is made, and the connection may break before its end."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.part")
        try:
            with self._sent("GET", self._url(at, {})) as answer, beside.open("wb") as file:
                file.writelines(pieces(answer))
            beside.replace(target)
        except IncompleteRead as error:
            raise ConnectionError(f"{at}: the download broke off before its end") from error
        finally:
            beside.unlink(missing_ok=True)

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        asked = urlencode({name: value for name, value in query.items() if value is not None})
        return f"{self.address}{VERSION}/{path.strip('/')}" + (f"?{asked}" if asked else "")

    def _written(self, method: str, path: str, body: bytes, kind: str, key: str | None) -> Any:
        """Sent again under the same key where the connection broke before the answer."""
        headers = {"Content-Type": kind, "Idempotency-Key": key or uuid.uuid4().hex}
        for left in reversed(range(TRIES)):
            try:
                return self._sent(method, self._url(path, {}), body, headers)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if not left:
                    raise
        return None

    def _sent(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Any:
        if not url.startswith(f"{self.address}/"):
            raise ValueError(f"{url} is not an address of {self.address}: the token is not sent there")
        given = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        request = urllib.request.Request(url, data=body, method=method, headers=given)  # noqa: S310
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)  # noqa: S310  # nosec B310 # the site's, as checked
        except urllib.error.HTTPError as error:
            with error:
                raise ProblemError(error.code, problem_in(error.read())) from None

    @staticmethod
    def _json(answer: Any) -> Any:
        with answer:
            content = answer.read()
        return json.loads(content) if content else None


def problem_in(content: bytes) -> Json:
    """The problem document; what a proxy said instead is told as it is."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {"detail": content[:500].decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"detail": str(found)}
