"""A study, with people's and judges' labels, as the files of another tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.agreement.services.exports import write_pieces
from annotation.corpus.exchange.dataset import Rated, StudyHead
from annotation.corpus.exchange.registry import Exchange
from annotation.studies.models.studies import Study
from annotation.studies.queries import exchange as queries, labels as people
from annotation.studies.queries.labels import LabelRow
from core.accounts.models.users import User
from core.errors import InputError
from core.files.writing import Member
from core.read_snapshot import read_snapshot
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import labels as judges

ABOUT = "README.md"


class Source:
    """The study's items, given anew each time that they are asked for."""

    def __init__(self, study: Study) -> None:
        self.study, self.head = study, queries.build_head(study)
        self.further = further_runs(study)

    def __call__(self) -> Iterator[Rated]:
        labels: tuple[Iterable[LabelRow], ...] = (people.load_people(self.study), judges.load_judges(self.study))
        counted = (rows if k else (row for row in rows if not row.excluded) for k, rows in enumerate(labels))
        return queries.iterate_rated(self.study, counted, self.name)

    def name(self, row: LabelRow) -> str:
        """The rater: imported annotators as their file called them, further runs of a judge told apart."""
        if row.judge_run is not None:
            return f"{row.rater}{self.further.get(row.judge_run, '')}"
        return row.rater.removesuffix(f"@{self.study.slug}") if row.rater_kind == User.Kind.IMPORTED else row.rater


def further_runs(study: Study) -> dict[int, str]:
    """What is added to the judge's name for all but its first run."""
    seen: dict[int, int] = {}
    added: dict[int, str] = {}
    for pk, judge in JudgeRun.objects.filter(study=study).order_by("pk").values_list("pk", "judge_id"):
        seen[judge] = seen.get(judge, 0) + 1
        if seen[judge] > 1:
            added[pk] = f" (run {seen[judge]})"
    return added


def describe_files(exchange: Exchange, head: StudyHead) -> str:
    """What the files are, and what the other tool does not show of them."""
    lines = [
        f"# {head.name}",
        "",
        f"A study of Concord for {exchange.title}: {', '.join(exchange.files)}.",
        "",
        f"{exchange.title} does not show: {', '.join(exchange.unseen)}. The files carry them for Concord, which reads",
        "them back. Left out: labels of excluded annotators, and answers to checks, repeats and training items.",
        "Profiles and tasks are named, not contained.",
    ]
    return "\n".join(lines) + "\n"


def has_other_than_pairs(study: Study) -> bool:
    """Whether an item has one response, or more than two."""
    return study.items.filter(pair__isnull=False).exclude(pair__n_responses=2).exists()


def check_exchange(exchange: Exchange, study: Study) -> None:
    if study.kind not in exchange.kinds:
        raise InputError(
            "{title} holds {kinds}s only", field="format", title=exchange.title, kinds=" and ".join(exchange.kinds)
        )
    if has_other_than_pairs(study):
        raise InputError(
            "{title} holds items of two responses; hf holds any number", field="format", title=exchange.title
        )


def members(study: Study, exchange: Exchange) -> Iterator[Member]:
    """The files. Raises InputError for a kind of study that does not fit."""
    check_exchange(exchange, study)
    source = Source(study)
    for name, write in exchange.files.items():
        yield name, map(str.encode, write(source.head, source))
    yield ABOUT, [describe_files(exchange, source.head).encode()]


def write(study: Study, exchange: Exchange, path: Path) -> list[Path]:
    """Write the files into a folder, or where `path` ends like the first of them, that one to it and the others beside.

    Each file as a whole or not at all. Raises InputError where the place cannot be written.
    """
    first = next(iter(exchange.files))
    single = path.suffix == Path(first).suffix

    def target(name: str) -> Path:
        beside = path.with_name(f"{path.stem}.{name.lstrip('.').replace('/', '.')}")
        return path / name if not single else path if name == first else beside

    with read_snapshot():
        return [write_below(target(name), pieces) for name, pieces in members(study, exchange)]


def write_below(target: Path, pieces: Iterable[bytes]) -> Path:
    """Write a file and the folders above it. Raises InputError where the place cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("cannot be written: {strerror}", file=str(target), strerror=error.strerror) from error
    write_pieces(pieces, target)
    return target
