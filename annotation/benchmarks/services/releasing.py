"""Writing a released benchmark to a folder: the published layout, Parquet, a card for Hugging Face, the datasheet.

The folder appears as a whole or not at all. Writing the same benchmark there again changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TextIO, TypedDict

from django.db.models import F
from django.utils.text import slugify

from annotation.benchmarks import parsing as layout
from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.benchmarks.queries import releases
from annotation.benchmarks.result_types import DatasheetDocument
from annotation.benchmarks.services import datasheets
from annotation.corpus.parsing.personafeedback import persona_document
from core.errors import InputError
from core.files.input_files import InputFile
from core.files.writing import TEXTS, ParquetRows

TEXT, COUNT = "string", "int32"
CASES = [
    ("id", TEXT),
    ("kind", TEXT),
    ("tier", TEXT),
    ("user_id", TEXT),
    ("persona", TEXT),
    ("question", TEXT),
    ("context", TEXT),
    ("chosen", TEXT),
    ("reject", TEXT),
    ("votes_chosen", COUNT),
    ("votes_reject", COUNT),
    ("votes_tie", COUNT),
    ("kappa", "float64"),
    ("history", TEXT),
]
PERSONAS = [
    ("user_id", TEXT),
    ("name", TEXT),
    ("persona", TEXT),
    ("demographics", TEXT),
    ("preferences", TEXT),
    ("interests", TEXT),
    ("interactions", TEXT),
    ("memories", TEXTS),
    ("other", TEXT),
]


def case_row(case: BenchmarkCase, record: Mapping[str, object], persona: str) -> dict[str, object]:
    """A line of the release as a row: votes by chosen and reject, `persona` its text."""
    votes = {"1": case.votes_1, "2": case.votes_2, "tie": case.votes_tie}
    chosen, reject = case.gold or "1", "1" if case.gold == "2" else "2"
    return {
        **{name: record[name] for name in ("id", "kind", "tier", "user_id", "question", "context", "kappa")},
        "persona": persona,
        "chosen": record["chosen"],
        "reject": record["reject"],
        "votes_chosen": votes[chosen],
        "votes_reject": votes[reject],
        "votes_tie": votes["tie"],
        "history": to_json(record["history"]),
    }


def persona_row(record: Mapping[str, object], memories: Iterable[object]) -> dict[str, object]:
    """A persona as a row; what is nested is JSON text."""
    nested = {name: to_json(record[name]) for name in ("demographics", "preferences", "interests", "interactions")}
    plain = {name: record[name] for name in ("user_id", "name", "persona")}
    texts = [one if isinstance(one, str) else to_json(one) for one in memories]
    return {**plain, **nested, "memories": texts, "other": to_json(record["extra"])}


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


PEOPLE = "personas"
TAKEN = ("all", PEOPLE)
"""Names that no split of cases has: `datasets` means every split by the one, the file of the personas has the other."""

LONGEST_FILE_NAME = 120  # bytes; file systems take 255


@dataclass
class Written:
    """Files of records by their path, each with the number of its records and the hash of its bytes."""

    root: Path
    stack: ExitStack
    open: dict[str, TextIO] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, hashlib._Hash] = field(default_factory=dict)

    def add(self, path: str, record: Mapping[str, object]) -> None:
        """Add a line to a file of JSONL."""
        if path not in self.open:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            stream = (self.root / path).open("w", encoding="utf-8", newline="")
            self.open[path], self.records[path], self.hashes[path] = stream, 0, hashlib.sha256()
            self.stack.callback(stream.close)
        line = json.dumps(record, ensure_ascii=False) + "\n"
        self.open[path].write(line)
        self.hashes[path].update(line.encode())
        self.records[path] += 1

    def describe_file(self, path: str) -> dict[str, object]:
        """The file as the manifest names it."""
        return {"path": path, "records": self.records[path], "sha256": self.hashes[path].hexdigest()}


class WrittenRelease(TypedDict):
    """The files of cases that lie in the folder, the digest of the release, and whether it lay there already."""

    cases: list[dict[str, object]]
    digest: str
    unchanged: bool


def write(*, benchmark: Benchmark, folder: Path) -> WrittenRelease:
    """Write the release. InputError where it is a draft, or something else lies there."""
    check(benchmark)
    digest = releases.digest(benchmark)
    if there := find_existing_release(folder, digest):
        return there
    beside = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        written = write_all(benchmark, beside, digest)
        if folder.exists():
            folder.rmdir()
        beside.replace(folder)
    except OSError as error:
        raise InputError("cannot be written: {strerror}", file=str(folder), strerror=error.strerror) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return written


def pack_release(*, benchmark: Benchmark) -> IO[bytes]:
    """The folder that `write` makes as one ZIP file, to be read from its start. Once it is closed it is gone."""
    made = tempfile.TemporaryFile()  # noqa: SIM115 - whoever takes it closes it
    try:
        with tempfile.TemporaryDirectory() as place:
            write(benchmark=benchmark, folder=Path(place) / benchmark.slug)
            archive = shutil.make_archive(str(Path(place) / "packed"), "zip", root_dir=place, base_dir=benchmark.slug)
            with Path(archive).open("rb") as stream:
                shutil.copyfileobj(stream, made)
    except BaseException:
        made.close()
        raise
    made.seek(0)
    return made


def check(benchmark: Benchmark) -> None:
    if not benchmark.is_released:
        raise InputError("{benchmark} is a draft: release it first.", field="benchmark", benchmark=benchmark)
    changed = benchmark.cases.exclude(content_hash=F("pair__content_hash")).select_related("pair")
    if one := changed.order_by("pk").first():
        raise InputError(
            "The texts of {external_id} were imported again and differ from the benchmark's.",
            field="benchmark",
            external_id=one.pair.external_id,
        )


def find_existing_release(folder: Path, digest: str) -> WrittenRelease | None:
    """The same release, if it lies there; InputError where anything else does."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if folder.is_dir() and layout.is_release(folder):
        found = layout.read_manifest(InputFile.from_path(folder))
        if found.digest == digest:
            return {"cases": [one.model_dump() for one in found.cases], "digest": digest, "unchanged": True}
    raise InputError("something else is there already; name an empty or a new folder", file=str(folder))


def write_all(benchmark: Benchmark, root: Path, digest: str) -> WrittenRelease:
    names = releases.user_ids(benchmark)
    with ExitStack() as stack:
        written = Written(root, stack)
        texts = write_personas(benchmark, written, names)
        counts = write_cases(benchmark, written, names, texts)
        if layout.PERSONAS not in written.records:
            (root / layout.PERSONAS).touch()
            written.records[layout.PERSONAS], written.hashes[layout.PERSONAS] = 0, hashlib.sha256()
    cases = [written.describe_file(path) for path in written.records if path != layout.PERSONAS]
    manifest = {
        "format": layout.FORMAT,
        "name": benchmark.name,
        "version": benchmark.version,
        "notes": benchmark.notes,
        "made": benchmark.made,
        "input_hash": benchmark.input_hash,
        "code_version": benchmark.code_version,
        "released_at": benchmark.released_at.isoformat() if benchmark.released_at else None,
        "digest": digest,
        "cases": cases,
        "personas": written.describe_file(layout.PERSONAS),
    }
    sheet = datasheets.datasheet(benchmark)
    (root / layout.MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (root / "datasheet.json").write_text(json.dumps(sheet, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (root / "datasheet.md").write_text(datasheets.to_markdown(sheet), encoding="utf-8")
    (root / "datasheet.html").write_text(datasheets.to_html(sheet), encoding="utf-8")
    (root / "README.md").write_text(card(benchmark, sheet, counts), encoding="utf-8")
    return {"cases": cases, "digest": digest, "unchanged": False}


def write_personas(benchmark: Benchmark, written: Written, names: Mapping[int, str]) -> dict[str, str]:
    """The personas in all three forms; their texts by what cases call them."""
    (written.root / "persona").mkdir()
    texts = {}
    with ParquetRows(written.root / "data" / "personas.parquet", PERSONAS) as table:
        for one in releases.personas_of(benchmark).iterator(chunk_size=releases.CHUNK):
            record = releases.persona_record(one, names)
            written.add(layout.PERSONAS, record)
            table.add(persona_row(record, one.memories))
            document = persona_document(record)
            path = written.root / "persona" / f"{file_name(names[one.pk])}.json"
            path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            texts[names[one.pk]] = json.dumps(document, ensure_ascii=False)
    return texts


def write_cases(
    benchmark: Benchmark, written: Written, names: Mapping[int, str], texts: Mapping[str, str]
) -> dict[str, int]:
    """The cases as lines and as rows; how many rows each split has."""
    tables: dict[str, ParquetRows] = {}
    counts: dict[str, int] = {}
    for case in releases.cases(benchmark):
        record = releases.case_record(case, names)
        written.add(layout.EXCLUDED if case.excluded_reason else place(case.kind, case.tier), record)
        if not case.excluded_reason:
            split = to_split_name(case.split)
            if split not in tables:
                path = written.root / "data" / f"{split}.parquet"
                tables[split] = written.stack.enter_context(ParquetRows(path, CASES))
            tables[split].add(case_row(case, record, texts.get(str(record["user_id"] or ""), "")))
            counts[split] = counts.get(split, 0) + 1
    return counts


def place(kind: str, tier: str) -> str:
    """Where a case lies in the published layout."""
    return f"{slugify(kind) or 'other'}/{tier or 'untiered'}.jsonl"


def to_split_name(split: str) -> str:
    """A split as data sets call it: letters, digits and underscores; `test` where there is none."""
    name = slugify(split).replace("-", "_") or "test"
    return f"{name}_cases" if name in TAKEN else name


def file_name(name: str) -> str:
    """The id as it can stand in a folder; itself where it can."""
    safe = name.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C")
    safe = f"%2E{safe[1:]}" if safe.startswith(".") else safe
    if len(safe.encode()) <= LONGEST_FILE_NAME:
        return safe
    return f"{safe[:30]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def card(benchmark: Benchmark, sheet: DatasheetDocument, counts: Mapping[str, int]) -> str:
    """The card of a data set on Hugging Face. Its head is YAML, of which JSON is a part."""
    head = {
        "pretty_name": f"{benchmark.name} {benchmark.version}",
        "task_categories": ["text-classification"],
        "tags": ["personalization", "preference", "human-feedback"],
        "size_categories": [size_category(sum(counts.values()))],
        "configs": [
            {
                "config_name": "cases",
                "default": True,
                "data_files": [{"split": name, "path": f"data/{name}.parquet"} for name in counts],
            },
            {"config_name": PEOPLE, "data_files": [{"split": PEOPLE, "path": f"data/{PEOPLE}.parquet"}]},
        ],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    return "---\n" + "\n".join(lines) + "\n---\n\n" + datasheets.to_markdown(sheet) + FILES


FILES = """
## Files

- `general/`, `specific/`, …: a file of cases for each tier, one JSON object a line with `user_id`, `question`, `chosen`
  and `reject` as PersonaFeedback publishes them, and with `votes`, `kappa`, `split` and `history`.
- `excluded.jsonl`: cases that no model is scored on, each with its `excluded_reason`.
- `persona/`: one JSON file a persona; `personas.jsonl`: the same with all fields.
- `data/`: the cases by split, and the personas, as Parquet.
- `datasheet.html`, `.md`, `.json`; `benchmark.json`: what belongs together, with SHA-256.
"""


def size_category(n: int) -> str:
    for most, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if n < most:
            return name
    return "n>100K"
