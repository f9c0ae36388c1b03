"""The client: one method for what scripts do most, and `get`, `post`, `rows` for everything else."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode

from concord_client import types

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


class Concord:
    """The API of one site with one token."""

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

    # projects

    def projects(self, **query: Any) -> Iterator[types.Project]:
        """The projects that one researches in."""
        return self.rows("projects", **query)

    def project(self, slug: str) -> types.Project:
        return cast(types.Project, self.get(f"projects/{slug}"))

    def make_project(self, name: str) -> types.Project:
        """A project, as the site's administration."""
        return cast(types.Project, self.post("projects", {"name": name}))

    def choose_project(self, slug: str) -> types.Project:
        """From now on new things go there, unless a write names another `project`."""
        return cast(types.Project, self.post(f"projects/{slug}/choose"))

    def members(self, slug: str, **query: Any) -> Iterator[types.Member]:
        """Who is in a project."""
        return self.rows(f"projects/{slug}/members", **query)

    def member(self, slug: str, user: str) -> types.Member:
        return cast(types.Member, self.get(f"projects/{slug}/members/{quote(user, safe='')}"))

    def add_member(self, slug: str, user: str, role: str) -> types.Member:
        """Give an account a role: owner, researcher or adjudicator. For owners, with a token of the scope admin."""
        return cast(types.Member, self.post(f"projects/{slug}/members", {"user": user, "role": role}))

    def change_member(self, slug: str, user: str, role: str) -> types.Member:
        """Give a member another role."""
        at = f"projects/{slug}/members/{quote(user, safe='')}"
        return cast(types.Member, self.send("PATCH", at, {"role": role}))

    def remove_member(self, slug: str, user: str) -> None:
        """Take a member out of a project."""
        self.send("DELETE", f"projects/{slug}/members/{quote(user, safe='')}")

    # material

    def import_file(self, path: str | Path, *, format: str, **told: str) -> types.Counts:
        """Bring a file in. `told` is what its format needs besides: source, study, judge; project and on_error."""
        return cast(types.Counts, self._upload("imports", path, {"format": format, **told}))

    def import_candidates(self, path: str | Path, *, on_error: str = "stop") -> types.Counts:
        """Bring a file of candidates in: profile_id, question, level and text on each line."""
        return cast(types.Counts, self._upload("candidates/imports", path, {"on_error": on_error}))

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

    # studies

    def studies(self, **query: Any) -> Iterator[types.Study]:
        """All studies; `state` and `kind` narrow them down."""
        return self.rows("studies", **query)

    def study(self, slug: str) -> types.Study:
        return cast(types.Study, self.get(f"studies/{slug}"))

    def create_study(self, name: str, *, kind: str, **options: Any) -> types.Study:
        """A draft without items. `options` are those of the API: criteria, overlap, seed, …"""
        return cast(types.Study, self.post("studies", {"name": name, "kind": kind, **options}))

    def draw(self, slug: str, **options: Any) -> types.Sample:
        """Draw items into a draft: method, size, strata, filters, seed."""
        return cast(types.Sample, self.post(f"studies/{slug}/samples", options))

    def add_annotators(self, slug: str, usernames: Sequence[str]) -> list[Json]:
        return cast(list[Json], self.post(f"studies/{slug}/annotators", {"annotators": list(usernames)}))

    def open_study(self, slug: str) -> types.Study:
        return cast(types.Study, self.post(f"studies/{slug}/open"))

    def close_study(self, slug: str) -> types.Study:
        return cast(types.Study, self.post(f"studies/{slug}/close"))

    def items(self, slug: str, **query: Any) -> Iterator[types.Item]:
        return self.rows(f"studies/{slug}/items", **query)

    # labels

    def annotations(self, slug: str, **query: Any) -> Iterator[types.Label]:
        """People's labels; criterion, rater, position and counting narrow them down."""
        return self.rows(f"studies/{slug}/annotations", **query)

    def add_annotations(
        self, slug: str, labels: Sequence[Mapping[str, str]], *, on_error: str = "stop"
    ) -> types.Counts:
        """Bring labels in: item, rater, criterion, value or reason, order."""
        body = {"labels": [dict(one) for one in labels], "on_error": on_error}
        return cast(types.Counts, self.post(f"studies/{slug}/annotations", body))

    def download_labels(self, slug: str, path: str | Path, *, format: str = "csv") -> None:
        """All labels, people's and judges', into a file, piece by piece."""
        self._download(f"studies/{slug}/labels.{format}", path)

    # the queue of a study

    def queue(self, slug: str) -> types.Rules:
        """The rules by which checks and repeats are mixed in, how much one person rates, and the pass mark."""
        return cast(types.Rules, self.get(f"studies/{slug}/queue"))

    def set_queue(self, slug: str, **rules: float | None) -> types.Rules:
        """Set check_every, repeat_every, repeat_after, item_limit or pass_mark; what is not named stays."""
        return cast(types.Rules, self.send("PATCH", f"studies/{slug}/queue", rules))

    def known_items(self, slug: str, **query: Any) -> Iterator[types.KnownItem]:
        """Items with known answers; `purpose` narrows them down, `retired=True` adds those that are."""
        return self.rows(f"studies/{slug}/known", **query)

    def name_known(self, slug: str, purpose: str, items: Sequence[Mapping[str, Any]], *, round: int = 1) -> int:
        """Name items with their right answers: {"item": id, "answers": {criterion: {"value": …}}}. How many are."""
        body = {"purpose": purpose, "round": round, "items": [dict(one) for one in items]}
        return int(self.post(f"studies/{slug}/known", body)["n"])

    def name_decided(self, slug: str, purpose: str, decided_in: str, *, round: int = 1) -> int:
        """Name what was decided in a study. How many are."""
        body = {"purpose": purpose, "round": round, "decided_in": decided_in}
        return int(self.post(f"studies/{slug}/known/decided", body)["n"])

    def retire_known(self, slug: str, number: int) -> None:
        """Hand a known item out no more."""
        self.send("DELETE", f"studies/{slug}/known/{number}")

    def admissions(self, slug: str, **query: Any) -> Iterator[types.Admission]:
        """Results of the qualification and decisions on them, oldest first: the newest of somebody holds."""
        return self.rows(f"studies/{slug}/admissions", **query)

    def admit(self, slug: str, annotator: str, *, reason: str, again: bool = False) -> types.Admission:
        """Let somebody through to the work; with `again` let them try once more."""
        body = {"annotator": annotator, "decision": "again" if again else "admit", "reason": reason}
        return cast(types.Admission, self.post(f"studies/{slug}/admissions", body))

    # coming in

    def invitations(self, slug: str, **query: Any) -> Iterator[types.Invitation]:
        """Links into a study, without the links."""
        return self.rows(f"studies/{slug}/invitations", **query)

    def invite(self, slug: str, **options: Any) -> types.MadeInvitation:
        """A link into a study: max_uses, expires_at, platform, note. `token` and `path` are told this once."""
        return cast(types.MadeInvitation, self.post(f"studies/{slug}/invitations", options))

    def revoke_invitation(self, slug: str, number: int) -> None:
        """Let nobody join by a link any more."""
        self.send("DELETE", f"studies/{slug}/invitations/{number}")

    def intake(self, slug: str) -> types.Intake:
        """How people come in, what they agree to, and what they get at the end."""
        return cast(types.Intake, self.get(f"studies/{slug}/intake"))

    def set_intake(self, slug: str, **settings: Any) -> types.Intake:
        """Set is_public, completion_code, completion_url or consent_text; what is not named stays."""
        return cast(types.Intake, self.send("PATCH", f"studies/{slug}/intake", settings))

    def participants(self, slug: str) -> list[types.Participant]:
        """Who is or was in a study, by which way, and what they decided."""
        return cast("list[types.Participant]", self.get(f"studies/{slug}/participants"))

    def withdraw(self, slug: str, annotator: str) -> Json:
        """Erase all that somebody gave in a study, because they asked for it."""
        return cast(Json, self.post(f"studies/{slug}/participants/{quote(annotator, safe='')}/withdraw"))

    def questions(self, slug: str) -> list[types.Question]:
        """What people are asked about themselves."""
        return cast("list[types.Question]", self.get(f"studies/{slug}/questions"))

    def add_question(self, slug: str, text: str, options: Sequence[str], *, key: str = "") -> types.Question:
        body = {"text": text, "options": list(options), "key": key}
        return cast(types.Question, self.post(f"studies/{slug}/questions", body))

    def remove_question(self, slug: str, key: str) -> int:
        """Ask it no more. Returns how many answers were erased."""
        return int(self.send("DELETE", f"studies/{slug}/questions/{key}")["erased"])

    # what was done

    def acts(self, **query: Any) -> Iterator[types.Act]:
        """What researchers did, newest first; person, study, verb, since and until narrow it down."""
        return self.rows("acts", **query)

    # one's own work

    def next_item(self, slug: str, holding: Sequence[int] = ()) -> types.Assignment | None:
        """The next item to rate; None when nothing is left."""
        return cast("types.Assignment | None", self.post(f"work/{slug}/next", {"holding": list(holding)}))

    def submit(self, assignment: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Hand labels in: by the name of the ask, a value or an unscored_reason, perhaps a note."""
        self.send("PUT", f"work/items/{assignment}/answers", {"answers": {k: dict(v) for k, v in answers.items()}})

    # judges and results

    def define_judge(self, name: str, *, provider: str, **settings: Any) -> types.Judge:
        """The judge with just these settings; a new version if there is none."""
        return cast(types.Judge, self.post("judges", {"name": name, "provider": provider, **settings}))

    def start_run(self, slug: str, *, judge: int, **options: Any) -> types.Run:
        return cast(types.Run, self.post(f"studies/{slug}/runs", {"judge": judge, **options}))

    def progress(self, run: int) -> types.Progress:
        return cast(types.Progress, self.get(f"runs/{run}/progress"))

    def judgments(self, run: int, **query: Any) -> Iterator[types.Judgment]:
        return self.rows(f"runs/{run}/judgments", **query)

    def agreement(self, slug: str, **query: Any) -> Json:
        """What `agreement --study NAME --json` prints."""
        return cast(Json, self.get(f"studies/{slug}/agreement", **query))

    def gold(self, slug: str, **query: Any) -> Json:
        return cast(Json, self.get(f"studies/{slug}/gold", **query))

    def cascade(self, slug: str, judges: Sequence[int], **query: Any) -> Json:
        """What `cascade --study NAME --json` prints: what judges keep one after the other, and what is left."""
        return cast(Json, self.get(f"studies/{slug}/cascade", judges=",".join(map(str, judges)), **query))

    def escalate_cascade(self, slug: str, judges: Sequence[int], name: str, **options: Any) -> Json:
        """A study of what a cascade leaves to people: target, delta, overlap."""
        body = {"judges": list(judges), "name": name, **options}
        return cast(Json, self.post(f"studies/{slug}/cascade/escalations", body))

    def plan_labels(self, slug: str, judge: int, *, criterion: str, width: float, **query: Any) -> Json:
        """What `plan_labels --json` prints: how many labels an interval of this width takes, and which are next."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/plan", criterion=criterion, width=width, **query))

    def study_of_plan(
        self, slug: str, judge: int, name: str, *, criterion: str, width: float, **options: Any
    ) -> types.LabelPlan:
        """A study of the items that a plan draws: by, confidence, seed, overlap."""
        body = {"name": name, "criterion": criterion, "width": width, **options}
        return cast(types.LabelPlan, self.post(f"studies/{slug}/judges/{judge}/plan", body))

    # benchmarks

    def benchmarks(self, **query: Any) -> Iterator[types.Benchmark]:
        """All versions of all benchmarks; `name` and `state` narrow them down."""
        return self.rows("benchmarks", **query)

    def build_benchmark(self, study: str, name: str, **options: Any) -> types.Benchmark:
        """A draft from the votes of a study. `options` are those of the API: version, cuts, pooled, splits, …"""
        return cast(types.Benchmark, self.post("benchmarks", {"study": study, "name": name, **options}))

    def cases(self, slug: str, **query: Any) -> Iterator[types.Case]:
        """A benchmark's cases; kind, tier, split, only and q narrow them down."""
        return self.rows(f"benchmarks/{slug}/cases", **query)

    def release_benchmark(self, slug: str) -> types.Benchmark:
        return cast(types.Benchmark, self.post(f"benchmarks/{slug}/release"))

    def download_benchmark(self, slug: str, path: str | Path) -> None:
        """The folder of a released benchmark as a ZIP file, piece by piece."""
        self._download(f"benchmarks/{slug}/release.zip", path)

    def evaluate(
        self, slug: str, *, judges: Sequence[int], settings: Sequence[str], key: str | None = None, **options: Any
    ) -> types.Evaluation:
        """Begin an evaluation: each judge answers in each setting. `options` are those of the API: size, tiers, …"""
        body = {"judges": list(judges), "settings": list(settings), **options}
        return cast(types.Evaluation, self.post(f"benchmarks/{slug}/evaluations", body, key=key))

    def evaluation_results(self, evaluation: int) -> Json:
        """What `benchmark_results NAME --json` prints."""
        return cast(Json, self.get(f"evaluations/{evaluation}/results"))

    # webhooks

    def add_webhook(self, url: str, events: Sequence[str]) -> types.Webhook:
        """With the secret of its signatures, which is not told again."""
        return cast(types.Webhook, self.post("webhooks", {"url": url, "events": list(events)}))

    # how it is sent

    def _download(self, at: str, path: str | Path) -> None:
        with self._sent("GET", self._url(at, {})) as answer, Path(path).open("wb") as file:
            while piece := answer.read(1 << 16):
                file.write(piece)

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
    except ValueError:
        return {"detail": content[:500].decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"detail": str(found)}
