"""Texts as words, in any script. Pure functions."""

import re

WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"  # scripts without spaces: one sign, one word
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:['’][^\W\d_]+)*"
    r"|[^\w\s]"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters and digits, single signs of Chinese and Japanese,
    and punctuation marks.
    """
    return WORD.findall(text.casefold())


def split_words(utterance: str) -> list[str]:
    """Words without punctuation marks."""
    return [word for word in words(utterance) if word[0].isalnum() or any(sign.isalnum() for sign in word)]
