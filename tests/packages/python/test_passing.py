import subprocess
import urllib.request

import cuecard
import pytest
from ask import ask


@pytest.mark.parametrize("number", range(8))
def test_a_model_of_its_own_for_each_test(cuecard_model, number):
    model = cuecard_model("capital.yaml", "--strict")
    assert ask(model.openai_base_url, "What is the capital of France?") == "Paris."
    assert model.env["OPENAI_API_KEY"] == model.api_key
    assert model.anthropic_base_url.startswith(model.url)
    assert model.gemini_base_url.startswith(model.url)


def test_two_models_in_one_test(cuecard_model):
    for model in [cuecard_model("capital.yaml"), cuecard_model("capital.yaml")]:
        ask(model.openai_base_url, "What is the capital of France?")


def test_a_service(cuecard_service):
    service = cuecard_service("capital.yaml", "--speed", "0")
    with urllib.request.urlopen(f"{service.api_url}/sessions") as response:
        assert response.status == 200


class Assistant:
    """An application that says goodbye when it is closed."""

    def __init__(self, model):
        self.model = model

    def close(self, words="Goodbye"):
        return ask(self.model.openai_base_url, "What is the capital of France?", "Paris.", words)


@pytest.fixture
def assistant(cuecard_model):
    model = cuecard_model("farewell.yaml")
    yield Assistant(model)
    assert Assistant(model).close() == "Goodbye."


@pytest.mark.parametrize("number", range(4))
def test_the_last_turn_is_asked_for_by_the_teardown_of_a_fixture(assistant, number):
    assert ask(assistant.model.openai_base_url, "What is the capital of France?") == "Paris."
    assert assistant.model.failures_so_far() == []


def test_a_mock_that_the_test_itself_stops(cuecard_model):
    model = cuecard_model("farewell.yaml")
    with pytest.raises(cuecard.MockError, match="2 turns were not played"):
        model.stop()
    assert model.failures_so_far() == []


CLIENT = b"""\
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
"""


def converse(command, question):
    """Runs the agent as a client that waits for the session before its prompt."""
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    import json

    agent.stdin.write(CLIENT)
    agent.stdin.flush()
    session = None
    while session is None:
        session = json.loads(agent.stdout.readline()).get("result", {}).get("sessionId")
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": question}]}
    agent.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt}).encode() + b"\n"
    )
    agent.stdin.flush()
    while json.loads(agent.stdout.readline()).get("id") != 3:
        pass
    agent.stdin.close()
    return agent.wait()


def test_an_acp_agent(cuecard_acp):
    agent = cuecard_acp("capital.yaml")
    assert converse(agent.command, "What is the capital of France?") == 0


def test_without_fixtures(pytestconfig):
    here = pytestconfig.rootpath
    with cuecard.start_model("capital.yaml", cwd=here) as model:
        ask(model.openai_base_url, "What is the capital of France?")
    with pytest.raises(cuecard.MockError, match="T-LLM-07"):
        with cuecard.start_model("capital.yaml", cwd=here):
            pass
    with pytest.raises(cuecard.MockError, match="no such file"):
        cuecard.start_model("missing.yaml", cwd=here)
