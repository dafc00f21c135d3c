"""A test whose runner is killed while it waits."""

import time
from pathlib import Path

from ask import ask


def test_it_hangs(cuecard_model, cuecard_service):
    model = cuecard_model("farewell.yaml", "--exchanges", "exchanges.jsonl")
    cuecard_service("capital.yaml")
    ask(model.openai_base_url, "What is the capital of France?")
    Path("started").write_text("yes")
    time.sleep(600)
