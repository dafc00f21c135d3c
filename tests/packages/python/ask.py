"""Asks a model, as an application would."""

import json
import urllib.request


def ask(base_url: str, *conversation: str) -> str:
    """The answer to the last text of a conversation, in which the user has the first word."""
    roles = ["user", "assistant"] * len(conversation)
    messages = [{"role": role, "content": text} for role, text in zip(roles, conversation)]
    body = {"model": "any", "messages": messages}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]
