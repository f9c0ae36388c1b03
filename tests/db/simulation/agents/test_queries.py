from __future__ import annotations

from simulation.agents.models import Agent, labels


def agent(pk, model, **parameters) -> Agent:
    return Agent(pk=pk, provider="local", model=model, parameters=parameters)


def test_names_that_are_their_own_stay():
    assert labels([agent(1, "a"), agent(2, ""), agent(3, "b")]) == {1: "a", 2: "local", 3: "b"}


def test_those_that_share_one_are_told_apart_by_what_differs():
    found = labels([agent(1, "a", temperature=0, top=1), agent(2, "a", temperature=0.5, top=1), agent(3, "a", top=1)])
    assert found == {1: "a (temperature 0)", 2: "a (temperature 0.5)", 3: "a (temperature null)"}


def test_what_is_too_long_gets_a_number():
    found = labels([agent(1, "a", system="x" * 200), agent(2, "a", system="y" * 200)])
    assert found == {1: "a (no. 1)", 2: "a (no. 2)"}
