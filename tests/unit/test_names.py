"""What things may be called: one word for one idea, and functions that say what they do."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.paths import ROOT

APPS = ("annotation", "config", "core", "judging", "simulation")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

PREPOSITIONS = """
about above across after against ahead along among apart as aside at before below beside besides between beyond by
during for here in into most of on onto out over per since there through toward under until where with within
without
"""
PARTICIPLES = """
allowed altered asked blocked called carried changed checked chosen claimed compared computed corrected counted
decided described drafted drawn encoded entered expected filtered found given grown held joined judged kept known
left listed located looked made marked masked matching measured missing named needed numbered opened ordered packed
parsed pending placed planned played published ranked rated recorded refused related released renamed resolved said
saved scored seen sent shared shown sorted spelt stated stored submitted taken tested titled told tried typed
unpacked wanted written
"""
"""The first word of a function's name. It is a state of its result, not what the function does."""

WORDS = {
    "accounts and projects": "door walls",
    "audit log": "came told saving together",
    "gold questions, queue": "slot slots standing storing",
    "calls of models": "asking crew aside fly land flying stint shift purse followers heart playing keeping hush",
    "assessment": "trusting trusted asked said kept stood showing",
    "participants": "coming joining",
    "time": "moment",
    "items": "twins",
}
"""Words that this project once used for what its field calls otherwise, by where they stood."""

ALLOWED = {
    # what others call by name: operations and shapes of the API, which carry the names of these classes
    "annotation.workbench.api.work:AskedCategory": "a shape of the API",
    "annotation.workbench.api.work:AskedCriterion": "a shape of the API",
    "annotation.workbench.api.work:Kept": "a shape of the API",
    "judging.assessment.api.results:AskedAgreement": "a shape of the API",
    "judging.assessment.api.results:AskedTiers": "a shape of the API",
    "simulation.results.api:AskedResults": "a shape of the API",
    "simulation.generation.options:Asked": "a shape of the API",
    # filters and tags carry the names of these functions in templates
    "judging.templatetags.judging:spoken": "a filter of templates",
    "judging.templatetags.judging:fitted": "a filter of templates",
    "judging.templatetags.judging:among_people": "a filter of templates",
    "judging.templatetags.judging:expected_counts": "a filter of templates",
    # words that mean something else here
    "core.audit.log:audited": "a decorator reads as what the function is",
    "config.postgresql.base:DatabaseWrapper.prepared_cursor": "Django's own word order: chunked_cursor",
    "judging.stats.audits.central_tendency:shift_by_one": "to shift a ratio",
    "judging.runs.services.request_pool:take_slots": "slots of concurrency, not of a queue",
    "judging.runs.services.request_pool:has_free_slot": "slots of concurrency, not of a queue",
    "core.files.outcome:Outcome.set_aside": "to set bad records aside",
    "judging.stats.power:_compute_moment": "a moment of a distribution",
    "judging.runs.services.request_pool": "slots of concurrency, not of a queue",
}
"""Names that stay, each with its reason."""

ONE_NAME = {
    ("simulation", "DialogueMeasures"): "a table, and an operation of the API that is named after its view",
}
"""Public classes of one name in an app that stay, each with its reason."""


@cache
def load_modules() -> dict[str, ast.Module]:
    found = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                found[name] = ast.parse(path.read_text())
    return found


def iterate_definitions() -> Iterator[tuple[str, str, Definition]]:
    """Module, qualified name and node of every class and function at the top of a module or of a class."""
    for module, tree in load_modules().items():
        todo = [("", node) for node in tree.body]
        while todo:
            prefix, node = todo.pop()
            if isinstance(node, Definition):
                yield module, prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                todo.extend((f"{prefix}{node.name}.", inner) for inner in node.body)


def is_attribute(node: Definition) -> bool:
    """Whether a method is read like an attribute, whose name is a noun."""
    names = {ast.unparse(one).rsplit(".", 1)[-1] for one in node.decorator_list}
    return bool(names & {"property", "cached_property", "setter"})


def split_words(name: str) -> list[str]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    return [word.lower() for word in words]


def test_an_app_has_one_public_class_of_a_name() -> None:
    places = defaultdict(list)
    for module, name, node in iterate_definitions():
        if isinstance(node, ast.ClassDef) and "." not in name and not name.startswith("_") and name != "Command":
            places[module.split(".")[0], name].append(module)
    twice = {key: modules for key, modules in places.items() if len(modules) > 1}
    assert {key: modules for key, modules in twice.items() if key not in ONE_NAME} == {}
    assert set(ONE_NAME) <= set(twice), "an exception that is needed no more"


@pytest.mark.parametrize("words", [PREPOSITIONS, PARTICIPLES], ids=["prepositions", "participles"])
def test_public_functions_begin_with_a_verb(words: str) -> None:
    wrong = [
        f"{module}:{name}"
        for module, name, node in iterate_definitions()
        if not isinstance(node, ast.ClassDef)
        and not any(part.startswith("_") for part in name.split("."))
        and not is_attribute(node)
        and split_words(name.rsplit(".", 1)[-1])[0] in words.split()
        and f"{module}:{name}" not in ALLOWED
    ]
    assert wrong == []


def test_no_definition_has_an_old_word() -> None:
    old = {word for words in WORDS.values() for word in words.split()}
    wrong = [
        f"{module}:{name}"
        for module, name, node in iterate_definitions()
        if old & set(split_words(name.rsplit(".", 1)[-1]))
        and not is_attribute(node)
        and f"{module}:{name}" not in ALLOWED
    ]
    wrong += [
        module
        for module in load_modules()
        if old & set(split_words(module.rsplit(".", 1)[-1])) and module not in ALLOWED
    ]
    assert wrong == []


def test_every_exception_still_stands() -> None:
    here = {f"{module}:{name}" for module, name, _ in iterate_definitions()}
    assert set(ALLOWED) - here - set(load_modules()) == set()
