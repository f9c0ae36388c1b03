"""Certificates: what was found of a judge, under which rules, signed; and revoked where that proved to be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash, digest
from core.version import code_version
from judging.assessment import signing
from judging.assessment.canonical_json import LARGEST_INTEGER, to_canonical_bytes
from judging.assessment.models.assessment import AuditRun, CalibrationRun, Certificate, Revocation
from judging.assessment.queries import certificates as queries
from judging.assessment.result_types import CertificateDocument, CriterionAuditDocument, CriterionCalibrationDocument
from judging.assessment.services import cascade_records, escalation, hold_out
from judging.assessment.services.assessment import Assessment
from judging.assessment.services.verdicts import CriterionVerdict
from judging.judges.models import Judge

FORMAT = "concord-judge-certificate/2"

KEPT: Final = (
    "labels",
    "n_labelled",
    "n_unlabelled",
    "unscored",
    "selective",
    "confidence_from",
    "headline",
    "dependence",
    "second_opinion",
)
"""What of a criterion's calibration is on the certificate beside the verdict."""

LONGEST_REASON = 2000


@audited("certificate.issue", says=("found.judge",), prepares=True)
def issue(*, by: User | None, found: Assessment) -> Certificate:
    """The certificate of what was found, under its rules, signed; the newest one if it says just this and holds."""
    content, key = {name: _plain(part) for name, part in _content(found).items()}, signing.load_keys()[0]
    with audit_transaction() as done:
        newest = queries.find_newest(found.study, found.judge)
        if newest and _without_date(newest.content) == content and _stands(newest, key):
            done.result = newest
            return newest
        dated = {**content, "issued_at": timezone.now().isoformat(timespec="milliseconds")}
        signed = to_canonical_bytes(dated)
        key, signature = signing.sign(signed)
        made = done.result = Certificate.objects.create(
            study=found.study,
            judge=found.judge,
            content=dated,
            sha256=digest(signed),
            public_key=key.hex,
            signature=signature.hex(),
            created_by=by,
        )
    return made


def _stands(certificate: Certificate, key: signing.Key) -> bool:
    """Whether it was signed with the key of today, and is not revoked."""
    return certificate.public_key == key.hex and not hasattr(certificate, "revocation")


@audited("certificate.revoke", on="certificate", says=("reason",))
def revoke(*, by: User | None, certificate: Certificate, reason: str) -> Revocation:
    """Say that the certificate does not hold any more, for good. Raises InputError without a reason, and twice."""
    reason = reason.strip()
    if not reason:
        raise InputError("Say why it is revoked.", field="reason")
    if len(reason) > LONGEST_REASON:
        raise InputError(
            "A reason has at most {longest_reason} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    try:
        with transaction.atomic():
            return Revocation.objects.create(certificate=certificate, reason=reason, created_by=by)
    except IntegrityError as error:
        raise InputError("It is revoked already.", field="sha256") from error


@audited("signing_key.rotate")
def rotate_key(*, by: User | None) -> dict[str, int]:  # noqa: ARG001 - on record
    """Sign with a new key from now on; what older keys signed is still believed."""
    signing.rotate()
    return {"keys": len(signing.read_keys())}


def list_keys() -> list[dict[str, str | bool]]:
    """The public keys that check this site's certificates: the one that signs, then those before it."""
    keys = signing.load_keys()
    return [{"key_id": key.key_id, "public_key": key.hex, "signs": place == 0} for place, key in enumerate(keys)]


def document(certificate: Certificate) -> CertificateDocument:
    """The certificate as a file: its content, the content's hash, and the signature with the key that checks it."""
    written: CertificateDocument = {"content": certificate.content, "sha256": certificate.sha256}
    if not certificate.signature:
        return written  # it was issued before certificates were signed
    signature = {
        "algorithm": signing.ALGORITHM,
        "key_id": signing.name_key(bytes.fromhex(certificate.public_key)),
        "public_key": certificate.public_key,
        "value": certificate.signature,
    }
    return {**written, "signature": signature}


def judge_hash(judge: Judge) -> str:
    """Of all that a judge is, apart from its name."""
    return content_hash([judge.provider, judge.model, judge.parameters])


def _content(found: Assessment) -> dict[str, object]:
    judge, study, calibration = found.judge, found.study, found.calibration
    criteria, audits = calibration.document["criteria"], found.audit.document["criteria"]
    runs = sorted({one["run"] for one in criteria.values()})
    n, items = queries.item_set(study)
    first, last = queries.load_judging_period(runs)
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
        "prompts": calibration.document["prompts"],
        "items": {"n": n, "hash": items},
        "runs": runs,
        "judged": [time.isoformat(timespec="seconds") if time else None for time in (first, last)],
        "criteria": {
            one.key: {
                **_criterion(one, criteria[one.key]),
                "probes": _probes(audits[one.key]),
            }
            for one in found.verdicts
        },
        "escalation": escalation.summarise_return(escalated, found.evidence) if escalated else None,
        "cascade": cascade_records.compute_judge(found.evidence),
        "left_out": list(found.evidence.left_out),
        "held_out": hold_out.record(study, judge, found.part),
        "rules": found.rules.to_json(),
        "rules_on_record": found.held_to.to_json(),
        "is_success": found.is_success,
        "calibration": _run(calibration),
        "audit": _run(found.audit),
        "code_version": code_version(),
    }


def _criterion(found: CriterionVerdict, calibration: CriterionCalibrationDocument) -> dict[str, object]:
    verdict = {name: part for name, part in found.to_json().items() if name != "rules"}
    tiers = {tier: {"decision": one.decision, "n_items": found.counts[tier]} for tier, one in found.tiers.items()}
    return {**verdict, "tiers": tiers, **{name: calibration[name] for name in KEPT}}


def _probes(audit: CriterionAuditDocument) -> dict[str, str]:
    """By probe, whether it found something: found, not found, or not made."""
    said = {True: "found", False: "not found", None: "not run"}
    return {one["name"]: said[one["found"]] for one in audit["probes"]}


def _run(run: CalibrationRun | AuditRun) -> dict[str, object]:
    return {
        "id": run.pk,
        "input_hash": run.input_hash,
        "parameters": run.parameters,
        "seed": run.seed,
        "code_version": run.code_version,
        "computed_at": run.created_at.isoformat(timespec="seconds"),
    }


def _plain(value: object) -> object:
    """The same in types that come back alike from any database and any reader of JSON.

    Lists stand for tuples; a zero has no minus sign; a whole number beyond what a double holds is a text.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return str(value)
    return value + 0.0 if isinstance(value, float) else value


def _without_date(content: Mapping[str, object]) -> dict[str, object]:
    return {name: part for name, part in content.items() if name != "issued_at"}
