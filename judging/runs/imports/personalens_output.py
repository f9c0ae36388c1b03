"""What PersonaLens wrote: dialogues, and a study that holds its judges' verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from annotation.corpus.imports import personalens
from annotation.corpus.models import Dialogue
from annotation.corpus.parsing import personalens_output as parsing
from annotation.studies.criteria import TEMPLATES
from annotation.studies.imports import labelled
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.files.input_files import InputFile, Problems
from core.files.outcome import Outcome
from judging.runs.imports import judgments

STUDY = "PersonaLens"
DESCRIPTION = "Dialogues of PersonaLens (arXiv 2506.09902) with the verdicts that came with them."
UNPARSABLE, OFF_SCALE = "unparsable", "off scale"


def output_folder(path: Path) -> InputFile:
    """The folder that holds dialogue/: the one named, or output/ in it."""
    for candidate in (path, path / "output"):
        if (candidate / "dialogue").is_dir():
            return InputFile.from_path(candidate)
    raise InputFile.from_path(path).error("holds no folder named dialogue")


def load(
    *,
    by: User | None,
    folder: Path,
    users: set[int] | None,
    problems: Problems,
    outcome: Outcome,
    project: Project | None = None,
) -> None:
    """Import what lies in the folder `output`. To be called inside a transaction, after profiles and tasks."""
    output = output_folder(folder)
    outcome.kinds += ("dialogues", "judges", "judgments")
    personalens.load_dialogues(output=output, users=users, problems=problems, outcome=outcome)
    stored = Dialogue.objects.filter(source=personalens.SOURCE).only(*labelled.ITEM_COLUMNS)
    dialogues = {dialogue.external_id: dialogue for dialogue in stored.iterator()}
    replies = []
    for reply in parsing.read_replies(output, users, problems):
        if reply.about.external_id in dialogues:
            replies.append(reply)
        else:
            problems.add(reply.file.error(f"there is no dialogue {reply.about.external_id}"), reply.text)
    if replies:
        save_replies(by, project, replies, dialogues, outcome)


def save_replies(
    by: User | None,
    project: Project | None,
    replies: Sequence[parsing.ParsedReply],
    dialogues: dict[str, Dialogue],
    outcome: Outcome,
) -> None:
    """A run for each judge, in one study of the dialogues that they are about."""
    keys = parsing.CRITERIA.values()
    study = labelled.find_or_create_study(
        by=by,
        name=STUDY,
        kind=Study.Kind.DIALOGUE,
        criteria=[TEMPLATES[key].fields() for key in keys],
        description=DESCRIPTION,
        project=project,
    )
    outcome.study = study.name
    judged = dict.fromkeys(reply.about.external_id for reply in replies)
    items = labelled.add_items(by=by, study=study, material=[dialogues[name] for name in judged])
    criteria = {criterion.key: criterion for criterion in study.criteria.all()}
    for judge in dict.fromkeys(reply.judge for reply in replies):
        found = [
            to_judgment(reply, items[dialogues[reply.about.external_id].pk], criteria[reply.criterion])
            for reply in replies
            if reply.judge == judge
        ]
        judgments.save(by=by, study=study, judge=judge, judgments=found, outcome=outcome)


def to_judgment(reply: parsing.ParsedReply, item: int, criterion: Criterion) -> judgments.ImportedJudgment:
    value = reply.value if reply.value in criterion.values else None
    wrong = UNPARSABLE if reply.value is None else OFF_SCALE
    return judgments.ImportedJudgment(
        item=item,
        criterion=criterion.pk,
        value=value or "",
        unscored_reason="" if value else wrong,
        explanation=reply.explanation,
        raw_reply=reply.text,
    )
