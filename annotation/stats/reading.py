"""The least time in which a text can be read, by its words and language.

Nobody reads English faster than about 1,000 words a minute: Rayner, Schotter, Masson, Potter and Treiman (2016), "So
much to read, so little time", Psychological Science in the Public Interest 17:4-34. Other languages need more words or
fewer for the same, and are read at rates that differ as those of Trauzettel-Klosinski and Dietz (2012), "Standardized
Assessment of Reading Performance: The New International Reading Speed Texts IReST", Investigative Ophthalmology and
Visual Science 53:5452-5461, in which native speakers of 17 languages read the same texts.
"""

import re
from collections.abc import Sequence

import numpy as np

from annotation.stats.benchmarks.scripts import detect_scripts
from annotation.stats.table import FloatArray

FASTEST_ENGLISH = 1000.0
"""Words a minute."""

WORDS_A_MINUTE = {
    "Arabic": 138.0, "Dutch": 202.0, "English": 228.0, "Finnish": 161.0, "French": 195.0, "German": 179.0,
    "Hebrew": 187.0, "Italian": 188.0, "Polish": 166.0, "Portuguese": 181.0, "Russian": 184.0, "Slovenian": 180.0,
    "Spanish": 218.0, "Swedish": 199.0, "Turkish": 166.0,
}  # fmt: skip
"""Mean rates of IReST, which are of reading aloud; only their ratio to English is used."""

USUAL = FASTEST_ENGLISH / WORDS_A_MINUTE["English"]
"""How much longer than the least time people usually read."""

CHARACTERS_A_MINUTE = {"Chinese": 255.0, "Japanese": 357.0}
"""The same for languages that put no space between words."""

OF_SCRIPT = {"Arabic": "Arabic", "Hebrew": "Hebrew", "Cyrillic": "Russian", "Han": "Chinese", "Kana": "Japanese"}
"""Script -> the language whose rate it is given. Any other is read at the rate of English, the highest of all."""

COMMON = {
    "Dutch": "de het een en van is dat niet met voor op zijn ik je",
    "English": "the and of to is in that it you for with are this not",
    "Finnish": "ja on ei se että en oli mutta hän ole kun niin myös",
    "French": "le la les et des est une un que dans pour vous pas je",
    "German": "der die das und ist nicht ein eine mit für auf ich sie zu",
    "Italian": "il la che di è un per non sono una con del della si",
    "Polish": "i w nie na się że z do jest to jak ale po",
    "Portuguese": "o a de que e não um uma para com os do da em é",
    "Slovenian": "je in na se v za da so ne ki pa z tudi",
    "Spanish": "el la de que y en los un una por con para es no",
    "Swedish": "och att det är en som på för med av inte jag den",
    "Turkish": "bir ve bu için de da ile çok ne ben var daha gibi",
}
"""The most frequent words of the languages in Latin letters, which tell them apart."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
LANGUAGES = {language: frozenset(words.split()) for language, words in COMMON.items()}


def shortest_times(texts: Sequence[str]) -> FloatArray:
    """(n,) seconds below which each text has not been read, whoever reads it; 0 for one without letters."""
    scripts = detect_scripts(texts)
    return np.array([shortest_time(text, script) for text, script in zip(texts, scripts, strict=True)], dtype=float)


def shortest_time(text: str, script: str) -> float:
    """Seconds below which nobody has read a text in this script."""
    language = OF_SCRIPT.get(script) or detect_latin(text)
    if language in CHARACTERS_A_MINUTE:
        return 60 * sum(letter.isalnum() for letter in text) / (USUAL * CHARACTERS_A_MINUTE[language])
    return 60 * sum(1 for _ in WORD.finditer(text)) / (USUAL * WORDS_A_MINUTE[language])


def detect_latin(text: str) -> str:
    """The language of which most of the frequent words are in a text; English, which is read fastest, without any."""
    words = [found[0].lower() for found in WORD.finditer(text)]
    counts = {language: sum(word in common for word in words) for language, common in LANGUAGES.items()}
    best = max(counts, key=lambda language: (counts[language], language == "English"))
    return best if counts[best] else "English"
