"""What annotators said of themselves: each person's own answers for them, and groups for everybody else."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from annotation.recruitment.models.demographics import DemographicAnswer, DemographicQuestion
from annotation.stats.rater_groups import LEAST_RATERS
from annotation.studies.models.studies import Study
from core.accounts.models.users import User

LEAST_PEOPLE = LEAST_RATERS
"""People below which an answer is not shown: what is said of one or two can be told of them."""


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

    def to_json(self) -> dict[str, object]:
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
