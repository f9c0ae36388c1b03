"""The rules of a study's verdicts: set before anybody looks, locked at the first look, changed only on record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _, gettext_noop

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import VERBS, audited, record_always
from core.errors import InputError
from judging.assessment.models.assessment import AuditRun, CalibrationRun, Look
from judging.assessment.models.rules import VerdictRules
from judging.assessment.result_types import (
    RuleChange,
    RulesLookDocument,
    RulesRecordDocument,
    StudyRulesDocument,
    SuccessDocument,
)
from judging.assessment.services import verdicts
from judging.assessment.services.verdicts import CriterionVerdict
from judging.runs.models.runs import Judgment
from judging.stats.verdict import Rules

LOCK = "rules.lock"
VERBS.add(LOCK)

REPLACE, ASSIST = "replace", "assist and escalate"
SUCCESSES = (REPLACE, ASSIST)
"""Decisions that may count as a success, the better one first."""

LONGEST_REASON = 2000
MOST_TRIES = 5
"""Of one who looks while others set the rules."""

BUSY = gettext_noop("Somebody else set the rules at the same moment. Look at them, and try again.")
Kind = VerdictRules.Kind


@dataclass(frozen=True)
class Success:
    """The criterion of success: at least this decision on these criteria; without any named, on all of them."""

    decision: str = REPLACE
    criteria: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decision not in SUCCESSES:
            raise InputError(
                "{decision!r} is not a criterion of success; there are: {successes}",
                field="success",
                decision=self.decision,
                successes=", ".join(SUCCESSES),
            )

    def to_json(self) -> SuccessDocument:
        """As JSON types."""
        return {"decision": self.decision, "criteria": list(self.criteria)}

    @property
    def in_words(self) -> str:
        """For a sentence."""
        return f"{self.decision} on {', '.join(self.criteria) or 'every criterion'}"

    def is_met(self, found: Sequence[CriterionVerdict]) -> bool:
        """Whether a judge with these verdicts is a success. A criterion without a verdict is none."""
        decisions = {one.key: one.whole.decision for one in found}
        asked = self.criteria or tuple(decisions)
        return bool(asked) and all(decisions.get(key) in (REPLACE, self.decision) for key in asked)


@dataclass(frozen=True)
class StudyVerdictRules:
    """What a study's judges are held to, and how that came about.

    Attributes
    ----------
    rules, success
        What holds now.
    rows
        All rows, the first one first; none where nothing was set and nobody looked.
    """

    rules: Rules
    success: Success
    rows: tuple[VerdictRules, ...] = ()

    @property
    def locked(self) -> VerdictRules | None:
        """The row of the first look."""
        return next((row for row in self.rows if row.kind == Kind.LOCKED), None)

    @property
    def changes(self) -> list[tuple[VerdictRules, VerdictRules]]:
        """Each change after the first look, behind the row that it changed."""
        pairs = zip(self.rows, self.rows[1:], strict=False)
        return [(before, after) for before, after in pairs if after.kind == Kind.CHANGED]

    def to_json(self, names: Mapping[int, str] | None = None) -> RulesRecordDocument:
        """How the rules came about, as JSON types. People are numbers of accounts, or names that `names` has."""
        return {
            "success": self.success.to_json(),
            "sha256": self.rows[-1].sha256 if self.rows else None,
            "first_look": _describe_change(self.locked, names) if self.locked else None,
            "changes": [
                {
                    **_describe_change(after, names),
                    "reason": after.reason,
                    "changed": list(_differences(before, after)),
                    "sentence": sentence(before, after, names),
                }
                for before, after in self.changes
            ],
        }


def load(study: Study) -> StudyVerdictRules:
    """The rules that hold, without looking. One query."""
    rows = tuple(VerdictRules.objects.filter(study=study).select_related("created_by").order_by("number"))
    if not rows:
        return StudyVerdictRules(Rules(), Success())
    return StudyVerdictRules(read_rules(rows[-1].rules), read_success(rows[-1].success), rows)


def document(study: Study) -> StudyRulesDocument:
    """What command and API say of the rules."""
    there = load(study)
    record = there.to_json(load_names(there.rows))
    return {"study": study.name, "rules": there.rules.to_json(), "rules_on_record": record}


def lock(*, by: User | None, study: Study) -> StudyVerdictRules:
    """The rules that hold, for somebody who looks at a judge's result: the first look locks them."""
    for _try in range(MOST_TRIES):
        there = load(study)
        if there.locked:
            return there
        with transaction.atomic():
            row = _add(by, study, there, Kind.LOCKED, there.rules, there.success, "")
            if row:
                record_always(LOCK, by=by, on=study, number=row.number, sha256=row.sha256)
    raise InputError(BUSY)


def lock_rules(*, by: User | None, study: Study) -> None:
    """Lock the rules for somebody who sees or takes away what judges said of the study's items, if one said any."""
    if not load(study).locked and Judgment.objects.filter(run__study=study).exists():
        lock(by=by, study=study)


@audited("rules.set", on="study", says=("rules", "success", "reason"))
def set_rules(
    *, by: User | None, study: Study, rules: Rules, success: Success, reason: str = ""
) -> VerdictRules | None:
    """Set the rules, or change them on record; None where they are these already.

    Free before the first look at a judge's result. After it a change needs a reason, or raises InputError.
    """
    there = load(study)
    if not there.locked and is_looked_at(study):
        there = lock(by=by, study=study)
    if (rules, success) == (there.rules, there.success):
        return None
    _check_criteria(study, success)
    reason = reason.strip()
    if len(reason) > LONGEST_REASON:
        raise InputError(
            "A reason has at most {longest_reason} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    if there.locked and not reason:
        raise InputError(
            "{lock} Give a reason to change them on record.",
            field="reason",
            lock=describe_lock(there),
        )
    row = _add(by, study, there, Kind.CHANGED if there.locked else Kind.SET, rules, success, reason)
    if row is None:
        raise InputError(BUSY)
    return row


def resolve(*, by: User | None, study: Study, given: Mapping[str, str], reason: str = "") -> StudyVerdictRules:
    """The rules for somebody who looks and names some of them: those that hold, unless changed on record."""
    there = load(study)
    wanted = verdicts.parse_rules(given, there.rules)
    if wanted != there.rules:
        set_rules(by=by, study=study, rules=wanted, success=there.success, reason=reason)
    return lock(by=by, study=study)


def check_names(given: Mapping[str, str]) -> Mapping[str, str]:
    """The same. Raises InputError for a name that is no rule's: a slip of the pen must not go unnoticed."""
    if unknown := [name for name in given if name not in verdicts.NAMES]:
        raise InputError(
            "no rule is called {unknown!r}; there are {names}",
            field="rules",
            unknown=unknown[0],
            names=", ".join(verdicts.NAMES),
        )
    return given


def refuse_others(study: Study, given: Mapping[str, str]) -> None:
    """Raise InputError where the names of rules in an address ask for other ones than those that hold."""
    there = load(study)
    if verdicts.parse_rules(given, there.rules) != there.rules:
        now = describe_lock(there) if there.locked else _("An address cannot set the rules.")
        raise InputError("{now} The page “Rules of the verdict” sets them, and changes them on record.", now=now)


def describe_lock(there: StudyVerdictRules) -> str:
    """A sentence."""
    locked = there.locked
    assert locked is not None  # whoever asks has looked
    said = _("The rules are locked since the first look on {when} UTC.")
    return said.format(when=f"{locked.created_at:%Y-%m-%d %H:%M}")


def is_looked_at(study: Study) -> bool:
    """Whether a judge's result was computed before rules were locked: by a version without locks."""
    return any(table.objects.filter(study=study).exists() for table in (CalibrationRun, AuditRun))


def _add(
    by: User | None, study: Study, there: StudyVerdictRules, kind: str, rules: Rules, success: Success, reason: str
) -> VerdictRules | None:
    """A row behind the newest. None where somebody else was faster: the database keeps the order."""
    number, previous = (there.rows[-1].number, there.rows[-1].sha256) if there.rows else (0, "")
    row = VerdictRules(study=study, number=number + 1, kind=kind, reason=reason, created_by=by)
    row.rules, row.success = rules.to_json(), success.to_json()
    row.sha256 = row.compute_hash(previous)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        return None
    return row


def _check_criteria(study: Study, success: Success) -> None:
    there = set(study.criteria.values_list("key", flat=True))
    if unknown := [key for key in success.criteria if key not in there]:
        raise InputError("no criterion is called {unknown!r}", field="success", unknown=unknown[0])


def read_rules(kept: object) -> Rules:
    """Rules as they are kept. A rule that a later version added is the usual one. InputError for what are none."""
    if not isinstance(kept, dict):
        raise InputError("holds no rules")
    usual, found = asdict(Rules()), {}
    for field in fields(Rules):
        if field.name in kept:
            value, like = kept[field.name], usual[field.name]
            if not _is_like(value, like):
                raise InputError("{name} of the rules is {value!r}", name=field.name, value=value)
            found[field.name] = tuple(value) if isinstance(like, tuple) else value
    return replace(Rules(), **found)  # type: ignore[arg-type]


def _is_like(value: object, usual: object) -> bool:
    if isinstance(usual, tuple):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if isinstance(usual, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(usual, bool)
    return isinstance(value, int | float) if isinstance(usual, int | float) else isinstance(value, type(usual))


def read_success(kept: object) -> Success:
    """A criterion of success as it is kept. InputError for what is none."""
    if not isinstance(kept, dict) or not _is_like(kept.get("criteria"), ()):
        raise InputError("holds no criterion of success")
    return Success(str(kept.get("decision")), tuple(kept["criteria"]))


def is_chained(rows: Sequence[VerdictRules]) -> bool:
    """Whether the rows of a study are those that were decided, one behind the other."""
    before = ["", *(row.sha256 for row in rows)]
    numbers = [row.number for row in rows]
    is_whole = numbers == list(range(1, len(rows) + 1))
    return is_whole and all(row.sha256 == row.compute_hash(one) for row, one in zip(rows, before, strict=False))


def sentence(before: VerdictRules, after: VerdictRules, names: Mapping[int, str] | None = None) -> str:
    """What page, report and certificate say of a change."""
    changed = "; ".join(f"{one['rule']}: from {one['from']} to {one['to']}" for one in _differences(before, after))
    when = f"{after.created_at:%Y-%m-%d %H:%M} UTC"
    author = name_author(after, names)
    return f"Rules changed after the first look on {when} by {author}: {changed}. Reason: {after.reason}"


def _differences(before: VerdictRules, after: VerdictRules) -> Iterator[RuleChange]:
    """Each rule that was changed, in words."""
    old, new = (dict(verdicts.describe_rules(read_rules(row.rules).to_json())) for row in (before, after))
    for label, value in new.items():
        if old[label] != value:
            yield {"rule": label, "from": old[label], "to": value}
    old_success, new_success = (read_success(row.success).in_words for row in (before, after))
    if old_success != new_success:
        yield {"rule": "Criterion of success", "from": old_success, "to": new_success}


def _describe_change(row: VerdictRules, names: Mapping[int, str] | None) -> RulesLookDocument:
    return {"at": row.created_at.isoformat(timespec="seconds"), "by": name_author(row, names), "sha256": row.sha256}


def name_author(row: VerdictRules | Look, names: Mapping[int, str] | None = None) -> str:
    """Who made a row: a name where `names` has it, else the number of an account, or a command."""
    if row.created_by_id is None:
        return "a command"
    return (names or {}).get(row.created_by_id, f"account {row.created_by_id}")


def load_names(rows: Sequence[VerdictRules]) -> dict[int, str]:
    """The usernames of those who made the rows, for a page or a report. Not for what is signed or kept."""
    return {row.created_by_id: str(row.created_by) for row in rows if row.created_by_id}
