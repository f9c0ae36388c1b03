"""What a judge would be asked about a real item, before anything is saved or sent."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.studies.models.studies import Study
from core.errors import InputError
from judging.judges import prompts
from judging.judges.models.judges import Judge
from judging.judges.prompts import TemplateError, templates
from judging.judges.providers.requests import Prompt
from judging.judges.services import judges
from judging.runs.queries.requests import Frame, build_requests


@dataclass(frozen=True, slots=True)
class Preview:
    """A prompt, the item that it asks about, and about how many tokens it has."""

    prompt: Prompt
    item: str
    criterion: str
    tokens: int


def preview(judge: Judge, study: Study) -> Preview:
    """The first question of a run on the study. InputError says why the template cannot ask it."""
    item = study.items.order_by("position").values_list("pk", flat=True).first()
    criteria = list(study.criteria.all()[:1])
    if item is None or not criteria:
        raise InputError(f"{study} has no items or no criteria yet.", field="study")
    provider = judges.build_provider(judge)
    if not provider.needs_prompt:
        raise InputError("This judge is not asked in words.", field="provider")
    own = templates.find_template(judge.parameters, criteria[0].key)
    if own and (wrong := prompts.problems(own, study.kind)):
        raise InputError(" ".join(wrong), field="template")
    try:
        frame = Frame.build_trial(judge, study, criteria[0])
        request = build_requests(frame, [item], with_prompt=True)[0].request
    except TemplateError as error:
        raise InputError(str(error), field="template") from error
    assert request.prompt is not None
    return Preview(request.prompt, request.item, request.criterion.name, provider.estimate_tokens(request).tokens)
