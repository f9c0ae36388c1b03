"""A model by script that goes the whole way from seeds to checked responses, and stumbles where it is told to."""

from __future__ import annotations

import json
import random
import re
from hashlib import sha256

from simulation.agents.prompts import text
from simulation.agents.prompts.generation import LEVELS
from tests.support.model_server import Answer, Request

WORDS = [
    "amber",
    "bridge",
    "candle",
    "dragon",
    "ember",
    "forest",
    "garden",
    "harbor",
    "island",
    "jungle",
    "kettle",
    "lantern",
    "meadow",
    "needle",
    "orchard",
    "pepper",
    "quarry",
    "river",
    "saddle",
    "timber",
    "umbrella",
    "valley",
    "willow",
    "yellow",
    "zephyr",
    "anchor",
    "basket",
    "copper",
    "desert",
    "engine",
    "feather",
    "guitar",
    "hammer",
    "iron",
    "jacket",
    "kitchen",
    "ladder",
    "mirror",
    "night",
    "ocean",
    "pillow",
    "rabbit",
    "silver",
    "tunnel",
    "velvet",
    "window",
    "apron",
    "button",
    "carpet",
    "drawer",
    "elbow",
    "fabric",
    "glove",
    "hinge",
    "insect",
    "jewel",
    "knot",
    "leather",
    "magnet",
    "nutmeg",
    "onion",
    "paper",
    "quilt",
    "ribbon",
    "shelf",
    "thread",
]

ASKED = {
    "persona": "You describe a person",
    "specific": "that this person would put",
    "general": "that anybody could put",
    "memories": "passages from notes and messages",
    "conflicts": "hangs together",
    "responses": "Say of each response",
}
BAD = {
    "empty": "",
    "refusal": "I'm sorry, but I can't help with that.",
    "prompt": text("candidates/none").split("\n")[0],
    "language": "请随意选择您喜欢的任何方式。",
}


def kind_of(prompt: str) -> str:
    """Which of the stages asks, or the level of the response that is asked for."""
    for kind, words in ASKED.items():
        if words in prompt:
            return kind
    return next(level for level in LEVELS if level_sentence(level) in prompt)


def level_sentence(level: str) -> str:
    return next(line for line in text(f"candidates/{level}").split("\n") if line.startswith("Answer the question"))


def prose(prompt: str, n: int, *, salt: str = "") -> str:
    """So many words that depend on the prompt alone."""
    drawn = random.Random(sha256(f"{salt}{prompt}".encode()).hexdigest())
    return " ".join(drawn.choices(WORDS, k=n))


def number(prompt: str) -> int:
    return int(re.search(r"Write (\d+) ", prompt)[1])  # type: ignore[index]


def reply(request: Request) -> str:
    """What a good model says."""
    prompt = request.body["messages"][0]["content"]
    kind = kind_of(prompt)
    if kind == "persona":
        facts = {f"Topic {k}": f"{prose(prompt, 6, salt=str(k))}." for k in range(4)}
        return json.dumps({"name": prose(prompt, 2).title(), "description": prose(prompt, 40), "facts": facts})
    if kind in ("specific", "general"):
        return json.dumps({"questions": [f"What of {prose(prompt, 9, salt=str(k))}?" for k in range(number(prompt))]})
    if kind == "memories":
        return json.dumps({"passages": [prose(prompt, 20, salt=str(k)) for k in range(number(prompt))]})
    if kind == "conflicts":
        is_odd = "vegan" in prompt and "steak" in prompt
        found = {"label": "Diet", "explanation": "No vegan eats steak.", "fields": ["Demographics: diet"]}
        return json.dumps({"conflicts": [found] if is_odd else []})
    if kind == "responses":
        shown = re.findall(r"^Response (\d+):\n(\w+)", prompt, flags=re.MULTILINE)
        rows = [{"number": int(n), "answers": True, "same_language": True, "level": level} for n, level in shown]
        return json.dumps({"responses": rows})
    return f"{kind} {prose(prompt, 25)}"


def answer(request: Request) -> Answer:
    return Answer(text=reply(request))


def seeds(n: int) -> list[dict[str, object]]:
    """Seeds whose traits combine; the first is a vegan, the second has steak as its dish."""
    diets, dishes = ["vegan", "omnivore", "pescatarian"], ["curry", "steak", "soup", "salad"]
    return [
        {
            "id": f"seed{k}",
            "traits": {
                "diet": diets[k % 3],
                "dish": dishes[k % 4],
                "age": str(20 + k),
                "work": WORDS[k],
                "hobbies": [WORDS[k + 20], WORDS[k + 30]],
            },
        }
        for k in range(n)
    ]
