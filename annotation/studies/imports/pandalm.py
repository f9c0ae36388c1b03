"""PandaLM's test set: response pairs, and a closed study with the choices of three people.

Its README says that items on which people differed widely were left out. The study's description repeats that, since
it makes agreement look better than it would be on new material.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from annotation.corpus.imports import writing
from annotation.corpus.models import ResponsePair
from annotation.corpus.parsing import pandalm as parsing
from annotation.studies.imports import labelled
from annotation.studies.models.studies import Study
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.files.input_files import InputFile, Problems
from core.files.outcome import Outcome
from core.hashing import content_hash

SOURCE = "pandalm"
STUDY = "PandaLM"
DESCRIPTION = (
    "The test set of PandaLM (arXiv 2306.05087): pairs of responses to an instruction, three people each. Items on "
    "which people differed widely were removed by its authors, so that agreement is higher than on unfiltered material."
)
PREFERENCE = {
    "key": "preference",
    "name": "Preference",
    "question": "Which response answers the instruction better?",
    "level": "nominal",
    "categories": [
        {"value": "1", "label": "Response 1", "guideline": "Answers better, all in all."},
        {"value": "2", "label": "Response 2", "guideline": "Answers better, all in all."},
        {"value": "tie", "label": "Tie", "guideline": "Neither answers better."},
    ],
}


@audited("labels.import", says=("folder",))
def load(*, by: User | None, folder: InputFile, problems: Problems, project: Project | None = None) -> Outcome:
    """Import the pairs and what people said of them. What judges said is added by `judging`."""
    comparisons = parsing.read_comparisons(folder, problems)
    outcome = Outcome(("pairs", "annotators", "annotations"), study=STUDY)
    with transaction.atomic():
        save_pairs(comparisons, outcome)
        study = labelled.find_or_create_study(
            by=by,
            name=STUDY,
            kind=Study.Kind.PAIR,
            criteria=[PREFERENCE],
            description=DESCRIPTION,
            project=project,
        )
        items = items_by_idx(by, study, comparisons)
        criterion = study.criteria.get(key=PREFERENCE["key"])
        labels = (
            labelled.ImportedLabel(items[comparison.idx], annotator, criterion.pk, value)
            for comparison in comparisons
            for annotator, value in comparison.values().items()
        )
        labelled.save_labels(study=study, labels=labels, outcome=outcome)
    return outcome


def save_pairs(comparisons: Sequence[parsing.Comparison], outcome: Outcome) -> None:
    fields = {str(comparison.idx): pair_fields(comparison) for comparison in comparisons}
    hashes = {idx: content_hash(values) for idx, values in fields.items()}
    plan = writing.compare(ResponsePair, SOURCE, hashes)
    rows = [
        ResponsePair(source=SOURCE, external_id=idx, content_hash=hashes[idx], **fields[idx])
        for idx in fields
        if idx not in plan.same
    ]
    writing.save(ResponsePair, rows, kind="pairs", plan=plan, outcome=outcome)


def pair_fields(comparison: parsing.Comparison) -> dict[str, object]:
    model_1, model_2 = comparison.models
    return {
        "question": comparison.instruction,
        "context": comparison.input,
        "response_1": comparison.response1,
        "response_2": comparison.response2,
        "model_1": model_1,
        "model_2": model_2,
        "extra": comparison.model_extra or {},
    }


def items_by_idx(by: User | None, study: Study, comparisons: Sequence[parsing.Comparison]) -> dict[int, int]:
    """The study's items by `idx`; those that are missing are made, in the order of the file."""
    wanted = {str(comparison.idx): position for position, comparison in enumerate(comparisons)}
    stored = ResponsePair.objects.filter(source=SOURCE).only(*labelled.ITEM_COLUMNS)
    pairs = sorted((pair for pair in stored if pair.external_id in wanted), key=lambda pair: wanted[pair.external_id])
    items = labelled.add_items(by=by, study=study, material=pairs)
    return {int(pair.external_id): items[pair.pk] for pair in pairs}
