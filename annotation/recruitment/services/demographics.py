"""Questions about the person: what a researcher asks, and what people answer of their own accord."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify
from django.utils.translation import gettext_noop

from annotation.recruitment.models import DemographicAnswer, DemographicQuestion
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.names import number_name

LONGEST = 200
MOST_OPTIONS = 30
NOT_SAID = gettext_noop("prefer not to say")


@audited("question.add", says=("options",))
def add_question(
    *,
    by: User | None,  # noqa: ARG001
    study: Study,
    text: str,
    options: Sequence[str],
    key: str = "",
) -> DemographicQuestion:
    """Ask people `text`, with these answers to choose from and always "prefer not to say"."""
    text, options = text.strip(), [option.strip() for option in options if option.strip()]
    check(text, options)
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        name = key or free_key(locked, text)
        if locked.demographic_questions.filter(key=name).exists():
            raise InputError("There is a question {name!r} already.", field="key", name=name)
        last = locked.demographic_questions.aggregate(last=Max("position"))["last"] or 0
        return DemographicQuestion.objects.create(study=locked, key=name, text=text, options=options, position=last + 1)


def check(text: str, options: Sequence[str]) -> None:
    if not text or len(text) > LONGEST or "\0" in text:
        raise InputError("A question has 1 to {longest} characters.", field="text", longest=LONGEST)
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise InputError("Offer 2 to {most_options} answers.", field="options", most_options=MOST_OPTIONS)
    if len({option.lower() for option in options}) < len(options):
        raise InputError("An answer is offered twice.", field="options")
    if any(len(option) > LONGEST or "\0" in option for option in options):
        raise InputError("An answer has at most {longest} characters.", field="options", longest=LONGEST)
    if any(option.lower() == NOT_SAID for option in options):
        raise InputError(
            "“{not_said}” is offered with every question.", field="options", not_said=NOT_SAID.capitalize()
        )


def free_key(study: Study, text: str) -> str:
    base = slugify(text)[:50] or "question"
    taken = set(study.demographic_questions.values_list("key", flat=True))
    return number_name(base, taken)


@audited("question.remove", on="question")
def remove_question(*, by: User | None, question: DemographicQuestion) -> int:  # noqa: ARG001
    """Ask it no more, and erase what was answered. Returns how many answers that were."""
    with transaction.atomic():
        erased, _ = question.answers.all().delete()
        question.delete()
    return erased


def answer(*, by: User, study: Study, answers: Mapping[str, str]) -> None:
    """Keep what they say of themselves; "" for "prefer not to say". Answering again replaces it."""
    if not study.annotators.filter(pk=by.pk).exists():
        raise InputError("{by} is not an annotator of {study}.", field="annotator", by=by, study=study)
    questions = {question.key: question for question in study.demographic_questions.all()}
    for key, value in answers.items():
        if key not in questions:
            raise InputError("This study has no such question.", field=key)
        if value and value not in questions[key].options:
            raise InputError("{value!r} is not one of the answers.", field=key, value=value)
    DemographicAnswer.objects.bulk_create(
        [DemographicAnswer(question=questions[key], annotator=by, value=value) for key, value in answers.items()],
        update_conflicts=True,
        unique_fields=["question", "annotator"],
        update_fields=["value", "answered_at"],
    )
