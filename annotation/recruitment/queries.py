"""Participations, what annotators said of themselves, and what somebody is told before they agree to take part."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median
from typing import TypedDict

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _, override
from django_stubs_ext import WithAnnotations

from annotation.quality.models import KnownItem
from annotation.recruitment.models import (
    ConsentDecision,
    ConsentText,
    DemographicAnswer,
    DemographicQuestion,
    Intake,
    Invitation,
    Participation,
)
from annotation.stats.rater_groups import LEAST_RATERS
from annotation.stats.reading import USUAL
from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries.item_features import load_shortest_times
from core.accounts.models.users import User
from core.accounts.permissions import Account

CODE_BYTES = 10
CODE_SALT = "annotation.return code"

AGREED, DECLINED, WITHDRAWN = ConsentDecision.Decision


class CountedUses(TypedDict):
    uses: int


def token_hash(token: str) -> str:
    """What is kept of a link's token. It is drawn from 256 bits, so that a plain hash cannot be turned around."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def return_code(participation: Participation) -> str:
    """What lets a person whom a platform sent go on in another browser. It follows from the site's secret key."""
    secret = salted_hmac(CODE_SALT, f"{participation.pk} {participation.platform_key}", algorithm="sha256").digest()
    letters = b32encode(secret[:CODE_BYTES]).decode()
    return "-".join(letters[start : start + 4] for start in range(0, len(letters), 4))


def find_return_code(study: Study, annotator: User) -> str:
    """The return code of somebody whom a platform sent to the study; empty for anybody else."""
    found = study.participations.filter(annotator=annotator).exclude(platform_key="").first()
    return return_code(found) if found else ""


def is_link_participant(user: Account) -> bool:
    """Whether an account was made for somebody whom a platform sent, and has no password."""
    if not user.is_authenticated or user.has_usable_password():
        return False
    return Participation.objects.filter(annotator=user).exclude(platform_key="").exists()


def find_intake(study: Study) -> Intake:
    """How people come into the study; an unsaved one that asks nothing where none was set."""
    return Intake.objects.select_related("consent_text").filter(study=study).first() or Intake(study=study)


def find_invitation(token: str) -> tuple[Invitation, str] | None:
    """The invitation with this token, and why nobody can join by it any more (empty if they can)."""
    called = Invitation.objects.filter(token_hash=token_hash(token)).select_related("study")
    found = add_uses(called).first()
    return (found, find_closing_reason(found, uses=found.uses)) if found else None


def add_uses(invitations: QuerySet[Invitation]) -> QuerySet[WithAnnotations[Invitation, CountedUses]]:
    """With `uses`, the number of people who joined by each."""
    return invitations.annotate(uses=Count("participations"))


def find_closing_reason(invitation: Invitation, *, uses: int) -> str:
    """Why nobody can join by the invitation any more; empty if they can."""
    if invitation.revoked_at:
        return _("This link was revoked.")
    if invitation.expires_at and invitation.expires_at <= timezone.now():
        return _("This link has expired.")
    if invitation.max_uses is not None and uses >= invitation.max_uses:
        return _("This link has been used by as many people as it was made for.")
    return find_study_closing_reason(invitation.study)


def find_study_closing_reason(study: Study) -> str:
    return _("This study is closed and takes no more people.") if study.state == Study.State.CLOSED else ""


def find_decision(study: Study, annotator: User) -> ConsentDecision | None:
    """Their newest decision."""
    decided = ConsentDecision.objects.filter(study=study, annotator=annotator)
    return decided.select_related("text").order_by("-pk").first()


def has_withdrawn(study: Study, annotator: User) -> bool:
    """Whether they withdrew, and no researcher has taken them in again since."""
    if study.annotators.filter(pk=annotator.pk).exists():
        return False
    newest = ConsentDecision.objects.filter(study=study, annotator=annotator).order_by("-pk")
    return newest.values_list("decision", flat=True).first() == WITHDRAWN


def text_owed(study: Study, annotator: User) -> ConsentText | None:
    """The text that they have to agree to before they see an item; None where nothing is owed."""
    text = find_intake(study).consent_text
    decided = find_decision(study, annotator)
    agreed = decided and decided.decision == AGREED and decided.text_id == (text and text.pk)
    return None if agreed else text


@dataclass(frozen=True)
class Participant:
    """One person of a study as the researcher sees them."""

    annotator: User
    came_by: str
    platform: str
    platform_id: str
    joined_at: datetime | None
    decision: str
    text_hash: str
    decided_at: datetime | None
    erased: int | None
    submitted: int
    completed_at: datetime | None
    completion_code: str

    def to_json(self) -> dict[str, object]:
        """As JSON types."""
        at = {name: getattr(self, name) for name in ("joined_at", "decided_at", "completed_at")}
        return {
            **{name: value for name, value in vars(self).items() if name != "annotator"},
            **{name: value.isoformat() if value else None for name, value in at.items()},
            "annotator": self.annotator.username,
        }


def participants(study: Study) -> list[Participant]:
    """Everybody who is, or was, in the study, by name. Four queries."""
    joined = {one.annotator_id: one for one in study.participations.select_related("invitation")}
    decided: dict[int, ConsentDecision] = {}
    for one in study.consent_decisions.select_related("text").order_by("pk"):
        decided[one.annotator_id] = one
    submitted = dict(
        study.assignments.filter(state=Assignment.State.SUBMITTED, purpose__in=WORK)
        .order_by()
        .values_list("annotator")
        .annotate(n=Count("pk"))
    )
    here = Q(studies=study) | Q(pk__in=[*joined, *decided])
    people = User.objects.filter(here, kind=User.Kind.PERSON).distinct().order_by("username")
    return [
        participant(person, joined.get(person.pk), decided.get(person.pk), submitted.get(person.pk, 0))
        for person in people
    ]


def participant(
    person: User, joined: Participation | None, decided: ConsentDecision | None, submitted: int
) -> Participant:
    visits = joined.visits if joined else []
    with override(None):  # in English, as files have it; the page translates it
        decision = decided.get_decision_display() if decided else ""
    return Participant(
        annotator=person,
        came_by=describe_origin(joined),
        platform=joined.platform if joined else "",
        platform_id=str(visits[-1].get("person", "")) if visits else "",
        joined_at=joined.joined_at if joined else None,
        decision=decision,
        text_hash=decided.text.content_hash if decided and decided.text else "",
        decided_at=decided.created_at if decided else None,
        erased=decided.erased if decided else None,
        submitted=submitted,
        completed_at=joined.completed_at if joined else None,
        completion_code=joined.completion_code if joined else "",
    )


def describe_origin(joined: Participation | None) -> str:
    if joined and joined.invitation:
        return f"invitation {joined.invitation.pk}"
    if joined and joined.is_self_registered:
        return "public address"
    return "added"


LEAST_PEOPLE = LEAST_RATERS
"""People below which an answer is not shown: what is said of one or two can be told of them."""


class DemographicPromptDocument(TypedDict):
    key: str
    text: str
    options: list[str]
    answered: int
    counts: dict[str, int]
    not_shown: int
    least_people: int


@dataclass(frozen=True)
class DemographicPrompt:
    """A question, and how many people gave which answer.

    Attributes
    ----------
    question
        The question.
    answered
        How many people answered, those who prefer not to say among them.
    counts
        (answer, people) of answers that `LEAST_PEOPLE` or more gave, in the order offered.
    hidden
        How many of the offered answers were given by fewer, and by somebody.
    """

    question: DemographicQuestion
    answered: int
    counts: tuple[tuple[str, int], ...]
    hidden: int

    def to_json(self) -> DemographicPromptDocument:
        """As JSON types."""
        return {
            "key": self.question.key,
            "text": self.question.text,
            "options": list(self.question.options),
            "answered": self.answered,
            "counts": dict(self.counts),
            "not_shown": self.hidden,
            "least_people": LEAST_PEOPLE,
        }


def list_questions(study: Study) -> list[DemographicPrompt]:
    """The study's questions in their order. Two queries."""
    given: dict[int, Counter[str]] = defaultdict(Counter)
    for question, value in DemographicAnswer.objects.filter(question__study=study).values_list("question", "value"):
        given[question][value] += 1
    return [build_prompt(question, given[question.pk]) for question in study.demographic_questions.all()]


def build_prompt(question: DemographicQuestion, given: Counter[str]) -> DemographicPrompt:
    offered = [(option, given[option]) for option in question.options]
    return DemographicPrompt(
        question=question,
        answered=given.total(),
        counts=tuple((option, n) for option, n in offered if n >= LEAST_PEOPLE),
        hidden=sum(0 < n < LEAST_PEOPLE for _, n in offered),
    )


def answers(study: Study) -> dict[str, dict[str, str]]:
    """By the question's key, what each username answered; without those who prefer not to say. One query.

    For what is computed over groups of people and never shows one of them, and for who asks for it by name.
    """
    found: dict[str, dict[str, str]] = defaultdict(dict)
    given = DemographicAnswer.objects.filter(question__study=study).exclude(value="")
    for key, username, value in given.order_by("question__position", "question").values_list(
        "question__key", "annotator__username", "value"
    ):
        found[key][username] = value
    return dict(found)


def questions(study: Study) -> dict[str, str]:
    """Load the question's texts by key, in their order. One query."""
    return dict(study.demographic_questions.values_list("key", "text"))


def groups(study: Study, key: str) -> dict[str, str]:
    """What each username answered to one question, without those who prefer not to say. One query."""
    given = DemographicAnswer.objects.filter(question__study=study, question__key=key).exclude(value="")
    return dict(given.order_by("annotator__username").values_list("annotator__username", "value"))


def load_answers(study: Study, annotator: User) -> dict[str, str]:
    """Load their answers by question key; an empty one is "prefer not to say"."""
    mine = DemographicAnswer.objects.filter(question__study=study, annotator=annotator)
    return dict(mine.values_list("question__key", "value"))


def are_owed(study: Study, annotator: User) -> bool:
    """Whether there are questions that they have not seen; they need not answer them."""
    return study.demographic_questions.exclude(answers__annotator=annotator).exists()


ENOUGH = 20
"""Items with a measured time from which on the duration is told from these."""

LOOKED_AT = 200
"""Items, or measured times, that are looked at."""

SECONDS_TO_DECIDE = 5.0
"""Beside reading, for each answer, where no times have been measured."""


@dataclass(frozen=True)
class Offer:
    """The work of one person.

    Attributes
    ----------
    items
        How many they rate at most.
    before
        Items of training and qualification before these.
    seconds
        Of an item; None where nothing is known.
    """

    items: int
    before: int
    seconds: float | None

    @property
    def minutes(self) -> int | None:
        """Of all together, rounded up to whole minutes, above an hour to five."""
        if self.seconds is None:
            return None
        minutes = (self.items + self.before) * self.seconds / 60
        step = 5 if minutes > 60 else 1
        return max(1, step * ceil(minutes / step))


def load_offer(study: Study) -> Offer | None:
    """What awaits a new annotator; None while the study has no items. At most five queries."""
    there = study.items.count()
    if not there:
        return None
    items = there if study.item_limit is None else min(there, study.item_limit)
    asked = (KnownItem.Purpose.TRAINING, KnownItem.Purpose.QUALIFICATION)
    before = 0
    if study.pass_mark is not None:
        before = study.known_items.filter(purpose__in=asked, round=1, retired_at=None).count()
    return Offer(items, before, measure_seconds(study) or estimate_seconds(study))


def measure_seconds(study: Study) -> float | None:
    """The median of the newest times that pages measured; None where there are few."""
    timed = study.assignments.filter(
        state=Assignment.State.SUBMITTED, purpose=Assignment.Purpose.RATING, active_seconds__gt=0
    )
    newest = [seconds or 0.0 for seconds in timed.order_by("-pk").values_list("active_seconds", flat=True)[:LOOKED_AT]]
    return median(newest) if len(newest) >= ENOUGH else None


def estimate_seconds(study: Study) -> float | None:
    """Reading the item at a usual rate, and deciding on every criterion."""
    times = load_shortest_times(study, range(1, LOOKED_AT + 1))
    return USUAL * median(times.values()) + SECONDS_TO_DECIDE * len(study.asked) if times else None
