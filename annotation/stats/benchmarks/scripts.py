"""Which script a text is written in, by its letters. Scripts stand in for languages: Chinese is told from English,
French is not."""

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from annotation.stats.benchmarks.cases import Case, shares
from annotation.stats.benchmarks.result_types import ScriptMixDocument
from annotation.stats.estimate import Estimate

NAMES = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "IDEOGRAPHIC": "Han"}
"""First word of a letter's Unicode name -> script, where they differ."""

MAIN = 0.5
"""A text's script is the one of more than this share of its letters."""

JAPANESE = 0.1
"""With at least this share of Kana among Han and Kana, both are Japanese; below it a name or two is quoted."""

NONE, MIXED = "no letters", "mixed"

AT_ONCE = 1_000_000
"""Characters that are counted together."""


@cache
def script_of_letter(letter: str) -> str:
    """Han, Kana, Latin, Cyrillic, …; empty for what is no letter."""
    if not letter.isalpha():
        return ""
    word = unicodedata.name(letter, "").split(" ")[0].split("-")[0]
    return NAMES.get(word, word.capitalize()) or "other"


def letters(texts: Sequence[str]) -> Iterator[dict[str, int]]:
    """Of each text, how many letters of each script. Counted on code points in blocks: a benchmark has millions."""
    for block in blocks(texts):
        codes = np.frombuffer("".join(block).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        seen = np.zeros(sys.maxunicode + 1, dtype=bool)
        seen[codes] = True
        there = np.flatnonzero(seen)
        names, place = np.unique([script_of_letter(chr(code)) for code in there.tolist()], return_inverse=True)
        script = np.zeros(sys.maxunicode + 1, dtype=np.int64)
        script[there] = place
        text = np.repeat(np.arange(len(block)), [len(one) for one in block])
        counts = np.bincount(text * len(names) + script[codes], minlength=len(block) * len(names))
        for row in counts.reshape(len(block), len(names)).tolist():
            yield {name: n for name, n in zip(names.tolist(), row, strict=True) if name and n}


def blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in their order, so many at once that memory stays small."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text)
        if size >= AT_ONCE:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def detect_scripts(texts: Sequence[str]) -> list[str]:
    """Of each text, the script of more than half of its letters; mixed where none is, `no letters` without any.

    Han counts as Kana where there is enough Kana beside it (`JAPANESE`).
    """
    return [main(found) for found in letters(texts)]


def main(found: Mapping[str, int]) -> str:
    """The script that letters so counted are in."""
    total, counts = sum(found.values()), dict(found)
    if not total:
        return NONE
    kana, han = counts.get("Kana", 0), counts.get("Han", 0)
    if kana >= JAPANESE * (kana + han) > 0:
        counts["Kana"] = kana + counts.pop("Han", 0)
    script, n = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return script if n > MAIN * total else MIXED


@dataclass(frozen=True)
class ScriptMix:
    """The scripts of questions and responses.

    Attributes
    ----------
    counts
        (question, chosen, rejected) scripts -> cases.
    other_than_question
        Share of the cases where a response is not in the question's script.
    unequal
        Share of the cases whose two responses are in different scripts.
    choosing_the_question
        Where exactly one response is in the question's script: how often people chose it.
    other
        Cases where a response is not in the question's script.
    """

    counts: dict[tuple[str, str, str], int]
    other_than_question: Estimate
    unequal: Estimate
    choosing_the_question: Estimate
    other: tuple[str, ...]

    def to_json(self) -> ScriptMixDocument:
        """As JSON types."""
        ordered = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return {
            "counts": [
                {"question": question, "chosen": chosen, "rejected": rejected, "n": n}
                for (question, chosen, rejected), n in ordered
            ],
            "other_than_question": self.other_than_question.to_json(),
            "unequal": self.unequal.to_json(),
            "choosing_the_question": self.choosing_the_question.to_json(),
            "cases": list(self.other),
        }


def script_mix(cases: Sequence[Case], *, bootstrap: int, seed: int) -> ScriptMix:
    """The scripts of all cases, with intervals that resample personas."""
    texts = [text for case in cases for text in (case.question, case.chosen, case.rejected)]
    found = detect_scripts(texts)
    known = list(zip(found[::3], found[1::3], found[2::3], strict=True))
    chosen_fits = np.array([chosen == asked for asked, chosen, _ in known], dtype=bool)
    rejected_fits = np.array([rejected == asked for asked, _, rejected in known], dtype=bool)
    one_fits = (chosen_fits != rejected_fits) & np.array([bool(case.gold) for case in cases], dtype=bool)
    other = ~(chosen_fits & rejected_fits)
    columns = [
        other.astype(float),
        np.array([float(chosen != rejected) for _, chosen, rejected in known]),
        np.where(one_fits, chosen_fits.astype(float), np.nan),
    ]
    figures = shares(columns, cases, bootstrap=bootstrap, seed=seed)
    names = tuple(case.id for case, is_other in zip(cases, other.tolist(), strict=True) if is_other)
    return ScriptMix(dict(Counter(known)), figures[0], figures[1], figures[2], names)
