"""Certificates: what was found of a judge, under which rules, sealed by a hash; and whether it still holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotation.hashing import content_hash
from annotation.models import Study, User
from annotation.services.acts import act, saving
from annotation.version import code_version
from judging.models import AuditRun, CalibrationRun, Certificate, Judge
from judging.queries import certificates as queries
from judging.services.trust import cascade_records, escalation, holding_out
from judging.services.trust.trusting import Trusted
from judging.services.trust.verdicts import CriterionVerdict

FORMAT = "concord-judge-certificate/1"
HOLDS, EXPIRED, ALTERED, UNKNOWN = "holds", "expired", "altered", "unknown"
LARGEST = 2**63
"""Beyond the number of any row."""

KEPT = ("labels", "n_labelled", "n_unlabelled", "unscored", "selective", "confidence_from")
"""What of a criterion's calibration is on the certificate beside the verdict."""


@dataclass(frozen=True)
class Checked:
    """Whether a certificate holds.

    Attributes
    ----------
    state
        holds; expired (judge, prompt or items changed); altered (the seal is broken); unknown (made elsewhere).
    problems
        Why it does not hold, in words.
    """

    state: str
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {"state": self.state, "holds": self.state == HOLDS, "problems": list(self.problems)}


@act("certificate.issue", says=("found.judge",), prepares=True)
def issue(*, by: User | None, found: Trusted) -> Certificate:
    """The certificate of what was found, under its rules; the newest one if it says just this."""
    content = _plain(_content(found))
    with saving() as done:
        newest = queries.newest_of(found.study, found.judge)
        if newest and _without_date(newest.content) == content:
            done.result = newest
            return newest
        dated = {**content, "issued_at": timezone.now().isoformat(timespec="seconds")}
        made = done.result = Certificate.objects.create(
            study=found.study, judge=found.judge, content=dated, sha256=content_hash(dated), created_by=by
        )
    return made


def document(certificate: Certificate) -> dict[str, Any]:
    """The certificate as a file: its content and the seal."""
    return {"content": certificate.content, "sha256": certificate.sha256}


def check(found: Mapping[str, Any]) -> Checked:
    """Whether a certificate's file is unaltered, and judge, prompts and items are still those that it speaks of."""
    content, seal = found.get("content"), found.get("sha256")
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        return Checked(UNKNOWN, (f"this is no certificate of the format {FORMAT}",))
    if content_hash(content) != seal:
        return Checked(ALTERED, ("the content does not match its SHA-256: it was changed after it was issued",))
    if not _is_whole(content):
        return Checked(UNKNOWN, ("it lacks something that a certificate of this format says",))
    study = Study.objects.filter(name=content["study"]["name"]).first()
    judge = queries.judge_named(content["judge"]["name"], content["judge"]["version"])
    if study is None or judge is None:
        gone = "study" if study is None else "judge"
        return Checked(UNKNOWN, (f"its {gone} is not in this database: whether it still holds cannot be told",))
    problems = tuple(_changes(content, study, judge))
    return Checked(EXPIRED if problems else HOLDS, problems)


def _is_whole(content: Mapping[str, Any]) -> bool:
    """Whether all is there that it is held to. The seal is no signature: anybody can seal what they wrote."""
    try:
        judge, items = content["judge"], content["items"]
        texts = [content["study"]["name"], judge["name"], judge["hash"], items["hash"], *content["prompts"]]
        numbers = [judge["version"], items["n"], *content["runs"]]
    except (KeyError, TypeError):
        return False
    is_text = all(isinstance(one, str) for one in texts)
    return is_text and all(type(one) is int and 0 <= one < LARGEST for one in numbers)


def _changes(content: Mapping[str, Any], study: Study, judge: Judge) -> Iterator[str]:
    if judge_hash(judge) != content["judge"]["hash"]:
        yield "the judge's provider, model or parameters are not those that were certified"
    newest = queries.newest_version(judge)
    if newest > judge.version:
        yield f"there is a newer version of the judge (v{newest})"
    today = queries.prompts_today(content["runs"])
    if today and not today <= set(content["prompts"]):
        yield "the prompt that the judge is asked with has changed"
    n, items = queries.item_set(study)
    if items != content["items"]["hash"]:
        yield f"the study's items have changed: {n} now, {content['items']['n']} then, or their text was edited"


def judge_hash(judge: Judge) -> str:
    """Of all that a judge is, apart from its name."""
    return content_hash([judge.provider, judge.model, judge.parameters])


def _content(found: Trusted) -> dict[str, Any]:
    judge, study, calibration = found.judge, found.study, found.calibration
    criteria = calibration.result["criteria"]
    runs = sorted({one["run"] for one in criteria.values()})
    n, items = queries.item_set(study)
    first, last = queries.judged_between(runs)
    escalated = escalation.newest(study, judge)
    return {
        "format": FORMAT,
        "study": {"name": study.name, "kind": study.kind},
        "judge": {
            "name": judge.name,
            "version": judge.version,
            "kind": judge.kind,
            "provider": judge.provider,
            "model": judge.model,
            "hash": judge_hash(judge),
        },
        "prompts": calibration.result["prompts"],
        "items": {"n": n, "hash": items},
        "runs": runs,
        "judged": [time.isoformat(timespec="seconds") if time else None for time in (first, last)],
        "criteria": {
            one.key: {**_criterion(one, criteria[one.key]), "probes": _probes(found.audit.result["criteria"][one.key])}
            for one in found.verdicts
        },
        "escalation": escalation.came_back(escalated, found.evidence) if escalated else None,
        "cascade": cascade_records.of_judge(found.evidence),
        "left_out": list(found.evidence.left_out),
        "held_out": holding_out.record(study, judge, found.part),
        "rules": found.rules.as_json(),
        "calibration": _run(calibration),
        "audit": _run(found.audit),
        "code_version": code_version(),
    }


def _criterion(found: CriterionVerdict, calibration: Mapping[str, Any]) -> dict[str, Any]:
    verdict = {name: part for name, part in found.as_json().items() if name != "rules"}
    tiers = {tier: {"decision": one.decision, "n_items": found.counts[tier]} for tier, one in found.tiers.items()}
    return {**verdict, "tiers": tiers, **{name: calibration[name] for name in KEPT}}


def _probes(audit: Mapping[str, Any]) -> dict[str, str]:
    """By probe, whether it found something: found, not found, or not made."""
    said = {True: "found", False: "not found", None: "not made"}
    return {one["name"]: said[one["found"]] for one in audit["probes"]}


def _run(run: CalibrationRun | AuditRun) -> dict[str, Any]:
    return {
        "id": run.pk,
        "input_hash": run.input_hash,
        "parameters": run.parameters,
        "seed": run.seed,
        "code_version": run.code_version,
        "computed_at": run.created_at.isoformat(timespec="seconds"),
    }


def _plain(value: Any) -> Any:
    """The same in the types that come back from any database: lists for tuples, and no zero with a minus sign."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value + 0.0 if isinstance(value, float) else value


def _without_date(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in content.items() if name != "issued_at"}
