"""Files spoilt on purpose, for every importer: each must end as a clear error or as an import that counts right."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db import transaction

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.exchange.dataset import parse_naming
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.imports import records
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.quality.services import gold_questions
from annotation.studies.imports import ratings
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from config.archives import reading as reading_of_archives, writing as archives
from core.errors import InputError
from core.files.archives import unpack
from core.files.input_files import InputFile
from core.files.outcome import Outcome
from judging.runs.imports import pandalm, personalens, ratings as judge_ratings, study_packages as reading
from judging.runs.models.runs import Judgment
from judging.runs.services import tool_files
from simulation.generation.services import candidates
from tests.support.paths import ROOT
from tests.support.personalens_copy import make_copy

DEMO = ROOT / "fixtures" / "demo"

Files = Mapping[str, bytes]
Load = Callable[[Path], Outcome | None]

COUNTED: dict[str, Any] = {
    "profiles": Profile,
    "tasks": Task,
    "dialogues": Dialogue,
    "pairs": ResponsePair,
    "annotations": Annotation,
    "judgments": Judgment,
}


@dataclass(frozen=True)
class Importer:
    """Good files, by their names in a folder, and what loads the folder or its only file."""

    name: str
    files: Files
    load: Load

    def put(self, folder: Path, files: Files) -> Path:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder if len(self.files) > 1 else folder / next(iter(self.files))


@dataclass
class Tally:
    """How many files ended as what."""

    imported: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)


# ---------- spoiling ----------

STRANGE: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1e308,
    "",
    " ",
    "\x00",
    "\ud83d\ude00",
    "a" * 70_000,
    "1",
    "tie",
    "=1+1",
    "<script>",
    "nan",
    "source:id",
    [],
    {},
    [[]],
    [None],
    {"": None},
    [{"role": "user"}],
]
TOKENS = [
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"\\u0000",
    b"\\ud800",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b",",
    b";",
    b"\n",
]
TOKENS += [
    b"\r",
    b"\t",
    b"{",
    b"}",
    b"[" * 2000,
    b"]",
    b"null",
    b"'",
    b"\\",
    b"-",
    b"9" * 5000,
    "É".encode(),
    "漢".encode(),
]


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """The content with one to three things wrong, in its bytes or in its meaning."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice((in_bytes, in_bytes, in_lines, in_json, in_json, in_json))(data, chance)
    return data


def in_bytes(data: bytes, chance: random.Random) -> bytes:
    place, length = chance.randrange(len(data) + 1), chance.choice((0, 0, 1, 4, 40))
    match chance.randrange(5):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + chance.choice(TOKENS) + data[place + length :]
        case 2:
            return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        case 3:
            return data[:place] + data[max(0, place - 200) : place] + data[place:]
    return data[:place] + data[place + length :]


def in_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            lines.insert(one, lines[other])
        case 1:
            del lines[one]
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines[one] = lines[one].swapcase()
    return b"\n".join(lines)


def in_json(data: bytes, chance: random.Random) -> bytes:
    """One value of the document, or of one of its lines, is another, gone, doubled or called otherwise."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        which = chance.randrange(len(lines))
        try:
            document = json.loads(lines[which])
        except (ValueError, RecursionError):
            return in_bytes(data, chance)
        lines[which] = written(changed(document, chance))
        return b"\n".join(lines)
    return written(changed(document, chance))


def written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()


def changed(document: Any, chance: random.Random) -> Any:
    inside = list(places(document))
    if not inside:
        return chance.choice(STRANGE)
    holder, key = chance.choice(inside)
    match chance.randrange(5):
        case 0 if isinstance(holder, dict):
            holder[f"{key}{chance.choice(['x', '', ' '])}"] = holder.pop(key)
        case 1:
            del holder[key]
        case 2 if isinstance(holder, list):
            holder.append(holder[key])
        case 3:
            other, its = chance.choice(inside)
            holder[key] = deepcopy(other[its])
        case _:
            holder[key] = chance.choice(STRANGE)
    return document


def places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Every container inside the value, with each of its keys."""
    if depth > 12 or not isinstance(value, dict | list):
        return
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        yield from places(value[key], depth + 1)


# ---------- trying ----------


def tried(importer: Importer, files: Files, folder: Path, tally: Tally, told: str) -> None:
    """Load the files and undo it. A clear error names what is wrong; an import adds as many rows as it says."""
    path = importer.put(folder, files)
    try:
        with transaction.atomic():
            before = {kind: model.objects.count() for kind, model in COUNTED.items()}
            outcome = importer.load(path)
            for kind, model in COUNTED.items():
                made = model.objects.count() - before[kind]
                if outcome is not None and kind in outcome.kinds and made != outcome.created[kind]:
                    tally.failures.append(f"{told}: {made} {kind} made, {outcome.created[kind]} told")
            tally.imported += 1
            transaction.set_rollback(True)
    except InputError as error:
        tally.refused += 1
        if not error.message.strip():
            tally.failures.append(f"{told}: an error without words")
    except Exception as error:  # noqa: BLE001 - what an importer must never end as
        tally.failures.append(f"{told}: {type(error).__name__}: {str(error)[:300]}")


def run(importers: list[Importer], n: int, seed: int, folder: Path, keep: Path | None = None) -> dict[str, Tally]:
    """`n` spoilt files in turn over all importers. Files that fail are kept in `keep`."""
    chance = random.Random(seed)
    tallies = {importer.name: Tally() for importer in importers}
    for k in range(n):
        importer = importers[k % len(importers)]
        name = chance.choice(list(importer.files))
        files = {**importer.files, name: spoilt(importer.files[name], chance)}
        tally, failed = tallies[importer.name], len(tallies[importer.name].failures)
        tried(importer, files, folder / importer.name, tally, f"{importer.name} {k} (seed {seed})")
        if keep and len(tally.failures) > failed:
            importer.put(keep / f"{importer.name}-{k}", files)
    return tallies


# ---------- the importers ----------


def prepared(folder: Path) -> list[Importer]:
    """Every importer with good files, in a database that holds the demo's material and a small study."""
    for kind in ("profiles", "tasks", "dialogues", "pairs"):
        records.load(by=None, kind=kind, file=InputFile.from_path(DEMO / f"{kind}.jsonl"), source="demo")
    table = ratings_table()
    (folder / "ratings.csv").write_bytes(table)
    ratings.load(by=None, file=InputFile.from_path(folder / "ratings.csv"), study="Pilot")
    (folder / "judged.csv").write_bytes(of_one(table))
    judge_ratings.load(by=None, file=InputFile.from_path(folder / "judged.csv"), study="Pilot", judge="gpt")
    study = Study.objects.get(name="Pilot")
    plain = [*of_records(), *of_tables(table, study), *of_exchanges(study, folder), *of_sets(folder / "sets")]
    return [*plain, *packed(plain), *of_archives(folder)]


def ratings_table() -> bytes:
    ids = [json.loads(line)["id"] for line in (DEMO / "dialogues.jsonl").read_text().splitlines()[:6]]
    rows = ["item,rater,criterion,value,reason,order,turn,repeat,explanation"]
    for k, name in enumerate(ids):
        rows += [f"demo:{name},{rater},coherence_assistant,{1 + k % 3},,,,," for rater in ("ann", "bob")]
    return "\n".join(rows).encode()


def of_one(table: bytes) -> bytes:
    """The header and each item's first line."""
    header, *rows = table.split(b"\n")
    return b"\n".join([header, *rows[::2]])


def of_records() -> Iterator[Importer]:
    for kind in ("profiles", "tasks", "dialogues", "pairs"):
        lines = (DEMO / f"{kind}.jsonl").read_bytes().splitlines()[:4]
        load = lambda path, kind=kind: records.load(by=None, kind=kind, file=InputFile.from_path(path), source="fuzz")  # noqa: E731
        yield Importer(kind, {f"{kind}.jsonl": b"\n".join(lines)}, load)


def of_tables(table: bytes, study: Study) -> Iterator[Importer]:
    def of_people(path: Path) -> Outcome:
        return ratings.load(by=None, file=InputFile.from_path(path), study="Fuzzed")

    def of_judge(path: Path) -> Outcome:
        return judge_ratings.load(by=None, file=InputFile.from_path(path), study="Pilot", judge="fuzzed")

    def of_known(path: Path) -> None:
        gold_questions.add_file(by=None, study=study, purpose="check", path=path)

    yield Importer("ratings", {"ratings.csv": table}, of_people)
    yield Importer("judgments", {"ratings.csv": of_one(table)}, of_judge)
    item = json.loads((DEMO / "dialogues.jsonl").read_text().splitlines()[9])["id"]
    answers = f"item_id,criterion,value,explanation\ndemo:{item},coherence_assistant,2,It is."
    yield Importer("known", {"known.csv": answers.encode()}, of_known)


def of_exchanges(study: Study, folder: Path) -> Iterator[Importer]:
    for key, exchange in EXCHANGES.items():
        if study.kind not in exchange.kinds or not exchange.files:
            continue
        tool_files.write(study, exchange, folder / "good" / key)
        names = [name for name in exchange.files if name.endswith((".json", ".jsonl")) and not name.startswith(".")]
        files = {name: (folder / "good" / key / name).read_bytes() for name in names}
        yield Importer(key, files, exchanged(key))
        yield Importer(f"{key}, foreign", FOREIGN[key], exchanged(key))
    yield Importer("votes", FOREIGN["votes"], exchanged("votes"))
    yield Importer("inspect", FOREIGN["inspect"], exchanged("inspect"))


def exchanged(key: str) -> Load:
    told = parse_naming([], fixed_order=True)
    return lambda path: reading.load(
        by=None, file=InputFile.from_path(path), format=key, study="Fuzzed", source="fuzz", naming=told
    )


def of_sets(folder: Path) -> Iterator[Importer]:
    """Published data sets, in the small."""
    case = {"question": "Q?", "chosen": "One", "reject": "Two", "user_id": "Ann_1"}
    persona = {"Demographic": {"Age": "34"}, "Preferences": {"Food": {"Cuisine": "Thai"}}}
    lines = b"\n".join(written({**case, "question": f"Q{k}?"}) for k in range(3))
    cases = {"general/easy.jsonl": lines, "general/hard.jsonl": lines, "persona/Ann_1.json": written(persona)}
    yield Importer("personafeedback", cases, lambda path: personafeedback.load(by=None, folder=path))
    rows = [
        {"idx": k, "motivation_app": "x", "cmp_key": "a_b", "instruction": "I", "input": "", "response1": "1",
         "response2": "2", "annotator1": k % 3, "annotator2": 1, "annotator3": 2}
        for k in range(3)
    ]  # fmt: skip
    said = [{"idx": k, "gpt_result": "1", "gpt_reason": "r", "gpt_reference": ""} for k in range(3)]
    tests = {"testset-v1.json": written(rows), "gpt-3.5-turbo-testset-v1.json": written(said)}
    yield Importer("pandalm", tests, lambda path: pandalm.load(by=None, folder=path))
    copy = make_copy(folder / "personalens")
    files = {str(path.relative_to(copy)): path.read_bytes() for path in sorted(copy.rglob("*.json"))}
    yield Importer("personalens", files, lambda path: personalens.load(by=None, folder=path))
    person = json.loads((DEMO / "profiles.jsonl").read_text().splitlines()[0])["id"]
    asked = {"profile_id": person, "question": "Q?", "kind": "general", "level": "generic", "text": "Fine."}
    yield Importer("candidates", {"c.jsonl": written(asked)}, lambda path: candidates.load(by=None, path=path))


def packed(importers: list[Importer]) -> Iterator[Importer]:
    """Folders as they come to the page, in one ZIP file that is spoilt itself."""
    for importer in importers:
        if importer.name in ("personafeedback", "pandalm", "personalens", "potato, foreign"):
            content = zipped({f"folder/{name}": text for name, text in importer.files.items()})
            yield Importer(f"{importer.name}, packed", {"folder.zip": content}, unpacked(importer.load))


def zipped(files: Files) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def unpacked(load: Load) -> Load:
    """As the page does with a ZIP file: into a new folder, which is loaded."""

    def loaded(path: Path) -> Outcome | None:
        with TemporaryDirectory(dir=path.parent) as into:
            return load(unpack(InputFile.from_path(path), Path(into)))

    return loaded


def of_archives(folder: Path) -> Iterator[Importer]:
    """A study's archive: spoilt as a file, and table by table with a manifest that says it is whole."""
    path = folder / "study.zip"
    table = folder / "archived.csv"
    table.write_bytes(ratings_table())
    ratings.load(by=None, file=InputFile.from_path(table), study="Archived")
    table.write_bytes(of_one(ratings_table()))
    judge_ratings.load(by=None, file=InputFile.from_path(table), study="Archived", judge="gpt in an archive")
    study = Study.objects.get(name="Archived")
    archives.write(study, path)
    Annotation.objects.filter(assignment__study=study).delete()
    Judgment.objects.filter(run__study=study).delete()
    study.delete()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def restored(path: Path) -> None:
        reading_of_archives.restore(by=None, path=path)

    def resigned(path: Path) -> None:
        """With the hashes that its tables have now: what changed it knew how."""
        files = {name: (path / name).read_bytes() for name in members}
        manifest = json.loads(members[archives.MANIFEST])
        for label, table in manifest["tables"].items():
            table["sha256"] = hashlib.sha256(files[f"{label}.jsonl"]).hexdigest()
        whole = files[archives.MANIFEST] != members[archives.MANIFEST]
        made = path.parent / "made.zip"
        made.write_bytes(zipped(files if whole else {**files, archives.MANIFEST: written(manifest)}))
        reading_of_archives.restore(by=None, path=made)

    yield Importer("archive", {"study.zip": path.read_bytes()}, restored)
    yield Importer("archive, signed anew", members, resigned)


TURNS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
RESULT = {"id": "r", "from_name": "nat", "to_name": "item", "type": "rating", "value": {"rating": 4}}
FOREIGN: dict[str, Files] = {
    "labelstudio": {
        "tasks.json": written(
            [
                {
                    "id": 1,
                    "data": {"dialogue": [{"author": "user", "text": "Hi"}], "x": 1},
                    "annotations": [{"completed_by": 1, "was_cancelled": False, "lead_time": 5.0, "result": [RESULT]}],
                    "predictions": [{"model_version": "j", "score": 0.8, "result": [RESULT]}],
                }
            ]
        )
    },
    "argilla": {
        "records.json": written(
            [
                {
                    "id": "1",
                    "fields": {"chat": TURNS},
                    "metadata": {},
                    "suggestions": {"nat": {"value": 4, "score": 0.7, "agent": "judge"}},
                    "responses": {"nat": [{"value": 5, "user_id": "u"}]},
                }
            ]
        )
    },
    "potato": {
        "data.jsonl": written({"id": "1", "text": "Q?", "responses": ["A", "B"]}),
        "out/annotated_instances.jsonl": written(
            {"instance_id": "1", "user_id": "u", "labels": {"pref": {"selection": "A"}, "nat": {"4": "4"}}, "spans": {}}
        ),
        "out/u/user_state.json": written(
            {
                "user_id": "v",
                "instance_id_to_label_to_value": {"1": [[{"schema": "nat", "name": "4"}, "4"]]},
                "instance_id_to_presentation_order": {"1": {"pref": [1, 0]}},
            }
        ),
    },
    "doccano": {"bob.jsonl": written({"id": 1, "text": "Good", "label": ["nat: 4"]})},
    "votes": {
        "votes.jsonl": written(
            {
                "question_id": 1,
                "model_a": "m",
                "model_b": "n",
                "winner": "model_a",
                "judge": "j",
                "conversation_a": TURNS,
                "conversation_b": TURNS,
                "turn": 1,
            }
        )
    },
    "inspect": {
        "log.json": written(
            {
                "version": 2,
                "eval": {"task": "t", "model": "m"},
                "samples": [
                    {
                        "id": 1,
                        "epoch": 1,
                        "messages": TURNS,
                        "target": "4",
                        "scores": {"match": {"value": "C", "explanation": "e"}, "g": {"value": {"tone": 4}}},
                        "attachments": {},
                    }
                ],
            }
        )
    },
}
