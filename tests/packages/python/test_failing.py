"""Each test fails, or has an error in its teardown, with the text of its docstring."""

import urllib.error

import cuecard
import pytest
from ask import ask
from test_passing import Assistant, converse


def test_a_miss(cuecard_model):
    """received the user's text \"What is the capital of Spain?\" """
    model = cuecard_model("capital.yaml")
    try:
        ask(model.openai_base_url, "What is the capital of Spain?")
    except urllib.error.HTTPError:
        pass


def test_nothing_asked(cuecard_model):
    """turn 1 of `capital` was not played"""
    cuecard_model("capital.yaml")


def test_its_own_failure_has_the_findings_too(cuecard_model):
    """turn 1 of `capital` was not played"""
    cuecard_model("capital.yaml")
    assert 1 == 2


def test_a_miss_and_then_its_own_failure(cuecard_model):
    """Captured cuecard teardown"""
    test_a_miss(cuecard_model)
    assert 3 == 4


def test_a_miss_before_a_skip(cuecard_model):
    """received the user's text \"What is the capital of Spain?\" """
    test_a_miss(cuecard_model)
    pytest.skip("not now")


def test_a_mock_that_nobody_stops():
    """turn 1 of `capital` was not played"""
    cuecard.start_model("capital.yaml")


def test_a_mock_that_nobody_stops_and_somebody_knows():
    """turn 1 of `capital` was not played"""
    KNOWN.append(cuecard.start_model("capital.yaml"))


KNOWN = []


@pytest.fixture
def assistant(cuecard_model):
    model = cuecard_model("farewell.yaml")
    yield Assistant(model)
    try:
        Assistant(model).close("See you")
    except urllib.error.HTTPError:
        pass


def test_a_miss_of_a_fixture_in_its_teardown(assistant):
    """received the user's text \"See you\" """
    ask(assistant.model.openai_base_url, "What is the capital of France?")


def test_a_file_that_is_not_there(cuecard_model):
    """`missing.yaml` can't be read"""
    cuecard_model("missing.yaml")


def test_an_agent_that_nobody_starts(cuecard_acp):
    """was not started by the client"""
    cuecard_acp("capital.yaml")


def test_an_agent_that_was_asked_something_else(cuecard_acp):
    """T-ACP-22"""
    converse(cuecard_acp("capital.yaml").command, "Tell me a joke about trains")
