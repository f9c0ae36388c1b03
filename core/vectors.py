"""Texts as vectors without a network: the mean of the static vectors of their tokens.

The vectors come as a package, wordllama (MIT): token embeddings of Llama 2 made smaller, 32,000 by 256. Only its two
files are used; the package itself is not imported, since it asks for others. They know little but words: "near" means
that texts speak of like things.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FloatArray = npt.NDArray[np.float64]

NAME = "wordllama"
"""The model, as runs and results name it."""

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
MISSING = "the packages wordllama and tokenizers, which hold word vectors, are not installed"


def explain_missing() -> str:
    """What is lacking, in a sentence; empty if nothing is."""
    there = importlib.util.find_spec("tokenizers") is not None
    return "" if there and _file(WEIGHTS) and _file(TOKENIZER) else MISSING


def embed(texts: Sequence[str]) -> FloatArray:
    """(n, 256) vectors of the texts; zeros for a text without a token. FileNotFoundError where `missing` says so."""
    table, tokenizer = _loaded()
    found = np.zeros((len(texts), table.shape[1]))
    for row, encoding in zip(found, tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True):
        if encoding.ids:
            row[:] = table[encoding.ids].mean(axis=0, dtype=np.float32)
    return found


def cosine(a: FloatArray, b: FloatArray) -> float:
    """-1 to 1; NaN where one has no direction."""
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length else float("nan")


@cache
def _loaded() -> tuple[npt.NDArray[np.float16], Tokenizer]:
    weights, tokens = _file(WEIGHTS), _file(TOKENIZER)
    if weights is None or tokens is None:
        raise FileNotFoundError(MISSING)
    from tokenizers import Tokenizer

    return _matrix(weights), Tokenizer.from_file(str(tokens))


def _matrix(file: Path) -> npt.NDArray[np.float16]:
    """The one tensor of a safetensors file: a header's length, the header as JSON, and the numbers."""
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    shape = next(entry["shape"] for name, entry in header.items() if name != "__metadata__")
    return np.frombuffer(data, dtype=np.float16, offset=end).reshape(shape)


def _file(name: str) -> Path | None:
    found = importlib.util.find_spec("wordllama")
    folders = found.submodule_search_locations if found else None
    return next((path for folder in folders or () if (path := Path(folder) / name).exists()), None)
