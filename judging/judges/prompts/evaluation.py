"""The words in which a model under test chooses between two responses, or sums up what is remembered (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from judging.judges import prompts
from judging.judges.evaluation_settings import CHOICE, LOG_PROBABILITY
from judging.judges.prompts import templates
from judging.judges.providers.requests import CriterionSpec, PairContent, Prompt

SUMMARY_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}


def choice(
    criterion: CriterionSpec,
    content: PairContent,
    *,
    answers: str = CHOICE,
    template: str = "",
    system: str | None = None,
) -> Prompt:
    """The question which response is better. A judge's own template and instruction go before Concord's."""
    words = template or templates.text(f"evaluation/{answers}")
    said = templates.text("evaluation/system") if system is None else system
    prompt = prompts.render(criterion, content, template=words, system=said)
    if answers != LOG_PROBABILITY:
        return prompt
    verdict = {"verdict": prompt.schema["properties"]["verdict"]}
    return replace(prompt, schema={**prompt.schema, "properties": verdict, "required": ["verdict"]})


def summary(content: PairContent) -> Prompt:
    """The task to sum up the memories that the content holds, for its question."""
    asked = "\n\n".join(part for part in (content.question, content.context) if part)
    memories = "\n".join(f"- {memory}" for memory in content.person.memories)
    mark = prompts.find_unused_mark(f"{memories}\n{asked}")
    values = {
        "memories": prompts.fence("what is remembered", memories, mark),
        "question": prompts.fence("question", asked, mark),
    }
    words, said = templates.text("evaluation/summary"), templates.text("evaluation/system")
    user, _ = templates.fill(words, values.__getitem__)
    return Prompt(system=said, user=user, schema=SUMMARY_SCHEMA, version=templates.digest(said, words))


def parse_summary(text: str) -> str:
    """The summary in a reply; empty where it holds none. A model that is not bound to JSON may just say it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("{") else text.strip()
    said = found.get("summary") if isinstance(found, dict) else found
    return said.strip() if isinstance(said, str) else ""


def restrict_memories(content: PairContent, kept: Mapping[str, object]) -> PairContent:
    """The content as the model got to see it, by what was kept of its memories: retrieved ones, or their summary."""
    if kept.get("summary"):
        return add_memories(content, [str(kept["summary"])])
    if isinstance(found := kept.get("retrieved"), list):
        return add_memories(content, [str(one["text"]) for one in found])
    return content


def add_memories(content: PairContent, memories: Sequence[str]) -> PairContent:
    return replace(content, person=replace(content.person, memories=tuple(memories)))


def version(answers: str) -> str:
    """Twelve digits for all that these prompts are made of."""
    return templates.digest(*(templates.text(f"evaluation/{name}") for name in ("system", answers, "summary")))


__all__ = ["add_memories", "choice", "parse_summary", "restrict_memories", "summary", "version"]
